"""What Slurm 22.05.8 recorded of accounts, limits and priorities, and a job as plain as the checks take it."""

import json
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from gnomon.systems.slurm.accounting.accounts import Accounts
from gnomon.systems.slurm.accounting.billing import Billing
from gnomon.systems.slurm.accounting.limits import Limits, enforced
from gnomon.systems.slurm.accounting.sacctmgr import apply_commands
from gnomon.systems.slurm.accounting.tree import Tree
from gnomon.systems.slurm.accounting.usage import Usage

DATA = Path(__file__).resolve().parents[3] / "data" / "slurm" / "accounting"


@dataclass(eq=False)
class Job:
    """A job as it is in the queue."""

    user: str = "alice"
    account: str = "phys"
    qos: str = "normal"
    partition: str = "batch"
    partitions: tuple[str, ...] = ("batch",)
    limit_min: int | None = None


def recorded(name: str) -> dict[str, Any]:
    """One recorded case."""
    return _all()[name]  # type: ignore[no-any-return]


@cache
def _all() -> Any:
    return json.loads((DATA / "recorded.json").read_text(encoding="utf-8"))


def text(name: str) -> str:
    """A recorded output."""
    return (DATA / name).read_text(encoding="utf-8")


@dataclass
class Books:
    """A tree with its usage and its limits."""

    tree: Tree
    usage: Usage
    limits: Limits

    def start(self, job: Job, tres: dict[str, int], nodes: tuple[int, ...] = (), at: int = 0) -> None:
        """A job starts."""
        self.tree.start(job, tres, nodes)
        self.usage.start(job, tres, start_s=at, limit_min=job.limit_min)

    def end(self, job: Job, at: int) -> None:
        """A job ends."""
        self.tree.end(job)
        self.tree.leave(job)
        self.usage.end(job, at)


def books(
    *commands: str,
    enforce: str = "limits,qos,safe",
    partition_qos: dict[str, str] | None = None,
    tracked: tuple[str, ...] = ("gres/gpu",),
    **more: Any,
) -> Books:
    """The books after these commands of sacctmgr; alice and bob are in phys, carol in chem."""
    first = ["add account phys", "add account chem"]
    users = ["add user alice,bob account=phys", "add user carol account=chem"]
    accounts = apply_commands(Accounts(), [*first, *users, *commands])
    tree = Tree(accounts, tracked=tracked, partition_qos=partition_qos or {})
    usage = Usage(tree, Billing(), half_life_s=more.pop("half_life_s", 7 * 86400), minutes=True)
    return Books(tree, usage, Limits(tree, usage, enforced(enforce), **more))


def cpus(count: int, *, nodes: int = 1, **more: int) -> dict[str, int]:
    """The resources of a job of so many CPUs, with 1000 MiB for each."""
    return {"cpu": count, "mem": 1000 * count, "node": nodes, "billing": count, **more}


def copy(job: Job, **changes: Any) -> Job:
    """Another job like it."""
    return replace(job, **changes)
