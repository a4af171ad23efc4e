"""Jobs and CronJobs in time: sheet §9 and corrections K28; policies as in the API's reference."""

from __future__ import annotations

from typing import Any

import pytest

from gnomon.engine.log import Kind
from gnomon.model.errors import InputError
from gnomon.model.fault import Failure, Fault
from tests.systems.kubernetes.play import Object, S, deletions, events, job, node, play, pod, rows, spec, starts

MINUTE = {"gnomon.dev/duration": "60s"}
ALWAYS = 10_000


def fails(*targets: str, chance: int = ALWAYS) -> Failure:
    """Attempts of these tasks fail by themselves."""
    return Failure(Fault.FAIL, targets=targets, amount=chance)


def quota(hard: Object) -> Object:
    return {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q"}, "spec": {"hard": hard}}


def of_job(run: Any, name: str) -> list[tuple[float, str]]:
    return [one for one in starts(run) if one[1].startswith(name)]


class TestParallelism:
    def test_so_many_at_a_time(self) -> None:
        run = play([node("n1"), job("sum", spec(), MINUTE, completions=5, parallelism=2)], until_s=600)
        assert [when for when, _ in starts(run)] == [0, 0, 60, 60, 120]
        assert events(run)[-1] == (180, "Completed", "Job completed")

    @pytest.mark.parametrize("until_s", [None, 7200])
    def test_a_run_without_an_end_goes_on_until_the_job_is_over(self, until_s: int | None) -> None:
        run = play([node("n1"), job("sum", spec(), MINUTE, completions=10, parallelism=4)], until_s=until_s)
        assert [when for when, _ in starts(run)] == [0] * 4 + [60] * 4 + [120] * 2
        assert events(run)[-1] == (180, "Completed", "Job completed")

    def test_a_work_queue_is_over_when_one_has_succeeded_and_none_is_left(self) -> None:
        run = play([node("n1"), job("queue", spec(), MINUTE, parallelism=3)], until_s=600)
        assert [when for when, _ in starts(run)] == [0, 0, 0]
        assert events(run)[-1][:2] == (60, "Completed")

    def test_one_that_is_suspended_makes_no_pods(self) -> None:
        assert starts(play([node("n1"), job("sum", spec(), MINUTE, suspend=True)], until_s=600)) == []


class TestBackoff:
    def test_failed_pods_of_the_whole_job_count(self) -> None:
        run = play(
            [node("n1"), job("bad", spec(), MINUTE, backoffLimit=3)], until_s=7200, faults=[fails("task/default/bad-0")]
        )
        failed = rows(run, Kind.FAIL)
        assert len(failed) == 4  # one more than the limit
        assert events(run)[-1][1:] == ("BackoffLimitExceeded", "Job has reached the specified backoff limit")

    def test_new_pods_come_after_10_20_40_seconds(self) -> None:
        run = play(
            [node("n1"), job("bad", spec(), MINUTE, backoffLimit=3)], until_s=7200, faults=[fails("task/default/bad-0")]
        )
        ends = [when for when, *_ in rows(run, Kind.FAIL)]
        again = [when for when, _ in starts(run)][1:]
        assert [round(start - end, 6) for end, start in zip(ends, again, strict=False)] == [10, 20, 40]

    def test_several_pods_fail_the_job_together(self) -> None:
        asked = job("bad", spec(), MINUTE, backoffLimit=3, completions=4, parallelism=4)
        run = play([node("n1"), asked], until_s=7200, faults=[fails("job/default/bad")])
        assert len(rows(run, Kind.FAIL)) == 4  # the first failure of each: that is more than 3
        assert events(run)[-1][1] == "BackoffLimitExceeded"

    def test_a_limit_of_zero_bears_none(self) -> None:
        run = play(
            [node("n1"), job("bad", spec(), MINUTE, backoffLimit=0)], until_s=600, faults=[fails("task/default/bad-0")]
        )
        assert len(rows(run, Kind.FAIL)) == 1

    def test_restarts_in_place_count_for_on_failure(self) -> None:
        asked = job("bad", spec(restartPolicy="OnFailure"), MINUTE, backoffLimit=2)
        run = play([node("n1"), asked], until_s=7200, faults=[fails("task/default/bad-0")])
        assert len(rows(run, Kind.FAIL)) == 2
        assert events(run)[-1][1] == "BackoffLimitExceeded"

    def test_the_loss_of_a_node_counts_unless_a_rule_ignores_it(self) -> None:
        crash = Failure(Fault.CRASH, 30 * S, 7200 * S, ("node/n1",))
        nodes = [node("n1", pool="x"), node("n2")]
        ignored = {
            "podFailurePolicy": {"rules": [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}]}
        }
        long = {"gnomon.dev/duration": "1h"}
        for more, told in (({}, "BackoffLimitExceeded"), ({**ignored, "podReplacementPolicy": "Failed"}, None)):
            asked = job("sum", spec(nodeSelector={"pool": "x"}), long, backoffLimit=0, **more)
            run = play([*nodes, asked], until_s=1200, faults=[crash])
            assert [one[1] for one in events(run)][-1:] == ([told] if told else [])


class TestQuotas:
    """DefaultJobApiBackOff 1 s and MaxJobApiBackOff 60 s, or at once when a pod of its own ends."""

    @pytest.mark.parametrize("until_s", [None, 7200])
    def test_the_next_pods_come_when_its_own_have_ended(self, until_s: int | None) -> None:
        asked = job("etl", spec(requests={"cpu": "2"}), MINUTE, completions=10, parallelism=4)
        run = play([node("n1", cpu="64"), quota({"requests.cpu": "6"}), asked], until_s=until_s)
        assert [when for when, _ in starts(run)] == [0] * 3 + [60] * 3 + [120] * 3 + [180]
        assert events(run)[-1][:2] == (240, "Completed")

    def test_else_after_a_second_that_doubles_to_a_minute(self) -> None:
        first = pod("first", {"gnomon.dev/duration": "40s"}, requests={"cpu": "2"})
        asked = job("etl", spec(requests={"cpu": "2"}), MINUTE)
        run = play([node("n1"), quota({"requests.cpu": "2"}), first, asked], until_s=None)
        assert of_job(run, "etl") == [(63, "etl-0")]  # tried at 1, 3, 7, 15, 31 and 63 s

    def test_one_that_never_fits_its_quota_does_not_keep_a_run_going(self) -> None:
        asked = job("etl", spec(requests={"cpu": "2"}), MINUTE)
        run = play([node("n1"), quota({"requests.cpu": "1"}), asked], until_s=None)
        assert starts(run) == []
        assert run.log.t_ns[-1] == 0

    def test_its_deadline_ends_one_that_never_fits(self) -> None:
        asked = job("etl", spec(requests={"cpu": "2"}), MINUTE, activeDeadlineSeconds=100)
        run = play([node("n1"), quota({"requests.cpu": "1"}), asked], until_s=None)
        assert events(run)[-1][:2] == (100, "DeadlineExceeded")


class TestPolicies:
    def test_a_code_fails_the_job_at_once(self) -> None:
        rules = [{"action": "FailJob", "onExitCodes": {"operator": "In", "values": [42]}}]
        asked = job("bad", spec(), {**MINUTE, "gnomon.dev/exit-code": "42"}, podFailurePolicy={"rules": rules})
        run = play([node("n1"), asked], until_s=600, faults=[fails("task/default/bad-0")])
        assert len(rows(run, Kind.FAIL)) == 1
        assert events(run)[-1][1] == "PodFailurePolicy"

    def test_an_index_fails_alone(self) -> None:
        asked = job(
            "part", spec(), MINUTE, completions=3, parallelism=3, completionMode="Indexed", backoffLimitPerIndex=1
        )
        run = play([node("n1"), asked], until_s=7200, faults=[fails("task/default/part-1")])
        assert [task for _, task in starts(run)] == ["part-0", "part-1", "part-2", "part-1"]
        assert events(run)[-1][1] == "FailedIndexes"

    def test_a_success_policy_ends_the_rest(self) -> None:
        rules = {"rules": [{"succeededIndexes": "0"}]}
        asked = job("lead", spec(), MINUTE, completions=3, parallelism=1, completionMode="Indexed", successPolicy=rules)
        run = play([node("n1"), asked], until_s=600)
        assert starts(run) == [(0, "lead-0")]
        assert events(run)[-1][:2] == (60, "Completed")

    def test_a_deadline_ends_it(self) -> None:
        long = {"gnomon.dev/duration": "1h"}
        run = play([node("n1"), job("slow", spec(), long, activeDeadlineSeconds=100)], until_s=600)
        assert deletions(run) == [(100, "slow-0")]
        assert events(run)[-1][:2] == (100, "DeadlineExceeded")


class TestStatus:
    """What ``kubectl get jobs -o yaml`` tells of Jobs that have begun before."""

    def test_one_that_is_over_makes_no_pods(self) -> None:
        over = job("sum", spec(), MINUTE, completions=3)
        over["status"] = {"succeeded": 3, "conditions": [{"type": "Complete", "status": "True"}]}
        assert starts(play([node("n1"), over], until_s=600)) == []

    def test_only_what_is_left_is_done(self) -> None:
        begun = job("sum", spec(), MINUTE, completions=5)
        begun["status"] = {"succeeded": 3}
        run = play([node("n1"), begun], until_s=600)
        assert starts(run) == [(0, "sum-0"), (60, "sum-1")]
        assert events(run)[-1] == (120, "Completed", "Job completed")

    def test_only_the_indexes_that_are_left(self) -> None:
        begun = job("part", spec(), MINUTE, completions=5, parallelism=5, completionMode="Indexed")
        begun["status"] = {"succeeded": 3, "completedIndexes": "0,2-3"}
        assert starts(play([node("n1"), begun], until_s=600)) == [(0, "part-1"), (0, "part-4")]

    def test_pods_that_failed_before_count(self) -> None:
        begun = job("bad", spec(), MINUTE, backoffLimit=3)
        begun["status"] = {"failed": 3}
        run = play([node("n1"), begun], until_s=600, faults=[fails("task/default/bad-0")])
        assert events(run)[-1][1] == "BackoffLimitExceeded"

    def test_not_a_list_of_indexes(self) -> None:
        begun = job("part", spec(), MINUTE, completions=5, completionMode="Indexed")
        with pytest.raises(InputError, match="not a list of indexes, found 'all'"):
            play([node("n1"), {**begun, "status": {"completedIndexes": "all"}}], until_s=600)


class TestDeletion:
    def test_one_that_is_over_goes_when_its_time_is(self) -> None:
        run = play([node("n1"), job("sum", spec(), MINUTE, ttlSecondsAfterFinished=100)], until_s=600)
        assert [(when, reason) for when, reason, _ in events(run)] == [(60, "Completed"), (160, "SuccessfulDelete")]

    def test_its_pods_count_as_objects_until_then(self) -> None:
        quota: Object = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "few"}}
        quota["spec"] = {"hard": {"count/pods": "1"}}

        def second(**more: int) -> list[float]:
            first = job("sum", spec(), MINUTE, **more)
            run = play([node("n1"), quota, first], until_s=600, changes=[(90, [job("b", spec())])])
            return [when for when, task in starts(run) if task == "b-0"]

        assert second() == []
        (when,) = second(ttlSecondsAfterFinished=100)
        assert 160 <= when <= 90 + 0.005 * 2**15  # the first of the doubled delays that end after 160 s


def cron(schedule: str, seconds: int, **more: Any) -> Object:
    template = {"spec": {"template": {"spec": spec(restartPolicy="Never")}}}
    return {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": {"name": "tick", "annotations": {"gnomon.dev/duration": f"{seconds}s"}},
        "spec": {"schedule": schedule, "jobTemplate": template, **more},
    }


class TestCronJobs:
    def test_a_job_each_time(self) -> None:
        run = play([node("n1"), cron("*/10 * * * *", 60)], until_s=1900)
        assert starts(run) == [(0, "tick-0-0"), (600, "tick-10-0"), (1200, "tick-20-0"), (1800, "tick-30-0")]

    def test_forbidden_ones_come_when_the_one_before_is_over(self) -> None:
        run = play([node("n1"), cron("*/10 * * * *", 900, concurrencyPolicy="Forbid")], until_s=1900)
        assert starts(run) == [(0, "tick-0-0"), (900, "tick-10-0"), (1800, "tick-30-0")]

    def test_unless_it_is_too_late_for_them(self) -> None:
        late = cron("*/10 * * * *", 900, concurrencyPolicy="Forbid", startingDeadlineSeconds=60)
        assert starts(play([node("n1"), late], until_s=1300)) == [(0, "tick-0-0"), (1200, "tick-20-0")]

    def test_the_old_one_is_replaced(self) -> None:
        run = play([node("n1"), cron("*/10 * * * *", 900, concurrencyPolicy="Replace")], until_s=1300)
        assert [when for when, _ in starts(run)] == [0, 600, 1200]
        assert deletions(run) == [(600, "tick-0-0"), (1200, "tick-10-0")]

    def test_the_three_newest_that_succeeded_stay(self) -> None:
        run = play([node("n1"), cron("*/10 * * * *", 60)], until_s=3500)
        gone = [(when, text) for when, reason, text in events(run) if reason == "SuccessfulDelete"]
        assert gone == [(1860, "Deleted job tick-0"), (2460, "Deleted job tick-10"), (3060, "Deleted job tick-20")]

    def test_and_the_newest_that_failed(self) -> None:
        bad = cron("*/10 * * * *", 60, successfulJobsHistoryLimit=0)
        bad["spec"]["jobTemplate"]["spec"]["backoffLimit"] = 0
        for until_s, gone in ((590, []), (1190, ["Deleted job tick-0"])):
            run = play([node("n1"), bad], until_s=until_s, faults=[fails("job/default/tick-*")])
            assert [text for _, reason, text in events(run) if reason == "SuccessfulDelete"] == gone

    def test_not_a_schedule(self) -> None:
        with pytest.raises(InputError, match=r"not a minute: 61"):
            play([node("n1"), cron("61 * * * *", 60)], until_s=100)
