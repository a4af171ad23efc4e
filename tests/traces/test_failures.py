"""Traces of failures: what is read of them, and what faults they become."""

import gzip
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.model.cluster import Cluster, Node
from gnomon.model.errors import InputError
from gnomon.model.fault import Failure, Fault
from gnomon.model.resources import NEVER, NOTHING
from gnomon.model.work import Note
from gnomon.traces.failures import FORMATS, Outages, detect, failures_of, notes_of, read
from tests.shared import SHARED, needs_shared

DATA = Path(__file__).parent.parent / "data" / "traces"
LANL, GOOGLE = DATA / "lanl-failures.csv", DATA / "google-machine-events.csv"
S = 10**9
MINUTE, DAY = 60 * S, 86_400 * S


def rows(outages: Outages) -> list[tuple[str, int, int, str]]:
    columns = zip(outages.node, outages.begin_ns, outages.end_ns, outages.cause, strict=True)
    return [
        (outages.names[node], int(begin), int(end), outages.causes[cause].partition(":")[0])
        for node, begin, end, cause in columns
    ]


def counts(notes: tuple[Note, ...]) -> dict[str, int]:
    """How often each note's text, up to its colon, is said."""
    return {note.text.partition(":")[0]: note.count for note in notes}


def nodes(count: int) -> Cluster:
    return Cluster(tuple(Node(f"n{i}", NOTHING) for i in range(count)))


def intervals(folder: Path, rows: list[tuple[int, int, int]], watched: str = "4,0,100\n9,10,100\n") -> Path:
    """A Parquet file of down intervals with its list of nodes."""
    columns = dict(zip(("node_id", "start", "stop"), zip(*rows, strict=True), strict=True))
    pq.write_table(pa.table(columns), folder / "down.parquet")
    (folder / "nodes.csv").write_text(f"node_id,first_s,last_s\n{watched}")
    return folder / "down.parquet"


# ------------------------------------------------------------------ readers


def test_lanl() -> None:
    """Counted from December 2001, the month of production; an outage takes its Down Time (that of the night in which
    the clock was put on differs from the dates)."""
    outages = read(LANL, system=20)
    first = DAY + 10 * MINUTE
    spring = (31 + 31 + 28 + 30) * DAY + (23 * 60 + 30) * MINUTE
    assert rows(outages) == [
        ("0", first, first + 60 * MINUTE, "Hardware"),
        ("0", first + 30 * MINUTE, first + 120 * MINUTE, "Undetermined"),
        ("2", first + 20 * MINUTE, first + 20 * MINUTE, ""),
        ("2", spring, spring + 30 * MINUTE, "Hardware"),
    ]
    assert outages.names == ("0", "1", "2")
    assert (outages.records, outages.window_ns) == (6, spring + 30 * MINUTE)
    assert counts(outages.notes) == {
        "failures of systems other than 20": 2,
        "not Prob Started and Down Time together": 1,
        "local times": 4,
    }


def test_lanl_without_a_system_is_that_with_most_failures() -> None:
    assert len(read(LANL)) == 4
    assert counts(read(LANL).notes)["the system with most failures, 20"] == 2


def test_lanl_counts_from_the_first_failure_where_production_is_unknown() -> None:
    assert rows(read(LANL, system=7)) == [("0", 0, 60 * MINUTE, "Software")]


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        ("12/2/2001 0:40", "2/30/2001 0:40", "line 3, Prob Started: not a date, found '2/30/2001 0:40'"),
        ("12/2/2001 2:10", "12/1/2001 2:10", "line 3, Prob Fixed: before the failure began"),
        (",90,", ",x,", "line 3, Down Time: not a whole number"),
        (",90,", ",999999999,", "line 3, Down Time: too large"),
        (",90,", ",", "line 3: wrong number of columns"),
        ("Down Time", "Time", "line 1: the column 'Down Time' is missing"),
        ("20,cluster,3", "20.5,cluster,3", "line 2, System: not a whole number"),
    ],
)
def test_lanl_rows_at_fault(tmp_path: Path, old: str, new: str, error: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text(LANL.read_text().replace(old, new))
    with pytest.raises(InputError) as caught:
        read(path, format="lanl-failures", system=20)
    assert error in str(caught.value)


def test_lanl_systems_without_failures_or_nodes() -> None:
    with pytest.raises(InputError, match="system: no failure of this system, found 3; allowed: 7, 17, 20"):
        read(LANL, system=3)
    with pytest.raises(InputError, match="system: its failures name no nodes, found 17"):
        read(LANL, system=17)


def test_google() -> None:
    outages = read(GOOGLE)
    assert rows(outages) == [
        ("5", 60 * S, 100 * S, "removed"),
        ("7", 120 * S, 120 * S, "removed"),
        ("6", 150 * S, NEVER, "removed"),
    ]
    assert outages.names == ("5", "6", "7")
    assert outages.first_ns.tolist() == [0, 0, 80 * S]
    assert (outages.window_ns, outages.records) == (200 * S, 10)
    assert counts(outages.notes) == {
        "changes of a machine's capacity (UPDATE)": 2,
        "times with an exponent, as a spreadsheet rounds them": 1,
    }
    assert outages.down_share() == (40 + 50) / (200 + 200 + 120)


@pytest.mark.parametrize(
    ("row", "error"),
    [
        ("1,5,1,p", "line 12: wrong number of columns, found 4; allowed: 6"),
        ("199999999,5,1,p,1,1", "line 12, time: earlier than the row before"),
        ("-1,5,1,p,1,1", "line 12, time: not a time, found '-1'"),
        ("3.1234567891E+8,5,1,p,1,1", ""),
        ("9E+99,5,1,p,1,1", "line 12, time: not a time"),
        ("200000000,x,1,p,1,1", "line 12, machine: not a number of a machine"),
        ("200000000,5,3,p,1,1", "line 12, event: unknown event, found '3'"),
    ],
)
def test_google_rows_at_fault(tmp_path: Path, row: str, error: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f"{GOOGLE.read_text()}{row}\n")
    if not error:
        assert read(path).window_ns == 312_345_678_910
        return
    with pytest.raises(InputError) as caught:
        read(path)
    assert error in str(caught.value)


def test_google_without_a_header_and_with_removals_of_what_is_away(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("0,5,1,p,1,1\n1000,5,1,p,1,1\n2000,5,0,p,1,1\n")
    assert detect(path) == "google-machine-events"
    assert rows(read(path)) == [("5", 0, 2_000_000, "removed")]
    assert counts(read(path).notes) == {"removals of a machine that is away already": 1}


def test_grid5000(tmp_path: Path) -> None:
    outages = read(intervals(tmp_path, [(4, 0, 10), (4, 20, 20), (9, 50, 110)]))
    assert rows(outages) == [("4", 0, 10 * S, "down"), ("4", 20 * S, 20 * S, "down"), ("9", 50 * S, 110 * S, "down")]
    assert outages.down_share() == (10 + 50) / (100 + 90)
    assert list(counts(outages.notes).values()) == [1]


@pytest.mark.parametrize(
    ("interval", "watched", "error"),
    [
        ((5, 0, 1), "4,0,9\n", "node_id: not in the list of nodes (row 1), found 5"),
        ((4, 2, 1), "4,0,9\n", "stop: before the interval begins (row 1), found 1"),
        ((4, -2, 1), "4,0,9\n", "start: not a time in seconds"),
        ((4, 0, 2**40), "4,0,9\n", "stop: not a time in seconds"),
        ((4, 0, 1), "4,0,9\n4,0,9\n", "nodes.csv, line 3, node_id: the node of line 2 again"),
        ((4, 0, 1), "4,9,0\n", "nodes.csv, line 2, last_s: not a time after first_s"),
        ((4, 0, 1), "", "nodes.csv: no node in the file"),
    ],
)
def test_grid5000_rows_at_fault(tmp_path: Path, interval: tuple[int, int, int], watched: str, error: str) -> None:
    with pytest.raises(InputError) as caught:
        read(intervals(tmp_path, [interval], watched))
    assert error in str(caught.value)


def test_grid5000_files_at_fault(tmp_path: Path) -> None:
    path = intervals(tmp_path, [(4, 0, 1)])
    (tmp_path / "cut.parquet").write_bytes(path.read_bytes()[:60])
    with pytest.raises(InputError, match="cannot be read as Parquet"):
        read(tmp_path / "cut.parquet")
    pq.write_table(pa.table({"node_id": [4], "start": [0.5], "stop": [1]}), path)
    with pytest.raises(InputError, match="start: not whole numbers, found 'double'"):
        read(path)
    pq.write_table(pa.table({"node_id": [4]}), path)
    with pytest.raises(InputError, match="the column 'start' is missing"):
        read(path)
    (tmp_path / "nodes.csv").unlink()
    with pytest.raises(InputError, match=r"nodes\.csv: no such file"):
        read(path)


# ------------------------------------------------------------------ formats


def test_formats_are_found_from_the_content(tmp_path: Path) -> None:
    for file, format in ((LANL, "lanl-failures"), (GOOGLE, "google-machine-events")):
        (tmp_path / "packed").write_bytes(gzip.compress(file.read_bytes()))
        assert detect(file) == detect(tmp_path / "packed") == format
    assert detect(intervals(tmp_path, [(4, 0, 1)])) == "grid5000-down"
    assert detect(DATA / "small.swf") is None
    assert detect(DATA / "tasks.csv") is None
    assert len(FORMATS) == 3


def test_what_is_no_failure_trace() -> None:
    with pytest.raises(InputError, match="not a failure trace whose format is known; allowed: lanl-failures"):
        read(DATA / "small.swf")
    with pytest.raises(InputError, match="unknown format of failure traces"):
        read(LANL, format="lanl")
    with pytest.raises(InputError, match="unknown option of the format lanl-failures"):
        read(LANL, sistem=20)
    with pytest.raises(InputError, match="no such file"):
        read(DATA / "absent.csv")


# ------------------------------------------------------------------ faults


def made(outages: list[tuple[int, int, int]], *, count: int = 3, window: int = 100) -> Outages:
    columns = np.array(outages, np.int64).reshape(-1, 3).T
    return Outages(
        names=tuple(f"s{i}" for i in range(count)),
        first_ns=np.zeros(count, np.int64),
        last_ns=np.full(count, window),
        node=columns[0],
        begin_ns=columns[1],
        end_ns=columns[2],
        causes=("",),
        cause=np.zeros(len(outages), np.int64),
        window_ns=window,
        records=len(outages),
    )


TOLD = made([(1, 50, NEVER), (0, 10, 20), (0, 15, 30), (0, 30, 31), (0, 40, 40), (2, 5, 6), (1, 90, 95)])


def test_outages_become_faults_in_their_order() -> None:
    """Two that overlap and one that touches are one; the one without a length is none; node 2 has no counterpart."""
    assert failures_of(TOLD, nodes(2)) == (
        Failure(Fault.CRASH, 10, 21, ("node/n0",)),
        Failure(Fault.CRASH, 50, NEVER, ("node/n1",)),
    )
    assert list(counts(notes_of(TOLD, nodes(2))).items()) == [
        ("outages of the trace's nodes beyond the 2 of the cluster (3 in the trace)", 1),
        ("outages without a length", 1),
        ("outages that overlap or touch one of the same node", 3),
    ]


def test_a_part_of_a_trace() -> None:
    """From 12 for 30: one is under way, one begins too late but for its node's being away to the end."""
    part = failures_of(TOLD, nodes(4), offset_ns=12, window_ns=38, kind=Fault.DRAIN)
    assert part == (Failure(Fault.DRAIN, 0, 19, ("node/n0",)),)
    found = counts(notes_of(TOLD, nodes(4), offset_ns=12, window_ns=38))
    assert found["outages under way where the part that is used begins"] == 1
    assert found["outages outside the part of the trace that is used"] == 2
    assert found["nodes of the cluster that the trace does not know"] == 1
    assert failures_of(TOLD, nodes(4), offset_ns=60) == (Failure(Fault.CRASH, 0, NEVER, ("node/n1",)),)


def test_a_pool_and_times_below_zero_are_refused() -> None:
    with pytest.raises(InputError, match="a pool of processors has no nodes"):
        failures_of(TOLD, Cluster.of_processors(9))
    with pytest.raises(InputError, match="offset_ns: a time below zero"):
        failures_of(TOLD, nodes(2), offset_ns=-1)
    with pytest.raises(InputError, match="window_ns: a time below zero"):
        notes_of(TOLD, nodes(2), window_ns=-1)


SPAN = st.tuples(st.integers(0, 2), st.integers(0, 30), st.integers(0, 8)).map(lambda s: (s[0], s[1], s[1] + s[2]))


@given(st.lists(SPAN, max_size=15), st.integers(0, 20), st.integers(0, 40))
def test_a_node_is_away_when_some_outage_says_so(spans: list[tuple[int, int, int]], offset: int, window: int) -> None:
    """Instant by instant, as far as an outage that was begun inside the window tells."""
    outages = made(spans)
    failures = failures_of(outages, nodes(3), offset_ns=offset, window_ns=window)
    for node in range(3):
        away = {t for n, begin, end in spans if n == node for t in range(begin, end)}
        mine = [failure for failure in failures if failure.targets == (f"node/n{node}",)]
        told = {offset + t for failure in mine for t in range(failure.at_ns, failure.until_ns)}
        assert told <= away
        assert {t for t in away if offset <= t < offset + window} <= told
        for before, after in pairwise(mine):
            assert before.until_ns < after.at_ns
    assert [failure.at_ns for failure in failures] == sorted(failure.at_ns for failure in failures)


# ------------------------------------------------------------------ the public traces, with the figures of their notes


def shared(name: str) -> Path:
    assert SHARED is not None
    return SHARED / "traces" / name


@needs_shared
def test_the_lanl_trace() -> None:
    path = shared("lanl-failures/LA-UR-05-7318-failure-data-1996-2005.csv.gz")
    figures = {2: (49, 7_104, 53), 16: (16, 2_680, 43), 20: (512, 2_478, 75), 8: (164, 475, 336)}
    for system, (size, failures, median_minutes) in figures.items():
        outages = read(path, system=system)
        assert (outages.records, len(outages.names), len(outages)) == (23_739, size, failures)
        assert np.median(outages.end_ns - outages.begin_ns) == median_minutes * MINUTE
    system_20 = read(path, system=20)
    assert failures_of(system_20, nodes(512))[0].at_ns // DAY == 19  # 2001-12-20, from 2001-12-01
    assert len(read(path)) == 7_104


@needs_shared
def test_the_google_trace() -> None:
    outages = read(shared("google-2011-machine-events/machine_events.csv.gz"))
    assert (outages.records, len(outages.names), len(outages)) == (37_780, 12_583, 8_957)
    assert int((outages.first_ns == 0).sum()) == 12_477
    assert outages.window_ns / DAY == pytest.approx(29.006, abs=0.001)
    assert 12_583 + int((outages.end_ns < NEVER).sum()) == 21_443  # each ADD is a machine's first, or ends an outage


@needs_shared
def test_the_grid5000_trace() -> None:
    outages = read(shared("grid5000-availability/down_intervals.parquet"))
    assert (len(outages), len(outages.names)) == (294_145, 1_288)
    assert outages.down_share() == pytest.approx(0.186, abs=0.0005)
    assert np.median(outages.end_ns - outages.begin_ns) == 172 * S
    assert outages.window_ns / DAY == pytest.approx(548.1, abs=0.05)
    faults = failures_of(outages, nodes(1_288))
    assert (
        len(faults)
        + sum(
            counts(notes_of(outages, nodes(1_288))).get(text, 0)
            for text in ("outages without a length", "outages that overlap or touch one of the same node")
        )
        == 294_145
    )
