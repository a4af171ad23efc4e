"""Standard Workload Format: what each field becomes, what is refused, and that nothing is left out silently."""

import gzip
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from gnomon.model.errors import InputError
from gnomon.model.resources import NEVER, Resources
from gnomon.model.work import Shape, Work
from gnomon.traces import swf, swf_fields
from tests.shared import SHARED, needs_shared

DATA = Path(__file__).parent.parent / "data" / "traces"
NAMES = "number submit wait run allocated cpu memory_used requested estimate memory status user group executable queue"
S = 10**9

Log = Callable[..., Path]


def job(**fields: object) -> str:
    """A job line: what is not given is unknown, except what every job has."""
    values = {"number": 1, "submit": 0, "run": 100, "allocated": 4, "status": 1} | fields
    return " ".join([*(str(values.get(name, -1)) for name in NAMES.split()), "-1 -1 -1"])


@pytest.fixture
def log(tmp_path: Path) -> Log:
    """Writes lines as a job log."""

    def written(*lines: str, end: str = "\n") -> Path:
        path = tmp_path / "log.swf"
        path.write_bytes("".join(line + end for line in lines).encode())
        return path

    return written


def texts(work: Work, what: str) -> dict[str, int]:
    return {note.field: note.count for note in work.notes if note.what == what}


# ------------------------------------------------------------------ what the fields become


def test_a_log_becomes_work() -> None:
    work = swf.read(DATA / "small.swf")
    assert [work.id(row) for row in range(4)] == ["1", "2", "4", "5"]
    assert [work.shapes[shape].request.cpu_milli for shape in work.shape] == [8000, 4000, 16000, 2000]
    assert work.submit_ns.tolist() == [0, 10 * S, 10 * S, 25 * S]
    assert work.duration_ns.tolist() == [100 * S, 60 * S, NEVER, 40 * S]
    assert work.estimate_ns.tolist() == [600 * S, 60 * S, 300 * S, 20 * S]
    assert [work.users[user] for user in work.user] == ["3", "12", "3", ""]
    assert [work.queues[queue] for queue in work.queue] == ["1", "0", "1", ""]
    assert work.recorded_wait_ns.tolist() == [5 * S, -1, 30 * S, 0]
    assert work.usable.tolist() == [True, True, False, True]
    assert work.processors == 128
    assert work.source.endswith("small.swf")


@pytest.mark.parametrize(
    ("size", "requested", "allocated", "expected"),
    [
        ("requested", 8, 4, 8),
        ("requested", -1, 4, 4),
        ("requested", 0, 4, 4),
        ("allocated", 8, 4, 4),
        ("allocated", 8, -1, 8),
        ("max", 8, 4, 8),
        ("max", -1, 4, 4),
    ],
)
def test_the_number_of_processors(log: Log, size: swf.Size, requested: int, allocated: int, expected: int) -> None:
    work = swf.read(log(job(requested=requested, allocated=allocated)), size=size)
    assert work.shapes == (Shape(Resources(cpu_milli=expected * 1000)),)


@pytest.mark.parametrize(
    ("fields", "usable", "duration_ns", "estimate_ns"),
    [
        ({"run": 50, "estimate": 70}, True, 50 * S, 70 * S),
        ({"run": 90, "estimate": 70}, True, 90 * S, 70 * S),  # the reader does not clip
        ({"run": 50, "estimate": -1}, True, 50 * S, 50 * S),
        ({"run": 50, "estimate": 0}, True, 50 * S, 50 * S),
        ({"run": 0}, True, 0, 0),
        ({"run": -1, "estimate": 70, "status": 5}, False, NEVER, 70 * S),
        ({"run": -1}, False, NEVER, NEVER),
        ({"allocated": -1}, False, 100 * S, 100 * S),
        ({"allocated": 0}, False, 100 * S, 100 * S),
        ({"run": 50, "status": 5}, True, 50 * S, 50 * S),  # cancelled while it ran
    ],
)
def test_what_can_run_and_for_how_long(
    log: Log, fields: dict[str, int], usable: bool, duration_ns: int, estimate_ns: int
) -> None:
    work = swf.read(log(job(**fields)))
    assert (work.usable[0], work.duration_ns[0], work.estimate_ns[0]) == (usable, duration_ns, estimate_ns)


@pytest.mark.parametrize(
    ("written", "ns"),
    [
        ("12", 12 * S),
        ("0.1", 100_000_000),
        ("12.5", 12_500_000_000),
        ("1.000000001", 1_000_000_001),
        ("4194303.999999999", 4_194_303_999_999_999),
        ("40000000.123456789", 40_000_000_123_456_789),
        ("0.0000000005", 0),  # half a nanosecond, to the even neighbour
        ("0.0000000015", 2),
        ("1e3", 1_000 * S),
        ("+7", 7 * S),
        (".5", 500_000_000),
        ("-3", -3 * S),
    ],
)
@pytest.mark.parametrize("extension", ["", " 1"])
def test_times_are_exact(log: Log, written: str, ns: int, extension: str) -> None:
    """Also when one line has an extension and the block has to be read line by line."""
    work = swf.read(log(job(submit=written), job(number=2) + extension))
    assert work.submit_ns[0] == ns


def test_memory_is_a_request_only_when_asked_for(log: Log) -> None:
    path = log(job(allocated=4, memory=2048), job(number=2, allocated=4))
    pool, nodes = swf.read(path), swf.read(path, memory=True)
    assert [shape.request.memory_bytes for shape in pool.shapes] == [0]
    assert texts(pool, "not modelled") == {"field 10 (requested memory)": 1}
    assert [nodes.shapes[shape].request.memory_bytes for shape in nodes.shape] == [4 * 2048 * 1024, 0]
    assert texts(nodes, "not modelled") == {}


def test_partial_executions_are_left_out_and_counted(log: Log) -> None:
    work = swf.read(log(job(number=3, status=1), job(number=3, status=2), job(number=3, status=3), job(number=4)))
    assert work.ids.tolist() == [3, 4]  # type: ignore[union-attr]
    assert texts(work, "not modelled") == {"field 11 (status)": 2}


def test_submit_times_may_go_backwards(log: Log) -> None:
    work = swf.read(log(job(number=1, submit=20), job(number=2, submit=-5), job(number=3, submit=7)))
    assert work.submit_ns.tolist() == [20 * S, -5 * S, 7 * S]
    assert sorted(note.count for note in work.notes if "submit" in note.field) == [1, 1]


def test_what_is_below_zero_and_not_unknown_is_noted(log: Log) -> None:
    work = swf.read(log(job(wait=-7, requested=-5, allocated=4), job(number=2, requested=-1)))
    assert work.recorded_wait_ns[0] == -1
    assert texts(work, "default")["field 3 (wait time)"] == 1
    assert texts(work, "default")["field 8 (requested processors)"] == 1


def test_what_is_not_modelled_is_counted() -> None:
    assert texts(swf.read(DATA / "small.swf"), "not modelled") == {
        "field 6 (average CPU time used)": 1,
        "field 7 (used memory)": 1,
        "field 10 (requested memory)": 1,
        "field 13 (group)": 3,
        "field 14 (executable)": 1,
        "field 16 (partition)": 1,
        "field 17 (preceding job)": 1,
        "field 18 (think time)": 1,
    }


def test_extensions_are_noted(log: Log) -> None:
    work = swf.read(log(job(), job(number=2) + " 7 8", job(number=3) + " -1"))
    assert len(work) == 3
    assert texts(work, "not modelled") == {"fields from 19 on": 1}


# ------------------------------------------------------------------ the file


def test_the_header_is_kept() -> None:
    header = swf.read_header(DATA / "small.swf")
    assert header.values("Queue") == ("0  interactive", "1  batch")
    assert header.values("UnixStartTime") == ("1000000000",)
    assert "A comment without a key" in header.lines
    assert header.values("Absent") == ()


@pytest.mark.parametrize(
    ("lines", "processors"),
    [
        (("MaxNodes: 32", "MaxProcs: 128"), 128),
        (("MaxNodes: 32",), 32),
        (("MaxProcs: 338 (in 4 parts)",), 338),
        (("MaxProcs: many", "MaxNodes: 32"), 32),
        (("MaxProcs: -1",), None),
        (("MaxProcs: " + "9" * 400,), None),
        ((), None),
    ],
)
def test_the_size_of_the_machine(lines: tuple[str, ...], processors: int | None) -> None:
    assert swf.Header(lines).processors == processors


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\n\n", " ; a remark\n", "\t \n"])
def test_line_ends_and_comments(log: Log, end: str) -> None:
    work = swf.read(log("; MaxProcs: 9", job(), job(number=2), end=end))
    assert work.ids.tolist() == [1, 2]  # type: ignore[union-attr]
    assert work.processors == 9


def test_headers_in_old_and_new_encodings(tmp_path: Path) -> None:
    path = tmp_path / "log.swf"
    for encoding in ("latin-1", "utf-8", "utf-8-sig"):
        path.write_bytes(f"; Installation: Umeå\n{job()}\n".encode(encoding))
        assert swf.read_header(path).values("Installation") == ("Umeå",)


def test_gzip_is_known_by_its_content(log: Log) -> None:
    path = log(job(), job(number=2))
    path.write_bytes(gzip.compress(path.read_bytes()))
    assert len(swf.read(path)) == 2


def test_blocks_join_without_a_seam(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [job(number=number, submit=number) for number in range(1, 60)]
    whole = swf.read(log(*lines))
    monkeypatch.setattr(swf_fields, "_BLOCK_CHARACTERS", 64)
    parts = swf.read(log(*lines))
    for name in ("ids", "submit_ns", "duration_ns", "shape", "user"):
        np.testing.assert_array_equal(getattr(whole, name), getattr(parts, name))


# ------------------------------------------------------------------ what is refused


@pytest.mark.parametrize(
    ("line", "error"),
    [
        (job() + "x", "line 3, field 18 (think time): not a number, found '-1x'"),
        (
            job(run="ten"),
            "line 3, field 4 (run time): not a number, found 'ten'; allowed: a decimal number, -1 for unknown",
        ),
        (job(user="nan"), "line 3, field 12 (user): not a number, found 'nan'"),
        (job(cpu="inf"), "line 3, field 6 (average CPU time used): not a number, found 'inf'"),
        (job(submit="1_000"), "line 3, field 2 (submit time): not a number, found '1_000'"),
        (job(submit="1e400"), "line 3, field 2 (submit time): out of bounds, found '1e400'"),
        (job(submit="1e99999999999999999999"), "line 3, field 2 (submit time): out of bounds"),
        (job(submit="1" + "0" * 400), "line 3, field 2 (submit time): out of bounds"),
        (job(estimate=2305843010), "allowed: from -2305843009 to 2305843009"),
        (job(requested=2**53 // 1000 + 1), "line 3, field 8 (requested processors): out of bounds"),
        (job(number=2**60), "line 3, field 1 (job number): out of bounds"),
        (job(requested=1.5), "line 3, field 8 (requested processors): not a whole number, found '1.5'"),
        ("1 2 3", "line 3: wrong number of fields in a job line, found 3; allowed: from 18 to 100"),
        (job() + " 1" * 100_000, "line 3: wrong number of fields in a job line, found 100018"),
        (job(number=7), "line 3, field 1 (job number): the job number of line 2 again, found 7"),
        (job() + " \0", "line 3, field 19 (extension): not a number, found '\\x00'"),
    ],
)
def test_a_line_at_fault_is_named(log: Log, line: str, error: str) -> None:
    path = log("; Version: 2.2", job(number=7), line)
    with pytest.raises(InputError) as caught:
        swf.read(path)
    assert str(caught.value).startswith(f"{path}, line 3")
    assert error in str(caught.value)


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (b"", "the file is empty"),
        (b"\n\n", "no job in the file"),
        (b"; Version: 2.2\n", "no job in the file"),
        (job(status=2).encode(), "no job in the file, found '1 lines of partial executions'"),
        (gzip.compress(job().encode(), mtime=0)[:-9], "damaged gzip data"),
        (bytes(range(128, 256)), "line 1"),
    ],
)
def test_a_file_at_fault_is_named(tmp_path: Path, content: bytes, error: str) -> None:
    path = tmp_path / "log.swf"
    path.write_bytes(content)
    with pytest.raises(InputError, match=error):
        swf.read(path)


def test_a_missing_file_and_a_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        swf.read(tmp_path / "absent.swf")
    with pytest.raises(InputError, match="a folder"):
        swf.read(tmp_path)


def test_too_much_memory(log: Log) -> None:
    with pytest.raises(InputError, match="requested memory"):
        swf.read(log(job(memory=2**52)), memory=True)


def test_a_misspelt_size(log: Log) -> None:
    with pytest.raises(InputError, match="did you mean 'requested'"):
        swf.read(log(job()), size="request")  # type: ignore[arg-type]


# ------------------------------------------------------------------ real logs


@pytest.mark.parametrize(
    ("name", "processors", "lines", "no_estimate", "no_wait", "memory"),
    [
        ("KTH-SP2-1996-2.1-cln-head", 100, 126, 0, 0, 0),
        ("HPC2N-2002-2.2-cln-head", 240, 119, 0, 0, 0),
        ("NASA-iPSC-1993-3.1-cln-head", 128, 118, 118, 118, 0),
    ],
)
def test_the_first_lines_of_real_logs(
    name: str, processors: int, lines: int, no_estimate: int, no_wait: int, memory: int
) -> None:
    work = swf.read(DATA / f"{name}.swf")
    assert (work.processors, len(work)) == (processors, lines)
    assert texts(work, "default").get("field 9 (requested time)", 0) == no_estimate
    assert int((work.recorded_wait_ns < 0).sum()) == no_wait
    assert texts(work, "not modelled").get("field 10 (requested memory)", 0) == memory


PWA = [
    # log, processors, job lines, run time -1, run time 0, no estimate, no wait time, run time > estimate
    ("SDSC-SP2-1998-4.2-cln", 128, 59_715, 5_671, 10, 66, 0, 4_134),
    ("KTH-SP2-1996-2.1-cln", 100, 28_476, 0, 8, 0, 0, 475),
    ("HPC2N-2002-2.2-cln", 240, 202_871, 0, 0, 0, 1, 14_817),
    ("LANL-CM5-1994-4.1-cln", 1024, 122_060, 0, 2, 11_290, 3, 40_180),
    ("NASA-iPSC-1993-3.1-cln", 128, 18_239, 0, 173, 18_239, 18_239, 0),
]


@needs_shared
@pytest.mark.parametrize(("name", "processors", "jobs", "unknown", "zero", "open_ended", "no_wait", "over"), PWA)
def test_the_archive_logs_hold_what_their_description_counts(
    name: str, processors: int, jobs: int, unknown: int, zero: int, open_ended: int, no_wait: int, over: int
) -> None:
    assert SHARED is not None
    work = swf.read(SHARED / "traces" / "pwa" / f"{name}.swf.gz")
    defaults = texts(work, "default")
    assert (work.processors, len(work)) == (processors, jobs)
    assert defaults.get("field 4 (run time)", 0) == unknown == int((work.duration_ns == NEVER).sum())
    assert int((work.duration_ns == 0).sum()) == zero
    assert defaults.get("field 9 (requested time)", 0) == open_ended
    assert int((work.recorded_wait_ns < 0).sum()) == no_wait
    ran = work.duration_ns < NEVER
    assert int((work.duration_ns[ran] > work.estimate_ns[ran]).sum()) == over
    assert np.all(np.diff(work.submit_ns) >= 0)
