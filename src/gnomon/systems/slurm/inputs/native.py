"""What of a scenario only Slurm reads: configuration, accounting, and the submissions behind the tasks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Final

from gnomon.model.resources import NEVER
from gnomon.model.work import Work
from gnomon.systems.slurm.accounting.accounts import Accounts
from gnomon.systems.slurm.config.conf import Conf
from gnomon.systems.slurm.inputs.history import History
from gnomon.systems.slurm.inputs.present import Present
from gnomon.systems.slurm.inputs.traced import request_of
from gnomon.systems.slurm.read.nodes import SeenReservation
from gnomon.systems.slurm.sbatch.request import JobRequest

EPOCH: Final = datetime(2026, 1, 1)


@dataclass(frozen=True)
class Group:
    """One submission: its tasks are ``first`` up to before ``last``; ``id``: the one it has had, 0: a new one."""

    first: int
    last: int
    requests: tuple[JobRequest, ...]
    id: int = 0


@dataclass(frozen=True)
class Native:
    """What the controller reads. ``groups``: the submissions; ``of_task``: the group of each task; ``traced``: the work
    of a trace, whose tasks come after those of the groups, and each of which is a submission; ``history``: instead of
    both, accounted jobs; ``commands``: (time, words) of scontrol and scancel; ``present``: of the tasks that are there
    at time 0, how they are; ``reservations``: that there are then, at times since 1970."""

    conf: Conf
    accounts: Accounts
    groups: tuple[Group, ...] = ()
    of_task: tuple[int, ...] = ()
    traced: Work | None = None
    commands: tuple[tuple[int, tuple[str, ...]], ...] = ()
    epoch: datetime = EPOCH
    history: History | None = None
    present: Mapping[int, Present] = field(default_factory=dict)
    reservations: tuple[SeenReservation, ...] = ()

    def group(self, task: int) -> list[int]:
        """The tasks that are submitted together with a task."""
        if self.history is not None:
            return self.history.group(task)
        if task >= len(self.of_task):
            return [task]
        group = self.groups[self.of_task[task]]
        return list(range(group.first, group.last))

    def requests(self, task: int) -> tuple[JobRequest, ...]:
        """What the submission of a task asks for."""
        if self.history is not None:
            return self.history.requests(task)
        if task < len(self.of_task):
            return self.groups[self.of_task[task]].requests
        assert self.traced is not None
        return (request_of(self.traced, task - len(self.of_task), self.conf),)

    def id_of(self, task: int) -> int:
        """The id that the submission of a task has had, 0: it gets a new one."""
        if self.history is not None:
            return int(self.history.jobs.job[self.history.row[self.history.group(task)[0]]])
        return self.groups[self.of_task[task]].id if task < len(self.of_task) else 0

    @cached_property
    def last_id(self) -> int:
        """The largest id that was had."""
        if self.history is not None:
            return max(int(self.history.jobs.raw.max(initial=0)), int(self.history.jobs.job.max(initial=0)))
        return max((then.seen.id for then in self.present.values()), default=0)

    def cancelled_ns(self, task: int) -> int:
        """When a task was cancelled while it waited, NEVER: it was not."""
        return NEVER if self.history is None else int(self.history.cancel_ns[task])
