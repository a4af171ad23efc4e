"""Whom a question is about: jobs by id or name, as squeue writes them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from gnomon.insight.explain.subjects import CANDIDATES_MAX
from gnomon.insight.slurm.rehearsal import Rehearsal, Sent
from gnomon.model.errors import InputError, nearest
from gnomon.systems.slurm.cluster.job import Job

_ID = re.compile(r"\d+(?:_\d+|\+\d+)?")
OTHER_KINDS = ("node", "partition", "user", "account")
"""What may stand before the name of something else than a job."""


@dataclass(frozen=True)
class Subject:
    """``name``: as ``job/5``; ``tasks``: of the work, those of the jobs that are meant (none: sbatch was refused);
    ``sent``: the submission."""

    name: str
    tasks: tuple[int, ...]
    sent: Sent


def kind_and_name(text: str) -> tuple[str, str]:
    """The kind of what a text means, and its name.

    >>> kind_and_name("node/n1"), kind_and_name("7_3"), kind_and_name("job/train")
    (('node', 'n1'), ('job', '7_3'), ('job', 'train'))
    """
    kind, slash, name = text.strip().partition("/")
    singular = kind.removesuffix("s")
    if slash and singular in OTHER_KINDS:
        return singular, name
    return "job", name if slash and singular in ("job", "task") else text.strip()


def is_id(text: str) -> bool:
    """Whether a text is an id, as of ``5``, ``5_1``, ``5+0``."""
    return _ID.fullmatch(text) is not None


def knows(text: str, played: Rehearsal) -> bool:
    """Whether there is a job with an id by now."""
    return bool(_by_id(text, played))


def find_job(text: str, played: Rehearsal) -> Subject:
    """The job, array or heterogeneous job that a text means, of a rehearsal in which all is submitted. Raises
    InputError, with what it may be, otherwise."""
    found = _by_id(text, played) if _ID.fullmatch(text) else []
    found = found or [_of(sent) for sent in played.sent if text in _names(sent)]
    found = found or [_of(sent) for sent in played.sent if text and any(text in name for name in _names(sent))]
    if len(found) == 1:
        return found[0]
    known = [one.name.removeprefix("job/") for one in found] or [_of(sent).name[4:] for sent in played.sent]
    several = len(found) > 1
    names = (name for sent in played.sent for name in _names(sent))
    hint = "" if several else nearest(text, chain(known, names))
    raise InputError(
        "several jobs are called so" if several else f"unknown job{hint}",
        found=text,
        allowed=_listed(known),
    )


def _listed(names: Iterable[str]) -> str:
    known = list(names)
    more = f" and {len(known) - CANDIDATES_MAX} more" if len(known) > CANDIDATES_MAX else ""
    return ", ".join(known[:CANDIDATES_MAX]) + more


def named(kind: str, name: str, known: Sequence[str]) -> str:
    """The one of some names that is meant: itself, or the only one with that part. Raises InputError."""
    if name in known:
        return name
    parts = [one for one in known if name and name in one]
    if len(parts) == 1:
        return parts[0]
    problem = f"several {kind}s are called so" if parts else f"unknown {kind}{nearest(name, known)}"
    raise InputError(problem, found=name, allowed=_listed(parts or known))


def _names(sent: Sent) -> list[str]:
    return [request.name for request in sent.requests]


def _of(sent: Sent) -> Subject:
    """All jobs of a submission."""
    jobs = sent.jobs
    if not jobs:
        return Subject(f"job/{sent.requests[0].name or sent.task}", (), sent)
    return Subject(f"job/{_head(jobs[0])}", tuple(job.task for job in jobs), sent)


def _head(job: Job) -> str:
    if job.het is not None:
        return str(job.het.id)
    return str(job.array.id) if job.array is not None else job.name


def _by_id(text: str, played: Rehearsal) -> list[Subject]:
    tests: tuple[Callable[[Job], bool], ...] = (
        lambda job: job.name == text,
        lambda job: _head(job) == text,
        lambda job: str(job.id) == text,
    )
    for test in tests:
        for sent in played.sent:
            jobs = [job for job in sent.jobs if test(job)]
            if jobs:
                return [Subject(f"job/{text}", tuple(job.task for job in jobs), sent)]
    return []
