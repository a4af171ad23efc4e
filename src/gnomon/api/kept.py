"""A kept run read back: the scenario from its tables and ``scenario.yaml``, and the log.

``scenario.yaml`` holds the digests of the other files and ends in one of itself, so that a run which is not as it was
kept is known as such, rather than explained.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_type_hints

import numpy as np
import numpy.typing as npt
import orjson

from gnomon.engine.log import COLUMNS, Kind, Log, Reason
from gnomon.model.cluster import Cluster, Machine, Node, Reservation
from gnomon.model.errors import InputError
from gnomon.model.fault import Failure, FailureProcess
from gnomon.model.operation import Probe
from gnomon.model.recovery import Recovery
from gnomon.model.resources import NEVER, Resources
from gnomon.model.scenario import Scenario
from gnomon.model.usage import Profile, Usage
from gnomon.model.work import IntArray, Note, Shape, Work

if TYPE_CHECKING:
    import pyarrow as pa
    from pydantic import TypeAdapter

FORM = 4
"""The version of the form in which runs are kept."""

_SEAL = "sha256: "
_CHANGED = "is not as it was kept: it is damaged, or was changed"

_OF_SHAPE = ("cpu_milli", "memory_bytes", "gpus", "gpu_share_e4", "named", "node_kinds", "node_labels", "limits")

TASK_COLUMNS = (
    *("id", "submit_ns", "duration_ns", "estimate_ns", "deadline_ns", "priority", "recorded_wait_ns", "usable"),
    *("job", "user", "queue", "shape", "user_index", "queue_index", "job_index", *_OF_SHAPE),
    *("usage", "usage_index", "recovery_index", "needs"),
)
"""The columns of the tasks that say what the work is."""

_FACTS = [one.name for one in fields(Scenario) if one.name not in ("cluster", "work", "native")]


def scenario_document(scenario: Scenario) -> dict[str, Any]:
    """What of a scenario is not in the tables of its run, as plain values for ``scenario.yaml``."""
    hints = get_type_hints(Scenario)
    policy = replace(scenario.policy, order=_name(scenario.policy.order), placement=_name(scenario.policy.placement))
    scenario = replace(scenario, policy=policy)
    cluster, work = scenario.cluster, scenario.work
    scenario = replace(scenario, name=_text(scenario.name), source=_text(scenario.source))
    return {
        **{name: _plain(hints[name], getattr(scenario, name)) for name in _FACTS if name != "faults"},
        "faults": [_fault_text(fault) for fault in scenario.faults],
        "cluster": {
            "pool": cluster.pool,
            "source": _text(cluster.source),
            "reservations": _plain(tuple[Reservation, ...], cluster.reservations),
        },
        "work": {
            "source": _text(work.source),
            "processors": work.processors,
            "jobs": work.jobs is not None,
            "recoveries": _plain(tuple[Recovery, ...], work.recoveries),
            "notes": _plain(tuple[Note, ...], work.notes),
        },
    }


def scenario_of(document: Mapping[str, Any], tasks: pa.Table, nodes: pa.Table) -> Scenario:
    """The scenario again. Names and shapes that no task has are not kept; a policy written in Python is so by name."""
    hints = get_type_hints(Scenario)
    facts = {name: _value(hints[name], document[name]) for name in _FACTS if name != "faults"}
    facts["faults"] = tuple(_fault(text) for text in document["faults"])
    if "period_ns" in document["operation"]["detection"]:  # which is two types, and one has a default for all it says
        facts["operation"] = replace(facts["operation"], detection=_value(Probe, document["operation"]["detection"]))
    about = document["cluster"]
    cluster = Cluster(
        nodes=_nodes(nodes),
        pool=bool(about["pool"]),
        reservations=_value(tuple[Reservation, ...], about["reservations"]),
        source=str(about["source"]),
    )
    facts["tenants"] = tuple(facts.get("tenants", ()))
    return Scenario(cluster=cluster, work=_work(document["work"], tasks), **facts)


def digest(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sealed(text: str) -> str:
    """A text with a last line that tells its digest."""
    return f"{text}{_SEAL}{hashlib.sha256(text.encode()).hexdigest()}\n"


def check_seal(path: Path) -> None:
    """Raise InputError unless a file is as :func:`sealed` made it."""
    text = path.read_text(encoding="utf-8", errors="replace")
    if text != sealed(text.rpartition(_SEAL)[0]):
        raise InputError(_CHANGED, file=str(path))


def check_files(folder: Path, digests: Mapping[str, str]) -> None:
    """Raise InputError unless the files of a run have these digests."""
    for name, wanted in digests.items():
        path = folder / name
        if not path.is_file():
            raise InputError(f"is not a kept run: it has no {name}", file=str(folder))
        if digest(path) != wanted:
            raise InputError(_CHANGED, file=str(path))


def log_of(table: pa.Table) -> Log:
    """The log again."""
    kinds = {kind.name.lower(): kind.value for kind in Kind}
    reasons = {reason.name.lower(): reason.value for reason in Reason}
    columns = {"kind": _codes(table["kind"], kinds), "reason": _codes(table["reason"], reasons)}
    for name in ("t_ns", "instant", "subject", "node", "cause", "value"):
        columns[name] = _own(table[name])
    return Log(**{name: columns[name] for name in COLUMNS}, details=_details(table["details"]))


def read_table(path: Path, *, columns: Sequence[str] | None = None) -> pa.Table:
    """A table of a kept run, or those of the columns that it has; texts that repeat are read as dictionaries."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with path.open("rb") as stored:
            schema = pq.read_schema(stored)
            names = [name for name in columns or schema.names if name in schema.names]
            texts = [name for name in names if schema.field(name).type == "string" and name not in ("id", "name")]
            with pq.ParquetFile(stored, read_dictionary=texts) as file:
                return file.read(names)
    except FileNotFoundError:
        raise InputError(f"is not a kept run: it has no {path.name}", file=str(path.parent)) from None
    except (OSError, pa.ArrowException) as error:
        raise InputError(f"cannot be read: {str(error).splitlines()[0]}", file=str(path)) from error


def _work(about: Mapping[str, Any], table: pa.Table) -> Work:
    def numbers(name: str, nothing: int = 0) -> IntArray:
        column = table[name]
        return _own(column.fill_null(nothing) if column.null_count else column)

    def names(name: str, index: IntArray) -> tuple[str, ...]:
        present, first = np.unique(index, return_index=True)
        found = [""] * (int(present.max(initial=-1)) + 1)
        for place, text in zip(present.tolist(), table[name].take(first).to_pylist(), strict=True):
            found[place] = text
        return tuple(found)

    def known(name: str) -> IntArray | None:
        return numbers(name) if name in table.schema.names else None

    jobs = numbers("job_index") if about["jobs"] else None
    user, queue = numbers("user_index"), numbers("queue_index")
    return Work(
        ids=numbers("id") if table.schema.field("id").type == "int64" else table["id"].to_pylist(),
        shapes=_shapes(table),
        shape=numbers("shape"),
        submit_ns=numbers("submit_ns"),
        duration_ns=numbers("duration_ns", NEVER),
        estimate_ns=numbers("estimate_ns", NEVER),
        users=names("user", user),
        user=user,
        queues=names("queue", queue),
        queue=queue,
        priority=numbers("priority"),
        deadline_ns=numbers("deadline_ns", NEVER),
        job=np.arange(table.num_rows, dtype=np.int64) if jobs is None else jobs,
        jobs=None if jobs is None else names("job", jobs),
        recorded_wait_ns=numbers("recorded_wait_ns", -1),
        usable=_own(table["usable"]),
        notes=_value(tuple[Note, ...], about["notes"]),
        source=str(about["source"]),
        processors=about["processors"],
        usages=_usages(table),
        usage=known("usage_index"),
        recoveries=_value(tuple[Recovery, ...], about["recoveries"]),
        recovery=known("recovery_index"),
        needs=_needs(table),
    )


def _shapes(table: pa.Table) -> tuple[Shape, ...]:
    present, first = np.unique(table["shape"].to_numpy(), return_index=True)
    shapes = [Shape()] * (int(present.max(initial=-1)) + 1)
    for place, row in zip(present.tolist(), table.select(_OF_SHAPE).take(first).to_pylist(), strict=True):
        kinds, labels = orjson.loads(row.pop("node_kinds") or "[]"), _pairs(row.pop("node_labels"))
        limit = orjson.loads(row.pop("limits") or "{}")
        if "named" in limit:
            limit["named"] = tuple((name, amount) for name, amount in limit["named"])
        request = Resources(**{**row, "named": _pairs(row["named"])})
        shapes[place] = Shape(request, tuple(kinds), labels, Resources(**limit))
    return tuple(shapes)


def _usages(table: pa.Table) -> tuple[Usage, ...]:
    if "usage" not in table.schema.names:
        return ()
    present, first = np.unique(table["usage_index"].to_numpy(), return_index=True)
    usages = [Usage()] * (int(present.max(initial=-1)) + 1)
    for place, text in zip(present.tolist(), table["usage"].take(first).to_pylist(), strict=True):
        if place >= 0:
            usages[place] = Usage(tuple((name, _profile(one)) for name, one in orjson.loads(text or "{}").items()))
    return tuple(usages)


def _profile(document: Mapping[str, Any]) -> Profile:
    return Profile(tuple((time, amount) for time, amount in document["points"]), document["every_ns"])


def _needs(table: pa.Table) -> dict[int, tuple[int, ...]]:
    if "needs" not in table.schema.names:
        return {}
    rows = np.flatnonzero(table["needs"].is_valid().to_numpy())
    lists = table["needs"].take(rows).to_pylist()
    return {row: tuple(needs) for row, needs in zip(rows.tolist(), lists, strict=True)}


def _fault_text(fault: Failure | FailureProcess) -> str:
    """As one line of JSON, what is as by default left out; there may be many thousands."""
    return orjson.dumps(_plain(type(fault), fault, exclude_defaults=True)).decode()


def _fault(text: str) -> Failure | FailureProcess:
    document = orjson.loads(text)
    fault: Failure | FailureProcess = _value(FailureProcess if "mtbf_ns" in document else Failure, document)
    return fault


def _details(column: pa.ChunkedArray) -> dict[int, dict[str, int | str]]:
    rows = np.flatnonzero(column.is_valid().to_numpy())
    return {row: orjson.loads(text) for row, text in zip(rows.tolist(), column.take(rows).to_pylist(), strict=True)}


def _nodes(table: pa.Table) -> tuple[Node, ...]:
    nodes = []
    for row in table.to_pylist():
        amounts = {name: row[name] for name in ("cpu_milli", "memory_bytes", "gpus", "gpu_share_e4")}
        capacity = Resources(**amounts, named=_pairs(row["named"]))
        machine = Machine(**orjson.loads(row["machine"] or "{}"))
        nodes.append(Node(row["name"], capacity, row["kind"], _pairs(row["labels"]), machine))
    return tuple(nodes)


def _pairs(text: str | None) -> tuple[tuple[str, Any], ...]:
    return tuple((name, value) for name, value in orjson.loads(text or "[]"))


def _own(column: pa.ChunkedArray) -> npt.NDArray[Any]:
    """The numbers of a column, in memory of their own that may be written."""
    return np.require(column.to_numpy(), requirements=["C", "W"])


def _codes(column: pa.ChunkedArray, codes: Mapping[str, int]) -> Any:
    """The codes of texts that were read as dictionaries; 0 for null."""
    parts = [np.zeros(0, np.int8)]
    for chunk in column.chunks:
        known = np.array([*(codes[text] for text in chunk.dictionary.to_pylist()), 0], np.int8)
        parts.append(known[chunk.indices.fill_null(len(known) - 1).to_numpy(zero_copy_only=False)])
    return np.concatenate(parts)


def _text(text: str) -> str:
    """A path that is no text (bytes of another encoding) with these written out."""
    return text.encode("utf-8", "backslashreplace").decode()


def _name(part: object) -> str:
    return part if isinstance(part, str) else str(getattr(part, "__name__", type(part).__name__))


def _plain(kind: Any, value: object, *, exclude_defaults: bool = False) -> Any:
    return _adapter(kind).dump_python(value, mode="json", exclude_defaults=exclude_defaults)


def _value(kind: Any, plain: object) -> Any:
    return _adapter(kind).validate_python(plain)


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    from pydantic import TypeAdapter

    return TypeAdapter(kind)
