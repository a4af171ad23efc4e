"""Taking typed fields out of an object of the API: what is wrong is collected with its path, what is ignored is noted.

>>> findings = Findings()
>>> pod = Fields({"name": "web", "replicas": "3", "nodeSelctor": {"a": "b"}, "future": 1}, findings, "Pod")
>>> pod.text("name"), pod.integer("replicas", 1), pod.labels("nodeSelector")
('web', 1, {})
>>> pod.finish()
>>> [(problem.field, problem.problem) for problem in findings.problems]
[('replicas', 'a whole number is wanted'), ('nodeSelctor', "unknown field (did you mean 'nodeSelector'?)")]
>>> findings.ignored
Counter({'Pod.future': 1})
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Final

from gnomon.formats.yaml import Steps, field_name
from gnomon.model.errors import nearest
from gnomon.systems.kubernetes.api.names import Rule, invalid, label_value, qualified
from gnomon.systems.kubernetes.api.quantity import parse_milli, parse_quantity

INT64_MAX: Final = 2**63 - 1
INT32_MAX: Final = 2**31 - 1

_MILLI_MAX: Final = (2**63 - 1) // 1000
_OF_BYTES: Final = ("memory", "ephemeral-storage")
_NEAR: Final = 0.8
"""How alike an unknown field is to a known one to be taken for a slip, and not for one of a later version."""

_NS_PER_S: Final = 10**9
_PERCENTAGE: Final = re.compile("0{0,99}[0-9]{1,9}%", re.ASCII)
_TEXT: Final = "text is wanted (in quotes if it looks like something else)"
_TEXT_NO_BOOLEAN: Final = "text is wanted; without quotes yes, no, on, off, y, n, true and false are booleans"


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong in an object, at a path from the object's root."""

    steps: Steps
    problem: str
    found: object = None
    allowed: str | None = None

    @property
    def field(self) -> str:
        """The path as people write it."""
        return field_name(self.steps)


@dataclass(slots=True)
class Findings:
    """What was found wrong, and what is not modelled: how often, by kind and path without positions."""

    problems: list[Problem] = field(default_factory=list)
    ignored: Counter[str] = field(default_factory=Counter)
    warned: Counter[tuple[str, str]] = field(default_factory=Counter)
    """What the API server takes with a warning: by kind of object, and its words."""

    def add(self, other: Findings) -> None:
        """Count what was found elsewhere as well."""
        self.problems += other.problems
        self.ignored.update(other.ignored)
        self.warned.update(other.warned)


class Fields:
    """The fields of one mapping of an object. ``kind`` is the kind of the whole object.

    A getter gives the default where a field is missing or null, and where it is wrong, which is then among the
    findings. :meth:`finish` looks at the fields that no getter asked for.
    """

    __slots__ = ("_asked", "_findings", "_kind", "_steps", "_value")

    def __init__(self, value: Mapping[str, Any], findings: Findings, kind: str, steps: Steps = ()) -> None:
        self._value, self._findings, self._kind, self._steps = value, findings, kind, steps
        self._asked: set[str] = set()

    def __contains__(self, key: str) -> bool:
        self._asked.add(key)
        return self._value.get(key) is not None

    @property
    def steps(self) -> Steps:
        """The path from the object's root."""
        return self._steps

    def raw(self, key: str) -> Any:
        """What stands there, as it is."""
        self._asked.add(key)
        return self._value.get(key)

    def text(self, key: str, default: str = "", *, of: Iterable[str] = ()) -> str:
        """Text; ``of``: the values that are allowed."""
        value = self.raw(key)
        if value is None:
            return default
        if not isinstance(value, str):
            self.wrong(key, _no_text(value), value)
            return default
        if of and value not in of and value:
            self.wrong(key, "not one of the values that are allowed", value, ", ".join(of))
            return default
        return value or default

    def integer(self, key: str, default: int = 0, *, low: int = 0, high: int = INT32_MAX) -> int:
        """A whole number within bounds."""
        number = self.maybe_integer(key, low=low, high=high)
        return default if number is None else number

    def maybe_integer(self, key: str, *, low: int = 0, high: int = INT32_MAX) -> int | None:
        """A whole number within bounds; None where there is none."""
        value = self.raw(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int):
            self.wrong(key, "a whole number is wanted", value)
        elif not low <= value <= high:
            self.wrong(key, "out of bounds", value, f"{low} to {high}")
        else:
            return value
        return None

    def boolean(self, key: str) -> bool:
        """true or false."""
        value = self.raw(key)
        if value is not None and not isinstance(value, bool):
            self.wrong(key, "true or false is wanted", value)
        return value is True

    def number_or_percentage(self, key: str, default: int | str, *, whole: bool = False) -> int | str:
        """A number, or a percentage as text. ``whole``: which is 100% at most, of something that is there."""
        value = self.raw(key)
        if value is None:
            return default
        percentage = isinstance(value, str) and _PERCENTAGE.fullmatch(value)
        if percentage and whole and int(value[:-1]) > 100:
            self.wrong(key, invalid(value, "must not be greater than 100%"))
        if percentage or (isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= INT32_MAX):
            return value  # type: ignore[no-any-return]
        self.wrong(key, "a number or a percentage is wanted", value, "for instance 1 or 25%")
        return default

    def checked_labels(self, key: str) -> dict[str, str]:
        """Labels, whose keys and values are such that the API server takes them."""
        found = self.labels(key)
        for name, value in found.items():
            if qualified(name) is None and label_value(value) is None:
                continue
            for part, rule in ((name, qualified), (value, label_value)):
                if (text := rule(part)) is not None:
                    self.problem((*self._steps, key, name), invalid(part, text))
        return found

    def labels(self, key: str) -> dict[str, str]:
        """Text by key."""
        value = self._mapping(key)
        if any(not isinstance(item, str) for item in value.values()):
            for name, item in value.items():
                if item is not None and not isinstance(item, str):
                    self.problem((*self._steps, key, name), _no_text(item), item)
            return {name: item for name, item in value.items() if isinstance(item, str)}
        return dict(value)

    def amounts(self, key: str) -> dict[str, int]:
        """Quantities by resource: cpu in millicores."""
        return self.quantities(key, lambda name: name)

    def quantities(self, key: str, as_resource: Any) -> dict[str, int]:
        """Quantities by name, each read as the resource that ``as_resource`` says of its name."""
        found = {}
        for name, written in self._mapping(key).items():
            try:
                found[name] = parse_quantity(written, as_resource(name))
            except ValueError as error:
                self.problem((*self._steps, key, name), str(error), written)
                continue
            small = found[name] <= _MILLI_MAX  # parts of larger amounts cannot be told in 64 bits
            if name in _OF_BYTES and self._steps[-1:] == ("resources",) and small and parse_milli(written) % 1000:
                # pkg/api/pod/warnings.go: a slip for Mi, mostly, that leaves a pod without memory
                text = f'fractional byte value "{written}" is invalid, must be an integer'
                self._findings.warned[self._kind, f"{field_name((*self._steps, key))}[{name}]: {text}"] += 1
        return found

    def time_ns(self, key: str) -> int | None:
        """A time (RFC 3339) as ns since 1970; None where there is none."""
        value = self.raw(key)
        if value is None:
            return None
        try:
            return parse_time(value)
        except ValueError:
            self.wrong(key, "not a time", value, "for instance 2025-01-31T12:00:00Z")
            return None

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of texts."""
        value = self._list(key)
        for position, item in enumerate(value):
            if not isinstance(item, str):
                self.problem((*self._steps, key, position), _no_text(item), item)
        return tuple(item for item in value if isinstance(item, str))

    def inside(self, key: str) -> Fields:
        """The mapping at a key; an empty one where there is none."""
        return Fields(self._mapping(key), self._findings, self._kind, (*self._steps, key))

    def items(self, key: str) -> Iterator[Fields]:
        """The mappings of a list."""
        for position, item in enumerate(self._list(key)):
            if isinstance(item, dict):
                yield Fields(item, self._findings, self._kind, (*self._steps, key, position))
            else:
                self.problem((*self._steps, key, position), "a mapping is wanted", item)

    def required(self, key: str) -> str:
        """Text that must be there."""
        if not self.text(key) and not any(one.steps == (*self._steps, key) for one in self._findings.problems):
            self.wrong(key, "this is missing")
        return self.text(key)

    def named(self, key: str, rule: Rule) -> str:
        """Text that must be there and keep a rule."""
        value = self.raw(key)
        if isinstance(value, str) and value and rule(value) is None:
            return value
        found = self.required(key)
        if found and (text := rule(found)) is not None:
            self.wrong(key, invalid(found, text))
        return found

    def wrong(self, key: str, problem: str, found: object = None, allowed: str | None = None) -> None:
        """Note that what is at a key is wrong."""
        self.problem((*self._steps, key), problem, found, allowed)

    def problem(self, steps: Steps, problem: str, found: object = None, allowed: str | None = None) -> None:
        """Note, once, that what is at a path is wrong."""
        if problem.startswith(("a mapping", "a list")) and isinstance(found, dict | list):
            found = None
        if not any((one.steps, one.problem) == (steps, problem) for one in self._findings.problems):
            self._findings.problems.append(Problem(steps, problem, found, allowed))

    def finish(self, *, quiet: Iterable[str] = (), ignored: Iterable[str] = (), strict: bool = True) -> None:
        """Look at what no getter asked for: ``quiet`` makes no difference here; ``ignored`` does, and is noted, as is
        what is unknown, except for what looks like a slip where it is ``strict``."""
        left = self._value.keys() - self._asked
        for key in sorted(map(str, left.difference(quiet))) if left else ():
            if self._value.get(key) in (None, {}, [], "", False):
                continue
            known = {*self._asked, *quiet} if key not in {*ignored} and strict else ()
            if meant := nearest(key, known, cutoff=_NEAR):
                self.wrong(key, f"unknown field{meant}")
            else:
                self._findings.ignored[".".join([self._kind, *_names(self._steps), key])] += 1

    def _mapping(self, key: str) -> dict[str, Any]:
        value = self.raw(key)
        if value is None:
            return {}
        if not isinstance(value, dict):
            self.wrong(key, "a mapping is wanted", value)
            return {}
        return value

    def _list(self, key: str) -> list[Any]:
        value = self.raw(key)
        if value is None:
            return []
        if not isinstance(value, list):
            self.wrong(key, "a list is wanted", value)
            return []
        return value


def _no_text(found: object) -> str:
    return _TEXT_NO_BOOLEAN if isinstance(found, bool) else _TEXT


def parse_time(value: object) -> int:
    """A time of the API as ns since 1970. Raises ValueError.

    >>> parse_time("1970-01-02T00:00:00Z")
    86400000000000
    """
    if not isinstance(value, str):
        raise ValueError("not a time")
    return _time(value)


@lru_cache(maxsize=65536)
def _time(text: str) -> int:
    """The fraction is read apart: Python knows microseconds at most."""
    head, dot, tail = text.partition(".")
    digits = len(tail) - len(tail.lstrip("0123456789")) if dot else 0
    moment = datetime.fromisoformat(head + (tail[digits:] if dot else ""))
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    since = moment - datetime(1970, 1, 1, tzinfo=UTC)
    fraction = int(tail[:digits][:9].ljust(9, "0")) if digits else 0
    return (since.days * 86_400 + since.seconds) * _NS_PER_S + fraction


def _names(steps: Steps) -> Iterator[str]:
    return (step for step in steps if isinstance(step, str))
