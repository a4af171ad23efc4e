"""Commands of sacctmgr."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.model.errors import InputError
from gnomon.systems.slurm.accounting.accounts import PARENT, Accounts, Association, Qos
from gnomon.systems.slurm.accounting.sacctmgr import apply_commands
from gnomon.systems.slurm.accounting.tree import Tree
from tests.systems.slurm.accounting import recorded


def after(*commands: str) -> Accounts:
    return apply_commands(Accounts(), commands)


def association(accounts: Accounts, account: str, user: str = "", partition: str = "") -> Association:
    found = [
        one for one in accounts.associations if (one.account, one.user, one.partition) == (account, user, partition)
    ]
    assert len(found) == 1
    return found[0]


def qos(accounts: Accounts, name: str) -> Qos:
    return next(one for one in accounts.qos if one.name == name)


def test_the_recorded_commands_give_the_tree_that_show_assoc_prints() -> None:
    accounts = apply_commands(Accounts(), recorded.text("sacctmgr-commands.txt").splitlines())
    tree = Tree(accounts)
    header, *rows = (line.split("|") for line in recorded.text("sacctmgr-show-assoc.txt").splitlines())
    for cells in rows:
        row = dict(zip(header, cells, strict=True))
        entry = tree.find(row["User"], row["Account"])
        assert entry is not None
        assert ("parent" if entry.shares == PARENT else str(entry.shares)) == row["Share"]
        assert ",".join(sorted(entry.qos)) == row["QOS"]
        assert ("" if entry.limits.max_jobs is None else str(entry.limits.max_jobs)) == row["MaxJobs"]
        assert ",".join(f"{k}={v}" for k, v in entry.limits.grp_tres.items()) == row["GrpTRES"]
        assert ",".join(f"{k}={v}" for k, v in entry.limits.max_tres_per_job.items()) == row["MaxTRES"]
        assert ("12:00:00" if entry.limits.max_wall_min == 720 else "") == row["MaxWall"]
    assert len(rows) == len(tree.entries)
    assert not accounts.notes


def test_words_may_be_cut_short_and_written_in_any_case() -> None:
    accounts = after(
        "ADD acc Phys FAIR=3 grpsub=9", "add u ALICE acc=phys maxj=4 maxwall=1-0 maxsub=7", "add qos q maxj=2"
    )
    assert association(accounts, "phys").shares == 3
    assert association(accounts, "phys").limits.grp_submit == 9
    limits = association(accounts, "phys", "alice").limits
    assert (limits.max_jobs, limits.max_wall_min, limits.max_submit) == (4, 1440, 7)
    assert qos(accounts, "q").limits.max_jobs_per_user == 2  # MaxJobs of a QOS is MaxJobsPerUser


def test_old_limits_on_one_resource_and_new_ones_are_the_same() -> None:
    accounts = after("add account a GrpCPUs=10 GrpNodes=2 MaxCPUMins=90", "modify account a set GrpTRES=mem=4G,cpu=-1")
    limits = association(accounts, "a").limits
    assert limits.grp_tres == {"node": 2, "mem": 4096}
    assert limits.max_tres_mins_per_job == {"cpu": 90}


def test_minus_one_takes_limits_away() -> None:
    accounts = after("add qos q GrpJobs=3 MaxWall=60 Priority=5", "modify qos q set grpjobs=-1 maxwall=-1")
    assert (qos(accounts, "q").limits.grp_jobs, qos(accounts, "q").limits.max_wall_min) == (None, None)


def test_a_user_gets_an_association_in_every_account_and_partition() -> None:
    accounts = after("add account a", "add account b parent=a", "add user u account=a,b partition=x,y defaultaccount=b")
    keys = [(one.account, one.partition) for one in accounts.associations if one.user == "u"]
    assert keys == [("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")]
    assert next(user for user in accounts.users if user.name == "u").default_account == "b"
    assert association(accounts, "b").parent == "a"


def test_modify_reaches_those_that_the_conditions_name() -> None:
    base = ("add account a", "add account b", "add user u,v account=a,b")
    accounts = after(*base, "modify user where name=u account=b set fairshare=parent priority=9")
    assert association(accounts, "b", "u").shares == PARENT
    assert association(accounts, "b", "u").priority == 9
    assert [association(accounts, *key).shares for key in (("a", "u"), ("a", "v"), ("b", "v"))] == [1, 1, 1]


def test_qos_are_added_to_what_the_parent_has_until_a_list_is_set() -> None:
    base = ("add qos high", "add qos low", "add account a", "add user u account=a")
    added = Tree(after(*base, "modify user u set qos+=high,low", "modify user u set qos-=low")).find("u", "a")
    assert added is not None
    assert added.qos == {"normal", "high"}
    of_account = Tree(after(*base, "modify account a set qos=low", "modify user u set qos+=high")).find("u", "a")
    assert of_account is not None
    assert of_account.qos == {"low", "high"}
    own = Tree(after(*base, "modify user u set qos=low", "modify user u set qos+=high")).find("u", "a")
    assert own is not None
    assert own.qos == {"low", "high"}


def test_preemption_flags_and_factors_of_a_qos() -> None:
    accounts = after(
        "add qos low PreemptMode=requeue UsageFactor=0.5 flags=nodecay,denyonlimit GraceTime=30",
        "add qos high preempt=low PreemptExemptTime=0:10:00 MinPrioThresh=7",
        "modify qos low set flags-=NoDecay",
    )
    low, high = qos(accounts, "low"), qos(accounts, "high")
    assert (low.preempt_mode, low.usage_factor, low.flags, low.grace_s) == (
        "REQUEUE",
        0.5,
        frozenset({"DenyOnLimit"}),
        30,
    )
    assert (high.preempt, high.exempt_s, high.min_prio_threshold) == (frozenset({"low"}), 600, 7)


def test_what_is_deleted_takes_with_it_what_hangs_on_it() -> None:
    base = (
        "add qos q",
        "add account a",
        "add account b parent=a",
        "add user u account=b qos=q",
        "add user v account=a",
    )
    accounts = after(*base, "delete qos q", "delete account b")
    assert [(one.account, one.user) for one in accounts.associations] == [
        ("root", ""),
        ("root", "root"),
        ("a", ""),
        ("a", "v"),
    ]
    assert [user.name for user in accounts.users] == ["root", "v"]
    gone = after(*base, "delete user where name=v account=a")
    assert "v" not in [user.name for user in gone.users]


def test_an_account_moves_with_those_below_it_but_not_below_itself() -> None:
    base = ("add account a", "add account b", "add account c parent=b")
    assert association(after(*base, "modify account b set parent=a"), "b").parent == "a"
    with pytest.raises(InputError, match="below itself"):
        after(*base, "modify account b set parent=c")


@pytest.mark.parametrize(
    ("command", "field"),
    [
        ("add user u account=nosuch", "Account"),
        ("modify user nosuch set maxjobs=1", "User"),
        ("add account a qos=nosuch", "QOS"),
        ("add account a GrpJobs=many", "GrpJobs"),
        ("add account a MaxWall=soon", "MaxWallDurationPerJob"),
        ("add account a GrpTRES=cpu", "GrpTRES"),
        ("add qos q flags=NoSuchFlag", "Flags"),
        ("add qos q UsageFactor=nan", "UsageFactor"),
    ],
)
def test_what_sacctmgr_refuses_names_its_line_and_field(command: str, field: str) -> None:
    with pytest.raises(InputError) as caught:
        apply_commands(Accounts(), ["# first", command], file="acct.txt")
    assert (caught.value.file, caught.value.line, caught.value.field) == ("acct.txt", 2, field)


def test_unknown_options_are_noted_and_looks_are_none() -> None:
    accounts = after("sacctmgr -i add account a Colour=red Description='the a'", "show assoc", "", "# comment")
    assert [(note.what, note.field) for note in accounts.notes] == [("not modelled", "Colour")]
    with pytest.raises(InputError, match="no such command"):
        after("frobnicate account a")


@given(st.text(max_size=60))
def test_no_text_makes_it_fail_otherwise(text: str) -> None:
    with suppress(InputError):
        after("add account a", text)
