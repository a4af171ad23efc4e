"""Random clusters with a descheduler: every invariant holds, budgets are kept, and nobody goes who may not."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from gnomon.engine.log import Kind
from tests.systems.kubernetes.descheduler.test_cycle import budget, policy
from tests.systems.kubernetes.play import Object, node, play, rows, spec, workload

PLUGINS: dict[str, dict[str, Any]] = {
    "LowNodeUtilization": {"thresholds": {"cpu": 30, "pods": 30}, "targetThresholds": {"cpu": 50, "pods": 90}},
    "HighNodeUtilization": {"thresholds": {"cpu": 20}},
    "RemoveDuplicates": {},
    "RemovePodsViolatingTopologySpreadConstraint": {},
}


def cluster(draw: Random) -> tuple[list[Object], str]:
    objects: list[Object] = [node(f"n{i}", cpu=str(draw.choice([2, 4, 8]))) for i in range(draw.randint(2, 5))]
    for number in range(draw.randint(1, 4)):
        more: dict[str, Any] = {}
        if draw.random() < 0.3:
            skew = {"maxSkew": 1, "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "DoNotSchedule"}
            more["topologySpreadConstraints"] = [{**skew, "labelSelector": {"matchLabels": {"app": f"w{number}"}}}]
        template = spec(requests={"cpu": f"{draw.choice([100, 500, 1500])}m"}, **more)
        kind = draw.choice(["Deployment", "ReplicaSet", "StatefulSet"])
        times = {"gnomon.dev/ready-after": "20s", "gnomon.dev/stops-after": f"{draw.choice([0, 5, 400])}s"}
        objects.append(workload(kind, f"w{number}", draw.randint(1, 5), template, times))
    daemons = workload("DaemonSet", "log", 1, spec(requests={"cpu": "100m"}))
    del daemons["spec"]["replicas"]
    objects += [daemons, budget("kept", "w0", minAvailable=2)]
    plugin = draw.choice(sorted(PLUGINS))
    evictor = {"nodeFit": draw.random() < 0.5}
    objects.append(policy({plugin: PLUGINS[plugin]}, evictor=evictor, maxNoOfPodsToEvictPerNode=2))
    return objects, plugin


@pytest.mark.parametrize("seed", range(24))
def test_random_clusters(seed: int) -> None:
    objects, plugin = cluster(Random(seed))
    run = play(objects, until_s=2000, seed=seed)
    log = run.log
    evicted = [i for i in range(len(log)) if log.kind[i] == Kind.FAIL and "plugin" in log.details.get(i, {})]
    names = [run.scenario.work.id(int(log.subject[i])).partition("/")[2] for i in evicted]
    assert not any(name.startswith("log-") for name in names)
    assert {log.details[i]["plugin"] for i in evicted} <= {plugin}
    per_cycle: dict[tuple[float, int], int] = {}
    for i in evicted:
        key = float(log.t_ns[i]), int(log.node[i])
        per_cycle[key] = per_cycle.get(key, 0) + 1
        assert log.t_ns[i] % (300 * 10**9) == 0
    assert all(count <= 2 for count in per_cycle.values())
    assert least_left(run) >= 2


def least_left(run: Any) -> int:
    """The fewest ready pods of the budget's workload right after one of them was evicted."""
    ready: dict[str, float] = {}
    fewest = 10**6
    for when, kind, task, _, reason in rows(run, Kind.START, Kind.FAIL):
        if not task.startswith("w0"):
            continue
        if kind == "START":
            ready[task] = when + 20
        else:
            assert reason == "DELETED"
            if ready.pop(task) <= when:  # one that is not ready may go where enough others are
                fewest = min(fewest, sum(at <= when for at in ready.values()))
    return fewest
