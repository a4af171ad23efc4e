"""What becomes of the submissions of a work: asked of the controller's own code, once for each kind of job."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from gnomon.model.resources import NEVER as NO_TIME
from gnomon.model.work import Work
from gnomon.systems.slurm.cluster import lifecycle
from gnomon.systems.slurm.cluster.job import Job
from gnomon.systems.slurm.cluster.state import State
from gnomon.systems.slurm.columnar import books as places
from gnomon.systems.slurm.columnar.books import MINUTE, NEVER
from gnomon.systems.slurm.controller.submitting import submit
from gnomon.systems.slurm.inputs.traced import request_of
from gnomon.systems.slurm.priority.ranking import MultifactorRanking
from gnomon.systems.slurm.schedulers.choosing import demand_of


class Nobody:
    """A world in which a submission is only looked at."""

    def at(self, time_ns: int, act: object) -> int:
        return -1

    def cancel(self, number: int) -> None: ...

    def start(self, job: Job, cause: str) -> None: ...

    def stop(self, job: Job, state: str) -> None: ...

    def wait(self, job: Job) -> None: ...

    def requeue(self, job: Job, state: str) -> None: ...

    def drop(self, job: Job) -> None: ...

    def suspend(self, job: Job) -> None: ...

    def resume(self, job: Job) -> None: ...

    def relimit(self, job: Job) -> None: ...


@dataclass(frozen=True)
class Kind:
    """What becomes of all jobs of a kind: ``fate``, what they are told at once and when somebody looks next (``then``);
    of those that enter: their places in the tables."""

    fate: int
    text: int = 0
    then: int = 0
    partition: int = 0
    lasting: int = 0
    demand: int = 0
    cpus: int = 0


class Kinds:
    """The kinds of jobs of a work, and the tables that they refer to.

    ``jobs``: columns of :class:`Kind`, a row a job, in the order in which they come; ``texts``, ``parts``, ``lasting``:
    what jobs are told, the partitions they go to, what stays of their priorities; ``are_plain``: whether none of them
    is for the controller.
    """

    def __init__(self, state: State, work: Work) -> None:
        self._state, self._work = state, work
        self.texts: list[str] = []
        self.parts: list[str] = []
        self.lasting: list[tuple[float, ...]] = []
        self.order = np.argsort(work.submit_ns, kind="stable")
        of_job, rows = self._sorted()
        found = [self._kind(row) for row in rows.tolist()]
        kinds = [one for one in found if one is not None]
        self.are_plain = len(kinds) == len(found) and self._apart()
        each = {one.name: np.array([getattr(kind, one.name) for kind in kinds], np.int64) for one in fields(Kind)}
        self.jobs = {name: column[of_job] if self.are_plain else column for name, column in each.items()}

    def _sorted(self) -> tuple[Any, Any]:
        """The kind of each job, in the order in which they come, and a row of the work for each kind."""
        work, conf = self._work, self._state.conf
        partition = {one.name: one for one in conf.partitions}
        default = next((one for one in conf.partitions if one.default), None)
        of_queue = [partition.get(name, default) for name in work.queues]
        most = np.array([one.max_time_min if one and one.max_time_min is not None else NEVER for one in of_queue])
        root = np.array([name == "root" for name in work.users], np.bool_)
        endless = work.estimate_ns >= NO_TIME
        limit = np.where(endless, 0, np.maximum(1, -(-work.estimate_ns // MINUTE)))
        too_long = limit > most[work.queue] if len(most) else endless
        key = np.zeros(len(work), np.int64)
        for column in (
            work.shape,
            work.queue,
            too_long,
            endless,
            root[work.user] if len(root) else endless,
            work.usable,
        ):
            values, inverse = np.unique(column, return_inverse=True)
            key = key * max(1, len(values)) + inverse
        _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
        return inverse[self.order], first

    def _kind(self, row: int) -> Kind | None:
        """What becomes of a job like that of a row; None: it is for the controller."""
        state, work = self._state, self._work
        if not work.usable[row]:
            return Kind(places.UNUSABLE)
        request = request_of(work, row, state.conf)
        reply = submit(state, (request,), iter((row,)))
        if not reply.jobs:
            return Kind(places.REFUSED, self._text(reply.text))
        job = reply.jobs[0]
        if not job.pends:
            return Kind(places.FAILED, self._text(reply.text), lasting=self._lasting(None))
        partition, first = state.part(job), job.reason
        state.line.entries(backfill=False)  # as somebody looks next
        demand, then = demand_of(state, job, partition), job.reason
        kind = Kind(
            places.ENTERS if first == "None" else places.ASIDE,
            self._text(first) if first != "None" else 0,
            self._text(then) if then != first else 0,
            self._partition(partition.name),
            self._lasting(job),
            state.selector.rows.of(demand),
            state.selector.least_cpus(demand),
        )
        lifecycle.over(state, job, "CANCELLED", "None")
        usual = state.selector.is_usual(demand) and state.selector.gives_cores_to_one(demand)
        shares = partition.conf.exclusive_user or partition.conf.oversubscribe not in ("", "NO")
        known = first in ("None", "PartitionConfig") and then in (first, "PartitionTimeLimit")
        return kind if usual and known and not shares else None

    def _text(self, text: str) -> int:
        if text not in self.texts:
            self.texts.append(text)
        return places.TEXTS + self.texts.index(text)

    def _partition(self, name: str) -> int:
        if name not in self.parts:
            self.parts.append(name)
        return self.parts.index(name)

    def _lasting(self, job: Job | None) -> int:
        """The row of the parts of its priority that stay."""
        found = (0.0,) * places.LASTING
        if job is not None and isinstance(self._state.priorities, MultifactorRanking):
            one = self._state.priorities.lasting(job, job.partition)
            found = (one.assoc, one.jobsize, one.partition, one.qos, one.tres, float(one.site), float(one.nice))
        if found not in self.lasting:
            self.lasting.append(found)
        return self.lasting.index(found)

    def _apart(self) -> bool:
        """Whether no node is in two of the partitions."""
        masks = [self._state.partitions[name].nodes for name in self.parts]
        return not masks or int(np.sum(masks, axis=0).max()) <= 1
