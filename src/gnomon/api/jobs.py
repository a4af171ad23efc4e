"""Jobs of dataflow from Python files, and the splits of the text files that they read.

A job file leaves a :class:`~gnomon.dataflow.Dataflow` in a variable: in ``flow``, or in the only one that holds any.
Paths in it are relative to the file.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from gnomon.api.python_file import run_python
from gnomon.backends.local_text import lines
from gnomon.dataflow import Dataflow, Graph
from gnomon.dataflow.splits import BLOCK_BYTES, Split, is_splittable, split_file
from gnomon.dataflow.stage import Operator, Stage
from gnomon.formats.files import read_start
from gnomon.model.errors import InputError


@dataclass(frozen=True)
class Job:
    """A job and the file that declares it."""

    file: str
    graph: Graph

    @property
    def folder(self) -> Path:
        """What its paths are relative to."""
        return Path(self.file).parent


@dataclass(frozen=True)
class FileSplit:
    """The lines of a split of a text file, the first ``limit`` of them (None: all); each iteration reads them again."""

    path: str
    split: Split
    limit: int | None = None

    def __iter__(self) -> Iterator[str]:
        part = self.split
        if part.length == 0 and part.offset == 0:
            return iter(())
        end = part.offset + part.length if is_splittable(self.path) else None
        return islice(lines(Path(self.path), part.offset, end), self.limit)


def load_job(path: str | os.PathLike[str]) -> Job:
    """The job of a Python file. Raises InputError with the line for what the file raises, and where there is no job,
    or more than one."""
    file = os.fspath(path)
    job = find_job(file)
    if job is None:
        raise InputError("no job in this file", file=file, allowed="flow = Dataflow(...), a variable of the file")
    return job


def find_job(path: str | os.PathLike[str]) -> Job | None:
    """The job of a Python file, None where none of its variables holds one. Raises InputError as :func:`load_job`."""
    file = os.fspath(path)
    read_start(file)
    names = run_python(file)
    flows = {name: value for name, value in names.items() if isinstance(value, Dataflow)}
    flow = flows.get("flow")
    if flow is None:
        different = list({id(value): value for value in flows.values()}.values())
        if len(different) > 1:
            found = ", ".join(flows)
            raise InputError("more than one job", file=file, found=found, allowed="one, or one that is called flow")
        if not different:
            return None
        flow = different[0]
    try:
        return Job(file, flow.graph())
    except InputError as error:
        raise error.at(file=file) from None


def splits_of(
    job: Job, *, block_bytes: int = BLOCK_BYTES, at_least: int = 1, limit: int | None = None
) -> dict[int, list[FileSplit]]:
    """The splits of the text files that a job reads, by the number of the source: as Hadoop's ``FileInputFormat`` cuts
    them into ``at_least`` splits of a block at the most. ``limit``: so many lines of each are read.

    Raises InputError where there is no file.
    """
    found = {}
    for stage in job.graph.sources:
        if stage.operator == Operator.TEXT:
            files = files_of(stage, job)
            sizes = [path.stat().st_size for path in files]
            each = max(1, min(block_bytes, sum(sizes) // max(at_least, 1)))
            found[stage.number] = [
                FileSplit(str(path), split, limit)
                for path, size in zip(files, sizes, strict=True)
                for split in split_file(_said(path, job), size, each, splittable=is_splittable(path.name))
            ]
    return found


def files_of(stage: Stage, job: Job) -> list[Path]:
    """The files of a text source, in the order of their names. A folder stands for the files in it; those whose names
    begin with ``_`` or ``.`` are left out, as ``FileInputFormat`` does. Raises InputError where there is none."""
    pattern = str(stage.data)
    start = Path(pattern)
    root = Path(start.anchor) if start.is_absolute() else job.folder
    inner = str(start.relative_to(start.anchor)) if start.is_absolute() else pattern
    named = (root / inner).is_file()
    places = [root / inner] if named else sorted(root.glob(inner))
    files = [
        file
        for place in places
        for file in (sorted(place.iterdir()) if place.is_dir() else [place])
        if file.is_file() and (named or not file.name.startswith(("_", ".")))
    ]
    if not files:
        raise InputError("no such file", file=job.file, field=stage.name, found=pattern)
    return files


def _said(path: Path, job: Job) -> str:
    return path.relative_to(job.folder).as_posix() if path.is_relative_to(job.folder) else str(path)
