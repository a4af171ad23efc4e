"""scontrol and scancel: what an administrator or a user does to jobs, nodes, partitions and reservations.

scontrol(1), scancel(1); ``_update_job``, ``update_node``, ``update_part``, ``create_resv`` of ``src/slurmctld``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final, TypeVar

from gnomon.model.errors import InputError
from gnomon.systems.slurm.cluster import lifecycle
from gnomon.systems.slurm.cluster.job import OVER, Job
from gnomon.systems.slurm.cluster.nodes import set_state
from gnomon.systems.slurm.cluster.state import MINUTE, State
from gnomon.systems.slurm.config.conf import PartitionConf
from gnomon.systems.slurm.controller.reservation_commands import create, delete, mask_of, update
from gnomon.systems.slurm.notation.hostlist import compress, expand
from gnomon.systems.slurm.notation.times import limit_minutes
from gnomon.systems.slurm.sbatch.dependencies import dependencies
from gnomon.systems.slurm.sbatch.request import JobRequest
from gnomon.systems.slurm.schedulers.eligible import Condition

FINISHED: Final = "Job has already finished"
PENDS: Final = "Job is pending execution"
_Record = TypeVar("_Record", JobRequest, PartitionConf)
Answer = tuple[str, int]
"""What is printed, and the exit code."""


def jobs_of(state: State, text: str) -> list[Job]:
    """The jobs that an id means: ``5``, ``5_1``, ``5_[1-3]``, ``5+1``; of an array or a heterogeneous job all."""
    found: list[Job] = []
    for one in text.split(","):
        if "+" in one:
            number, _, offset = one.partition("+")
            het = [job for job in state.jobs.values() if job.het is not None and str(job.het.id) == number]
            found += [job for job in het if str(job.het_offset) == offset]
        elif "_" in one:
            number, _, tasks = one.partition("_")
            wanted = {_number(name) for name in expand(tasks.strip("[]"))} - {-1} if tasks else set()
            if (array := state.arrays.get(_number(number))) is not None:
                found += [job for job in array.tasks if not tasks or job.array_task in wanted]
        elif (array := state.arrays.get(_number(one))) is not None:
            found += array.tasks
        else:
            het = [job for job in state.jobs.values() if job.het is not None and job.het.id == _number(one)]
            found += het or [job for job in (state.jobs.get(_number(one)),) if job is not None]
    return found


def _number(text: str) -> int:
    """A number that a job may have, -1 for what is none."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 10 else -1


def scancel(state: State, args: Sequence[str], user: str) -> Answer:
    """Cancel jobs by id, or by ``-u``, ``-n``, ``-p``, ``-t``, ``-A``, ``-q``."""
    chosen: list[Job] = []
    filters: list[Callable[[Job], bool]] = []
    rest = list(args)
    while rest:
        word = rest.pop(0)
        if word.startswith("-"):
            name, _, value = word.partition("=")
            if not value and name in _FILTERS and rest:
                value = rest.pop(0)
            if name in _FILTERS:
                filters.append(_FILTERS[name](value))
        else:
            found = jobs_of(state, word)
            if not found:
                return f"scancel: error: Kill job error on job id {word}: Invalid job id specified", 1
            chosen += found
    if not chosen and filters:
        chosen = [*state.running, *state.pending]
    for job in chosen:
        if all(holds(job) for holds in filters) and (user in ("root", job.user)):
            lifecycle.cancel(state, job)
    return "", 0


def _is(field: str) -> Callable[[str], Callable[[Job], bool]]:
    return lambda value: lambda job: getattr(job, field) in value.split(",")


_FILTERS: Final[dict[str, Callable[[str], Callable[[Job], bool]]]] = {
    "-u": _is("user"),
    "--user": _is("user"),
    "-p": _is("partition"),
    "--partition": _is("partition"),
    "-A": _is("account"),
    "--account": _is("account"),
    "-q": _is("qos"),
    "--qos": _is("qos"),
    "-t": lambda value: lambda job: job.state.startswith(value.upper()),
    "--state": lambda value: lambda job: job.state.startswith(value.upper()),
    "-n": lambda value: lambda job: job.request.name == value,
    "--name": lambda value: lambda job: job.request.name == value,
}


def command(state: State, words: Sequence[str]) -> Answer:
    """A line of a session that is no submission: scancel, scontrol, or ``cloud`` (:meth:`Power.cloud`); as root."""
    program, args = words[0], list(words[1:])
    if program == "scancel":
        return scancel(state, args, "root")
    if program != "cloud":
        return scontrol(state, args, "root")
    if state.power is not None:
        state.power.cloud(args)
    return "", 0


def scontrol(state: State, args: Sequence[str], user: str) -> Answer:
    """One scontrol command that changes something. Raises InputError for one that is not modelled."""
    try:
        answer = _scontrol(state, args, user)
    except ValueError as error:
        raise InputError(f"not a number in a command of scontrol: {error}", found=" ".join(args)) from None
    state.line.renew()
    return answer


def _scontrol(state: State, args: Sequence[str], user: str) -> Answer:
    verb, rest = args[0].lower(), list(args[1:])
    if verb in ("hold", "uhold", "release", "requeue", "requeuehold", "suspend", "resume"):
        return _to_jobs(state, verb, [one for text in rest for one in jobs_of(state, text)], user)
    pairs = _pairs(rest)
    if verb == "update":
        return _update(state, pairs, user)
    if verb == "create":
        return create(state, pairs)
    if verb == "delete":
        return delete(state, pairs.get("reservationname") or pairs.get("reservation", ""))
    raise InputError(
        "not modelled: a command of scontrol", found=verb, allowed="hold, release, update, create, delete …"
    )


def _with(record: _Record, field: str, value: object) -> _Record:
    """A record with another value in a field that is known by its name."""
    changed: Any = {field: value}
    found: _Record = replace(record, **changed)
    return found


def _pairs(words: Iterable[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for word in words:
        key, _, value = word.partition("=")
        found[key.lower()] = value
    return found


def _to_jobs(state: State, verb: str, jobs: Sequence[Job], user: str) -> Answer:
    if not jobs:
        return "Invalid job id specified", 1
    refusals = [(job, _refusal(verb, job)) for job in jobs]
    for job in sorted(_one_for_all(jobs), key=lambda one: not one.pends):
        _to_job(state, verb, job, user)
    told, code = _said(refusals)
    if verb in ("hold", "uhold", "release") and code and jobs[0].array is None:
        told += f"\nslurm_suspend error: {FINISHED}"
    return told, code


def _to_job(state: State, verb: str, job: Job, user: str) -> None:
    held = "JobHeldUser" if verb == "uhold" or user == job.user else "JobHeldAdmin"
    if verb in ("hold", "uhold") and job.state not in OVER:
        _hold(state, job, held)
    elif verb == "release" and job.state not in OVER and (job.priority == 0 or user == "root"):
        _release(state, job)
    elif verb.startswith("requeue") and lifecycle.may_requeue(state, job):
        hold = held if verb == "requeuehold" else ""
        if job.runs:
            lifecycle.requeue(state, job, "REQUEUED", hold=hold)
        elif job.state in OVER and getattr(state.world, "reruns", False):
            lifecycle.again(state, job, hold=hold)
    elif verb == "suspend" and job.state == "RUNNING":
        lifecycle.suspend(state, job)
    elif verb == "resume" and job.state == "SUSPENDED":
        lifecycle.resume(state, job)


def _said(refusals: Sequence[tuple[Job, str]]) -> Answer:
    """What is told of the refusals of a command: of an array, a line for the tasks that it told the same."""
    if not any(refusal for _, refusal in refusals):
        return "", 0
    if refusals[0][0].array is None:
        return next(f"{refusal} for job {job.name}" for job, refusal in refusals if refusal), 1
    told: dict[str, list[str]] = {}
    for job, refusal in refusals:
        told.setdefault(refusal or "No error", []).append(f"t{job.array_task}")
    number = refusals[0][0].order_id
    lines = [f"{number}_{compress(tasks).removeprefix('t').strip('[]')}: {text}" for text, tasks in told.items()]
    return "\n".join(lines), 1


def _refusal(verb: str, job: Job) -> str:
    if verb in ("hold", "uhold", "release") and job.state in OVER:
        return FINISHED
    if verb in ("suspend", "resume") and job.state in OVER:
        return "Job/step already completing or completed"
    if verb == "resume" and job.state == "RUNNING":
        return "Job is not suspended"
    return PENDS if verb.startswith(("requeue", "suspend", "resume")) and job.pends else ""


def _one_for_all(jobs: Sequence[Job]) -> Iterator[Job]:
    """Jobs, of the tasks of an array that have no record of their own the first."""
    seen: set[int] = set()
    for job in jobs:
        if job.array is not None and not job.split:
            if job.array.id in seen:
                continue
            seen.add(job.array.id)
        yield job


def _records(job: Job) -> list[Job]:
    """The jobs that share a record with one: the tasks of an array that are not split off."""
    return [job] if job.array is None or job.split else job.array.unsplit


def _hold(state: State, job: Job, reason: str) -> None:
    for one in _records(job):
        one.priority, one.fixed = 0, False
    _say(state, job, reason)


def _say(state: State, job: Job, reason: str) -> None:
    if job.pends:
        state.say(job, reason)
    else:
        job.reason = reason


def _release(state: State, job: Job) -> None:
    """Held no more; who was not held gets a priority as if he came now, without his nice value (recorded)."""
    if job.priority:
        job.nice = 0
    job.fixed = False
    priority = state.priorities.first(job)
    for one in _records(job):
        one.priority, one.nice, one.fixed = priority, job.nice, job.fixed
    _say(state, job, "None")


def _update(state: State, pairs: dict[str, str], user: str) -> Answer:
    if "jobid" in pairs or "job" in pairs:
        jobs = jobs_of(state, pairs.get("jobid") or pairs.get("job", ""))
        if not jobs:
            return "Invalid job id specified for job " + (pairs.get("jobid") or ""), 1
        refusals = [(job, _may_not_update(job, pairs)) for job in jobs]
        for job, refusal in refusals:
            if not refusal:
                _update_job(state, job, pairs, user)
        return _said(refusals)
    if "partitionname" in pairs:
        return _update_partition(state, pairs)
    if "nodename" in pairs:
        names = list(expand(pairs["nodename"])) if pairs["nodename"].upper() != "ALL" else list(state.numbers)
        for name in names:
            if state.node(name) < 0:
                return "slurm_update error: Invalid node name specified", 1
            if pairs.get("state", "").upper() == "RESUME" and state.node(name) not in {*state.down, *state.drained}:
                return "slurm_update error: Invalid node state specified", 1
            set_state(state, state.node(name), pairs.get("state", ""), pairs.get("reason", ""))
        return "", 0
    if "reservationname" in pairs:
        return update(state, pairs)
    raise InputError("not modelled: what scontrol update changes", found=next(iter(pairs), ""))


_OF_PENDING: Final = frozenset(("dependency", "starttime", "eligibletime", "partition", "account", "numtasks"))


def _may_not_update(job: Job, pairs: dict[str, str]) -> str:
    """Why a job cannot be changed so (``_update_job`` of job_mgr.c), "" if it can."""
    if job.state in OVER:
        return FINISHED
    if "priority" in pairs and job.pends and job.priority == 0:
        return "Job is in held state, pending scheduler release"
    return "" if job.pends or not _OF_PENDING.intersection(pairs) else "Job is no longer pending execution"


def _update_job(state: State, job: Job, pairs: dict[str, str], user: str) -> None:
    if job.reason == "BadConstraints" and "priority" not in pairs and job.pends:
        _release(state, job)  # what was wrong may be right now
    for key, value in pairs.items():
        if key == "priority" and job.pends and int(value) == 0:
            _hold(state, job, "JobHeldUser" if user == job.user else "JobHeldAdmin")
        elif key == "priority" and job.pends:
            job.priority, job.nice, job.fixed = int(value), 0, True
            state.say(job, "None")
        elif key == "nice":
            before, job.nice = job.nice, int(value or 100)
            if job.nice != before:
                state.priorities.renew(job, before)
        elif key == "timelimit":
            job.limit_min = -1 if (minutes := limit_minutes(value)) is None else minutes
            if job.runs:
                state.set_end(job, job.start_ns + job.limit_min * MINUTE if job.limit_min >= 0 else 0)
                state.world.relimit(job)
        elif key in ("partition", "qos", "account"):
            names = tuple(value.split(","))
            if key == "partition":
                job.partitions, job.partition, job.demand = names, names[0], None
            else:
                setattr(job, key, value)
        elif key == "dependency":
            found, any_of_them = dependencies(value)
            job.request = replace(job.request, any_dependency=any_of_them)
            job.dependencies = [Condition(what) for what in found]
        elif key in ("starttime", "eligibletime"):
            job.begin_ns = state.moment_ns(value)
        elif key in ("numnodes", "numcpus", "numtasks"):
            least = int(value.partition("-")[0])
            if job.runs:
                if key == "numnodes":
                    lifecycle.shrink(state, job, least)
                continue
            field = {"numnodes": "nodes_min", "numcpus": "min_cpus_per_node", "numtasks": "tasks"}[key]
            job.request, job.demand = _with(job.request, field, least), None
        elif key == "arraytaskthrottle" and job.array is not None:
            job.array.limit = int(value) or None


_PART_KEYS: Final = {
    "maxtime": "max_time_min",
    "defaulttime": "default_time_min",
    "maxnodes": "max_nodes",
    "minnodes": "min_nodes",
    "prioritytier": "priority_tier",
    "priorityjobfactor": "priority_job_factor",
    "state": "state",
}


def _update_partition(state: State, pairs: dict[str, str]) -> Answer:
    partition = state.partitions.get(pairs["partitionname"])
    if partition is None:
        return "slurm_update error: Invalid partition name specified", 1
    for key, value in pairs.items():
        if key == "nodes":
            partition.nodes = mask_of(state, expand(value) if value.upper() != "ALL" else state.numbers)
            partition.cpus = -1
        elif key in _PART_KEYS:
            new: object = value.upper()
            if key.endswith("time"):
                new = limit_minutes(value)
            elif key != "state":
                new = None if value.upper() in ("UNLIMITED", "INFINITE") else int(value)
            partition.conf = _with(partition.conf, _PART_KEYS[key], new)
    for job in state.pending:
        job.demand = None
    return "", 0
