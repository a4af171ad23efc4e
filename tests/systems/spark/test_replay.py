"""Which stages of a log run again, and which have their output already, from logs made by hand."""

from dataclasses import replace

import pytest

from gnomon.model.errors import InputError
from gnomon.systems.spark.application import Application, Rdd, StageAttempt
from gnomon.systems.spark.replay import replay
from tests.systems.spark.test_delays import START, application, attempt, job, tasks

THREE = tasks((30, 133, 90), (130, 233, 90), (230, 333, 90))


def of_rdd(found: StageAttempt, rdd: int) -> StageAttempt:
    return replace(found, stage=replace(found.stage, rdds=(Rdd(rdd, "", "map", (), 3),)))


def two_jobs(again: StageAttempt, *, shuffled: int = 7) -> Application:
    """A job whose shuffle is read, and another that reads the same shuffle, of which ``again`` ran."""
    return application(
        of_rdd(attempt(0, THREE, submitted=10), 7),
        of_rdd(attempt(1, THREE, 0, submitted=343), 8),
        of_rdd(again, shuffled),
        of_rdd(attempt(3, THREE, 2, submitted=1_343), 9),
        jobs={0: job(0, 0, 555, 0, 1), 1: job(1, 1_000, 1_555, 2, 3)},
    )


def of_three(found: StageAttempt) -> StageAttempt:
    """All of the stage are three tasks, whatever ran."""
    return replace(found, stage=replace(found.stage, tasks=3))


def stages_of(log: Application) -> dict[int, tuple[int, ...]]:
    return {number: stage.parents for number, stage in replay(log).plan.stages.items()}


def test_a_stage_that_only_made_again_what_was_lost_is_there_when_nothing_is_lost() -> None:
    """An executor is lost between two jobs on one shuffle: a task of three runs again, in attempt 1 since Spark 4, in
    attempt 0 before. Without the loss the second job skips the stage."""
    lost = of_three(attempt(2, tasks((1_100, 1_200, 90)), submitted=1_090))
    assert stages_of(two_jobs(lost)) == {0: (), 1: (0,), 3: (0,)}
    assert stages_of(two_jobs(replace(lost, attempt=1))) == {0: (), 1: (0,), 3: (0,)}


def test_a_stage_that_lost_all_its_output_is_known_by_its_attempt() -> None:
    whole = attempt(2, THREE, submitted=1_090)
    assert stages_of(two_jobs(replace(whole, attempt=1))) == {0: (), 1: (0,), 3: (0,)}


def test_another_shuffle_of_the_same_rdd_runs() -> None:
    assert stages_of(two_jobs(attempt(2, THREE, submitted=1_090))) == {0: (), 1: (0,), 2: (), 3: (2,)}


def test_output_whose_maker_is_not_in_the_log_is_made() -> None:
    part = of_three(attempt(2, tasks((1_100, 1_200, 90)), submitted=1_090))
    assert stages_of(two_jobs(part, shuffled=70)) == {0: (), 1: (0,), 2: (), 3: (2,)}


def test_the_output_of_a_result_is_no_shuffle() -> None:
    """``rdd.count()`` and a shuffle of the same RDD end in one RDD; who skips the shuffle reads that, not the count."""
    log = application(
        of_rdd(attempt(0, THREE, submitted=10), 7),
        of_rdd(attempt(1, THREE, submitted=343), 7),
        of_rdd(attempt(2, THREE, 1, submitted=643), 8),
        of_rdd(attempt(4, THREE, 3, submitted=1_343), 9),
        jobs={0: job(0, 0, 340, 0), 1: job(1, 341, 900, 1, 2), 2: job(2, 1_000, 1_555, 3, 4)},
    )
    skipped = replace(log.stages[1], id=3)
    assert stages_of(replace(log, stages={**log.stages, 3: skipped}))[4] == (1,)


def test_a_job_that_names_stages_nobody_tells_of_is_called_by_those_that_ran() -> None:
    found = replay(application(attempt(0, THREE, submitted=10), jobs={0: job(0, 0, 555, 0, 7)}))
    assert found.plan.jobs[0].name == "stage 0"


def test_more_tasks_than_memory_holds_are_refused() -> None:
    many = attempt(0, THREE, submitted=10)
    many = replace(many, stage=replace(many.stage, tasks=2**31 - 1))
    with pytest.raises(InputError, match="more tasks than are replayed, found '2,147,483,647'; allowed: 10,000,000"):
        replay(application(many, jobs={0: job(0, 0, 555, 0)}))


def test_a_task_that_ended_at_no_time_is_as_long_as_the_others() -> None:
    """Finish Time 0, as in a log that is damaged."""
    never = tasks((30, 133, 90), (130, 233, 90), (230, -START, 90))
    assert (
        len(
            set(
                replay(application(attempt(0, never, submitted=10), jobs={0: job(0, 0, 555, 0)})).execution.length_ms[0]
            )
        )
        == 1
    )
