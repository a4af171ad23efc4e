"""The tree of associations: what is handed down, who may use what, what is in use."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.systems.slurm.accounting.accounts import Accounts
from gnomon.systems.slurm.accounting.sacctmgr import apply_commands
from gnomon.systems.slurm.accounting.tree import INVALID_ACCOUNT, INVALID_QOS, Tree
from tests.systems.slurm.accounting.recorded import Job, books, cpus, recorded


def tree(*commands: str, partition_qos: dict[str, str] | None = None, fair_tree: bool = True) -> Tree:
    return Tree(apply_commands(Accounts(), commands), partition_qos=partition_qos or {}, fair_tree=fair_tree)


def test_limits_of_a_job_are_handed_down_and_those_of_a_group_are_not() -> None:
    one = tree(
        "add account a MaxJobs=50 MaxTRES=cpu=8,node=2 GrpJobs=9 MaxWall=60",
        "add account b parent=a MaxTRES=cpu=4",
        "add user u account=b MaxWall=30",
    ).find("u", "b")
    assert one is not None
    assert one.limits.max_jobs == 50
    assert one.limits.max_tres_per_job == {"cpu": 4, "node": 2}
    assert (one.limits.max_wall_min, one.limits.grp_jobs) == (30, None)


def test_an_association_for_a_partition_goes_before_the_general_one() -> None:
    made = tree("add account a", "add user u account=a", "add user u account=a partition=gpu maxjobs=1")
    found = [made.find("u", "a", partition) for partition in ("gpu", "batch")]
    assert [one.limits.max_jobs if one else 0 for one in found] == [1, None]


def test_recorded_refusals_of_accounts_and_qos() -> None:
    case = recorded("invalid-account-qos")
    made = tree(*case["accounting"])
    said = {reply["step"]: reply["text"].rpartition("failed: ")[2] for reply in case["replies"]}
    for number, step in enumerate(case["steps"]):
        options = dict(zip(step["args"], step["args"][1:], strict=False))
        got = made.resolve(step["user"], options.get("-A", ""), "batch", options.get("-q", ""))
        assert got == said.get(number, ("phys", "normal"))


def test_what_is_not_enforced_is_not_asked_for() -> None:
    made = tree("add qos secret", "add account a", "add user u account=a")
    assert made.resolve("nobody", "x", "batch", "", associations=False) == ("x", "normal")
    assert made.resolve("u", "a", "batch", "secret", qos_too=False) == ("a", "secret")
    assert made.resolve("u", "a", "batch", "secret") == INVALID_QOS
    assert made.resolve("u", "b", "batch", "") == INVALID_ACCOUNT


def test_the_qos_of_a_job_that_names_none() -> None:
    base = ("add qos q", "add qos r", "add account a")
    default = tree(*base, "add user u account=a qos=q,r defaultqos=r")
    assert default.resolve("u", "a", "batch", "") == ("a", "r")
    only = tree(*base, "add user u account=a qos=q")
    assert only.resolve("u", "a", "batch", "") == ("a", "q")
    several = tree(*base, "add user u account=a qos=q,r")
    assert several.resolve("u", "a", "batch", "") == INVALID_QOS  # normal, which is not among them


@pytest.mark.parametrize(("flags", "order"), [("", ["part", "own"]), ("OverPartQOS", ["own", "part"])])
def test_the_qos_of_the_partition_goes_before_that_of_the_job(flags: str, order: list[str]) -> None:
    made = tree("add qos part", f"add qos own flags={flags or -1}", partition_qos={"p": "part"})
    assert [one.name for one in made.qos_order(Job(qos="own", partition="p"))] == order
    assert [one.name for one in made.qos_order(Job(qos="part", partition="p"))] == ["part"]
    assert [one.name for one in made.qos_order(Job(qos="own", partition="other"))] == ["own"]


def test_shares_are_parts_of_those_of_the_level() -> None:
    made = tree(
        "add account a fairshare=60",
        "add account b fairshare=39",
        "add account c parent=a fairshare=parent",
        "add account d parent=a fairshare=3",
        "add user u account=c fairshare=1",
        "add user v account=d fairshare=parent",
    )
    shares = {(one.account, one.user): one.shares_norm for one in made.entries}
    assert shares["a", ""] == 60 / 100  # root's own user has one share
    assert shares["c", "u"] == 1 / 4  # c has no shares of its own: its users stand beside d
    assert shares["d", ""] == 3 / 4
    assert shares["d", "v"] == shares["d", ""]
    assert shares["c", ""] == shares["a", ""]
    whole = tree("add account a fairshare=3", "add account b parent=a", "add user u account=b", fair_tree=False)
    assert whole.find("u", "b").shares_norm == 3 / 4  # type: ignore[union-attr]


def test_the_threshold_of_priority_is_that_of_the_first_that_has_one() -> None:
    made = tree(
        "add qos q MinPrioThresh=5",
        "add account a MinPrioThresh=9",
        "add user u account=a",
    )
    assert made.priority_threshold(Job("u", "a", "normal")) == 9
    assert made.priority_threshold(Job("u", "a", "q")) == 5


def test_a_job_in_several_partitions_counts_in_all_their_qos_until_it_starts_in_one() -> None:
    made = tree(
        "add qos p1",
        "add qos p2",
        "add account a",
        "add user u account=a",
        partition_qos={"one": "p1", "two": "p2"},
    )
    job = Job("u", "a", partition="one", partitions=("one", "two"))
    made.submit(job)
    assert [made.qos[name].used.submitted for name in ("p1", "p2", "normal")] == [1, 1, 1]
    job.partition = "two"
    made.start(job, cpus(2))
    assert [made.qos[name].used.submitted for name in ("p1", "p2", "normal")] == [0, 1, 1]
    assert [made.qos[name].used.jobs for name in ("p1", "p2", "normal")] == [0, 1, 1]
    made.end(job)
    made.leave(job)
    assert all(
        used.submitted == used.jobs == 0 and not any(used.tres)
        for qos in made.qos.values()
        for used in (qos.used, *qos.by_user.values(), *qos.by_account.values())
    )


def test_nodes_that_jobs_share_count_once_where_nodes_are_limited() -> None:
    made = books("modify account phys set GrpTRES=node=9").tree
    phys = made.find("", "phys")
    assert phys is not None
    first, second = Job(), Job("bob")
    made.start(first, cpus(8, nodes=2), (0, 1))
    made.start(second, cpus(8, nodes=2), (1, 2))
    assert phys.used.tres[made.tres_number["node"]] == 3
    made.end(first)
    assert phys.used.tres[made.tres_number["node"]] == 2
    assert phys.used.tres[made.tres_number["cpu"]] == 8


@given(st.lists(st.tuples(st.sampled_from(["submit", "start", "end", "leave"]), st.integers(0, 5)), max_size=40))
def test_what_is_in_use_is_what_the_jobs_hold(acts: list[tuple[str, int]]) -> None:
    made = books().tree
    jobs = [Job(("alice", "bob", "carol")[n % 3], ("phys", "phys", "chem")[n % 3]) for n in range(6)]
    stage = dict.fromkeys(range(6), "out")
    follows = {
        ("submit", "out"): "queue",
        ("start", "queue"): "run",
        ("end", "run"): "queue",
        ("leave", "queue"): "out",
    }
    for act, n in acts:
        if (act, stage[n]) not in follows:
            continue
        stage[n] = follows[act, stage[n]]
        if act == "start":
            made.start(jobs[n], cpus(n + 1))
        else:
            {"submit": made.submit, "end": made.end, "leave": made.leave}[act](jobs[n])
    for entry in made.entries:
        below = [n for n in range(6) if entry in (made.entry(jobs[n]) or entry).chain]
        running = [n for n in below if stage[n] == "run"]
        assert entry.used.jobs == len(running)
        assert entry.used.tres[0] == sum(n + 1 for n in running)
        assert entry.used.submitted == sum(1 for n in below if stage[n] != "out")
