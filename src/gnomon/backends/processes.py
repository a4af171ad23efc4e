"""Processes that this one starts: they leave Ctrl-C to it, and end when it does, however that is.

They are started anew (not forked), which costs a moment and makes them the same on every system. A pool of
:mod:`concurrent.futures` holds both ends of the pipe that its processes read, so that these never see its end when
the process that started them is killed; hence :func:`follow`.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import active_children, get_context, parent_process
from multiprocessing.connection import wait
from threading import Thread
from types import ModuleType
from typing import Any

Submit = Callable[..., Future[Any]]
"""``submit(function, *arguments)``: have a process do it."""


@contextmanager
def side_by_side(workers: int, prepare: Callable[..., object] | None = None, *arguments: object) -> Iterator[Submit]:
    """So many processes, each of which first calls ``prepare(*arguments)``; when something is raised they are ended
    in the middle of what they do.

    Their functions have to be names of modules, and this process's main module is left out: a script of the user need
    not guard its main part.
    """
    before = set(active_children())
    pool = ProcessPoolExecutor(workers, get_context("spawn"), initializer=_begin, initargs=(prepare, arguments))

    def submit(function: Callable[..., Any], *given: object) -> Future[Any]:
        with _main_left_out(), interrupts_held():
            return pool.submit(function, *given)

    try:
        yield submit
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        for child in set(active_children()) - before:
            child.terminate()
        raise
    pool.shutdown()


def follow() -> None:
    """In a process that was started: leave Ctrl-C to the one that started it, and end at once when that has ended."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    Thread(target=_end_with_parent, daemon=True).start()


@contextmanager
def interrupts_held() -> Iterator[None]:
    """Hold Ctrl-C back: a process that starts inherits that, and does not fail in the middle of its imports."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin(prepare: Callable[..., object] | None, arguments: tuple[object, ...]) -> None:
    follow()
    if prepare is not None:
        prepare(*arguments)


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        wait([parent.sentinel])
    os._exit(1)


@contextmanager
def _main_left_out() -> Iterator[None]:
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main
