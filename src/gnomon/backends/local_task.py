"""What a worker does: one attempt at one task of a plan, from files to a file.

The output is written beside its final name; the process that leads the job renames it. An attempt that fails leaves
nothing that anybody would read.
"""

from __future__ import annotations

import errno
import os
import shutil
import traceback
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import chain, islice
from pathlib import Path
from typing import Any, Final

from gnomon.backends.local_blocks import DIGEST_BYTES, NotWritableError, Writer, read
from gnomon.backends.local_records import Records
from gnomon.backends.local_shuffle import MapSide
from gnomon.backends.local_tables import BATCH, KeyTooLargeError, Scratch
from gnomon.dataflow.comparing import shown
from gnomon.dataflow.failing import failed
from gnomon.dataflow.partition import Bounds
from gnomon.dataflow.plan import Plan, PlanStage
from gnomon.dataflow.sampling import sketched
from gnomon.dataflow.stage import Operator
from gnomon.model.errors import InputError


@dataclass(frozen=True)
class Task:
    """One attempt: ``target`` is the final path of the output, ``bounds`` those of sorts that are known by now.

    ``quick``: if it fails, another one will tell why.
    """

    stage: int
    index: int
    attempt: int
    target: str
    bounds: Bounds = field(repr=False)
    quick: bool = False


@dataclass(frozen=True)
class Finished:
    """An attempt that went well: where its output is, how long, its digest, and what was counted."""

    path: str
    bytes: int
    digest: str
    counts: Mapping[str, int]


@dataclass(frozen=True)
class Failed:
    """An attempt that did not: what it was, in lines. ``again`` is False where another attempt would be no use."""

    lines: tuple[str, ...]
    again: bool = True


class Runner:
    """Runs tasks of a plan. ``inputs``: the folder in which the tasks that write an exchange leave their outputs, by
    its number; ``limit``: how many bytes of records a task may hold."""

    def __init__(self, plan: Plan, inputs: Mapping[int, tuple[Path, int]], scratch: Path, limit: int) -> None:
        self.plan, self.inputs, self.scratch, self.limit = plan, inputs, scratch, limit

    def __call__(self, task: Task) -> Finished | Failed | InputError:
        stage = self.plan.stages[task.stage]
        name = f"{stage.number}-{task.index}-{task.attempt}-{os.getpid()}"  # a process that lives on writes elsewhere
        scratch = Scratch(self.scratch / name, self.limit)
        shutil.rmtree(scratch.folder, ignore_errors=True)
        scratch.folder.mkdir(parents=True)
        beside = Path(f"{task.target}.attempt-{name}")
        try:
            return self._run(task, stage, scratch, beside)
        except BaseException as error:  # KeyboardInterrupt as well: Ctrl-C reaches no worker, so a function raised it
            beside.unlink(missing_ok=True)
            return _failure(error, stage, task.index)
        finally:
            shutil.rmtree(scratch.folder, ignore_errors=True)

    def _run(self, task: Task, stage: PlanStage, scratch: Scratch, beside: Path) -> Finished | Failed:
        layout = stage.layout
        may_stop = any(layout.stages[number].operator == Operator.MAP_PARTITIONS for number in stage.chain)
        quick = task.quick and not may_stop
        records = Records(layout, self._fetch, scratch, quick=quick)
        made = records.of(stage.root, task.index)
        counts = {}
        if stage.writes is not None:
            writer = Writer(beside, stage.writes.partitions)
            side = MapSide(stage.writes, layout, task.bounds, writer)
            side.write(task.index, made, scratch.limit)
            digest, size = writer.close(), writer.bytes
            counts = {"combine_in": side.records_in, "written": side.records_out}
        elif stage.samples is not None:
            digest, size = _blocks(beside, [sketched(stage.samples, layout, task.index, made)])
        elif layout.stages[stage.root].data is not None:
            digest, size = _text(beside, made)
        else:
            digest, size = _blocks(beside, made)
        if quick and records.unfinished:
            return Failed((f"{stage.name}: a function raised StopIteration",))
        counts["read"] = records.taken
        counts.setdefault("written", records.calls[stage.root])
        counts["spilled_bytes"] = scratch.spilled_bytes
        return Finished(str(beside), size, digest, counts)

    def _fetch(self, exchange: int, partition: int) -> Iterator[Any]:
        folder, tasks = self.inputs[exchange]
        for index in range(tasks):
            yield from chain.from_iterable(read(folder / output_name(index), partition))


_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO})
"""Errors of a disk that a task writes to."""


def output_name(index: int) -> str:
    """What the output of a task is called, in the folder of its stage."""
    return f"task-{index:05}"


def _failure(error: BaseException, stage: PlanStage, index: int) -> Failed | InputError:
    """What came of an attempt that raised: an InputError for an input that cannot be read, whoever tries."""
    root = stage.layout.stages[stage.root]
    if isinstance(error, KeyTooLargeError):
        hint = "give it more with --memory, or reduce the values instead of gathering them"
        return Failed((f"{root.name}: {error}", hint), again=False)
    if isinstance(error, NotWritableError):
        return Failed((f"{root.name}: the record {shown(error.record, 200)} cannot be written: {error.why}",))
    if isinstance(error, MemoryError):
        return Failed((f"{root.name}: out of memory",))
    if isinstance(error, OSError) and error.errno in _FULL and not _is_users(error):
        return Failed((f"{root.name}: its output cannot be written: {error.strerror}",))
    found = failed(error, root, index)
    if isinstance(found, InputError) and found.file:
        return found
    return Failed(tuple(str(found).splitlines()))


def _is_users(error: BaseException) -> bool:
    """Whether a function of the job raised it: whether any code runs between ours and its end that is neither ours nor
    Python's own."""
    names = [frame.f_code.co_filename for frame, _ in traceback.walk_tb(error.__traceback__)]
    ours, python = os.path.dirname(os.path.dirname(__file__)), os.path.dirname(os.__file__)
    return any(not name.startswith((ours + os.sep, python + os.sep, "<frozen ")) for name in names)


def _blocks(path: Path, records: Iterable[Any]) -> tuple[str, int]:
    writer = Writer(path, 1)
    left = iter(records)
    while batch := list(islice(left, BATCH)):
        writer.append(0, batch)
    return writer.close(), writer.bytes


def _text(path: Path, records: Iterable[Any]) -> tuple[str, int]:
    """The records as lines: a pair as key, tab and value, anything else as its text (Hadoop's ``TextOutputFormat``)."""
    digest, size, left = blake2b(digest_size=DIGEST_BYTES), 0, iter(records)
    with path.open("wb") as file:
        while batch := list(islice(left, BATCH)):
            data = "".join(map(_line, batch)).encode("utf-8", "surrogatepass")
            digest.update(data)
            size += file.write(data)
    return digest.hexdigest(), size


def _line(record: Any) -> str:
    if type(record) is tuple and len(record) == 2:
        return f"{record[0]}\t{record[1]}\n"
    return f"{record}\n"
