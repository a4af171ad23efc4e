"""``gnomon query``: reads a run's tables, and nothing else."""

import csv
import io
import json
from contextlib import nullcontext
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from gnomon.cli import ANSWERED, INTERRUPTED, USER_ERROR
from tests.cli.conftest import Gnomon

pytestmark = pytest.mark.unit


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """A folder with a run's three tables."""
    tasks = {"id": ["a", "b"], "start": [0.0, None], "attempts": [1, 0]}
    for name, columns in (("tasks", tasks), ("log", {"row": [0, 1, 2]}), ("nodes", {"name": ["n1"]})):
        pq.write_table(pa.table(columns), tmp_path / f"{name}.parquet")
    return tmp_path


def test_rows_as_a_table(gnomon: Gnomon, kept: Path) -> None:
    ended = gnomon("query", kept, "SELECT id, attempts FROM tasks ORDER BY id")
    assert ended.code == ANSWERED
    assert ended.out == "ID   ATTEMPTS\na           1\nb           0\n"


def test_what_is_not_finite_is_seen(gnomon: Gnomon, kept: Path) -> None:
    assert (
        gnomon("query", kept, "SELECT 'inf'::DOUBLE AS a, NULL AS b, 'nan'::DOUBLE AS c").out
        == "  A   B     C\ninf       nan\n"
    )


def test_rows_for_programs(gnomon: Gnomon, kept: Path) -> None:
    sql = "SELECT t.id, t.start, count(*) AS rows FROM tasks t, log GROUP BY ALL ORDER BY 1"
    wanted = [{"id": "a", "start": 0.0, "rows": 3}, {"id": "b", "start": None, "rows": 3}]
    assert json.loads(gnomon("query", kept, sql, "-o", "json").out) == wanted
    assert yaml.safe_load(gnomon("query", kept, sql, "-o", "yaml").out) == wanted
    rows = list(csv.DictReader(io.StringIO(gnomon("query", kept, sql, "-o", "csv").out)))
    assert rows == [{"id": "a", "start": "0.0", "rows": "3"}, {"id": "b", "start": "", "rows": "3"}]


@pytest.mark.parametrize(
    "value",
    ["1 / 0", "'nan'::DOUBLE", "170141183460469231731687303715884105727", "now()", "'x'::BLOB", "[1, 2]", "{'a': 1}"],
)
def test_every_type_of_value_is_written(gnomon: Gnomon, kept: Path, value: str) -> None:
    for form in ("table", "wide", "json", "yaml", "csv"):
        assert gnomon("query", kept, f"SELECT {value} AS v", "-o", form).code == ANSWERED


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELEC 1", "syntax error"),
        ("SELECT nothing FROM tasks", "nothing"),
        ("SELECT * FROM elsewhere", "elsewhere"),
        ("", "only one statement that reads"),
        ("SELECT 1; SELECT 2", "only one statement that reads"),
        ("DROP VIEW tasks", "only one statement that reads"),
        ("CREATE TABLE t AS SELECT 1", "only one statement that reads"),
        ("COPY tasks TO 'out.csv'", "only one statement that reads"),
        ("SET enable_external_access = true", "only one statement that reads"),
        ("SELECT * FROM read_csv('/etc/passwd')", "disabled"),
        ("SELECT * FROM 'tasks.parquet'", "tasks.parquet"),
        ("EXPLAIN ANALYZE COPY tasks TO 'out.csv'", "disabled"),
        ("FROM query('DROP VIEW tasks')", "SELECT statement"),
        ("INSTALL httpfs", "only one statement that reads"),
        ("SELECT '\udc80'", "not text"),
    ],
)
def test_what_is_no_question_gets_one_line(gnomon: Gnomon, kept: Path, sql: str, said: str) -> None:
    ended = gnomon("query", kept, sql)
    assert ended.code == USER_ERROR
    assert said in ended.err
    assert len(ended.err.splitlines()) == 1


def test_columns_of_one_name_are_all_written(gnomon: Gnomon, kept: Path) -> None:
    ended = gnomon("query", kept, "SELECT 1 AS a, 2 AS a, 3 AS a_1", "-o", "json")
    assert json.loads(ended.out) == [{"a": 1, "a_1": 2, "a_1_1": 3}]


def test_a_broken_table_is_named(gnomon: Gnomon, kept: Path) -> None:
    (kept / "tasks.parquet").write_bytes(b"nonsense")
    ended = gnomon("query", kept, "SELECT 1")
    assert ended.code == USER_ERROR
    assert "tasks.parquet: not a Parquet file" in ended.err


def test_ctrl_c_in_the_middle_of_a_query(gnomon: Gnomon, kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """DuckDB makes a RuntimeError of it, with these words."""

    class Asked:
        def execute(self, statement: object) -> None:
            raise RuntimeError("Query interrupted")

    monkeypatch.setattr("gnomon.cli.query._tables", lambda folder: nullcontext(Asked()))
    ended = gnomon("query", kept, "SELECT 1")
    assert (ended.code, ended.out) == (INTERRUPTED, "")
