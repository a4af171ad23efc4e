"""What a live Slurm cluster tells of itself by its own commands, read only: a file for each.

``scontrol show`` tells the configuration, nodes, partitions, reservations, licences, jobs and usage; ``sacctmgr`` the
accounts and QOS. slurm.conf itself is not asked for: it may be read by nobody but its owner, and lies elsewhere.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gnomon.formats.whole import check_directory, write_directory
from gnomon.model.errors import InputError

TIMEOUT_S: Final = 120
COMMANDS: Final[Mapping[str, tuple[str, ...]]] = {
    "config.txt": ("scontrol", "show", "config"),
    "jobs.txt": ("scontrol", "show", "job"),
    "licenses.txt": ("scontrol", "show", "lic"),
    "nodes.txt": ("scontrol", "-a", "show", "node"),
    "partitions.txt": ("scontrol", "-a", "show", "partition"),
    "qos.txt": ("sacctmgr", "-P", "show", "qos"),
    "reservations.txt": ("scontrol", "show", "reservation"),
    "sprio.txt": ("sprio", "-l"),
    "usage.txt": ("sshare", "-a", "-l", "-P"),
}
"""What is asked, by the name of its file."""
ACCOUNTS: Final = "sacctmgr.cfg"
"""The dump of the accounts."""
FILES: Final = (*COMMANDS, ACCOUNTS)
_NEEDED: Final = frozenset(("config.txt", "jobs.txt", "nodes.txt", "partitions.txt"))
_CLUSTER: Final = re.compile(r"^ClusterName\s*=\s*(\S+)", re.MULTILINE)
_ENVIRONMENT: Final = {"LC_ALL": "C", "SLURM_TIME_FORMAT": "standard"}


@dataclass(frozen=True)
class Taken:
    """The outputs by the name of their file, and what could not be had, with what the command said."""

    files: Mapping[str, bytes]
    missing: tuple[str, ...] = ()


def collect(folder: str = "") -> Taken:
    """Ask the commands, of a folder or where programs are found. Raises InputError when scontrol is not there, or the
    configuration, nodes, partitions or jobs cannot be had."""
    files: dict[str, bytes] = {}
    missing: list[str] = []
    for name, command in COMMANDS.items():
        done = _run(command, folder)
        if isinstance(done, bytes):
            if done.strip():
                files[name] = done
            continue
        if name in _NEEDED:
            raise InputError(f"{' '.join(command)}: {done}", allowed="a cluster that may be asked")
        missing.append(f"{' '.join(command)}: {done}")
    cluster = _CLUSTER.search(files["config.txt"].decode(errors="replace"))
    if cluster is not None:
        _accounts(cluster[1], folder, files, missing)
    return Taken(files, tuple(missing))


def take(place: Path | None, out: Path | None, *, programs: str = "", **others: object) -> tuple[Sequence[str], str]:
    """Write a snapshot to a folder. What is missing in it, and what to do with it."""
    folder = place or out or Path("snapshot")
    check_directory(folder, files=(), more=FILES)
    taken = collect(programs)

    def fill(beside: Path) -> None:
        for name, text in taken.files.items():
            (beside / name).write_bytes(text)

    write_directory(folder, fill, files=(), more=FILES)
    return taken.missing, f"the cluster is in {folder}; when its jobs start is told by: gnomon simulate {folder}/*"


def _accounts(cluster: str, folder: str, files: dict[str, bytes], missing: list[str]) -> None:
    """The accounts: sacctmgr writes its dump to a file, which is read and taken away again."""
    import tempfile

    with tempfile.TemporaryDirectory(prefix="gnomon-") as place:
        path = Path(place) / ACCOUNTS
        command = ("sacctmgr", "-i", "dump", cluster, f"file={path}")
        done = _run(command, folder)
        if path.is_file():
            files[ACCOUNTS] = path.read_bytes()
        else:
            said = done if isinstance(done, str) else "it wrote nothing"
            missing.append(f"sacctmgr dump {cluster}: {said}")


def _run(command: Sequence[str], folder: str) -> bytes | str:
    """What a command printed, or what is wrong with it."""
    program = os.path.join(folder, command[0]) if folder else command[0]
    try:
        done = subprocess.run(
            [program, *command[1:]],
            capture_output=True,
            check=False,
            timeout=TIMEOUT_S,
            stdin=subprocess.DEVNULL,
            env={**os.environ, **_ENVIRONMENT},
        )
    except FileNotFoundError:
        if command[0] == "scontrol":
            raise InputError("scontrol is not found", found=program, allowed="its folder, with --programs") from None
        return "not found"
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"does not answer: {error}"
    if done.returncode == 0:
        return done.stdout
    lines = (done.stderr or done.stdout).decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else f"exit status {done.returncode}"
