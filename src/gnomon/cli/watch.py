"""Watching a run: progress on stderr if it is a terminal, and Ctrl-C as a request to stop."""

from __future__ import annotations

import signal
import sys
import time
from contextlib import ExitStack, suppress
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any

from gnomon.engine.compiling import WATCHERS

if TYPE_CHECKING:
    from rich.progress import Progress

PATIENCE_S = 1.0
"""How long a run may take before a bar is shown."""


class Watch:
    """What a run calls now and then: ``watch(done, total, now_ns)`` is False when it is to stop.

    The first Ctrl-C asks for that, so that what was simulated so far is kept; a second one ends at once.
    """

    def __init__(self, what: str) -> None:
        self.what = what
        self.interrupted = False
        self._open = ExitStack()
        self._begun_s = time.monotonic()
        self._bar: tuple[Progress, Any] | None = None
        self._told = ""

    def __enter__(self) -> Watch:
        WATCHERS.append(self._compiling)
        self._open.callback(WATCHERS.remove, self._compiling)
        before = signal.getsignal(signal.SIGINT)
        if before is not signal.SIG_IGN:  # as a shell starts what is in its background
            with suppress(ValueError):  # not in the main thread: then Ctrl-C is somebody else's business
                signal.signal(signal.SIGINT, self._stop)
                self._open.callback(signal.signal, signal.SIGINT, before)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()
        if self.interrupted and isinstance(error, Exception):  # a worker that was stopped too, and the like
            raise KeyboardInterrupt from None

    def __call__(self, done: int, total: int, now_ns: int) -> bool:
        """Show how far the run is; False if it is to stop."""
        self._show(self.what, done, total)
        return not self.interrupted

    def _compiling(self, done: int, total: int) -> None:
        """Show how far the kernels are; once they are made, loading them takes no time worth showing. Nothing is lost
        when it is broken off: those that are made are kept."""
        self._show("compiling, once", done, total)
        if self.interrupted:
            raise KeyboardInterrupt

    def _show(self, what: str, done: int, total: int) -> None:
        """Show a bar, if it has taken long and somebody may see it."""
        if self._bar is None and sys.stderr.isatty() and time.monotonic() - self._begun_s > PATIENCE_S:
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

            columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
            progress = self._open.enter_context(Progress(*columns, console=Console(stderr=True), transient=True))
            self._bar = progress, progress.add_task(what, total=total)
        if self._bar is not None:
            progress, task = self._bar
            if what != self._told:
                progress.reset(task, description=what, total=total)
                self._told = what
            progress.update(task, completed=done)

    def _stop(self, number: int, frame: FrameType | None) -> None:
        if self.interrupted:
            raise KeyboardInterrupt
        self.interrupted = True
