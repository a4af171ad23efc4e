"""The Standard Workload Format: read a job log as work, and write work as a job log.

One line a job, 18 fields (:data:`~gnomon.traces.swf_fields.FIELDS`) parted by white space, ``;`` begins a comment,
``-1`` is "unknown". Further fields are extensions: read over, and noted. Read as the archive describes the format
(https://www.cs.huji.ac.il/labs/parallel/workload/swf.html): lines of partial executions (status 2, 3, 4) repeat
what the job's own line says and are left out; an estimate that is not given is the run time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

import numpy as np

from gnomon.model.errors import InputError, unknown_name
from gnomon.model.quantity import NS_PER_S
from gnomon.model.resources import MAX_AMOUNT, NEVER, Resources
from gnomon.model.work import IntArray, Note, Shape, Work
from gnomon.traces import swf_fields as f
from gnomon.traces.columns import names, processor_shapes
from gnomon.traces.start import Start
from gnomon.traces.swf_write import write

__all__ = ["Header", "Size", "read", "read_header", "write"]

Size = Literal["requested", "allocated", "max"]
"""Where the number of processors comes from: the requested ones if known, else the allocated; or the other way
round; or the larger of both."""

_NUMBER = re.compile(r"[-+.\d][-+.\deE]*", re.ASCII)
_PARTIAL = (2, 3, 4)
_KEPT = (f.NUMBER, f.SUBMIT, f.WAIT, f.RUN, f.ALLOCATED, f.REQUESTED, f.ESTIMATE, f.MEMORY, f.STATUS, f.USER, f.QUEUE)
_NOT_MODELLED = {
    f.CPU_USED: "the CPU time that the job used; it holds its processors for its whole run time",
    f.MEMORY_USED: "the memory that the job used",
    f.GROUP: "the user's group",
    f.EXECUTABLE: "the program",
    f.PARTITION: "the partition; a job may run on any of the processors",
    f.PRECEDING: "the job that this one waited for; it is submitted at its recorded time",
    f.THINK: "the time between the preceding job's end and this one's submission",
}


@dataclass(frozen=True, slots=True)
class Header:
    """The comment lines above the first job, in order, without their semicolons.

    >>> header = Header(("Version: 2.2", "MaxProcs: 128", "Queue:  0  interactive", "Queue:  1  batch"))
    >>> header.values("Queue"), header.processors
    (('0  interactive', '1  batch'), 128)
    """

    lines: tuple[str, ...] = ()

    def values(self, key: str) -> tuple[str, ...]:
        """What stands behind ``key:``, once for each line with that key."""
        parts = (line.partition(":") for line in self.lines)
        return tuple(value.strip() for name, colon, value in parts if colon and name.strip() == key)

    @property
    def processors(self) -> int | None:
        """The size of the machine: ``MaxProcs``, else ``MaxNodes``, else None."""
        for text in (*self.values("MaxProcs"), *self.values("MaxNodes")):
            digits = text.split()[0] if text else ""
            if digits.isascii() and digits.isdigit() and len(digits) <= 12 and int(digits):
                return int(digits)
        return None


def read_header(path: str | Path) -> Header:
    """The header of a log. Raises InputError when the file cannot be read."""
    return Header(tuple(f.comments(path)))


def recognised(start: Start) -> bool:
    """Whether a file that starts so has comments of a job log above its first job, or a line of at least 18 numbers."""
    lines = start.lines
    jobs = [line for line in lines if not line.lstrip().startswith(";")]
    numbers = [_NUMBER.fullmatch(token) is not None for token in jobs[0].split()] if jobs else []
    commented = len(jobs) < len(lines) and lines[0] not in jobs and not (jobs and jobs[0].lstrip().startswith("["))
    return commented or (len(numbers) >= 18 and all(numbers))


def read(path: str | Path, *, size: Size = "requested", memory: bool = False) -> Work:
    """A job log as work: one task a job, in the order of the lines.

    ``size`` says which field is the number of processors. ``memory=True`` makes field 10 (KB for each processor) a
    request; without it memory is no constraint, as on a pool of processors. Jobs without a run time or a size stay
    in the work, marked as unusable. The recorded run time is kept as it is, also beyond the estimate. What is left
    out, missing or taken from elsewhere is in ``notes``. The file is streamed; a million jobs take a few seconds.

    Raises InputError for a file that cannot be read, has no job, or has a line at fault, also when two lines have
    the same job number.

    >>> work = read("tests/data/traces/small.swf")
    >>> len(work), work.processors, work.shapes[work.shape[0]].request.cpu_milli
    (4, 128, 8000)
    """
    if size not in get_args(Size):
        raise unknown_name("size", size, get_args(Size))
    table = _load(path)
    columns = table.columns
    run, estimate = columns[f.RUN], columns[f.ESTIMATE]
    processors = _processors(columns, size)
    duration = np.where(run >= 0, run, NEVER)
    shapes, shape = _shapes(processors, columns[f.MEMORY] if memory else None)
    users, user = names(columns[f.USER])
    queues, queue = names(columns[f.QUEUE])
    count = len(run)
    work = Work(
        ids=columns[f.NUMBER],
        shapes=shapes,
        shape=shape,
        submit_ns=columns[f.SUBMIT],
        duration_ns=duration,
        estimate_ns=np.where(estimate > 0, estimate, duration),
        users=users,
        user=user,
        queues=queues,
        queue=queue,
        priority=np.zeros(count, np.int64),
        deadline_ns=np.full(count, NEVER),
        job=np.arange(count),
        jobs=None,
        recorded_wait_ns=np.where(columns[f.WAIT] >= 0, columns[f.WAIT], -1),
        usable=(run >= 0) & (processors >= 1),
        notes=tuple(_notes(table, size=size, memory=memory)),
        source=str(path),
        processors=read_header(path).processors,
    )
    _refuse_duplicates(columns[f.NUMBER], path)
    return work


@dataclass(frozen=True, slots=True)
class _Table:
    """The kept fields as columns, how often each other field says something, and the number of lines left out."""

    columns: dict[int, IntArray]
    present: dict[int, int]
    partial: int


def _load(path: str | Path) -> _Table:
    parts: dict[int, list[IntArray]] = {field: [np.empty(0, np.int64)] for field in _KEPT}
    present = dict.fromkeys([*_NOT_MODELLED, len(f.FIELDS)], 0)
    partial = 0
    for block in f.blocks(path):
        repeats = np.isin(block[:, f.STATUS], _PARTIAL)
        partial += int(repeats.sum())
        rows = block[~repeats] if repeats.any() else block
        for field in _KEPT:
            parts[field].append(rows[:, field].copy())
        for field in _NOT_MODELLED:
            present[field] += int((rows[:, field] > 0).sum())
        present[len(f.FIELDS)] += int((rows[:, len(f.FIELDS) :] != -1).any(axis=1).sum())
    columns = {field: np.concatenate(parts.pop(field)) for field in _KEPT}
    if not columns[f.NUMBER].size:
        lines = f"{partial} lines of partial executions" if partial else None
        raise InputError("no job in the file", file=str(path), found=lines, allowed="one line of 18 fields a job")
    return _Table(columns, present, partial)


def _processors(columns: dict[int, IntArray], size: Size) -> IntArray:
    """The processors of each job, 0 where they are unknown."""
    requested, allocated = columns[f.REQUESTED], columns[f.ALLOCATED]
    if size == "max":
        chosen = np.maximum(requested, allocated)
    elif size == "requested":
        chosen = np.where(requested > 0, requested, allocated)
    else:
        chosen = np.where(allocated > 0, allocated, requested)
    return np.maximum(chosen, 0)


def _shapes(processors: IntArray, memory_kb: IntArray | None) -> tuple[tuple[Shape, ...], IntArray]:
    """One shape for each distinct number of processors (and amount of memory), ascending, and the jobs' shapes."""
    if memory_kb is None:
        return processor_shapes(processors)
    pairs = np.stack([processors, np.maximum(memory_kb, 0)], axis=1)
    distinct, index = np.unique(pairs, axis=0, return_inverse=True)
    shapes = tuple(_shape(int(size), int(kb)) for size, kb in distinct)
    return shapes, index.reshape(-1).astype(np.int64)


def _shape(processors: int, memory_kb: int) -> Shape:
    memory_bytes = processors * memory_kb * 1024
    if memory_bytes > MAX_AMOUNT:
        raise InputError(
            "out of bounds",
            field="field 10 (requested memory)",
            found=memory_kb,
            allowed=f"up to {MAX_AMOUNT} bytes a job",
        )
    return Shape(Resources(cpu_milli=processors * 1000, memory_bytes=memory_bytes))


def _notes(table: _Table, *, size: Size, memory: bool) -> Iterator[Note]:
    columns, present = table.columns, table.present
    for field, text in _NOT_MODELLED.items():
        if present[field]:
            yield Note("not modelled", f"field {field + 1} ({f.FIELDS[field]})", text, present[field])
    if present[len(f.FIELDS)]:
        yield Note("not modelled", "fields from 19 on", "extensions of the format", present[len(f.FIELDS)])
    if table.partial:
        text = "lines of partial executions (status 2, 3, 4): left out, the job's own line counts"
        yield Note("not modelled", "field 11 (status)", text, table.partial)
    if not memory and (asked := int((columns[f.MEMORY] > 0).sum())):
        text = "memory requests are in the log and are not used by a pool of processors"
        yield Note("not modelled", "field 10 (requested memory)", text, asked)
    for field in (f.WAIT, f.RUN, f.ALLOCATED, f.REQUESTED, f.ESTIMATE, f.MEMORY):
        if below := int((columns[field] < (-NS_PER_S if field in f.TIMES else -1)).sum()):
            yield Note("default", f"field {field + 1} ({f.FIELDS[field]})", "below zero and not -1: unknown", below)
    run = columns[f.RUN]
    if unknown := int((run < 0).sum()):
        yield Note("default", "field 4 (run time)", "unknown: the job cannot run, and is listed as rejected", unknown)
    if unsized := int((_processors(columns, size) < 1).sum()):
        text = "unknown, as the allocated ones are: the job cannot run, and is listed as rejected"
        yield Note("default", "field 8 (requested processors)", text, unsized)
    if open_ended := int((columns[f.ESTIMATE] <= 0).sum()):
        yield Note("default", "field 9 (requested time)", "unknown: the run time stands for it", open_ended)
    submit = columns[f.SUBMIT]
    if early := int((submit < 0).sum()):
        yield Note("default", "field 2 (submit time)", "before the start of the log: taken as it is", early)
    if backwards := int((np.diff(submit) < 0).sum()):
        text = "earlier than in the line above: jobs are taken by submit time, then by line"
        yield Note("default", "field 2 (submit time)", text, backwards)


def _refuse_duplicates(ids: IntArray, path: str | Path) -> None:
    """Raise InputError, with both lines, when a job number stands twice."""
    if np.all(ids[1:] > ids[:-1]):
        return
    order = np.argsort(ids, kind="stable")
    again = np.flatnonzero(ids[order][1:] == ids[order][:-1])
    if not again.size:
        return
    second = int(order[again + 1].min())
    number = int(ids[second])
    lines = [line for line, text in f.job_lines(path) if _is_job(text, number)]
    raise InputError(
        f"the job number of line {lines[0]} again",
        file=str(path),
        line=lines[1],
        field="field 1 (job number)",
        found=number,
        allowed="a number of its own for each job",
    )


def _is_job(text: str, number: int) -> bool:
    tokens = text.split()
    return float(tokens[f.NUMBER]) == number and float(tokens[f.STATUS]) not in _PARTIAL
