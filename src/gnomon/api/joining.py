"""Works of several files as one."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from gnomon.model.errors import InputError
from gnomon.model.work import IntArray, Work

_T = TypeVar("_T", bound=Hashable)


def joined(works: Sequence[Work]) -> Work:
    """Several works as one, in their order. Raises :class:`InputError` for an id that is there twice.

    Jobs with the same name in several works are one job.
    """
    if len(works) == 1:
        return works[0]
    shapes, shape = _merged([work.shapes for work in works], [work.shape for work in works])
    users, user = _merged([work.users for work in works], [work.user for work in works])
    queues, queue = _merged([work.queues for work in works], [work.queue for work in works])
    names = [tuple(map(str, work.ids)) if work.jobs is None else work.jobs for work in works]
    jobs, job = _merged(names, [work.job for work in works])
    usages, usage = _merged([work.usages for work in works], [_column(work.usage, -1, len(work)) for work in works])
    own = [_column(work.recovery, 0, len(work)) for work in works]
    recoveries, recovery = _merged([work.recoveries for work in works], own)
    machines = {work.processors for work in works}
    plain = ("submit_ns", "duration_ns", "estimate_ns", "priority", "deadline_ns", "recorded_wait_ns", "usable")
    columns: dict[str, Any] = {name: np.concatenate([getattr(work, name) for work in works]) for name in plain}
    return replace(
        works[0],
        ids=_ids(works),
        shapes=shapes,
        shape=shape,
        users=users,
        user=user,
        queues=queues,
        queue=queue,
        jobs=None if all(work.jobs is None for work in works) else jobs,
        job=job,
        usages=usages,
        usage=usage if usages else None,
        recoveries=recoveries,
        recovery=recovery if len(recoveries) > 1 else None,
        needs=_needs(works),
        **columns,
        notes=tuple(note for work in works for note in work.notes),
        source=", ".join(work.source for work in works if work.source),
        processors=machines.pop() if len(machines) == 1 else None,
    )


def _merged(names: Sequence[Sequence[_T]], columns: Sequence[IntArray]) -> tuple[tuple[_T, ...], IntArray]:
    """Names of several works as one list, and the columns that point into them (-1: to none of them)."""
    positions: dict[_T, int] = {}
    parts = []
    for own, column in zip(names, columns, strict=True):
        merged = np.array([*(positions.setdefault(name, len(positions)) for name in own), -1], np.int64)
        parts.append(merged[column])
    return tuple(positions), np.concatenate(parts)


def _column(column: IntArray | None, same: int, length: int) -> IntArray:
    """A column, also where it is left out because it says the same of all tasks."""
    return np.full(length, same, np.int64) if column is None else column


def _needs(works: Sequence[Work]) -> dict[int, tuple[int, ...]]:
    """What the tasks of all works need, by their rows in the whole."""
    needs: dict[int, tuple[int, ...]] = {}
    before = 0
    for work in works:
        needs |= {before + task: tuple(before + other for other in others) for task, others in work.needs.items()}
        before += len(work)
    return needs


def _ids(works: Sequence[Work]) -> IntArray | Sequence[str]:
    owner: dict[str, int] = {}
    texts = []
    for number, work in enumerate(works):
        own = [str(id) for id in (work.ids.tolist() if isinstance(work.ids, np.ndarray) else work.ids)]
        for id in own:
            if owner.setdefault(id, number) != number:
                raise InputError(f"this id is also in {works[owner[id]].source}", file=work.source, found=id)
        texts += own
    arrays = [work.ids for work in works if isinstance(work.ids, np.ndarray)]
    return np.concatenate(arrays) if len(arrays) == len(works) else texts
