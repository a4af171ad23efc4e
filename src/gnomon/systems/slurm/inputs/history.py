"""A month of ``sacct`` as work: every job is submitted when it was, asks for what it asked for, runs as long as it ran.

A million jobs are columns; what a submission asks for is made when it is submitted. What really happened stays beside
it for calibration: ``Work.recorded_wait_ns``.

- Array tasks of one submission, and the components of a heterogeneous job, are submitted together.
- Dependencies, holds and ``--begin`` are not in accounting: a job may not start before it was eligible.
- What was cancelled while it waited is cancelled then. What ran into its limit does so again, wherever it starts.
- What had not ended, or not started, when sacct ran is taken to run to its limit.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import numpy as np
import numpy.typing as npt

from gnomon.model.errors import InputError
from gnomon.model.resources import MAX_AMOUNT, NEVER, Resources
from gnomon.model.work import Note, Shape, Work
from gnomon.systems.slurm.accounting.accounts import Accounts, Association, Qos, User
from gnomon.systems.slurm.cluster.state import SECOND
from gnomon.systems.slurm.read.asked import gres_of, licenses_of, limit_min, memory, resources
from gnomon.systems.slurm.read.sacct import Jobs, Texts
from gnomon.systems.slurm.read.words import NO_TIME, NOTHING
from gnomon.systems.slurm.sbatch.arrays import check_tasks, printed_tasks
from gnomon.systems.slurm.sbatch.request import JobRequest

Ints = npt.NDArray[np.int64]
_UNIX: Final = datetime(1970, 1, 1)
_UNFINISHED: Final = frozenset(
    ("PENDING", "RUNNING", "SUSPENDED", "COMPLETING", "CONFIGURING", "RESIZING", "SIGNALING", "STOPPED", "STAGE_OUT")
)


@dataclass(frozen=True)
class History:
    """``row``: of each task, its row in ``jobs``; ``index``: its number in its array, -1 none; ``first``: the first
    task of each submission, and one past the last; ``group``: the submission of each task; ``cancel_ns``: when it was
    cancelled while it waited, NEVER: it was not; ``reservations``: the names of those that there are."""

    jobs: Jobs
    row: Ints
    index: Ints
    first: Ints
    of_task: Ints
    cancel_ns: Ints
    epoch_s: int
    reservations: frozenset[str] = frozenset()

    @property
    def epoch(self) -> datetime:
        """The moment of time 0."""
        return _UNIX + timedelta(seconds=self.epoch_s)

    def group(self, task: int) -> list[int]:
        """The tasks that are submitted together with one."""
        group = int(self.of_task[task])
        return list(range(int(self.first[group]), int(self.first[group + 1])))

    def requests(self, task: int) -> tuple[JobRequest, ...]:
        """What the submission of a task asks for."""
        tasks = self.group(task)
        rows = [int(self.row[one]) for one in tasks]
        if int(self.index[tasks[0]]) >= 0:
            numbers = tuple(int(self.index[one]) for one in tasks)
            _, limit = printed_tasks(self.jobs.pending.get(rows[-1], "0"))
            most = limit or int(self.jobs.throttle[rows[0]]) or None
            return (self._request(rows[0], array=numbers, limit=most),)
        return tuple(self._request(row) for row in rows)

    def _request(self, row: int, *, array: tuple[int, ...] | None = None, limit: int | None = None) -> JobRequest:
        jobs = self.jobs
        asks = resources(jobs.word("ReqTRES", row))
        ran_on = _count(jobs, row, "AllocNodes", "NNodes") if jobs.start_s[row] != NO_TIME else 0
        nodes = asks.get("node") or _count(jobs, row, "ReqNodes") or (ran_on or 1)
        cpus = asks.get("cpu") or _count(jobs, row, "ReqCPUS", "NCPUS", "AllocCPUS") or 1
        fixed = nodes if ran_on == nodes else None
        said = memory(jobs.word("ReqMem", row), cpus, nodes)
        status = jobs.word("ExitCode", row).partition(":")[0]
        reservation = jobs.word("Reservation", row)
        eligible, submit = int(jobs.eligible_s[row]), int(jobs.submit_s[row])
        return JobRequest(
            name=jobs.word("JobName", row),
            user=jobs.word("User", row),
            account=jobs.word("Account", row),
            qos=jobs.word("QOS", row),
            partitions=tuple(part for part in jobs.word("Partition", row).split(",") if part),
            reservation=reservation if reservation in self.reservations else "",
            nodes_min=nodes if nodes > 1 or fixed else None,
            nodes_max=fixed,
            tasks=max(cpus, nodes),
            cpus_min=max(cpus, nodes),
            mem_per_node_mb=said[1] if said and said[0] == "mem_per_node_mb" else None,
            mem_per_cpu_mb=said[1] if said and said[0] == "mem_per_cpu_mb" else None,
            gres=gres_of(asks, nodes),
            licenses=licenses_of(asks),
            features=jobs.word("Constraints", row),
            exclusive="node" if bool(jobs.exclusive[row]) else "",
            time_min=limit_min(int(jobs.limit_s[row])),
            array=array,
            array_limit=limit,
            begin=self._moment(eligible) if eligible > submit else "",
            exit_code=int(status) if status.isdecimal() and len(status) < 10 else 0,
        )

    def _moment(self, seconds: int) -> str:
        return (_UNIX + timedelta(seconds=seconds)).isoformat()

    @property
    def owners(self) -> set[tuple[str, str]]:
        """The accounts and users that submitted something."""
        account, user = self.jobs.words.get("Account"), self.jobs.words.get("User")
        if account is None or user is None:
            return set()
        codes = np.unique(np.stack([account.codes, user.codes], axis=1), axis=0)
        return {(account.values[a], user.values[b]) for a, b in codes.tolist()}

    @property
    def qos(self) -> set[str]:
        """The QOS that they used."""
        return set(_distinct(self.jobs.words.get("QOS")))


def history(jobs: Jobs, *, reservations: frozenset[str] = frozenset(), source: str = "") -> tuple[History, Work]:
    """The submissions of accounted jobs, and the work that they are. Jobs without a submission time are left out, and
    told of.

    Raises InputError where none has one.
    """
    notes = list(jobs.notes)
    rows, index = _tasks(jobs, notes)
    ordered = np.lexsort((index, jobs.offset[rows], jobs.job[rows], jobs.submit_s[rows]))
    rows, index = rows[ordered], index[ordered]
    together = _same_submission(jobs, rows)
    first = np.flatnonzero(np.concatenate([[True], ~together])) if len(rows) else np.empty(0, np.int64)
    of_task = np.cumsum(np.concatenate([[False], ~together])) if len(rows) else np.empty(0, np.int64)
    epoch_s = int(jobs.submit_s[rows[0]]) if len(rows) else 0
    start, end = jobs.start_s[rows], jobs.end_s[rows]
    state = jobs.state
    ended_waiting = _is_in(state, ("CANCELLED", "DEADLINE", "REVOKED"))[rows] & (
        (start == NO_TIME) | ((elapsed_s(jobs)[rows] <= 0) & _no_nodes(jobs, rows))
    )
    cancel = np.where(ended_waiting & (end != NO_TIME), (end - epoch_s) * SECOND, NEVER)
    found = History(
        jobs,
        rows,
        index,
        np.append(first, len(rows)).astype(np.int64),
        of_task.astype(np.int64),
        cancel,
        epoch_s,
        reservations,
    )
    work = _work(found, ended_waiting, notes, source)
    return found, work


def _tasks(jobs: Jobs, notes: list[Note]) -> tuple[Ints, Ints]:
    """A task for each row, and for each task of an array that stands in one row; with the numbers in their arrays."""
    usable = jobs.submit_s != NO_TIME
    missing = int((~usable).sum())
    if missing and not usable.any():
        raise InputError("no job says when it was submitted", field="Submit", allowed="sacct -o JobID,Submit,…")
    if missing > 0:
        notes.append(Note("not modelled", "Submit", "jobs without a time of submission: left out", missing))
    rows = np.flatnonzero(usable)
    index = jobs.task[rows]
    if not jobs.pending:
        return rows, index
    more_rows: list[int] = []
    more_index: list[int] = []
    for row, text in jobs.pending.items():
        if usable[row]:
            numbers, _ = printed_tasks(text)
            check_tasks(len(rows) + len(more_rows) + len(numbers), jobs.name(row))
            more_rows += [row] * len(numbers)
            more_index += list(numbers)
    plain = ~np.isin(rows, np.fromiter(jobs.pending, np.int64))
    return np.concatenate([rows[plain], more_rows]).astype(np.int64), np.concatenate([index[plain], more_index]).astype(
        np.int64
    )


def _same_submission(jobs: Jobs, rows: Ints) -> npt.NDArray[np.bool_]:
    """Of each task but the first, whether it was submitted together with the one before."""
    of_array = (jobs.task[rows] >= 0) | np.isin(rows, np.fromiter(jobs.pending, np.int64, len(jobs.pending)))
    of_het = jobs.offset[rows] >= 0
    same = (jobs.job[rows][1:] == jobs.job[rows][:-1]) & (jobs.submit_s[rows][1:] == jobs.submit_s[rows][:-1])
    both_array = of_array[1:] & of_array[:-1]
    # tasks that may start at other times are on their own, unless it is the number of them at once that made it so
    when = jobs.eligible_s[rows]
    both_array &= (when[1:] == when[:-1]) | (jobs.throttle[rows][1:] > 0) | (when[1:] == NO_TIME)
    return np.asarray(same & (both_array | (of_het[1:] & of_het[:-1])))


def _work(found: History, ended_waiting: npt.NDArray[np.bool_], notes: list[Note], source: str) -> Work:
    jobs, rows = found.jobs, found.row
    started = (jobs.start_s[rows] != NO_TIME) & ~ended_waiting
    elapsed = elapsed_s(jobs)[rows]
    unfinished = _is_in(jobs.state, _UNFINISHED)[rows] | ((elapsed < 0) & started)
    timed_out = _is_in(jobs.state, ("TIMEOUT",))[rows] & (jobs.limit_s[rows] >= 0)
    known = started & ~unfinished & ~timed_out
    duration = np.where(known, np.maximum(elapsed, 0) * SECOND, NEVER)
    limit = jobs.limit_s[rows]
    estimate = np.where(limit >= 0, limit * SECOND, NEVER)
    if (count := int((unfinished & started).sum())) > 0:
        notes.append(Note("guess", "State", "jobs that still ran: taken to run to their limits", count))
    if (count := int((~started & ~ended_waiting).sum())) > 0:
        notes.append(Note("guess", "State", "jobs that had not started: taken to run to their limits", count))
    if (count := int((jobs.eligible_s[rows] > jobs.submit_s[rows]).sum())) > 0:
        text = "dependencies, holds and begin times are not in accounting: not before they were eligible"
        notes.append(Note("guess", "Eligible", text, count))
    shapes, shape = _shapes(jobs, rows)
    users, user = _indices(jobs.words.get("User"), rows)
    queues, queue = _indices(jobs.words.get("Partition"), rows)
    wait = np.where(started, np.maximum(jobs.start_s[rows] - jobs.submit_s[rows], 0) * SECOND, -1)
    count = len(rows)
    return Work(
        ids=_ids(found),
        shapes=shapes,
        shape=shape,
        submit_ns=(jobs.submit_s[rows] - found.epoch_s) * SECOND,
        duration_ns=duration,
        estimate_ns=estimate,
        users=users,
        user=user,
        queues=queues,
        queue=queue,
        priority=np.zeros(count, np.int64),
        deadline_ns=np.full(count, NEVER, np.int64),
        job=np.arange(count, dtype=np.int64),
        jobs=None,
        recorded_wait_ns=wait,
        usable=np.ones(count, np.bool_),
        notes=tuple(notes),
        source=source,
    )


def elapsed_s(jobs: Jobs) -> Ints:
    """How long they ran, -1: not known. Without a column for that: from start to end."""
    both = (jobs.start_s != NO_TIME) & (jobs.end_s != NO_TIME)
    return np.where((jobs.elapsed_s < 0) & both, np.maximum(jobs.end_s - jobs.start_s, 0), jobs.elapsed_s)


def _ids(found: History) -> Ints | list[str]:
    """The jobs as they are shown; one that is there again (``sacct -D``) has a number behind it."""
    jobs, rows = found.jobs, found.row
    plain = bool((found.index < 0).all() and (jobs.offset[rows] < 0).all())
    if plain and len(np.unique(jobs.job[rows])) == len(rows):
        return jobs.job[rows]
    seen: dict[str, int] = {}
    names = []
    for row, number in zip(rows.tolist(), found.index.tolist(), strict=True):
        name = f"{int(jobs.job[row])}_{number}" if number >= 0 else jobs.name(row)
        again = seen[name] = seen.get(name, 0) + 1
        names.append(name if again == 1 else f"{name}#{again}")
    return names


def _shapes(jobs: Jobs, rows: Ints) -> tuple[tuple[Shape, ...], Ints]:
    """What jobs asked for, each once: by their resources as written."""
    columns = [jobs.words[name].codes[rows].astype(np.int64) for name in ("ReqTRES", "ReqMem") if name in jobs.words]
    columns += [jobs.counts[name][rows] for name in ("ReqCPUS", "NCPUS") if name in jobs.counts]
    if not columns:
        return (Shape(Resources(cpu_milli=1000)),), np.zeros(len(rows), np.int64)
    keys = np.stack(columns, axis=1)
    _, where, shape = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    return tuple(_shape(jobs, int(rows[place])) for place in where), shape.reshape(-1).astype(np.int64)


def _shape(jobs: Jobs, row: int) -> Shape:
    asks = resources(jobs.word("ReqTRES", row))
    nodes = asks.get("node") or 1
    cpus = asks.get("cpu") or _count(jobs, row, "ReqCPUS", "NCPUS") or 1
    said = memory(jobs.word("ReqMem", row), cpus, nodes)
    mib = asks.get("mem") or (0 if said is None else said[1] * (nodes if said[0] == "mem_per_node_mb" else cpus))
    amounts = min(cpus * 1000, MAX_AMOUNT), min(mib * 2**20, MAX_AMOUNT)
    return Shape(Resources(cpu_milli=amounts[0], memory_bytes=amounts[1]))


def _count(jobs: Jobs, row: int, *names: str) -> int:
    """The first of some numbers that is known and above 0; 0: none is."""
    return next((value for name in names if name in jobs.counts and (value := int(jobs.counts[name][row])) > 0), 0)


def _is_in(texts: Texts, values: Sequence[str] | frozenset[str]) -> npt.NDArray[np.bool_]:
    return np.array([value in values for value in texts.values], np.bool_)[texts.codes]


def _no_nodes(jobs: Jobs, rows: Ints) -> npt.NDArray[np.bool_]:
    """Which rows had no nodes."""
    if "AllocNodes" in jobs.counts:
        return np.asarray(jobs.counts["AllocNodes"][rows] <= 0)
    if "AllocTRES" in jobs.words:
        texts = jobs.words["AllocTRES"]
        return np.array([value in NOTHING for value in texts.values], np.bool_)[texts.codes[rows]]
    return np.ones(len(rows), np.bool_)


def _indices(texts: Texts | None, rows: Ints) -> tuple[tuple[str, ...], Ints]:
    if texts is None:
        return ("",), np.zeros(len(rows), np.int64)
    return texts.values, texts.codes[rows].astype(np.int64)


def _distinct(texts: Texts | None) -> tuple[str, ...]:
    return () if texts is None else tuple(value for value in texts.values if value not in NOTHING)


def accounts_of(owners: Iterable[tuple[str, str]], used: Iterable[str]) -> Accounts:
    """Accounts, users and QOS as far as jobs tell of them: all accounts below root, one share each."""
    pairs = {(a, b) for a, b in owners if a not in NOTHING and b not in NOTHING and b != "root"}
    qos = tuple(sorted({"normal", *(name for name in used if name not in NOTHING)}))
    users: dict[str, str] = {}
    for name, who in sorted(pairs):
        users.setdefault(who, name)
    allowed = frozenset(qos)
    text = "no accounting dump is given: accounts, users and QOS as in the jobs, equal shares"
    return Accounts(
        qos=tuple(Qos(name) for name in qos),
        users=(User("root", "root", admin="Administrator"), *(User(who, name) for who, name in users.items())),
        associations=(
            Association("root", parent="", qos=allowed),
            Association("root", "root", qos=allowed),
            *(Association(name, qos=allowed) for name in sorted({one for one, _ in pairs} - {"root"})),
            *(Association(name, who, parent=name, qos=allowed) for name, who in sorted(pairs)),
        ),
        notes=(Note("guess", "accounts", text),),
    )
