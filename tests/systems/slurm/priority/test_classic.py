"""The fair-share without Fair Tree, after the examples of its formula."""

import numpy as np
import pytest

from gnomon.systems.slurm.accounting.accounts import Accounts
from gnomon.systems.slurm.accounting.sacctmgr import apply_commands
from gnomon.systems.slurm.accounting.tree import Tree
from gnomon.systems.slurm.priority.classic import Classic, factor, oblivious

COMMANDS = [
    "modify user root set fairshare=0",
    "add account a fairshare=40",
    "add account b fairshare=60",
    "add user a1 account=a fairshare=3",
    "add user a2 account=a fairshare=1",
    "add user b1 account=b",
    "add user b2 account=b fairshare=parent",
]
USAGE = {("a", "a1"): 10.0, ("a", "a2"): 10.0, ("b", "b1"): 80.0}


def reckoned(*, depth_oblivious: bool = False, dampening: float = 1.0) -> tuple[Tree, Classic]:
    tree = Tree(apply_commands(Accounts(), COMMANDS), fair_tree=False)
    raw = np.zeros(len(tree.entries))
    for key, amount in USAGE.items():
        entry = tree.find(key[1], key[0])
        assert entry is not None
        for above in entry.chain:
            raw[above.number] += amount
    classic = Classic(tree, dampening=dampening, depth_oblivious=depth_oblivious)
    classic.begin(raw)
    classic.finish(raw)
    return tree, classic


def of(tree: Tree, values: "np.ndarray[tuple[int], np.dtype[np.float64]]", user: str, account: str) -> float:
    entry = tree.find(user, account)
    assert entry is not None
    return float(values[entry.number])


def test_effective_usage_takes_from_the_parent_by_the_part_of_the_shares() -> None:
    tree, classic = reckoned()
    assert of(tree, classic.effective, "", "a") == pytest.approx(0.2)  # right below root: just its usage
    # a1: 0.1 + (0.2 - 0.1) * 3/4; a2: 0.1 + (0.2 - 0.1) * 1/4
    assert of(tree, classic.effective, "a1", "a") == pytest.approx(0.175)
    assert of(tree, classic.effective, "a2", "a") == pytest.approx(0.125)
    # shares: 0.4 * 3/4 and 0.4 * 1/4
    assert of(tree, classic.factor, "a1", "a") == pytest.approx(2 ** -(0.175 / 0.3))
    assert of(tree, classic.factor, "a2", "a") == pytest.approx(2 ** -(0.125 / 0.1))


def test_who_takes_the_shares_of_the_parent_takes_its_factor() -> None:
    tree, classic = reckoned()
    assert of(tree, classic.factor, "b2", "b") == pytest.approx(2 ** -(0.8 / 0.6))


def test_dampening_flattens_the_factor() -> None:
    tree, classic = reckoned(dampening=2.0)
    assert of(tree, classic.factor, "a2", "a") == pytest.approx(2 ** -(0.125 / 0.1 / 2))
    assert factor(0.5, 0.0) == 0.0


def test_depth_oblivious_reckons_from_the_ratio_of_the_parent() -> None:
    tree, classic = reckoned(depth_oblivious=True)
    # a is under-served (0.2 / 0.4 = 1/2), a2 over-served in it: ratio (0.1/0.1) / (0.2/0.4) = 2, so k < 1
    k = 1 / (1 + (5 * np.log(0.5)) ** 2)
    assert of(tree, classic.effective, "a2", "a") == pytest.approx(0.5 * 2**k * 0.1)
    # a1: ratio (0.1/0.3) / (0.2/0.4) = 2/3, to the same side: k = 1
    assert of(tree, classic.effective, "a1", "a") == pytest.approx(0.5 * (2 / 3) * 0.3)
    assert oblivious(0.0, 0.3, 0.3, (0.1, 0.2)) == 0.3


def test_without_usage_all_is_one() -> None:
    tree = Tree(apply_commands(Accounts(), COMMANDS), fair_tree=False)
    classic = Classic(tree)
    raw = np.zeros(len(tree.entries))
    classic.begin(raw)
    classic.finish(raw)
    assert {of(tree, classic.factor, user, account) for account, user in USAGE} == {1.0}
