"""Running a job file for real, on processes of this machine."""

from __future__ import annotations

import os
import sys
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Final

from gnomon import __version__
from gnomon.api.jobs import FileSplit, Job, load_job, splits_of
from gnomon.backends.local import Ended, JobFailedError, Options, Progress, StageDone, run
from gnomon.dataflow.layout import Rules
from gnomon.dataflow.plan import Plan, cut

__all__ = ["Ended", "JobFailedError", "Options", "Progress", "StageDone", "options_for", "run_job"]

SPLIT_BYTES: Final = 32 << 20
"""Most bytes of a split: the block size that Hadoop's local file system claims (``fs.local.block.size``)."""
SPLITS_LEAST: Final = 2
"""Fewest splits of the files of a source (Spark's ``defaultMinPartitions``)."""


def options_for(path: str | os.PathLike[str], *, work: Path | None = None, workers: int | None = None) -> Options:
    """How a job file is run where nothing else is said: a worker a processor, the work folder beside the file."""
    file = Path(path)
    return Options(file.parent, work or file.with_suffix(".work"), workers or os.cpu_count() or 1)


def run_job(
    path: str | os.PathLike[str],
    options: Options | None = None,
    *,
    split_bytes: int = SPLIT_BYTES,
    progress: Progress = lambda done, total: True,
) -> Ended:
    """Run a job file; what a run that was killed has finished is taken over.

    Raises InputError for what is wrong with the job, JobFailedError where a function of it fails for good.
    """
    job = load_job(path)
    splits = splits_of(job, block_bytes=split_bytes, at_least=SPLITS_LEAST)
    options = options or options_for(path)
    identity = {"code": code_of(job), "input": input_of(splits), "version": f"{__version__}, Python {sys.version}"}
    prepare = partial(plan_of, os.fspath(path), splits)
    return run(_plan(job, splits), prepare, options, identity=identity, progress=progress)


def plan_of(path: str, splits: dict[int, list[FileSplit]]) -> Plan:
    """The plan of a job file, in whichever process."""
    return _plan(load_job(path), splits)


def _plan(job: Job, splits: dict[int, list[FileSplit]]) -> Plan:
    return cut(job.graph, Rules(), splits)


def code_of(job: Job) -> str:
    """A digest of the job's file and of all modules below its folder that it has imported."""
    folder = job.folder.resolve()
    files = {
        Path(file).resolve() for module in list(sys.modules.values()) if (file := getattr(module, "__file__", None))
    }
    digest = blake2b(digest_size=16)
    for file in sorted(files | {Path(job.file).resolve()}):
        if file.is_relative_to(folder) and file.suffix == ".py" and "site-packages" not in file.parts:
            digest.update(f"{file.relative_to(folder)}\0".encode())
            digest.update(file.read_bytes())
    return digest.hexdigest()


def input_of(splits: dict[int, list[FileSplit]]) -> str:
    """A digest of which files are read in which splits, of their lengths and when they were last written."""
    digest = blake2b(digest_size=16)
    for number, parts in splits.items():
        for part in parts:
            status = os.stat(part.path)
            place = (number, part.path, part.split.offset, part.split.length, status.st_size, status.st_mtime_ns)
            digest.update(repr(place).encode())
    return digest.hexdigest()
