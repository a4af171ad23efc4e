"""Work: tasks and the jobs that they form, as columns, with a plain ``Task`` for the edges.

A million tasks are a handful of arrays, not a million objects. Tasks of equal spec share a ``Shape``.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from gnomon.model.recovery import Recovery
from gnomon.model.resources import NEVER, NOTHING, Resources
from gnomon.model.usage import Usage

_T = TypeVar("_T", bound=Hashable)
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Note:
    """Something that a reader ignored, guessed or defaulted: shown to the user, once a kind.

    ``what``: "not modelled", "default", "guess" or "warning"; ``field``: where; ``text``: what it means; ``count``: how
    often.
    """

    what: str
    field: str
    text: str
    count: int = 1


@dataclass(frozen=True, slots=True)
class Shape:
    """What tasks of equal spec have in common: the request and where it may run (no ``node_kinds``: anywhere), and the
    ``limit`` of what it may use (NOTHING: no limit; what a limit does not name, it does not limit)."""

    request: Resources = NOTHING
    node_kinds: tuple[str, ...] = ()
    node_labels: tuple[tuple[str, str], ...] = ()
    limit: Resources = NOTHING


@dataclass(frozen=True, slots=True)
class Task:
    """The unit that gets placed. Times in ns, from the beginning of the run.

    - ``id``: its name, which is unique; ``shape``: what it asks for, and where it may run.
    - ``duration_ns``: how long it really runs (NEVER: unknown); ``estimate_ns``: what the user said (None: the
      duration); ``deadline_ns``: for the order ``edf``.
    - ``user``, ``queue``: whom limits and fair orders count it for; ``priority``: the larger, the more urgent.
    - ``job``: whose tasks belong together (empty: a job of its own).
    - ``usage``: what it uses (None: what it asked for); ``recovery``: what is done when an attempt is lost.
    - ``needs``: ids of the tasks whose results it reads, which must be done before it is submitted.

    >>> Task("train", Shape(Resources(cpu_milli=4_000, gpus=1)), duration_ns=3_600 * 10**9).shape.request.gpus
    1
    """

    id: str
    shape: Shape = Shape()
    submit_ns: int = 0
    duration_ns: int = 0
    estimate_ns: int | None = None
    user: str = ""
    queue: str = ""
    priority: int = 0
    deadline_ns: int = NEVER
    job: str = ""
    usage: Usage | None = None
    recovery: Recovery = Recovery()
    needs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Work:
    """Tasks as columns of length n, in input order.

    - ``ids``: int64 array when every id is a number, else strings.
    - ``shape``: index into ``shapes``; ``user``, ``queue``: indices into ``users``, ``queues``.
    - ``submit_ns``, ``duration_ns``, ``estimate_ns`` (the user's, or the duration), ``deadline_ns`` (NEVER: none).
    - ``priority``: the larger, the more urgent.
    - ``job``: index of the task's job, ``jobs``: their names (None: every task is a job of its own, named by its id).
    - ``recorded_wait_ns``: what the trace says the task waited, -1 unknown (for calibration only).
    - ``usable``: False for a row that cannot run as it stands (say, an unknown run time); such tasks are listed
      as rejected, with ``Reason.UNUSABLE``, never dropped silently.
    - ``usage``: index into ``usages``, -1: it uses what it asked for; ``recovery``: index into ``recoveries``. None:
      for all tasks -1, and 0. ``needs``: for tasks that read results of others, the indices of these.
    """

    ids: IntArray | Sequence[str]
    shapes: tuple[Shape, ...]
    shape: IntArray
    submit_ns: IntArray
    duration_ns: IntArray
    estimate_ns: IntArray
    users: tuple[str, ...]
    user: IntArray
    queues: tuple[str, ...]
    queue: IntArray
    priority: IntArray
    deadline_ns: IntArray
    job: IntArray
    jobs: tuple[str, ...] | None
    recorded_wait_ns: IntArray
    usable: BoolArray
    notes: tuple[Note, ...] = ()
    source: str = ""
    processors: int | None = field(default=None)
    """How many processors the trace says its machine had (SWF MaxProcs), if it does."""
    usages: tuple[Usage, ...] = ()
    usage: IntArray | None = None
    recoveries: tuple[Recovery, ...] = (Recovery(),)
    recovery: IntArray | None = None
    needs: Mapping[int, tuple[int, ...]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.submit_ns)

    def id(self, index: int) -> str:
        """The trace's own number or name of one task."""
        return str(self.ids[index])

    def job_name(self, index: int) -> str:
        """The name of the job that a task belongs to."""
        return self.id(index) if self.jobs is None else self.jobs[int(self.job[index])]

    def task(self, index: int) -> Task:
        """One row as a plain value."""
        return Task(
            id=self.id(index),
            shape=self.shapes[int(self.shape[index])],
            submit_ns=int(self.submit_ns[index]),
            duration_ns=int(self.duration_ns[index]),
            estimate_ns=int(self.estimate_ns[index]),
            user=self.users[int(self.user[index])],
            queue=self.queues[int(self.queue[index])],
            priority=int(self.priority[index]),
            deadline_ns=int(self.deadline_ns[index]),
            job="" if self.jobs is None else self.job_name(index),
            usage=self.usage_of(index),
            recovery=self.recovery_of(index),
            needs=tuple(self.id(other) for other in self.needs.get(index, ())),
        )

    def usage_of(self, index: int) -> Usage | None:
        """What one task uses, None if nothing is said of it."""
        position = -1 if self.usage is None else int(self.usage[index])
        return self.usages[position] if position >= 0 else None

    def recovery_of(self, index: int) -> Recovery:
        """What is done for one task when an attempt is lost."""
        return self.recoveries[0 if self.recovery is None else int(self.recovery[index])]

    def select(self, rows: IntArray) -> Work:
        """The given rows, in that order, as work of its own."""
        ids = self.ids[rows] if isinstance(self.ids, np.ndarray) else [self.ids[int(row)] for row in rows]
        job, jobs = np.arange(len(rows), dtype=np.int64), None
        if self.jobs is not None:
            kept, job = np.unique(self.job[rows], return_inverse=True)
            jobs = tuple(self.jobs[int(k)] for k in kept)
        columns = ("shape", "submit_ns", "duration_ns", "estimate_ns", "user", "queue", "priority", "deadline_ns")
        taken = {name: getattr(self, name)[rows] for name in (*columns, "recorded_wait_ns", "usable")}
        new = {int(row): position for position, row in enumerate(rows.tolist())}
        needs = {
            new[task]: tuple(new[other] for other in others if other in new)
            for task, others in self.needs.items()
            if task in new
        }
        for name in ("usage", "recovery"):
            if (column := getattr(self, name)) is not None:
                taken[name] = column[rows]
        return replace(self, ids=ids, job=job.astype(np.int64), jobs=jobs, needs=needs, **taken)

    @classmethod
    def from_tasks(cls, tasks: Iterable[Task], *, source: str = "") -> Work:
        """Columns from plain tasks. Raises KeyError for a task that needs one which is not there.

        >>> work = Work.from_tasks([Task("a", duration_ns=5), Task("b", duration_ns=7, job="j")])
        >>> len(work), work.id(1), work.job_name(0), work.job_name(1)
        (2, 'b', 'a', 'j')
        """
        rows = list(tasks)
        shapes, shape = _index([t.shape for t in rows])
        users, user = _index([t.user for t in rows])
        queues, queue = _index([t.queue for t in rows])
        jobs, job = _index([t.job or t.id for t in rows])
        estimates = [t.duration_ns if t.estimate_ns is None else t.estimate_ns for t in rows]
        usages, usage = _index([t.usage for t in rows if t.usage is not None])
        recoveries, recovery = _index([t.recovery for t in rows])
        position = {t.id: i for i, t in enumerate(rows)}
        return cls(
            ids=[t.id for t in rows],
            shapes=shapes,
            shape=shape,
            submit_ns=_ints([t.submit_ns for t in rows]),
            duration_ns=_ints([t.duration_ns for t in rows]),
            estimate_ns=_ints(estimates),
            users=users,
            user=user,
            queues=queues,
            queue=queue,
            priority=_ints([t.priority for t in rows]),
            deadline_ns=_ints([t.deadline_ns for t in rows]),
            job=job,
            jobs=jobs if any(t.job for t in rows) else None,
            recorded_wait_ns=np.full(len(rows), -1, np.int64),
            usable=np.ones(len(rows), np.bool_),
            source=source,
            usages=usages,
            usage=_spread(usage, [t.usage is not None for t in rows]) if usages else None,
            recoveries=recoveries or (Recovery(),),
            recovery=recovery if len(recoveries) > 1 else None,
            needs={i: tuple(position[other] for other in t.needs) for i, t in enumerate(rows) if t.needs},
        )


def _ints(values: Sequence[int]) -> IntArray:
    return np.array(values, dtype=np.int64)


def _spread(values: IntArray, present: Sequence[bool]) -> IntArray:
    """The values where something is present, -1 elsewhere."""
    column = np.full(len(present), -1, np.int64)
    column[np.array(present, np.bool_)] = values
    return column


def _index(values: Sequence[_T]) -> tuple[tuple[_T, ...], IntArray]:
    """Distinct values in order of appearance, and for each value its position among them."""
    positions: dict[_T, int] = {}
    index = _ints([positions.setdefault(value, len(positions)) for value in values])
    return tuple(positions), index
