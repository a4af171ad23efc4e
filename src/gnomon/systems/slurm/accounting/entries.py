"""Places where use is counted: associations and QOS while the controller runs; and what is looked at of a job."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from gnomon.systems.slurm.accounting.accounts import Association, Limits, Qos


class LimitedJob(Protocol):
    """What is looked at of a job. ``limit_min``: its time limit in minutes, None not said, below 0 none; ``partition``:
    the one that it is tried in or runs in; ``partitions``: those that it may run in."""

    @property
    def user(self) -> str: ...
    @property
    def account(self) -> str: ...
    @property
    def qos(self) -> str: ...
    @property
    def partition(self) -> str: ...
    @property
    def partitions(self) -> Sequence[str]: ...
    @property
    def limit_min(self) -> int | None: ...


@dataclass(slots=True, eq=False)
class Used:
    """What is in use at one place: jobs that run, that were submitted and are not over; the counts of resources by
    their number; on which nodes, and how many jobs there."""

    jobs: int = 0
    submitted: int = 0
    tres: list[int] = field(default_factory=list)
    nodes: dict[int, int] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class Entry:
    """An association. ``number``: its place in :attr:`Tree.entries`; ``limits``, ``qos``, ``default_qos``,
    ``priority``: with what is handed down. ``fair_parent``: the nearest above that has shares of its own, whose
    ``children`` share between them ``level_shares``; ``shares_norm``: its part of them, or (without Fair Tree) of
    everything. ``chain``: itself and what is above it, up to root."""

    number: int
    record: Association
    parent: Entry | None
    limits: Limits
    qos: frozenset[str]
    default_qos: str
    priority: int
    min_prio_threshold: int | None
    used: Used
    shares: int = 1
    fair_parent: Entry | None = None
    children: list[Entry] = field(default_factory=list)
    level_shares: int = 0
    shares_norm: float = 0.0
    priority_norm: float = 0.0
    chain: tuple[Entry, ...] = ()

    @property
    def account(self) -> str:
        """Its account."""
        return self.record.account

    @property
    def user(self) -> str:
        """Its user, "": it is the account itself."""
        return self.record.user


@dataclass(slots=True, eq=False)
class QosEntry:
    """A QOS, with what is in use in it, in all, by user and by account. ``number``: its place in the tree's order."""

    number: int
    record: Qos
    used: Used
    priority_norm: float = 0.0
    by_user: dict[str, Used] = field(default_factory=dict)
    by_account: dict[str, Used] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Its name."""
        return self.record.name

    @property
    def limits(self) -> Limits:
        """Its limits."""
        return self.record.limits
