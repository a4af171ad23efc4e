"""Who a question is about: the tasks that a name, or a part of one, stands for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from gnomon.insight.explain.ground import Ground
from gnomon.model.errors import InputError, nearest, unknown_name
from gnomon.model.work import Work

KINDS: Final = ("task", "job")
"""The words that may stand before a name, as in ``task/render`` or ``job/queue/train``."""

CANDIDATES_MAX: Final = 10
"""How many names an error lists."""


@dataclass(frozen=True, slots=True)
class Subject:
    """One task, or all tasks of one job (several), by index in input order."""

    kind: str
    name: str
    tasks: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.kind}/{self.name}"


def find_subject(text: str, work: Work) -> Subject:
    """The subject that is meant by a text.

    That is, in this order: a task's id or a job's name; the same after ``task/`` or ``job/`` (a task of no job is a
    job of its own), and between them the user or queue if one likes; a part that only one of them has (or only tasks
    of one job). Raises :class:`InputError`, with the names that it may be, when that is none or several.

    >>> from gnomon.model.work import Task
    >>> work = Work.from_tasks([Task("etl-0", job="etl"), Task("etl-1", job="etl"), Task("report", queue="batch")])
    >>> [str(find_subject(text, work)) for text in ("etl", "task/etl-1", "task/batch/report", "rep", "tl")]
    ['job/etl', 'task/etl-1', 'task/report', 'task/report', 'job/etl']
    """
    wanted = text.strip()
    if not wanted:
        raise InputError("no subject is given", field="SUBJECT", allowed="the name of a task or job, or a part of one")
    if exact := _exact(wanted, work, KINDS):
        return exact
    kind, slash, rest = wanted.partition("/")
    if slash and kind in KINDS:
        if exact := _exact(rest, work, (kind,)):
            return exact
        owner, slash, name = rest.partition("/")
        exact = _exact(name, work, (kind,)) if slash else None
        if exact and owner in _owners(exact, work):
            return exact
    return _by_part(wanted, work)


def node_subject(text: str, ground: Ground) -> int | None:
    """The node that ``node/NAME`` means, None for any other text; a task or job of just that name comes first.

    Raises :class:`InputError` for a node that is not there.
    """
    wanted = text.strip()
    if not wanted.startswith("node/") or _exact(wanted, ground.work, KINDS):
        return None
    return node_named(wanted, ground, field="SUBJECT")


def node_named(text: str, ground: Ground, *, field: str) -> int:
    """The node of a name, or of a part that only one has, ``node/`` before it or not. Raises :class:`InputError` about
    ``field`` if there is none."""
    names = [node.name for node in ground.scenario.cluster.nodes]
    name = text if text in names else text.removeprefix("node/")
    found = [one for one in names if one == name] or [one for one in names if name and name in one]
    if len(found) != 1:
        raise unknown_name("node", name, names).at(field=field)
    return names.index(found[0])


def subject_of_job(task: int, work: Work) -> Subject:
    """The job that a task belongs to; the task itself if it is alone."""
    peers = np.flatnonzero(work.job == work.job[task]) if work.jobs is not None else np.array([task])
    if len(peers) == 1:
        return Subject("task", work.id(task), (task,))
    return Subject("job", work.job_name(task), tuple(peers.tolist()))


def _exact(name: str, work: Work, kinds: Sequence[str]) -> Subject | None:
    if ("task" in kinds or work.jobs is None) and (task := _task_named(name, work)) is not None:
        return Subject("task", name, (task,))
    if "job" in kinds and work.jobs is not None and name in work.jobs:
        tasks = np.flatnonzero(work.job == work.jobs.index(name))
        return Subject("job", name, tuple(tasks.tolist())) if len(tasks) else None
    return None


def _task_named(name: str, work: Work) -> int | None:
    if isinstance(work.ids, np.ndarray):
        if not (name.isascii() and name.removeprefix("-").isdecimal() and len(name) < 19 and str(int(name)) == name):
            return None
        found = np.flatnonzero(work.ids == int(name)).tolist()
        return found[0] if found else None
    try:
        return list(work.ids).index(name)
    except ValueError:
        return None


def _owners(subject: Subject, work: Work) -> set[str]:
    task = subject.tasks[0]
    return {work.users[int(work.user[task])], work.queues[int(work.queue[task])]}


def _by_part(part: str, work: Work) -> Subject:
    """The task, or the job, that alone has this in its name."""
    ids = [str(id) for id in (work.ids.tolist() if isinstance(work.ids, np.ndarray) else work.ids)]
    jobs = _named_jobs(work, ids)
    tasks = [index for index, id in enumerate(ids) if part in id]
    found = [job for job, name in jobs.items() if part in name]
    owners = {*found, *work.job[tasks].tolist()}
    if len(tasks) == 1 and len(owners) == 1 and not found:
        return Subject("task", ids[tasks[0]], (tasks[0],))
    if len(owners) == 1:
        return subject_of_job(int(np.flatnonzero(work.job == owners.pop())[0]), work)
    if owners:
        names = list(dict.fromkeys([*(f"job/{jobs[job]}" for job in found), *(f"task/{ids[task]}" for task in tasks)]))
        problem = f"{len(names):,} tasks or jobs have this in their name"
        raise InputError(problem, field="SUBJECT", found=part, allowed=_listed(names))
    names = list(dict.fromkeys([*jobs.values(), *ids]))
    hint = nearest(part.rpartition("/")[2], names)
    raise InputError(f"no task or job has this name{hint}", field="SUBJECT", found=part, allowed=_listed(names))


def _named_jobs(work: Work, ids: Sequence[str]) -> dict[int, str]:
    """Jobs that have a name of their own: all but those of a single task that are named after it."""
    if work.jobs is None:
        return {}
    present, first, size = np.unique(work.job, return_index=True, return_counts=True)
    alone = zip(present.tolist(), first.tolist(), size.tolist(), strict=True)
    return {job: work.jobs[job] for job, task, count in alone if count > 1 or work.jobs[job] != ids[task]}


def _listed(names: Sequence[str]) -> str:
    more = len(names) - CANDIDATES_MAX
    return ", ".join(names[:CANDIDATES_MAX]) + (f" and {more:,} more" if more > 0 else "")
