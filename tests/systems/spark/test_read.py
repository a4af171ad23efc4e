"""Event logs: what is read of them, and what is said of those that are not as they should be."""

import gzip
import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from gnomon.model.errors import InputError
from gnomon.systems.spark.application import Application
from gnomon.systems.spark.read import read_event_log
from gnomon.systems.spark.read_lines import is_log_folder, log_files
from tests.shared import ROOT, SHARED, needs_shared
from tests.systems.spark.event_logs import START, EventLog, shuffle_read, stage

pytestmark = pytest.mark.unit

GOLDEN = ROOT / "tests" / "golden" / "spark"


def two_stages(version: str = "4.0.1") -> EventLog:
    log = EventLog({"spark.executor.memory": "4g"}, version)
    log.executors(["1", "2"], cores=2)
    first, second = stage(0, 2, name="map"), stage(1, 1, parents=[0])
    log.job(0, 1, [first, second, stage(2, 3)], **{"spark.scheduler.pool": "big", "spark.sql.execution.id": "7"})
    log.submit(first, 1.1)
    log.task(0, 0, (1.2, 3.2), "1", kind="ShuffleMapTask")
    log.task(0, 1, (1.2, 4.2), "2", kind="ShuffleMapTask")
    log.complete(first, 1.1, 4.3)
    log.submit(second, 4.3)
    log.task(1, 0, (4.4, 5), "1", metrics=shuffle_read(100, 10))
    log.complete(second, 4.3, 5.1)
    log.job_end(0, 5.2)
    log.end(6)
    return log


def read(log: EventLog, folder: Path) -> Application:
    return read_event_log(log.write(folder / "log"))


def edited(log: EventLog, event: str, path: str, value: Any) -> EventLog:
    """With one field of the first event of a kind set, or taken out (None)."""
    for place, line in enumerate(log.lines):
        facts = json.loads(line)
        if facts["Event"] == event:
            inside: Any = facts
            *way, last = path.split("/")
            for key in way:
                inside = inside[key]
            if value is None:
                del inside[last]
            else:
                inside[last] = value
            log.lines[place] = json.dumps(facts)
            return log
    raise AssertionError(event)


def test_what_a_log_says(tmp_path: Path) -> None:
    found = read(two_stages(), tmp_path)
    assert (found.name, found.id, found.user, found.version) == ("made", "app-1", "ann", "4.0.1")
    assert (found.started_ms, found.ended_ms, found.notes) == (START, START + 6000, ())
    assert found.properties == {"spark.executor.memory": "4g"}
    assert [(one.id, one.host, one.cores) for one in found.executors.values()] == [
        ("1", "host-1", 2),
        ("2", "host-2", 2),
    ]
    job = found.jobs[0]
    assert (job.stages, job.pool, job.sql, job.result) == ((0, 1, 2), "big", 7, "JobSucceeded")
    assert [(one.key, one.planned, one.kind, len(one.tasks)) for one in found.attempts] == [
        ((0, 0), 2, "ShuffleMapTask", 2),
        ((1, 0), 1, "ResultTask", 1),
    ]
    assert found.skipped == (2,)
    task = found.attempts[1].tasks[0]
    assert (task.duration_ms, task.run_ms, task.shuffle_read_bytes, task.read_records) == (600, 600, 100, 10)
    assert found.attempts[1].tasks.executor(0) == "1"
    assert task.succeeded
    assert found.stages[1].operation == "count"


@needs_shared
@pytest.mark.parametrize("path", sorted((SHARED or Path()).glob("samples/spark/*")), ids=lambda path: path.name)
def test_every_sample_is_read(path: Path) -> None:
    if path.suffix != ".md":
        found = read_event_log(path)
        assert found.ended_ms is not None
        assert sum(len(one.tasks) for one in found.attempts) > 0
        assert not found.notes


# ------------------------------------------------------------------ versions


def test_fields_that_older_versions_do_not_write(tmp_path: Path) -> None:
    """2.4 has no partition ids, executor metrics, peak memory, resource profiles or scopes of RDDs in all places."""
    log = two_stages("2.4.8")
    for place, line in enumerate(log.lines):
        facts = json.loads(line)
        for gone in ("Task Executor Metrics", "Stage Attempt ID"):
            facts.pop(gone, None)
        facts.get("Task Info", {}).pop("Partition ID", None)
        facts.get("Executor Info", {}).pop("Resource Profile Id", None)
        facts.get("Stage Info", {}).pop("Stage Attempt ID", None)
        log.lines[place] = json.dumps(facts)
    found = read(log, tmp_path)
    assert found.version == "2.4.8"
    assert [task.partition for task in found.attempts[0].tasks] == [0, 1]
    assert [one.attempt for one in found.attempts] == [0, 0]


def test_reasons_of_failures_in_all_their_forms(tmp_path: Path) -> None:
    log = two_stages()
    address = {"Executor ID": "9", "Host": "h", "Port": 1}
    fetch = {"Reason": "FetchFailed", "Shuffle ID": 3, "Reduce ID": 2, "Message": "m"}
    reasons: list[dict[str, Any]] = [
        {"Reason": "ExceptionFailure", "Class Name": "a.B", "Description": "no", "Stack Trace": []},
        {**fetch, "Block Manager Address": None, "Map ID": -1},
        {**fetch, "Block Manager Address": address, "Map ID": 77, "Map Index": 5},
        {"Reason": "ExecutorLostFailure", "Executor ID": "9", "Exit Caused By App": False, "Loss Reason": "gone"},
        {"Reason": "TaskKilled", "Kill Reason": "another attempt succeeded"},
        {"Reason": "Resubmitted"},
        {"Reason": "TaskCommitDenied", "Job ID": 1, "Partition ID": 2, "Attempt Number": 3},
        {"Reason": "TaskResultLost"},
        {"Reason": "UnknownReason"},
        {"Reason": "SomethingNew", "More": 1},
    ]
    for reason in reasons:
        log.task(5, 0, (1, 2), "1", reason=reason)
    tasks = read(log, tmp_path).attempts_of(5)[0].tasks
    why = [tasks.why(row) for row in range(len(tasks))]
    assert [one.reason for one in why if one] == [one["Reason"] for one in reasons]
    assert [one.map_index for one in why if one and one.reason == "FetchFailed"] == [-1, 5]
    assert [one.executor for one in why if one and one.reason == "FetchFailed"] == ["", "9"]
    assert why[0] is not None
    assert why[0].kind == "ExceptionFailure:a.B"
    counted = [one.reason for one in why if one and one.by_app]
    assert not {"ExecutorLostFailure", "TaskKilled", "Resubmitted", "TaskCommitDenied"} & set(counted)


def test_what_is_not_known_is_passed_over_and_noted(tmp_path: Path) -> None:
    log = two_stages()
    log.say("SparkListenerTea", {"Cups": 2})
    log.say("com.example.Listener$Tea", {})
    log.say("SparkListenerTea", {"Cups": 3})
    log.say("SparkListenerTaskGettingResult", {"Task Info": "whatever"})
    found = read(edited(log, "SparkListenerTaskEnd", "New Field", [1, 2]), tmp_path)
    assert found.notes == ("not modelled: 1 event Listener$Tea", "not modelled: 2 events SparkListenerTea")


def test_queries_with_their_changed_plans(tmp_path: Path) -> None:
    log = two_stages()
    sql = "org.apache.spark.sql.execution.ui.SparkListenerSQL"
    start = {
        "executionId": 7,
        "description": "q",
        "physicalPlanDescription": "SortMergeJoin",
        "time": START,
        "modifiedConfigs": {"a": "b"},
    }
    log.say(f"{sql}ExecutionStart", start)
    log.say(f"{sql}AdaptiveExecutionUpdate", {"executionId": 7, "physicalPlanDescription": "BroadcastHashJoin"})
    log.say(f"{sql}ExecutionEnd", {"executionId": 7, "time": START + 9, "errorMessage": "no"})
    query = read(log, tmp_path).sql[7]
    assert (query.plan, query.updates, query.error, query.configs) == ("BroadcastHashJoin", 1, "no", {"a": "b"})


# ------------------------------------------------------------------ logs that are not complete, or damaged


def test_a_packed_log_that_is_cut_off_near_its_end_has_all_before_it(tmp_path: Path) -> None:
    """Short enough for one buffer: what comes before the cut must not go with it."""
    whole = gzip.compress("".join(f"{line}\n" for line in two_stages().lines).encode())
    (tmp_path / "log.gz").write_bytes(whole[:-9])
    found = read_event_log(tmp_path / "log.gz")
    assert found.notes[0].startswith("the log stops early: the compressed data ends in the middle")
    assert len(found.attempts) == 2


def test_a_last_line_that_is_cut_off_is_left_out_and_noted(tmp_path: Path) -> None:
    path = tmp_path / "log.inprogress"
    lines = two_stages().lines
    path.write_text("\n".join(lines[:-1]) + '\n{"Event":"SparkListenerApplica')
    found = read_event_log(path)
    assert found.ended_ms is None
    assert found.notes[0] == f"the log stops early: line {len(lines)} is cut off and was left out"
    assert found.last_ms == START + 5200


def test_tasks_that_run_when_a_log_stops(tmp_path: Path) -> None:
    log = two_stages()
    last = max(place for place, line in enumerate(log.lines) if "TaskStart" in line)
    log.lines = log.lines[: last + 1]
    attempt = read(log, tmp_path).attempts_of(1)[0]
    assert (len(attempt.tasks), len(attempt.running), attempt.running[0].finish_ms) == (0, 1, 0)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("not json", "line 9: not JSON"),
        ("[1]", "line 9: not an event"),
        ('{"Timestamp":1}', "line 9: not an event"),
        ('{"Event":"SparkListenerTaskEnd"}', "line 9, Task Info: this field is missing"),
        ('{"Event":"SparkListenerJobEnd","Job ID":99}', "line 9, Job ID: a job ends that did not start"),
        (
            '{"Event":"SparkListenerUnpersistRDD","RDD ID":true}',
            "line 9, RDD ID: not what Spark writes here, found True",
        ),
        ('{"Event":"SparkListenerUnpersistRDD","RDD ID":1e3}', "line 9, RDD ID"),
        ("[" * 3000, "line 9: not JSON"),
        ('{"Event":"SparkListenerUnpersistRDD","RDD ID":' + "9" * 30 + "}", "line 9"),
    ],
)
def test_a_damaged_line_is_named(line: str, problem: str, tmp_path: Path) -> None:
    log = two_stages()
    log.lines.insert(8, line)
    with pytest.raises(InputError) as caught:
        read(log, tmp_path)
    assert str(caught.value).startswith(f"{tmp_path / 'log'}, {problem}")


@pytest.mark.parametrize(
    ("event", "path", "value"),
    [
        ("SparkListenerTaskEnd", "Task Info/Launch Time", "early"),
        ("SparkListenerTaskEnd", "Task Info/Executor ID", None),
        ("SparkListenerTaskEnd", "Task Info/Task ID", 2**70),
        ("SparkListenerTaskEnd", "Task Info/Launch Time", 5_700_000_005_200),
        ("SparkListenerTaskEnd", "Task Info/Finish Time", -1),
        ("SparkListenerTaskEnd", "Task Info/Index", 2**31),
        ("SparkListenerTaskEnd", "Task Info/Partition ID", -1),
        ("SparkListenerExecutorAdded", "Executor Info/Total Cores", 2**31),
        ("SparkListenerStageSubmitted", "Stage Info/Number of Tasks", 2**31),
        ("SparkListenerTaskEnd", "Task Metrics", []),
        ("SparkListenerTaskEnd", "Task Metrics/Executor Run Time", 1.5),
        ("SparkListenerTaskEnd", "Task Metrics/Executor Run Time", 2**63),
        ("SparkListenerTaskEnd", "Task Metrics/Shuffle Read Metrics", 3),
        ("SparkListenerTaskEnd", "Task End Reason/Reason", 0),
        ("SparkListenerJobStart", "Stage IDs", ["a"]),
        ("SparkListenerJobStart", "Stage Infos", [1]),
        ("SparkListenerStageSubmitted", "Stage Info/Parent IDs", {}),
        ("SparkListenerApplicationStart", "Timestamp", None),
    ],
)
def test_a_field_that_is_not_as_spark_writes_it_is_named(event: str, path: str, value: Any, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read(edited(two_stages(), event, path, value), tmp_path)
    assert caught.value.line is not None
    assert caught.value.field is not None or "not JSON" in caught.value.problem  # a number of no known size


def test_a_time_that_is_null_is_not_said(tmp_path: Path) -> None:
    log = edited(two_stages(), "SparkListenerStageSubmitted", "Stage Info/Submission Time", None)
    assert read(log, tmp_path).name == "made"


def test_an_exclusion_at_a_time_that_is_no_time_is_named(tmp_path: Path) -> None:
    log = two_stages()
    log.say("SparkListenerExecutorExcluded", {"time": None, "Timestamp": "late", "executorId": "1"})
    with pytest.raises(InputError, match="Timestamp"):
        read(log, tmp_path)


def test_what_is_no_event_log_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text('{"Event":"SparkListenerLogStart","Spark Version":"4.0.0"}\n')
    with pytest.raises(InputError, match="no application starts in this log"):
        read_event_log(path)


# ------------------------------------------------------------------ rolling logs


def rolled(folder: Path, names: dict[str, list[str]]) -> Path:
    for name, lines in names.items():
        (folder / name).write_text("".join(f"{line}\n" for line in lines))
    return folder


def test_parts_of_a_rolling_log_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    lines = two_stages().lines
    parts = {f"events_{n}_app": [line] for n, line in enumerate(lines, start=1)}
    folder = rolled(tmp_path, {**parts, "appstatus_app": [], "notes.txt": ["x"]})
    assert is_log_folder(folder)
    assert [Path(file).name for file in log_files(folder)] == [f"events_{n}_app" for n in range(1, len(lines) + 1)]
    assert len(read_event_log(folder).attempts) == 2


def test_a_compact_part_stands_for_all_before_it(tmp_path: Path) -> None:
    lines = two_stages().lines
    old = {"events_1_app": ["damaged"], "events_2_app": ["damaged"]}
    folder = rolled(tmp_path, {**old, "events_2_app.compact": lines[:9], "events_3_app": lines[9:]})
    assert [Path(file).name for file in log_files(folder)] == ["events_2_app.compact", "events_3_app"]
    assert read_event_log(folder).ended_ms == START + 6000


def test_only_the_last_part_may_stop_early(tmp_path: Path) -> None:
    lines = two_stages().lines
    folder = rolled(tmp_path, {"events_1_app": lines[:9], "events_2_app": lines[9:], "events_3_app": []})
    assert read_event_log(folder).ended_ms == START + 6000  # just begun
    (folder / "events_1_app").write_bytes(gzip.compress("\n".join(lines[:9]).encode())[:-9])
    with pytest.raises(InputError, match=r"events_1_app.*damaged gzip data"):
        read_event_log(folder)


@pytest.mark.parametrize(
    ("names", "problem"),
    [
        (["events_1_a", "events_3_a"], "events_3_a after events_1: what is between is missing"),
        (["events_2_a"], "begins with events_2_a: what is before is missing"),
        (["events_1_a", "events_1_b"], "events_1_b twice"),
        (["other"], "no event log in this folder"),
    ],
)
def test_a_rolling_log_with_missing_parts_is_refused(names: list[str], problem: str, tmp_path: Path) -> None:
    rolled(tmp_path, {name: ["{}"] for name in names})
    with pytest.raises(InputError, match=problem):
        log_files(tmp_path)


def test_compressed_parts(tmp_path: Path) -> None:
    whole = read_event_log(GOLDEN / "spark-log-wordcount-1.jsonl.gz")
    for name in ("wordcount.zstd", "wordcount.lz4", "wordcount.snappy", "wordcount-hadoop.snappy"):
        found = read_event_log(ROOT / "tests" / "data" / "spark" / name)
        assert [one.tasks.rows.tolist() for one in found.attempts] == [
            one.tasks.rows.tolist() for one in whole.attempts
        ]
    packed = (ROOT / "tests" / "data" / "spark" / "wordcount.zstd").read_bytes()
    (tmp_path / "app.zstd.inprogress").write_bytes(packed[:-200])
    early = read_event_log(tmp_path / "app.zstd.inprogress")
    assert early.ended_ms is None
    assert early.notes[0].startswith("the log stops early: ")


# ------------------------------------------------------------------ size


def test_a_log_is_not_held_in_memory(tmp_path: Path) -> None:
    """What stays of a task is a row of some 300 bytes, whatever the log says of it."""
    log = two_stages()
    padding = [{"ID": n, "Name": f"internal.metrics.{n}", "Update": n, "Value": n} for n in range(40)]
    for n in range(4_000):
        log.task(9, n, (1, 2), "1")
        facts = json.loads(log.lines[-1])
        facts["Task Info"]["Accumulables"] = padding
        log.lines[-1] = json.dumps(facts)
    path = log.write(tmp_path / "log")
    size = path.stat().st_size
    del log
    tracemalloc.start()
    found = read_event_log(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(found.attempts_of(9)[0].tasks) == 4_000
    assert size > 14_000_000
    assert peak < 6_000_000


def test_the_logs_of_two_applications_in_one_file_are_refused(tmp_path: Path) -> None:
    """All numbers of jobs, stages and tasks begin anew in the second: nothing of it can be told from the first."""
    path = two_stages().write(tmp_path / "log")
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines * 2))
    with pytest.raises(InputError, match="App ID: a second application starts here") as caught:
        read_event_log(path)
    start = next(place for place, line in enumerate(lines, 1) if "SparkListenerApplicationStart" in line)
    assert (caught.value.file, caught.value.line) == (str(path), len(lines) + start)


def test_events_without_end_and_their_long_names_are_told_in_few_words(tmp_path: Path) -> None:
    log = two_stages()
    for number in range(60):
        log.say(f"Own{number:02}", {})
    log.say("x" * 10_000, {})
    notes = [note for note in read(log, tmp_path).notes if note.startswith("not modelled")]
    assert notes[0] == "not modelled: 1 event Own00"
    assert len(notes) == 51
    assert notes[-1] == "not modelled: 11 events of 11 other kinds"
    assert max(map(len, notes)) < 200
