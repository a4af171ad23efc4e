"""Recorded cases against the model: may one trust it?

A case is a JSON file ``{"name", "system", "version", …, "outcome"}`` that was recorded from the real engine.
The verifier of its system (:mod:`gnomon.api.systems`) lets the model do the same and compares.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from gnomon.api.systems import SYSTEMS
from gnomon.formats.files import read_text
from gnomon.model.errors import InputError

Case = Mapping[str, Any]


@dataclass(frozen=True)
class Verdict:
    """What came of one case. ``outcome``: the model's, in the recorded form; None when it is not modelled."""

    name: str
    system: str
    agrees: bool | None
    differences: tuple[str, ...] = ()
    outcome: Any = None

    def as_dict(self) -> dict[str, Any]:
        """The form of ``verify -o json``."""
        return {**asdict(self), "differences": list(self.differences)}


def verify(case: Case, path: str | Path | None = None) -> Verdict:
    """Let the model do what a case recorded, and compare. ``path``: of the case's file, beside which others may be.

    >>> verify({"name": "fit-1", "system": "abacus", "outcome": []}).differences
    ('system abacus is not modelled yet',)
    """
    name, system = case["name"], case["system"]
    judge = SYSTEMS[system].make_judge() if system in SYSTEMS else None
    if judge is None:
        return Verdict(name, system, None, (f"system {system} is not modelled yet",))
    agrees, differences, outcome = judge(case, path)
    return Verdict(name, system, agrees, tuple(differences), outcome)


def verify_file(path: str | Path) -> Verdict:
    """What comes of the case in a file. Raises InputError with the file for what cannot be played."""
    case = read_case(path)
    try:
        return verify(case, path)
    except InputError as error:
        if error.file is None:
            raise error.at(file=str(path)) from None
        raise InputError(str(error), file=str(path)) from None  # its files are texts in the case


def read_case(path: str | Path) -> Case:
    """One recorded case. Raises InputError when the file is none."""
    try:
        content = json.loads(read_text(path))
    except json.JSONDecodeError as error:
        raise InputError(f"not JSON: {error.msg}", file=str(path), line=error.lineno) from None
    except (RecursionError, ValueError) as error:  # ValueError: a number of thousands of digits
        raise InputError(f"not readable as JSON: {error}", file=str(path)) from None
    if not is_case(content):
        raise InputError("not a recorded case: it lacks name, system or outcome", file=str(path))
    return dict(content)


def is_case(content: object) -> bool:
    """Whether a JSON value has what every recorded case has."""
    return (
        isinstance(content, dict)
        and isinstance(content.get("name"), str)
        and isinstance(content.get("system"), str)
        and "outcome" in content
    )


def case_files(paths: Iterable[str | Path]) -> Iterator[Path]:
    """The files that were named, and below the folders that were named every ``*.json``, in order of their names.

    Raises InputError for a path that is not there and for a folder without any.
    """
    for path in map(Path, paths):
        if not path.is_dir():
            yield path
            continue
        found = sorted(path.rglob("*.json"))
        if not found:
            raise InputError("no recorded case (*.json) in this folder", file=str(path))
        yield from found
