"""The critical path of an application: who waited for whom, from its start to its end without gaps."""

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon.insight.spark.answer import explain_log
from gnomon.insight.spark.path import critical_path, parts
from gnomon.systems.spark.read import read_event_log
from tests.shared import EXAMPLES, ROOT
from tests.systems.spark.event_logs import START, EventLog, stage

GOLDEN = ROOT / "tests" / "golden" / "spark"


def shape(log: EventLog, folder: Path) -> list[tuple[str, int | None, int, int]]:
    """What, which task, from when to when (ms after the start)."""
    path = critical_path(read_event_log(log.write(folder / "log")))
    found = []
    for one in path:
        index = None if one.task is None else one.task.index
        found.append((one.what, index, one.begin_ms - START, one.end_ms - START))
    return found


@pytest.mark.unit
def test_a_stage_waits_for_the_last_task_of_those_it_reads_and_a_task_for_its_slot(tmp_path: Path) -> None:
    """Two slots (one an executor): map 0 and 1, then map 2 where 0 was; reduce 3 reads them."""
    log = EventLog()
    log.executors(["1", "2"], cores=1)
    first, second = stage(0, 3, name="map"), stage(1, 1, parents=[0])
    log.job(0, 1, [first, second])
    log.submit(first, 1)
    log.task(0, 0, (1.01, 3), "1", kind="ShuffleMapTask")
    log.task(0, 1, (1.01, 6), "2", kind="ShuffleMapTask")
    log.task(0, 2, (3, 8), "1", kind="ShuffleMapTask")
    log.complete(first, 1, 8)
    log.submit(second, 8.02)
    log.task(1, 0, (8.05, 9), "2")
    log.complete(second, 8.02, 9)
    log.job_end(0, 9.1)
    log.end(10)
    assert shape(log, tmp_path) == [
        ("driver: before the first job", None, 0, 1000),
        ("driver: starting a job", None, 1000, 1010),
        ("stage 0", 0, 1010, 3000),
        ("stage 0", 2, 3000, 8000),
        ("driver: between stages", None, 8000, 8050),
        ("stage 1", 0, 8050, 9000),
        ("driver: ending a job", None, 9000, 9100),
        ("driver: after the last job", None, 9100, 10000),
    ]
    by_part = parts(critical_path(read_event_log(tmp_path / "log")))
    assert [(one.what, one.total_ms, one.tasks) for one in by_part[:2]] == [
        ("stage 0", 6990, 2),
        ("driver: before the first job", 1000, 0),
    ]


@pytest.mark.unit
def test_the_wait_for_the_first_executor_is_told_apart(tmp_path: Path) -> None:
    log = EventLog()
    log.executors(["1"], cores=1, at=5)
    info = stage(0, 1)
    log.job(0, 1, [info])
    log.submit(info, 1)
    log.task(0, 0, (5.5, 6), "1")
    log.complete(info, 1, 6)
    log.job_end(0, 6)
    log.end(6)
    assert shape(log, tmp_path)[1:3] == [
        ("waiting for an executor", None, 1000, 5000),
        ("driver: starting a job", None, 5000, 5500),
    ]


@pytest.mark.unit
def test_a_task_that_is_tried_again_waited_for_the_attempt_that_failed(tmp_path: Path) -> None:
    log = EventLog()
    log.executors(["1", "2"], cores=1)
    info = stage(0, 1)
    log.job(0, 0, [info])
    log.submit(info, 0)
    log.task(0, 0, (0.01, 5), "1", reason={"Reason": "ExceptionFailure", "Class Name": "E", "Description": "no"})
    log.task(0, 0, (5, 7), "2", attempt=1)
    log.complete(info, 0, 7)
    log.job_end(0, 7)
    log.end(7)
    assert [one[1:] for one in shape(log, tmp_path) if one[1] is not None] == [(0, 10, 5000), (0, 5000, 7000)]


@pytest.mark.unit
def test_jobs_side_by_side_are_not_counted_twice(tmp_path: Path) -> None:
    log = EventLog()
    log.executors(["1", "2"], cores=1)
    for number, ends in ((0, 4), (1, 9)):
        info = stage(number, 1)
        log.job(number, 0, [info])
        log.submit(info, 0)
        log.task(number, 0, (0.01, ends), str(number + 1))
        log.complete(info, 0, ends)
        log.job_end(number, ends)
    log.end(9)
    assert [one[0] for one in shape(log, tmp_path)] == ["driver: starting a job", "stage 1"]


@pytest.mark.golden
@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.jsonl.gz")), ids=lambda path: path.name.partition(".")[0])
def test_the_path_of_a_recorded_application_has_no_gaps(path: Path) -> None:
    application = read_event_log(path)
    found = critical_path(application)
    assert (found[0].begin_ms, found[-1].end_ms) == (application.started_ms, application.last_ms)
    assert all(one.end_ms == other.begin_ms for one, other in pairwise(found))
    assert sum(part.total_ms for part in parts(found)) == application.last_ms - application.started_ms


@pytest.mark.property
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_whatever_ran_the_path_has_no_gaps(data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Any tasks in any order, also such as no scheduler would launch."""
    log = EventLog()
    log.executors(["1", "2"], cores=1, at=data.draw(st.integers(0, 3)))
    stages = [stage(number, 2, parents=[number - 1] if number else []) for number in range(3)]
    begun = data.draw(st.integers(0, 5))
    log.job(0, begun, stages)
    for info in stages:
        log.submit(info, begun + data.draw(st.integers(0, 5)))
        for index in range(data.draw(st.integers(0, 3))):
            at = data.draw(st.integers(0, 20))
            span = (at, at + data.draw(st.integers(0, 9)))
            log.task(info["Stage ID"], index, span, data.draw(st.sampled_from("12")))
    if data.draw(st.booleans()):
        log.job_end(0, data.draw(st.integers(5, 40)))
    application = read_event_log(log.write(tmp_path_factory.getbasetemp() / "log"))
    found = critical_path(application)
    assert all(one.end_ms == other.begin_ms for one, other in pairwise(found))
    total = application.last_ms - application.started_ms
    assert sum(one.length_ms for one in found) == total


def test_what_costs_most_is_said_of_the_stages_where_the_driver_took_most_of_the_time() -> None:
    """20.4 of 38.8 s are the driver's: no stage costs most of all."""
    found = explain_log("app", read_event_log(EXAMPLES / "spark" / "lost-executor.jsonl.gz"))
    assert "20.4s (53 %) in the driver" in found.summary
    assert ". Of the stages, what costs most, 2.5s in stage 3" in found.summary
