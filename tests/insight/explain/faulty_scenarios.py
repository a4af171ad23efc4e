"""Scenarios drawn at random in which things go wrong: faults of every kind, use beyond limits, retries, results."""

from __future__ import annotations

from hypothesis import strategies as st

from gnomon.model.cluster import Cluster, Machine, Node
from gnomon.model.fault import Failure, Fault
from gnomon.model.operation import (
    Budget,
    ControlPlane,
    Enforcement,
    Eviction,
    Heartbeat,
    Operation,
    Pauses,
    Pressure,
    Speculation,
)
from gnomon.model.recovery import CAUSES, Backoff, Checkpoint, Recovery, Retry
from gnomon.model.resources import NEVER, Resources
from gnomon.model.scenario import Limits, Scenario
from gnomon.model.usage import Profile, Usage
from gnomon.model.work import Shape, Task, Work
from gnomon.scheduling.policy import parse_policy

S = 10**9
GI = 2**30

_seconds = st.integers(0, 30).map(lambda n: n * S)
_memory = st.sampled_from((0, GI, 2 * GI, 5 * GI)).flatmap(
    lambda first: st.sampled_from((GI, 3 * GI, 7 * GI)).map(lambda last: Profile(((0, first), (20 * S, last))))
)
_usage = st.builds(
    lambda memory, cpu: Usage((("cpu", Profile(((0, cpu),))), ("memory", memory))),
    _memory,
    st.sampled_from((500, 1000, 3000)),
)
_recovery = st.builds(
    Recovery,
    st.sampled_from(
        (
            Recovery().retries,
            (),
            (Retry(CAUSES, limit=2, backoff=Backoff(3 * S, 20_000)),),
            (Retry(("node", "killed"), limit=1), Retry(("exit", "memory"), limit=3, backoff=Backoff(S), in_place=True)),
        )
    ),
    st.sampled_from((None, None, Checkpoint(5 * S, S, S))),
    st.sampled_from((0, 0, 1)),
)
_NODES = {
    **dict.fromkeys((Fault.CRASH, Fault.REBOOT, Fault.CORDON, Fault.DRAIN), (0,)),
    Fault.PARTITION: (0,),
    Fault.SLOW: (0, 2_000, 5_000),
    Fault.DISK_FULL: (0, GI),
    Fault.LEAK: (GI // 4,),
    Fault.DEVICE: (0, 1),
    Fault.DELAY: (5 * S,),
    Fault.LOSS: (5_000,),
}


@st.composite
def _fault(draw: st.DrawFn, nodes: int, tasks: int) -> Failure:
    at, lasts = draw(_seconds), draw(st.sampled_from((S, 5 * S, 20 * S, NEVER)))
    kind = draw(st.sampled_from((*_NODES, Fault.KILL, Fault.FAIL, Fault.CANCEL, Fault.LEADER)))
    if kind in _NODES:
        amount = draw(st.sampled_from(_NODES[kind]))
        return Failure(kind, at, lasts, (f"n{draw(st.integers(0, nodes - 1))}",), amount=amount)
    target = f"task/t{draw(st.integers(0, tasks - 1))}"
    if kind is Fault.LEADER:
        return Failure(kind, at, lasts)
    return Failure(kind, 0 if kind is Fault.FAIL else at, targets=(target,), amount=7_000 * (kind is Fault.FAIL))


@st.composite
def faulty_scenarios(draw: st.DrawFn) -> Scenario:
    """A few nodes, a handful of tasks, some faults. It may make no sense, of which simulating it tells."""
    nodes, tasks = draw(st.integers(1, 3)), draw(st.integers(1, 6))
    machine = draw(st.sampled_from((Machine(), Machine(used_bytes=GI))))
    capacity = Resources(4_000, 8 * GI, gpus=draw(st.sampled_from((0, 2))))
    return Scenario(
        Cluster(tuple(Node(f"n{i}", capacity, machine=machine) for i in range(nodes))),
        Work.from_tasks([_task(draw, number, tasks) for number in range(tasks)]),
        parse_policy(draw(st.sampled_from(("fcfs", "easy", "priority", "fcfs+worst-fit")))),
        seed=draw(st.integers(0, 3)),
        limits=Limits(until_ns=draw(st.sampled_from((40 * S, 90 * S))), repeats=100),
        gang=draw(st.booleans()),
        preempt=draw(st.booleans()),
        faults=tuple(draw(st.lists(_fault(nodes, tasks), max_size=4))),
        operation=_operation(draw),
    )


def _task(draw: st.DrawFn, number: int, tasks: int) -> Task:
    limit = draw(st.sampled_from((Resources(), Resources(memory_bytes=4 * GI), Resources(cpu_milli=1_000))))
    request = Resources(draw(st.sampled_from((500, 2_000))), draw(st.sampled_from((GI, 2 * GI))))
    return Task(
        f"t{number}",
        Shape(request, limit=limit),
        submit_ns=draw(st.sampled_from((0, 0, 3 * S, 12 * S))),
        duration_ns=draw(st.sampled_from((5 * S, 20 * S, 30 * S))),
        priority=draw(st.integers(0, 2)),
        job=draw(st.sampled_from(("", "", "j"))),
        usage=draw(st.none() | _usage),
        recovery=draw(_recovery),
        needs=(f"t{draw(st.integers(0, number - 1))}",) if number and draw(st.integers(0, 3)) == 0 else (),
    )


def _operation(draw: st.DrawFn) -> Operation:
    pressure = Pressure(below=GI, check_ns=S, order=draw(st.sampled_from(("over-request", "newest-retriable"))))
    return Operation(
        enforcement=Enforcement(
            pressures=draw(st.sampled_from(((), (), (pressure,)))),
            pauses=draw(st.sampled_from((None, None, Pauses()))),
        ),
        detection=draw(st.sampled_from((Heartbeat(), Heartbeat(S, S, 4 * S, "seen")))),
        eviction=draw(st.sampled_from((Eviction(), Eviction(after_ns=5 * S)))),
        orphans=draw(st.sampled_from(("replace", "replace", "wait"))),
        fence_ns=draw(st.sampled_from((NEVER, NEVER, 6 * S))),
        speculation=draw(st.sampled_from((None, Speculation(2 * S, quantile_e4=2_500)))),
        control=ControlPlane(draw(st.sampled_from((1, 3))), lease_ns=S),
        budgets=draw(st.sampled_from(((), (Budget("*", 1),)))),
    )
