"""The places of pods: a fleet of one owner, and what steers fleets over a run.

A task is a place for a pod, not the pod itself: of a Deployment's replica that loses its node the next pod is the next
attempt of the same task. A new version of a Deployment or StatefulSet has a fleet of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from gnomon.formats.files import Path
from gnomon.systems.kubernetes.api.snapshot import Objects
from gnomon.systems.kubernetes.api.workloads import DaemonSet, Deployment, Job, StatefulSet


@dataclass(frozen=True, slots=True)
class Change:
    """Objects that are applied while the cluster runs; ``files``: where they were read, for errors."""

    at_ns: int
    objects: Objects
    files: tuple[Path, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class Fleet:
    """The places of one owner: ``kind`` and ``name`` as in the pods' ownerReferences; ``workload``: whose name they go
    by. ``tasks`` in their order (of a StatefulSet by ordinal, of a Job by index); ``wanted``: how many are to be there
    at first; ``nodes``: of a DaemonSet, the node of each."""

    kind: str
    namespace: str
    name: str
    workload: str
    tasks: tuple[int, ...]
    wanted: int = 0
    nodes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DaemonRollout:
    """The same of a DaemonSet as :class:`Rollout`."""

    specs: tuple[tuple[int, DaemonSet, int], ...]


@dataclass(frozen=True, slots=True)
class Rollout:
    """A Deployment or StatefulSet over time: ``specs`` are (from when, what it says, the number of its fleet); ``old``:
    the fleets of earlier versions that are there at first, the oldest first."""

    specs: tuple[tuple[int, Deployment | StatefulSet, int], ...]
    old: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class JobRun:
    """A Job, made at a time (NEVER: when its CronJob's policy lets it), and its fleet."""

    at_ns: int
    job: Job
    fleet: int
    cron: str = ""
