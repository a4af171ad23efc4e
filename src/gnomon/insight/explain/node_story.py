"""The explanation of a node: what struck it, what the control plane made of that, and who was on it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gnomon.engine.log import Kind, Reason
from gnomon.insight.explain.classes import CLOSED_FOR
from gnomon.insight.explain.ground import Ground
from gnomon.insight.explain.phrases import amounts_of, counted, listed, span
from gnomon.insight.explain.sentences import sentence
from gnomon.insight.explain.sentences_recovery import budget
from gnomon.insight.explain.situation import Situation
from gnomon.model.fault import Fault
from gnomon.model.work import IntArray
from gnomon.recovery.targets import resolve

ROWS_MAX = 24
"""How many rows about a node are shown: the latest."""

FAULTS_MAX = 4
"""How many faults the sentence tells: the latest."""

_ABOUT = (
    *(Kind.FAULT, Kind.HEAL, Kind.NOTICE, Kind.CLOSE, Kind.OPEN, Kind.FAIL, Kind.UNDO, Kind.COPY, Kind.COPY_END),
    *(Kind.PRESSURE, Kind.CALM, Kind.REFUSE),
)


@dataclass(frozen=True)
class NodeStory:
    """``state``: "lost", "closed" or "open"; ``summary``: a sentence; ``rows``: those of the log that tell it."""

    state: str
    summary: str
    rows: tuple[int, ...]


def node_story(ground: Ground, node: int) -> NodeStory:
    """What happened to a node."""
    log = ground.past.log
    rows = _rows(ground, node)
    here = Situation(ground, len(log), ground.horizon_ns)
    closed = here.closed.get(node)
    reason = Reason.NONE if closed is None else Reason(int(log.reason[closed]))
    state = "lost" if reason is Reason.LOST else "open" if closed is None else "closed"
    name = ground.node_name(node)
    clauses = [*_faults(ground, rows), *_effects(ground, rows), *_drain(ground, rows)]
    if closed is not None:
        since = span(int(log.t_ns[closed]))
        clauses.append(f"it takes no new work since {since}: {CLOSED_FOR.get(reason, 'it is closed')}")
    now = here.holders[here.node == node].tolist()
    held = f"{counted(len(now), 'task')} hold{'s' if len(now) == 1 else ''} {amounts_of(ground.asked(now))} on it"
    clauses.append(held if now else "nobody is on it")
    calm = "" if len(clauses) > 1 else "nothing befell it; "
    return NodeStory(
        state, f"{name}: {calm}{'; '.join(clauses)} at {span(ground.horizon_ns)}.", tuple(rows[-ROWS_MAX:])
    )


def _rows(ground: Ground, node: int) -> list[int]:
    """The rows about a node, with partitions that part it from others, and with what they go back to."""
    log = ground.past.log
    mine = (log.node == node) & np.isin(log.kind, _ABOUT)
    found = set(np.flatnonzero(mine).tolist())
    for row in np.flatnonzero((log.kind == Kind.FAULT) & (log.node < 0) & (log.subject < 0)).tolist():
        if _parts(ground, row, node):
            found |= {row, *_heals(ground, row).tolist()}
    return sorted(found)


def _heals(ground: Ground, row: int) -> IntArray:
    log = ground.past.log
    return np.flatnonzero((log.kind == Kind.HEAL) & (log.cause == row))


def _parts(ground: Ground, row: int, node: int) -> bool:
    """Whether a partition names a node on one of its sides."""
    facts = ground.past.log.details.get(row, {})
    if facts.get("kind") != Fault.PARTITION.value:
        return False
    sides = [str(facts.get(name, "")).split() for name in ("targets", "others")]
    return any(node in resolve(side, ground.scenario, kind=Fault.PARTITION, field="faults").nodes for side in sides)


def _faults(ground: Ground, rows: list[int]) -> list[str]:
    log = ground.past.log
    faults = [row for row in rows if log.kind[row] == Kind.FAULT and log.subject[row] < 0]
    told = []
    for row in faults[-FAULTS_MAX:]:
        silent = [int(log.value[one]) for one in rows if log.kind[one] == Kind.NOTICE and log.cause[one] == row]
        noticed = f", which is noticed {span(silent[0])} later" if silent and silent[0] else ""
        told.append(f"at {span(int(log.t_ns[row]))} {sentence(ground, row)}{noticed}")
    more = len(faults) - len(told)
    return ([f"{counted(more, 'fault')} before"] if more else []) + told


def _effects(ground: Ground, rows: list[int]) -> list[str]:
    """Who lost an attempt there, who ran on as a copy, and when it was under pressure."""
    log, told = ground.past.log, []
    lost = [row for row in rows if log.kind[row] == Kind.FAIL]
    if lost:
        names = listed(dict.fromkeys(ground.work.id(int(log.subject[row])) for row in lost), 4)
        work = span(int(log.value[lost].sum()))
        told.append(f"{counted(len(lost), 'attempt')} failed there ({names}), and {work} of work were lost")
    if copies := sum(log.kind[row] == Kind.COPY and log.reason[row] == Reason.ORPHANED for row in rows):
        told.append(f"{counted(int(copies), 'task')} ran on there after being given up")
    pressed = [row for row in rows if log.kind[row] == Kind.PRESSURE]
    told += [f"at {span(int(log.t_ns[row]))} {sentence(ground, row)}" for row in pressed[-1:]]
    return told


def _drain(ground: Ground, rows: list[int]) -> list[str]:
    """Whom budgets kept there, and when they were gone."""
    log = ground.past.log
    kept = [row for row in rows if log.kind[row] == Kind.REFUSE]
    if not kept:
        return []
    names = listed(dict.fromkeys(ground.work.id(int(log.subject[row])) for row in kept), 4)
    text = (
        f"a budget held up its drain from {span(int(log.t_ns[kept[0]]))} on: {budget(ground, kept[0])} ({names} stayed)"
    )
    end = emptied_ns(ground, kept[0])
    return [f"{text}, and the last of them was gone at {span(end)}" if end >= 0 else text]


def emptied_ns(ground: Ground, row: int) -> int:
    """When the last of those who were on a node at a row was gone, -1 if some are there to the end."""
    log, places = ground.past.log, ground.past.places
    node = int(log.node[row])
    there = (places.node == node) & (places.open_row < row) & ((places.close_row < 0) | (places.close_row > row))
    last = int(places.close_ns[there].max(initial=-1))
    return last if last <= ground.horizon_ns else -1
