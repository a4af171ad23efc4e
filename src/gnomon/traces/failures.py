"""Traces of failures: when which node was not there, from three public sources.

:func:`read` finds the format from the content: failures of Los Alamos machines
(:mod:`~gnomon.traces.failures_lanl`), machines that left a Google cell (:mod:`~gnomon.traces.failures_google`), down
times of Grid'5000 nodes (:mod:`~gnomon.traces.failures_grid5000`). :func:`failures_of` makes faults of a scenario.
"""

from __future__ import annotations

import csv
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gnomon.formats.files import read_start
from gnomon.model.errors import InputError, unknown_name
from gnomon.traces import failures_google, failures_grid5000, failures_lanl
from gnomon.traces.outages import Outages, failures_of, notes_of

__all__ = ["FORMATS", "Format", "Outages", "detect", "failures_of", "notes_of", "read"]


@dataclass(frozen=True, slots=True)
class Format:
    """A format of failure traces and its reader."""

    about: str
    read: Callable[..., Outages]


FORMATS: dict[str, Format] = {
    "lanl-failures": Format("failures of Los Alamos machines (LA-UR-05-7318)", failures_lanl.read),
    "google-machine-events": Format("machine events of a Google cell (2011)", failures_google.read),
    "grid5000-down": Format("down intervals of Grid'5000 nodes (Parquet)", failures_grid5000.read),
}
"""The formats by name."""


def detect(path: str | Path) -> str | None:
    """The name of a failure trace's format, from its beginning; None when it is none of :data:`FORMATS`.

    Raises InputError when the file cannot be read.

    >>> detect("tests/data/traces/lanl-failures.csv")
    'lanl-failures'
    """
    if failures_grid5000.is_parquet(path):
        return "grid5000-down"
    line = next((line for line in read_start(path).splitlines() if line.strip()), "")
    if failures_google.is_event(line):
        return "google-machine-events"
    try:
        names = next(csv.reader([line]), [])
    except csv.Error:
        return None
    return "lanl-failures" if set(failures_lanl.COLUMNS) <= {name.strip() for name in names} else None


def read(path: str | Path, *, format: str | None = None, **options: Any) -> Outages:
    """The outages in a failure trace, its format found from the content unless it is said.

    ``options`` go to the format's reader: ``system=20`` to that of Los Alamos, ``nodes=`` (the list of nodes, else
    ``nodes.csv`` beside the file) to that of Grid'5000. Raises InputError for a file at fault, an unknown format or
    option.

    >>> outages = read("tests/data/traces/lanl-failures.csv", system=20)
    >>> len(outages), len(outages.names), outages.causes
    (4, 3, ('Hardware: Memory Dimm', 'Undetermined: Undetermined', ''))
    """
    if format is not None and format not in FORMATS:
        raise unknown_name("format of failure traces", format, FORMATS)
    name = format or detect(path)
    if name is None:
        allowed = "; ".join(f"{name} ({one.about})" for name, one in FORMATS.items())
        raise InputError("not a failure trace whose format is known", file=str(path), allowed=allowed)
    reader = FORMATS[name].read
    allowed_options = [p.name for p in inspect.signature(reader).parameters.values() if p.kind is p.KEYWORD_ONLY]
    for option in options:
        if option not in allowed_options:
            raise unknown_name(f"option of the format {name}", option, allowed_options)
    return reader(path, **options)
