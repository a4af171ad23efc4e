"""When nodes of Grid'5000 were not available, 2005 to 2006: data set g5k06 of the Failure Trace Archive.

A Parquet file of down intervals (``node_id``, ``start``, ``stop`` in seconds) and beside it ``nodes.csv``, a row for
each node with the time in which it was watched (``node_id``, ``first_s``, ``last_s``). D. Kondo, B. Javadi, A. Iosup,
D. Epema, "The Failure Trace Archive", CCGrid 2010.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import numpy.typing as npt

from gnomon.formats.table import rows
from gnomon.model.errors import InputError
from gnomon.model.quantity import NS_PER_S, parse_count
from gnomon.model.resources import MAX_TIME_NS
from gnomon.model.work import IntArray, Note
from gnomon.traces.growing import Place
from gnomon.traces.outages import Outages

INTERVAL_COLUMNS = ("node_id", "start", "stop")
"""What is read of the Parquet file."""

NODE_COLUMNS = ("node_id", "first_s", "last_s")
"""What is read of the list of nodes."""

_SECONDS_MAX = MAX_TIME_NS // NS_PER_S
_MAGIC = b"PAR1"


def is_parquet(path: str | Path) -> bool:
    """Whether a file is Parquet; False also for one that cannot be read, or only once."""
    if not os.path.isfile(path):
        return False
    try:
        with open(path, "rb") as stored:
            return stored.read(len(_MAGIC)) == _MAGIC
    except (OSError, ValueError):
        return False


def read(path: str | Path, *, nodes: str | Path | None = None) -> Outages:
    """The down intervals; ``nodes``: the list of nodes, else ``nodes.csv`` beside the file.

    Raises InputError for a file that is none of these, a node that is not in the list, and an interval at fault.
    """
    ids, first, last = _nodes(Path(path).with_name("nodes.csv") if nodes is None else Path(nodes))
    named, start, stop = _intervals(path)
    index = {number: position for position, number in enumerate(ids.tolist())}
    node = np.array([index.get(number, -1) for number in named.tolist()], np.int64)
    _refuse(path, node < 0, "node_id", "not in the list of nodes", named)
    _refuse(path, (start < 0) | (start > _SECONDS_MAX), "start", "not a time in seconds", start)
    _refuse(path, stop > _SECONDS_MAX, "stop", "not a time in seconds", stop)
    _refuse(path, stop < start, "stop", "before the interval begins", stop)
    outside = int(((start < first[node]) | (stop > last[node])).sum())
    text = "intervals that go beyond the time in which their node was watched: kept as they are"
    return Outages(
        names=tuple(str(number) for number in ids.tolist()),
        first_ns=first * NS_PER_S,
        last_ns=last * NS_PER_S,
        node=node,
        begin_ns=start * NS_PER_S,
        end_ns=stop * NS_PER_S,
        causes=("down",),
        cause=np.zeros(len(node), np.int64),
        window_ns=int(last.max()) * NS_PER_S,
        records=len(node),
        notes=(Note("guess", "start", text, outside),) if outside else (),
        source=str(path),
    )


def _nodes(path: Path) -> tuple[IntArray, IntArray, IntArray]:
    """Each node's number, and from when to when it was watched [s]."""
    names, records = rows(path)
    missing = [name for name in NODE_COLUMNS if name not in names]
    if missing:
        problem, allowed = f"the column {missing[0]!r} is missing", ",".join(NODE_COLUMNS)
        raise InputError(problem, file=str(path), line=1, found=",".join(names), allowed=allowed)
    at = [names.index(name) for name in NODE_COLUMNS]
    lines: dict[int, int] = {}
    found: list[tuple[int, int, int]] = []
    for line, cells in records:
        place = Place(str(path), line)
        number, first, last = (
            place.parsed(parse_count, cells[i], name) for i, name in zip(at, NODE_COLUMNS, strict=True)
        )
        if number in lines:
            raise place.error(f"the node of line {lines[number]} again", "node_id", number)
        if not first <= last <= _SECONDS_MAX:
            raise place.error("not a time after first_s", "last_s", last, f"{first} to {_SECONDS_MAX}")
        lines[number] = line
        found.append((number, first, last))
    if not found:
        raise InputError("no node in the file", file=str(path), allowed="a row for each node below the header")
    columns = np.array(found, np.int64).T
    return columns[0], columns[1], columns[2]


def _intervals(path: str | Path) -> tuple[IntArray, IntArray, IntArray]:
    """The columns of the Parquet file, as integers."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    file = str(path)
    try:
        with open(path, "rb") as stored:
            parquet = pq.ParquetFile(stored)
            names = parquet.schema_arrow.names
            missing = [name for name in INTERVAL_COLUMNS if name not in names]
            if missing:
                problem, allowed = f"the column {missing[0]!r} is missing", ",".join(INTERVAL_COLUMNS)
                raise InputError(problem, file=file, found=",".join(names), allowed=allowed)
            table = parquet.read(columns=list(INTERVAL_COLUMNS), use_threads=False)  # a damaged file leaves none behind
    except FileNotFoundError:
        raise InputError("no such file", file=file) from None
    except (OSError, ValueError, pa.ArrowException) as error:
        raise InputError(f"cannot be read as Parquet: {str(error).splitlines()[0]}", file=file) from None
    for name in INTERVAL_COLUMNS:
        column = table[name]
        if not pa.types.is_integer(column.type) or column.null_count:
            problem = "values are missing" if column.null_count else "not whole numbers"
            raise InputError(
                problem, file=file, field=name, found=str(column.type), allowed="whole numbers, everywhere"
            )
    node, start, stop = (np.asarray(table[name].to_numpy(), np.int64) for name in INTERVAL_COLUMNS)
    return node, start, stop


def _refuse(path: str | Path, wrong: npt.NDArray[np.bool_], field: str, problem: str, values: IntArray) -> None:
    if wrong.any():
        row = int(wrong.argmax())
        raise InputError(f"{problem} (row {row + 1})", file=str(path), field=field, found=int(values[row]))
