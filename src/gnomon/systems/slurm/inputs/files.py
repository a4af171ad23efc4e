"""What a file of Slurm is, by its beginning: configuration, accounting, what its commands print, scripts, sessions."""

from __future__ import annotations

import re
from typing import Any, Final

import orjson

from gnomon.formats.files import Path, open_bytes, read_start
from gnomon.model.errors import InputError
from gnomon.systems.slurm.inputs.session import LOOKS

JSON_BYTES_MAX: Final = 2**30
_CONF: Final = re.compile(r"(?im)^\s*(NodeName|PartitionName|ClusterName|SlurmctldHost|ControlMachine|NodeSet)\s*=")
_ACCOUNTS: Final = re.compile(
    r"(?m)^Cluster - |\A(Cluster|Account|User|Name|Type)\||\A *(Cluster|Account|User|Name) +\S"
)
_HISTORY: Final = re.compile(r"\A(?:[A-Za-z0-9%]+\|)*JobID(?:Raw)?\|")
_PRINTED: Final = tuple(
    (kind, re.compile(pattern))
    for kind, pattern in (
        ("config", r"\AConfiguration data as of "),
        ("associations", r"\ACurrent Association Manager state"),
        ("jobs", r"\A\s*JobId=\d"),
        ("nodes", r"\A\s*NodeName=\S+ (?:Arch|CoresPerSocket)="),
        ("partitions", r"\A\s*PartitionName=\S+\s+AllowGroups="),
        ("reservations", r"\A\s*ReservationName=\S+ StartTime="),
        ("licenses", r"\A\s*LicenseName=\S+\s+Total="),
        (
            "nothing",
            r"\ANo (?:reservations|jobs|licenses) in the system|\A\s*JOBID +(?:PARTITION +)?(?:USER +)?PRIORITY",
        ),
        ("nothing", r"\A\*+\s*\nsdiag output at |\AStepId="),
        ("share", r"\A *Account(?: *\||  +)User(?: *\||  +)(?:Partition(?: *\||  +))?RawShares"),
        ("queue", r"\A(?:[A-Z][a-z]{2} [A-Z][a-z]{2} [^\n]*\d{4}\n)?[ A-Z_|()]*\bJOBID\b"),
        ("sinfo", r"\A(?:[A-Z][a-z]{2} [A-Z][a-z]{2} [^\n]*\d{4}\n)?[A-Z_|() ]*\b(?:NODELIST|PARTITION)\b"),
    )
)
_SESSION: Final = re.compile(r"\A(?:[ \t]*(?:#[^\n]*)?\n)*[ \t]*@\S")
_JSON: Final = re.compile(r"\A\s*\{")


def kind_of(path: Path) -> str:
    """The kind of a file: conf, accounts, session, script, history, json, or what a command printed. Raises InputError
    for one that is nothing known."""
    start = read_start(path)
    if LOOKS.search(start):
        return "session"
    if start.startswith("#!") or "#SBATCH" in start:
        return "script"
    if _SESSION.match(start) or str(path).endswith(".session"):  # its mistakes are told line by line
        return "session"
    if _JSON.match(start):
        return "json"
    if _HISTORY.match(start):
        return "history"
    for kind, pattern in _PRINTED:
        if pattern.match(start):
            return kind
    if _ACCOUNTS.search(start):
        return "accounts"
    if _CONF.search(start):
        return "conf"
    allowed = (
        "slurm.conf, sacctmgr dump, sacct -P, batch scripts, sessions, output of squeue, sinfo, scontrol show, sshare"
    )
    raise InputError("not a file of Slurm that is known", file=str(path), allowed=allowed)


def read_json(path: Path) -> tuple[str, list[Any], dict[str, Any]]:
    """What a JSON file lists: ``history`` (sacct), ``queue`` (squeue), ``nodes`` (sinfo); the list; the document."""
    file = str(path)
    with open_bytes(path) as stream:
        content = stream.read(JSON_BYTES_MAX + 1)
    if len(content) > JSON_BYTES_MAX:
        raise InputError(f"larger than {JSON_BYTES_MAX} bytes", file=file)
    try:
        document = orjson.loads(content)
    except orjson.JSONDecodeError as error:
        raise InputError(f"not JSON: {error}", file=file, line=error.lineno) from None
    if isinstance(document, dict):
        for key in ("jobs", "nodes", "sinfo"):
            listed = document.get(key)
            if isinstance(listed, list):
                if key != "jobs":
                    return "nodes", listed, document
                accounted = any(isinstance(job, dict) and "association" in job and "time" in job for job in listed[:1])
                return ("history" if accounted else "queue"), listed, document
    raise InputError("JSON of no command that is read", file=file, allowed="sacct, squeue or sinfo with --json")
