"""How many members of the control plane take themselves for the leader, in the course of a run.

The log names the leader that the run follows. Others that lead a side of a partition, as they do without a quorum,
follow from the faults of the scenario alone, by the rules of :mod:`gnomon.recovery.quorum`.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from gnomon.engine.log import Kind
from gnomon.insight.chaos.facts import Facts
from gnomon.model.fault import Fault
from gnomon.model.resources import NEVER
from gnomon.recovery.faults import Event, Schedule
from gnomon.recovery.quorum import Cut, Election, name


@dataclass(frozen=True, slots=True)
class Leaders:
    """From ``t_ns`` on these members lead; ``row``: the fault, or the end of one, that came last before."""

    t_ns: int
    members: tuple[int, ...]
    row: int


def leaders(facts: Facts) -> list[Leaders]:
    """Who leads from when on, in order of time, up to the last row of the log."""
    control, until = facts.scenario.operation.control, facts.end_ns
    moments: dict[int, list[tuple[bool, Event]]] = {}
    for event in Schedule(facts.scenario).pop(until):
        if event.failure.kind is Fault.LEADER or event.targets.control or event.others.control:
            moments.setdefault(event.failure.at_ns, []).append((True, event))
            if event.failure.until_ns <= until:
                moments.setdefault(event.failure.until_ns, []).append((False, event))
    election = Election(control)
    found = [Leaders(0, tuple(election.leaders(0)), -1)]
    stopped: dict[int, frozenset[int]] = {}
    cuts: dict[int, Cut] = {}
    times = [*sorted(moments), until + 1]
    for t_ns, next_ns in pairwise(times):
        row = -1
        for begins, event in moments[t_ns]:
            row = max(row, _row(facts, begins, event))
            if not begins:
                stopped.pop(event.number, None)
                cuts.pop(event.number, None)
            elif event.failure.kind is Fault.LEADER:
                stopped[event.number] = frozenset(event.targets.control or election.leaders(t_ns)[:1])
            else:
                sides = [frozenset(name(member) for member in side.control) for side in (event.targets, event.others)]
                cuts[event.number] = sides[0], sides[1]
        alive = set(range(control.members)) - frozenset().union(*stopped.values())
        election.change(alive, list(cuts.values()), t_ns)
        while t_ns < next_ns:
            found.append(Leaders(t_ns, tuple(election.leaders(t_ns)), row))
            t_ns = election.next_ns()
            if t_ns >= NEVER:
                break
    return found


def _row(facts: Facts, begins: bool, event: Event) -> int:
    """The row of the log at which a fault begins, or is over; -1 if there is none."""
    log = facts.log
    kind = Kind.FAULT if begins else Kind.HEAL
    rows = np.flatnonzero((log.kind == kind) & (log.value == event.number))
    return int(rows[0]) if len(rows) else -1
