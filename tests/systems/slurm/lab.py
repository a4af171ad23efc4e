"""A real Slurm on this machine, as small as it can be: one controller, a few nodes, nothing outside a folder.

Needs root and the programs of the packages slurmctld, slurmd, slurm-client, slurm-wlm-basic-plugins and munge of
Debian 12. Nodes are daemons with declared sizes (``config_overrides``), so jobs should only sleep.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from gnomon.systems.slurm.notation.hostlist import expand

PROGRAMS: Final = ("slurmctld", "slurmd", "sbatch", "scontrol", "scancel", "sinfo", "munged", "munge")
OVER: Final = ("COMPLETED", "FAILED", "TIMEOUT", "CANCELLED", "NODE_FAIL", "PREEMPTED", "DEADLINE")
STARTS_S: Final = 30
"""How long the daemons may take until all nodes are idle."""
LASTS_S: Final = 90
"""How long the jobs may take."""


def absent() -> str:
    """Why no real Slurm can be started here, "" if one can."""
    missing = [name for name in PROGRAMS if shutil.which(name, path=_PATH) is None]
    if missing:
        return f"needs Slurm's own programs, which are absent: {', '.join(missing)}"
    if os.geteuid() != 0:
        return "needs root, for Slurm's daemons start jobs as their users"
    return ""


_PATH: Final = os.pathsep.join((os.environ.get("PATH", ""), "/usr/sbin", "/usr/bin"))


@contextmanager
def cluster(folder: Path, conf: str) -> Iterator[Lab]:
    """A running cluster of a slurm.conf without hosts, ports and paths."""
    lab = Lab(folder)
    try:
        lab.start(conf)
        yield lab
    finally:
        lab.stop()


class Lab:
    """One cluster, its daemons and its clock."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._daemons: list[subprocess.Popen[bytes]] = []
        self._conf = folder / "slurm.conf"

    def start(self, conf: str) -> None:
        """Start the daemons; return when all nodes are idle."""
        folder = self._folder
        for name in ("munge", "state", "spool"):
            (folder / name).mkdir(mode=0o755)
        key = folder / "munge" / "key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o400)
        munge = folder / "munge"
        self._daemon(
            "munged",
            "--foreground",
            "--force",
            f"--key-file={key}",
            f"--socket={munge / 'socket'}",
            f"--pid-file={munge / 'pid'}",
            f"--log-file={munge / 'log'}",
            f"--seed-file={munge / 'seed'}",
        )
        names = [name for found in re.findall(r"(?m)^NodeName=(\S+)", conf) for name in expand(found)]
        self._conf.write_text(self._whole(conf, names))
        (folder / "cgroup.conf").write_text("CgroupAutomount=no\n")
        self._daemon("slurmctld", "-D")
        for name in names:
            self._daemon("slurmd", "-D", "-N", name)
        deadline = time.monotonic() + STARTS_S
        while set(self.run("sinfo", "-h", "-N", "-o", "%T")[1].split()) != {"idle"}:
            if time.monotonic() > deadline:
                raise TimeoutError(f"the nodes are not idle after {STARTS_S} s:\n{self.run('sinfo', '-N')[1]}")
            time.sleep(0.2)

    def _whole(self, conf: str, names: Sequence[str]) -> str:
        """The slurm.conf with what is particular to this machine."""
        host, folder = socket.gethostname().partition(".")[0], self._folder
        ports = iter(_free_ports(len(names) + 1))
        lines = [
            "ClusterName=lab",
            f"SlurmctldHost={host}(127.0.0.1)",
            f"SlurmctldPort={next(ports)}",
            "SlurmUser=root",
            "SlurmdUser=root",
            "AuthType=auth/munge",
            "CredType=cred/munge",
            f"AuthInfo=socket={folder / 'munge' / 'socket'}",
            f"StateSaveLocation={folder / 'state'}",
            f"SlurmdSpoolDir={folder / 'spool'}/%n",
            f"SlurmctldPidFile={folder / 'slurmctld.pid'}",
            f"SlurmdPidFile={folder}/slurmd.%n.pid",
            f"SlurmctldLogFile={folder / 'slurmctld.log'}",
            f"SlurmdLogFile={folder}/slurmd.%n.log",
            "MailProg=/bin/true",
            "SlurmdParameters=config_overrides",
            "ReturnToService=2",
            "ProctrackType=proctrack/linuxproc",
            "TaskPlugin=task/none",
            "SwitchType=switch/none",
            "MpiDefault=none",
            "JobAcctGatherType=jobacct_gather/none",
            "AccountingStorageType=accounting_storage/none",
            "MinJobAge=600",
        ]
        for line in conf.splitlines():
            matched = re.match(r"NodeName=(\S+)(.*)", line)
            if not matched:
                lines.append(line)
                continue
            for name in expand(matched[1]):
                where = f"NodeHostname={host} NodeAddr=127.0.0.1 Port={next(ports)}"
                lines.append(f"NodeName={name} {where}{matched[2]}")
                (folder / "spool" / name).mkdir()
        return "\n".join(lines) + "\n"

    def _daemon(self, name: str, *words: str) -> None:
        """Start a daemon. Slurm's look at their own name, which Debian's alternatives change."""
        program = shutil.which(f"{name}-wlm", path=_PATH) or shutil.which(name, path=_PATH)
        with (self._folder / f"{name}.out").open("ab") as out:
            self._daemons.append(
                subprocess.Popen(
                    [name, *words],
                    executable=program,
                    env=self._environment(),
                    stdout=out,
                    stderr=out,
                    stdin=subprocess.DEVNULL,
                )
            )

    def _environment(self) -> dict[str, str]:
        return {"PATH": _PATH, "LC_ALL": "C", "SLURM_CONF": str(self._conf), "SLURM_TIME_FORMAT": "standard"}

    def stop(self) -> None:
        """End what was started."""
        for daemon in reversed(self._daemons):
            daemon.terminate()
        for daemon in self._daemons:
            with suppress(subprocess.TimeoutExpired):
                daemon.wait(10)
            if daemon.poll() is None:
                daemon.kill()
                daemon.wait()

    def run(self, *words: str, script: str | None = None) -> tuple[int, str]:
        """A command: its exit code, and what it says."""
        done = subprocess.run(
            words,
            env=self._environment(),
            input=script,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=30,
            check=False,
            cwd=self._folder,
        )
        return done.returncode, done.stdout.strip()

    def play(self, steps: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Give the commands in their time, wait until all jobs are over, and tell of them as the recordings do."""
        time.sleep(1 - time.time() % 1)
        zero = int(time.time())
        replies = []
        for number, step in sorted(enumerate(steps), key=lambda one: float(one[1]["at_s"])):
            time.sleep(max(0.0, zero + step["at_s"] - time.time()))
            words = [step["do"], *(["-o", "/dev/null"] if step["do"] == "sbatch" else []), *step["args"]]
            at_s = round(time.time() - zero, 2)
            code, text = self.run(*words, script=step.get("script"))
            replies.append({"step": number, "at_s": at_s, "rc": code, "text": text})
        deadline = time.monotonic() + LASTS_S
        while any(job["state"] not in OVER for job in self._jobs(zero)):
            if time.monotonic() > deadline:
                raise TimeoutError(f"jobs still run after {LASTS_S} s:\n{self.run('squeue')[1]}")
            time.sleep(0.3)
        return {"jobs": self._jobs(zero), "replies": replies, "queries": []}

    def _jobs(self, zero: int) -> list[dict[str, Any]]:
        """The jobs as scontrol shows them."""
        found = []
        for line in self.run("scontrol", "-o", "show", "job")[1].splitlines():
            says = dict(re.findall(r"(?:^|\s)(\w+)=(\S*)", line))
            if not says.get("JobId"):
                continue
            task = says.get("ArrayTaskId", "")
            ran = says.get("NodeList", "") not in ("", "(null)")
            begun = _seconds(says["StartTime"], zero) if ran else None
            over = says["JobState"] in OVER
            found.append(
                {
                    "id": f"{says['ArrayJobId']}_{task}" if task.isdigit() else says["JobId"],
                    "name": says["JobName"],
                    "state": says["JobState"],
                    "nodes": list(expand(says["NodeList"])) if ran else [],
                    "start_s": begun,
                    "submit_s": _seconds(says["SubmitTime"], zero),
                    "end_s": _seconds(says["EndTime"], zero) if over else None,
                    "exit_code": says["ExitCode"] if ran else None,
                    "reasons": [],
                }
            )
        return found


def _seconds(text: str, zero: int) -> float | None:
    try:
        return datetime.fromisoformat(text).timestamp() - zero
    except ValueError:
        return None


def _free_ports(count: int) -> list[int]:
    """Ports that nobody listens on."""
    held = [socket.socket() for _ in range(count)]
    for one in held:
        one.bind(("127.0.0.1", 0))
    ports = [int(one.getsockname()[1]) for one in held]
    for one in held:
        one.close()
    return ports
