"""A session: commands of Slurm with the times and the users that give them, one a line.

    @0s    alice  sbatch -N2 -n16 -t 10 job.sh          # runs 5m
    @30s   bob    sbatch -n4 --wrap "sleep 60"
    @10m   root   scontrol update NodeName=n1 State=DRAIN Reason=disk
    @1h    root   cloud Nodes=spot[1-10] Capacity=0 ResumeTime=90s

How long a script runs is told by the script itself if it only sleeps, or by ``# runs TIME`` (and ``exit N``) behind
the command; scripts are files beside the session. ``cloud`` is no command of Slurm: it says what the provider of
power-saving nodes does (:mod:`gnomon.systems.slurm.controller.power`).
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from gnomon.formats.files import read_text
from gnomon.model.errors import InputError
from gnomon.model.quantity import parse_duration
from gnomon.model.work import Note
from gnomon.systems.slurm.inputs.command_form import check_command
from gnomon.systems.slurm.sbatch.arrays import check_tasks
from gnomon.systems.slurm.sbatch.request import JobRequest
from gnomon.systems.slurm.sbatch.site import Site
from gnomon.systems.slurm.sbatch.submission import Submission, submission

PROGRAMS: Final = ("sbatch", "scontrol", "scancel", "cloud")
_LINE: Final = re.compile(r"@(\S+)\s+(\S+)\s+(\S.*)")
_RUNS: Final = re.compile(r"\s#\s*runs\s+(\S+?)(?:[,\s]+exit\s+(\d{1,9}))?\s*$", re.ASCII)
LOOKS: Final = re.compile(r"^@\d\S*[ \t]+\S+[ \t]+(?:sbatch|scontrol|scancel|cloud)\b", re.MULTILINE)
"""What a session looks like."""


@dataclass(frozen=True)
class Command:
    """One command. ``requests``: of sbatch, what it submits; ``refusal``: what sbatch itself answers instead."""

    at_ns: int
    user: str
    words: tuple[str, ...]
    requests: tuple[JobRequest, ...] = ()
    refusal: str = ""
    notes: tuple[Note, ...] = ()
    line: int = 0

    @property
    def tasks(self) -> int:
        """How many it submits, arrays taken apart."""
        return sum(1 if one.array is None else len(one.array) for one in self.requests)


def read_session(path: str, site: Site) -> list[Command]:
    """The commands of a file for a cluster, in the order of their times. Raises InputError with file and line."""
    found: list[Command] = []
    tasks = 0
    for number, line in enumerate(read_text(path).splitlines(), 1):
        if line.strip() and not line.lstrip().startswith("#"):
            try:
                found.append(replace(_command(line.strip(), os.path.dirname(path), site), line=number))
                tasks += found[-1].tasks
                check_tasks(tasks, line.strip())
            except InputError as error:
                raise error.at(file=path, line=number) from None
    return sorted(found, key=lambda command: command.at_ns)


def _command(line: str, folder: str, site: Site) -> Command:
    matched = _LINE.match(line)
    if not matched:
        raise InputError("not a line of a session", found=line[:60], allowed="@TIME USER sbatch|scontrol|scancel …")
    try:
        at_ns = parse_duration(matched[1])
    except ValueError as error:
        raise InputError(str(error), found=matched[1], allowed="for instance @0s, @90s, @1h30m") from None
    text, runs = matched[3], _RUNS.search(matched[3])
    if runs:
        text = text[: runs.start()]
    try:
        words = tuple(shlex.split(text))
    except ValueError as error:
        raise InputError(f"quotes that do not match: {error}", found=text[:60]) from None
    if words[0] not in PROGRAMS:
        raise InputError("not modelled: a command", found=words[0], allowed=", ".join(PROGRAMS))
    if words[0] != "sbatch":
        check_command(words)
        return Command(at_ns, matched[2], words)
    said = submission(words[1:], _script(words, folder), user=matched[2], site=site)
    if not isinstance(said, Submission):
        return Command(at_ns, matched[2], words, refusal=said.text)
    requests = said.requests
    if runs:
        requests = tuple(_running(request, runs) for request in requests)
    return Command(at_ns, matched[2], words, requests, notes=said.notes)


def _running(request: JobRequest, runs: re.Match[str]) -> JobRequest:
    try:
        seconds = parse_duration(runs[1]) / 1e9
    except ValueError as error:
        raise InputError(str(error), field="runs", found=runs[1], allowed="for instance 90s, 5m") from None
    return replace(request, run_s=seconds, exit_code=int(runs[2] or 0))


def _script(words: tuple[str, ...], folder: str) -> str | None:
    """The text of the script that a command names, None: it names none that is there."""
    return next((read_text(path) for path in _candidates(words, folder) if os.path.isfile(path)), None)


def _candidates(words: tuple[str, ...], folder: str) -> Iterator[str]:
    if any(word.startswith("--wrap") for word in words):
        return
    yield from (os.path.join(folder, word) for word in words[1:] if not word.startswith("-"))
