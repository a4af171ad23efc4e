"""Scenarios for long random histories: how the cluster is run in one of many ways, and a pool of tasks to submit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random

import numpy as np

from gnomon.api import NEVER, Limits, Node, Resources, Scenario, Shape, Task, Tenant, Work, parse_policy
from gnomon.model.cluster import Cluster, Machine
from gnomon.model.fault import Failure, FailureProcess, Fault
from gnomon.model.operation import (
    Budget,
    ControlPlane,
    Enforcement,
    Eviction,
    Heartbeat,
    Operation,
    Pauses,
    Pressure,
    Probe,
    Speculation,
)
from gnomon.model.recovery import CAUSES, INFRASTRUCTURE, Backoff, Checkpoint, Recovery, Retry
from gnomon.model.usage import Profile, Usage

S = 10**9
GI = 2**30

_ALWAYS = Retry(INFRASTRUCTURE)
_RECOVERIES = (
    Recovery(),
    Recovery((_ALWAYS, Retry(("exit", "memory", "disk", "store"), 3, Backoff(10 * S, 20_000, 300 * S, free=1)))),
    Recovery((Retry(CAUSES, 4, Backoff(5 * S, 20_000, free=1, jitter_e4=1_000), in_place=True),)),
    Recovery((Retry(CAUSES, -1, Backoff(S), in_place=True),), Checkpoint(10 * S, S, 2 * S)),
    Recovery((_ALWAYS,), Checkpoint(5 * S, 0, 0, 5 * S), exclude=2),
    Recovery(()),
)
_DETECTIONS = (
    Heartbeat(),
    Heartbeat(),
    Heartbeat(10 * S, 5 * S, 20 * S, "seen"),
    Heartbeat(10 * S, 10 * S, 30 * S, lag=1),
    Probe(3 * S, 10 * S, 2),
)
_EVICTIONS = (
    Eviction(),
    Eviction(),
    Eviction(after_ns=20 * S, every_ns=10 * S),
    Eviction(20 * S, 10 * S, "zone", partial_e4=5_500, large=2, partial_every_ns=40 * S, all_stop=True),
)
_ENFORCEMENTS = (
    Enforcement(),
    Enforcement(cpu="pinned", memory="none", pressures=(Pressure("memory", GI, calm_ns=5 * S),)),
    Enforcement(
        memory_check_ns=5 * S,
        pressures=(Pressure("memory", GI, 10 * S, "newest-retriable", 5 * S, 30 * S), Pressure("disk", GI, 10 * S)),
        disk_fails_below_e4=2_000,
        pauses=Pauses(),
    ),
    Enforcement(cpu="none", quota=False, out_of_memory="largest", spill_rate=GI // 4),
)
_CONTROLS = (
    ControlPlane(),
    ControlPlane(),
    ControlPlane(3, 15 * S, 10 * S),
    ControlPlane(4, 5 * S),
    ControlPlane(3, 15 * S, quorum=False),
)
_POLICIES = (
    "fcfs",
    "fcfs+easy",
    "sjf+easy",
    "priority",
    "drf",
    "fair-share",
    "round-robin",
    "fcfs+best-fit",
    "sjf+easy+random",
    "fcfs+gpu-packing",
    "fcfs+fgd",
    "largest+worst-fit",
)


def plot(seed: int) -> Scenario:
    """A scenario in which nothing happens by itself: five nodes in two zones, and tasks that were never submitted."""
    of = Random(seed)
    operation = Operation(
        enforcement=of.choice(_ENFORCEMENTS),
        detection=of.choice(_DETECTIONS),
        eviction=of.choice(_EVICTIONS),
        orphans=of.choice(("replace", "replace", "wait")),
        fence_ns=of.choice((NEVER, 5 * S, 30 * S)),
        message_ns=of.choice((0, S)),
        speculation=of.choice((None, Speculation(5 * S, 11_000, 2_500))),
        control=of.choice(_CONTROLS),
        budgets=of.choice(((), (Budget("*", 1),), (Budget("bag0", 2),))),
    )
    limited = (Tenant("ann", limit=Resources(cpu_milli=6_000)), Tenant("bob", max_running=4))
    return Scenario(
        Cluster(tuple(_node(number) for number in range(5))),
        Work.from_tasks(_pool(of)),
        policy=parse_policy(of.choice(_POLICIES)),
        seed=seed,
        limits=Limits(until_ns=2**61),
        kill_at_limit=of.random() < 0.7,
        gang=of.random() < 0.6,
        preempt=of.random() < 0.3,
        tenants=limited if of.random() < 0.2 else (),
        faults=(Failure(Fault.FAIL, targets=("task/*",), amount=of.choice((0, 1_000, 3_000))),),
        operation=operation,
    )


def _node(number: int) -> Node:
    machine = Machine(
        memory_bytes=8 * GI if number != 3 else 10 * GI,
        used_bytes=GI // 4 if number == 4 else 0,
        disk_bytes=20 * GI,
        disk_rate=GI,
        store_bytes=2 * GI,
    )
    capacity = Resources(cpu_milli=4_000, memory_bytes=8 * GI, gpus=2 if number < 2 else 0)
    return Node(f"n{number}", capacity, labels=(("zone", "ab"[number % 2]),), machine=machine)


def _pool(of: Random) -> list[Task]:
    """Single tasks, bags or gangs of three, and chains in which each reads the result of the one before."""
    tasks = [_task(of, f"t{number}") for number in range(24)]
    tasks += [_task(of, f"b{bag}-{number}", job=f"bag{bag}") for bag in range(4) for number in range(3)]
    for chain in range(3):
        before: tuple[str, ...] = ()
        for number in range(3):
            tasks.append(_task(of, f"c{chain}-{number}", needs=before))
            before = (f"c{chain}-{number}",)
    tasks.append(_task(of, "b9-0", job="bag9", needs=("c0-0",)))
    tasks.append(_task(of, "b9-1", job="bag9"))
    tasks.append(_task(of, "last", needs=("b9-0", "b9-1", "c1-1")))
    return tasks


def _task(of: Random, name: str, *, job: str = "", needs: Sequence[str] = ()) -> Task:
    gpus = of.choice((0, 0, 0, 1, 1, 2))
    request = Resources(
        cpu_milli=of.choice((0, 500, 1_000, 2_000, 4_000)),
        memory_bytes=of.choice((0, 1, 2, 4)) * GI,
        gpus=gpus,
        gpu_share_e4=of.choice((5_000, 10_000)) if gpus == 1 else 10_000,
    )
    run = NEVER if _rarely(of, 15) else of.choice((0, 1, 10, 20, 30, 60)) * S
    return Task(
        name,
        Shape(request, limit=of.choice((Resources(), Resources(), Resources(1_000, 2 * GI), Resources(0, 5 * GI)))),
        submit_ns=NEVER,
        duration_ns=run,
        estimate_ns=None if run == NEVER else of.choice((None, run, 2 * run + S, run // 2)),
        user=of.choice(("ann", "bob", "cat")),
        priority=of.choice((0, 0, 1, 2)),
        job=job,
        usage=_usage(of),
        recovery=of.choice(_RECOVERIES),
        needs=tuple(needs),
    )


def _usage(of: Random) -> Usage | None:
    if of.random() < 0.5:
        return None
    found = {
        "memory": of.choice((Profile(((0, GI),)), Profile(((0, 0), (20 * S, 4 * GI))), Profile(((0, 3 * GI),)))),
        "cpu": of.choice((Profile(((0, 4_000),)), Profile(((0, 500), (10 * S, 500), (10 * S, 3_000)), 20 * S))),
        "disk-io": Profile(((0, of.choice((GI // 8, GI))),)),
        "disk": Profile(((0, 0), (30 * S, 8 * GI))),
        "store": Profile(((0, 0), (10 * S, GI))),
    }
    names = sorted(of.sample(sorted(found), of.choice((1, 1, 2))))
    return Usage(tuple((name, found[name]) for name in names))


def _rarely(of: Random, in_so_many: int) -> bool:
    return of.randrange(in_so_many) == 0


def rich(seed: int) -> Scenario:
    """The same, with times at which the tasks come, and every kind of fault at a rate."""
    bare, of = plot(seed), Random(-seed)
    submit = np.array([of.randrange(600) * S for _ in range(len(bare.work))], np.int64)
    nodes, tasks = ("node/*",), ("task/*",)
    members = tuple(f"control/{member}" for member in range(bare.operation.control.members))
    kinds: list[tuple[Fault, tuple[str, ...], int, int]] = [
        *((Fault.CRASH, nodes, 700, 0), (Fault.REBOOT, nodes, 900, 0), (Fault.PARTITION, nodes, 600, 0)),
        *((Fault.SLOW, nodes, 500, 3_000), (Fault.LEAK, nodes, 900, GI // 10), (Fault.DISK_FULL, nodes, 900, GI)),
        *((Fault.DEVICE, ("node/n0", "node/n1"), 500, 1), (Fault.KILL, tasks, 5_000, 0)),
        *((Fault.CANCEL, tasks, 20_000, 0), (Fault.LEADER, members, 1_000, 0), (Fault.DRAIN, nodes, 900, 0)),
        *((Fault.CORDON, nodes, 900, 0), (Fault.LOSS, nodes, 900, 5_000), (Fault.DELAY, nodes, 900, 60 * S)),
    ]
    processes = (
        FailureProcess(kind, targets, mean * S, 40 * S, amount=amount, until_ns=1_500 * S)
        for kind, targets, mean, amount in kinds
    )
    return replace(
        bare,
        work=replace(bare.work, submit_ns=submit),
        faults=(*bare.faults, *processes),
        limits=Limits(until_ns=3_000 * S),
    )
