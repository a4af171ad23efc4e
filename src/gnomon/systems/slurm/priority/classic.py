"""The fair-share before Fair Tree (PriorityFlags=NO_FAIR_TREE), and its DEPTH_OBLIVIOUS variant.

``fs = 2 ** -((UE / S) / d)``: S is the part of the shares, multiplied down the tree, d FairShareDampeningFactor. The
effective usage UE is the usage UA (a part of all usage) for those right below root, and further down
``UE = UA + (UE_parent - UA) · s / Σs``; with DEPTH_OBLIVIOUS ``UE = R · S`` with ``R = R_parent · r ** k``, see
:func:`oblivious`. Source: ``_set_usage_efctv``, ``_depth_oblivious_set_usage_efctv``, ``priority_p_calc_fs_factor`` in
``priority_multifactor.c``, Slurm 22.05 to 25.05; priority_multifactor.html.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from gnomon.systems.slurm.accounting.accounts import PARENT
from gnomon.systems.slurm.accounting.entries import Entry
from gnomon.systems.slurm.accounting.tree import Tree

Floats = npt.NDArray[np.float64]

_STEEPNESS = 5.0
"""How much a parent that is far from its share weighs more than its child (``f`` in the source)."""


def factor(effective: float, shares: float, dampening: float = 1.0) -> float:
    """The factor of fair-share: 1/2 for who used just his share.

    >>> factor(0.25, 0.25), factor(0.0, 0.1), factor(0.1, 0.0)
    (0.5, 1.0, 0.0)
    """
    return math.pow(2.0, -((effective / shares) / dampening)) if shares > 0 else 0.0


def oblivious(parent: float, own: float, siblings: float, shares: tuple[float, float]) -> float:
    """The effective usage with DEPTH_OBLIVIOUS. ``parent``: its effective usage; ``own`` and ``siblings``: usage, as
    parts of all; ``shares``: of itself and of its parent.

    >>> round(oblivious(0.5, 0.25, 0.5, (0.25, 0.5)), 6)
    0.25
    """
    mine, above = shares
    if not (mine and above and parent and own):
        return own
    ratio_above = parent / above
    ratio = (own / mine) / (siblings / above)
    if math.log(ratio_above) * math.log(ratio) >= 0:
        k = 1.0
    else:
        k = 1 / (1 + (_STEEPNESS * math.log(ratio_above)) ** 2)
    return ratio_above * math.pow(ratio, k) * mine


class Classic:
    """The factors by entry of the tree: ``effective``, ``norm`` (usage as parts of all), ``factor``.

    As in Slurm, the accounts are reckoned with the usage that there was when a period began, and their users with that
    at its end.
    """

    def __init__(self, tree: Tree, *, dampening: float = 1.0, depth_oblivious: bool = False) -> None:
        self.tree, self.dampening, self.depth_oblivious = tree, dampening, depth_oblivious
        entries = tree.entries
        self._root = next((one for one in entries if one.parent is None), None)
        self.level_fs = np.full(len(entries), np.nan)
        self.effective, self.norm, self.factor = (np.zeros(len(entries)) for _ in range(3))
        if self._root is not None:
            self.effective[self._root.number] = 1.0

    def begin(self, raw: Floats) -> None:
        """Reckon the accounts, before the usage of a period is added."""
        self._reckon(raw, users=False)

    def finish(self, raw: Floats) -> None:
        """Reckon the users, with the usage of the period."""
        self._reckon(raw, users=True)
        for entry in self.tree.entries:
            of = entry.fair_parent if entry.shares == PARENT and entry.fair_parent else entry
            self.factor[entry.number] = factor(float(self.effective[of.number]), of.shares_norm, self.dampening)

    def _reckon(self, raw: Floats, *, users: bool) -> None:
        if self._root is None:
            return
        whole = float(raw[self._root.number])
        wanted = [one for one in self.tree.entries if one.parent is not None and bool(one.user) == users]
        for entry in wanted:
            self.norm[entry.number] = min(float(raw[entry.number]) / whole, 1.0) if whole else 0.0
        for entry in wanted:  # those above come first
            self.effective[entry.number] = self._effective(entry)

    def _effective(self, entry: Entry) -> float:
        parent, own = entry.fair_parent, float(self.norm[entry.number])
        if parent is None or parent is self._root:
            return own
        above = float(self.effective[parent.number])
        if entry.shares == PARENT:
            return above
        if self.depth_oblivious:
            siblings = sum(float(self.norm[one.number]) for one in parent.children if one.shares != PARENT)
            return oblivious(above, own, siblings, (entry.shares_norm, parent.shares_norm))
        if not entry.level_shares:
            return above
        return own + (above - own) * (entry.shares / entry.level_shares)
