"""What may be demanded of a run, other than that a measure keeps a bound: :mod:`gnomon.insight.chaos.bounds`."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np

from gnomon.control.batch.plan import batch_of
from gnomon.engine.log import Reason, State
from gnomon.insight.chaos.facts import Facts
from gnomon.insight.chaos.leading import leaders
from gnomon.model.quantity import NS_PER_S, format_duration
from gnomon.model.resources import NEVER
from gnomon.model.scenario import Scenario

NAMES_MAX = 3
"""How many tasks a verdict names."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a property holds in a run: ``found``, in words; the ``rows`` of the log that show it, the first of them
    first, and the ``task`` that it is about (-1: none in particular).

    ``near_e4``: how near to its bound the run came, in 1/10,000 of it, where the property has one.
    """

    holds: bool
    found: str
    rows: tuple[int, ...] = ()
    task: int = -1
    near_e4: int = 0


class Rule(Protocol):
    """What a property demands."""

    def judge(self, facts: Facts) -> Verdict:
        """Whether a run is as demanded."""

    def objection(self, scenario: Scenario) -> str:
        """Why no run of this scenario could ever tell; empty if one could."""


@dataclass(frozen=True, slots=True)
class Ends:
    """Each task that was accepted, and not withdrawn by its user, is done."""

    def judge(self, facts: Facts) -> Verdict:
        """Broken as well by a task that still waits or runs when the run is cut off."""
        state = facts.outcome.state
        open_tasks = np.flatnonzero(facts.expected & (state != State.DONE)).tolist()
        expected = int(facts.expected.sum())
        if not open_tasks:
            return Verdict(True, f"{count(expected)} done")
        last = last_row(facts, open_tasks[0])
        told = f"{len(open_tasks):,} of {count(expected)} not done: {named(facts, open_tasks, states=True)}"
        return Verdict(False, told, (last,), open_tasks[0])

    def objection(self, scenario: Scenario) -> str:
        """Some task runs without an end."""
        work = scenario.work
        if batch_of(scenario) is not None:  # how long a task runs is known when it starts
            return no_tasks(scenario)
        endless = np.flatnonzero(work.usable & (work.duration_ns >= NEVER))
        if scenario.kill_at_limit:
            endless = endless[work.estimate_ns[endless] >= NEVER]
        return f"{work.id(int(endless[0]))} runs without an end" if len(endless) else no_tasks(scenario)


@dataclass(frozen=True, slots=True)
class RunsOnce:
    """No two copies of a task run at one time, but for those that speculation starts on purpose."""

    def judge(self, facts: Facts) -> Verdict:
        """Times are half open: one that ends when the other begins is no overlap."""
        if not facts.doubled:
            return Verdict(True, "never")
        first, second = facts.doubled[0]
        until = min(first.end_ns, second.end_ns)
        where = " and ".join(node_name(facts, one.node) for one in (first, second))
        times = f"from {clock(second.begin_ns)} to {clock(until)}"
        tasks = len({pair[0].task for pair in facts.doubled})
        more = f" ({count(tasks)} in all)" if tasks > 1 else ""
        told = f"{facts.work.id(second.task)} runs on {where} at once {times}{more}"
        return Verdict(False, told, (first.begin_row, second.begin_row), second.task)

    def objection(self, scenario: Scenario) -> str:
        """There is nothing that could run."""
        return no_tasks(scenario)


@dataclass(frozen=True, slots=True)
class TakesEffectOnce:
    """No task ends, and is brought to its end by a copy that does not count besides."""

    def judge(self, facts: Facts) -> Verdict:
        """A task whose result was lost may end again."""
        if not facts.repeated:
            return Verdict(True, "never")
        first, again = facts.repeated[0]
        task = int(facts.log.subject[again])
        times = [clock(int(facts.log.t_ns[row])) for row in (first, again)]
        return Verdict(
            False, f"{facts.work.id(task)} runs to its end at {' and at '.join(times)}", (first, again), task
        )

    def objection(self, scenario: Scenario) -> str:
        """There is nothing that could run."""
        return no_tasks(scenario)


@dataclass(frozen=True, slots=True)
class OneLeader:
    """At no time do two members of the control plane lead."""

    def judge(self, facts: Facts) -> Verdict:
        """By the faults of the scenario: :func:`gnomon.insight.chaos.leading.leaders`."""
        for one in leaders(facts):
            if len(one.members) > 1:
                members = " and ".join(map(str, one.members))
                rows = (one.row,) if one.row >= 0 else ()
                return Verdict(False, f"members {members} of the control plane lead at {clock(one.t_ns)}", rows)
        return Verdict(True, "always")

    def objection(self, scenario: Scenario) -> str:
        """A control plane of one member has no second leader."""
        return "the control plane has one member" if scenario.operation.control.members < 2 else ""


@dataclass(frozen=True, slots=True)
class FewFail:
    """At most so many tasks, or such a part of them, are given up (or killed at a limit)."""

    most: int | Fraction

    def judge(self, facts: Facts) -> Verdict:
        """A part is of the tasks that were accepted and not withdrawn."""
        lost = np.isin(facts.outcome.state, (State.FAILED, State.KILLED)) & facts.expected
        tasks, expected = np.flatnonzero(lost).tolist(), int(facts.expected.sum())
        allowed = self.most * expected if isinstance(self.most, Fraction) else self.most
        near = int(min(Fraction(len(tasks)) / max(allowed, 1), Fraction(1)) * 10_000)
        if len(tasks) <= allowed:
            return Verdict(True, f"{count(len(tasks))} failed", near_e4=near)
        told = f"{len(tasks):,} of {count(expected)} failed: {named(facts, tasks)}"
        return Verdict(False, told, tuple(last_row(facts, task) for task in tasks[:NAMES_MAX]), tasks[0], near)

    def objection(self, scenario: Scenario) -> str:
        """More than there are tasks cannot fail."""
        tasks = int(scenario.work.usable.sum())
        if isinstance(self.most, Fraction):
            return "more cannot fail than all" if self.most >= 1 else no_tasks(scenario)
        return f"it has only {count(tasks)}" if self.most >= tasks else ""


# ------------------------------------------------------------------ words and rows


def no_tasks(scenario: Scenario) -> str:
    """What is to be said of a scenario in which nothing can run."""
    return "" if scenario.work.usable.any() else "it has no task that could run"


def last_row(facts: Facts, task: int) -> int:
    """The last row about a task."""
    return int(np.flatnonzero(facts.log.subject == task)[-1])


def named(facts: Facts, tasks: list[int], *, states: bool = False) -> str:
    """The first few tasks by name, with their states or the reasons why they failed."""
    what = facts.outcome
    said = []
    for task in tasks[:NAMES_MAX]:
        word = State(int(what.state[task])).label if states else ""
        reason = Reason(int(what.reason[task]))
        why = "" if reason is Reason.NONE else reason.name.lower().replace("_", " ")
        notes = ", ".join(text for text in (word, why) if text)
        said.append(f"{facts.work.id(task)} ({notes})" if notes else facts.work.id(task))
    more = len(tasks) - NAMES_MAX
    return ", ".join(said) + (f" and {more:,} more" if more > 0 else "")


def count(tasks: int) -> str:
    """So many tasks."""
    return f"{tasks:,} task{'' if tasks == 1 else 's'}"


def clock(ns: int) -> str:
    """A time, to the millisecond (below a second: exact)."""
    return format_duration(ns if ns < NS_PER_S or ns >= NEVER else ns // 10**6 * 10**6)


def node_name(facts: Facts, node: int) -> str:
    """The name of a node; of the pool where there are none."""
    return facts.scenario.cluster.nodes[max(node, 0)].name
