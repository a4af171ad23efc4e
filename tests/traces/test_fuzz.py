"""Whatever a file holds, a reader gives the work that is in it or an InputError, and drops no line silently."""

import csv
import gzip
import io
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon import traces
from gnomon.model.errors import InputError
from gnomon.model.resources import MAX_TIME_NS, NEVER
from gnomon.model.work import Work
from gnomon.traces import swf_fields

pytestmark = pytest.mark.property

DATA = Path(__file__).parent.parent / "data" / "traces"
VALID = {
    name: (DATA / file).read_bytes()
    for name, file in {
        "swf": "small.swf",
        "openb-tasks": "openb-tasks.csv",
        "openb-nodes": "openb-nodes.csv",
        "csv": "tasks.csv",
    }.items()
}
NASTY = [
    *(b"nan", b"inf", b"1e400", b"-1", b"0", b"1.5", b"9" * 400, b"1e-999999999", b"1_0", b"0x10", b"-", b"+"),
    *(b";", b",", b" ", b"\t", b"\r", b"\n", b"\r\n", b"\n\n", b'"', b"'", b"|", b"%", b"never", b"2024-02-30"),
    *(b"\0", b"\xff", b"\xef\xbb\xbf", "٣".encode(), b"\xa0", b"\x0b", b"\x1c", b"\xe2\x80\xa8", b"\x1f\x8b"),
]


@st.composite
def damaged(draw: st.DrawFn, content: bytes) -> bytes:
    """A valid file with some of its bytes taken out, doubled or replaced."""
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(content)))
        end = min(len(content), start + draw(st.integers(0, 12)))
        piece = draw(st.sampled_from(NASTY) | st.binary(max_size=4) | st.just(content[start:end] * 2))
        content = content[:start] + piece + content[end:]
    return content


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Callable[[bytes], Path]:
    path = tmp_path_factory.mktemp("fuzz") / "file"

    def written(content: bytes) -> Path:
        path.write_bytes(content)
        return path

    return written


def attempt(path: Path, name: str) -> Work | None:
    """The work, None for an InputError (with a text of one line) or a cluster; anything else fails the test."""
    try:
        if name == "openb-nodes":
            traces.read_cluster(path, format=name)
            return None
        return traces.read_work(path, format=name)
    except InputError as error:
        text = str(error)
    assert text.startswith(str(path))
    assert "\n" not in text
    return None


def check(work: Work) -> None:
    """What every reader promises of its columns."""
    assert len({work.id(row) for row in range(len(work))}) == len(work) > 0
    assert np.abs(work.submit_ns).max() <= MAX_TIME_NS
    for column in (work.duration_ns, work.estimate_ns, work.deadline_ns):
        assert np.all((column == NEVER) | ((column >= 0) & (column <= MAX_TIME_NS)))
    assert work.recorded_wait_ns.min() >= -1
    for index, table in ((work.shape, work.shapes), (work.user, work.users), (work.queue, work.queues)):
        assert 0 <= index.min() <= index.max() < len(table)
        assert len(set(table)) == len(table)


@given(content=st.binary(max_size=400), name=st.sampled_from(list(VALID)), packed=st.booleans())
def test_any_bytes(file: Callable[[bytes], Path], content: bytes, name: str, packed: bool) -> None:
    path = file(gzip.compress(content) if packed else content)
    work = attempt(path, name)
    if work is not None:
        check(work)
    with suppress(InputError):
        assert traces.detect(path) in (None, *VALID)


@given(content=st.text("0123456789.-e+;\n ", max_size=300))
def test_any_numbers_as_a_job_log(file: Callable[[bytes], Path], content: str) -> None:
    attempt(file(content.encode()), "swf")


@given(content=damaged(VALID["swf"]))
def test_damaged_job_logs(file: Callable[[bytes], Path], content: bytes) -> None:
    work = attempt(file(content), "swf")
    if work is None:
        return
    check(work)
    text = content.decode("latin-1").replace("\r\n", "\n").replace("\r", "\n")
    lines = [
        line
        for line in text.split("\n")
        if line.partition(";")[0].strip("\ufeffï»¿ \t\x0b\x0c\x1c\x1d\x1e\x1f\x85\xa0")
    ]
    skipped = sum(note.count for note in work.notes if note.field == "field 11 (status)")
    assert len(work) + skipped == len(lines)


@given(data=st.data(), name=st.sampled_from(["openb-tasks", "csv"]))
def test_damaged_tables(file: Callable[[bytes], Path], data: st.DataObject, name: str) -> None:
    content = data.draw(damaged(VALID[name]))
    work = attempt(file(content), name)
    if work is None:
        return
    check(work)
    text = content.decode("utf-8-sig").replace("\r\n", "\n")
    records = [cells for cells in csv.reader(io.StringIO(text.lstrip("\n"), newline="")) if cells]
    assert len(work) == len(records) - 1


@given(content=damaged(VALID["openb-nodes"]))
def test_damaged_node_lists(file: Callable[[bytes], Path], content: bytes) -> None:
    attempt(file(content), "openb-nodes")


whole = st.one_of(st.integers(-2, 10**6).map(str), st.sampled_from(["+5", "5.", "1e3", "7.0"]))
short = st.decimals(-3, 2**22, places=9).map(str)
long = st.one_of(st.integers(0, 2 * 10**9).map(str), st.decimals(0, 2 * 10**9, places=9).map(str))
odd = st.sampled_from(["1.5", "nan", "inf", "1e400", "9007199254740993", "4194304.000000001", "2305843010", "x"])
line = st.tuples(*(st.one_of(whole, short) if field in swf_fields.LOOSE else whole for field in range(19)))


@st.composite
def job_lines(draw: st.DrawFn) -> str:
    """A few job lines of 18 or 19 fields, most of them in order, with times of one kind in each column."""
    width = draw(st.sampled_from([18, 18, 19]))
    kinds = {field: draw(st.sampled_from([whole, short, long])) for field in swf_fields.TIMES}
    lines = []
    for _ in range(draw(st.integers(1, 3))):
        cells = list(draw(line))[:width]
        for field, kind in kinds.items():
            cells[field] = draw(kind)
        if draw(st.integers(0, 9)) == 0:
            cells[draw(st.integers(0, width - 1))] = draw(odd)
        lines.append(" ".join(cells))
    return "\n".join(lines) + "\n"


@given(job_lines())
def test_the_fast_way_means_what_the_careful_one_says(text: str) -> None:
    fast = swf_fields._fast(text)
    if fast is not None:
        np.testing.assert_array_equal(fast, swf_fields._careful(text, "log", 1))
