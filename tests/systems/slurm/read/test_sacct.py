"""sacct: any columns, streamed; what is written oddly; what is at fault."""

from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.model.errors import InputError
from gnomon.systems.slurm.inputs.files import read_json
from gnomon.systems.slurm.read import parsable
from gnomon.systems.slurm.read.sacct import Jobs, read_parsable
from gnomon.systems.slurm.read.sacct_json import jobs_of_json
from gnomon.systems.slurm.read.words import moment
from tests.systems.slurm.read import printed

TABLES = ("P", "P-X", "P-D", "P-ALL", "iso-env", "p-noconvert")
HEADER = "JobID|JobName|User|Submit|Start|End|Elapsed|Timelimit|State|ExitCode\n"


def read(tmp_path: Path, text: str | bytes) -> Jobs:
    path = tmp_path / "sacct.txt"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_parsable(path)


def row(**changed: str) -> str:
    values = {
        "JobID": "7",
        "JobName": "a",
        "User": "eve",
        "Submit": "2026-01-01T00:00:00",
        "Start": "2026-01-01T00:00:10",
        "End": "2026-01-01T00:01:10",
        "Elapsed": "00:01:00",
        "Timelimit": "00:05:00",
        "State": "COMPLETED",
        "ExitCode": "0:0",
    }
    return "|".join({**values, **changed}.values()) + "\n"


@pytest.mark.parametrize("name", TABLES)
def test_the_recorded_tables_have_the_same_jobs_whatever_their_columns(name: str) -> None:
    jobs = read_parsable(printed.path(f"sacct/sacct-{name}.txt"))
    names = {jobs.name(row) for row in range(len(jobs))}
    assert len(names) == 75
    assert {"49", "66_8", "100+2", "67_40", "103"} <= names
    assert len(jobs) == (78 if name == "P-D" else 75)  # -D has requeued jobs again


def test_columns_hold_what_was_printed() -> None:
    jobs = read_parsable(printed.path("sacct/sacct-P.txt"))
    at = {jobs.name(row): row for row in range(len(jobs))}
    high = at["85"]
    assert (jobs.elapsed_s[high], jobs.limit_s[high]) == (60, 36_000)
    assert jobs.submit_s[high] == moment("2026-11-30T01:01:05")
    assert jobs.word("ReqTRES", high) == "billing=64,cpu=64,mem=62.50G,node=4"
    assert jobs.state[at["95"]] == "CANCELLED"  # it says: by 1001
    assert jobs.start_s[at["83"]] == -1
    assert (jobs.raw[at["66_1"]], jobs.job[at["66_1"]], jobs.task[at["66_1"]]) == (70, 66, 1)
    assert jobs.exclusive[at["97"]]
    assert jobs.throttle[at["66_4"]] == 3


def test_names_with_the_delimiter_are_put_together_again() -> None:
    jobs = read_parsable(printed.path("sacct/sacct-P-X.txt"))
    at = {jobs.name(row): row for row in range(len(jobs))}
    assert jobs.word("JobName", at["103"]) == "name|with|pipes"
    assert (jobs.state[at["103"]], jobs.elapsed_s[at["103"]]) == ("COMPLETED", 3)
    assert (jobs.word("JobName", at["123"]), jobs.state[at["123"]]) == ("comma,name", "COMPLETED")


def test_json_has_the_same_jobs() -> None:
    kind, listed, _ = read_json(printed.path("sacct/sacct.json"))
    assert kind == "history"
    said, table = jobs_of_json(listed), read_parsable(printed.path("sacct/sacct-P-D.txt"))
    rows = {(table.name(row), int(table.submit_s[row])): row for row in range(len(table))}
    for mine in range(len(said)):
        theirs = rows[said.name(mine), int(said.submit_s[mine])]
        ran_still = said.state[mine] == "RUNNING"  # it did so for a second longer
        for name in ("start_s", "end_s", "limit_s", "raw", *(() if ran_still else ("elapsed_s",))):
            assert getattr(said, name)[mine] == getattr(table, name)[theirs], (said.name(mine), name)
        assert said.state[mine] == table.state[theirs]


def test_odd_values(tmp_path: Path) -> None:
    jobs = read(
        tmp_path,
        HEADER
        + row(JobID="1", Start="Unknown", End="Unknown", Elapsed="00:00:00", Timelimit="UNLIMITED", State="PENDING")
        + row(JobID="2", Start="None", End="INVALID", Elapsed="INVALID", Timelimit="Partition_Limit")
        + row(JobID="3", Elapsed="-00:00:05")
        + row(JobID="4_[1-3,7%2]", State="PENDING")
        + row(JobID="5+0")
        + row(JobID="5+0.batch", JobName="batch")
        + row(JobID="6", Elapsed="2-01:00:00", State="CANCELLED by 1001", Start="1767225610"),
    )
    assert jobs.start_s[:2].tolist() == [-1, -1]
    assert jobs.elapsed_s.tolist() == [0, -1, 0, 60, 60, 176_400]
    assert jobs.limit_s[:2].tolist() == [-1, -2]
    assert [note.text for note in jobs.notes] == ["lengths of time below 0, taken for 0"]
    assert jobs.pending == {3: "1-3,7%2"}
    assert (jobs.offset[4], jobs.start_s[5]) == (0, 1_767_225_610)


def test_line_ends_other_encodings_and_a_last_line_that_is_cut(tmp_path: Path) -> None:
    text = HEADER + row(JobID="1") + row(JobID="2", JobName="µ-Lösung") + row(JobID="3")[:20]
    jobs = read(tmp_path, text.replace("\n", "\r\n").encode("latin-1"))
    assert [jobs.name(one) for one in range(len(jobs))] == ["1", "2"]
    assert jobs.word("JobName", 1) == "µ-Lösung"
    assert [(note.what, note.count) for note in jobs.notes] == [("not modelled", 1), ("guess", 1)]


def test_a_command_line_of_several_lines(tmp_path: Path) -> None:
    header = HEADER.rstrip() + "|SubmitLine\n"
    lines = row(JobID="1").rstrip() + "|sbatch --wrap a\nb\nc\n" + row(JobID="2").rstrip() + "|sbatch x\n"
    jobs = read(tmp_path, header + lines)
    assert sorted(jobs.name(one) for one in range(len(jobs))) == ["1", "2"]


def test_what_is_at_fault_is_named_with_its_line_and_column(tmp_path: Path) -> None:
    cases = {
        row(JobID="2", Submit="yesterday"): "Submit",
        row(JobID="2", Elapsed="soon"): "Elapsed",
        row(JobID="2", State="Dreaming"): "State",
        row(JobID="two"): "JobID",
    }
    for line, field in cases.items():
        with pytest.raises(InputError) as caught:
            read(tmp_path, HEADER + row(JobID="1") + line + row(JobID="3"))
        assert (caught.value.line, caught.value.field) == (3, field)
    with pytest.raises(InputError, match="9 fields, the header has 10") as caught:
        read(tmp_path, HEADER + row(JobID="1") + row(JobID="2").replace("eve|", "") + row(JobID="3"))
    assert caught.value.line == 3
    with pytest.raises(InputError, match="JobID"):
        read(tmp_path, "JobName|State\na|COMPLETED\n")


def test_rows_that_span_blocks_are_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = HEADER + "".join(row(JobID=str(number), JobName="x" * (number % 90)) for number in range(1, 400))
    whole = read(tmp_path, text)
    monkeypatch.setattr(parsable, "BLOCK_BYTES", 777)
    parts = read(tmp_path, text)
    assert np.array_equal(whole.job, parts.job)
    assert [whole.word("JobName", one) for one in range(399)] == [parts.word("JobName", one) for one in range(399)]


@given(st.text(alphabet="JobID|:-T20\n\r +_[].%aPENDING0\u00b5", max_size=200))
def test_whatever_stands_in_a_file_it_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    path = tmp_path_factory.mktemp("sacct") / "sacct.txt"
    path.write_text(HEADER + text, encoding="utf-8")
    with suppress(InputError):
        read_parsable(path)


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("ReqMem", "-1"),
        ("ReqMem", "99999999999999T"),
        ("ReqTRES", "cpu=٣"),
        ("ReqTRES", "cpu=1,mem=99999999999999T"),
        ("ReqTRES", "cpu"),
        ("NNodes", "99999999999999999999"),
        ("NNodes", "1_0"),
        ("TimelimitRaw", "²"),
        ("TimelimitRaw", "99999999999999999999"),
    ],
)
def test_what_was_asked_for_is_looked_at_where_it_is_read(tmp_path: Path, column: str, value: str) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, f"JobID|{column}\n1|\n2|{value}\n")
    assert (caught.value.line, caught.value.field, caught.value.found) == (3, column, value)
