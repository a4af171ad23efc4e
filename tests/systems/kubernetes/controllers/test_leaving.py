"""Pods that are on their way out when the run begins (pod garbage collector, kubelet, scheduler)."""

from __future__ import annotations

from typing import Any

from gnomon.engine.log import Kind
from tests.systems.kubernetes.play import Object, events, job, node, play, pod, rows, spec, starts, workload


def there(name: str, owner: tuple[str, str] = ("", ""), *, leaves: bool = True, **more: Any) -> Object:
    """A pod that the API server has; one that ``leaves`` is terminating."""
    found = pod(name, labels={"app": owner[1]}, **more)
    found["metadata"]["uid"] = f"uid-{name}"
    if owner[0]:
        found["metadata"]["ownerReferences"] = [{"kind": owner[0], "name": owner[1], "controller": True}]
    if leaves:
        found["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:30Z"
    return found


class TestTerminatingPodsOnANode:
    """The kubelet stops them within their grace period, counted from the start of the run."""

    def test_one_without_a_controller_is_gone_when_its_grace_period_is_over(self) -> None:
        run = play([node("n1"), there("p", nodeName="n1", terminationGracePeriodSeconds=45)], until_s=600)
        assert rows(run, Kind.START, Kind.CANCEL, Kind.COPY_END) == [
            (0, "START", "p", "n1", "NONE"),
            (0, "CANCEL", "p", "n1", "NONE"),
            (45, "COPY_END", "p", "n1", "STOPPING"),
        ]
        assert events(run) == [(0, "Killing", "Stopping container c")]

    def test_it_holds_its_room_until_then(self) -> None:
        ends = there("old", nodeName="n1", requests={"cpu": "6"})
        run = play([node("n1", cpu="8"), ends, pod("new", requests={"cpu": "6"})], until_s=600)
        assert starts(run)[1:] == [(30, "new")]

    def test_a_replica_set_replaces_it_at_once(self) -> None:
        """Pods that are terminating do not count."""
        objects = [node("n1"), workload("ReplicaSet", "r", 1, spec()), there("r-x", ("ReplicaSet", "r"), nodeName="n1")]
        assert starts(play(objects, until_s=600)) == [(0, "r-x"), (0, "r-x")]

    def test_a_stateful_set_waits_until_it_is_gone(self) -> None:
        """Never two pods of one name."""
        objects = [
            node("n1"),
            workload("StatefulSet", "s", 1, spec()),
            there("s-0", ("StatefulSet", "s"), nodeName="n1"),
        ]
        assert starts(play(objects, until_s=600)) == [(0, "s-0"), (30, "s-0")]

    def test_for_a_job_it_has_failed(self) -> None:
        """A pod that is deleted counts like one that failed; the next comes 10 s later."""
        template = spec()
        objects = [node("n1"), job("j", template), there("j-x", ("Job", "j"), nodeName="n1", restartPolicy="Never")]
        assert starts(play(objects, until_s=600)) == [(0, "j-x"), (10, "j-x")]

    def test_nobody_can_tell_one_whose_node_is_unreachable(self) -> None:
        away = node("n1")
        away["spec"] = {"taints": [{"key": "node.kubernetes.io/unreachable", "effect": "NoExecute"}]}
        run = play([away, there("p", nodeName="n1")], until_s=600)
        assert rows(run, Kind.CANCEL, Kind.FAIL) == []


class TestTerminatingPodsWithoutANode:
    """A finalizer keeps them: they never start, and stay."""

    def test_it_never_starts(self) -> None:
        run = play([node("n1"), there("p")], until_s=600)
        assert starts(run) == []
        assert [(one["message"], one["reason"]) for one in run.log.details.values()] == [
            ("skip schedule deleting pod: default/p", "Terminating")
        ]

    def test_a_replica_set_makes_another(self) -> None:
        run = play([node("n1"), workload("ReplicaSet", "r", 1, spec()), there("r-0", ("ReplicaSet", "r"))], until_s=600)
        assert starts(run) == [(0, "r-0-1")]

    def test_a_stateful_set_waits_for_ever(self) -> None:
        run = play(
            [node("n1"), workload("StatefulSet", "s", 1, spec()), there("s-0", ("StatefulSet", "s"))], until_s=600
        )
        assert starts(run) == []

    def test_it_counts_with_the_quota(self) -> None:
        quota = {
            "apiVersion": "v1",
            "kind": "ResourceQuota",
            "metadata": {"name": "q"},
            "spec": {"hard": {"pods": "1"}},
        }
        run = play([node("n1"), quota, there("p"), pod("new")], until_s=600)
        assert starts(run) == []


class TestPodsOfNodesThatAreNotThere:
    """The pod garbage collector deletes them when it has missed the node for 40 s."""

    def test_one_without_a_controller_is_lost(self) -> None:
        run = play([node("n1"), there("p", nodeName="gone", leaves=False)], until_s=600)
        assert starts(run) == []
        assert rows(run, Kind.CANCEL) == [(40, "CANCEL", "p", "", "NONE")]
        assert events(run) == [(40, "DeletionByPodGC", "PodGC: node no longer exists")]

    def test_its_controller_makes_another_then(self) -> None:
        for kind, name in (("ReplicaSet", "r-x"), ("StatefulSet", "r-0")):
            one = there(name, (kind, "r"), nodeName="gone", leaves=False)
            assert starts(play([node("n1"), workload(kind, "r", 1, spec()), one], until_s=600)) == [(40, name)]

    def test_for_a_job_it_has_failed(self) -> None:
        one = there("j-x", ("Job", "j"), nodeName="gone", leaves=False, restartPolicy="Never")
        assert starts(play([node("n1"), job("j", spec()), one], until_s=600)) == [(50, "j-x")]

    def test_of_a_job_that_may_not_fail_once_there_is_none(self) -> None:
        one = there("j-x", ("Job", "j"), nodeName="gone", leaves=False, restartPolicy="Never")
        run = play([node("n1"), job("j", spec(), backoffLimit=0), one], until_s=600)
        assert starts(run) == []
        assert (40, "BackoffLimitExceeded", "Job has reached the specified backoff limit") in events(run)

    def test_a_run_without_an_end_goes_on_until_it_is_deleted(self) -> None:
        from gnomon.api import simulate
        from gnomon.systems.kubernetes.read.files import objects_of
        from gnomon.systems.kubernetes.scenario import scenario_of

        objects = [node("n1"), there("p", nodeName="gone", leaves=False)]
        run = simulate(scenario_of(objects_of(objects)), invariants=True)
        assert rows(run, Kind.CANCEL) == [(40, "CANCEL", "p", "", "NONE")]
