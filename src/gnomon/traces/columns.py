"""Numbers as columns of work: names for numbers, shapes for sizes, and work of rigid jobs from plain arrays."""

from __future__ import annotations

import numpy as np

from gnomon.model.quantity import NS_PER_S
from gnomon.model.resources import NEVER, Resources
from gnomon.model.work import IntArray, Shape, Work


def names(numbers: IntArray) -> tuple[tuple[str, ...], IntArray]:
    """The distinct numbers as names, ascending, "" for one below zero; and for each number its index among them.

    >>> names(np.array([12, -1, 3, 12]))
    (('', '3', '12'), array([2, 0, 1, 2]))
    """
    distinct, index = np.unique(np.maximum(numbers, -1), return_inverse=True)
    return tuple("" if number < 0 else str(number) for number in distinct.tolist()), index.astype(np.int64)


def processor_shapes(processors: IntArray) -> tuple[tuple[Shape, ...], IntArray]:
    """One shape for each distinct number of processors, ascending, and the index of each job's."""
    sizes, index = np.unique(processors, return_inverse=True)
    return tuple(Shape(Resources(cpu_milli=size * 1000)) for size in sizes.tolist()), index.astype(np.int64)


def rigid_jobs(
    *,
    submit_s: IntArray,
    run_s: IntArray,
    processors: IntArray,
    estimate_s: IntArray,
    user: IntArray,
    machine: int,
    source: str,
) -> Work:
    """Jobs numbered from 1 that take processors of one pool: arrays of equal length, times in whole seconds.

    ``machine`` is the number of processors that the pool has.
    """
    count = len(submit_s)
    shapes, shape = processor_shapes(processors)
    users, user_index = names(user)
    return Work(
        ids=np.arange(1, count + 1),
        shapes=shapes,
        shape=shape,
        submit_ns=submit_s * NS_PER_S,
        duration_ns=run_s * NS_PER_S,
        estimate_ns=estimate_s * NS_PER_S,
        users=users,
        user=user_index,
        queues=("",),
        queue=np.zeros(count, np.int64),
        priority=np.zeros(count, np.int64),
        deadline_ns=np.full(count, NEVER),
        job=np.arange(count),
        jobs=None,
        recorded_wait_ns=np.full(count, -1),
        usable=np.ones(count, np.bool_),
        source=source,
        processors=machine,
    )
