"""Tables of tasks: columns by many names, units said or guessed, and what is refused."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.model.errors import InputError
from gnomon.model.resources import E4, MAX_AMOUNT, NEVER, Resources
from gnomon.model.work import Shape, Task, Work
from gnomon.traces import table
from gnomon.traces.headings import FIELDS, understood

DATA = Path(__file__).parent.parent / "data" / "traces"
S = 10**9


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "tasks.csv"


def read(path: Path, *lines: str) -> Work:
    path.write_text("\n".join(lines) + "\n")
    return table.read(path)


def first(path: Path, header: str, row: str) -> Task:
    return read(path, header, row).task(0)


# ------------------------------------------------------------------ what the columns mean


def test_a_table_becomes_work() -> None:
    work = table.read(DATA / "tasks.csv")
    assert [work.task(row) for row in range(4)] == [
        Task("a", Shape(Resources(2000, 2 * 2**30)), 0, 3600 * S, 7200 * S, "ann", "fast", 5, 4 * 3600 * S),
        Task(
            "b",
            Shape(Resources(500, 512 * 2**20, gpus=1, gpu_share_e4=5000), node_kinds=("A100", "T4")),
            90 * S,
            5400 * S,
            5400 * S,
            "ann",
            "slow",
        ),
        Task(
            "c",
            Shape(Resources(4000, 2**30, gpus=2), node_kinds=("A100",)),
            90 * S + 1,
            NEVER,
            600 * S,
            "bob",
            "fast",
            -3,
        ),
        Task("d", Shape(Resources(1000)), 120 * S, NEVER, 600 * S),
    ]
    assert work.usable.tolist() == [True, True, False, True]  # c is of unknown duration, d runs on
    assert work.recorded_wait_ns.tolist() == [0, 12_500_000_000, -1, -1]


def test_every_name_of_a_field_is_known() -> None:
    for field, names in FIELDS.items():
        for name in names.split():
            found, unknown = understood([name], "a.csv")
            assert not unknown
            assert field in found or (field, name) in {("job", "jobid"), ("job", "job")}  # alone it is the id


@pytest.mark.parametrize(
    ("header", "field", "unit"),
    [
        ("submit_time", "submit", None),
        ("SubmitTime", "submit", None),
        ("Submit Time (s)", "submit", "s"),
        ("submit_ms", "submit", "ms"),
        ("duration [min]", "duration", "m"),
        ("RunTime_hours", "duration", "h"),
        ("walltime", "estimate", None),
        ("ncpus", "cpus", None),
        ("cpu_milli", "cpus", "m"),
        ("memory_gb", "memory", "G"),
        ("memory (GiB)", "memory", "Gi"),
        ("memoryGiB", "memory", "Gi"),
        ("mem_mb", "memory", "M"),
        ("memory_bytes", "memory", "B"),
        ("num_gpus", "gpus", None),
        ("gpu_milli", "gpu_share", "milli"),
        ("gpu_share_percent", "gpu_share", "%"),
        ("gpu_type", "node_kinds", None),
    ],
)
def test_names_and_units(header: str, field: str, unit: str | None) -> None:
    found, unknown = understood([header], "a.csv")
    assert (list(found), found[field].unit, unknown) == ([field], unit, [])


@pytest.mark.parametrize("name", ["colour", "memory_s", "duration (GiB)", "cpu_limit", "", "é", "(s)"])
def test_other_names_are_not_understood(name: str) -> None:
    assert understood([name], "a.csv") == ({}, [name])


def test_the_id_is_the_likeliest_of_several() -> None:
    found, unknown = understood(["name", "job_id", "id"], "a.csv")
    assert (found["id"].name, found["job"].name, unknown) == ("id", "job_id", ["name"])
    assert understood(["job_id"], "a.csv")[0]["id"].name == "job_id"


def test_columns_stand_in_any_order_and_with_any_delimiter(path: Path) -> None:
    expected = Task("x", Shape(Resources(2000)), 5 * S, 60 * S, 60 * S, "ann")
    for delimiter in (",", ";", "\t"):
        header, row = (
            delimiter.join(("user", "cpus", "duration", "id", "submit")),
            delimiter.join("ann 2 60 x 5".split()),
        )
        assert first(path, header, row) == expected


# ------------------------------------------------------------------ values


@pytest.mark.parametrize(
    ("header", "cell", "ns"),
    [
        ("duration", "90", 90 * S),
        ("duration", "1.000000001", S + 1),
        ("duration", "1h30m", 5400 * S),
        ("duration", "1-12:00:00", 129_600 * S),
        ("duration_ms", "1500", 1_500_000_000),
        ("duration_ms", "2s", 2 * S),
        ("duration_min", "1.5", 90 * S),
        ("duration", "never", NEVER),
    ],
)
def test_durations(path: Path, header: str, cell: str, ns: int) -> None:
    assert first(path, header, cell).duration_ns == ns


@pytest.mark.parametrize(
    ("header", "cell", "request_"),
    [
        ("cpus", "2", Resources(cpu_milli=2000)),
        ("cpus", "0.5", Resources(cpu_milli=500)),
        ("cpus", "250m", Resources(cpu_milli=250)),
        ("cpu_milli", "250", Resources(cpu_milli=250)),
        ("memory", "512", Resources(memory_bytes=512 * 2**20)),
        ("memory", "2Gi", Resources(memory_bytes=2 * 2**30)),
        ("memory_gb", "1.5", Resources(memory_bytes=1_500_000_000)),
        ("memory_gb", "1Mi", Resources(memory_bytes=2**20)),
        ("memory", "", Resources()),
        ("gpus", "2", Resources(gpus=2)),
        ("gpus", "0.25", Resources(gpus=1, gpu_share_e4=2500)),
        ("gpu_share", "50%", Resources(gpus=1, gpu_share_e4=5000)),
        ("gpu_share_percent", "12.5", Resources(gpus=1, gpu_share_e4=1250)),
        ("gpu_milli", "460", Resources(gpus=1, gpu_share_e4=4600)),
        ("gpu_milli", "0", Resources()),
    ],
)
def test_sizes(path: Path, header: str, cell: str, request_: Resources) -> None:
    assert first(path, f"duration,{header}", f"1,{cell}").shape.request == request_


def test_devices_and_the_share_of_each(path: Path) -> None:
    work = read(path, "duration,gpus,gpu_share", "1,1,0.5", "1,4,", "1,4,1", "1,0,0")
    requests = [work.task(row).shape.request for row in range(4)]
    assert [(r.gpus, r.gpu_share_e4) for r in requests] == [(1, 5000), (4, E4), (4, E4), (0, E4)]


def test_dates_count_from_the_first_one(path: Path) -> None:
    work = read(
        path,
        "submitted,started,finished",
        "2024-05-31T12:00:00Z,2024-05-31T12:00:30.5Z,2024-05-31 13:00:30.500000001",
        "2024-05-31T13:59:00+02:00,,",
        "2024-06-01,2024-06-01,never",
    )
    assert work.submit_ns.tolist() == [0, -60 * S, 43_200 * S]
    assert work.recorded_wait_ns.tolist() == [30_500_000_000, -1, 0]
    assert work.duration_ns.tolist() == [3_600 * S + 1, NEVER, NEVER]
    assert work.usable.tolist() == [True, False, True]


def test_dates_of_a_database_are_times_too(path: Path) -> None:
    row = "2024-05-31T12:00:00Z,2024-05-31T12:00:05Z,2024-05-31T12:01Z"
    work = read(path, "submitted_at,startedAt,finished_at", row)
    assert (work.recorded_wait_ns.tolist(), work.duration_ns.tolist()) == ([5 * S], [55 * S])


def test_start_and_end_stand_for_duration_and_wait(path: Path) -> None:
    work = read(path, "submit,start,end", "10,15,40", "10,10,10", "-5,0,1")
    assert work.submit_ns.tolist() == [10 * S, 10 * S, -5 * S]
    assert work.duration_ns.tolist() == [25 * S, 0, S]
    assert work.recorded_wait_ns.tolist() == [5 * S, 0, 5 * S]


def test_jobs_of_several_tasks(path: Path) -> None:
    work = read(path, "id,job,duration", "a,x,1", "b,x,1", "c,,1")
    assert [work.job_name(row) for row in range(3)] == ["x", "x", "c"]


def test_numbers_as_ids_become_an_array(path: Path) -> None:
    assert isinstance(read(path, "id,duration", "7,1", "3,1").ids, np.ndarray)
    assert list(read(path, "id,duration", "07,1", "3,1").ids) == ["07", "3"]
    assert list(read(path, "duration", "1", "1").ids) == [1, 2]


# ------------------------------------------------------------------ notes


def test_what_is_guessed_or_missing_is_noted(path: Path) -> None:
    work = read(path, "ident,run_time,mem,walltime_h", "a,60,512,", "b,1h,1Gi,2", "c,,0,2")
    assert [(note.what, note.field, note.text, note.count) for note in work.notes] == [
        ("not modelled", "ident", "a column of no known name", 3),
        ("guess", "columns", "run_time is the duration; mem is the memory; walltime_h is the estimate", 1),
        ("guess", "run_time", "numbers without a unit are seconds", 1),
        ("guess", "mem", "numbers without a unit are MiB", 1),
        ("default", "run_time", "unknown: the task cannot run, and is listed as rejected", 1),
        ("default", "walltime_h", "unknown: the duration stands for it", 1),
        ("default", "sizes", "nothing is asked for: such a task takes no room", 1),
        ("default", "submit", "no such column: all arrive at 0", 3),
    ]
    ends = read(path, "submit,start,end", "5,,", "5,6,")
    assert [(n.field, n.text, n.count) for n in ends.notes if n.what == "default"] == [
        ("start", "unknown: the task cannot run, and is listed as rejected", 1),
        ("end", "unknown: the task cannot run, and is listed as rejected", 2),
        ("cpus", "no such column: one processor each", 2),
    ]
    weightless = read(path, "submit,duration_s,cpus", "0,1,", "0,1,0", "0,1,1")
    assert [(n.field, n.count) for n in weightless.notes if n.what == "default"] == [("sizes", 2)]
    bare = read(path, "submit_s,duration_s", "1,1")
    assert [note.text for note in bare.notes] == ["no such column: one processor each"]
    assert bare.task(0).shape.request == Resources(cpu_milli=1000)


# ------------------------------------------------------------------ what is refused


@pytest.mark.parametrize(
    ("lines", "error"),
    [
        (("id,cpus,submit", "a,1,0"), "line 1: no column says how long a task runs, found 'id, cpus, submit'"),
        (("duration,runtime", "1,1"), "line 1: two columns for the duration, found 'duration, runtime'"),
        (("duration,duration", "1,1"), "line 1: this column is there twice"),
        (("duration,cpus",), "no task in the file"),
        (("duration,cpus", "1"), "line 2: wrong number of columns"),
        (("duration,cpus", "1,1,1"), "line 2: wrong number of columns"),
        (
            ("duration,cpus", "1,-2"),
            "line 2, cpus: not a number of CPUs (as in 2, 1.5, 500m): it is below zero, found '-2'",
        ),
        (("duration,cpus", "nan,2"), "line 2, duration: not a duration"),
        (("duration,cpus", "1e400,2"), "line 2, duration: not a duration"),
        (("duration,cpus", f"{'9' * 400},2"), "line 2, duration: not a duration"),
        (("duration,cpus", "-2,2"), "line 2, duration: not a duration"),
        (("duration,memory", "1,2Gj"), "line 2, memory: not an amount of memory"),
        (("duration,gpus", "1,1.5"), "line 2: gpus: a whole number, or a part of one device, found 'gpus 1.5'"),
        (("duration,gpus,gpu_share", "1,2,0.5"), "line 2: gpu share: a part of a device can be asked of one device"),
        (("duration,gpus,gpu_share", "1,0,0.5"), "line 2: gpu share: a share of no device"),
        (("duration,gpu_share", "1,1.5"), "line 2, gpu_share: not a share"),
        (("duration,gpu_milli", "1,1001"), "line 2, gpu_milli: not a share in 1/1000"),
        (("duration,priority", "1,high"), "line 2, priority: not a whole number, found 'high'"),
        (("id,duration", "a,1", "a,1"), "line 3: the name of line 2 again, found 'a'"),
        (("id,duration", ",1"), "line 2, id: a task without a name"),
        (("submit,duration", ",1"), "line 2, submit: no submit time"),
        (("submit,duration", "never,1"), "line 2, submit: no submit time"),
        (("submit,duration", "2024-01-01,1", "7,1"), "line 3, submit: no date among dates"),
        (("submit,duration", "7,1", "2024-01-01,1"), "line 3, submit: a date among numbers"),
        (("submit,duration", "2024-13-01,1"), "line 2, submit: not a date"),
        (("submit,duration", "2024-01-01T00:00:00.0000000001,1"), "line 2, submit: a date is at most as fine as"),
        (("submit,duration", "0001-01-01,1", "9999-01-01,1"), "line 3, submit: more than 73 years from the first date"),
        (("submit,start,end", "0,5,4"), "line 2, end: before the start"),
        (("submit,start,end", "5,4,6"), "line 2, start: before the submit time"),
        (("1,2,3", "1,2,3"), "line 1: the first line holds numbers"),
    ],
)
def test_tables_at_fault(path: Path, lines: tuple[str, ...], error: str) -> None:
    with pytest.raises(InputError) as caught:
        read(path, *lines)
    assert str(caught.value).startswith(str(path))
    assert error in str(caught.value)


# ------------------------------------------------------------------ writing

names = st.text("abcXYZ019 ,;\"'é|-", max_size=6).map(str.strip)
times = st.integers(0, 10**17)


@st.composite
def tasks(draw: st.DrawFn, row: int) -> Task:
    gpus = draw(st.integers(0, 8))
    share = draw(st.integers(1, E4)) if gpus == 1 else E4
    request = Resources(draw(st.integers(0, 10**6)), draw(st.integers(0, MAX_AMOUNT)), gpus, share)
    kinds = tuple(sorted(draw(st.sets(st.sampled_from(["T4", "A100", "G2"])))))
    duration = draw(times | st.just(NEVER))
    return Task(
        f"task {row}",
        Shape(request, kinds),
        draw(st.integers(-(10**12), 10**17)),
        duration,
        draw(st.none() | times),
        draw(names),
        draw(names),
        draw(st.integers(-9, 9)),
        draw(times | st.just(NEVER)),
        draw(st.sampled_from(["", "x", "y"])),
    )


@pytest.mark.property
@given(st.data(), st.integers(1, 4), st.sampled_from([".csv", ".csv.gz"]))
def test_what_is_written_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, count: int, suffix: str
) -> None:
    path = tmp_path_factory.mktemp("written") / f"tasks{suffix}"
    work = Work.from_tasks([data.draw(tasks(row)) for row in range(count)])
    assert table.write(work, path) == ()
    again = table.read(path)
    assert [again.task(row) for row in range(count)] == [work.task(row) for row in range(count)]
    assert not any(note.what == "guess" for note in again.notes)


def test_waits_and_unknown_durations_are_written(path: Path) -> None:
    work = table.read(DATA / "tasks.csv")
    table.write(work, path, waits_ns=np.array([S, -1, NEVER, 0]))
    again = table.read(path)
    assert again.recorded_wait_ns.tolist() == [S, -1, -1, 0]
    assert again.usable.tolist() == work.usable.tolist()


def test_what_a_table_cannot_say_is_noted(path: Path) -> None:
    shape = Shape(Resources(named=(("licence", E4),)), node_labels=(("zone", "a"),))
    notes = table.write(Work.from_tasks([Task("a", shape), Task("b")]), path)
    assert [(note.field, note.count) for note in notes] == [("resources", 1), ("nodes", 1)]
