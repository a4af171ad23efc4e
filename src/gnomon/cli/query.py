"""``gnomon query``: SQL over a run's tables."""

from __future__ import annotations

import csv
import io
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gnomon.cli.terminal import Output, emit, plain_data, write

if TYPE_CHECKING:
    import duckdb

TABLES = ("log", "tasks", "nodes")


class QueryOutput(StrEnum):
    """The forms of a query's rows: those of every verb, and CSV. A table is as wide as its rows are."""

    TABLE = "table"
    WIDE = "wide"
    JSON = "json"
    YAML = "yaml"
    CSV = "csv"


def query(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A run that was kept with --run.", show_default=False)],
    sql: Annotated[
        str, typer.Argument(metavar="SQL", help="One SELECT over log, tasks and nodes.", show_default=False)
    ],
    output: Annotated[
        QueryOutput, typer.Option("-o", "--output", metavar="FORM", help=f"Form of the rows: {', '.join(QueryOutput)}.")
    ] = QueryOutput.TABLE,
) -> None:
    """Ask a run's tables log, tasks and nodes in SQL (DuckDB). Reads only."""
    from gnomon.report.text import table

    names, rows = ask(folder, sql)
    if output is QueryOutput.CSV:
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(names)
        writer.writerows([plain_data(value) for value in row] for row in rows)
        write(text.getvalue())
        return
    numeric = {i for i in range(len(names)) if rows and all(isinstance(row[i], int | float) for row in rows)}
    cells = [
        ["" if value is None else str(value if isinstance(value, float) else plain_data(value)) for value in row]
        for row in rows
    ]
    keys = _unlike(names)
    records = [dict(zip(keys, row, strict=True)) for row in rows]
    emit(Output(output), records, table([name.upper() for name in names], cells, right=numeric))


def _unlike(names: list[str]) -> list[str]:
    """Names of columns as keys: one that is there already gets a number, as in DuckDB's own data frames.

    >>> _unlike(["a", "b", "a", "a"])
    ['a', 'b', 'a_1', 'a_2']
    """
    found: list[str] = []
    for name in names:
        numbered = (f"{name}_{number}" for number in range(1, len(names) + 1))
        found.append(next(key for key in (name, *numbered) if key not in found))
    return found


def ask(folder: Path, sql: str) -> tuple[list[str], list[tuple[Any, ...]]]:
    """The columns and rows that a query gives. Raises InputError for what is no run, no SELECT or no SQL."""
    import duckdb

    from gnomon.model.errors import InputError

    try:
        for text, field in ((sql, "SQL"), (str(folder), "DIR")):
            if not _is_text(text):
                raise InputError("not text", field=field, found=text)
        with _tables(folder) as tables:
            statements = duckdb.extract_statements(sql)
            allowed = (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN)
            if len(statements) != 1 or statements[0].type not in allowed:
                raise InputError("only one statement that reads is run", field="SQL", found=sql, allowed="SELECT …")
            result = tables.execute(statements[0])
            return [column[0] for column in result.description], result.fetchall()
    except (RuntimeError, duckdb.InterruptException) as error:  # all that DuckDB leaves of a KeyboardInterrupt
        if "interrupt" not in str(error).lower():
            raise
        raise KeyboardInterrupt from error
    except duckdb.Error as error:
        lines = str(error).split("\n\nLINE ")[0].splitlines()
        raise InputError(" ".join(line.strip() for line in lines), field="SQL") from None


def _is_text(text: str) -> bool:
    """Whether it can be handed on; an argument of bytes in another encoding cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _tables(folder: Path) -> duckdb.DuckDBPyConnection:
    """A connection that sees the run's tables and nothing else."""
    import duckdb
    from pyarrow import ArrowInvalid, dataset

    from gnomon.formats.files import near_file
    from gnomon.formats.whole import recover
    from gnomon.model.errors import InputError

    recover(folder)
    connection = duckdb.connect(":memory:")
    for name in TABLES:
        path = folder / f"{name}.parquet"
        if path.exists() and not path.is_file():
            raise InputError("a folder or a device, not a file", file=str(path))
        try:
            connection.register(name, dataset.dataset(path, format="parquet"))
        except (FileNotFoundError, NotADirectoryError):
            hint = "" if folder.exists() else near_file(str(folder))
            raise InputError(f"not a run: it has no {path.name}{hint}", file=str(folder)) from None
        except (ArrowInvalid, OSError):
            raise InputError("not a Parquet file", file=str(path)) from None
    connection.execute("SET python_enable_replacements = false")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")
    return connection
