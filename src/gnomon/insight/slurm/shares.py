"""Why a user or an account stands where it does: at which level of the tree the comparison is decided.

Fair Tree compares siblings by level_fs = S / U, their part of the shares by their part of the usage. All users of an
account come before all users of one that ranks below it, whatever they have used themselves.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from gnomon.insight.explain.answer import Explanation
from gnomon.insight.explain.chain import Link
from gnomon.insight.explain.changes import CONSTRAINT, LIMIT, Change, cost_of
from gnomon.insight.explain.phrases import counted, listed, span
from gnomon.insight.slurm.rehearsal import Rehearsal
from gnomon.insight.slurm.subjects import named
from gnomon.model.errors import InputError
from gnomon.systems.slurm.accounting.accounts import PARENT
from gnomon.systems.slurm.accounting.entries import Entry
from gnomon.systems.slurm.cluster.job import Job
from gnomon.systems.slurm.cluster.state import SECOND, State
from gnomon.systems.slurm.controller.books import books
from gnomon.systems.slurm.priority.fair_tree import FairTree

SHARES_MAX = 10**6


def explain_shares(kind: str, name: str, played: Rehearsal) -> Explanation:
    """Explain the fair share of a user (in the account that is best for it named first) or of an account."""
    state = played.state
    fair = getattr(state.priorities, "fair", None)
    if not isinstance(fair, FairTree):
        problem = (
            "there is no Fair Tree: PriorityType is priority/basic" if fair is None else "not modelled: explaining"
        )
        raise InputError(
            problem, found=f"{kind}/{name}", allowed="PriorityType=priority/multifactor without NO_FAIR_TREE"
        )
    user, _, within = name.partition("@")
    entries = [one for one in state.tree.entries if bool(one.user) == (kind == "user")]
    known = sorted({one.user if kind == "user" else one.account for one in entries})
    wanted = named(kind, user.lower(), known)
    mine = [
        one
        for one in entries
        if (one.user if kind == "user" else one.account) == wanted and within in ("", one.account)
    ]
    if not mine:
        raise InputError("the user is not in this account", found=name)
    entry = mine[0]
    return _explained(kind, entry, state, fair, played)


def _explained(kind: str, entry: Entry, state: State, fair: FairTree, played: Rehearsal) -> Explanation:
    users = sorted((one for one in state.tree.entries if one.user), key=lambda one: -fair.factor[one.number])
    ahead = [one for one in users if kind == "user" and fair.factor[one.number] > fair.factor[entry.number]]
    weight = state.priorities.weights.fairshare
    who = f"user {entry.user} of account {entry.account}" if entry.user else f"account {entry.account}"
    text = who
    if kind == "user":
        factor = float(fair.factor[entry.number])
        rank = len(ahead) + 1
        text += f" has the fair-share factor {factor:.6f}: rank {rank} of {len(users)} users"
        text += f", worth {factor * weight:.0f} of PriorityWeightFairshare={weight}" if weight else ""
        if not weight:
            text += ", which counts for nothing, for PriorityWeightFairshare is 0"
    rival = _rival(ahead, fair) if kind == "user" else _best_sibling(entry, fair)
    if rival is not None:
        own, other = _where(entry, rival)
        text += f". {_decided(own, other, rival, fair)}"
        if own is not entry and not state.usage.raw[entry.number]:
            text += f"; that {entry.user} has used nothing counts only within account {entry.account}"
    text += f". Usage halves in {_half_life(state)}, everybody's alike: only use and shares change the order."
    levels = tuple(_levels(entry, fair))
    changes = list(_changes(entry, rival, played)) if rival is not None else []
    name = f"{kind}/{entry.user or entry.account}"
    native = f"FairShare={fair.factor[entry.number]:.6f}" if entry.user else f"LevelFS={_level(fair, entry)}"
    notes = ("by itself nothing changes the order as long as all use as they do",) if not changes and rival else ()
    return Explanation(name, "ranked", text, native, (), (), levels, tuple(changes), notes)


def _half_life(state: State) -> str:
    seconds = state.conf.seconds("prioritydecayhalflife")
    return span(seconds * SECOND) if seconds else "no time (PriorityDecayHalfLife=0)"


def _rival(ahead: list[Entry], fair: FairTree) -> Entry | None:
    """The user to compare with: of those before it the one that has used most, but root."""
    others = [one for one in ahead if one.user != "root"]
    return max(others, key=lambda one: (fair.norm[one.number], -one.number), default=None)


def _best_sibling(entry: Entry, fair: FairTree) -> Entry | None:
    siblings = entry.fair_parent.children if entry.fair_parent is not None else []
    before = [one for one in siblings if fair.level_fs[one.number] > fair.level_fs[entry.number] and one.user != "root"]
    return max(before, key=lambda one: fair.norm[one.number], default=None)


def _where(entry: Entry, rival: Entry) -> tuple[Entry, Entry]:
    """The siblings above both at which they part."""
    mine = [one for one in reversed(entry.chain) if one is entry or one.shares != PARENT]
    theirs = [one for one in reversed(rival.chain) if one is rival or one.shares != PARENT]
    for own, other in zip(mine, theirs, strict=False):
        if own is not other:
            return own, other
    return entry, rival


def decided_between(state: State, job: Job, other: Job) -> str:
    """At which level of the tree the fair share of two jobs parts, "": it does not, or there is no Fair Tree."""
    fair = getattr(state.priorities, "fair", None)
    mine, theirs = state.tree.entry(job), state.tree.entry(other)
    if not isinstance(fair, FairTree) or mine is None or theirs is None or mine is theirs:
        return ""
    own, rival = _where(mine, theirs)
    text = _decided(own, rival, theirs, fair)
    return text[0].lower() + text[1:]


def _decided(own: Entry, other: Entry, rival: Entry, fair: FairTree) -> str:
    above = own.fair_parent.account if own.fair_parent is not None else "root"
    mine, theirs = _name(own), _name(other)
    behind = f", so all users of account {other.account} come before those of {own.account}" if not own.user else ""
    heavy = (
        f", {rival.user} with {fair.norm[rival.number]:.1%} of all usage among them"
        if behind and rival.user and fair.norm[rival.number] >= 0.001
        else ""
    )
    return (
        f"It is decided below {above}: {mine} has LevelFS {_level(fair, own)} ({own.shares_norm:.6f} of the shares, "
        f"{fair.effective[own.number]:.6f} of the usage there), {theirs} has {_level(fair, other)} "
        f"({other.shares_norm:.6f}, {fair.effective[other.number]:.6f}){behind}{heavy}"
    )


def _name(entry: Entry) -> str:
    return f"user {entry.user}" if entry.user else f"account {entry.account}"


def _level(fair: FairTree, entry: Entry) -> str:
    value = float(fair.level_fs[entry.number])
    return "inf" if math.isinf(value) else f"{value:.4g}"


def _levels(entry: Entry, fair: FairTree) -> Iterator[Link]:
    """From root down to it, who its siblings are and how they compare."""
    for number, one in enumerate(reversed(entry.chain)):
        if one.fair_parent is None:
            continue
        line = sorted(one.fair_parent.children, key=lambda child: -fair.level_fs[child.number])
        place = line.index(one) + 1
        told = listed([f"{_name(child)} {_level(fair, child)}" for child in line], 5)
        yield Link(
            number,
            0,
            f"level {number}",
            f"{_name(one)} is {place} of {counted(len(line), 'sibling')} by LevelFS: {told}",
        )


# ------------------------------------------------------------------ changes


def _changes(entry: Entry, rival: Entry, played: Rehearsal) -> Iterator[Change]:
    """More shares at the level that decides, and another account that the user is in; each ranked anew."""
    own, _ = _where(entry, rival)
    if own.shares not in (PARENT, 0):
        low, high = own.shares, own.shares
        while high < SHARES_MAX and not _before(entry, rival, played, own, high):
            low, high = high, high * 2
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if _before(entry, rival, played, own, middle) else (middle, high)
        if _before(entry, rival, played, own, high):
            size = (high - own.shares) / own.shares
            cost = cost_of(LIMIT, size)
            mine, theirs = entry.user or f"account {entry.account}", rival.user or f"account {rival.account}"
            text = f"raise the shares of {_name(own)} from {own.shares} to {high}: {mine} comes before {theirs}"
            yield Change(text, _name(own).replace(" ", "/"), "Fairshare", own.shares, high, cost, confirmed=True)
    fair = played.state.priorities.fair
    for other in played.state.tree.entries:
        if entry.user and other is not entry and other.user == entry.user:
            better = fair.factor[other.number] > fair.factor[entry.number]
            if better:
                text = (
                    f"charge account {other.account} (-A {other.account}): fair-share {fair.factor[other.number]:.6f}"
                )
                yield Change(
                    text,
                    f"user/{entry.user}",
                    "--account",
                    entry.account,
                    other.account,
                    round(CONSTRAINT + 0.3, 4),
                    confirmed=True,
                )


def _before(entry: Entry, rival: Entry, played: Rehearsal, own: Entry, shares: int) -> bool:
    """Whether it ranks before another with so many shares at a level, the usage as it is."""
    accounts = played.native.accounts
    changed = tuple(replace(one, shares=shares) if one == own.record else one for one in accounts.associations)
    tree = books(played.native.conf, replace(accounts, associations=changed), played.machine).tree
    fair = FairTree(tree)
    fair.finish(played.state.usage.raw)
    mine, theirs = (tree.find(one.user, one.account, one.record.partition) for one in (entry, rival))
    if mine is None or theirs is None:
        return False
    column = fair.factor if entry.user else fair.level_fs
    return bool(column[mine.number] > column[theirs.number])
