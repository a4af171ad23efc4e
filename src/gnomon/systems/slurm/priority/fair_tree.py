"""Fair Tree, the fair-share of Slurm since 19.05: users are ranked by going down the tree, the best served last.

At each level the associations are sorted by level_fs = S / U, their part of the shares by their part of the usage,
users before accounts where they are equal; an account's users all stand where it stands. The best of n users gets 1.0,
the next (n-1)/n, …; a user who ties with the one before gets the same. The user root of the root account is one of the
n. Source: ``src/plugins/priority/multifactor/fair_tree.c``, Slurm 22.05 to 25.05.

The manual says that accounts which tie have their users sorted together. The program does not do so: the loop that
counts them ends at the first account (``_count_tied_accounts``), so their users are ranked one account after the other,
by name, and only the first user of the second account shares the last rank of the first one's. So it was recorded with
22.05.8, and so it is here.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gnomon.systems.slurm.accounting.accounts import PARENT
from gnomon.systems.slurm.accounting.entries import Entry
from gnomon.systems.slurm.accounting.tree import Tree

Floats = npt.NDArray[np.float64]
NO_VALUE = float(2**32 - 2)
"""Slurm's NO_VAL: the level_fs of root, and of accounts that take the shares of those above them."""


class FairTree:
    """The ranks of the users. By entry of the tree: ``level_fs``, ``effective`` (the part of the parent's usage),
    ``norm`` (the part of all usage), ``factor`` (0 to 1).

    The tree is gone down anew only when the order at some level, or a tie, is another than before.
    """

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        entries = tree.entries
        self._count = max(1, tree.user_count)
        self._parent = np.array([one.fair_parent.number if one.fair_parent else one.number for one in entries], np.intp)
        self._shares = np.array([one.shares_norm for one in entries])
        self._given = np.array([one.shares == PARENT and bool(one.user) for one in entries], bool)
        self._none = np.array(
            [one.fair_parent is None or (one.shares == PARENT and not one.user) for one in entries], bool
        )
        self._root = next((one for one in entries if one.parent is None), None)
        chains = [_fair_chain(one) for one in entries]
        deepest = max((len(chain) for chain in chains), default=0)
        self._levels = [
            np.array([i for i, c in enumerate(chains) if len(c) == d], np.intp) for d in range(1, deepest + 1)
        ]
        self._users = np.array([one.number for one in entries if one.user], np.intp)
        none = len(entries)  # stands where a chain has ended
        self._chains = np.array([(c + [none] * deepest)[:deepest] for c in (chains[i] for i in self._users)], np.intp)
        self._ranked_entries = np.array([one.number for one in entries if one.fair_parent is not None], np.intp)
        place = {entry: number for number, (_, entry) in enumerate(tree.in_print_order())}
        self._place = np.array([place[one] for one in entries], np.intp)
        self._account = np.array([not one.user for one in entries], bool)
        self.level_fs = np.full(len(entries), NO_VALUE)
        self.effective, self.norm = np.zeros(len(entries)), np.zeros(len(entries))
        self.factor = np.zeros(len(entries))
        self._before, self._after, self._equal = (np.zeros(0, dtype=np.intp),) * 3
        self._ranked = False

    def begin(self, raw: Floats) -> None:
        """Before the usage of a period is added: nothing is computed yet."""

    def finish(self, raw: Floats) -> None:
        """Rank the users by this usage."""
        if self._root is None:
            return
        raw = raw[: len(self.level_fs)]
        above, whole = raw[self._parent], raw[self._root.number]
        self.effective = np.divide(raw, above, out=np.zeros_like(raw), where=above != 0)
        self.norm = np.minimum(raw / whole, 1.0) if whole else np.zeros_like(raw)
        with np.errstate(divide="ignore", invalid="ignore"):
            level = np.where(self._shares == 0, 0.0, self._shares / self.effective)
        level[self._given] = np.inf
        level[self._none] = NO_VALUE
        self.level_fs = level
        before, after = level[self._before], level[self._after]
        if not (self._ranked and (before >= after).all() and ((before == after) == self._equal).all()):
            self._rank()

    def _rank(self) -> None:
        """Go down the tree: sort each level, mark the ties, and count the users off in the order of their paths."""
        level, among, parent = self.level_fs, self._ranked_entries, self._parent
        order = among[np.lexsort((self._place[among], self._account[among], -level[among], parent[among]))]
        same = parent[order][1:] == parent[order][:-1]  # as the one before it: not the first of its siblings
        first = np.concatenate(([True], ~same))[: len(order)]
        equal = np.concatenate(([False], same & (level[order][1:] == level[order][:-1])))[: len(order)]
        start = np.maximum.accumulate(np.where(first, np.arange(len(order)), 0))
        position = np.zeros(len(level) + 1, np.intp)
        position[order] = np.arange(len(order)) - start
        leads, tied = np.zeros(len(level), bool), np.zeros(len(level), bool)
        leads[order], tied[order] = first, equal
        for entries in self._levels[1:]:  # the first of an account stands as the account does
            tied[entries] = np.where(leads[entries], tied[parent[entries]], tied[entries])
        paths = position[self._chains]
        users = self._users[np.lexsort(paths.T[::-1])] if len(paths) else self._users
        count = np.arange(len(users))
        ahead = np.maximum.accumulate(np.where(tied[users], 0, count)) if len(users) else count
        self.factor[users] = (self._count - ahead) / self._count
        self._before, self._after = order[:-1][same], order[1:][same]
        self._equal = level[self._before] == level[self._after]
        self._ranked = True


def _fair_chain(entry: Entry) -> list[int]:
    """The numbers of the entries from right below root down to one, by whose shares they stand in."""
    chain: list[int] = []
    one: Entry | None = entry
    while one is not None and one.fair_parent is not None:
        chain.insert(0, one.number)
        one = one.fair_parent
    return chain
