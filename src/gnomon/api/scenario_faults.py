"""The faults of a scenario file: single ones and processes in place, and outages that a file recorded."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass
from typing import Final

from pydantic import Field

from gnomon.control.faults import KINDS
from gnomon.control.faults.checks import check
from gnomon.formats.schema import Duration, Spec, validated
from gnomon.formats.yaml import Located, Place, Steps
from gnomon.model.cluster import Cluster
from gnomon.model.errors import InputError, unknown_name
from gnomon.model.fault import Failure, FailureProcess
from gnomon.model.quantity import format_duration
from gnomon.model.resources import NEVER
from gnomon.model.scenario import Scenario
from gnomon.model.work import Note
from gnomon.systems.plain.fault_specs import FIELDS, read_fault

Faults = tuple[Failure | FailureProcess, ...]

_OWN: Final = ("trace", "offset", "for", "format")

_PLACE: Final = re.compile(r"faults\[(\d+)\](?:\.(\w+))?")
_NS: Final = re.compile(r"\d+")


class _Trace(Spec):
    """A file of outages: from ``offset`` on, ``for`` so long."""

    trace: str
    offset: Duration = 0
    length: Duration | None = Field(default=None, alias="for")
    format: str | None = None


@dataclass(frozen=True, slots=True)
class Listed:
    """The faults of a list; ``origins``: which entry each comes from, as one that names a file stands for all that it
    holds; ``notes``: what was left out of files, or taken for granted."""

    faults: Faults = ()
    origins: tuple[int, ...] = ()
    notes: tuple[Note, ...] = ()


def read_faults(document: Located, cluster: Cluster, *, until_ns: int = NEVER) -> Listed:
    """The faults of a list; ``until_ns``: what a file has from then on is left out. Raises :class:`InputError`."""
    if not isinstance(document.value, list):
        raise document.error("a list is wanted", found=document.value)
    faults: list[Failure | FailureProcess] = []
    origins: list[int] = []
    notes: list[Note] = []
    for position, value in enumerate(document.value):
        entry = document.at(position)
        found: Faults
        if isinstance(value, dict) and "trace" in value:
            found, said = _recorded(entry, cluster, until_ns)
            notes += said
        else:
            found = (read_fault(entry),)
        faults += found
        origins += [position] * len(found)
    return Listed(tuple(faults), tuple(origins), tuple(notes))


def check_faults(scenario: Scenario, document: Located, origins: tuple[int, ...]) -> None:
    """Raise what is wrong with the faults of a scenario (:mod:`gnomon.control.faults.checks`) at the place in the list
    that says it."""
    try:
        check(scenario)
    except InputError as error:
        place = _PLACE.match(error.field or "")
        if place is None:
            raise
        origin = origins[int(place[1])]
        name = _written(place[2], scenario.faults[int(place[1])])
        known = name in document.value[origin]
        steps = (origin, name) if known else (origin,)
        problem, found, allowed = error.problem, error.found, error.allowed
        if (place[2] or "").endswith("_ns"):
            found = document.value[origin][name] if known else _times(str(found))
            allowed = _times(allowed or "") or None
        problem = _PLACE.sub(lambda other: f"faults[{origins[int(other[1])]}]", problem)
        raise document.error(problem, *steps, found=found, allowed=allowed) from None


def _written(field: str | None, fault: Failure | FailureProcess) -> str:
    """What a field of a fault is called in a file."""
    if field == "amount" and (amount := KINDS[fault.kind].amount):
        return amount.key
    return FIELDS.get(field or "", fault.kind.value)


def _times(text: str) -> str:
    """Numbers of ns in a text as people write times."""
    return _NS.sub(lambda number: format_duration(int(number[0])), text)


def _recorded(entry: Located, cluster: Cluster, until_ns: int) -> tuple[Faults, tuple[Note, ...]]:
    """The outages that a file recorded, as faults of the cluster's nodes."""
    from gnomon.traces import failures

    spec = validated(_Trace, Located({key: entry.value[key] for key in _OWN if key in entry.value}, *_place(entry)))
    path = entry.at("trace").beside()
    length_ns = min(until_ns, NEVER if spec.length is None else spec.length)
    offset_ns, window_ns = spec.offset, length_ns if length_ns < NEVER else None
    try:
        format = spec.format or failures.detect(path)
        reader = failures.FORMATS[format].read if format in failures.FORMATS else failures.read
        named = [one.name for one in inspect.signature(reader).parameters.values() if one.kind is one.KEYWORD_ONLY]
        options = {key: value for key, value in entry.value.items() if key not in _OWN}
        for key in options:
            if key not in named:
                unknown = unknown_name("field", key, (*_OWN, *named))
                raise entry.error(unknown.problem, key, allowed=unknown.allowed)
        if isinstance(options.get("nodes"), str):
            options["nodes"] = entry.at("nodes").beside()
        outages = failures.read(path, format=spec.format, **options)
        said = failures.notes_of(outages, cluster, offset_ns=offset_ns, window_ns=window_ns)
        found = failures.failures_of(outages, cluster, offset_ns=offset_ns, window_ns=window_ns)
        return found, (*outages.notes, *said)
    except InputError as error:
        raise error if error.file else entry.error(error.problem, found=error.found, allowed=error.allowed) from None


def _place(entry: Located) -> tuple[str | None, Place | None, Steps]:
    return entry.file, entry.place, entry.path
