"""Plain pods through kube-scheduler's default profile, all nodes scored: pods per CPU second.

Nodes of 32 cores and 64 GiB in three zones; pods of five templates. ``spread``: each with a hard constraint over zones
and a soft one over hosts. The decisions of the first pods are checked against a scheduler that
works everything out anew for each pod. Reading files is not counted; the real scheduler on such a machine does 264
pods/s on 1,000 nodes, 48 on 5,000, 210 on 1,000 with spread (all nodes scored).
"""

from __future__ import annotations

from collections.abc import Iterator
from time import process_time

from benchmarks.results import Row
from gnomon.systems.kubernetes.api.constraints import (
    DO_NOT_SCHEDULE,
    HOSTNAME,
    SCHEDULE_ANYWAY,
    ZONE,
    LabelSelector,
    Requirement,
    TopologySpreadConstraint,
)
from gnomon.systems.kubernetes.api.objects import Container, Node, Pod, PodSpec
from gnomon.systems.kubernetes.scheduler.cycle import Scheduler
from gnomon.systems.kubernetes.scheduler.state import State

GIB = 2**30
NODES = (500, 1_000, 5_000)
PODS, CHECKED = 10_000, 300
COLUMNS = {
    "nodes": ("nodes", "{:,}"),
    "plain": ("plain pods per CPU s", "{:,}"),
    "spread": ("with a zone and a hostname spread constraint", "{:,}"),
}


def rows() -> Iterator[Row]:
    for nodes in NODES:
        yield {"nodes": nodes, "plain": rate(nodes, spread=False), "spread": rate(nodes, spread=True)}


def rate(nodes: int, *, spread: bool) -> int:
    """Pods per CPU second."""
    cluster, work = make_nodes(nodes), make_pods(PODS, spread=spread)
    check(cluster, work[:CHECKED])
    scheduler = Scheduler(State(cluster), percentage=100)
    begin = process_time()
    placed = run(scheduler, work)
    took = process_time() - begin
    assert None not in placed
    return round(PODS / took)


def check(cluster: list[Node], work: list[Pod]) -> None:
    fast = run(Scheduler(State(cluster), percentage=100), work)
    anew = run(Scheduler(State(cluster), percentage=100, remember=False), work)
    assert fast == anew


def run(scheduler: Scheduler, work: list[Pod]) -> list[str | None]:
    state = scheduler.state
    placed: list[str | None] = []
    for pod in work:
        attempt = scheduler.attempt(pod)
        placed.append(state.names[attempt.chosen] if attempt.chosen >= 0 else None)
        if attempt.chosen >= 0:
            scheduler.assume(attempt)
    return placed


def make_nodes(count: int) -> list[Node]:
    return [
        Node(
            f"node-{i:05}",
            {HOSTNAME: f"node-{i:05}", ZONE: f"zone-{i % 3}"},
            allocatable={"cpu": 32_000, "memory": 64 * GIB, "ephemeral-storage": 100 * GIB, "pods": 110},
        )
        for i in range(count)
    ]


def make_pods(count: int, *, spread: bool) -> list[Pod]:
    templates = [template(i, spread=spread) for i in range(5)]
    return [Pod(f"pod-{i}", labels={"app": f"app-{i % 5}"}, spec=templates[i % 5]) for i in range(count)]


def template(i: int, *, spread: bool) -> PodSpec:
    constraints = ()
    if spread:
        selector = LabelSelector((Requirement("app", "In", (f"app-{i}",)),))
        constraints = (
            TopologySpreadConstraint(1, ZONE, DO_NOT_SCHEDULE, selector),
            TopologySpreadConstraint(1, HOSTNAME, SCHEDULE_ANYWAY, selector),
        )
    requests = {"cpu": 100 * (i + 1), "memory": (i + 1) * GIB // 8}
    return PodSpec((Container("main", f"app-{i}:1", requests=requests),), topology_spread_constraints=constraints)
