"""Functions of the user that never end: a job that is simulated here is not left hanging in one.

A timer looks now and then at the function that runs. One that still works on the record on which it was found at the
look before is ended by :class:`gnomon.dataflow.failing.EndlessError`. The look is a signal, so it is had in the main
thread of systems that have signals, and between two steps of Python: not inside a call of C that does not come back.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Final

from gnomon.dataflow.failing import EndlessError, working_on

LIMIT_S: Final = 60
"""A function may work on one record for so long, and up to twice as long until that is seen."""


@contextmanager
def functions_end(limit_s: float = LIMIT_S) -> Iterator[None]:
    """Meanwhile a function of a job that works on one record for more than ``limit_s`` raises EndlessError.

    Nothing is done outside of the main thread, and where somebody else waits for an alarm.
    """
    here = threading.current_thread() is threading.main_thread() and hasattr(signal, "setitimer")
    if not here or signal.getitimer(signal.ITIMER_REAL)[0]:
        yield
        return
    before = signal.signal(signal.SIGALRM, _Looks(limit_s).look)
    signal.setitimer(signal.ITIMER_REAL, limit_s, limit_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


class _Looks:
    """What was found at the last look: the frame that calls the user, and what its variables held."""

    def __init__(self, limit_s: float) -> None:
        self._limit_s = limit_s
        self._frame: FrameType | None = None
        self._held: list[Any] = []

    def look(self, number: int, frame: FrameType | None) -> None:
        """Raise EndlessError if nothing has gone on since the last look."""
        caller = working_on(frame)
        held = [] if caller is None else [part for value in list(caller.f_locals.values()) for part in _parts(value)]
        stands = caller is not None and caller is self._frame and len(held) == len(self._held)
        if stands and all(one is other for one, other in zip(held, self._held, strict=True)):
            assert caller is not None
            raise EndlessError(caller, f"more than {self._limit_s:g} s")
        self._frame, self._held = caller, held


def _parts(value: Any) -> tuple[Any, ...]:
    """A value, and what shows that a list has grown or its last element is another one."""
    return (value, len(value), value[-1] if value else None) if isinstance(value, list) else (value,)
