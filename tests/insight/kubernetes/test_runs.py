"""Pods of a run: in which words their waiting is told, and which changes of the run are tried."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from gnomon.api import explain, simulate
from gnomon.engine.log import Kind
from gnomon.insight.explain import variations as vary
from gnomon.insight.explain.answer import Explanation
from gnomon.insight.kubernetes.runs.reruns import in_step
from gnomon.insight.kubernetes.runs.resizing import with_replicas
from gnomon.model.fault import Failure, Fault
from gnomon.systems.kubernetes.fleets.native import Native
from tests.systems.kubernetes.play import Object, S, node, play, pod, rows, spec, starts, workload

QUOTA: Object = {
    "apiVersion": "v1",
    "kind": "ResourceQuota",
    "metadata": {"name": "q", "namespace": "default"},
    "spec": {"hard": {"pods": "1"}},
}
FULL = 'pods "{}" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1'


def told(subject: str, objects: Sequence[Object], **more: Any) -> Explanation:
    return explain(subject, play(objects, until_s=3600, **more))


def changes(found: Explanation) -> list[str]:
    return [one.what for one in found.changes]


class TestWords:
    """As the explanation of a snapshot has them."""

    def test_a_gated_pod(self) -> None:
        found = told("p", [node("n1"), pod("p", schedulingGates=[{"name": "a/b"}])])
        assert found.native == "waiting for scheduling gates: [a/b]"
        assert found.summary == "default/p is not tried: waiting for scheduling gates: [a/b]"
        assert changes(found) == ["remove the scheduling gates a/b: it fits on n1"]

    def test_a_pod_of_a_scheduler_that_is_not_there(self) -> None:
        found = told("p", [node("n1"), pod("p", schedulerName="theirs")])
        assert found.native == "no scheduler of the name theirs is set up, and nobody looks at it"
        assert changes(found) == ["schedulerName: theirs → default-scheduler: it fits on n1"]

    def test_a_bare_pod_that_the_quota_refuses(self) -> None:
        found = told("b", [node("n1"), QUOTA, pod("a"), pod("b")])
        assert (found.native, found.state) == (FULL.format("b"), "rejected")
        assert found.summary.startswith(
            "default/b is not created, and the scheduler never sees it: the quota default/q"
        )
        assert changes(found)[0] == "raise the quota to pods 2: it is created, and it fits on n1"

    def test_a_pod_of_a_workload_that_the_quota_refuses(self) -> None:
        found = told("r-1", [node("n1"), QUOTA, workload("ReplicaSet", "r", 2, spec())])
        assert found.native == f"Error creating: {FULL.format('r-1')}"

    def test_a_pod_whose_node_is_not_there(self) -> None:
        found = told("p", [node("n1"), pod("p", nodeName="gone")])
        assert found.summary == (
            "default/p is on gone, a node that is not among the objects; the pod garbage collector deleted it at 40s"
        )


class TestAController:
    """A pod that nobody makes anew."""

    @pytest.mark.parametrize(
        ("more", "expected"),
        [
            ({}, "give it a controller, as a Deployment is: another pod starts at 6m55s on n2"),
            ({"restartPolicy": "Never"}, "give it a controller, as a Job is: another pod starts at 7m5s on n2"),
        ],
    )
    def test_on_a_node_that_is_lost(self, more: Object, expected: str) -> None:
        """60 s + 55 s until it is noticed + 300 s of toleration; a Job waits another 10 s."""
        crash = Failure(Fault.CRASH, 60 * S, 3600 * S, ("node/n1",))
        objects = [node("n1"), node("n2"), pod("p", nodeName="n1", **more)]
        assert changes(told("p", objects, faults=[crash])) == [expected]

    def test_on_a_node_that_is_not_there(self) -> None:
        found = told("p", [node("n1"), pod("p", nodeName="gone")])
        assert changes(found) == ["give it a controller, as a Deployment is: another pod starts at 40s on n1"]


class TestNumbers:
    """More nodes, fewer replicas: simulated."""

    def test_a_replica_less_makes_room(self) -> None:
        objects = [node("n1", cpu="4"), workload("Deployment", "web", 2, spec(requests={"cpu": "2"}))]
        found = told("late", objects, changes=[(60, [pod("late", requests={"cpu": "2"})])])
        assert "scale deployment/default/web from 2 to 1: it starts at 1m on n1" in changes(found)

    def test_a_replica_less_of_a_stateful_set(self) -> None:
        objects = [node("n1", cpu="4"), workload("StatefulSet", "db", 2, spec(requests={"cpu": "2"}))]
        run = play(objects, until_s=600)
        fewer = with_replicas(run.scenario, 0, 1)
        assert starts(run) == [(0, "db-0"), (0, "db-1")]
        assert starts(simulate(fewer)) == [(0, "db-0")]

    def test_a_node_that_is_added_takes_pods_as_one_like_it_does(self) -> None:
        """It has what DaemonSets leave, its own host name, and no taint of a condition."""
        daemon = workload("DaemonSet", "d", 0, spec(requests={"cpu": "1"}))
        del daemon["spec"]["replicas"]
        run = play([node("n1", cpu="4"), daemon, pod("p", requests={"cpu": "3"})], until_s=60)
        grown = in_step(run.scenario, vary.with_nodes(run.scenario, run.scenario.cluster.nodes[0], 1))
        assert grown is not None
        assert isinstance(grown.native, Native)
        added = grown.native.objects.nodes[1]
        assert (added.name, added.allocatable["cpu"], added.allocatable["pods"]) == ("n1+1", 3000, 109)
        assert added.labels["kubernetes.io/hostname"] == "n1+1"

    def test_one_more_node_is_tried_for_a_pod_that_was_sent_away(self) -> None:
        """Both use more than they asked for; on nodes of their own there is no pressure."""
        uses = {"gnomon.dev/usage-memory": "0s 100Mi, 5m 5Gi"}
        objects = [
            node("n1", memory="8Gi"),
            *(pod(name, annotations=uses, requests={"memory": "3Gi"}) for name in "ab"),
        ]
        run = play(objects, until_s=3600)
        lost = next(task for _, _, task, _, why in rows(run, Kind.FAIL) if why == "EVICTED")
        assert "one more node like n1: it stays" in changes(explain(lost, run))


def test_a_run_that_was_kept_without_its_objects_tells_what_its_log_says() -> None:
    run = play([node("n1"), pod("p", schedulingGates=[{"name": "a/b"}])], until_s=60)
    found = explain("p", replace(run, scenario=replace(run.scenario, native=None)))
    assert found.native == "waiting for scheduling gates: [a/b]"
    assert [(one.rule, one.text) for one in found.waiting] == [("gated", found.native)]
