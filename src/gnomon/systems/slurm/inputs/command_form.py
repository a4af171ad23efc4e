"""Whether the words of scontrol and scancel are ones that are modelled, told before anything is run.

scontrol(1), scancel(1). What a command comes to (a job that is not there, a state that forbids it) only the run tells.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from gnomon.model.errors import InputError
from gnomon.systems.slurm.notation.hostlist import expand
from gnomon.systems.slurm.notation.times import limit_minutes

TO_JOBS: Final = ("hold", "uhold", "release", "requeue", "requeuehold", "suspend", "resume")
_VERBS: Final = (*TO_JOBS, "update", "create", "delete")
_ENTITIES: Final = ("jobid", "job", "partitionname", "nodename", "reservationname")
_WHOLE: Final = frozenset(("priority", "nice", "arraytaskthrottle", "prioritytier", "priorityjobfactor"))
_LEAST: Final = frozenset(("numnodes", "numcpus", "numtasks"))
_COUNTS: Final = frozenset(("nodecnt", "corecnt"))
_LIMITS: Final = frozenset(("maxtime", "defaulttime", "timelimit", "duration"))
_OPTIONS: Final = (
    *("-u", "--user", "-p", "--partition", "-A", "--account", "-q", "--qos", "-t", "--state", "-n", "--name"),
    *("-b", "--batch", "-f", "--full", "-Q", "--quiet", "-v", "--verbose", "--me"),
)


def check_command(words: Sequence[str]) -> None:
    """Raises :class:`InputError` for a command that cannot be given.

    >>> check_command(["scontrol", "update", "JobId=1", "Priority=5"])
    >>> check_command(["scontrol", "update", "JobId=1", "Priority=high"])
    Traceback (most recent call last):
    gnomon.model.errors.InputError: Priority: not a number, found 'high'
    """
    if words[0] == "scancel":
        _check_scancel(words[1:])
    elif words[0] == "scontrol":
        _check_scontrol(words[1:])


def _check_scancel(words: Sequence[str]) -> None:
    if not words:
        raise InputError("scancel: No job identification provided", allowed="a job id, or a filter as -u USER")
    for word in words:
        name = word.partition("=")[0]
        if name.startswith("-") and name not in _OPTIONS:
            raise InputError("not modelled: an option of scancel", found=name, allowed=", ".join(_OPTIONS))
        if "_[" in word:
            expand(word.partition("_")[2])


def _check_scontrol(words: Sequence[str]) -> None:
    verb = words[0].lower() if words else ""
    if verb not in _VERBS:
        raise InputError("not modelled: a command of scontrol", found=verb, allowed=", ".join(_VERBS))
    if verb in TO_JOBS:
        if len(words) < 2:
            raise InputError(f"scontrol {verb}: too few arguments", allowed="a job id")
        return
    pairs = {key.lower(): (key, value) for key, _, value in (word.partition("=") for word in words[1:])}
    if verb == "update" and not pairs.keys() & set(_ENTITIES):
        allowed = "JobId=, NodeName=, PartitionName= or ReservationName="
        raise InputError("scontrol update: no valid entity", found=" ".join(words[1:]), allowed=allowed)
    for name, (key, value) in pairs.items():
        _check_value(name, key, value)


def _check_value(name: str, key: str, value: str) -> None:
    if name in ("nodename", "nodes"):
        expand(value)
    elif name in _LIMITS:
        try:
            limit_minutes(value)
        except InputError as error:
            raise error.at(field=key) from None
    elif (
        (name in _WHOLE and not re.fullmatch(r"-?\d{1,18}", value, re.ASCII))
        or (name in _LEAST and not re.fullmatch(r"\d{1,9}(-\d{0,9})?", value, re.ASCII))
        or (name in _COUNTS and not re.fullmatch(r"\d{1,9}(,\d{1,9})*", value, re.ASCII))
    ) and not (name == "nice" and not value):
        raise InputError("not a number", field=key, found=value)
