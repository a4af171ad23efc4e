"""How many tasks may start early that will wait inside for others: more of them the more of the others are done.

The rule is that of MapReduce's ``RMContainerAllocator`` (scheduleReduces) of Hadoop 3.5.0, counted in slots.
"""

from __future__ import annotations

from gnomon.model.resources import E4


def early_tasks(slots: int, done: int, total: int, unfinished: int, *, limit_e4: int = 5_000, waiting: bool) -> int:
    """How many slots tasks may hold that read what ``total`` others make, ``done`` of which are.

    While some of the others wait for a slot (``waiting``) it is the part of the slots that is done of the others,
    ``limit_e4`` at most, and of the rest what the ``unfinished`` of them cannot use; after that all.

    >>> [early_tasks(10, done, 40, 40 - done, waiting=True) for done in (2, 10, 20, 35)]
    [0, 2, 5, 5]
    >>> early_tasks(100, 10, 40, 30, waiting=True), early_tasks(10, 38, 40, 2, waiting=False)
    (70, 10)
    """
    if not waiting:
        return slots
    early = min(slots * done // max(total, 1), slots * limit_e4 // E4)
    return early + max(slots - early - unfinished, 0)
