"""Job files: what is taken from them, and how their mistakes are told."""

from __future__ import annotations

from pathlib import Path

import pytest

from gnomon.api.jobs import load_job, splits_of
from gnomon.dataflow.execute import collect
from gnomon.model.errors import InputError
from tests.shared import EXAMPLES

START = "from gnomon.dataflow import Dataflow\n"
JOB = START + "flow = Dataflow('lines')\nflow.text('data/*.txt').collect()\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir()
    (tmp_path / "job.py").write_text(JOB)
    return tmp_path


def test_a_job_reads_the_files_beside_it() -> None:
    job = load_job(EXAMPLES / "dataflow" / "wordcount.py")
    splits = splits_of(job)
    assert [[split.split.file for split in parts] for parts in splits.values()] == [
        ["input/part-0.txt", "input/part-1.txt"]
    ]
    assert sorted(collect(job.graph, splits=splits)) == [("everyone", 2), ("hello", 1), ("welcome", 1)]


@pytest.mark.parametrize("block", [1, 2, 5, 7, 1000])
def test_each_line_is_in_one_split_whatever_their_size(folder: Path, block: int) -> None:
    (folder / "data" / "a.txt").write_bytes(b"one\ntwo\r\n\nthree is longer\nend")
    (folder / "data" / "b.txt").write_bytes(b"x\n")
    job = load_job(folder / "job.py")
    assert collect(job.graph, splits=splits_of(job, block_bytes=block)) == [
        "one",
        "two",
        "",
        "three is longer",
        "end",
        "x",
    ]


def test_empty_files_are_splits_without_records(folder: Path) -> None:
    (folder / "data" / "a.txt").write_bytes(b"")
    (folder / "data" / "_SUCCESS.txt").write_bytes(b"left out")
    job = load_job(folder / "job.py")
    assert [len(parts) for parts in splits_of(job).values()] == [1]
    assert collect(job.graph, splits=splits_of(job)) == []


def test_a_pattern_without_files_names_the_stage(folder: Path) -> None:
    with pytest.raises(InputError, match=r"job\.py, text: no such file, found 'data/\*\.txt'"):
        splits_of(load_job(folder / "job.py"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = 1\n", "no job in this file"),
        (START + "a = Dataflow('a')\nb = Dataflow('b')\n", "more than one job, found 'a, b'"),
        (START + "a = Dataflow('a')\na.source([[1]])\n", "a: no result is asked of the job"),
        ("x =\n", "line 1: SyntaxError"),
        ("\n\nraise ValueError('why')\n", "line 3: ValueError: why"),
        ("import sys\nsys.exit(3)\n", "line 2: SystemExit: 3"),
        (START + "flow = Dataflow()\nflow.source([[1]]).map(3)\n", "line 3, map: not a function, found 3"),
        (START + "flow = Dataflow()\nflow.source([1]).collect()\n", "line 3, source: a source is a list of partitions"),
        (
            START + "flow = Dataflow()\nflow.source([[1]]).repartition(0)\n",
            "line 3, repartition: not a number of partitions, found 0",
        ),
        (
            START + "flow = Dataflow()\nx = flow.source([[1]])\nx.join(x, how='outer')\n",
            "line 4, join: unknown join",
        ),
        (
            START + "flow = Dataflow()\nflow.source([[1]]).join(Dataflow('b').source([[1]]))\n",
            "line 3, join: a collection of another job",
        ),
        (
            START + "flow = Dataflow()\nx = flow.source([[1]], name='a')\nx.map(abs, name='a')\n",
            "two stages have this name, found 'a'",
        ),
        (
            START + "flow = Dataflow()\nx = flow.source([[1]])\nx.sink('o')\nx.sink('o')\n",
            "two results go to one folder, found 'o'",
        ),
    ],
)
def test_what_is_wrong_with_a_job_file_is_told_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "bad.py").write_text(text)
    with pytest.raises(InputError) as raised:
        load_job(tmp_path / "bad.py")
    assert message in str(raised.value)
    assert "bad.py" in str(raised.value)


def test_a_job_imports_what_stands_beside_it(tmp_path: Path) -> None:
    (tmp_path / "beside_the_job.py").write_text("def double(x):\n    return 2 * x\n")
    (tmp_path / "job.py").write_text(
        START + "from beside_the_job import double\nflow = Dataflow()\nflow.source([[1]]).map(double).collect()\n"
    )
    assert collect(load_job(tmp_path / "job.py").graph) == [2]


def test_the_line_is_told_for_a_file_that_is_named_from_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "job.py").write_text(START + "flow = Dataflow()\nflow.source([[1]]).count_by_key()\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=r"^job\.py, line 3: AttributeError: 'Collection' object has no attribute"):
        load_job("job.py")


def test_a_syntax_error_names_its_line_once(tmp_path: Path) -> None:
    (tmp_path / "job.py").write_text("x = (\n")
    with pytest.raises(InputError, match=r"line 1: SyntaxError: '\(' was never closed$"):
        load_job(tmp_path / "job.py")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("from pyspark.sql import SparkSession\n", "a program of Spark, which is not run here"),
        ("import os\nimport pyflink.table\n", "a program of Flink, which is not run here"),
    ],
)
def test_a_program_of_another_engine_is_named(folder: Path, text: str, says: str) -> None:
    """Where its package is not installed; the line is the one that imports it."""
    (folder / "job.py").write_text(text)
    with pytest.raises(InputError, match=says) as raised:
        load_job(folder / "job.py")
    assert raised.value.line == len(text.splitlines())
