"""Fair Tree: worked examples, recorded tables, and the tree gone down anew as the reference."""

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.systems.slurm.accounting.accounts import PARENT, Accounts
from gnomon.systems.slurm.accounting.entries import Entry
from gnomon.systems.slurm.accounting.sacctmgr import apply_commands
from gnomon.systems.slurm.accounting.tree import Tree
from gnomon.systems.slurm.priority.fair_tree import FairTree
from tests.systems.slurm.accounting.recorded import text


def ranked(commands: Sequence[str], usage: dict[tuple[str, str], float]) -> tuple[Tree, FairTree]:
    """A tree ranked with this usage of its users."""
    tree = Tree(apply_commands(Accounts(), commands))
    raw = np.zeros(len(tree.entries))
    for entry in tree.entries:
        if (entry.account, entry.user) in usage:
            for above in entry.chain:
                raw[above.number] += usage[entry.account, entry.user]
    fair = FairTree(tree)
    fair.finish(raw)
    return tree, fair


def of(tree: Tree, values: "np.ndarray[tuple[int], np.dtype[np.float64]]", user: str, account: str) -> float:
    entry = tree.find(user, account)
    assert entry is not None
    return float(values[entry.number])


def test_example_e2_with_the_root_user_as_one_of_four() -> None:
    commands = [
        "add account a fairshare=40",
        "add account b fairshare=60",
        "add user a1 account=a",
        "add user b1,b2 account=b",
        "modify user root set fairshare=0",  # the shares of the example add up to 100
    ]
    tree, fair = ranked(commands, {("a", "a1"): 60, ("b", "b1"): 10, ("b", "b2"): 30})
    levels = [
        of(tree, fair.level_fs, user, account) for user, account in (("", "a"), ("", "b"), ("b1", "b"), ("b2", "b"))
    ]
    assert levels == pytest.approx([0.667, 1.5, 2.0, 0.667], abs=5e-4)
    unused = [of(tree, fair.factor, user, account) for user, account in (("b1", "b"), ("b2", "b"), ("a1", "a"))]
    assert unused == [1.0, 0.75, 0.5]  # root has no shares here: it is the last
    tree, fair = ranked(commands[:-1], {("a", "a1"): 60, ("b", "b1"): 10, ("b", "b2"): 30})
    assert [of(tree, fair.factor, *key) for key in (("b1", "b"), ("b2", "b"), ("a1", "a"))] == [0.75, 0.5, 0.25]


def test_who_has_used_nothing_is_best_and_all_are_so_at_first() -> None:
    tree, fair = ranked(["add account a", "add user u,v account=a"], {})
    assert {float(fair.factor[one.number]) for one in tree.entries if one.user} == {1.0}


def test_users_who_tie_share_a_rank_and_the_next_loses_them_all() -> None:
    tree, fair = ranked(["add account a", "add user u,v,w account=a"], {("a", "u"): 10, ("a", "v"): 10, ("a", "w"): 20})
    assert [of(tree, fair.factor, user, "a") for user in "uvw"] == [0.75, 0.75, 0.25]


def test_a_user_with_the_shares_of_the_parent_ranks_first_in_it() -> None:
    commands = ["add account a", "add user u account=a fairshare=parent", "add user v account=a"]
    tree, fair = ranked(commands, {("a", "u"): 90, ("a", "v"): 10})
    assert of(tree, fair.level_fs, "u", "a") == math.inf
    assert of(tree, fair.factor, "u", "a") > of(tree, fair.factor, "v", "a")


def test_accounts_that_tie_are_ranked_one_after_the_other() -> None:
    """Not merged, as the manual says: see the module."""
    commands = ["add account a", "add account b", "add user a1,a2 account=a", "add user b1,b2 account=b"]
    usage = {("a", "a1"): 10.0, ("a", "a2"): 30.0, ("b", "b1"): 5.0, ("b", "b2"): 35.0}
    tree, fair = ranked(commands, usage)
    factors = [of(tree, fair.factor, user, user[0]) for user in ("a1", "a2", "b1", "b2")]
    assert factors == [4 / 5, 3 / 5, 3 / 5, 1 / 5]


def table(name: str) -> dict[tuple[str, str], dict[str, str]]:
    """A recorded table of sshare, by account and user."""
    header, rule, *rows = text(name).splitlines()
    ends, spans = 0, []
    for dashes in rule.split():
        spans.append((ends, ends + len(dashes)))
        ends += len(dashes) + 1
    names = [header[start:end].strip() for start, end in spans]
    cells = [dict(zip(names, (row[start:end].strip() for start, end in spans), strict=True)) for row in rows]
    return {(row["Account"], row["User"]): row for row in cells}


def test_the_recorded_ranks_follow_from_the_recorded_usage() -> None:
    shown = table("sshare-al-after.txt")
    tree = Tree(apply_commands(Accounts(), text("sacctmgr-commands.txt").splitlines()))
    raw = np.array([float(shown[entry.account, entry.user]["RawUsage"]) for entry in tree.entries])
    fair = FairTree(tree)
    fair.finish(raw)
    for entry in tree.entries:
        row = shown[entry.account, entry.user]
        assert f"{entry.shares_norm:f}" == row["NormShares"]
        if entry.user:
            assert f"{fair.factor[entry.number]:f}" == row["FairShare"]
        if entry.parent is not None:  # RawUsage is newer by the jobs that ended since the last period (under 1 %)
            assert fair.effective[entry.number] == pytest.approx(float(row["EffectvUsage"]), abs=2e-3)
            assert fair.norm[entry.number] == pytest.approx(float(row["NormUsage"]), abs=3e-3)
        if row["LevelFS"]:
            assert fair.level_fs[entry.number] == pytest.approx(float(row["LevelFS"]), rel=2e-2)


@pytest.mark.golden
def test_accounts_that_tie_are_ranked_as_recorded() -> None:
    """Two accounts without shares tie at 0 whatever their use; the users' use in them differs."""
    header, *rows = (line.split("|") for line in text("sshare-tied-accounts.txt").splitlines())
    shown = {(row["Account"].strip(), row["User"]): row for row in (dict(zip(header, r, strict=True)) for r in rows)}
    commands = ["add account acca fairshare=0", "add account accb fairshare=0"]
    commands += ["add user alice,bob account=acca", "add user carol,dave account=accb"]
    tree = Tree(apply_commands(Accounts(), commands))
    raw = np.array([float(shown[one.account, one.user]["RawUsage"]) for one in tree.entries])
    fair = FairTree(tree)
    fair.finish(raw)
    for entry in tree.entries[1:]:
        row = shown[entry.account, entry.user]
        assert f"{fair.effective[entry.number]:f}" == row["EffectvUsage"]
        assert f"{fair.level_fs[entry.number]:f}" == row["LevelFS"]
        assert f"{fair.norm[entry.number]:f}" == row["NormUsage"]
        assert (f"{fair.factor[entry.number]:f}" if entry.user else "") == row["FairShare"]


def naive(tree: Tree, raw: "np.ndarray[tuple[int], np.dtype[np.float64]]") -> dict[Entry, float]:
    """The ranks, gone down the tree without any memory."""
    users = [one for one in tree.entries if one.user]
    level: dict[Entry, float] = {}
    for one in tree.entries:
        if one.fair_parent is None or (one.shares == PARENT and not one.user):
            level[one] = 2.0**32 - 2
        elif one.shares == PARENT:
            level[one] = math.inf
        else:
            whole = float(raw[one.fair_parent.number])
            part = float(raw[one.number]) / whole if whole else 0.0
            level[one] = 0.0 if not one.shares_norm else one.shares_norm / part if part else math.inf
    result: dict[Entry, float] = {}
    state = {"rank": len(users), "next": len(users)}
    order = {one: i for i, (_, one) in enumerate(tree.in_print_order())}

    def down(children: list[Entry], tied: bool) -> None:
        last = 2.0**32 - 2
        for child in sorted(children, key=lambda one: (-level[one], not one.user, order[one])):
            tied = tied or level[child] == last
            if child.user:
                if not tied:
                    state["rank"] = state["next"]
                result[child] = state["rank"] / len(users)
                state["next"] -= 1
            else:
                down(child.children, tied)
            last, tied = level[child], False

    down(tree.entries[0].children, False)
    return result


@given(
    st.lists(st.lists(st.integers(0, 4), min_size=6, max_size=6), min_size=1, max_size=6), st.lists(st.integers(0, 3))
)
def test_ranks_kept_from_before_are_those_of_a_new_descent(rounds: list[list[int]], shares: list[int]) -> None:
    commands = [
        "add account a",
        "add account b",
        "add account c parent=b",
        "add user u,v account=a",
        "add user w account=b",
    ]
    commands += ["add user x,y account=c", "add user z account=a fairshare=parent"]
    accounts = ("a", "b", "c")
    commands += [f"modify account {accounts[i % 3]} set fairshare={share}" for i, share in enumerate(shares)]
    tree = Tree(apply_commands(Accounts(), commands))
    fair = FairTree(tree)
    raw = np.zeros(len(tree.entries))
    users = [one for one in tree.entries if one.user and one.account != "root"]
    for added in rounds:
        raw *= 0.5
        for user, amount in zip(users, added, strict=True):
            for above in user.chain:
                raw[above.number] += amount
        fair.finish(raw)
        expected = naive(tree, raw)
        assert {one: float(fair.factor[one.number]) for one in expected} == expected
