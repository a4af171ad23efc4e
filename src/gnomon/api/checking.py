"""Checks of a job that need a process: effects outside of it, and functions that cannot be sent to another one."""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from io import StringIO, TextIOBase
from types import FrameType
from typing import Any, Final

from gnomon.api.endless import functions_end
from gnomon.api.hash_seeds import seed_findings
from gnomon.api.jobs import Job, splits_of
from gnomon.dataflow.captured import captured, functions_of
from gnomon.dataflow.checks import check_plan
from gnomon.dataflow.comparing import shown
from gnomon.dataflow.findings import Finding, Level
from gnomon.dataflow.layout import Rules, function_name
from gnomon.dataflow.plan import Plan, cut
from gnomon.dataflow.stage import Stage

LINES_MAX: Final = 100_000
"""So many lines of each split of a file are tried."""

_OUTSIDE: Final = {
    "os.remove": "removes a file",
    "os.rename": "renames a file",
    "os.mkdir": "makes a folder",
    "os.rmdir": "removes a folder",
    "shutil.rmtree": "removes a folder",
    "socket.connect": "connects to a server",
    "socket.sendto": "sends to a server",
    "subprocess.Popen": "starts a program",
    "os.system": "starts a program",
    "os.posix_spawn": "starts a program",
    "sqlite3.connect": "opens a database",
}
"""Events that Python tells of (``sys.addaudithook``), as what a function does then."""

_OPERATORS: Final = "gnomon.dataflow."
_WRITING: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


def check_job(job: Job, *, limit: int = LINES_MAX) -> list[Finding]:
    """All findings of a job on its data, of which ``limit`` lines of each split of a file are read; the worst first.

    Its functions are called, several times, and do what they do; what they print is not shown.
    """
    plan = cut(job.graph, Rules(), splits_of(job, limit=limit))
    with functions_end(), _watched() as effects:
        found = check_plan(plan)
    found += [*effects, *_unpicklable(plan)]
    if not any(one.rule in ("attempts", "raises") for one in found):
        found += seed_findings(job.file, plan, limit)
    order = list(Level)
    return sorted(found, key=lambda one: order.index(one.level))


# ---------------------------------------------------------------------- effects outside of the process


class _Watch:
    """What functions of a job do to the outside, each kind once a stage. A hook stays for good, so it is switched."""

    def __init__(self) -> None:
        self.on = self.hooked = False
        self.found: dict[tuple[str, str], Finding] = {}

    def hook(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.on:
            return
        does = _OUTSIDE.get(event)
        if event == "open" and _writes(arguments):
            does = "writes a file"
        if does is not None:
            self.note(does, shown(arguments[0]) if arguments else "", sys._getframe(1))

    def note(self, does: str, what: str, frame: FrameType | None) -> None:
        """An effect, if it comes from a function of the job."""
        theirs = False
        while frame is not None:
            name = str(frame.f_globals.get("__name__", ""))
            stage = frame.f_locals.get("stage")
            if name.startswith("importlib") or frame.f_code.co_filename.startswith("<frozen importlib"):
                return
            if name.startswith(_OPERATORS) and isinstance(stage, Stage):
                if theirs or stage.function is print:
                    self._keep(stage, does, what, frame.f_locals)
                return
            theirs = theirs or not name.startswith("gnomon.")
            frame = frame.f_back

    def _keep(self, stage: Stage, does: str, what: str, names: dict[str, Any]) -> None:
        record = shown(names["record"]) if "record" in names else ""
        problem = f"a function {does}, again at every attempt: after a failure, a lost node, or as a speculative copy"
        fix = "write results by sink(), which only one attempt commits; or do it by a key that makes repeats harmless"
        finding = Finding("effects", Level.WARNING, stage.name, problem, record, (what,) if what else (), fix)
        self.found.setdefault((stage.name, does), finding)


_WATCH: Final = _Watch()


class _Printed(TextIOBase):
    """In the place of stdout and stderr while functions are tried."""

    def write(self, text: str) -> int:
        """Take a text, and note who wrote it."""
        if text.strip():
            _WATCH.note("prints", shown(text.strip()), sys._getframe(1))
        return len(text)


@contextmanager
def _watched() -> Iterator[list[Finding]]:
    """A list that has what was found when the block has ended."""
    if not _WATCH.hooked:
        sys.addaudithook(_WATCH.hook)
        _WATCH.hooked = True
    _WATCH.found.clear()
    effects: list[Finding] = []
    _WATCH.on = True
    try:
        with redirect_stdout(_Printed()), redirect_stderr(StringIO()):
            yield effects
    finally:
        _WATCH.on = False
        effects += _WATCH.found.values()


def _writes(arguments: tuple[Any, ...]) -> bool:
    mode, flags = (*arguments[1:3], None, None)[:2]
    if isinstance(mode, str):
        return bool(set(mode) & set("wax+"))
    return isinstance(flags, int) and bool(flags & _WRITING)


# ---------------------------------------------------------------------- what cannot be sent


def _unpicklable(plan: Plan) -> Iterator[Finding]:
    """Variables of functions that no other process can be given."""
    for stage in plan.layout.graph.stages:
        for function in functions_of(stage):
            for name, value in captured(function).items():
                try:
                    pickle.dumps(value)
                except Exception as error:
                    label = function_name(function)
                    problem = f"{label} uses {name}, a {type(value).__name__}, which cannot be sent to another process"
                    cause = f"{type(error).__name__}: {error}"
                    fix = "make it in the task: in map_partitions, or in a function that keeps one a process"
                    yield Finding("pickling", Level.ERROR, stage.name, problem, "", (cause,), fix)
