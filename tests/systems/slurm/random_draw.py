"""A random case while it is being made: a small cluster, its accounts, and commands in their time.

The form is that which the recorder of a real Slurm takes; ``gnomon verify`` plays it with what was recorded.
"""

from __future__ import annotations

from random import Random
from typing import Any, Final

Case = dict[str, Any]
Step = dict[str, Any]
SIZES: Final = {
    4: "CPUs=4 SocketsPerBoard=1 CoresPerSocket=4 ThreadsPerCore=1 RealMemory=8000",
    8: "CPUs=8 SocketsPerBoard=2 CoresPerSocket=4 ThreadsPerCore=1 RealMemory=16000",
    16: "CPUs=16 SocketsPerBoard=2 CoresPerSocket=8 ThreadsPerCore=1 RealMemory=20000",
}
THREADS: Final = "CPUs=16 SocketsPerBoard=2 CoresPerSocket=4 ThreadsPerCore=2 RealMemory=16000"
USERS: Final = ("alice", "bob", "carol", "dave")
ENFORCE: Final = {"AccountingStorageEnforce": "associations,limits,qos,safe"}
MULTIFACTOR: Final = {
    "PriorityType": "priority/multifactor",
    "PriorityCalcPeriod": "1",
    "AccountingStorageEnforce": "associations,limits,qos",
}
ACCOUNTS: Final = [
    "add account phys Description=p Organization=lab",
    "add account chem Description=c Organization=lab",
    "add user alice DefaultAccount=phys",
    "add user bob DefaultAccount=phys",
    "add user carol DefaultAccount=chem",
    "add user dave DefaultAccount=chem",
]
EVERYBODY: Final = "modify user where name=alice,bob,carol,dave set"


class Draw:
    """One case while it is being made."""

    def __init__(self, seed: int, theme: str) -> None:
        self.random = Random(f"{theme} {seed}")
        self.steps: list[Step] = []
        self.made = 0
        self.nodes: list[str] = []
        self.names: list[str] = []
        self.cpus: list[int] = []
        self.conf: dict[str, str] = {}
        self.parts = ["PartitionName=batch Nodes=ALL Default=YES MaxTime=INFINITE State=UP"]
        self.accounting: list[str] = []
        self.more: dict[str, Any] = {}

    def pick(self, *choices: Any) -> Any:
        """One of several."""
        return self.random.choice(choices)

    def chance(self, of_ten: int) -> bool:
        """Whether something happens that does so often."""
        return self.random.randrange(10) < of_ten

    def cluster(self, kinds: list[tuple[int, int, str]]) -> None:
        """Nodes: how many, of how many CPUs, with what more."""
        first = 1
        for count, cpus, more in kinds:
            last = first + count - 1
            names = f"n[{first}-{last}]" if count > 1 else f"n{first}"
            self.nodes.append(f"NodeName={names} {SIZES[cpus]} {more}State=UNKNOWN")
            self.names += [f"n{i}" for i in range(first, last + 1)]
            self.cpus += [cpus] * count
            first = last + 1

    def equal(self) -> None:
        """Some nodes that are alike."""
        self.cluster([(self.pick(2, 3, 4, 4, 6), 8, "")])

    def mixed(self) -> None:
        """Nodes of several sizes."""
        self.cluster([(self.pick(1, 2, 3), size, "") for size in self.pick((4, 8), (8, 16), (4, 8, 16), (8, 4))])

    def job(self, at: float, args: str, run_s: int | None = None, *, user: str = "alice", code: int = 0) -> int:
        """A job; its number among those of the case."""
        self.made += 1
        run = self.pick(2, 3, 4, 5, 7, 9) if run_s is None else run_s
        script = f"#!/bin/bash\nsleep {run}\n" + (f"exit {code}\n" if code else "")
        words = ["-J", f"j{self.made}", *args.split()]
        self.steps.append(
            {"at_s": at, "do": "sbatch", "user": user, "args": words, "script": script, "run_s": run, "exit": code}
        )
        return self.made

    def do(self, at: float, program: str, args: str, user: str = "root") -> None:
        """Another command."""
        self.steps.append({"at_s": at, "do": program, "user": user, "args": args.split()})

    def fill(self, at: float = 0, run_s: int = 5) -> None:
        """A job that takes all nodes for a while, so that what comes next has to queue."""
        self.job(at, f"-N{len(self.names)} --exclusive -t1", run_s)

    def limit(self) -> str:
        """A time limit."""
        return f"-t{self.pick(1, 1, 2, 3, 5, 10)}"

    def size(self) -> str:
        """How many nodes, tasks and CPUs a job wants: something that the cluster has."""
        count, most, total = len(self.names), max(self.cpus), sum(self.cpus)
        tasks = self.random.randint(1, most)
        nodes = self.random.randint(1, min(count, 3))
        shapes = (
            f"-n{tasks}",
            f"-N1 -n{tasks}",
            f"-N{nodes} -n{self.random.randint(nodes, max(nodes, total * nodes // count))}",
            f"-N{nodes} --ntasks-per-node={self.random.randint(1, 4)}",
            f"-n{self.random.randint(1, 4)} -c{self.pick(1, 2, 3, 4)}",
            f"-n{self.random.randint(1, total // 2)}",
            f"-N{nodes} --exclusive",
            f"-N{nodes}",
        )
        return str(self.pick(*shapes))

    def memory(self) -> str:
        """A wish for memory, or none."""
        return str(
            self.pick("", "", "", f"--mem={self.pick(1000, 3000, 6000, 8000)}", f"--mem-per-cpu={self.pick(500, 1500)}")
        )
