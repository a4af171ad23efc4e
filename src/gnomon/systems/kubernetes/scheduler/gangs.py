"""Gangs of the coscheduling plugin: who is in one, when it is complete, when its waiting pods give their places back.

Source: ``kubernetes-sigs/scheduler-plugins``, ``pkg/coscheduling`` (sheet on Kubernetes, section 6). A pod that has a
node waits at Permit, and holds it, until as many of its group have one as ``minMember`` says; each waits 60 s at most
(``permitWaitingTimeSeconds``, or ``scheduleTimeoutSeconds`` of the group), and whoever gives up takes all others along.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from gnomon.model.errors import InputError
from gnomon.systems.kubernetes.api.objects import Pod
from gnomon.systems.kubernetes.api.workloads import PodGroup

LABEL: Final = "scheduling.x-k8s.io/pod-group"
NAME: Final = "Coscheduling"
WAIT_S: Final = 60
REJECT_PERCENT: Final = 10


@dataclass(frozen=True, slots=True)
class Gang:
    """A group and the tasks of its pods."""

    group: PodGroup
    tasks: tuple[int, ...]

    @property
    def wait_ns(self) -> int:
        """How long one of them waits for the others."""
        said = self.group.schedule_timeout_s
        return (WAIT_S if said is None else said) * 10**9

    def is_complete(self, assigned: int) -> bool:
        """Whether so many that have a node are enough."""
        return assigned >= self.group.min_member

    def is_far(self, assigned: int) -> bool:
        """Whether so many are so few that those who wait are better sent away when one more does not fit.

        >>> gang = Gang(PodGroup("g", min_member=10), ())
        >>> [gang.is_far(assigned) for assigned in (8, 9, 10)]
        [True, False, False]
        """
        least = self.group.min_member
        return (least - assigned) * 100 > REJECT_PERCENT * least

    def too_few(self, name: str, present: int) -> str | None:
        """What PreFilter says while too few pods of the group exist at all; None: there are enough."""
        if present >= self.group.min_member:
            return None
        return (
            f"pre-filter pod {name} cannot find enough sibling pods, current pods number: {present}, "
            f"minMember of group: {self.group.min_member}"
        )

    def assigned(self, placed: Collection[int]) -> int:
        """How many of its tasks are among those that have a node."""
        return sum(task in placed for task in self.tasks)


def gangs_of(groups: Sequence[PodGroup], pods: Sequence[Pod]) -> dict[int, Gang]:
    """The gang of each task that is in one. Raises InputError for a group that is not there."""
    named = {(group.namespace, group.name): group for group in groups}
    members: dict[tuple[str, str], list[int]] = {}
    for task, pod in enumerate(pods):
        name = pod.labels.get(LABEL)
        if name is not None and named:
            key = pod.namespace, name
            if key not in named:
                known = ", ".join(sorted(f"{space}/{one}" for space, one in named))
                raise InputError(
                    "there is no PodGroup of this name", field=f"Pod {pod.key}, {LABEL}", found=name, allowed=known
                )
            members.setdefault(key, []).append(task)
    found: dict[int, Gang] = {}
    for key, tasks in members.items():
        found.update(dict.fromkeys(tasks, Gang(named[key], tuple(tasks))))
    return found
