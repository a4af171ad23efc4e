"""Fair Tree, the fair-share of Slurm since 19.05: users are ranked by going down the tree, the best served last.

At each level the associations are sorted by level_fs = S / U, their part of the shares by their part of the usage,
users before accounts where they are equal; an account's users all stand where it stands. The best of n users gets 1.0,
the next (n-1)/n, …; a user who ties with the one before gets the same. The user root of the root account is one of the
n. Source: ``src/plugins/priority/multifactor/fair_tree.c``, Slurm 22.05 to 25.05.

The manual says that accounts which tie have their users sorted together. The code does not do so: the loop that counts
them ends at the first account (``_count_tied_accounts``), so their users are ranked one account after the other, and
only the first user of the second account shares the last rank of the first one's. Here the code is followed.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gnomon.systems.slurm.accounts import PARENT
from gnomon.systems.slurm.entries import Entry
from gnomon.systems.slurm.tree import Tree

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
        self._parent = np.array([one.fair_parent.number if one.fair_parent else one.number for one in entries], int)
        self._shares = np.array([one.shares_norm for one in entries])
        self._given = np.array([one.shares == PARENT and bool(one.user) for one in entries], bool)
        self._none = np.array([one.fair_parent is None or (one.shares == PARENT and not one.user) for one in entries])
        self._root = next((one for one in entries if one.parent is None), None)
        place = {entry: number for number, (_, entry) in enumerate(tree.in_print_order())}
        self._children = {
            one: sorted(one.children, key=lambda child: (not child.user, place[child]))
            for one in entries
            if one.children
        }
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
        pairs: list[tuple[int, int]] = []
        level = self.level_fs.tolist()
        factor = self.factor
        ranks = [self._count, self._count]  # the rank now, and what it would be without ties

        def descend(siblings: list[Entry], tied_above: bool) -> None:
            ordered = sorted(siblings, key=lambda one: (-level[one.number], not one.user))
            last = NO_VALUE
            for i, entry in enumerate(ordered):
                own = level[entry.number]
                tied = tied_above if i == 0 and tied_above else last == own
                if i:
                    pairs.append((ordered[i - 1].number, entry.number))
                if entry.user:
                    if not tied:
                        ranks[0] = ranks[1]
                    factor[entry.number] = ranks[0] / self._count
                    ranks[1] -= 1
                elif entry in self._children:
                    descend(self._children[entry], tied)
                last = own

        assert self._root is not None
        descend(self._children.get(self._root, []), False)
        self._before = np.array([one for one, _ in pairs], dtype=np.intp)
        self._after = np.array([other for _, other in pairs], dtype=np.intp)
        self._equal = self.level_fs[self._before] == self.level_fs[self._after]
        self._ranked = True
