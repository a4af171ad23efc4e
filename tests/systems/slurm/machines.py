"""A controller with its machines, told what to do second by second."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from pathlib import Path

from gnomon.systems.slurm.accounting.accounts import Accounts
from gnomon.systems.slurm.accounting.sacctmgr import apply_commands
from gnomon.systems.slurm.cluster.state import SECOND, State
from gnomon.systems.slurm.config.slurm_conf import read_conf
from gnomon.systems.slurm.controller import commands
from gnomon.systems.slurm.controller.books import books
from gnomon.systems.slurm.controller.slurmctld import Controller
from gnomon.systems.slurm.controller.submitting import Reply, submit
from gnomon.systems.slurm.machine import Machine
from gnomon.systems.slurm.sbatch.request import JobRequest
from tests.systems.slurm.played import conf

USERS = ("add account phys", "add user a,b,c account=phys")


@dataclass(eq=False)
class Told:
    """One cluster: 4 nodes of 8 CPUs, users a, b and c with equal shares."""

    machine: Machine
    state: State

    def __post_init__(self) -> None:
        self._tasks = count()

    def run_to(self, at_s: float) -> None:
        """Let time pass."""
        self.machine.run(int(at_s * SECOND))

    def submit(self, request: JobRequest, at_s: float) -> Reply:
        """A submission at a time."""
        self.run_to(at_s)
        reply = submit(self.state, [request], self._tasks)
        self.machine.controller.arrived(reply.jobs)
        return reply

    def command(self, *words: str) -> str:
        """A command of root's to scontrol, now."""
        text, _ = commands.scontrol(self.state, list(words), "root")
        self.machine.controller.ask()
        return text


def machine(folder: Path, *lines: str, accounts: tuple[str, ...] = USERS) -> Told:
    """A cluster with these lines of slurm.conf, and what these commands of sacctmgr made."""
    (folder / "slurm.conf").write_text(conf(*lines))
    machine = Machine(launch_ns=0, gone_ns=0)
    made = apply_commands(Accounts(), list(accounts))
    machine.state = state = books(read_conf(folder / "slurm.conf"), made, machine)
    machine.controller = Controller(state)
    return Told(machine, state)
