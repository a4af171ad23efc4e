"""Dumps and tables of sacctmgr."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.model.errors import InputError
from gnomon.systems.slurm.accounting.accounts import Accounts
from gnomon.systems.slurm.accounting.sacctmgr import apply_commands
from gnomon.systems.slurm.accounting.sacctmgr_text import is_dump, read_dump, read_show
from gnomon.systems.slurm.accounting.tree import Tree
from tests.systems.slurm.accounting import recorded


def commands() -> Accounts:
    return apply_commands(Accounts(), recorded.text("sacctmgr-commands.txt").splitlines())


def seen(accounts: Accounts) -> dict[tuple[str, str], tuple[object, ...]]:
    """What counts of each association."""
    return {
        (one.account, one.user): (one.record.parent, one.shares, one.qos, one.limits) for one in Tree(accounts).entries
    }


def test_a_dump_and_the_qos_give_what_the_commands_made() -> None:
    assert is_dump(recorded.text("sacctmgr-dump.cfg"))
    qos = read_show(recorded.text("sacctmgr-show-qos.txt"))
    accounts = read_dump(recorded.text("sacctmgr-dump.cfg"), start=qos)
    assert seen(accounts) == seen(commands())
    assert {one.name: one for one in accounts.qos} == {one.name: one for one in commands().qos}
    assert {user.name: user for user in accounts.users} == {user.name: user for user in commands().users}
    assert not accounts.notes


def test_a_dump_alone_notes_that_its_qos_have_no_limits() -> None:
    accounts = read_dump(recorded.text("sacctmgr-dump.cfg"))
    assert [(note.what, note.field, note.count) for note in accounts.notes] == [("default", "QOS", 4)]


def test_show_assoc_does_not_tell_the_parents_of_accounts_and_says_so() -> None:
    start = read_show(recorded.text("sacctmgr-show-qos.txt"))
    accounts = read_show(recorded.text("sacctmgr-show-assoc.txt"), start=start)
    assert [(note.what, note.field) for note in accounts.notes] == [("guess", "ParentName")]
    for key, (parent, *rest) in seen(accounts).items():
        expected = seen(commands())[key]
        assert tuple(rest) == expected[1:]
        assert parent == (key[0] if key[1] else "" if key[0] == "root" else "root")


def test_parents_are_read_where_they_are_shown() -> None:
    named = "Account|User|ParentName\nroot||\na||root\nb||a\nb|u|\n"
    in_a_tree = "Account|User\nroot|\n a|\n  b|\n   b|u\n"
    for shown in (named, in_a_tree):
        accounts = read_show(shown)
        parents = {one.account: one.parent for one in accounts.associations if not one.user}
        assert parents == {"root": "", "a": "root", "b": "a"}
        assert not accounts.notes


def test_a_ruled_table_is_read_as_one_with_bars() -> None:
    accounts = read_show(recorded.text("sacctmgr-show-assoc-tree.txt"))
    assert {key: value[1] for key, value in seen(accounts).items()} == {
        key: value[1] for key, value in seen(commands()).items()
    }
    physics = next(one for one in accounts.associations if (one.account, one.user) == ("physics", ""))
    assert physics.limits.grp_tres == {"cpu": 200}


def test_users_tell_default_accounts_and_tres_tell_the_order() -> None:
    accounts = read_show(recorded.text("sacctmgr-show-tres.txt"), start=commands())
    assert accounts.tres[8:] == ("gres/gpu", "gres/gpu:a100", "license/matlab")
    assert Tree(accounts).tres == accounts.tres
    users = read_show(recorded.text("sacctmgr-show-user.txt"), start=read_show(recorded.text("sacctmgr-show-qos.txt")))
    assert {user.name: (user.default_account, user.admin) for user in users.users}["dave"] == (
        "engineering",
        "Operator",
    )
    assert read_show(recorded.text("sacctmgr-show-account.txt")) == read_show("Account|Descr|Org\n")


def test_of_several_clusters_one_is_read() -> None:
    shown = "Cluster|Account|User|Share|ParentName\nc1|root||1|\nc1|a||3|root\nc2|root||1|\nc2|b||4|root\n"
    assert [one.account for one in read_show(shown).associations] == ["root", "root", "a"]
    other = read_show(shown, cluster="c2")
    assert other.associations[-1].shares == 4
    assert [note.field for note in other.notes] == ["cluster c1"]
    with pytest.raises(InputError, match="no such cluster"):
        read_show(shown, cluster="c3")


@pytest.mark.parametrize(
    ("shown", "line"),
    [
        ("Account|User|MaxJobs\nroot||x\n", 2),
        ("Name|Priority\nhigh|100\nlow\n", 3),
        ("Apples|Pears\n1|2\n", 1),
        ("just some words\n", 1),
    ],
)
def test_what_does_not_fit_names_its_line(shown: str, line: int) -> None:
    with pytest.raises(InputError) as caught:
        read_show(shown, file="assoc.txt")
    assert (caught.value.file, caught.value.line) == ("assoc.txt", line)


def test_a_dump_with_a_wrong_line_names_it() -> None:
    with pytest.raises(InputError) as caught:
        read_dump("Cluster - 'c1'\nParent - 'nosuch'\n", file="dump.cfg")
    assert (caught.value.file, caught.value.line) == ("dump.cfg", 2)


@given(st.text(alphabet="Accountser|-=' :\n12", max_size=120))
def test_no_text_makes_it_fail_otherwise(text: str) -> None:
    for read in (read_show, read_dump):
        with suppress(InputError):
            read(text)
