"""Where a job's output goes: the patterns of ``-o`` and ``-e``. Source: sbatch(1), "filename pattern"."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass
from typing import Final

_PATTERN = re.compile(r"%(?:%|([0-9]{0,9})([AaJjNnstuxb]))", re.ASCII)
_WIDTH_MAX: Final = 10
_DEFAULT: Final = "slurm-%j.out"
_DEFAULT_ARRAY: Final = "slurm-%A_%a.out"


@dataclass(frozen=True, slots=True)
class JobNames:
    """What patterns stand for. ``array_job`` None: no task of an array; ``node``: the first node's short name."""

    job: int
    name: str = ""
    user: str = ""
    array_job: int | None = None
    task: int | None = None
    node: str = ""


def output_path(pattern: str, job: JobNames, work_dir: str = "") -> str:
    """The file that a pattern names for a job; relative ones are in ``work_dir``. "" is sbatch's own pattern.

    A number between ``%`` and a letter pads numbers with zeros to that width (10 at most); a pattern with a
    backslash is taken as it is.

    >>> output_path("out/%x-%4j.log", JobNames(7, "blast"), "/home/u")
    '/home/u/out/blast-0007.log'
    >>> output_path("", JobNames(8, array_job=7, task=3))
    'slurm-7_3.out'
    """
    if not pattern:
        pattern = _DEFAULT if job.array_job is None else _DEFAULT_ARRAY
    if "\\" in pattern:
        return posixpath.join(work_dir, pattern.replace("\\", ""))
    return posixpath.join(work_dir, _PATTERN.sub(lambda matched: _value(matched, job), pattern))


def _value(matched: re.Match[str], job: JobNames) -> str:
    width, letter = matched[1], matched[2]
    numbers = {
        "A": job.job if job.array_job is None else job.array_job,
        "a": 2**32 - 2 if job.task is None else job.task,
        "b": 0 if job.task is None else job.task % 10,
        "j": job.job,
        "n": 0,
        "t": 0,
    }
    if letter in numbers:
        return f"{numbers[letter]:0{min(int(width or 0), _WIDTH_MAX)}d}"
    texts = {"J": str(job.job), "N": job.node, "s": "batch", "u": job.user, "x": job.name}
    return texts[letter] if letter else "%"
