"""What becomes of jobs when the driver is lost."""

from gnomon.control.batch.plan import BatchPlan, JobPlan
from gnomon.control.batch.rules import AGAIN, FAILS, RECOVERS, STAYS, Rules
from gnomon.model.fault import Failure, Fault

from .scripted import Ran, ran, stages


def lost(rule: str, *, at_ns: int = 25, attempts: int = 2) -> Ran:
    """Two maps of 10 and 20, a reduce of 10, then another job of 10; the driver is away from 25 to 100."""
    known = stages({"tasks": 2}, {"tasks": 1, "parents": (0,)}, {"tasks": 1})
    jobs = {0: JobPlan(0, "a", result=1), 1: JobPlan(1, "b", result=2, after=0)}
    fault = Failure(Fault.LEADER, at_ns=at_ns, for_ns=100 - at_ns)
    rules = Rules(driver=rule, driver_attempts=attempts)
    return ran(BatchPlan(jobs, known), {0: [10, 20], 1: [10], 2: [10]}, nodes=[2], faults=[fault], rules=rules)


def test_one_that_stays_goes_on_where_it_was() -> None:
    found = lost(STAYS)
    assert found.launched == [(0, 0), (0, 1), (1, 0), (2, 0)]
    assert found.ended == {0: 30, 1: 110} or found.ended == {0: 100, 1: 110}


def test_its_jobs_fail_and_what_runs_stops() -> None:
    found = lost(FAILS)
    assert [one["message"] for one in found.said("JobFailed")] == ["the driver is lost"]
    assert found.ended == {}
    assert [(stage, partition) for _, stage, partition, _ in found.ends] == [(0, 0), (0, 1)]


def test_another_one_does_all_again() -> None:
    found = lost(AGAIN)
    assert found.launched == [(0, 0), (0, 1), (1, 0), (0, 0), (0, 1), (1, 0), (2, 0)]
    assert found.ended == {0: 130, 1: 140}


def test_another_one_that_recovers_keeps_what_was_done() -> None:
    found = lost(RECOVERS)
    assert found.launched == [(0, 0), (0, 1), (1, 0), (1, 0), (2, 0)]
    assert found.ended == {0: 110, 1: 120}


def test_after_as_many_as_there_may_be_the_jobs_fail() -> None:
    assert lost(AGAIN, attempts=1).said("JobFailed")


def test_jobs_that_were_over_are_done_again_only_by_one_that_recovers_nothing() -> None:
    assert lost(RECOVERS, at_ns=35).launched == [(0, 0), (0, 1), (1, 0), (2, 0), (2, 0)]
    assert lost(AGAIN, at_ns=35).launched == [(0, 0), (0, 1), (1, 0), (2, 0), (0, 0), (0, 1), (1, 0), (2, 0)]
