"""Recorded facts of event logs against what is read from the same logs."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from gnomon.model.errors import InputError
from gnomon.systems.spark.facts import facts
from gnomon.systems.spark.read import read_event_log

KIND: Final = "spark-log-"
"""How the names of these cases begin."""

PLACES: Final = (".", os.path.join("..", "..", "samples", "spark"))
"""Where the log of a case is, from the folder of the case."""


def judge_facts(case: Mapping[str, Any], path: str | os.PathLike[str] | None) -> tuple[bool, Sequence[str], object]:
    """Whether the facts of the log are those that were recorded, exactly; what differs, and all of them.

    ``path``: of the case. Raises InputError for a case without its log.
    """
    found = facts(read_event_log(log_of(case, path)))
    differences = list(_differences(case["outcome"], found, ""))
    return not differences, differences, found


def log_of(case: Mapping[str, Any], path: str | os.PathLike[str] | None) -> str:
    """The event log of a case: beside it or among the samples, also packed by gzip. Raises InputError."""
    said = case.get("input")
    name = said.get("event_log") if isinstance(said, dict) else None
    if not isinstance(name, str) or os.path.basename(name) != name or not name:
        raise InputError("the name of a file is wanted", field="input.event_log", found=name)
    folder = Path(path).parent if path else Path()
    for place in PLACES:
        for file in (folder / place / name, folder / place / f"{name}.gz"):
            if file.exists():
                return str(file)
    raise InputError("its log is not there", field="input.event_log", found=name, allowed=" or ".join(PLACES))


def _differences(recorded: Any, found: Any, where: str) -> Iterator[str]:
    """What differs, by its place in the document."""
    if isinstance(recorded, dict) and isinstance(found, dict):
        for key in dict.fromkeys([*recorded, *found]):
            if key not in recorded or key not in found:
                yield f"{where}{key}: {'not recorded' if key not in recorded else 'the model has none'}"
            else:
                yield from _differences(recorded[key], found[key], f"{where}{key}.")
    elif isinstance(recorded, list) and isinstance(found, list) and len(recorded) == len(found):
        for place, (one, other) in enumerate(zip(recorded, found, strict=True)):
            yield from _differences(one, other, f"{where.removesuffix('.')}[{place}].")
    elif recorded != found or isinstance(recorded, bool) != isinstance(found, bool):
        yield f"{where.removesuffix('.')}: {recorded!r}, the model says {found!r}"
