"""What is told of a workload of a run: its own story, and of its pods the one that had most trouble."""

from __future__ import annotations

from typing import Any

from gnomon.api import explain
from gnomon.insight.explain.answer import Explanation
from gnomon.model.fault import Failure, Fault
from tests.systems.kubernetes.play import Object, S, job, node, play, spec, workload

ZONE = "topology.kubernetes.io/zone"


def told(subject: str, objects: list[Object], **more: Any) -> Explanation:
    return explain(subject, play(objects, until_s=3600, **more))


def spread_web(replicas: int) -> Object:
    constraint = {
        "maxSkew": 1,
        "topologyKey": ZONE,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}},
    }
    return workload("Deployment", "web", replicas, spec(topologySpreadConstraints=[constraint]))


def zones() -> list[Object]:
    return [node(f"n-{zone}", **{ZONE: zone}) for zone in "abc"]


CRASH = Failure(Fault.CRASH, 600 * S, 1800 * S, ("node/n-a",))
"""At 10 min; noticed 55 s later; each pod goes after 300 s of toleration, at 955 s; back at 40 min."""


class TestALostZone:
    """Six pods, two in each zone. With a lost they fit in b and c by room, but not by skew: 2 + 1 - 0 > 1, as the lost
    zone counts with none."""

    def found(self) -> Explanation:
        return told("deployment/web", [*zones(), spread_web(6)], faults=[CRASH])

    def test_its_replicas_over_time_come_first(self) -> None:
        assert self.found().summary.startswith(
            "deployment/default/web: 6 of 6 replicas are ready at the end, 4 of 6 from 10m55s to 40m. "
        )

    def test_then_the_pod_that_had_no_node_and_why(self) -> None:
        assert " had no node from 15m55s to 40m: spread over topology.kubernetes.io/zone" in self.found().summary
        assert self.found().waiting[0].rule == "PodTopologySpread"

    def test_a_lost_node_is_waited_for_and_no_reason_for_ever(self) -> None:
        (lost,) = (one for one in self.found().waiting if one.rule == "TaintToleration")
        assert (lost.kind, lost.object, lost.text) == ("event", "node/n-a", "n-a is unreachable")

    def test_what_would_have_helped(self) -> None:
        """Not to count the lost zone; more skew; that it is back."""
        found = [one.what for one in self.found().changes]
        assert f"spread over {ZONE} with nodeTaintsPolicy: Ignore → Honor: 2 nodes take it then (n-b and n-c)" in found
        assert "n-a is Ready again: it fits on n-a" in found

    def test_its_rows_are_about_one_pod(self) -> None:
        names = {word for one in self.found().chain for word in one.text.split() if word.startswith("default/web")}
        assert len({name.rstrip(":") for name in names}) == 1

    def test_a_budget_that_was_broken(self) -> None:
        budget = {
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": {"name": "five"},
            "spec": {"minAvailable": 5, "selector": {"matchLabels": {"app": "web"}}},
        }
        found = told("deployment/web", [*zones(), spread_web(6), budget], faults=[CRASH])
        assert "The PodDisruptionBudget five (at least 5 ready) is broken from 10m55s on." in found.summary


def test_without_trouble_its_story_is_all() -> None:
    found = told("deployment/web", [*zones(), spread_web(3)])
    assert found.summary == "deployment/default/web: 3 of 3 replicas are ready at the end, as all the time."
    assert found.state == "running"


def test_a_set_that_waits_for_its_node() -> None:
    """Its pod may run on there, so that nobody makes another: it is not ready for as long as the node is lost."""
    found = told("sts/db", [*zones(), workload("StatefulSet", "db", 3, spec())], faults=[CRASH])
    assert found.summary.startswith(
        "statefulset/default/db: 3 of 3 replicas are ready at the end, 2 of 3 from 10m55s to 40m. default/db-"
    )


def test_a_shorter_toleration_replaces_sooner() -> None:
    """600 s + 55 s + 30 s, where it was 955 s."""
    found = told("deployment/web", [*zones(), workload("Deployment", "web", 3, spec())], faults=[CRASH])
    (change,) = (one for one in found.changes if "tolerationSeconds" in one.field)
    assert (change.before, change.after) == (300, 30)
    assert "another starts at 11m25s on " in change.what


class TestPreemption:
    """Two nodes of 4 cpu, full with bulk; a pod of a higher priority takes the place of one, whose successor waits."""

    def found(self, subject: str = "deployment/bulk") -> Explanation:
        high = {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": "high"},
            "value": 1000,
        }
        bulk = workload("Deployment", "bulk", 2, spec(requests={"cpu": "3"}))
        urgent = workload("Deployment", "urgent", 1, spec(requests={"cpu": "4"}, priorityClassName="high"))
        objects = [node("n1", cpu="4"), node("n2", cpu="4"), high, bulk]
        return told(subject, objects, changes=[(300, [urgent])])

    def test_the_headline_and_the_event_agree(self) -> None:
        """While the old pod stops, and as the node is kept for the one that preempted, there is room nowhere."""
        found = self.found()
        assert found.native.startswith("0/2 nodes are available: 2 Insufficient cpu.")
        assert [row.reasons for row in found.classes] == [("Insufficient cpu",)]
        assert "1 of 2 replicas are ready since 5m" in found.summary

    def test_it_gave_way_and_was_not_lost_with_its_node(self) -> None:
        (preempted,) = (one for one in self.found().chain if one.event == "Preempted")
        assert "it gave way to default/urgent-0 on n" in preempted.text

    def test_the_one_that_takes_its_place_waits_until_it_has_stopped(self) -> None:
        found = self.found("urgent-0")
        assert "it preempts default/bulk-" in found.summary
        assert "~" not in found.summary

    def test_rows_are_called_as_kubernetes_calls_them(self) -> None:
        events = [one.event for one in self.found().chain]
        assert {"Terminating", "Terminated"} <= {*events}
        assert not {"copy", "copy_end"} & {*events}

    def test_the_words_of_an_event_stand_once(self) -> None:
        found = self.found()
        assert not any(found.native in one.text for one in found.chain)


def test_a_pod_of_an_earlier_version_is_deleted() -> None:
    later = workload("Deployment", "web", 1, spec(image="app:2"), strategy={"type": "Recreate"})
    found = told("web-0", [node("n1"), workload("Deployment", "web", 1, spec())], changes=[(300, [later])])
    assert found.state == "deleted"
    assert "Deleted" in [one.event for one in found.chain]


def test_a_job_behind_a_quota() -> None:
    """Two of three pods at once, of 60 s each; the third when these have ended."""
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "q", "namespace": "default"},
        "spec": {"hard": {"requests.cpu": "2"}},
    }
    once = spec(requests={"cpu": "1"}, restartPolicy="Never")
    etl = job("etl", once, {"gnomon.dev/duration": "60s"}, completions=3, parallelism=3)
    found = told("job/etl", [node("n1"), quota, etl])
    assert found.summary.startswith("job/default/etl: 3 of its 3 pods are done, the last at ")
    assert " was not created from 0s to 1m: requests.cpu 1 asked, 2 of 2 used." in found.summary
