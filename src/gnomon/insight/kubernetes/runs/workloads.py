"""Which workloads a run has, and what each wants over time: how many pods, of which version."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gnomon.systems.kubernetes.api.workloads import DaemonSet, Deployment, StatefulSet
from gnomon.systems.kubernetes.fleets.fleet import DaemonRollout, Rollout
from gnomon.systems.kubernetes.fleets.native import Native

NEVER_BY_ITSELF = "OnDelete"
"""The strategy under which pods are replaced when somebody deletes them."""


@dataclass(frozen=True, slots=True)
class Version:
    """What a workload says from a time on: ``desired`` pods, of which ``renewed`` are to be of its ``tasks``."""

    at_ns: int
    desired: int
    tasks: tuple[int, ...]
    renewed: int
    min_ready_s: int = 0
    strategy: str = ""


@dataclass(frozen=True, slots=True)
class Followed:
    """A workload with all places for its pods, those of all versions, and its versions, the oldest first."""

    kind: str
    namespace: str
    name: str
    tasks: tuple[int, ...]
    versions: tuple[Version, ...]

    @property
    def label(self) -> str:
        """As kubectl takes it: ``deployment/web``, outside of ``default`` with its namespace."""
        return label(self.kind, self.namespace, self.name)

    @property
    def about(self) -> str:
        """As events name it."""
        return f"{self.kind} {self.namespace}/{self.name}"

    def desired_at(self, t_ns: int) -> int:
        """How many pods it wants at a time."""
        return next((one.desired for one in reversed(self.versions) if one.at_ns <= t_ns), 0)


def label(kind: str, namespace: str, name: str) -> str:
    """An object as kubectl takes it.

    >>> label("Deployment", "default", "web"), label("StatefulSet", "data", "db")
    ('deployment/web', 'statefulset/data/db')
    """
    return f"{kind.lower()}/{name}" if namespace == "default" else f"{kind.lower()}/{namespace}/{name}"


def workloads_of(native: Native) -> list[Followed]:
    """The workloads that are to keep pods running, in the order of their pods; Jobs are none."""
    found = [*_steered(native), *_others(native)]
    return sorted(found, key=lambda one: min(one.tasks, default=len(native.pods)))


def _steered(native: Native) -> Iterator[Followed]:
    """Those that have versions."""
    every: list[Rollout | DaemonRollout] = [*native.rollouts, *native.daemon_rollouts]
    for specs in (one.specs for one in every):
        tasks: dict[int, None] = {}
        versions = []
        for at_ns, spec, number in specs:
            own = native.fleets[number].tasks
            tasks |= dict.fromkeys(own)
            desired, renewed = _wanted(spec, len(own))
            versions.append(Version(at_ns, desired, own, renewed, spec.min_ready_s, spec.strategy))
        first = specs[0][1]
        yield Followed(type(first).__name__, first.namespace, first.name, tuple(tasks), tuple(versions))


def _wanted(spec: Deployment | StatefulSet | DaemonSet, places: int) -> tuple[int, int]:
    """How many pods, and how many of them of the newest version."""
    if isinstance(spec, DaemonSet):
        return places, places
    kept = spec.partition if isinstance(spec, StatefulSet) else 0
    return spec.replicas, max(spec.replicas - kept, 0)


def _others(native: Native) -> Iterator[Followed]:
    """ReplicaSets that no Deployment of the files steers, and what else keeps pods as they are."""
    every: list[Rollout | DaemonRollout] = [*native.rollouts, *native.daemon_rollouts]
    steered = {number for one in every for _, _, number in one.specs}
    steered |= {run.fleet for run in native.jobs}
    together: dict[tuple[str, str, str], list[int]] = {}
    for number, fleet in enumerate(native.fleets):
        if number not in steered and fleet.kind != "Job":
            owned = fleet.kind == "ReplicaSet" and fleet.workload != fleet.name
            key = "Deployment" if owned else fleet.kind, fleet.namespace, fleet.workload if owned else fleet.name
            together.setdefault(key, []).append(number)
    for (kind, namespace, name), numbers in together.items():
        tasks = tuple(task for number in numbers for task in native.fleets[number].tasks)
        wanted = sum(native.fleets[number].wanted for number in numbers)
        yield Followed(kind, namespace, name, tasks, (Version(0, wanted, tasks, wanted),))
