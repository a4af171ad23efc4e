"""``scontrol show``: records of ``Key=value``, on many lines each or on one (``-o``), and ``show config``.

Values may hold blanks and ``=`` (names, comments, reasons): there a key ends them only if it is one that ``scontrol``
prints after them. Source: ``slurm_sprint_job_info`` and its like in ``src/api/*_info.c``, Slurm 22.05 to 25.05.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from gnomon.model.errors import InputError

_KEY: Final = re.compile(r"(?:(?<=\s)|\A)([A-Z][A-Za-z0-9_/:]*)=")
# what may hold anything, and the keys that can stand on its line after it
_FREE: Final = {
    "JobName": ("UserId", "HetJobIdSet"),
    "Comment": ("StdErr", "StdIn", "StdOut", "Power", "TresPerJob", "TresPerNode", "TresPerTask", "MailUser"),
    "AdminComment": ("Comment", "StdErr", "SystemComment"),
    "SystemComment": ("Comment", "StdErr"),
    "Command": ("WorkDir", "Comment", "SubmitLine"),
    "SubmitLine": ("WorkDir",),
    "WorkDir": ("AdminComment", "SystemComment", "Comment", "StdErr", "StdIn"),
    "StdErr": ("StdIn",),
    "StdIn": ("StdOut",),
    "StdOut": ("Switches", "Power", "TresPerJob", "TresPerNode", "CpusPerTres", "MemPerTres", "TresBind", "MailUser"),
    "Reason": ("Dependency", "FailedNode", "Comment", "Extra"),
    "OS": ("RealMemory",),
}
_BEGINS: Final = re.compile(r"(JobId|NodeName|PartitionName|ReservationName|LicenseName|StepId)=")
_NO_RECORD: Final = re.compile(r"No \w+ in the system|.*not found|slurm_load_\w+ error.*", re.IGNORECASE)


@dataclass(frozen=True)
class Record:
    """``values``: by key, of one that comes several times the last (``nodes``: all that stands on lines that begin with
    Nodes=, of ``-d``); ``line``: where it begins."""

    values: dict[str, str]
    line: int
    nodes: tuple[dict[str, str], ...] = ()

    def get(self, key: str) -> str:
        """A value, "" for none and for what stands for nothing."""
        value = self.values.get(key, "")
        return "" if value in ("(null)", "N/A", "n/a", "None") else value


def read_records(text: str, *, of: str = "", file: str | None = None) -> list[Record]:
    """The records of ``scontrol show``; ``of``: the key that each has to begin with. Raises InputError with file and
    line.

    >>> first, = read_records("JobId=7 JobName=a b=c\\n   UserId=eve(12) GroupId=x(1)\\n   Priority=5 Nice=0\\n")
    >>> first.values["JobName"], first.get("UserId"), first.line
    ('a b=c', 'eve(12)', 1)
    """
    found: list[Record] = []
    held: dict[str, str] | None = None
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or _NO_RECORD.match(line.strip()):
            continue
        if begins := _BEGINS.match(line):
            if of and begins[1] != of:
                raise InputError("a record of something else", file=file, line=number, found=begins[1], allowed=of)
            held = {}
            found.append(Record(held, number))
        if held is None:
            raise InputError("not a record of scontrol show", file=file, line=number, found=line.strip()[:60])
        pairs = dict(_pairs(line.strip()))
        if not pairs:
            raise InputError("not Key=value", file=file, line=number, found=line.strip()[:60])
        if next(iter(pairs)) == "Nodes" and "CPU_IDs" in pairs:
            last = found[-1]
            found[-1] = Record(last.values, last.line, (*last.nodes, pairs))
            continue
        held.update(pairs)
        if "CPU_IDs" in pairs:  # -o: all on one line
            found[-1] = Record(held, found[-1].line, tuple(_inside(line)))
    return found


def _pairs(line: str) -> Iterator[tuple[str, str]]:
    """Key and value, one after the other."""
    keys = list(_KEY.finditer(line))
    place = 0
    while place < len(keys):
        key = keys[place]
        after = place + 1
        if key[1] in _FREE:
            while after < len(keys) and keys[after][1] not in _FREE[key[1]]:
                after += 1
        end = keys[after].start() if after < len(keys) else len(line)
        yield key[1], line[key.end() : end].strip()
        place = after


def _inside(line: str) -> Iterator[dict[str, str]]:
    for found in re.finditer(r"\bNodes=(\S+) CPU_IDs=(\S*) Mem=(\S*) GRES=(\S*)", line):
        yield dict(zip(("Nodes", "CPU_IDs", "Mem", "GRES"), found.groups(), strict=True))


_SETTING: Final = re.compile(r"([A-Za-z][\w/]*(?:\[\d+\])?)\s+= ?(.*)\Z")


def read_config(text: str, *, file: str | None = None) -> dict[str, str]:
    """The settings of ``scontrol show config``, as printed, by key.

    >>> read_config("Configuration data as of 2026-01-01T00:00:00\\nKillWait                = 30 sec\\n")
    {'KillWait': '30 sec'}
    """
    found = {}
    for line in text.splitlines():
        if (pair := _SETTING.match(line)) is not None:
            found[pair[1]] = pair[2].strip()
    if not found:
        raise InputError("not the output of scontrol show config", file=file, line=1, allowed="Key = value")
    return found


def taken_at(text: str) -> str:
    """The time in the first line of ``scontrol show config``, "" where none stands."""
    found = re.search(r"^Configuration data as of (\S+)", text, re.MULTILINE)
    return found[1] if found else ""
