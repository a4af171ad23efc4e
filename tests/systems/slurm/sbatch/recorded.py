"""Answers of sbatch 22.05.8, and a request in the words of ``sbatch -v``.

``client-22.05.8.json``: command lines, scripts and variables given to the client of Debian 12 (no controller answered):
its messages and exit code, or the "defined options" of each component. ``golden-steps.json``: the submissions of the
recorded scheduling cases with the answers. ``results.json``: scripts of users, and what slurmctld made of them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from gnomon.systems.slurm.notation import hostlist, times
from gnomon.systems.slurm.sbatch.request import JobRequest

DATA = Path(__file__).resolve().parents[3] / "data" / "slurm" / "sbatch"
PLAIN_SCRIPT = "#!/bin/sh\nsleep 1\n"


def cases(name: str) -> list[dict[str, Any]]:
    loaded: list[dict[str, Any]] = json.loads((DATA / name).read_text(encoding="utf-8"))
    return loaded


def _size(mib: int | None) -> str | None:
    if not mib:
        return "0?" if mib == 0 else None
    if mib % 1024:
        return str(mib)
    return f"{mib // 1024}G" if mib % 1024**2 else f"{mib // 1024**2}T"


def _limit(minutes: int | None) -> str | None:
    return None if minutes is None else times.format_minutes(None if minutes == -1 else minutes)


def _yes(value: bool) -> str | None:
    return "set" if value else None


def shown(request: JobRequest) -> dict[str, Any]:
    """The request as ``sbatch -v`` lists options; None: it would not be listed."""
    return {
        "account": request.account or None,
        "partition": ",".join(request.partitions) or None,
        "qos": request.qos or None,
        "comment": request.comment or None,
        "job-name": request.name if request.name not in ("t.sh", "wrap") else None,
        "time": _limit(request.time_min),
        "time-min": _limit(request.time_min_min),
        "mem": _size(request.mem_per_node_mb),
        "mem-per-cpu": _size(request.mem_per_cpu_mb),
        "mem-per-gpu": _size(request.mem_per_gpu_mb),
        "tmp": _size(request.tmp_mb or None),
        "exclude": hostlist.compress(request.exclude) or None,
        "constraint": request.features or None,
        "hold": _yes(request.hold),
        "contiguous": _yes(request.contiguous),
        "overcommit": _yes(request.overcommit),
        "licenses": ",".join(f"{name}:{count}" for name, count in request.licenses) or None,
        "distribution": request.distribution or None,
        "hint": request.hint or None,
        "exclusive": "oversubscribe"
        if request.oversubscribe
        else {"": None, "node": "exclusive"}.get(request.exclusive, request.exclusive),
    }


def shown_if_said(request: JobRequest) -> dict[str, Any]:
    """Values that are listed only where an option set them, though they may follow from others."""
    least, most = request.nodes_min or 0, request.nodes_max
    nodes = str(least) if most in (least, None) else f"{least}-{most}"
    return {
        "cpus-per-task": str(request.cpus_per_task),
        "ntasks": str(request.tasks),
        "nodes": nodes,
        "mincpus": str(request.min_cpus_per_node),
        "nice": str(request.nice),
        "no-kill": "set" if request.no_kill else "unset",
        "requeue": {True: "requeue", False: "no-requeue", None: None}[request.requeue],
        "nodelist": hostlist.compress(request.node_list),
    }
