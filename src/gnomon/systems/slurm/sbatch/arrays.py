"""Job arrays: ``--array=1-10:2%3,20``. Source: ``_parse_array_tok`` of ``slurmctld/job_mgr.c``."""

from __future__ import annotations

import re
from typing import Final

from gnomon.model.errors import InputError
from gnomon.systems.slurm.sbatch.refusals import RefusedError, rejected

SIZE_MAX: Final = 4_000_001
"""The largest MaxArraySize that Slurm takes; indexes stay below MaxArraySize."""

TASKS_MAX: Final = 1_000_000
"""So many tasks all submissions have together, arrays taken apart."""

_TOKEN = re.compile(r"\[?\s*\+?([0-9]*)\]?(?:-\s*([0-9]+)\]?(?::([0-9]+)\]?)?)?(?:%(.*))?\Z", re.ASCII | re.DOTALL)
_LIMIT = re.compile(r"%\s*([0-9]*)", re.ASCII)


def array_tasks(text: str, size_max: int = SIZE_MAX) -> tuple[tuple[int, ...], int | None]:
    """The indexes in order, each once, and how many may run at a time (None: all). Raises :class:`RefusedError`.

    >>> array_tasks("1-10:3,4,20%2")
    ((1, 4, 7, 10, 20), 2)
    """
    ranges = [_range(token, size_max) for token in text.split(",") if token]
    if not ranges:
        raise _wrong()
    indexes = ranges[0] if len(ranges) == 1 else sorted(set().union(*ranges))
    limit = _LIMIT.search(text)
    return tuple(indexes), int(limit[1] or 0) or None if limit else None


def printed_tasks(text: str) -> tuple[tuple[int, ...], int | None]:
    """The same of what squeue and sacct print behind a job's number. Raises InputError.

    >>> printed_tasks("1,3-5%2")
    ((1, 3, 4, 5), 2)
    """
    try:
        return array_tasks(text)
    except RefusedError:
        problem = "not the tasks of an array"
        allowed = "for instance 1,3-5%2; with SLURM_BITSTR_LEN=0 they are not cut short"
        raise InputError(problem, field="JOBID", found=text, allowed=allowed) from None


def check_tasks(count: int, found: str) -> None:
    """Raise InputError for more tasks than are taken. ``found``: what asks for the last of them."""
    if count > TASKS_MAX:
        raise InputError("too many tasks", found=found, allowed=f"{TASKS_MAX:,} in all, arrays taken apart")


def _range(token: str, size_max: int) -> range:
    matched = _TOKEN.match(token)
    if matched is None or any(part is not None and len(part) > 12 for part in matched.groups()):
        raise _wrong()
    first = int(matched[1] or 0)
    if not matched[1] and matched[2] is not None:
        raise _wrong()
    last = int(matched[2]) if matched[2] else first
    step = int(matched[3]) if matched[3] else 1
    if not first <= last < size_max or not 0 < step < max(size_max, 2):
        raise _wrong()
    return range(first, last + 1, step)


def _wrong() -> RefusedError:
    return rejected("Invalid job array specification")
