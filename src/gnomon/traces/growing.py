"""Work that grows row by row, for readers of tables: columns of integers, and errors with their place."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from gnomon.model.errors import InputError
from gnomon.model.resources import NEVER
from gnomon.model.work import IntArray, Note, Shape, Work

_TIMES = ("submit_ns", "duration_ns", "estimate_ns", "deadline_ns", "recorded_wait_ns")
_PLAIN = (*_TIMES, "shape", "user", "queue", "job", "priority")
_Key = TypeVar("_Key", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Place:
    """A row of a file: reads its cells and names itself in errors."""

    file: str
    line: int

    def parsed(self, parse: Callable[[str], int], text: str, column: str) -> int:
        """What ``parse`` makes of a cell; its ValueError becomes an InputError that names the place."""
        try:
            return parse(text)
        except ValueError as error:
            raise self.error(str(error), column, text) from None

    def error(self, problem: str, column: str, found: object, allowed: str | None = None) -> InputError:
        """An InputError at this place."""
        return InputError(problem, file=self.file, line=self.line, field=column, found=found, allowed=allowed)


class GrowingWork:
    """Collects tasks; :meth:`finished` gives them as work. A million tasks take some hundred MB."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._ids: list[str] = []
        self._lines = array("q")
        self._columns = {name: array("q") for name in (*_PLAIN, "usable")}
        self._shapes: dict[Shape, int] = {}
        self._users: dict[str, int] = {}
        self._queues: dict[str, int] = {}
        self._jobs: dict[str, int] = {}
        self._named_jobs = False

    def __len__(self) -> int:
        return len(self._ids)

    def add(
        self,
        line: int,
        name: str,
        shape: Shape,
        *,
        submit_ns: int = 0,
        duration_ns: int = NEVER,
        estimate_ns: int | None = None,
        deadline_ns: int = NEVER,
        wait_ns: int = -1,
        user: str = "",
        queue: str = "",
        job: str = "",
        priority: int = 0,
        usable: bool = True,
    ) -> None:
        """One task. Without an estimate the duration stands for it; without a job the task is one of its own."""
        columns = self._columns
        columns["submit_ns"].append(submit_ns)
        columns["duration_ns"].append(duration_ns)
        columns["estimate_ns"].append(duration_ns if estimate_ns is None else estimate_ns)
        columns["deadline_ns"].append(deadline_ns)
        columns["recorded_wait_ns"].append(wait_ns)
        columns["shape"].append(_index(self._shapes, shape))
        columns["user"].append(_index(self._users, user))
        columns["queue"].append(_index(self._queues, queue))
        columns["job"].append(_index(self._jobs, job or name))
        columns["priority"].append(priority)
        columns["usable"].append(usable)
        self._named_jobs = self._named_jobs or bool(job)
        self._ids.append(name)
        self._lines.append(line)

    def finished(self, *, notes: Sequence[Note] = ()) -> Work:
        """The work. Raises InputError when there is no task, or when two have the same name."""
        if not self._ids:
            raise InputError("no task in the file", file=self._file, allowed="a row for each task below the header")
        self._refuse_duplicates()
        numbers = _numbers(self._ids)
        columns = {name: np.array(column, np.int64) for name, column in self._columns.items()}
        return Work(
            ids=self._ids if numbers is None else numbers,
            shapes=tuple(self._shapes),
            users=tuple(self._users),
            queues=tuple(self._queues),
            jobs=tuple(self._jobs) if self._named_jobs else None,
            usable=columns["usable"].astype(np.bool_),
            notes=tuple(notes),
            source=self._file,
            **{name: columns[name] for name in _PLAIN},  # type: ignore[arg-type]  # mypy checks every parameter
        )

    def _refuse_duplicates(self) -> None:
        if len(set(self._ids)) == len(self._ids):
            return
        first: dict[str, int] = {}
        for name, line in zip(self._ids, self._lines, strict=True):
            if first.setdefault(name, line) != line:
                raise InputError(f"the name of line {first[name]} again", file=self._file, line=line, found=name)


def _index(positions: dict[_Key, int], value: _Key) -> int:
    return positions.setdefault(value, len(positions))


def _numbers(names: list[str]) -> IntArray | None:
    """The names as integers if that is what they all are, as they would be written."""
    if not all(name.isascii() and name.isdigit() and len(name) <= 15 for name in names):
        return None
    numbers = np.array(names, dtype=np.int64)
    return numbers if all(name[0] != "0" or name == "0" for name in names) else None
