"""Job files as scenarios: a graph of dataflow, run by a system that has a rule for it, on a cluster."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Final

from gnomon.api.jobs import Job, find_job, load_job, splits_of
from gnomon.api.parts import is_number, load_cluster
from gnomon.api.systems import SYSTEMS
from gnomon.dataflow.layout import Splits
from gnomon.dataflow.splits import Split
from gnomon.formats.files import Path
from gnomon.model.cluster import Cluster
from gnomon.model.errors import InputError
from gnomon.model.resources import NEVER
from gnomon.model.scenario import Scenario

SLOTS_MAX: Final = 100_000
"""The largest cluster that a number may stand for."""


def runs_jobs(system: str | None) -> bool:
    """Whether a system runs job files."""
    return system in SYSTEMS and bool(SYSTEMS[system].jobs)


def is_job_file(path: Path) -> bool:
    """Whether a file is Python with a job in it. Raises InputError for Python that raises."""
    return os.fspath(path).endswith(".py") and find_job(path) is not None


def read_job_scenario(
    system: str,
    paths: Sequence[Path],
    cluster: Cluster | int | str | None,
    *,
    options: Mapping[str, object] | None = None,
    field: str = "cluster",
    seed: int = 0,
    until_ns: int = NEVER,
) -> Scenario:
    """The scenario of a job file among ``paths``, whose others are the system's configuration; or of what the system
    recorded of a run. ``cluster``: a number of slots, a file of nodes or what it says (None: for a system that reads
    records, it is in the files); ``field``: what that is called where it is missing; ``options``: those of the
    configuration, which count more than files. Raises InputError."""
    files = [os.fspath(path) for path in paths]
    jobs = [file for file in files if file.endswith(".py")]
    known = SYSTEMS[system]
    nodes = None if cluster is None and known.reader else _nodes(cluster, field)
    if not jobs and known.reader:
        return known.read(files, cluster=nodes, options=options or {}, seed=seed, until_ns=until_ns)
    if len(jobs) != 1:
        raise InputError("one job file is wanted", found=", ".join(jobs) or None, allowed="a file job.py")
    job = load_job(jobs[0])

    def sources(each: int) -> tuple[Splits, Mapping[int, Sequence[Split]]]:
        found = splits_of(job, block_bytes=each)
        return found, {number: [one.split for one in parts] for number, parts in found.items()}

    try:
        return known.read_job(
            job.graph,
            sources,
            nodes,
            [file for file in files if file not in jobs],
            options=options or {},
            seed=seed,
            until_ns=until_ns,
        )
    except InputError as error:
        raise _placed(error, job, options or {}, field) from None


def _nodes(cluster: Cluster | int | str | None, field: str) -> Cluster | int:
    """A cluster, or a number of slots."""
    if cluster is None:
        raise InputError("the cluster is missing", field=field, allowed="a number of slots, or a file of nodes")
    if isinstance(cluster, Cluster):
        return cluster
    if isinstance(cluster, str) and not is_number(cluster):
        return load_cluster(cluster)
    text = str(cluster).strip()
    if isinstance(cluster, bool) or not text.isdecimal() or not 1 <= int(text) <= SLOTS_MAX:
        allowed = f"1 to {SLOTS_MAX:,}, or a file of nodes"
        raise InputError("not a number of slots", field=field, found=cluster, allowed=allowed)
    return int(text)


def _placed(error: InputError, job: Job, options: Mapping[str, object], cluster: str) -> InputError:
    """What is wrong with the graph is wrong with its file; an option and the cluster are said elsewhere. ``cluster``:
    what that is called."""
    about = (error.field or "").removeprefix("conf.")
    if about == "cluster":
        return InputError(error.problem, file=error.file, field=cluster, found=error.found, allowed=error.allowed)
    return error if error.file or about in options else error.at(file=job.file)
