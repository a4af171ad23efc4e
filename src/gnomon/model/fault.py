"""What goes wrong in a cluster: single faults, and processes that make them at a rate."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from gnomon.model.resources import NEVER


class Fault(Enum):
    """The kinds of faults, in the order in which they are listed. ``amount`` of a :class:`Failure` is what stands in
    brackets. All else that a kind is, its module in :mod:`gnomon.control.faults` says."""

    CRASH = "crash"
    """A node stops: its tasks are gone, nobody answers. It is back, empty, when the fault is over."""
    REBOOT = "reboot"
    """A node restarts: its tasks are gone; it says so itself when it is back."""
    SLOW = "slow"
    """A node runs its tasks at a part of their speed [1/10,000 of full speed]."""
    DISK_FULL = "disk-full"
    """Something fills a node's disk [bytes left]."""
    DEVICE = "device"
    """A node loses a device [its number]; the task on it dies."""
    LEAK = "leak"
    """Something beside the tasks takes more and more of a node's memory [bytes per second]."""
    KILL = "kill"
    """The process of a running task is killed from outside."""
    FAIL = "fail"
    """Attempts of the tasks fail by themselves with a chance [1/10,000 an attempt], at a moment of their run."""
    PARTITION = "partition"
    """Two sets hear nothing of each other: nodes, control-plane members."""
    DELAY = "delay"
    """Messages between a node and the control plane come late [ns]."""
    LOSS = "loss"
    """Messages between a node and the control plane are lost with a chance [1/10,000 each]."""
    LEADER = "leader"
    """A member of the control plane stops; of the present leader, if no member is named."""
    CORDON = "cordon"
    """An operator closes a node for new work."""
    DRAIN = "drain"
    """An operator closes a node and sends its tasks elsewhere, within the disruption budgets."""
    CANCEL = "cancel"
    """A user withdraws a task."""


@dataclass(frozen=True, slots=True)
class Failure:
    """One fault: ``kind`` begins at ``at_ns`` and lasts ``for_ns`` (NEVER: to the end).

    ``targets``: names as ``node/n1``, ``task/t``, ``job/j``, ``control/0``, or ``LABEL/VALUE`` for all nodes with a
    label (``rack/r1``); ``*`` stands for any text. ``others``: the other side of a partition (empty: all the rest).
    ``amount``: see :class:`Fault`.
    """

    kind: Fault
    at_ns: int = 0
    for_ns: int = NEVER
    targets: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    amount: int = 0

    @property
    def until_ns(self) -> int:
        """When it is over, NEVER if it never is."""
        return min(self.at_ns + self.for_ns, NEVER)


class Law(Enum):
    """A distribution of times with a given mean."""

    EXPONENTIAL = "exponential"
    WEIBULL = "weibull"
    LOG_NORMAL = "log-normal"
    FIXED = "fixed"


@dataclass(frozen=True, slots=True)
class FailureProcess:
    """Faults at a rate: each target, and each node that a label names, has a process of its own (with ``together``:
    one for all of them, a correlated failure); up for times of mean ``mtbf_ns``, then faulty for times of mean
    ``mttr_ns``.

    ``shape``: of a Weibull law its shape k, of a log-normal one the sigma of the logarithm. ``from_ns`` to
    ``until_ns``: when faults may begin.
    """

    kind: Fault
    targets: tuple[str, ...]
    mtbf_ns: int
    mttr_ns: int = 0
    law: Law = Law.EXPONENTIAL
    shape: float = 1.0
    repair_law: Law = Law.EXPONENTIAL
    repair_shape: float = 1.0
    together: bool = False
    others: tuple[str, ...] = ()
    amount: int = 0
    from_ns: int = 0
    until_ns: int = NEVER
