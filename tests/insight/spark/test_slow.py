"""Why a stage is slow: each cause on a stage that has it, and on none that has not."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from gnomon.insight.spark.figures import Finding, slots_of
from gnomon.insight.spark.slow import findings
from gnomon.systems.spark.application import Application
from gnomon.systems.spark.read import read_event_log
from tests.shared import ROOT
from tests.systems.spark.event_logs import EventLog, shuffle_read, stage

pytestmark = pytest.mark.unit

Metrics = Callable[[int], Mapping[str, Any]]

GB = 2**30


def even(index: int) -> Mapping[str, Any]:
    return shuffle_read(2**20, 1000)


def a_stage(
    folder: Path,
    lengths: Sequence[float],
    metrics: Metrics = even,
    *,
    locality: Callable[[int], str] = lambda index: "NODE_LOCAL",
    at: Callable[[int], str] = lambda index: str(index % 4),
    warm: bool = True,
) -> Application:
    """Tasks of these lengths (s) on four executors of one core, one after the other on each."""
    log = EventLog()
    log.executors([str(number) for number in range(4)], cores=1)
    first, info = stage(0, 4), stage(1, len(lengths))
    log.job(0, 0, [first, info])
    if warm:  # so that nothing is the first of its slot
        log.submit(first, 0)
        for number in range(4):
            log.task(0, number, (0, 1), str(number))
        log.complete(first, 0, 1)
    log.submit(info, 1)
    free = dict.fromkeys(map(str, range(4)), 1.0)
    for index, length in enumerate(lengths):
        where = at(index)
        begun = free[where]
        free[where] = begun + length
        span = (begun, begun + length)
        log.task(1, index, span, where, metrics=metrics(index), locality=locality(index))
    log.complete(info, 1, max(free.values()))
    log.job_end(0, max(free.values()))
    log.end(max(free.values()))
    return read_event_log(log.write(folder / "log"))


def causes(application: Application, number: int = 1) -> list[Finding]:
    return findings(application, application.attempts_of(number)[0])


def test_equal_tasks_on_all_slots_have_no_cause(tmp_path: Path) -> None:
    assert causes(a_stage(tmp_path, [10] * 8)) == []


def test_a_hot_partition(tmp_path: Path) -> None:
    """It has an executor of its own; the others have three turns of 10 s."""

    def read(index: int) -> Mapping[str, Any]:
        return shuffle_read(GB, 10**6) if index == 0 else even(index)

    found = causes(a_stage(tmp_path, [100] + [10] * 8, read, at=lambda n: str(1 + n % 3) if n else "0"))
    assert [one.rule for one in found] == ["skew"]
    assert found[0].object == "task/1.0"
    assert "reads 1.0 GiB and 1,000,000 records, the median task 1.0 MiB and 1,000 records" in found[0].text
    assert found[0].cost_ms == 100_000 - 30_000


def test_a_larger_piece_of_a_file_is_no_hot_key(tmp_path: Path) -> None:
    def read(index: int) -> Mapping[str, Any]:
        return {"Input Metrics": {"Bytes Read": GB if index == 0 else 2**20, "Records Read": 10}}

    found = causes(a_stage(tmp_path, [100] + [10] * 8, read))
    assert [one.rule for one in found] == ["uneven-input"]
    assert "a file or split that is larger than the others" in found[0].text


def test_a_slow_node(tmp_path: Path) -> None:
    found = causes(a_stage(tmp_path, [30 if index % 4 == 2 else 10 for index in range(12)]))
    assert [one.rule for one in found] == ["slow-node"]
    assert found[0].object == "executor/2"
    assert "ran on executor 2 (host-2), where tasks take 30s and elsewhere 10s, with as much data" in found[0].text


@pytest.mark.parametrize(
    ("metrics", "rule", "text"),
    [
        ({"JVM GC Time": 60_000}, "gc", "1m of it is GC"),
        ({"Shuffle Read Metrics": {"Fetch Wait Time": 70_000, "Local Bytes Read": 2**20, "Total Records Read": 1000}},
         "fetch-wait", "it waited 1m10s for shuffle blocks of others"),
        ({"Executor CPU Time": 90_000_000_000}, "compute", "it computed for 1m30s"),
        ({"Executor CPU Time": 1_000_000_000}, "straggler", "the JVM used 1s of CPU in 1m40s"),
        ({"Executor Run Time": 20_000, "Executor Deserialize Time": 80_000}, "deserialize",
         "1m20s of it went into getting ready"),
        ({"Executor Run Time": 20_000}, "scheduler-delay", "most of it is the driver's"),
    ],
)  # fmt: skip
def test_a_straggler_with_no_more_data_by_what_it_did(
    metrics: Mapping[str, Any], rule: str, text: str, tmp_path: Path
) -> None:
    found = causes(a_stage(tmp_path, [100] + [10] * 8, lambda n: {**even(n), **(metrics if n == 0 else {})}))
    told = next(one for one in found if one.object == "task/1.0")
    assert told.rule == rule
    assert text in told.text


def test_the_first_task_of_a_slot(tmp_path: Path) -> None:
    found = causes(a_stage(tmp_path, [40] + [10] * 8, warm=False))
    assert found[0].rule == "warm-up"


@pytest.mark.parametrize(
    ("metrics", "rule", "text"),
    [
        ({"JVM GC Time": 2_000}, "gc", "20 % of the task time is GC"),
        ({"Memory Bytes Spilled": GB, "Disk Bytes Spilled": GB // 4}, "spill",
         "8 tasks spilled 8.0 GiB of memory, 2.0 GiB on disk"),
        ({"Shuffle Read Metrics": {"Fetch Wait Time": 5_000, "Total Records Read": 1}}, "fetch-wait",
         "50 % of the task time"),
    ],
)  # fmt: skip
def test_what_all_tasks_have(metrics: Mapping[str, Any], rule: str, text: str, tmp_path: Path) -> None:
    found = causes(a_stage(tmp_path, [10] * 8, lambda n: {**even(n), **metrics}))
    assert [one.rule for one in found] == [rule]
    assert text in found[0].text


def test_fewer_tasks_than_slots(tmp_path: Path) -> None:
    found = causes(a_stage(tmp_path, [10, 10]))
    assert [one.rule for one in found] == ["few-tasks"]
    assert found[0].text == "2 tasks for 4 slots: 2 slots had nothing to do in this stage"


def test_tasks_that_are_mostly_starting(tmp_path: Path) -> None:
    found = causes(a_stage(tmp_path, [0.05] * 400, lambda n: {"Executor Run Time": 5}))
    assert [one.rule for one in found] == ["small-tasks"]
    assert "400 tasks of 50ms each: 90 % of their time is starting them" in found[0].text


def test_tasks_far_from_their_data(tmp_path: Path) -> None:
    application = a_stage(
        tmp_path, [10, 18] * 6, locality=lambda n: "ANY" if n % 2 else "NODE_LOCAL", at=lambda n: str(n % 3)
    )
    assert "locality" in [one.rule for one in causes(application)]


def test_a_cached_block_that_was_evicted() -> None:
    application = read_event_log(ROOT / "tests/golden/spark/spark-log-cache-eviction-1.jsonl.gz")
    found = causes(application, 15)[0]
    assert found.rule == "cache-miss"
    assert "read 125,000 records where the median task read 13" in found.text
    assert "was computed again" in found.text


def test_slots_are_those_that_were_there_at_a_time(tmp_path: Path) -> None:
    log = EventLog({"spark.task.cpus": "2"})
    log.executors(["1", "2"], cores=8, at=0)
    log.remove("1", 5, "gone")
    log.executors(["3"], cores=4, at=6)
    assert slots_of(read_event_log(log.write(tmp_path / "log"))) == 8
