"""Work: tasks and the jobs that they form, as columns, with a plain ``Task`` for the edges.

A million tasks are a handful of arrays, not a million objects. Tasks of equal spec share a ``Shape``.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from gnomon.model.resources import NEVER, NOTHING, Resources

_T = TypeVar("_T", bound=Hashable)
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Note:
    """Something that a reader ignored, guessed or defaulted: shown to the user, once a kind.

    ``what``: "not modelled", "default" or "guess"; ``field``: where; ``text``: what it means; ``count``: how often.
    """

    what: str
    field: str
    text: str
    count: int = 1


@dataclass(frozen=True, slots=True)
class Shape:
    """What tasks of equal spec have in common: the request and where it may run (no ``node_kinds``: anywhere)."""

    request: Resources = NOTHING
    node_kinds: tuple[str, ...] = ()
    node_labels: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Task:
    """The unit that gets placed. Times in ns; ``duration_ns`` is how long it really runs (NEVER: unknown),
    ``estimate_ns`` what the user said (None: the duration). ``job`` empty: a job of its own."""

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
        )

    def select(self, rows: IntArray) -> Work:
        """The given rows, in that order, as work of its own."""
        ids = self.ids[rows] if isinstance(self.ids, np.ndarray) else [self.ids[int(row)] for row in rows]
        job, jobs = np.arange(len(rows), dtype=np.int64), None
        if self.jobs is not None:
            kept, job = np.unique(self.job[rows], return_inverse=True)
            jobs = tuple(self.jobs[int(k)] for k in kept)
        columns = ("shape", "submit_ns", "duration_ns", "estimate_ns", "user", "queue", "priority", "deadline_ns")
        taken = {name: getattr(self, name)[rows] for name in (*columns, "recorded_wait_ns", "usable")}
        return replace(self, ids=ids, job=job.astype(np.int64), jobs=jobs, **taken)

    @classmethod
    def from_tasks(cls, tasks: Iterable[Task], *, source: str = "") -> Work:
        """Columns from plain tasks.

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
        )


def _ints(values: Sequence[int]) -> IntArray:
    return np.array(values, dtype=np.int64)


def _index(values: Sequence[_T]) -> tuple[tuple[_T, ...], IntArray]:
    """Distinct values in order of appearance, and for each value its position among them."""
    positions: dict[_T, int] = {}
    index = _ints([positions.setdefault(value, len(positions)) for value in values])
    return tuple(positions), index
