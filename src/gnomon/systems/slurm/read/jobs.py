"""A job as the queue's commands tell of it: ``scontrol show job``, ``squeue --json``, tables of ``squeue``.

Moments are seconds since 1970 on the clock of the command (JSON: UTC), -1: none. What a form does not tell is empty, or
None. Source: ``slurm_sprint_job_info`` (``src/api/job_info.c``), ``src/squeue/print.c``, the OpenAPI plugins v0.0.38 to
v0.0.43 (numbers as ``{"set", "infinite", "number"}`` from 0.0.39 on), Slurm 22.05 to 25.05.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from gnomon.model.errors import InputError
from gnomon.systems.slurm.read.pairs import Record
from gnomon.systems.slurm.read.tables import Row, Table
from gnomon.systems.slurm.read.words import (
    BY_PARTITION,
    COUNT_MAX,
    NO_AMOUNTS,
    NO_TIME,
    NOTHING,
    UNKNOWN_S,
    UNLIMITED,
    count,
    job_id,
    length,
    limit_s,
    moment,
    size_mb,
    state,
    tres,
    whole,
)


@dataclass(frozen=True)
class SeenJob:
    """``id``: of its record; ``array``, ``task``, ``tasks`` (several still together); ``het``, ``offset``: -1 none.
    ``nodes``: as a list of hosts; ``limit_s`` as :mod:`words` has it; ``priority`` None: not told. ``layout``: what is
    told of the request, by the names of :class:`.sbatch.request.JobRequest`; ``tres_asks``: what it asks
    of a node, of the job, of a socket, of a task; ``held``: what it has, by resource."""

    id: int
    array: int = -1
    task: int = -1
    tasks: str = ""
    array_limit: int | None = None
    het: int = -1
    offset: int = -1
    name: str = ""
    user: str = ""
    account: str = ""
    partitions: tuple[str, ...] = ()
    qos: str = ""
    state: str = "PENDING"
    reason: str = "None"
    priority: int | None = None
    submit_s: int = NO_TIME
    eligible_s: int = NO_TIME
    start_s: int = NO_TIME
    end_s: int = NO_TIME
    limit_s: int = BY_PARTITION
    nodes: str = ""
    num_nodes: int | None = None
    num_cpus: int | None = None
    held: Mapping[str, int] = ()  # type: ignore[assignment]
    dependency: str = ""
    licenses: str = ""
    tres_asks: Mapping[str, str] = ()  # type: ignore[assignment]
    layout: Mapping[str, Any] = ()  # type: ignore[assignment]

    @property
    def shown(self) -> str:
        """As squeue shows its id."""
        if self.array > 0 and (self.task >= 0 or self.tasks):
            return f"{self.array}_[{self.tasks}]" if self.tasks else f"{self.array}_{self.task}"
        return f"{self.het}+{self.offset}" if self.het > 0 else str(self.id)


def of_record(record: Record, *, file: str | None = None) -> SeenJob:
    """A record of ``scontrol show job``. Raises InputError with file, line and field."""
    values, get = record.values, record.get
    field = "JobId"
    try:
        tasks = get("ArrayTaskId")
        seen: dict[str, Any] = {"id": whole(values["JobId"])}
        if get("ArrayJobId"):
            seen |= {"array": whole(values["ArrayJobId"])}
            seen |= {"task": whole(tasks)} if tasks.isdigit() else {"tasks": tasks}
        if get("HetJobId"):
            seen |= {"het": whole(values["HetJobId"]), "offset": whole(get("HetJobOffset") or "0")}
        for field, name in (("SubmitTime", "submit_s"), ("EligibleTime", "eligible_s"), ("StartTime", "start_s")):
            seen[name] = moment(values.get(field, ""))
        field = "EndTime"
        seen["end_s"] = moment(values.get(field, ""))
        field = "TimeLimit"
        seen["limit_s"] = limit_s(values.get(field, ""))
        field = "JobState"
        seen["state"] = state(values[field].partition(",")[0])
        field = "Priority"
        seen["priority"] = whole(get(field)) if get(field) else None
        field = "NumNodes"
        least = get(field).partition("-")[0]
        seen["num_nodes"] = count(least) if least else None
        field = "NumCPUs"
        seen["num_cpus"] = count(get(field)) if get(field) else None
        field = "TRES"
        seen["held"] = tres(get("AllocTRES") or get("TRES"))
        field = "layout"
        return SeenJob(
            **seen,
            array_limit=whole(get("ArrayTaskThrottle") or "0") or None,
            name=values.get("JobName", ""),
            user=_before_id(values.get("UserId", "")),
            account=get("Account"),
            partitions=tuple(part for part in get("Partition").split(",") if part),
            qos=get("QOS"),
            reason=get("Reason").replace("_", " ") or "None",
            nodes=get("NodeList"),
            dependency=get("Dependency"),
            licenses=get("Licenses"),
            tres_asks={name: get(key) for key, name in _ASKS.items() if get(key)},
            layout=_layout(record),
        )
    except (ValueError, KeyError) as error:
        found = values.get(field) or str(error)
        raise InputError("not what scontrol prints", file=file, line=record.line, field=field, found=found) from None
    except InputError as error:
        raise error.at(file=file, line=record.line, field=field) from None


_ASKS: Final = {"TresPerNode": "node", "TresPerJob": "job", "TresPerSocket": "socket", "TresPerTask": "task"}


def _layout(record: Record) -> dict[str, Any]:
    get = record.get
    found: dict[str, Any] = {}
    low, _, high = get("NumNodes").partition("-")
    if low:
        found["nodes_min"] = count(low)
        if high:
            found["nodes_max"] = count(high)
    if get("NumTasks").isdigit():
        found["tasks"] = whole(get("NumTasks"))
    if get("CPUs/Task").isdigit():
        found["cpus_per_task"] = whole(get("CPUs/Task"))
    per_node, _, rest = get("NtasksPerN:B:S:C").partition(":")
    if per_node.isdigit() and whole(per_node):
        found["tasks_per_node"] = whole(per_node)
    for place, name in ((1, "tasks_per_socket"), (2, "tasks_per_core")):
        part = [*rest.split(":"), "", "", ""][place]
        if part.isdigit() and whole(part):
            found[name] = whole(part)
    for part, name in zip(
        get("ReqB:S:C:T").split(":")[1:], ("sockets_per_node", "cores_per_socket", "threads_per_core"), strict=False
    ):
        if part.isdigit() and whole(part):
            found[name] = whole(part)
    if get("MinCPUsNode").isdigit() and whole(get("MinCPUsNode")) > 1:
        found["min_cpus_per_node"] = whole(get("MinCPUsNode"))
    for key, name in (("MinMemoryCPU", "mem_per_cpu_mb"), ("MinMemoryNode", "mem_per_node_mb")):
        if get(key):
            found[name] = size_mb(get(key))
    if get("MinTmpDiskNode"):
        found["tmp_mb"] = size_mb(get("MinTmpDiskNode")) or 0
    for key, name in (("Features", "features"), ("Reservation", "reservation"), ("Comment", "comment")):
        if get(key):
            found[name] = get(key)
    for key, name in (("ReqNodeList", "node_list"), ("ExcNodeList", "exclude")):
        if get(key):
            found[name] = get(key)
    found["exclusive"] = {"NO": "node", "USER": "user", "MCS": "mcs"}.get(get("OverSubscribe"), "")
    found["oversubscribe"] = get("OverSubscribe") == "YES"
    found["contiguous"] = get("Contiguous") == "1"
    found["requeue"] = None if not get("Requeue") else get("Requeue") == "1"
    found["nice"] = whole(get("Nice") or "0")
    if get("TimeMin"):
        found["time_min_min"] = -(-(length(get("TimeMin")) or 0) // 60)
    switches, _, wait = get("Switches").partition("@")
    if switches.isdigit() and whole(switches):
        found["switches"] = whole(switches), length(wait) if wait else None
    return found


def _before_id(text: str) -> str:
    return text.partition("(")[0]


# ------------------------------------------------------------------ squeue as a table


def of_table(table: Table, *, file: str | None = None) -> list[SeenJob]:
    """The jobs of a table of squeue. Raises InputError with file, line and field."""
    missing = [name for name in ("JOBID",) if name not in table.names]
    if missing or not ({"ST", "STATE"} & set(table.names)):
        raise InputError(
            "not a table of squeue that tells of jobs", file=file, field=", ".join(missing or ["ST"]), found=table.names
        )
    found = []
    for row, line in zip(table.rows, table.lines, strict=True):
        try:
            found.append(_of_row(row))
        except InputError as error:
            raise error.at(file=file, line=line) from None
    return found


def _of_row(row: Row) -> SeenJob:
    said = job_id(row["JOBID"])

    def get(*names: str) -> str:
        return next((row[name] for name in names if row.get(name, "") not in NOTHING), "")

    shown = state(get("STATE", "ST"))
    place = get("NODELIST(REASON)")
    waits = place.startswith("(") and place.endswith(")")
    priority = next((value for name in ("PRIORITY", "PRIORITY_2") if (value := row.get(name, "")).isdigit()), "")
    job = SeenJob(
        said.job,
        state=shown,
        name=row.get("NAME", ""),
        user=get("USER"),
        account=get("ACCOUNT"),
        qos=get("QOS"),
        partitions=tuple(part for part in get("PARTITION").split(",") if part),
        reason=get("REASON") or (place[1:-1] if waits else "None"),
        priority=whole(priority) if priority else None,
        submit_s=moment(get("SUBMIT_TIME")),
        eligible_s=moment(get("ELIGIBLE_TIME")),
        start_s=moment(get("START_TIME")),
        end_s=moment(get("END_TIME")),
        limit_s=limit_s(get("TIME_LIMIT", "TIME_LIMI")),
        nodes=get("NODELIST") or ("" if waits else place),
        num_nodes=count(get("NODES").partition("-")[0]) if get("NODES") else None,
        num_cpus=count(get("CPUS")) if get("CPUS") else None,
        held=tres(get("TRES_ALLOC")) if "=" in get("TRES_ALLOC") else {},
        dependency=get("DEPENDENCY"),
        licenses=get("LICENSES"),
        tres_asks={"node": get("TRES_PER_NODE")} if get("TRES_PER_NODE") else {},
        layout=_of_columns(row),
    )
    if said.task >= 0 or said.tasks:
        limit = said.tasks.partition("%")[2]
        job = replace(
            job, array=said.job, task=said.task, tasks=said.tasks, array_limit=whole(limit) if limit.isdigit() else None
        )
    elif said.offset >= 0:
        job = replace(job, id=said.job + said.offset, het=said.job, offset=said.offset)
    return job


def _of_columns(row: Row) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if (nodes := row.get("NODES", "")) and nodes not in NOTHING:
        found["nodes_min"] = count(nodes.partition("-")[0])
    if (cpus := row.get("CPUS", "")) and cpus not in NOTHING:
        found["tasks"] = count(cpus)
    if (memory := row.get("MIN_MEMORY", "")) and memory not in NOTHING:
        found["mem_per_cpu_mb" if memory.endswith("c") else "mem_per_node_mb"] = size_mb(memory)
    if (features := row.get("FEATURES", "")) and features not in NOTHING:
        found["features"] = features
    if (nice := row.get("NICE", "")).lstrip("-").isdigit():
        found["nice"] = whole(nice)
    if row.get("OVER_SUBSCRIBE") == "NO":
        found["exclusive"] = "node"
    return found


# ------------------------------------------------------------------ squeue --json


def number(value: Any) -> int | None:
    """A number of the JSON forms: plain, or with its ``set`` and ``infinite``; -1: infinite; None: not set. Raises
    InputError for one that nothing has.

    >>> number(5), number({"set": True, "infinite": False, "number": 5}), number({"set": False, "number": 0})
    (5, 5, None)
    """
    if isinstance(value, dict):
        if value.get("infinite"):
            return UNLIMITED
        value = value.get("number", 0) if value.get("set") else None
    if not isinstance(value, int | float) or isinstance(value, bool) or value in NO_AMOUNTS:
        return None
    if not abs(value) <= COUNT_MAX:
        raise InputError("more than any cluster has", found=value)
    return int(value)


def of_json(jobs: Sequence[Any], *, file: str | None = None) -> list[SeenJob]:
    """The jobs of ``squeue --json`` (or of slurmrestd). Raises InputError that names the job."""
    found = []
    for place, job in enumerate(jobs):
        if not isinstance(job, dict) or "job_id" not in job:
            raise InputError("not a job of squeue --json", file=file, field=f"jobs[{place}]")
        try:
            found.append(_of_object(job))
        except (ValueError, TypeError, AttributeError, LookupError, OverflowError) as error:
            raise InputError(f"not as squeue writes it: {error}", file=file, field=f"jobs[{place}]") from None
        except InputError as error:
            raise error.at(file=file, field=f"jobs[{place}]") from None
    return found


def _of_object(job: Mapping[str, Any]) -> SeenJob:
    def figure(key: str) -> int:
        return number(job.get(key)) or 0

    def time(key: str) -> int:
        seconds = number(job.get(key)) or 0
        return seconds if 0 < seconds < UNKNOWN_S else NO_TIME

    def text(key: str) -> str:
        value = job.get(key)
        return value if isinstance(value, str) and value not in NOTHING else ""

    states = job.get("job_state", "PENDING")
    limit = number(job.get("time_limit"))
    array, tasks, task = figure("array_job_id"), text("array_task_string"), number(job.get("array_task_id"))
    nodes = text("nodes")
    return SeenJob(
        whole(str(job["job_id"])),
        array=array or -1,
        task=-1 if task is None or not array else task,
        tasks=tasks if array else "",
        array_limit=figure("array_max_tasks") or None,
        het=figure("het_job_id") or -1,
        offset=figure("het_job_offset") if figure("het_job_id") else -1,
        name=job.get("name") or "",
        user=text("user_name"),
        account=text("account"),
        partitions=tuple(part for part in text("partition").split(",") if part),
        qos=text("qos"),
        state=state(states if isinstance(states, str) else str(states[0])),
        reason=text("state_description") or text("state_reason") or "None",
        priority=number(job.get("priority")),
        submit_s=time("submit_time"),
        eligible_s=time("eligible_time"),
        start_s=time("start_time"),
        end_s=time("end_time"),
        limit_s=BY_PARTITION if limit is None else UNLIMITED if limit < 0 else limit * 60,
        nodes=nodes,
        num_nodes=number(job.get("node_count")),
        num_cpus=number(job.get("cpus")),
        held=tres(text("tres_alloc_str") or text("tres_req_str")),
        dependency=text("dependency"),
        licenses=text("licenses"),
        tres_asks={kind: asks for kind in ("node", "job", "socket", "task") if (asks := text(f"tres_per_{kind}"))},
        layout=dict(_of_fields(job)),
    )


_PLAIN_FIELDS: Final = {
    "node_count": "nodes_min",
    "tasks": "tasks",
    "cpus_per_task": "cpus_per_task",
    "tasks_per_node": "tasks_per_node",
    "tasks_per_socket": "tasks_per_socket",
    "tasks_per_core": "tasks_per_core",
    "sockets_per_node": "sockets_per_node",
    "cores_per_socket": "cores_per_socket",
    "threads_per_core": "threads_per_core",
    "memory_per_node": "mem_per_node_mb",
    "memory_per_cpu": "mem_per_cpu_mb",
    "minimum_tmp_disk_per_node": "tmp_mb",
}
_TEXT_FIELDS: Final = {
    "features": "features",
    "resv_name": "reservation",
    "required_nodes": "node_list",
    "excluded_nodes": "exclude",
    "comment": "comment",
}


def _of_fields(job: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, name in _PLAIN_FIELDS.items():
        value = number(job.get(key))
        if value or (value == 0 and name.startswith("mem")):
            yield name, value
    for key, name in _TEXT_FIELDS.items():
        if isinstance(job.get(key), str) and job[key]:
            yield name, job[key]
    if number(job.get("max_nodes")):
        yield "nodes_max", number(job.get("max_nodes"))
    shared = job.get("shared")
    words = {shared} if isinstance(shared, str) else set(shared or ()) if isinstance(shared, list) else set()
    yield "exclusive", "node" if words & {"none", "NONE"} else "user" if words & {"user", "USER"} else ""
    yield "contiguous", bool(job.get("contiguous"))
    yield "requeue", None if job.get("requeue") is None else bool(job["requeue"])
    yield "nice", number(job.get("nice")) or 0


GRES_ASK: Final = re.compile(
    r"(?:gres[:/])?(?P<name>[\w-]+)(?::(?P<type>[\w.-]+?))?(?:[:=](?P<count>\d+))?\Z", re.ASCII
)
"""One resource in what a job asks of a node or in all: ``gres:gpu:a100:2``, ``gres/gpu:2``."""
