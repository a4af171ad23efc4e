"""Runs with faults, told by hand: rows with causes and details, and the same facts second by second. Whole seconds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from hypothesis import strategies as st

from gnomon.engine.log import Kind, Log, Reason
from gnomon.insight.history import History, history
from gnomon.model.cluster import Cluster, Node
from gnomon.model.operation import Operation
from gnomon.model.recovery import Checkpoint, Recovery
from gnomon.model.resources import Resources
from gnomon.model.scenario import Scenario
from gnomon.model.work import Task, Work
from tests.insight.stories import S, cpus, task

SAVES = Recovery(checkpoint=Checkpoint(every_ns=S))
"""A task with this saves its work."""


def machines(*processors: int) -> Cluster:
    return Cluster(tuple(Node(f"n{i}", Resources(cpu_milli=count * 1000)) for i, count in enumerate(processors)))


@dataclass
class Tale:
    """Rows in the order told; each call returns its row's number, to be a cause of others."""

    cluster: Cluster
    tasks: Sequence[Task]
    operation: Operation = field(default_factory=Operation)
    rows: list[tuple[int, int, int, int, int, int, int]] = field(default_factory=list)
    details: dict[int, dict[str, int | str]] = field(default_factory=dict)

    def row(
        self, t: int, kind: Kind, task: int = -1, node: int = -1, *, cause: int = -1, reason: int = 0, value: int = 0
    ) -> int:
        self.rows.append((t * S, kind, task, node, cause, reason, value))
        return len(self.rows) - 1

    def fault(self, t: int, kind: str, node: int = -1, *, number: int = 0) -> int:
        row = self.row(t, Kind.FAULT, node=node, value=number)
        self.details[row] = {"kind": kind}
        return row

    def heal(self, t: int, node: int = -1, *, number: int = 0, cause: int = -1) -> int:
        return self.row(t, Kind.HEAL, node=node, value=number, cause=cause)

    def fail(self, t: int, task: int, node: int, *, cause: int = -1, lost: int, reason: Reason = Reason.NODE) -> int:
        return self.row(t, Kind.FAIL, task, node, cause=cause, reason=reason, value=lost * S)

    @property
    def log(self) -> Log:
        t, kind, subject, node, cause, reason, value = np.array(self.rows, np.int64).reshape(-1, 7).T
        return Log(
            t_ns=t,
            instant=np.unique(t, return_inverse=True)[1].astype(np.int32),
            kind=kind.astype(np.int8),
            subject=subject.astype(np.int32),
            node=node.astype(np.int32),
            cause=cause.astype(np.int32),
            reason=reason.astype(np.int8),
            value=value,
            details=self.details,
        )

    @property
    def past(self) -> History:
        made = Scenario(self.cluster, Work.from_tasks(self.tasks), operation=self.operation)
        return history(made, self.log)


def crash(*, lost: int = 5) -> Tale:
    """Two machines of 4 and 12 CPUs. t0 (2 CPUs) runs on n0 from 0; n0 crashes at 5, which is noticed at 8; t0 starts
    on n1 at 10 and is done at 20. n0 is back at 15."""
    tale = Tale(machines(4, 12), [task("t0", cpus(2), recovery=SAVES)])
    tale.row(0, Kind.ARRIVE, 0)
    tale.row(0, Kind.START, 0, 0)
    fault = tale.fault(5, "crash", 0, number=3)
    notice = tale.row(8, Kind.NOTICE, node=0, cause=fault, value=3 * S)
    closing = tale.row(8, Kind.CLOSE, node=0, cause=notice, reason=Reason.LOST)
    failed = tale.fail(8, 0, 0, cause=closing, lost=lost)
    tale.row(8, Kind.QUEUE, 0, cause=failed, value=1)
    tale.row(10, Kind.START, 0, 1)
    healed = tale.heal(15, 0, number=3, cause=fault)
    tale.row(15, Kind.OPEN, node=0, cause=healed, reason=Reason.LOST)
    tale.row(20, Kind.END, 0, 1)
    return tale


def split(end: Reason) -> Tale:
    """A partition: t0 runs on n0 from 0, is given up at 4 and starts on n1 at 5; its copy on n0 ends at 9."""
    tale = Tale(machines(4, 4), [task("t0")])
    tale.row(0, Kind.ARRIVE, 0)
    tale.row(0, Kind.START, 0, 0)
    fault = tale.fault(1, "partition", 0)
    notice = tale.row(4, Kind.NOTICE, node=0, cause=fault)
    failed = tale.fail(4, 0, 0, cause=notice, lost=4)
    tale.row(4, Kind.COPY, 0, 0, cause=failed, reason=Reason.ORPHANED)
    tale.row(4, Kind.QUEUE, 0, cause=failed)
    tale.row(5, Kind.START, 0, 1)
    ended = tale.row(9, Kind.COPY_END, 0, 0, reason=end)
    if end is Reason.WON:
        tale.row(9, Kind.END, 0, 1, cause=ended)
    else:
        tale.row(15, Kind.END, 0, 1)
    return tale


@dataclass
class Seconds:
    """What really happened, second by second, apart from the log: which task ran where, which node was down, or closed.

    ``useful``: the attempts (task, number among its attempts and copies) whose seconds were of use in the end.
    """

    runs: list[tuple[int, int, int]] = field(default_factory=list)  # second, task, which of its attempts or copies
    down: set[tuple[int, int]] = field(default_factory=set)  # second, node
    closed: set[tuple[int, int]] = field(default_factory=set)
    useful: set[tuple[int, int]] = field(default_factory=set)
    waits: dict[int, int] = field(default_factory=dict)  # second: how many tasks wait in it
    lost: int = 0
    redone: int = 0
    detected: list[int] = field(default_factory=list)
    recovered: list[int] = field(default_factory=list)


@st.composite
def crashes(draw: st.DrawFn) -> tuple[Tale, Seconds]:
    """Machines that crash and come back, and are given up after a delay; tasks that start again elsewhere; results that
    get lost; partitions behind which copies run on. Each task has a machine of its own at a time, so room is no
    matter."""
    return _Play(draw).play()


@dataclass
class _Place:
    node: int
    which: int
    ran: int = 0
    counts: bool = True


class _Play:
    """A cluster that is stepped second by second with no thought of efficiency, and writes what it does."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        count = draw(st.integers(1, 3))
        nodes = draw(st.integers(1, 3))
        self.tale = Tale(
            machines(*(draw(st.sampled_from((4, 8))) for _ in range(nodes))),
            [],
        )
        self.saves = draw(st.booleans())  # a checkpoint after every second of work
        facts = {"recovery": SAVES} if self.saves else {}
        self.tale.tasks = [replace(task(f"t{i}", cpus(1), **facts), duration_ns=4 * S) for i in range(count)]
        self.seconds = Seconds()
        self.places: dict[int, list[_Place]] = {i: [] for i in range(count)}
        self.used = dict.fromkeys(range(count), 0)
        self.saved = dict.fromkeys(range(count), 0)
        self.furthest = dict.fromkeys(range(count), 0)
        self.state = dict.fromkeys(range(count), "waiting")
        self.failed: set[int] = set()
        self.mine: dict[int, list[int]] = {i: [] for i in range(count)}  # attempts of use so far
        self.faults: dict[int, list[int]] = {}  # node: since, number, row, kind is crash, seconds to notice
        self.numbers = 0

    def play(self) -> tuple[Tale, Seconds]:
        for one in self.state:
            self.tale.row(0, Kind.ARRIVE, one)
        for second in range(self.draw(st.integers(5, 25))):
            self.world(second)
            self.decide(second)
            self.run(second)
        self.seconds.useful = {(one, which) for one, some in self.mine.items() for which in some}
        self.tale.row(second + 1, Kind.STOP, reason=Reason.LIMIT_TIME)
        return self.tale, self.seconds

    def world(self, now: int) -> None:
        """Faults begin and are over; the control plane notices some."""
        for node in range(len(self.tale.cluster.nodes)):
            if node not in self.faults:
                if self.draw(st.integers(0, 6)) == 0:
                    crash = self.draw(st.booleans())
                    row = self.tale.fault(now, "crash" if crash else "partition", node, number=self.numbers)
                    self.faults[node] = [now, self.numbers, row, crash, self.draw(st.integers(1, 3))]
                    self.numbers += 1
                continue
            since, number, row, _, after = self.faults[node]
            if now == since + after:
                self.notice(now, node)
            elif now > since + after and self.draw(st.booleans()):
                healed = self.tale.heal(now, node, number=number, cause=row)
                self.tale.row(now, Kind.OPEN, node=node, cause=healed, reason=Reason.LOST)
                del self.faults[node]
                for one, places in self.places.items():
                    for place in [p for p in places if p.node == node and not p.counts]:
                        self.tale.row(now, Kind.COPY_END, one, node, cause=healed, reason=Reason.FENCED)
                        places.remove(place)

    def notice(self, now: int, node: int) -> None:
        since, _, row, crash, _ = self.faults[node]
        noticed = self.tale.row(now, Kind.NOTICE, node=node, cause=row, value=(now - since) * S)
        closing = self.tale.row(now, Kind.CLOSE, node=node, cause=noticed, reason=Reason.LOST)
        self.seconds.detected.append(now - since)
        for one, places in self.places.items():
            for place in [p for p in places if p.node == node and p.counts]:
                kept = place.ran if self.saves else 0
                lost = place.ran - kept
                failed = self.tale.fail(now, one, node, cause=closing, lost=lost)
                self.seconds.lost += lost
                self.furthest[one] = max(self.furthest[one], self.saved[one] + place.ran)
                self.saved[one] += kept
                self.mine[one] += [place.which] * self.saves
                self.failed.add(one)
                self.state[one] = "waiting"
                self.tale.row(now, Kind.QUEUE, one, cause=failed)
                places.remove(place)
                if not crash:
                    self.tale.row(now, Kind.COPY, one, node, cause=failed, reason=Reason.ORPHANED)
                    places.append(_Place(node, self.used[one], counts=False))
                    self.used[one] += 1

    def decide(self, now: int) -> None:
        """Attempts end, results are lost, tasks that wait start somewhere."""
        for one, places in self.places.items():
            for place in [p for p in places if p.node not in self.faults and p.counts]:
                if self.saved[one] + place.ran >= 4:
                    self.tale.row(now, Kind.END, one, place.node)
                    self.saved[one] += place.ran
                    self.furthest[one] = max(self.furthest[one], self.saved[one])
                    self.mine[one].append(place.which)
                    self.state[one] = "done"
                    places.remove(place)
            if self.state[one] == "done" and self.draw(st.integers(0, 7)) == 0:
                undone = self.tale.row(now, Kind.UNDO, one)
                self.tale.row(now, Kind.QUEUE, one, cause=undone)
                self.seconds.lost += self.saved[one]
                self.mine[one], self.saved[one], self.state[one] = [], 0, "waiting"
                self.failed.discard(one)
            free = [n for n in range(len(self.tale.cluster.nodes)) if n not in self.faults]
            if self.state[one] == "waiting" and free and self.draw(st.booleans()):
                node = self.draw(st.sampled_from(free))
                self.tale.row(now, Kind.START, one, node)
                places.append(_Place(node, self.used[one]))
                self.used[one] += 1
                self.state[one] = "running"
                if one in self.failed:
                    self.failed.remove(one)
                    last = max(second for second, who, _ in self.seconds.runs if who == one)
                    self.seconds.recovered.append(now - (last + 1))

    def run(self, now: int) -> None:
        """The second passes."""
        self.seconds.waits[now] = sum(state == "waiting" for state in self.state.values())
        for node, (since, _, _, _, after) in self.faults.items():
            self.seconds.down.add((now, node))
            if now >= since + after:
                self.seconds.closed.add((now, node))
        for one, places in self.places.items():
            for place in places:
                if place.node in self.faults and self.faults[place.node][3]:
                    continue
                self.seconds.runs.append((now, one, place.which))
                if place.counts:
                    self.seconds.redone += self.saved[one] + place.ran < self.furthest[one]
                place.ran += 1
