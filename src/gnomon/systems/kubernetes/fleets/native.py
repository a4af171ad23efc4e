"""What of a cluster only the scheduler and controllers of Kubernetes read, beside the tasks that all systems share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gnomon.model.scenario import Scenario
from gnomon.systems.kubernetes.api.objects import Pod
from gnomon.systems.kubernetes.api.snapshot import Objects
from gnomon.systems.kubernetes.fleets.fleet import Change, DaemonRollout, Fleet, JobRun, Rollout


@dataclass(frozen=True)
class Native:
    """What the scheduling cycle and the controllers read. ``pods``: the pod of each task, in the order of the tasks;
    ``refused``: why the API server takes the pods of some tasks never."""

    objects: Objects
    pods: tuple[Pod, ...]
    version: tuple[int, int]
    fleets: tuple[Fleet, ...] = ()
    rollouts: tuple[Rollout, ...] = ()
    jobs: tuple[JobRun, ...] = ()
    daemon_rollouts: tuple[DaemonRollout, ...] = ()
    changes: tuple[Change, ...] = ()
    refused: Mapping[int, str] = field(default_factory=dict)


def native_of(scenario: Scenario) -> Native:
    """What Kubernetes reads of a scenario of its own."""
    assert isinstance(scenario.native, Native)
    return scenario.native
