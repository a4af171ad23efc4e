"""Directives of other systems that sbatch obeys: ``#PBS`` and ``#BSUB`` lines, as options of sbatch.

They are read after ``#SBATCH`` and set over it; of a script with both, ``#BSUB`` alone counts. Source: ``src/sbatch/
xlate.c`` of Slurm 22.05 to 25.05; what it passes over in silence is passed over here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from gnomon.systems.slurm.sbatch.getopt import Takes, scan
from gnomon.systems.slurm.sbatch.refusals import WRONG, error
from gnomon.systems.slurm.sbatch.scripts import words

Take = Callable[[str, str | None], None]
"""Sets an option of sbatch, by its name."""


@dataclass(frozen=True, slots=True)
class _Foreign:
    """One option; ``to``: that of sbatch, "": none."""

    name: str
    short: str
    takes: Takes
    to: str = ""

    @property
    def key(self) -> str:
        return self.name


def _required(short: str, name: str, to: str = "") -> _Foreign:
    return _Foreign(name, short, Takes.REQUIRED, to)


_PBS: Final = (
    _required("a", "start_time", "begin"),
    _required("A", "account", "account"),
    _required("c", "checkpoint"),
    _required("C", "working_dir"),
    _required("e", "error", "error"),
    _Foreign("hold", "h", Takes.NONE, "hold"),
    _Foreign("interactive", "I", Takes.NONE),
    _required("j", "join"),
    _required("J", "job_array", "array"),
    _required("k", "keep"),
    _required("l", "resource_list"),
    _required("m", "mail_options"),
    _required("M", "mail_user_list", "mail-user"),
    _required("N", "job_name", "job-name"),
    _required("o", "out", "output"),
    _required("p", "priority", "nice"),
    _required("q", "destination", "partition"),
    _required("r", "rerunable"),
    _required("S", "script_path"),
    _required("t", "array", "array"),
    _required("u", "running_user"),
    _required("v", "variable_list", "export"),
    _Foreign("all_env", "V", Takes.NONE),
    _required("W", "attributes"),
    _Foreign("no_std", "z", Takes.NONE),
)
_BSUB: Final = (
    _required("c", "cwd", "chdir"),
    _required("e", "error_file", "error"),
    _required("J", "job_name", "job-name"),
    _required("m", "hostname", "nodelist"),
    _required("M", "memory_limit", "mem-per-cpu"),
    _required("n", "tasks", "ntasks"),
    _required("o", "output_file", "output"),
    _required("q", "queue_name", "partition"),
    _required("W", "time", "time"),
    _Foreign("exclusive", "x", Takes.NONE, "exclusive"),
)
_LINES_MAX: Final = 100
"""Lines that are no comments, after which sbatch looks no further."""


def translate(script: str, name: str, take: Take) -> None:
    """Gives the options that ``#BSUB`` or, without such, ``#PBS`` lines stand for to ``take``; may refuse."""
    arguments = list(_arguments(script, "#BSUB", name))
    if arguments:
        arguments = ["-c" if word == "-cwd" else word for word in arguments]
        _obey(arguments, _BSUB, lambda option, value: _bsub(option, value, take))
        return
    _obey(list(_arguments(script, "#PBS", name)), _PBS, lambda option, value: _pbs(option, value, take))


def _arguments(script: str, magic: str, name: str) -> Iterator[str]:
    commands = 0
    for number, line in enumerate(script.split("\n"), 1):
        if line.startswith(magic):
            yield from words(line[len(magic) :], name, number)
        elif not line.startswith("#"):
            commands += 1
            if commands > _LINES_MAX:
                return


def _obey(arguments: list[str], table: tuple[_Foreign, ...], take: Callable[[_Foreign, str | None], None]) -> None:
    complaint = "sbatch: error: Unrecognized command line parameter ?"
    at = scan(arguments, table, take, hint=complaint, rc=WRONG)
    if at < len(arguments):
        raise error(f"Invalid argument: {arguments[at]}", WRONG)


def _bsub(option: _Foreign, value: str | None, take: Take) -> None:
    written = value or ""
    if option.to == "ntasks" and "," in written:
        # least and most: the most counts
        most = written.partition(",")[2]
        if not most:
            raise error(f"#BSUB -n format not correct given: '{written}'", WRONG)
        written = most
    elif option.to == "nodelist":
        written = written.replace(" ", ",")
    elif option.to == "mem-per-cpu":
        written = f"{_leading(written)}K"
    elif option.to == "exclusive":
        take("exclusive", None)
        return
    take(option.to, written)


def _leading(text: str) -> int:
    matched = re.match(r"\s*([0-9]{1,15})", text, re.ASCII)
    return int(matched[1]) if matched else 0


def _pbs(option: _Foreign, value: str | None, take: Take) -> None:
    written = value or ""
    if option.name == "resource_list":
        _resources(written, take)
    elif option.name == "mail_options":
        letters = written.lower()
        kinds = [kind for letter, kind in (("b", "BEGIN"), ("e", "END"), ("a", "FAIL")) if letter in letters]
        take("mail-type", ",".join(kinds) if "n" not in letters else "NONE")
    elif option.name == "attributes":
        if written.lower().startswith("depend="):
            take("dependency", written[len("depend=") :])
    elif option.takes is Takes.NONE and option.to:
        take(option.to, None)
    elif option.to:
        take(option.to, written)


def _resources(listed: str, take: Take) -> None:
    """``-l nodes=2:ppn=4,walltime=1:00:00,mem=4gb`` and, of PBS Pro, ``select=2:ncpus=4:mpiprocs=2``."""
    said: dict[str, int] = {}
    accelerators = 0
    for part in re.split(r",(?![^=,]*(?:,|$))", listed):
        name, _, value = part.partition("=")
        name = name.strip().lower()
        if name == "select":
            for piece, count in re.findall(r"(select|ncpus|mpiprocs)=([^:,]*)", part, re.I):
                said[piece.lower()] = _set_select(piece.lower(), count, take)
        elif name in ("ncpus", "mpiprocs"):
            said[name] = _set_select(name, value, take)
        elif name in ("cput", "pcput", "walltime"):
            take("time", value)
        elif name in ("mem", "file"):
            take("mem" if name == "mem" else "tmp", re.sub("[bB]$", "", value))
        elif name == "nice":
            take("nice", value)
        elif name == "nodes":
            _nodes(value, take)
        elif name == "proc":
            take("constraint", value)
        elif name == "naccelerators":
            accelerators = _leading(value)
        elif name == "accelerator" and value.lower().startswith("true"):
            accelerators = max(accelerators, 1)
    if len(said) == 3 and said["mpiprocs"] and said["ncpus"] > said["mpiprocs"]:
        take("cpus-per-task", str(said["ncpus"] // said["mpiprocs"]))
    if accelerators > 0:
        take("gres", f"gpu:{accelerators}")


def _set_select(name: str, count: str, take: Take) -> int:
    take({"select": "nodes", "ncpus": "mincpus", "mpiprocs": "ntasks-per-node"}[name], count)
    return _leading(count)


def _nodes(value: str, take: Take) -> None:
    """``2:ppn=4``, ``n1+n2:ppn=2``, ``2:gpus=1``."""
    count = per_node = 0
    hosts: list[str] = []
    for part in re.split("[+:]", value):
        if part.startswith("ppn="):
            per_node += _leading(part[4:])
        elif part.startswith("gpus="):
            take("gpus-per-node", part[5:])
        elif part[:1].isdigit():
            count += _leading(part)
        elif part[:1].isalpha():
            hosts.append(part)
    if count:
        take("nodes", str(count))
    if per_node:
        take("ntasks", str(per_node * (count or 1)))
    if hosts:
        take("nodelist", ",".join(hosts))
