"""Runs told by hand: a log and its scenario, without a scheduler. Times here are whole seconds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from hypothesis import strategies as st

from gnomon.engine.log import Kind, Log, Reason
from gnomon.insight.history import History, history
from gnomon.model.cluster import Cluster, Node
from gnomon.model.resources import E4, NEVER, Resources
from gnomon.model.scenario import Scenario
from gnomon.model.work import Shape, Task, Work

S = 10**9


def cpus(count: float, *, gpus: int = 0, gpu_share_e4: int = E4) -> Shape:
    return Shape(Resources(cpu_milli=int(count * 1000), gpus=gpus, gpu_share_e4=gpu_share_e4))


def task(name: str, shape: Shape | None = None, **facts: object) -> Task:
    """A task of one CPU; ``submit`` and ``deadline`` in seconds."""
    submit, deadline = facts.pop("submit", 0), facts.pop("deadline", None)
    assert isinstance(submit, int)
    assert deadline is None or isinstance(deadline, int)
    end = NEVER if deadline is None else deadline * S
    return Task(name, shape or cpus(1), submit_ns=submit * S, deadline_ns=end, **facts)  # type: ignore[arg-type]


@dataclass
class Stay:
    """A stay of a task in a place, as the story was told; None where it did not come to that."""

    task: int
    node: int
    devices: int
    opened: int
    started: int | None = None
    closed: int | None = None
    by: Kind | None = None

    def held(self, end: int) -> int:
        """For how long it had its place, up to ``end``."""
        return (end if self.closed is None else self.closed) - self.opened

    def ran(self, end: int) -> int:
        """For how long it ran, up to ``end``."""
        return 0 if self.started is None else self.held(end) - (self.started - self.opened)

    def holds_at(self, second: int) -> bool:
        return self.opened <= second and (self.closed is None or second < self.closed)

    def runs_at(self, second: int) -> bool:
        return self.holds_at(second) and self.started is not None and self.started <= second


@dataclass
class Story:
    """Builds a log by telling what happened, in order of time."""

    cluster: Cluster
    tasks: Sequence[Task]
    rows: list[tuple[int, int, int, int, int, int]] = field(default_factory=list)
    stays: list[Stay] = field(default_factory=list)

    def tell(self, t: int, kind: Kind, task: int = -1, *, node: int = -1, reason: int = 0, value: int = 0) -> Story:
        self.rows.append((t * S, kind, task, node, reason, value))
        open_stay = next((s for s in self.stays if s.task == task and s.closed is None), None)
        if kind in (Kind.HOLD, Kind.START) and open_stay is None:
            open_stay = Stay(task, node, value, t)
            self.stays.append(open_stay)
        if kind == Kind.START and open_stay:
            open_stay.started = t
        elif kind in (Kind.END, Kind.KILL, Kind.PREEMPT, Kind.CANCEL) and open_stay:
            open_stay.closed, open_stay.by = t, kind
        return self

    def arrive(self, *tasks: int) -> Story:
        for one in tasks:
            self.tell(self.tasks[one].submit_ns // S, Kind.ARRIVE, one)
        return self

    def run(self, task: int, start: int, end: int, *, node: int = -1, devices: int = 0) -> Story:
        """A whole attempt."""
        self.tell(start, Kind.START, task, node=node, value=devices)
        return self.tell(end, Kind.END, task, node=node)

    @property
    def log(self) -> Log:
        """The rows by time, at one time in the order told."""
        rows = sorted(self.rows, key=lambda row: row[0])
        t, kind, subject, node, reason, value = (
            (np.array(c, np.int64) for c in zip(*rows, strict=True)) if rows else [np.zeros(0, np.int64)] * 6
        )
        return Log(
            t_ns=t,
            instant=np.unique(t, return_inverse=True)[1].astype(np.int32),
            kind=kind.astype(np.int8),
            subject=subject.astype(np.int32),
            node=node.astype(np.int32),
            cause=np.full(len(t), -1, np.int32),
            reason=reason.astype(np.int8),
            value=value,
        )

    @property
    def scenario(self) -> Scenario:
        return Scenario(self.cluster, Work.from_tasks(self.tasks))

    @property
    def past(self) -> History:
        return history(self.scenario, self.log)


CLUSTERS = (
    Cluster.of_processors(6),
    Cluster((Node("a", Resources(6000, 4000)), Node("b", Resources(3000, 9000), kind="big", labels=(("z", "1"),)))),
    Cluster(
        (
            Node("g1", Resources(6000, 8000, gpus=2), kind="T4"),
            Node("g2", Resources(8000, 4000, gpus=3), kind="A10"),
            Node("c", Resources(4000, 8000)),
        )
    ),
)


@st.composite
def stories(draw: st.DrawFn) -> Story:
    """Any run that keeps the ledger: arrivals, refusals, holds, starts, ends, kills, preemptions, cancellations."""
    cluster = draw(st.sampled_from(CLUSTERS))
    few = st.integers(0, 4)
    shapes = st.builds(
        Shape,
        st.builds(
            Resources,
            cpu_milli=few.map(lambda n: n * 1000),
            memory_bytes=few.map(lambda n: n * 1000),
            gpus=st.integers(0, 1 if cluster.total("gpu") else 0),
            gpu_share_e4=st.sampled_from((E4, 5000, 3000)),
        ),
        st.sampled_from(((), ("T4",), ("T4", "big"))) if not cluster.pool else st.just(()),
        st.sampled_from(((), (("z", "1"),))) if not cluster.pool else st.just(()),
    )
    tasks = st.builds(
        task,
        st.just("t"),
        draw(st.lists(shapes, min_size=1, max_size=3).map(st.sampled_from)),
        submit=few,
        user=st.sampled_from("uvw"),
        queue=st.sampled_from("pq"),
        deadline=st.none() | st.integers(1, 20),
    )
    story = Story(cluster, [replace(one, id=f"t{i}") for i, one in enumerate(draw(st.lists(tasks, max_size=7)))])
    _tell(story, draw)
    return story


def _tell(story: Story, draw: st.DrawFn) -> None:
    state = dict.fromkeys(range(len(story.tasks)), "unborn")
    free = [(n.capacity.cpu_milli, n.capacity.memory_bytes, [E4] * n.capacity.gpus) for n in story.cluster.nodes]

    def place(index: int, sign: int, node: int, devices: int) -> bool:
        """Take (-1) or give back (+1) a task's request, and say whether that could be done."""
        request = story.tasks[index].shape.request
        cpu, memory, gpu = free[node]
        memory_bytes = 0 if story.cluster.pool else request.memory_bytes
        after = (
            cpu + sign * request.cpu_milli,
            memory + sign * memory_bytes,
            [left + sign * request.gpu_share_e4 * (devices >> k & 1) for k, left in enumerate(gpu)],
        )
        if min(after[0], after[1], *after[2]) < 0 or devices >> len(gpu):
            return False
        free[node] = after
        return True

    now = 0
    for _ in range(draw(st.integers(0, 30))):
        now += draw(st.sampled_from((0, 0, 1, 2, 5)))
        for index, one in enumerate(story.tasks):
            if state[index] == "unborn" and one.submit_ns <= now * S:
                story.arrive(index)
                state[index] = "waiting"
                if draw(st.integers(0, 9)) == 0:
                    story.tell(one.submit_ns // S, Kind.REJECT, index, reason=Reason.TOO_LARGE)
                    state[index] = "over"
        live = [index for index, where in state.items() if where not in ("unborn", "over")]
        if not live:
            continue
        index = draw(st.sampled_from(live))
        stay = next((s for s in story.stays if s.task == index and s.closed is None), None)
        if stay is None:
            node = draw(st.integers(0, len(story.cluster.nodes) - 1))
            gpus = story.tasks[index].shape.request.gpus
            devices = (1 << draw(st.integers(0, 2))) if gpus else 0
            kind = draw(st.sampled_from((Kind.START, Kind.START, Kind.START, Kind.HOLD, Kind.WAIT, Kind.CANCEL)))
            if kind in (Kind.START, Kind.HOLD):
                if place(index, -1, node, devices):
                    story.tell(now, kind, index, node=-1 if story.cluster.pool else node, value=devices)
            else:
                story.tell(now, kind, index, reason=Reason.ORDER if kind == Kind.WAIT else 0)
                state[index] = "over" if kind == Kind.CANCEL else "waiting"
            continue
        ends = (Kind.END, Kind.END, Kind.KILL, Kind.PREEMPT) if stay.started is not None else (Kind.START, Kind.CANCEL)
        kind = draw(st.sampled_from(ends))
        story.tell(now, kind, index, node=stay.node, value=stay.devices if kind == Kind.START else 0)
        if kind != Kind.START:
            place(index, +1, max(stay.node, 0), stay.devices)
            state[index] = "waiting" if kind == Kind.PREEMPT else "over"
    story.tell(now, Kind.STOP, reason=Reason.LIMIT_TIME)
