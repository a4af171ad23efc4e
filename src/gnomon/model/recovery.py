"""What is done for a task when an attempt of it is lost: retries, their delays, checkpoints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from gnomon.model.resources import E4, NEVER

CAUSES: Final = ("exit", "memory", "disk", "store", "device", "killed", "node", "peer", "evicted", "drained")
"""What ends an attempt before its time: it fails by itself (``exit``), its limit or its node's want of memory kills it
(``memory``), its disk is full or too slow (``disk``), the object store is full and cannot spill (``store``), its device
is lost, it is killed from outside, its node is lost, a task of its gang is lost (``peer``), it is sent away under
pressure (``evicted``) or by a drain (``drained``)."""

INFRASTRUCTURE: Final = ("device", "node", "peer", "evicted", "drained", "killed")
"""The causes that are not the task's own doing."""


@dataclass(frozen=True, slots=True)
class Backoff:
    """Delays before retries: the first ``free`` retries come at once, the next after ``first_ns``, and each later one
    after ``factor_e4`` / 10,000 times the delay before, at most ``most_ns``.

    ``jitter_e4``: each delay is drawn evenly from the delay less and plus this part of it. ``reset_ns``: after an
    attempt that ran so long the row of delays begins anew.
    """

    first_ns: int = 0
    factor_e4: int = E4
    most_ns: int = NEVER
    free: int = 0
    jitter_e4: int = 0
    reset_ns: int = NEVER


@dataclass(frozen=True, slots=True)
class Retry:
    """What follows attempts that ended for one of the ``causes``: at most ``limit`` retries (-1: any number) counted
    together, after delays; ``in_place``: on the same node, which keeps its room for it meanwhile."""

    causes: tuple[str, ...] = CAUSES
    limit: int = -1
    backoff: Backoff = Backoff()
    in_place: bool = False


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The task stops every ``every_ns`` of work for ``cost_ns`` to save its state, and goes on from the last complete
    one after ``restart_ns``. ``durable_ns``: a checkpoint counts only when so much time has passed since it was taken
    (one that is copied out behind the task's back)."""

    every_ns: int
    cost_ns: int = 0
    restart_ns: int = 0
    durable_ns: int = 0


@dataclass(frozen=True, slots=True)
class Recovery:
    """What is done for a task: the first of ``retries`` that names the cause answers, each with a count of its own; an
    attempt that none of them answers is the last. By default what is not the task's own doing is repeated from the
    beginning, at once and without a limit. ``exclude``: a retry avoids nodes on which so many attempts of its job
    failed (0: never)."""

    retries: tuple[Retry, ...] = (Retry(INFRASTRUCTURE),)
    checkpoint: Checkpoint | None = None
    exclude: int = 0
