"""The form of a recorded case of Slurm, looked at before it is played: what is missing, or is of another kind.

The form is that of the README beside the recordings.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, Final

from gnomon.model.errors import InputError

_STEPS: Final = ("sbatch", "scontrol", "scancel", "query", "kill-node", "start-node", "sacctmgr")
_ALONE: Final = ("kill-node", "start-node")
_TEXT: Final = ("slurm_conf",)
_TEXT_OR_NULL: Final = ("gres_conf", "topology_conf")
_OF_JOB: Final = ("id", "name", "state", "nodes", "start_s", "end_s", "exit_code", "reasons")
_ID: Final = re.compile(r"\d{1,9}([_+]\d{1,9})?\Z", re.ASCII)
_LONGEST_S: Final = 1e9


def check_case(case: Mapping[str, Any]) -> None:
    """Raises :class:`InputError` with the field that is not as it is recorded."""
    for key in ("slurm_conf", "steps", "outcome"):
        if key not in case:
            raise InputError(f"a case of Slurm needs '{key}'", field=str(case.get("name", "")))
    for key in (*_TEXT, *_TEXT_OR_NULL):
        value = case.get(key)
        if not isinstance(value, str) and (key in _TEXT or value is not None):
            raise _bad(key, value, "a text")
    parts = str(case.get("version", "22.05")).split(".")[:2]
    if len(parts) != 2 or not all(part.isdecimal() and part.isascii() and len(part) < 4 for part in parts):
        raise _bad("version", case["version"], "for instance 22.05.8")
    for at, words in enumerate(_list(case, "accounting", "accounting")):
        if not isinstance(words, str):
            raise _bad(f"accounting[{at}]", words, "a text")
    for at, step in enumerate(_list(case, "steps", "steps")):
        _check_step(step, f"steps[{at}]")
    outcome = _mapping(case["outcome"], "outcome")
    for at, reply in enumerate(_list(outcome, "replies", "outcome.replies")):
        where = f"outcome.replies[{at}]"
        _has(_mapping(reply, where), ("step", "at_s", "rc", "text"), where)
        _number(reply["at_s"], f"{where}.at_s")
        if not isinstance(reply["step"], int):
            raise _bad(f"{where}.step", reply["step"], "the number of a step")
    for at, job in enumerate(_list(outcome, "jobs", "outcome.jobs")):
        _check_job(_mapping(job, f"outcome.jobs[{at}]"), f"outcome.jobs[{at}]")
    _mapping(case.get("repeat") or outcome.get("repeat") or {}, "repeat")


def _check_step(step: Any, where: str) -> None:
    _has(_mapping(step, where), ("at_s", "do"), where)
    _number(step["at_s"], f"{where}.at_s")
    if step["do"] not in _STEPS:
        raise _bad(f"{where}.do", step["do"], ", ".join(_STEPS))
    args = _list(step, "args", f"{where}.args")
    if step["do"] != "sbatch" and not args:
        raise _bad(f"{where}.args", args, "a node" if step["do"] in _ALONE else "the words of a command")
    for key in ("user", "script"):
        if not isinstance(step.get(key, ""), str | None):
            raise _bad(f"{where}.{key}", step[key], "a text")


def _check_job(job: Mapping[str, Any], where: str) -> None:
    _has(job, _OF_JOB, where)
    if not isinstance(job["state"], str):
        raise _bad(f"{where}.state", job["state"], "a text")
    if not (isinstance(job["id"], str) and _ID.match(job["id"])):
        raise _bad(f"{where}.id", job["id"], "5, 5_1 or 5+0")
    _list(job, "reasons", f"{where}.reasons")
    for key in ("submit_s", "start_s", "end_s"):
        if job.get(key) is not None:
            _number(job[key], f"{where}.{key}")
    for at, run in enumerate(_list(job, "runs", f"{where}.runs")):
        _has(_mapping(run, f"{where}.runs[{at}]"), ("state", "nodes"), f"{where}.runs[{at}]")
        for key in ("start_s", "end_s"):
            if run.get(key) is not None:
                _number(run[key], f"{where}.runs[{at}].{key}")
    for at, event in enumerate(_list(job, "events", f"{where}.events")):
        if not isinstance(event, list) or not event:
            raise _bad(f"{where}.events[{at}]", event, "[time, state, reason]")
        _number(event[0], f"{where}.events[{at}]")


def _has(found: Mapping[str, Any], keys: tuple[str, ...], where: str) -> None:
    missing = [key for key in keys if key not in found]
    if missing:
        raise InputError(f"'{missing[0]}' is missing", field=where)


def _list(of: Mapping[str, Any], key: str, where: str) -> list[Any]:
    found = of.get(key)
    if found is None:
        return []
    if not isinstance(found, list):
        raise _bad(where, found, "a list")
    return found


def _mapping(found: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(found, dict):
        raise _bad(where, found, "an object")
    return found


def _number(found: Any, where: str) -> None:
    number = isinstance(found, int | float) and not isinstance(found, bool)
    if not number or not math.isfinite(found) or abs(found) > _LONGEST_S:
        raise _bad(where, found, "seconds")


def _bad(where: str, found: object, allowed: str) -> InputError:
    shown = found if len(str(found)) < 80 else f"{str(found)[:77]}…"
    return InputError("not as a case of Slurm has it", field=where, found=shown, allowed=allowed)
