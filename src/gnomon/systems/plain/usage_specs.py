"""Reads what a task uses over time: ``usage``, by the names of :data:`gnomon.model.usage.USED`.

>>> from gnomon.formats.yaml import parse_yaml
>>> (document,) = parse_yaml("memory: {from: 1Ki, to: 3Ki, over: 10s}")
>>> read_usage(document, 20 * 10**9).profile("memory").points
((0, 1024), (10000000000, 3072))
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Generic, TypeVar

from pydantic import Field

from gnomon.formats import table
from gnomon.formats.schema import Cpu, Duration, Memory, Spec, validated
from gnomon.formats.yaml import Located
from gnomon.model.errors import InputError, unknown_name
from gnomon.model.quantity import NS_PER_S, format_duration, parse_cpu, parse_duration, parse_memory
from gnomon.model.resources import MAX_AMOUNT, MAX_TIME_NS
from gnomon.model.usage import USED, Profile, Usage
from gnomon.systems.plain.amounts import Rate, Span

POINTS_MAX: Final = 100_000
"""The most points of one profile."""

TRACE_COLUMNS: Final = ("seconds", "amount")
"""The columns of a file of points."""

_A = TypeVar("_A")


class UsageSpec(Spec):
    """What a task uses; each is an amount, or a mapping as :class:`ProfileSpec`."""

    cpu: Any = None
    memory: Any = None
    disk: Any = None
    disk_io: Any = Field(default=None, alias="disk-io")
    store: Any = None


class ProfileSpec(Spec, Generic[_A]):
    """An amount over the time since the attempt began, in one of :data:`FORMS`. ``leak``: what is added a second."""

    start: _A | None = Field(default=None, alias="from")
    to: _A | None = None
    over: Span | None = None
    leak: _A | None = None
    base: _A | None = None
    spike: _A | None = None
    every: Span | None = None
    length: Span | None = Field(default=None, alias="for")
    points: list[tuple[Duration, _A]] | None = None
    trace: str | None = None


_KINDS: Final[dict[str, tuple[Any, Any]]] = {
    "cpu": (Cpu, ProfileSpec[Cpu]),
    "memory": (Memory, ProfileSpec[Memory]),
    "disk": (Memory, ProfileSpec[Memory]),
    "disk-io": (Rate, ProfileSpec[Rate]),
    "store": (Memory, ProfileSpec[Memory]),
}


def read_usage(document: Located, duration_ns: int) -> Usage | None:
    """What a task uses that runs for ``duration_ns``; None if nothing is said. Raises :class:`InputError`."""
    validated(UsageSpec, document)
    profiles = [(name, _profile(document.at(name), name, duration_ns)) for name in USED if name in document.value]
    return Usage(tuple(profiles)) if profiles else None


def _profile(document: Located, name: str, duration_ns: int) -> Profile:
    amount, profile = _KINDS[name]
    if not isinstance(document.value, dict):
        return Profile(((0, validated(amount, document)),))
    spec = validated(profile, document)
    make = next((make for fields, make in FORMS.items() if document.value.keys() == set(fields)), None)
    if make is None:
        allowed = "; ".join(f"{{{', '.join(fields)}}}" for fields in FORMS)
        found = ", ".join(document.value)
        raise document.error("these fields do not make a profile", found=found, allowed=f"an amount, or {allowed}")
    for field, value in document.value.items():
        if value is None:
            raise document.error("nothing stands here", field)
    made: Profile = make(spec, document, name)
    last = made.points[-1][0]
    if "leak" not in document.value and last > duration_ns:
        field = next(field for field in ("over", "points", "trace", "every") if field in document.value)
        longest = f"at most its duration, {format_duration(duration_ns)}"
        raise document.error("beyond the end of the task", field, found=format_duration(last), allowed=longest)
    return made


def _ramp(spec: Any, document: Located, name: str) -> Profile:
    return Profile(((0, spec.start), (spec.over, spec.to)))


def _leak(spec: Any, document: Located, name: str) -> Profile:
    """Without end: up to the largest amount that there is, or the latest time."""
    if not spec.leak:
        return Profile(((0, spec.start),))
    seconds = min((MAX_AMOUNT - spec.start) // spec.leak, MAX_TIME_NS // NS_PER_S)
    return Profile(((0, spec.start), (seconds * NS_PER_S, spec.start + seconds * spec.leak)))


def _spikes(spec: Any, document: Located, name: str) -> Profile:
    """The end of each period is the spike."""
    quiet = spec.every - spec.length
    if quiet <= 0:
        allowed = f"less than {format_duration(spec.every)}, every"
        raise document.error("a spike longer than its period", "for", found=document.value["for"], allowed=allowed)
    return Profile(((0, spec.base), (quiet, spec.base), (quiet, spec.spike), (spec.every, spec.spike)), spec.every)


def _points(spec: Any, document: Located, name: str) -> Profile:
    if not spec.points or spec.points[0][0]:
        raise document.error("the first point is at 0", "points", found=document.value["points"][:1])
    if len(spec.points) > POINTS_MAX:
        raise document.error(f"more than {POINTS_MAX} points", "points", allowed="a file: trace")
    for position, ((before, _), (time, _)) in enumerate(zip(spec.points, spec.points[1:], strict=False), start=1):
        if time < before:
            found = document.value["points"][position][0]
            raise document.error("before the point in front of it", "points", position, found=found)
    return _repeated(tuple(spec.points), spec, document)


def _traced(spec: Any, document: Located, name: str) -> Profile:
    path = document.at("trace").beside()
    header, rows = table.rows(path)
    for column in TRACE_COLUMNS:
        if column not in header:
            near = unknown_name("column", ", ".join(header), TRACE_COLUMNS)
            raise InputError(f"no column {column}", file=path, line=1, found=near.found, allowed=near.allowed)
    at, of = (header.index(column) for column in TRACE_COLUMNS)
    parsers: dict[str, Callable[[str], int]]
    parsers = {"seconds": parse_duration, "amount": parse_cpu if name == "cpu" else parse_memory}
    points: list[tuple[int, int]] = []
    for line, cells in rows:
        cell = {"seconds": cells[at], "amount": cells[of]}
        parsed = {}
        for field, parse in parsers.items():
            try:
                parsed[field] = parse(cell[field])
            except ValueError as error:
                raise InputError(str(error), file=path, line=line, field=field, found=cell[field]) from None
        time, amount = parsed["seconds"], parsed["amount"]
        if time < points[-1][0] if points else time:
            problem = "before the row in front of it" if points else "the first row is at 0"
            raise InputError(problem, file=path, line=line, field="seconds", found=cell["seconds"])
        if len(points) == POINTS_MAX:
            raise InputError(f"more than {POINTS_MAX} rows", file=path, line=line)
        points.append((time, amount))
    if not points:
        raise InputError("a table without a row", file=path)
    return _repeated(tuple(points), spec, document)


def _repeated(points: tuple[tuple[int, int], ...], spec: Any, document: Located) -> Profile:
    if spec.every and spec.every < points[-1][0]:
        allowed = f"at least {format_duration(points[-1][0])}, the last point"
        raise document.error(
            "a period shorter than what repeats", "every", found=document.value["every"], allowed=allowed
        )
    return Profile(points, spec.every or 0)


FORMS: Final[dict[tuple[str, ...], Callable[[Any, Located, str], Profile]]] = {
    ("from", "to", "over"): _ramp,
    ("from", "leak"): _leak,
    ("base", "spike", "every", "for"): _spikes,
    ("points",): _points,
    ("points", "every"): _points,
    ("trace",): _traced,
    ("trace", "every"): _traced,
}
"""The fields of a profile that go together."""
