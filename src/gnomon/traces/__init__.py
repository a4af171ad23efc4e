"""Public trace formats: job logs, task lists and node lists as work and clusters, and work drawn by seed.

:func:`detect` names a file's format from its content, :func:`read_work` and :func:`read_cluster` read it. The formats
are :data:`FORMATS`: :mod:`~gnomon.traces.swf` (job logs of parallel machines), :mod:`~gnomon.traces.openb` (Alibaba's
GPU cluster) and :mod:`~gnomon.traces.table` (CSV with a header). :mod:`~gnomon.traces.synthetic` draws work instead.
What a reader leaves out, guesses or defaults is in the notes of the work; whatever is wrong with a file is an
InputError with file, line and field.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gnomon.model.cluster import Cluster
from gnomon.model.errors import InputError, unknown_name
from gnomon.model.work import Work
from gnomon.traces import openb, swf, table
from gnomon.traces.start import Start

__all__ = ["FORMATS", "Format", "detect", "read_cluster", "read_work"]


@dataclass(frozen=True, slots=True)
class Format:
    """A format: how it is told by its first lines, and its readers: of work, or of a cluster."""

    about: str
    recognised: Callable[[Start], bool]
    work: Callable[..., Work] | None = None
    cluster: Callable[..., Cluster] | None = None


FORMATS: dict[str, Format] = {
    "swf": Format("job log in the Standard Workload Format", swf.recognised, work=swf.read),
    "openb-tasks": Format("task list of Alibaba's openb GPU cluster", openb.recognised_tasks, work=openb.read_tasks),
    "openb-nodes": Format("node list of Alibaba's openb GPU cluster", openb.recognised_nodes, cluster=openb.read_nodes),
    "csv": Format("table of tasks with a header", table.recognised, work=table.read),
}
"""The formats by name; the first that recognises a file has it."""


def detect(path: str | Path) -> str | None:
    """The name of a file's format, from its first lines; None when it is none of :data:`FORMATS`.

    Raises InputError when the file cannot be read.

    >>> detect("tests/data/traces/small.swf"), detect("tests/data/traces/openb-nodes.csv")
    ('swf', 'openb-nodes')
    """
    start = Start.of(path)
    if not start.lines:
        return None
    return next((name for name, format in FORMATS.items() if format.recognised(start)), None)


def read_work(path: str | Path, *, format: str | None = None, **options: Any) -> Work:
    """The work in a trace, its format found from the content unless it is said.

    ``options`` go to the format's reader, as ``size="max"`` to :func:`gnomon.traces.swf.read`. Raises InputError for
    a file at fault, an unknown format or option, and a format that holds no work.

    >>> len(read_work("tests/data/traces/small.swf", size="allocated"))
    4
    """
    name = _format(path, format)
    reader = FORMATS[name].work
    if reader is None:
        raise InputError(f"a {FORMATS[name].about}, which holds no work", file=str(path))
    allowed = [p.name for p in inspect.signature(reader).parameters.values() if p.kind is p.KEYWORD_ONLY]
    for option in options:
        if option not in allowed:
            raise unknown_name(f"option of the format {name}", option, allowed)
    return reader(path, **options)


def read_cluster(path: str | Path, *, format: str | None = None) -> Cluster:
    """The cluster in a trace, its format found from the content unless it is said.

    Raises InputError for a file at fault, an unknown format, and a format that holds no cluster.

    >>> len(read_cluster("tests/data/traces/openb-nodes.csv").nodes)
    16
    """
    name = _format(path, format)
    reader = FORMATS[name].cluster
    if reader is None:
        raise InputError(f"a {FORMATS[name].about}, which holds no cluster", file=str(path))
    return reader(path)


def _format(path: str | Path, said: str | None) -> str:
    if said is not None and said not in FORMATS:
        raise unknown_name("format", said, (*FORMATS, "plain"))
    name = said or detect(path)
    if name is None:
        allowed = "; ".join(f"{name} ({format.about})" for name, format in FORMATS.items())
        raise InputError("not a trace whose format is known", file=str(path), allowed=allowed)
    return name
