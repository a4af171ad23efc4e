"""The native objects of a kept run: dataclasses of any system as compressed JSON, and back.

Each object is written once, however many hold it: ``records`` are ``[number of its class, values of its fields]``,
those that an object holds before it; ``{"#": n}`` stands for record n. Mappings whose keys are not all plain texts,
sets, enumerations and moments are marked likewise. So the file is small, and what is read back shares what was shared.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from enum import Enum
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import orjson

from gnomon.formats.files import read_text

FILE: Final = "native.json.gz"
"""Its name in a kept run; a run without native objects has none."""

_BYTES_MAX: Final = 2**31
_OURS: Final = "gnomon."
_MARK: Final = "#"


class NotPlainError(TypeError):
    """A value that cannot be written: what is kept is data, and no functions or open files."""


def write(path: Path, value: object) -> None:
    """Write an object. Raises :class:`NotPlainError` for what holds more than data."""
    path.write_bytes(gzip.compress(orjson.dumps(document_of(value)), compresslevel=4, mtime=0))


def read(path: Path) -> Any:
    """The object again.

    Raises InputError for a file that cannot be read, and LookupError, ValueError, TypeError, AttributeError or
    RecursionError for what no such object is.
    """
    return value_of(orjson.loads(read_text(path, limit_bytes=_BYTES_MAX)))


def document_of(value: object) -> dict[str, Any]:
    """An object as plain values.

    >>> from gnomon.model.resources import Resources
    >>> one = Resources(cpu_milli=500)
    >>> document = document_of((one, {"same": one}))
    >>> document["value"], len(document["records"])
    ([{'#': 0}, {'same': {'#': 0}}], 1)
    >>> value_of(document) == (one, {"same": one})
    True
    """
    writer = _Writer()
    plain = writer.plain(value)
    return {"classes": writer.classes, "records": writer.records, "value": plain}


def value_of(document: Mapping[str, Any]) -> Any:
    """The object that :func:`document_of` was given."""
    makers = [_maker(name, names) for name, names in document["classes"]]
    made: list[Any] = []
    for kind, *values in document["records"]:
        made.append(makers[kind](*[_value(one, made) for one in values]))
    return _value(document["value"], made)


class _Writer:
    """``classes``: ``[module:name, names of the fields]`` of each class that was met."""

    def __init__(self) -> None:
        self.classes: list[tuple[str, list[str]]] = []
        self.records: list[list[Any]] = []
        self._class: dict[type, int] = {}
        self._names: list[list[str]] = []
        self._written: dict[int, tuple[int, object]] = {}  # with the object, so that its address stays its own

    def plain(self, value: object) -> Any:
        if value is None or isinstance(value, str | bool | float) or type(value) is int:
            return value
        if is_dataclass(value) and not isinstance(value, type):
            return {_MARK: self._record(value)}
        if isinstance(value, Mapping):
            if all(isinstance(key, str) and not key.startswith(_MARK) for key in value):
                return {key: self.plain(one) for key, one in value.items()}
            return {"#map": [[self.plain(key), self.plain(one)] for key, one in value.items()]}
        if isinstance(value, tuple):
            return [self.plain(one) for one in value]
        for kind, mark in ((list, "#list"), (frozenset, "#set")):
            if isinstance(value, kind):
                listed = sorted(value, key=repr) if kind is frozenset else value
                return {mark: [self.plain(one) for one in listed]}
        if isinstance(value, datetime):
            return {"#moment": value.isoformat()}
        if isinstance(value, Enum):
            return {"#enum": [_name(type(value)), self.plain(value.value)]}
        raise NotPlainError(f"{type(value).__module__}.{type(value).__qualname__}")

    def _record(self, value: Any) -> int:
        found = self._written.get(id(value))
        if found is None:
            kind = self._number(type(value))
            record = [kind, *(self.plain(getattr(value, name)) for name in self._names[kind])]
            found = self._written[id(value)] = len(self.records), value
            self.records.append(record)
        return found[0]

    def _number(self, kind: type) -> int:
        if kind not in self._class:
            names = [one.name for one in fields(kind) if one.init]
            self._class[kind] = len(self.classes)
            self.classes.append((_name(kind), names))
            self._names.append(names)
        return self._class[kind]


def _name(kind: type) -> str:
    if not kind.__module__.startswith(_OURS):
        raise NotPlainError(f"{kind.__module__}.{kind.__qualname__}")
    return f"{kind.__module__}:{kind.__qualname__}"


def _kind(name: str) -> Any:
    module, _, path = name.partition(":")
    if not module.startswith(_OURS):
        raise ValueError(f"not a class of this program: {name}")
    found: Any = import_module(module)
    for part in path.split("."):
        found = getattr(found, part)
    return found


def _maker(name: str, names: list[str]) -> Callable[..., Any]:
    kind = _kind(name)
    if not is_dataclass(kind):
        raise ValueError(f"not a class of objects: {name}")
    return lambda *values: kind(**dict(zip(names, values, strict=True)))  # type: ignore[operator]


def _value(plain: Any, made: list[Any]) -> Any:
    if isinstance(plain, list):
        return tuple(_value(one, made) for one in plain)
    if not isinstance(plain, dict):
        return plain
    if len(plain) == 1:
        ((mark, inner),) = plain.items()
        if mark == _MARK:
            return made[inner]
        if mark == "#map":
            return {_value(key, made): _value(one, made) for key, one in inner}
        if mark == "#list":
            return [_value(one, made) for one in inner]
        if mark == "#set":
            return frozenset(_value(one, made) for one in inner)
        if mark == "#moment":
            return datetime.fromisoformat(inner)
        if mark == "#enum":
            return _kind(inner[0])(_value(inner[1], made))
    return {key: _value(one, made) for key, one in plain.items()}
