"""The state of ``gnomon chaos``: which schedules were run with what result, kept so that a rerun goes on from there.

A journal (:mod:`gnomon.engine.journal`): first what it is about, then a record a run, on disk as soon as the run is
done. What an exploration does hangs on its seed and on results alone, so nothing else has to be kept.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import fields, replace
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np

from gnomon.engine.journal import Journal, records
from gnomon.insight.chaos.explore import Result
from gnomon.insight.chaos.rules import Verdict
from gnomon.insight.chaos.schedules import Schedule, schedule_data
from gnomon.model.errors import InputError
from gnomon.model.fault import Failure, Fault
from gnomon.model.scenario import Scenario

FORM: Final = 1
"""The version of the form in which states are kept."""

_NOT_OF_THE_RUN: Final = ("name", "source", "properties", "work", "cluster")
_RECORD = re.compile(rb"[0-9a-f]{8} \{.*")
_BEGUN = re.compile(rb"[0-9a-f]{0,8}|[0-9a-f]{8} (\{.*)?")
_WORDS: Final = {
    "version": "was written by another version of Gnomon",
    "scenario": "is of another scenario (or seed)",
    "properties": "is of other properties",
}


def scenario_digest(scenario: Scenario) -> str:
    """SHA-256 of all that a run is a function of (of a policy in Python: its name)."""
    work = scenario.work
    facts: list[object] = [scenario.policy.text, scenario.policy.options]
    facts += [getattr(scenario, one.name) for one in fields(scenario) if one.name not in (*_NOT_OF_THE_RUN, "policy")]
    facts.append(replace(scenario.cluster, source=""))
    for one in fields(work):
        value = getattr(work, one.name)
        if one.name == "needs":
            value = sorted(value.items())
        if one.name not in ("notes", "source"):
            facts.append((one.name, value.tolist() if isinstance(value, np.ndarray) else value))
    return hashlib.sha256(repr(facts).encode("utf-8", "backslashreplace")).hexdigest()


class State:
    """Results by schedule; with a ``path`` they are kept there, and what was kept there before is known.

    Raises InputError for a file that is no such state, or of another scenario, or of other properties.
    """

    def __init__(self, path: Path | None, scenario: Scenario, properties: Sequence[str]) -> None:
        from gnomon import __version__

        self.known: dict[Schedule, Result] = {}
        self._journal: Journal | None = None
        if path is None:
            return
        about = {
            "gnomon_chaos": FORM,
            "version": __version__,
            "scenario": scenario_digest(scenario),
            "properties": list(properties),
        }
        _refuse_other(path)
        with ExitStack() as unless_kept:
            self._journal = unless_kept.enter_context(Journal(path))
            kept = list(records(path))
            if kept:
                _check(kept[0], about, path)
                self.known = dict(_result(record, path) for record in kept[1:])
            else:
                self._journal.append(about)
            unless_kept.pop_all()

    def add(self, schedule: Schedule, result: Result) -> None:
        """One more run; it is on disk when this returns."""
        self.known[schedule] = result
        if self._journal:
            self._journal.append(_record(schedule, result))

    def close(self) -> None:
        """Close the file."""
        if self._journal:
            self._journal.close()


def _refuse_other(path: Path) -> None:
    """Leave a file of another sort alone. Raises InputError."""
    if path.exists() and not path.is_file():  # a device or a pipe may have no end
        raise _none(path)
    if path.is_file():
        with path.open("rb") as file:
            first, ended, _ = file.read(4096).partition(b"\n")
        if not (_RECORD if ended else _BEGUN).fullmatch(first):
            raise _none(path)


def _none(path: Path) -> InputError:
    allowed = f"a file that does not exist yet, or that gnomon chaos --state wrote (form {FORM})"
    return InputError("is not a state of gnomon chaos", file=str(path), allowed=allowed)


def _check(found: Mapping[str, Any], about: Mapping[str, Any], path: Path) -> None:
    if found.get("gnomon_chaos") != FORM:
        raise _none(path)
    for name, words in _WORDS.items():
        if found.get(name) != about[name]:
            raise InputError(f"this state {words}", file=str(path), field=name, allowed="another file, or remove it")


def _record(schedule: Schedule, result: Result) -> dict[str, Any]:
    verdicts = [[one.holds, one.found, list(one.rows), one.task, one.near_e4] for one in result.verdicts]
    return {"faults": schedule_data(schedule), "verdicts": verdicts, "hit": sorted(result.hit), "rows": result.rows}


def _result(record: Mapping[str, Any], path: Path) -> tuple[Schedule, Result]:
    try:
        faults, verdicts, hit, rows = _kept().validate_python([record[name] for name in _FIELDS])
        schedule = tuple(Failure(Fault(kind), *rest) for kind, *rest in faults)
        return schedule, Result(tuple(Verdict(*verdict) for verdict in verdicts), hit, rows)
    except (KeyError, ValueError):
        raise _none(path) from None


_FIELDS: Final = ("faults", "verdicts", "hit", "rows")
_Fault = tuple[str, int, int, tuple[str, ...], tuple[str, ...], int]
_Verdict = tuple[bool, str, tuple[int, ...], int, int]


@cache
def _kept() -> Any:
    """What the fields of a record are, as JSON has them."""
    from pydantic import TypeAdapter

    return TypeAdapter(tuple[tuple[_Fault, ...], tuple[_Verdict, ...], frozenset[int], int])
