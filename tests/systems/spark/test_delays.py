"""What the driver adds, from logs made by hand."""

import numpy as np

from gnomon.systems.spark.application import Application, Executor, Job, Stage, StageAttempt
from gnomon.systems.spark.delays import delays
from gnomon.systems.spark.replay import replay
from gnomon.systems.spark.tasks import COLUMNS, Tasks

START = 1_000_000
NOTHING = Tasks(np.empty((0, len(COLUMNS)), np.int64))


def tasks(*rows: tuple[int, int, int]) -> Tasks:
    """Tasks of one executor: launch, finish and run time in ms."""
    made = []
    for index, (launch, finish, run) in enumerate(rows):
        row = dict.fromkeys(COLUMNS, 0)
        row |= {"index": index, "partition": index, "launch_ms": START + launch, "finish_ms": START + finish}
        row |= {"failure": -1, "run_ms": run}
        made.append([row[name] for name in COLUMNS])
    return Tasks(np.array(made, np.int64), ("driver",))


def attempt(number: int, found: Tasks, *parents: int, submitted: int) -> StageAttempt:
    stage = Stage(number, f"stage {number}", parents, len(found))
    return StageAttempt(stage, 0, len(found), START + submitted, tasks=found, running=NOTHING)


def application(*attempts: StageAttempt, jobs: dict[int, Job], cores: int = 1) -> Application:
    return Application(
        "app",
        "app-1",
        "4.3.0",
        START,
        None,
        executors={"driver": Executor("driver", "host", cores, START)},
        jobs=jobs,
        stages={one.stage.id: one.stage for one in attempts},
        attempts=attempts,
    )


def job(number: int, submitted: int, ended: int, *stages: int) -> Job:
    return Job(number, START + submitted, stages, START + ended, "JobSucceeded")


TWO_STAGES = application(
    attempt(0, tasks((30, 133, 90), (130, 233, 90), (230, 333, 90)), submitted=10),
    attempt(1, tasks((353, 453, 90), (450, 553, 90)), 0, submitted=343),
    jobs={0: job(0, 0, 555, 0, 1)},
)


def test_a_slot_is_free_before_its_task_is_known_to_be_done() -> None:
    assert delays(TWO_STAGES).result == 3


def test_what_a_task_has_its_slot_beyond_its_run_time() -> None:
    """From launch to the next launch, or to its finish less the delay of a result: 100 ms, of which it ran 90."""
    found = delays(TWO_STAGES)
    assert found.held[0, 0, 0, 0] == 100
    assert found.held[0, 0, 2, 0] == 100
    assert found.overhead == 10


def test_stages_and_jobs() -> None:
    found = delays(TWO_STAGES)
    assert found.stage == 20
    assert (found.setup[0], found.teardown[0]) == (30, 2)
    assert found.start[0] == (0, None)


def test_a_job_that_follows_another_is_submitted_after_its_end_and_one_beside_it_at_its_time() -> None:
    found = delays(
        application(
            attempt(0, tasks((10, 500, 480)), submitted=5),
            attempt(1, tasks((120, 620, 480)), submitted=105),
            attempt(2, tasks((670, 770, 90)), submitted=660),
            jobs={0: job(0, 0, 505, 0), 1: job(1, 100, 625, 1), 2: job(2, 655, 780, 2)},
            cores=2,
        )
    )
    assert found.start == {0: (0, None), 1: (100, None), 2: (30, 1)}


def test_of_jobs_that_were_over_at_once_none_follows_a_later_one() -> None:
    """Both began and ended in one ms: the second follows the first, and nothing follows in a circle."""
    found = delays(application(jobs={0: job(0, 0, 0), 1: job(1, 0, 0), 2: job(2, 5, 9)}))
    assert found.start == {0: (0, None), 1: (0, 0), 2: (5, 1)}


def test_outliers_are_not_there_again_on_other_slots() -> None:
    """A task that the driver was slow to hear of costs what the others do; on the same slots, what it did."""
    slow = application(
        attempt(0, tasks((0, 103, 90), (100, 403, 90), (400, 503, 90), (500, 603, 90)), submitted=0),
        jobs={0: job(0, 0, 605, 0)},
    )
    assert replay(slow).execution.length_ms[0] == (100, 100, 100, 100)
    assert replay(slow, exact=True).execution.length_ms[0] == (100, 300, 100, 100)


def test_a_stage_that_waited_for_a_slot_tells_nothing_of_the_driver() -> None:
    """Stage 1 could begin at 210, but a task of stage 2 was launched just then: it took the only slot."""
    found = delays(
        application(
            attempt(0, tasks((10, 110, 90), (110, 210, 90)), submitted=5),
            attempt(2, tasks((210, 510, 290), (610, 910, 290)), submitted=6),
            attempt(1, tasks((510, 610, 90)), 0, submitted=220),
            jobs={0: job(0, 0, 915, 0, 1, 2)},
        )
    )
    assert found.stage == 10  # what is taken where a log tells nothing
