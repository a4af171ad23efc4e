"""Short constructors that show what matters to a test, and a strategy of scenarios of every kind.

Times are given in seconds, processors in whole CPUs, memory in GiB.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from gnomon.api import (
    NEVER,
    Cluster,
    Kind,
    Limits,
    Node,
    Policy,
    Reason,
    Reservation,
    Resources,
    Run,
    Scenario,
    Shape,
    Task,
    Tenant,
    Work,
    parse_policy,
    simulate,
)
from gnomon.scheduling.policy import BACKFILLS, ORDERS, PLACEMENTS

S = 10**9
GI = 2**30


# ------------------------------------------------------------------ constructors


def amount(cpu: float = 0, *, memory: int = 0, gpus: int = 0, share: float = 1, **named: int) -> Resources:
    """Resources: CPUs, GiB, devices (``share`` of each), and units of named resources."""
    return Resources(
        cpu_milli=round(cpu * 1000),
        memory_bytes=memory * GI,
        gpus=gpus,
        gpu_share_e4=round(share * 10_000),
        named=tuple((name, units * 10_000) for name, units in named.items()),
    )


def task(name: str, cpu: float = 1, run: float = 1, **facts: Any) -> Task:
    """A task of ``cpu`` CPUs for ``run`` seconds; ``at``: when it is submitted. ``gpus``, ``share``, ``memory`` and
    ``licence`` belong to its request; ``kinds`` and ``labels`` say where it may run."""
    request = {key: facts.pop(key) for key in ("gpus", "share", "memory", "licence") if key in facts}
    shape = Shape(amount(cpu, **request), tuple(facts.pop("kinds", ())), tuple(facts.pop("labels", ())))
    times = {"submit_ns": facts.pop("at", 0), "duration_ns": run}
    times |= {f"{key}_ns": facts.pop(key) for key in ("estimate", "deadline") if key in facts}
    facts |= {key: NEVER if value == NEVER else round(value * S) for key, value in times.items()}
    return Task(name, shape, **facts)


def nodes(*capacities: Node | Resources | float, **facts: Any) -> Cluster:
    """A cluster of nodes n0, n1…: each what it has, or its number of CPUs, or a node as it is."""
    made = []
    for i, each in enumerate(capacities):
        having = each if isinstance(each, Node | Resources) else amount(each)
        made.append(having if isinstance(having, Node) else Node(f"n{i}", having))
    return Cluster(tuple(made), **facts)


def window(begin: float, end: float, name: str = "w", **facts: Any) -> Reservation:
    """Capacity set aside from ``begin`` to ``end`` seconds."""
    return Reservation(name, round(begin * S), round(end * S), **facts)


def scenario(
    tasks: Iterable[Task], cluster: Cluster | int = 1, policy: Policy | str = "fcfs", **facts: Any
) -> Scenario:
    """A scenario; a cluster that is a number is a pool of so many processors."""
    return Scenario(
        cluster=Cluster.of_processors(cluster) if isinstance(cluster, int) else cluster,
        work=Work.from_tasks(tasks),
        policy=parse_policy(policy) if isinstance(policy, str) else policy,
        **facts,
    )


def run(tasks: Iterable[Task], cluster: Cluster | int = 1, policy: Policy | str = "fcfs", **facts: Any) -> Run:
    """Run a small scenario step by step, the invariants on."""
    return simulate(scenario(tasks, cluster, policy, **facts), compiled=False, invariants=True)


def by_id(run: Run, column: str) -> dict[str, float | None]:
    """A column of the outcome by task: seconds for times (None: never), else the number."""
    values = getattr(run.outcome, column)
    if not column.endswith("_ns"):
        return {run.scenario.work.id(i): int(value) for i, value in enumerate(values)}
    return {run.scenario.work.id(i): None if value >= NEVER else value / S for i, value in enumerate(values)}


def starts(run: Run) -> dict[str, float | None]:
    """When each task started last, in seconds; None: never."""
    return by_id(run, "start_ns")


def ends(run: Run) -> dict[str, float | None]:
    """When each task ended, in seconds; None: never."""
    return by_id(run, "end_ns")


def waits(run: Run) -> list[tuple[float, str, Reason, int]]:
    """Why tasks waited: second, task, reason and value of each such row of the log."""
    log, work = run.log, run.scenario.work
    return [
        (int(log.t_ns[row]) / S, work.id(int(log.subject[row])), Reason(int(log.reason[row])), int(log.value[row]))
        for row in range(len(log))
        if log.kind[row] == Kind.WAIT
    ]


def reasons(run: Run) -> dict[str, Reason]:
    """Why each task waits, was rejected or died, at the end."""
    return {name: Reason(int(value or 0)) for name, value in by_id(run, "reason").items()}


# ------------------------------------------------------------------ strategies

_KINDS = ("", "a100", "t4")
_ZONES = (("zone", "a"), ("zone", "b"))
_USERS = ("ann", "bob", "cat")
_QUEUES = ("day", "night")
_CAPACITIES = (amount(4, memory=4, gpus=2), amount(2, memory=4), amount(6, memory=8, gpus=4, licence=2), amount(8))
_REQUESTS = (
    *(amount(cpu) for cpu in (2, 1, 2, 3, 4)),
    *(amount(cpu, memory=memory) for cpu, memory in ((0, 2), (1, 1), (2, 3))),
    *(amount(1, gpus=1, share=share) for share in (0.25, 0.5, 0.6, 1)),
    *(amount(2, memory=1, gpus=gpus) for gpus in (1, 2, 3)),
    *(amount(1, licence=1), amount(), amount(7)),
)
_FEW_SECONDS = tuple(range(9))  # so that many times coincide


def _rarely(draw: st.DrawFn, in_so_many: int) -> bool:
    return draw(st.sampled_from((False,) * (in_so_many - 1) + (True,)))


@st.composite
def clusters(draw: st.DrawFn) -> Cluster:
    """A pool, one node, or a few of several kinds."""
    if _rarely(draw, 4):
        return Cluster.of_processors(draw(st.sampled_from(range(1, 7))))
    made = [
        Node(f"n{i}", capacity, draw(st.sampled_from(_KINDS)), draw(st.sampled_from(((), (), _ZONES[:1], _ZONES[1:]))))
        for i, capacity in enumerate(draw(st.lists(st.sampled_from(_CAPACITIES), min_size=1, max_size=3)))
    ]
    if _rarely(draw, 5):  # so many nodes that scores come from a table
        made += [replace(made[0], name=f"m{i}") for i in range(8)]
    return Cluster(tuple(made))


@st.composite
def _tasks(draw: st.DrawFn, index: int) -> Task:
    run = draw(st.sampled_from((5, *_FEW_SECONDS))) * S
    return Task(
        f"t{index}",
        Shape(
            draw(st.sampled_from(_REQUESTS)),
            ("a100", "t4") if _rarely(draw, 12) else (),
            _ZONES[:1] if _rarely(draw, 12) else (),
        ),
        submit_ns=draw(st.sampled_from(_FEW_SECONDS)) * S,
        duration_ns=NEVER if _rarely(draw, 20) else run,
        estimate_ns=draw(st.sampled_from((None, run, max(run - 2 * S, 0), run + S, run + 3 * S))),
        user=draw(st.sampled_from(_USERS)),
        queue=draw(st.sampled_from(_QUEUES)),
        priority=draw(st.sampled_from((0, 1, 2, 3))),
        deadline_ns=draw(st.sampled_from((NEVER, 5 * S, 20 * S))),
        job=draw(st.sampled_from(("", "", "", "", "j0", "j1"))),
    )


@st.composite
def _windows(draw: st.DrawFn, cluster: Cluster) -> Reservation:
    begin = draw(st.sampled_from(_FEW_SECONDS))
    node = draw(st.sampled_from(cluster.nodes))
    half = amount(node.capacity.cpu_milli // 2000, gpus=node.capacity.gpus // 2)
    return window(
        begin,
        begin + 1 + draw(st.sampled_from(_FEW_SECONDS)),
        node=node.name,
        amount=draw(st.sampled_from((None, half))),
        users=draw(st.sampled_from(((), ("ann",)))),
    )


_VALUES = {"by": "gpu", "aging": "1800", "half-life": "10s", "over": "cpu/gpu", "classes": "0.5"}


def _with_options(draw: st.DrawFn, name: str, table: dict[str, object]) -> str:
    given = []
    for option, words in table.items():
        values = sorted(words) if isinstance(words, dict) else [_VALUES[option]]
        if _rarely(draw, 4):
            given.append(f"{option}={draw(st.sampled_from(values))}")
    return f"{name}:{','.join(given)}" if given else name


@st.composite
def policies(draw: st.DrawFn, *, name: str = "") -> Policy:
    """Every order, backfill and placement with every option, as far as they go together; ``name``: with this one."""
    backfills = ("", "easy") if name in PLACEMENTS else ("", "", *BACKFILLS)
    backfill = name if name in BACKFILLS else draw(st.sampled_from(backfills))
    order = name if name in ORDERS else draw(st.sampled_from(sorted(ORDERS)))
    options = dict(ORDERS[order])
    if backfill:
        del options["full"]
    if backfill == "conservative":
        del options["head"]
    parts = [_with_options(draw, order, options)]
    if backfill:
        parts.append(_with_options(draw, backfill, BACKFILLS[backfill]))
    if backfill != "conservative":
        placement = name if name in PLACEMENTS else draw(st.sampled_from(sorted(PLACEMENTS)))
        parts.append(_with_options(draw, placement, PLACEMENTS[placement]))
    return parse_policy("+".join(parts))


@st.composite
def tenants(draw: st.DrawFn, names: tuple[str, ...]) -> tuple[Tenant, ...]:
    """Shares for some, limits for some."""
    return tuple(
        Tenant(
            name,
            weight=draw(st.sampled_from((1.0, 3.0))),
            limit=draw(st.sampled_from((None, None, amount(4), amount(6, memory=4)))),
            max_running=draw(st.sampled_from((None, None, 1, 2))),
        )
        for name in names
        if _rarely(draw, 4)
    )


@st.composite
def scenarios(
    draw: st.DrawFn, *, policy: st.SearchStrategy[Policy] | None = None, most_tasks: int = 20, windows: bool = False
) -> Scenario:
    """Any cluster, work and policy that go together: gangs, preemption, limits, every option; in some (or all, if so
    said) parts of the cluster are set aside for a time."""
    cluster = draw(clusters())
    chosen = draw(policies() if policy is None else policy)
    work = Work.from_tasks(draw(_tasks(i)) for i in range(draw(st.sampled_from(range(most_tasks + 1)))))
    by = draw(st.sampled_from(("user", "queue")))
    reserved = draw(st.lists(_windows(cluster), min_size=1, max_size=2)) if windows or _rarely(draw, 4) else []
    return Scenario(
        cluster=replace(cluster, reservations=tuple(reserved)),
        work=work,
        policy=chosen,
        seed=draw(st.sampled_from(range(4))),
        limits=Limits(until_ns=7 * S if _rarely(draw, 10) else NEVER),
        kill_at_limit=draw(st.booleans()),
        gang=not _rarely(draw, 3),
        preempt=chosen.backfill != "conservative" and draw(st.booleans()),
        tenants_by=by,
        tenants=draw(tenants(_USERS if by == "user" else _QUEUES)),
    )
