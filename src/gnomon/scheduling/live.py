"""The same world, driven by what really happens: submissions, ends and cancellations come from outside, with times.

An external event is an entry in the agenda like any other, so that the transition is the one of the simulation; only
the ends are not known in advance. :class:`Live` is pure: events in, decisions out. :func:`drive` makes each event
durable before it is applied, and :func:`replay` gives the same decisions from the journal.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

import numpy as np

from gnomon.engine.agenda import push_end
from gnomon.engine.journal import Journal, Record
from gnomon.engine.log import Kind, Log, State
from gnomon.engine.plain import rebuilt
from gnomon.engine.run import grow, log_of
from gnomon.engine.world import CHANGES, INSTANT, NEED_SPACE, NOW, QUIET, ROWS, World
from gnomon.model.errors import InputError
from gnomon.model.resources import NEVER
from gnomon.model.scenario import Scenario
from gnomon.model.work import Task, Work
from gnomon.scheduling.compose import Composition, compose
from gnomon.scheduling.moves import withdraw


@dataclass(frozen=True, slots=True)
class Submit:
    """Tasks that ask to run. Their ``duration_ns`` is ignored: only an :class:`End` tells."""

    t_ns: int
    tasks: tuple[Task, ...]


@dataclass(frozen=True, slots=True)
class End:
    """A running task has ended by itself."""

    t_ns: int
    task: str


@dataclass(frozen=True, slots=True)
class Cancel:
    """A task is not wanted any more, wherever it is; a gang goes as a whole while it waits."""

    t_ns: int
    task: str


External = Submit | End | Cancel


@dataclass(frozen=True, slots=True)
class Decision:
    """What the scheduler wants done: START, HOLD, PREEMPT or REJECT a task; ``devices`` are its device numbers."""

    row: int
    kind: Kind
    task: str
    node: str
    devices: tuple[int, ...]


_DECISIONS: Final = (Kind.START, Kind.HOLD, Kind.PREEMPT, Kind.REJECT)
_KEPT_WHOLE: Final = ("free", "withheld", "closed", "watch_node", "node_row", "at", "step_time", "step_free")
_KEPT_AS_PREFIX: Final = tuple(
    "state why start due node devices ticket arrive_row start_row fate after before slot missing head tail cursor used "
    "running usage usage_at tenant_row end_time end_ticket end_task line line_due "
    "log_t log_instant log_kind log_subject log_node log_cause log_reason log_value".split()
)


class Live:
    """A world whose work is not known in advance. ``scenario.work`` is ignored: it starts empty.

    >>> from gnomon.model.cluster import Cluster
    >>> from gnomon.model.resources import Resources
    >>> from gnomon.model.work import Shape
    >>> live = Live(Scenario(Cluster.of_processors(1), Work.from_tasks([])))
    >>> one = Shape(Resources(cpu_milli=1000))
    >>> [d.task for d in live.apply([Submit(0, (Task("a", one), Task("b", one)))])]
    ['a']
    >>> [d.task for d in live.apply([End(5, "a")])]
    ['b']
    """

    def __init__(self, scenario: Scenario) -> None:
        self._scenario = scenario
        self._tasks: list[Task] = []
        self._index: dict[str, int] = {}
        self._jobs: set[str] = set()
        self._parts = self._composed()
        self._world = self._parts.world

    @property
    def log(self) -> Log:
        """All that has happened so far."""
        return log_of(self._world)

    def apply(self, events: Sequence[External]) -> list[Decision]:
        """Let events of one time happen together, and return what the scheduler decides then.

        Raises InputError, and changes nothing, for a time in the past, an unknown or repeated task, or a task that
        cannot do what the event says.
        """
        if not events:
            return []
        now = self.check(events)
        submitted = [task for event in events if isinstance(event, Submit) for task in event.tasks]
        if submitted:
            self._extend([replace(task, submit_ns=now, duration_ns=NEVER) for task in submitted])
        self._take_out([event for event in events if not isinstance(event, Submit)], now)
        before = int(self._world.at[ROWS])
        while self._parts.advance(self._world, now, 2**40, 2**40, 2**40) == NEED_SPACE:
            self._world = grow(self._world)
        return self._decisions(before)

    def check(self, events: Sequence[External]) -> int:
        """The time of events that :meth:`apply` would accept. Raises InputError for others."""
        now = events[0].t_ns
        if any(event.t_ns != now for event in events):
            raise InputError("events that happen together have one time", found=[event.t_ns for event in events])
        if now < self._world.at[NOW]:
            raise InputError("an event is in the past", found=now, allowed=f"{self._world.at[NOW]} ns or later")
        new: set[str] = set()
        known = self._scenario.cluster.resource_names()
        for event in events:
            if isinstance(event, Submit):
                for task in event.tasks:
                    self._check_new(task, new, known)
            elif event.task not in self._index:
                raise InputError("an event is about an unknown task", found=event.task)
            elif isinstance(event, End) and self._state(event.task) != State.RUNNING:
                raise InputError("only a running task can end", field=event.task, found=self._state(event.task).label)
        return now

    def _check_new(self, task: Task, new: set[str], known: Sequence[str]) -> None:
        if task.id in self._index or task.id in new:
            raise InputError("a task is submitted twice", found=task.id)
        if task.job in self._jobs:
            raise InputError("the tasks of a job are submitted together", field=task.id, found=task.job)
        unknown = set(task.shape.request.names()) - set(known)
        if unknown:
            allowed = ", ".join(known)
            raise InputError("no node has this resource", field=task.id, found=sorted(unknown), allowed=allowed)
        new.add(task.id)

    def _state(self, task: str) -> State:
        return State(int(self._world.state[self._index[task]]))

    def _take_out(self, events: Iterable[End | Cancel], now: int) -> None:
        """Enter ends into the agenda; take those who wait out of their queues, in an instant of this time."""
        for event in events:
            task = self._index[event.task]
            state = self._state(event.task)
            if state == State.RUNNING:
                if isinstance(event, Cancel):
                    self._world.fate[task] = Kind.CANCEL
                push_end(self._world, now, task)
            elif state in (State.WAITING, State.HELD):
                if self._world.at[NOW] < now:
                    self._world.at[NOW] = now
                    self._world.at[INSTANT] += 1
                withdraw(self._world, task, -1)

    def _extend(self, tasks: Sequence[Task]) -> None:
        """A world with more tasks, in the state of the present one."""
        for task in tasks:
            self._index[task.id] = len(self._tasks)
            self._tasks.append(task)
        self._jobs.update(task.job for task in tasks if task.job)
        old = self._world
        self._parts = self._composed()
        self._world = _carried_over(old, self._parts.world)
        self._parts.view.follow(self._world)

    def _composed(self) -> Composition:
        return compose(replace(self._scenario, work=Work.from_tasks(self._tasks), kill_at_limit=False))

    def _decisions(self, row: int) -> list[Decision]:
        w, found = self._world, []
        for i in range(row, int(w.at[ROWS])):
            kind = Kind(int(w.log_kind[i]))
            if kind in _DECISIONS:
                node, bits = int(w.log_node[i]), int(w.log_value[i]) if kind in (Kind.START, Kind.HOLD) else 0
                name = "" if node < 0 else self._scenario.cluster.nodes[int(self._parts.node_of[node])].name
                devices = tuple(k for k in range(bits.bit_length()) if bits >> k & 1)
                found.append(Decision(i, kind, self._tasks[int(w.log_subject[i])].id, name, devices))
        return found


def _carried_over(old: World, new: World) -> World:
    """The new world with the state of the old one, whose tasks, units and tenants are the first of its own."""
    while len(new.log_t) < len(old.log_t):
        new = grow(new)
    kept = {name: getattr(old, name) for name in _KEPT_WHOLE}
    for name in _KEPT_AS_PREFIX:
        column, before = getattr(new, name), getattr(old, name)
        column[: len(before)] = before
    new = new._replace(**kept)
    new.at[CHANGES] = 0  # scores are worked out anew
    new.at[QUIET] = 0
    held = np.flatnonzero(np.isin(new.state, (State.RUNNING, State.HELD)))
    np.add.at(new.families, (new.node[held], new.family[new.shape[held]]), 1)
    return new


def drive(live: Live, journal: Journal, events: Sequence[External]) -> list[Decision]:
    """Apply events after they have been made durable. What :meth:`Live.apply` would refuse is not written."""
    if events:
        live.check(events)
    journal.append({"events": [to_record(event) for event in events]})
    return live.apply(events)


def replay(live: Live, records: Iterable[Record]) -> list[Decision]:
    """Apply the records of a journal to a fresh world: the decisions are those that were taken at the time. Raises
    InputError for what is no such record."""
    decisions: list[Decision] = []
    for record in records:
        events = record.get("events")
        if not isinstance(events, list) or not all(isinstance(one, dict) for one in events):
            raise InputError("not a record of events that happened together", found=dict(record))
        decisions += live.apply([from_record(one) for one in events])
    return decisions


def to_record(event: External) -> dict[str, Any]:
    """An event as plain values."""
    if isinstance(event, Submit):
        return {"kind": "submit", "t_ns": event.t_ns, "tasks": [asdict(task) for task in event.tasks]}
    return {"kind": "end" if isinstance(event, End) else "cancel", "t_ns": event.t_ns, "task": event.task}


def from_record(record: Mapping[str, Any]) -> External:
    """The event of a record. Raises InputError for what is none."""
    try:
        if record["kind"] == "submit":
            return Submit(int(record["t_ns"]), tuple(rebuilt(Task, task) for task in record["tasks"]))
        t_ns, task = int(record["t_ns"]), str(record["task"])
        if record["kind"] not in ("end", "cancel"):
            raise ValueError(record["kind"])
        return End(t_ns, task) if record["kind"] == "end" else Cancel(t_ns, task)
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"not a record of an event: {error!r}", found=dict(record)) from None
