"""Which pod goes when there are too many: the node with most pods of all generations gives first.

Source: ``pkg/controller/replicaset/replica_set.go``, getPodsRankedByRelatedPodsOnSameNode, getIndirectlyRelatedPods.
"""

from __future__ import annotations

from gnomon.engine.log import Kind
from tests.systems.kubernetes.play import Object, node, play, rows, spec, workload


def app(version: int, replicas: int, where: str = "", surge: int = 1) -> Object:
    template = spec(
        image=f"app:{version}", requests={"cpu": "1"}, **({"nodeSelector": {"pool": where}} if where else {})
    )
    strategy = {"rollingUpdate": {"maxSurge": surge, "maxUnavailable": 0}}
    return workload("Deployment", "app", replicas, template, {"gnomon.dev/stops-after": "1s"}, strategy=strategy)


def test_the_new_generation_counts_when_an_old_pod_is_to_go() -> None:
    """One old pod on each of two nodes; the new one may be on b alone, so that the old one there goes first."""
    nodes = [node("a", pool="x"), node("b", pool="y")]
    run = play([*nodes, app(1, 2)], until_s=700, changes=[(600, [app(2, 2, "y")])])
    old = {task: where for when, _, task, where, _ in rows(run, Kind.START) if when < 600}
    assert sorted(old.values()) == ["a", "b"]
    first = rows(run, Kind.CANCEL)[0]
    assert old[first[2]] == "b"
