"""Changes: what is proposed for which cause, and what a simulation says of it, against what is reckoned by hand."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from gnomon.insight.explain import Explanation
from gnomon.insight.spark import advice, bench
from gnomon.insight.spark.answer import explain_log, explain_recorded
from gnomon.insight.spark.bench import bench_of
from gnomon.systems.spark.application import Application
from gnomon.systems.spark.read import read_event_log
from tests.shared import ROOT
from tests.systems.spark.event_logs import EventLog, shuffle_read, stage

pytestmark = pytest.mark.unit


def one_stage(
    folder: Path, lengths: Sequence[float], metrics: dict[str, int] | None = None, conf: dict[str, str] | None = None
) -> Application:
    """A stage on four executors of one core on hosts of their own; tasks one after the other on each. Before it four
    tasks of 1 s, so that nothing is new."""
    log = EventLog(conf or {})
    log.executors([str(number) for number in range(4)], cores=1)
    first, info = stage(0, 4, name="map"), stage(1, len(lengths), name="reduceByKey", parents=[0])
    log.job(0, 0, [first, info])
    log.submit(first, 0)
    for number in range(4):
        log.task(0, number, (0, 1), str(number), kind="ShuffleMapTask")
    log.complete(first, 0, 1)
    log.submit(info, 1)
    free = dict.fromkeys(map(str, range(4)), 1.0)
    for index, length in enumerate(lengths):
        where = min(free, key=lambda name: free[name])
        begun, free[where] = free[where], free[where] + length
        read = {**shuffle_read(2**20, 1000), "Executor CPU Time": 0, **(metrics or {})}
        log.task(1, index, (begun, free[where]), where, metrics=read)
    end = max(free.values())
    log.complete(info, 1, end)
    log.job_end(0, end)
    log.end(end)
    return read_event_log(log.write(folder / "log"))


def fields(found: Explanation) -> dict[str, str]:
    return {one.field: one.what for one in found.changes}


def useless(found: Explanation) -> str:
    return "\n".join(" ".join(row) for one in found.listings if "NOT HELP" in one.title for row in one.rows)


def test_the_bench_gives_what_was_recorded(tmp_path: Path) -> None:
    known = bench_of(one_stage(tmp_path, [10] * 8))
    assert known.span_ms() == pytest.approx(21_000, abs=50)
    assert known.span_ms(executors=[1] * 8) == pytest.approx(11_000, abs=50)
    assert known.span_ms(lengths={1: [5_000] * 16}) == pytest.approx(21_000, abs=50)


def test_a_straggler_that_a_copy_would_overtake(tmp_path: Path) -> None:
    """12 tasks of 10 s and one of 200 s: in the fourth turn it alone is left. From 30 s (three times the median) on it
    is slow, at 60 s by its length alone; the copy takes 10 s."""
    found = explain_log("stage/1", one_stage(tmp_path, [10] * 12 + [200]))
    assert "spark.speculation" in fields(found)
    application = one_stage(tmp_path, [10] * 12 + [200], conf={"spark.speculation.efficiency.enabled": "false"})
    bench = bench_of(application)
    assert bench.span_ms() == pytest.approx(231_000, abs=50)
    with_copies = bench.span_ms(copies={1: {12: 10_000}})
    assert with_copies == pytest.approx(31_000 + 30_000 + 10_000, abs=500)


def test_where_there_is_speculation_already_it_is_not_advised(tmp_path: Path) -> None:
    found = explain_log("stage/1", one_stage(tmp_path, [10] * 12 + [200], conf={"spark.speculation": "true"}))
    assert "spark.speculation" not in fields(found)


def test_a_stage_with_too_few_partitions(tmp_path: Path) -> None:
    """Two tasks of 60 s on four slots: as four of 30 s they end in half the time."""
    found = explain_log("stage/1", one_stage(tmp_path, [60, 60]))
    assert "4 partitions in stage 1 instead of 2" in fields(found)["numPartitions"]
    assert "31s instead of 1m1s" in fields(found)["numPartitions"]
    assert "twice the executors" in useless(found)


def test_tasks_that_are_mostly_overhead(tmp_path: Path) -> None:
    """400 tasks of 50 ms, of which they run 5: as eight tasks a slot pays for the overhead twice, not 100 times."""
    found = explain_log("stage/1", one_stage(tmp_path, [0.05] * 400, {"Executor Run Time": 5}))
    assert "8 partitions in stage 1 instead of 400" in fields(found)["numPartitions"]


def test_garbage_collection_is_a_bound(tmp_path: Path) -> None:
    found = explain_log("stage/1", one_stage(tmp_path, [10] * 8, {"JVM GC Time": 5_000}))
    assert "at least 12s instead of 21s" in fields(found)["spark.executor.memory"]  # 4.5 s of 10 s less, twice


def test_spills_ask_for_more_partitions_or_memory(tmp_path: Path) -> None:
    found = explain_log(
        "stage/1", one_stage(tmp_path, [10] * 8, {"Memory Bytes Spilled": 2**30, "Disk Bytes Spilled": 1})
    )
    assert "spark.executor.memory" in fields(found)
    assert "16 partitions in stage 1 instead of 8" in useless(found)  # as much work in as many turns


def test_half_the_executors_where_they_would_do(tmp_path: Path) -> None:
    found = explain_log("app", one_stage(tmp_path, [60, 0.1, 0.1, 0.1]))
    assert "half the executors would do (2 for 4 executors of 1 slot)" in fields(found)["spark.executor.instances"]


def test_a_log_in_which_nothing_succeeded_has_no_changes_to_try(tmp_path: Path) -> None:
    log = EventLog()
    log.executors(["1"], cores=1)
    log.job(0, 0, [stage(0, 1)])
    log.job_end(0, 1, "no")
    log.end(1)
    found = explain_log("app", read_event_log(log.write(tmp_path / "log")))
    assert found.state == "failed"
    assert "no changes were tried" in " ".join(found.notes)


@pytest.mark.parametrize(
    "path", sorted((ROOT / "tests/golden/spark").glob("spark-*.jsonl.gz")), ids=lambda path: path.name
)
def test_every_recorded_log_is_explained(path: Path) -> None:
    application = read_event_log(path)
    found = explain_log("app", application)
    assert found.summary
    for number in application.stages:
        told = explain_log(f"stage/{number}", application) if number in application.skipped else None
        assert told is None or told.state == "skipped"
    for job in application.jobs:
        assert explain_log(f"job/{job}", application).summary
    for name in application.executors:
        assert explain_log(f"executor/{name}", application).summary
    for query in application.sql:
        assert explain_log(f"sql/{query}", application).summary
    first = next(one for one in application.attempts if len(one.tasks))
    assert explain_log(f"task/{first.stage.id}.{first.tasks[0].index}", application).summary
    assert explain_log(f"task/{first.tasks[0].task_id}", application).subject.startswith("task/")


def test_a_job_that_still_runs_took_the_time_until_the_log_stops(tmp_path: Path) -> None:
    whole = one_stage(tmp_path, [2.0] * 4)
    (job,) = whole.jobs.values()
    running = replace(whole, jobs={0: replace(job, ended_ms=None, result=None)}, ended_ms=None)
    (note,) = [note for note in explain_log("app", running).notes if note.startswith("the jobs took")]
    assert note.startswith("the jobs took 3s until the log stops; run again by Spark's rules on 4 slots")


def test_of_a_large_log_what_costs_too_much_is_left_out_and_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    application = one_stage(tmp_path, [10] * 12 + [200])
    every = explain_log("stage/1", application)
    monkeypatch.setattr(advice, "TASKS_MAX", 10)
    found = explain_log("stage/1", application)
    assert "spark.speculation" in fields(every)
    assert "spark.speculation" not in fields(found)
    assert any("not tried: the log is large" in note for note in found.notes)


def test_a_large_log_with_speculation_runs_again_without(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "WORLD_MAX", 10)
    found = explain_log("stage/1", one_stage(tmp_path, [10] * 12 + [200], conf={"spark.speculation": "true"}))
    assert "the log is large: pools and second copies are left out of what is run again" in found.notes


def test_it_is_told_how_far_it_is_and_may_be_stopped(tmp_path: Path) -> None:
    one_stage(tmp_path, [10] * 12 + [200])
    told = []

    def watch(done: int, total: int, now_ns: int) -> bool:
        told.append((done, total))
        return True

    explain_recorded("app", tmp_path / "log", watch)
    assert len(told) > 3
    assert told == sorted(told)
    with pytest.raises(KeyboardInterrupt):
        explain_recorded("app", tmp_path / "log", lambda done, total, now_ns: False)
