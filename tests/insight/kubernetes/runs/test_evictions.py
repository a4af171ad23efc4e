"""What is told of pods that the descheduler moves: once, or for ever."""

from __future__ import annotations

from dataclasses import replace

from gnomon.api import explain
from gnomon.insight.explain import Explanation
from gnomon.insight.kubernetes.runs.evictions import evictions
from gnomon.model.scenario import Limits
from gnomon.systems.kubernetes.read.files import objects_of
from gnomon.systems.kubernetes.scenario import scenario_of
from tests.systems.kubernetes.descheduler.test_cycle import LOW, TWINS, bound, budget, owner, policy, too_big
from tests.systems.kubernetes.play import Object, S, node, play


def told(objects: list[Object], subject: str, until_s: int = 3600) -> Explanation:
    scenario = scenario_of(objects_of(objects), until_ns=until_s * S)
    return explain(subject, replace(scenario, limits=Limits(until_ns=until_s * S)))


def twins() -> list[Object]:
    pods = [bound(f"w-{k}", "a", "w", "1Gi") for k in range(4)]
    return [node("a"), node("b"), *pods, owner("w", 4, "1Gi"), policy(TWINS)]


class TestOnce:
    def test_from_where_to_where_and_no_cycle(self) -> None:
        found = told(twins(), "w-3")
        assert found.summary == "default/w-3 is evicted by the descheduler (RemoveDuplicates) at 5m: a → b."
        assert found.state == "running"

    def test_what_would_have_kept_it(self) -> None:
        fields = [one.field for one in told(twins(), "w-3").changes]
        assert fields == ["labelSelector", "priorityThreshold.value", "minReplicas", "spec.maxUnavailable"]

    def test_who_stays_is_told_as_ever(self) -> None:
        assert "evicted" not in told(twins(), "w-0").summary

    def test_the_workload_is_told_as_ever_too(self) -> None:
        assert "goes on for ever" not in told(twins(), "replicaset/w").summary


class TestForEver:
    def test_also_asked_by_its_workload(self) -> None:
        assert "this goes on for ever" in told([*too_big(), policy(LOW)], "replicaset/big").summary

    def test_a_budget_that_is_there_already_is_no_change(self) -> None:
        objects = [*too_big(), policy(LOW), budget("big", "big", minAvailable=0)]
        assert "spec.maxUnavailable" not in [one.field for one in told(objects, "big-0").changes]

    def test_deviations_have_no_target_that_would_do(self) -> None:
        deviating = {
            "LowNodeUtilization": {
                "thresholds": {"memory": 10},
                "targetThresholds": {"memory": 10},
                "useDeviationThresholds": True,
            }
        }
        found = told([*too_big(), policy(deviating)], "big-0")
        assert "this goes on for ever" in found.summary
        assert "targetThresholds.memory" not in [one.field for one in found.changes]

    def test_the_log_tells_which_resource_was_over(self) -> None:
        run = play([*too_big(), policy(LOW)], until_s=310)
        ((row,),) = evictions(run.log).values()
        facts = run.log.details[row]
        gib = 2**30
        assert (facts["plugin"], facts["resource"]) == ("LowNodeUtilization", "memory")
        assert (facts["used"], facts["bound"], facts["offered"]) == (75 * gib, 70 * gib, 100 * gib)
