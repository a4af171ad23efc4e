"""``mapred-site.xml``, ``hdfs-site.xml`` and options of a scenario as :class:`Settings`.

What is not modelled is told once for each name; a value that is not one of its option is an error at its line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from gnomon.formats.files import Path
from gnomon.formats.hadoop import Property, read_properties
from gnomon.model.errors import InputError, slip
from gnomon.model.work import Note
from gnomon.systems.mapreduce.settings import OLD_NAMES, OPTIONS, Option, Settings

_REFERENCE = re.compile(r"\$\{([^${}]+)\}")
_REFERENCES_MAX: Final = 20
_BYTES = re.compile(r"(\d+)([kmgtpe]?)", re.IGNORECASE)
_UNITS: Final = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40, "p": 2**50, "e": 2**60}
_WORDS: Final = {"count": "a whole number", "milliseconds": "milliseconds, a whole number", "flag": "true or false"}


@dataclass(frozen=True)
class Configuration:
    """What files and options say together. ``given``: the names that were set, in their present form."""

    settings: Settings
    given: frozenset[str] = frozenset()
    notes: tuple[Note, ...] = ()


def read_configuration(paths: Iterable[Path] = (), options: Mapping[str, object] | None = None) -> Configuration:
    """The settings of files, later ones before earlier ones, and of ``options``, which come before all of them.

    Raises InputError for a file that is no configuration, and a value that its option cannot have.
    """
    held: dict[str, Property] = {}
    for path in paths:
        for name, one in read_properties(path).items():
            _put(held, name, one)
    for name, value in (options or {}).items():
        text = str(value).lower() if isinstance(value, bool) else str(value)
        _put(held, name, Property(name, text, "", 0))
    return configuration(held)


def _put(held: dict[str, Property], name: str, one: Property) -> None:
    present = OLD_NAMES.get(name, name)
    if present not in held or not held[present].final:
        held[present] = one


def configuration(held: Mapping[str, Property]) -> Configuration:
    """The settings of properties.

    >>> one = configuration({"mapreduce.task.io.sort.mb": Property("io.sort.mb", "256", "", 0)})
    >>> one.settings.sort_mb, one.notes
    (256, ())
    """
    fields: dict[str, object] = {}
    notes = []
    for name, one in held.items():
        option = OPTIONS.get(name)
        if option is None:
            notes.append(Note("not modelled", name, f"the option changes nothing here{slip(name, OPTIONS)}"))
        else:
            fields[option.field] = _value(option, _resolved(one, held), one)
    return Configuration(replace(Settings(), **fields), frozenset(held), tuple(notes))  # type: ignore[arg-type]


def _resolved(one: Property, held: Mapping[str, Property]) -> str:
    """The value with ``${name}`` replaced by that option's value, if it is there (``Configuration.substituteVars``)."""
    text = one.value
    for _ in range(_REFERENCES_MAX):
        found = _REFERENCE.search(text)
        if found is None or found[1] not in held:
            return text
        text = text[: found.start()] + held[found[1]].value + text[found.end() :]
    return text


def _value(option: Option, text: str, one: Property) -> int | bool:
    try:
        value = _parsed(option, text.strip())
    except ValueError as error:
        where, line = one.file or None, one.line or None
        raise InputError(
            f"not {error}", file=where, line=line, field=one.name, found=text, allowed=_allowed(option)
        ) from None
    return value


def _parsed(option: Option, text: str) -> int | bool:
    if option.kind == "flag":
        if text.lower() not in ("true", "false"):
            raise ValueError("true or false")
        return text.lower() == "true"
    if option.kind == "share":
        return _share(text, option)
    if option.kind == "bytes":
        found = _BYTES.fullmatch(text)
        number = int(found[1]) * _UNITS[found[2].lower()] if found else None
        what = "a number of bytes"
    else:
        number = int(text) if re.fullmatch(r"-?\d{1,19}", text) else None
        what = _WORDS.get(option.kind, "seconds, a whole number")
    if number is None or not option.least <= number <= option.most:
        raise ValueError(what if number is None else f"in its range: {what}")
    return number * {"milliseconds": 10**6, "seconds": 10**9}.get(option.kind, 1)


def _share(text: str, option: Option) -> int:
    """A part of one, to 1/10,000, rounded."""
    if not re.fullmatch(r"(\d{1,3}(\.\d*)?|\.\d+)f?", text):
        raise ValueError("a part of one")
    whole, _, part = text.rstrip("f").partition(".")
    number = int(whole or "0") * 10_000 + round(int((part + "00000")[:5]) / 10)
    if not option.least <= number <= 10_000:
        raise ValueError("a part of one")
    return number


def _allowed(option: Option) -> str:
    if option.kind == "flag":
        return "true, false"
    if option.kind == "share":
        return "0.0 to 1.0"
    if option.kind == "bytes":
        return "a whole number, k, m, g or t after it"
    most = f" to {option.most}" if option.most < 2**63 - 1 else " or more"
    return f"{option.least}{most}"
