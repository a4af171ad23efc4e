"""What users asked in public trackers, on objects as kubectl writes them: the right reason, the right smallest change.

Cases and right answers: the collection of user problems, by number; the files say what the cluster is.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from gnomon.api import explain
from gnomon.api.load import load_scenario
from gnomon.insight.explain import Explanation
from gnomon.systems.kubernetes.fleets.native import Native
from gnomon.systems.kubernetes.scenario import read_scenario

CASES = Path(__file__).parent / "cases"


def explained(case: str, subject: str, *, why_not: str | None = None) -> Explanation:
    return explain(subject, read_scenario([str(CASES / f"{case}.yaml")]), why_not=why_not)


def changes(found: Explanation) -> list[tuple[str, object, object]]:
    assert all(one.confirmed for one in found.changes)
    costs = [one.cost for one in found.changes]
    assert costs == sorted(costs)
    return [(one.field or one.object, one.before, one.after) for one in found.changes]


class TestU01SkewAfterARollout:
    """matching + self - global minimum <= maxSkew, the old generation counted."""

    def test_only_the_emptiest_node_takes_the_first_new_pod(self) -> None:
        found = explained("u01_spread_and_rollout", "app1-new-1")
        assert found.native == "Successfully assigned default/app1-new-1 to n3"
        assert [(one.nodes, one.example, one.reasons) for one in found.classes] == [
            (1, "n3", ("fits",)),
            (2, "n1", ("node(s) didn't match pod topology spread constraints",)),
        ]

    def test_why_not_another_node_has_the_numbers_and_the_change(self) -> None:
        found = explained("u01_spread_and_rollout", "app1-new-1", why_not="n1")
        assert found.why_not is not None
        assert "n1 would be 2 + 1 - 1 = 2 > 1" in found.why_not.text
        assert changes(found)[0] == (
            "spec.topologySpreadConstraints[kubernetes.io/hostname].matchLabelKeys",
            None,
            "pod-template-hash",
        )


class TestU03MisspeltSelector:
    def test_the_message_has_the_selector_alone(self) -> None:
        found = explained("u03_selector_typo", "typo")
        assert found.native == (
            "0/10 nodes are available: 10 node(s) didn't match Pod's node affinity/selector. no new claims to "
            "deallocate, preemption: 0/10 nodes are available: 10 Preemption is not helpful for scheduling."
        )

    def test_four_of_the_nodes_would_not_do_anyway(self) -> None:
        found = explained("u03_selector_typo", "typo")
        selector = "node(s) didn't match Pod's node affinity/selector"
        assert [(one.nodes, one.reasons) for one in found.classes] == [
            (6, (selector,)),
            (4, (selector, "besides: Insufficient cpu")),
        ]

    def test_the_smallest_change_is_the_value_that_nodes_have(self) -> None:
        found = explained("u03_selector_typo", "typo")
        assert changes(found)[0] == ("spec.nodeSelector.pool", "genral", "general")
        assert found.changes[0].what.startswith("pool: genral → general: 6 nodes take it then")
        assert not any("cpu" in one.field for one in found.changes)


class TestU04ZonalDisk:
    def test_the_volume_holds_it_and_not_the_processors(self) -> None:
        found = explained("u04_zonal_disk", "db-0")
        reason = "2 node(s) didn't match PersistentVolume's node affinity"
        assert found.native.startswith(f"0/2 nodes are available: {reason}.")
        assert [(one.rule, one.object) for one in found.waiting] == [("VolumeBinding", "persistentvolume/pv-b")]
        assert "topology.kubernetes.io/zone In b" in found.summary

    def test_only_a_node_in_the_zone_of_the_disk_helps(self) -> None:
        (change,) = explained("u04_zonal_disk", "db-0").changes
        assert "one more node like node-a with topology.kubernetes.io/zone=b" in change.what


class TestU05PreemptionAndBudgets:
    def test_the_victim_is_the_most_important_pod_since_it_alone_breaks_no_budget(self) -> None:
        found = explained("u05_preemption_and_budgets", "very-high")
        told = found.as_dict()["preemption"]
        assert (told["node"], told["victims"], told["pdb_violations"]) == ("worker", ["default/high"], 0)
        assert found.native == "0/2 nodes are available: 2 Too many pods."

    def test_the_victim_is_told_by_whom_and_what_protects_it(self) -> None:
        found = explained("u05_preemption_and_budgets", "pod/high")
        assert found.waiting[0].object == "pod/default/very-high"
        assert "breaks fewest disruption budgets" in found.summary
        assert "PodDisruptionBudget for app=high" in found.changes[-1].what


class TestU07DaemonSetsTakeAShare:
    def test_the_largest_pod_that_can_ever_fit_is_the_change(self) -> None:
        found = explained("u07_daemonsets_take_a_share", "solver")
        assert changes(found) == [("spec.containers[c].resources.requests.cpu", "16", "14890m")]
        assert found.notes == (
            "an empty node like big-1 has room for 14890m cpu at most "
            "(capacity 16 cpu, allocatable 15890m cpu, 1 cpu for DaemonSets)",
        )


class TestU09RolloutAndQuota:
    def test_the_surge_pod_is_refused_at_creation(self) -> None:
        found = explained("u09_rollout_and_quota", "deployment/renderer")
        assert found.state == "rejected"
        assert found.native.endswith(
            "is forbidden: exceeded quota: compute, requested: limits.cpu=3, used: limits.cpu=21500m, "
            "limited: limits.cpu=24"
        )
        assert found.waiting[0].as_dict()["numbers"] == {
            "asked_limits.cpu": 3,
            "used_limits.cpu": 21.5,
            "limit_limits.cpu": 24,
        }

    def test_no_surge_or_a_quota_of_24_5(self) -> None:
        found = changes(explained("u09_rollout_and_quota", "deployment/renderer"))
        before, after = "maxSurge 25%, maxUnavailable 0", "maxSurge 0, maxUnavailable 1"
        assert ("spec.strategy.rollingUpdate", before, after) in found
        assert ("spec.hard.limits.cpu", "24", "24500m") in found


class TestU18TwoGangsAndAQuota:
    def test_the_quota_is_held_by_pods_that_wait_themselves(self) -> None:
        found = explained("u18_gangs_and_quota", "job/j1")
        assert found.state == "rejected"
        assert "exceeded quota: gpus" in found.native
        assert "ml/j1-x7k2p, ml/j1-q4m8z, ml/j2-x7k2p and ml/j2-q4m8z, of which none has a node" in found.summary

    def test_one_job_at_a_time_or_room_for_both(self) -> None:
        found = explained("u18_gangs_and_quota", "job/j1")
        assert found.changes[0].object == "resourcequota/ml/gpus"
        assert any(one.object == "job/ml/j2" for one in found.changes)


@pytest.mark.parametrize("case", sorted(path.stem for path in CASES.glob("*.yaml")))
def test_the_same_files_get_the_same_answer(case: str) -> None:
    scenario = read_scenario([str(CASES / f"{case}.yaml")])
    assert isinstance(scenario.native, Native)
    pending = next(pod for pod in scenario.native.pods if not pod.node_name)
    assert explain(pending.key, scenario).as_dict() == explain(pending.key, scenario).as_dict()


def of_run(case: str, subject: str) -> Explanation:
    """Of a case in which something happens by itself, so that it is simulated."""
    (scenario,) = load_scenario(CASES / case / "scenario.yaml")
    return explain(subject, scenario)


class TestU11ReplacementsAfterTheQuotaIsFreed:
    def test_the_new_pod_comes_with_the_retry_and_not_when_the_quota_is_free(self) -> None:
        found = of_run("u11_quota_and_backoff", "deployment/full")
        assert found.native.endswith(
            "exceeded quota: memory, requested: requests.memory=64Mi, used: requests.memory=128Mi, "
            "limited: requests.memory=150Mi"
        )
        (wait,) = found.waiting
        assert (wait.kind, wait.object) == ("limit", "resourcequota/default/memory")
        assert wait.length_ns == 163_835 * 10**6  # 5 ms * (2^15 - 1): the quota was free after 90 s

    def test_head_room_in_the_quota(self) -> None:
        assert ("spec.hard.requests.memory", "150Mi", "192Mi") in changes(
            of_run("u11_quota_and_backoff", "deployment/full")
        )


class TestU12EvictionDoesNotFollowTheQosClass:
    def test_the_burstable_pod_goes_before_the_one_of_best_effort(self) -> None:
        found = of_run("u12_eviction", "pod/b")
        assert found.state == "failed"
        assert found.native.startswith("The node was low on resource: memory. Threshold quantity: 100Mi, available: ")
        assert "over-request" in found.summary
        assert of_run("u12_eviction", "pod/e").state == "running"

    def test_an_honest_request_or_a_priority(self) -> None:
        found = of_run("u12_eviction", "pod/b")
        own, others = found.changes[:2], [one.what for one in found.changes[2:]]
        assert [one.field for one in own] == ["spec.priority", "spec.containers[*].resources.requests.memory"]
        assert all("default/e goes instead" in one.what for one in own)
        assert [what.partition(":")[0] for what in others] == [
            "give it a controller, as a Deployment is",
            "one more node like big",
        ]


class TestU14PowerOff:
    """The node is taken for lost 40 to 60 s after it (1.32 and later), and its pods are deleted 300 s later."""

    def test_the_deployment_has_a_new_pod_after_six_minutes(self) -> None:
        found = of_run("u14_power_off", "deployment/d")
        fault = next(one.t_ns for one in found.chain if one.event == "fault")
        again = [one.t_ns for one in found.chain if one.event == "start"][-1]
        assert 340 * 10**9 <= again - fault <= 360 * 10**9

    def test_the_stateful_sets_pod_is_only_marked_and_none_takes_its_place(self) -> None:
        found = of_run("u14_power_off", "statefulset/s")
        assert found.native == "TaintManagerEviction: Marking for deletion Pod default/s-0"
        assert "makes no other pod of that name" in found.summary
        assert "node.kubernetes.io/out-of-service" in found.summary
        assert [one.event for one in found.chain].count("start") == 1

    def test_the_daemon_sets_pod_tolerates_it(self) -> None:
        found = of_run("u14_power_off", "log-n1")
        assert "Marking for deletion" not in found.native


class TestU01IsTheFinalLayoutGuaranteed:
    """Three nodes, maxSurge 2: that the layout is broken in the end is no error, and a key for generations mends it."""

    def test_the_layout_breaks_max_skew_and_nobody_looks_again(self) -> None:
        found = of_run("u01_rollout", "deployment/app1")
        assert "it ends with 3/1/1 over kubernetes.io/hostname (n1 1, n2 1 and n3 3): 3 - 1 = 2 > maxSkew 1" in (
            found.summary
        )
        assert "maxSkew is checked when a pod is placed, and pods of the old generation count then" in found.summary

    def test_other_draws_end_with_an_empty_node(self) -> None:
        assert "0 end within it and 12 do not (3/2/0 and 3/1/1)" in of_run("u01_rollout", "deployment/app1").summary

    def test_a_key_for_generations_or_a_descheduler(self) -> None:
        assert changes(of_run("u01_rollout", "deployment/app1")) == [
            (
                "spec.topologySpreadConstraints[kubernetes.io/hostname].matchLabelKeys",
                None,
                "pod-template-hash",
            ),
            ("plugins.balance.enabled", None, "RemovePodsViolatingTopologySpreadConstraint"),
        ]


class TestU16TheSamePodIsEvictedAgainAndAgain:
    def found(self) -> Explanation:
        return of_run("u16_descheduler", "big")

    def test_it_goes_from_node_to_node_every_five_minutes(self) -> None:
        found = self.found()
        evicted = [one.t_ns // (60 * 10**9) for one in found.chain if one.event == "Evicted"]
        assert evicted == [5, 10, 15]
        assert "(LowNodeUtilization) at 5m, 10m and 15m: a → c → a → c" in found.summary
        assert found.native == "LowNodeUtilization: pod eviction from a node by sigs.k8s.io/descheduler"

    def test_the_cycle_is_named_and_why_node_fit_does_not_stop_it(self) -> None:
        text = self.found().summary
        assert "At 15m the pods are where they were at 5m, so this goes on for ever" in text
        assert "75 % of memory on a (75Gi of 100Gi) and 95 % of memory on c (95Gi of 100Gi), where 70 % may be" in text
        assert "nodeFit does not stop it, for it does fit elsewhere" in text

    def test_a_target_above_its_share_and_the_base_load_or_leave_it_alone(self) -> None:
        assert changes(self.found()) == [
            ("targetThresholds.memory", 70, 95),
            ("labelSelector", None, "app NotIn (big)"),
            ("priorityThreshold.value", None, 1),
            ("minReplicas", 0, 2),
            ("spec.maxUnavailable", None, 0),
        ]

    def test_the_small_pods_are_never_touched(self) -> None:
        found = of_run("u16_descheduler", "small-b")
        assert found.state == "running"
        assert "evicted" not in found.summary
