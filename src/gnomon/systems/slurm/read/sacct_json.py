"""``sacct --json``: the same columns as :mod:`gnomon.systems.slurm.read.sacct` has from ``-P``.

The forms of data_parser v0.0.38 (22.05) to v0.0.43 (25.05): numbers plain or with ``set``, states as a word or a list.
Times are seconds of UTC. Source: ``src/plugins/openapi/dbv0.0.38/jobs.c`` (``parse.c``),
``src/plugins/data_parser/v0.0.43/parsers.c``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import pyarrow as pa

from gnomon.model.errors import InputError
from gnomon.systems.slurm.read.jobs import number
from gnomon.systems.slurm.read.parsable import Block
from gnomon.systems.slurm.read.sacct import FieldError, Jobs, Parts

_COLUMNS: Final = (
    *("JobID", "JobIDRaw", "JobName", "User", "Account", "Partition", "QOS", "Submit", "Eligible", "Start", "End"),
    *("ElapsedRaw", "TimelimitRaw", "State", "ExitCode", "NNodes", "ReqCPUS", "ReqTRES", "AllocTRES", "Constraints"),
    *("Reservation", "Priority", "SubmitLine"),
)


def jobs_of_json(jobs: Sequence[Any], *, file: str | None = None) -> Jobs:
    """The jobs of ``sacct --json``. Raises InputError that names the job and the field."""
    rows = []
    for place, job in enumerate(jobs):
        try:
            rows.append(_row(job))
        except (LookupError, TypeError, AttributeError, ValueError, OverflowError) as error:
            raise InputError(f"not as sacct writes it: {error!r}", file=file, field=f"jobs[{place}]") from None
        except InputError as error:
            raise error.at(file=file, field=f"jobs[{place}]") from None
    parts = Parts()
    columns = {
        name: pa.chunked_array([pa.array([row[i] for row in rows], pa.string())]) for i, name in enumerate(_COLUMNS)
    }
    try:
        parts.add(Block(columns, len(rows), 1, b""))
    except FieldError as error:
        raise InputError(error.problem, file=file, field=error.column, found=error.value) from None
    return parts.jobs([])


def _row(job: Mapping[str, Any]) -> tuple[str, ...]:
    time, required = job["time"], job.get("required") or {}
    raw = str(job["job_id"])
    asked, held = _tres(job["tres"].get("requested")), _tres(job["tres"].get("allocated"))
    state = job["state"]["current"]
    limit = number(time.get("limit"))
    return (
        _shown(job, raw),
        raw,
        job.get("name") or "",
        (job.get("association") or {}).get("user") or job.get("user") or "",
        job.get("account") or "",
        job.get("partition") or "",
        job.get("qos") or "",
        *(str(number(time.get(key)) or "") for key in ("submission", "eligible", "start", "end")),
        str(number(time.get("elapsed")) or 0),
        "" if limit is None else "UNLIMITED" if limit < 0 else str(limit),
        state if isinstance(state, str) else state[0],
        _exit(job.get("exit_code") or {}),
        str(number(job.get("allocation_nodes")) or ""),
        str(number(required.get("CPUs")) or ""),
        asked,
        held,
        job.get("constraints") or "",
        str((job.get("reservation") or {}).get("name") or ""),
        str(number(job.get("priority")) or ""),
        job.get("submit_line") or "",
    )


def _shown(job: Mapping[str, Any], raw: str) -> str:
    array, het = job.get("array") or {}, job.get("het") or {}
    if of_array := number(array.get("job_id")):
        task = number(array.get("task_id"))
        if array.get("task"):
            return f"{of_array}_[{array['task']}]"
        return raw if task is None else f"{of_array}_{task}"
    of_het = number(het.get("job_id"))
    return f"{of_het}+{number(het.get('job_offset')) or 0}" if of_het else raw


def _exit(code: Mapping[str, Any]) -> str:
    signal = code.get("signal") or {}
    return f"{number(code.get('return_code')) or 0}:{number(signal.get('signal_id', signal.get('id'))) or 0}"


def _tres(listed: Sequence[Mapping[str, Any]] | None) -> str:
    """``cpu=4,mem=4000M,gres/gpu=1``."""
    found = []
    for one in listed or ():
        name = f"{one['type']}/{one['name']}" if one.get("name") else one["type"]
        found.append(f"{name}={int(one.get('count') or 0)}{'M' if name == 'mem' else ''}")
    return ",".join(found)
