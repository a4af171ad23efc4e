"""Native files of a system, with traces among them where it takes traces: as one scenario."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gnomon.api.parts import load_work
from gnomon.api.recognise import SCENARIO, native_system, recognise
from gnomon.api.systems import SYSTEMS
from gnomon.formats.files import Path
from gnomon.model.errors import InputError
from gnomon.model.scenario import Scenario


def read_native(
    system: str,
    cluster: Sequence[Path],
    work: Sequence[Path],
    *,
    work_format: str | None = None,
    field: str = "cluster",
    **options: Any,
) -> Scenario:
    """The scenario of files. ``work_format``: of all of ``work``; ``field``: what the cluster is called where it is
    missing; ``options``: as the system's reader has them. Raises InputError."""
    known = SYSTEMS[system]
    traces = [path for path in work if work_format or (known.cluster and is_work(path))]
    native = [*cluster, *(path for path in work if path not in traces)]
    if not known.reader:
        raise InputError("a job is missing", file=str(native[0]) if native else None, allowed="a file job.py")
    if not traces:
        return known.read(native, **options)
    if not known.cluster:
        problem = f"traces are not modelled as work of {system}"
        raise InputError(problem, file=str(traces[0]), allowed=f"files of {system}")
    if not native:
        raise InputError("the cluster is missing", field=field, allowed=known.cluster)
    return known.read(native, work=load_work(traces, format=work_format), **options)


def is_work(path: Path) -> bool:
    """Whether a file is a trace or a list of tasks; what is nothing known is for the system's reader to judge."""
    if native_system(path) is not None:
        return False
    try:
        return recognise(path) != SCENARIO
    except InputError:
        return False
