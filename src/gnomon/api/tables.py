"""A run's tables: tasks, nodes and log as Arrow, a slice of rows at a time, so that a million take little memory.

Texts are written out, so that SQL can ask for them; what never happened is null; times are in seconds (float64) and,
next to it, in ns, exactly (``*_ns``). Row i of ``tasks`` is task i of ``log.subject``, row i of ``nodes`` node i of
``log.node``. The columns after those of the contract hold all that the work is, so that it can be read back.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import orjson

from gnomon.engine.log import Kind, Log, Reason, State
from gnomon.insight.history import History
from gnomon.model.cluster import Cluster, Machine
from gnomon.model.resources import NEVER, Resources
from gnomon.model.usage import Usage
from gnomon.model.work import IntArray, Shape, Work

if TYPE_CHECKING:
    import pyarrow as pa

SLICE = 2**17
"""How many rows are made at a time."""

CONTRACT = ("id", "job", "user", "queue", "submit", "start", "end", "state", "attempts", "nodes", "reason")
"""The columns of the tasks file."""

EXACT = ("submit_ns", "start_ns", "end_ns")
_EXACT_OF = {"submit": "submitted_ns"}
"""What a tasks file in Parquet has besides."""

_SHOWN = np.isin(list(State), (State.DONE, State.RUNNING), invert=True)
"""In which states a task has a reason to show."""

Rows = slice
Maker = Callable[[Rows], "pa.Table"]


def slices(count: int) -> Iterator[Rows]:
    """Slices that cover ``count`` rows; one empty slice of none."""
    for begin in range(0, max(count, 1), SLICE):
        yield slice(begin, min(begin + SLICE, count))


def task_table(past: History) -> Maker:
    """Makes the table of a slice of tasks: columns of the contract, the exact times, and all that the work is."""
    import pyarrow as pa

    work, what, cluster = past.scenario.work, past.outcome, past.scenario.cluster
    ids = work.ids if isinstance(work.ids, np.ndarray) else pa.array(work.ids, pa.string())
    users, queues, nodes = (_texts(names) for names in (work.users, work.queues, [n.name for n in cluster.nodes]))
    jobs = None if work.jobs is None else _texts(work.jobs)
    states, reasons = _texts([state.label for state in State]), _reasons()
    of_shape = _shape_columns(work.shapes)
    of_work = _work_columns(work)

    def table(rows: Rows) -> pa.Table:
        placed = np.where(cluster.pool, -1, what.node[rows])
        shown = np.where(_SHOWN[what.state[rows]], what.reason[rows], 0)
        shape = work.shape[rows]
        columns: dict[str, Any] = {
            "id": ids[rows],
            "job": ids[rows] if jobs is None else jobs.take(work.job[rows]),
            "user": users.take(work.user[rows]),
            "queue": queues.take(work.queue[rows]),
            "submit": _seconds(past.submit_ns[rows]),
            "start": _seconds(what.start_ns[rows]),
            "end": _seconds(what.end_ns[rows]),
            "state": states.take(what.state[rows]),
            "attempts": what.attempts[rows],
            "nodes": nodes.take(_or_null(placed, -1)),
            "reason": reasons.take(shown),
            "submit_ns": work.submit_ns[rows],
            "submitted_ns": _or_null(past.submit_ns[rows], NEVER),
            "start_ns": _or_null(what.start_ns[rows], NEVER),
            "end_ns": _or_null(what.end_ns[rows], NEVER),
            "first_start_ns": _or_null(what.first_start_ns[rows], NEVER),
            "task": np.arange(rows.start, rows.stop),
            "node": _or_null(what.node[rows], -1),
            "duration_ns": _or_null(work.duration_ns[rows], NEVER),
            "estimate_ns": _or_null(work.estimate_ns[rows], NEVER),
            "deadline_ns": _or_null(work.deadline_ns[rows], NEVER),
            "priority": work.priority[rows],
            "recorded_wait_ns": _or_null(work.recorded_wait_ns[rows], -1),
            "usable": work.usable[rows],
            **{name: column.take(shape) for name, column in of_shape.items()},
            "shape": shape,
            "user_index": work.user[rows],
            "queue_index": work.queue[rows],
            **({} if jobs is None else {"job_index": work.job[rows]}),
            **{name: make(rows) for name, make in of_work.items()},
        }
        return pa.table(columns)

    return table


def node_table(cluster: Cluster) -> pa.Table:
    """One row a node."""
    import pyarrow as pa

    capacities = [node.capacity for node in cluster.nodes]
    return pa.table(
        {
            "node": np.arange(len(capacities)),
            "name": _texts([node.name for node in cluster.nodes]),
            "kind": _texts([node.kind for node in cluster.nodes]),
            "cpu_milli": pa.array([one.cpu_milli for one in capacities], pa.int64()),
            "memory_bytes": pa.array([one.memory_bytes for one in capacities], pa.int64()),
            "gpus": pa.array([one.gpus for one in capacities], pa.int64()),
            "gpu_share_e4": pa.array([one.gpu_share_e4 for one in capacities], pa.int64()),
            "named": _jsons([one.named for one in capacities]),
            "labels": _jsons([node.labels for node in cluster.nodes]),
            "machine": _jsons([changed(node.machine) for node in cluster.nodes]),
        }
    )


def log_table(log: Log) -> Maker:
    """Makes the table of a slice of the log; ``kind`` and ``reason`` as texts, ``details`` as JSON, null for none."""
    import pyarrow as pa

    detailed = sorted(log.details)

    kinds = _texts(["", *(kind.name.lower() for kind in Kind)])
    reasons = _reasons()

    def table(rows: Rows) -> pa.Table:
        return pa.table(
            {
                "row": np.arange(rows.start, rows.stop),
                "t_ns": log.t_ns[rows],
                "instant": log.instant[rows],
                "kind": kinds.take(log.kind[rows]),
                "subject": log.subject[rows],
                "node": log.node[rows],
                "cause": log.cause[rows],
                "reason": reasons.take(log.reason[rows]),
                "value": log.value[rows],
                "details": details(rows),
            }
        )

    def details(rows: Rows) -> pa.Array:
        texts: list[str | None] = [None] * (rows.stop - rows.start)
        for row in detailed[bisect_left(detailed, rows.start) : bisect_left(detailed, rows.stop)]:
            texts[row - rows.start] = orjson.dumps(log.details[row], option=orjson.OPT_SORT_KEYS).decode()
        return pa.array(texts, pa.string())

    return table


def whole(make: Maker, count: int) -> pa.Table:
    """All rows as one table."""
    import pyarrow as pa

    return pa.concat_tables([make(rows) for rows in slices(count)])


def write_parquet(path: Path, make: Maker, count: int) -> None:
    """Write a table slice by slice."""
    import pyarrow.parquet as pq

    parts = (make(rows) for rows in slices(count))
    first = next(parts)
    texts = [
        field.name
        for field in first.schema
        if field.name == "usage" or (field.type == "string" and field.name not in ("id", "job"))
    ]
    options = {"compression": "zstd", "compression_level": 1, "use_dictionary": texts}
    with path.open("wb") as file, pq.ParquetWriter(file, first.schema, **options) as writer:
        writer.write_table(first)
        for part in parts:
            writer.write_table(part)


def write_csv(path: Path, past: History) -> None:
    """Write the tasks file as CSV: the columns of the contract, times as the shortest exact decimals of a second."""
    make = task_table(past)
    with path.open("wb") as file:
        file.write(",".join(CONTRACT).encode() + b"\n")
        for rows in slices(len(past.scenario.work)):
            file.write(_csv_lines(make(rows)))


def exported(table: pa.Table) -> pa.Table:
    """The columns of the tasks file in Parquet: those of the contract, and their exact times. ``submit_ns`` is when a
    task was submitted, null if it never was; in the table it is what the scenario says."""
    sources = [_EXACT_OF["submit"] if name == "submit_ns" else name for name in (*CONTRACT, *EXACT)]
    return table.select(sources).rename_columns([*CONTRACT, *EXACT])


def _csv_lines(table: pa.Table) -> bytes:
    """The lines of a table: one column of whole lines, whose bytes lie one after the other."""
    import pyarrow as pa
    from pyarrow import compute

    def text(name: str) -> pa.Array:
        column = table[name].combine_chunks()
        if name in ("submit", "start", "end"):
            return decimal_seconds(table[_EXACT_OF.get(name, f"{name}_ns")].combine_chunks())
        return _quoted(column) if pa.types.is_string(column.type) else column.cast(pa.string())

    columns = [text(name) for name in CONTRACT]
    columns[-1] = compute.binary_join_element_wise(compute.fill_null(columns[-1], ""), "\n", "")
    lines = compute.binary_join_element_wise(*columns, ",", null_handling="replace", null_replacement="")
    ends = np.frombuffer(lines.buffers()[1], np.int32)[: len(lines) + 1]
    return bytes(memoryview(lines.buffers()[2] or b"")[ends[0] : ends[-1]]) if len(lines) else b""


def decimal_seconds(ns: pa.Array) -> pa.Array:
    """Times in ns as the shortest exact decimals of a second: "0", "1.5", "0.000000001"."""
    import pyarrow as pa
    from pyarrow import compute

    seconds = compute.divide(ns, 10**9)
    rest = compute.subtract(ns, compute.multiply(seconds, 10**9))
    whole_seconds = seconds.cast(pa.string())
    if not compute.any(compute.not_equal(rest, 0)).as_py():
        return whole_seconds
    digits = compute.utf8_rtrim(compute.ascii_lpad(rest.cast(pa.string()), 9, "0"), "0")
    return compute.utf8_rtrim(compute.binary_join_element_wise(whole_seconds, digits, "."), ".")


def _quoted(texts: pa.Array) -> pa.Array:
    """Texts as fields of CSV (RFC 4180): in quotes where they hold a comma, a quote or the end of a line."""
    from pyarrow import compute

    special = compute.match_substring_regex(texts, '[",\r\n]')
    if not compute.any(special).as_py():
        return texts
    doubled = compute.replace_substring(texts, '"', '""')
    return compute.if_else(special, compute.binary_join_element_wise('"', doubled, '"', ""), texts)


def _shape_columns(shapes: Sequence[Shape]) -> dict[str, Any]:
    """What the tasks of each shape ask for."""
    import pyarrow as pa

    requests = [shape.request for shape in shapes]
    return {
        "cpu_milli": pa.array([one.cpu_milli for one in requests], pa.int64()),
        "memory_bytes": pa.array([one.memory_bytes for one in requests], pa.int64()),
        "gpus": pa.array([one.gpus for one in requests], pa.int64()),
        "gpu_share_e4": pa.array([one.gpu_share_e4 for one in requests], pa.int64()),
        "named": _jsons([one.named for one in requests]),
        "node_kinds": _jsons([shape.node_kinds for shape in shapes]),
        "node_labels": _jsons([shape.node_labels for shape in shapes]),
        "limits": _jsons([changed(shape.limit) for shape in shapes]),
    }


def _work_columns(work: Work) -> dict[str, Callable[[Rows], Any]]:
    """What is said of some works only: how tasks use what they hold, recover, and need each other."""
    import pyarrow as pa

    columns: dict[str, Callable[[Rows], Any]] = {}
    if (usage := work.usage) is not None:
        texts = _jsons([usage_document(one) for one in work.usages])

        def usages(rows: Rows) -> pa.Array:
            # Numbered texts: a long profile that many tasks share is not written out for each of them.
            return pa.DictionaryArray.from_arrays(pa.array(usage[rows], pa.int32(), mask=usage[rows] < 0), texts)

        columns |= {"usage": usages, "usage_index": lambda rows: usage[rows]}
    if (recovery := work.recovery) is not None:
        columns["recovery_index"] = lambda rows: recovery[rows]
    if needs := work.needs:
        kind = pa.list_(pa.int64())
        columns["needs"] = lambda rows: pa.array([needs.get(row) for row in range(rows.start, rows.stop)], kind)
    return columns


def usage_document(usage: Usage) -> dict[str, Any]:
    """What is used, by name: the points in ns and amounts, and the period."""
    return {name: {"points": profile.points, "every_ns": profile.every_ns} for name, profile in usage.profiles}


def changed(value: Resources | Machine) -> dict[str, Any]:
    """The fields that are not as by default."""
    found = {one.name: getattr(value, one.name) for one in fields(value)}
    return {name: amount for name, amount in found.items() if amount != getattr(type(value)(), name)}


def _texts(values: Sequence[str]) -> pa.Array:
    import pyarrow as pa

    return pa.array(values, pa.string())


def _reasons() -> pa.Array:
    """The names of the reasons by their codes; null for none."""
    import pyarrow as pa

    named = {reason.value: reason.name.lower() for reason in Reason if reason}
    return pa.array([named.get(code) for code in range(max(Reason) + 1)], pa.string())


def _jsons(values: Sequence[tuple[Any, ...] | dict[str, Any]]) -> pa.Array:
    """Lists and mappings as JSON texts; null for empty ones."""
    import pyarrow as pa

    return pa.array([orjson.dumps(value).decode() if value else None for value in values], pa.string())


def _or_null(values: npt.NDArray[Any], nothing: int) -> pa.Array:
    import pyarrow as pa

    absent = values == nothing
    return pa.array(values, mask=absent) if absent.any() else pa.array(values)


def _seconds(ns: IntArray) -> pa.Array:
    import pyarrow as pa

    return pa.array(ns / 1e9, mask=ns == NEVER)
