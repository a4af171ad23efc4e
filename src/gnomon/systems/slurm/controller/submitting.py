"""A submission reaches the controller: it is refused in Slurm's words, or becomes jobs with ids and priorities.

``_job_create``, ``_validate_job_desc`` and ``job_allocate`` of ``src/slurmctld/job_mgr.c`` (22.05 to 25.05); which
refusals use up an id or a place in the priorities is recorded with 22.05.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from gnomon.systems.slurm.accounting.limit_submission import POLICY, Submission
from gnomon.systems.slurm.cluster.job import FAILED, Array, HetJob, Job
from gnomon.systems.slurm.cluster.lifecycle import new_id, split_off
from gnomon.systems.slurm.cluster.state import Partition, State
from gnomon.systems.slurm.sbatch import features
from gnomon.systems.slurm.sbatch.request import JobRequest
from gnomon.systems.slurm.schedulers.choosing import (
    Code,
    alternatives,
    choose,
    demand_of,
    exceeds,
    possible_nodes,
    required_nodes,
    wants_more_cpus,
)
from gnomon.systems.slurm.schedulers.eligible import Condition, dependency, partition_says

FAILURE: Final = "sbatch: error: Batch job submission failed: "
NOT_AVAILABLE: Final = "Requested node configuration is not available"
NODE_COUNT: Final = "Node count specification invalid"
TIME_LIMIT: Final = "Requested time limit is invalid (missing or exceeds some limit)"
MORE_CPUS: Final = "More processors requested than permitted"
NOT_HERE: Final = "Requested nodes not in this partition"
NOT_NOW: Final = "Requested partition configuration not available now"
_SAYS: Final = {"PartitionNodeLimit": NODE_COUNT, "PartitionTimeLimit": TIME_LIMIT}


@dataclass(frozen=True, slots=True)
class Reply:
    """What sbatch prints, its exit code, and the jobs that there are now."""

    text: str
    rc: int
    jobs: tuple[Job, ...] = ()


class _RefusalError(Exception):
    """Ends a submission. ``before``: what is printed before the refusal; ``by_client``: sbatch says it itself."""

    def __init__(self, reason: str, before: str = "", *, by_client: bool = False) -> None:
        super().__init__(reason)
        self.text = f"sbatch: error: {reason}" if by_client else f"{before}{FAILURE}{reason}"


def submit(state: State, requests: Sequence[JobRequest], tasks: Iterator[int]) -> Reply:
    """One submission, of one job or of the components of a heterogeneous one. ``tasks``: numbers of its tasks."""
    made: list[Job] = []
    try:
        prepared = [_checked(state, request) for request in requests]
        for job in prepared:
            made += _entered(state, job, tasks, prepared)
    except _RefusalError as refusal:
        return Reply(refusal.text, 1)
    first = made[0]
    number = first.het.id if first.het is not None else first.order_id
    for job in made:
        said = _never(state, job)
        if said:
            for one in made:
                _fails(state, one)
            return Reply(said, 1, tuple(made))
    for job in made:
        first_reason(state, job)
    return Reply(f"Submitted batch job {number}", 0, tuple(made))


def _checked(state: State, request: JobRequest) -> Job:
    """The job of a request, if the controller takes it; with all that does not depend on the nodes."""
    partitions = _partitions(state, request)
    resolved = state.tree.resolve(
        request.user,
        request.account,
        partitions[0].name,
        request.qos,
        associations=state.enforces("associations"),
        qos_too=state.enforces("qos"),
    )
    if isinstance(resolved, str):
        raise _RefusalError(resolved)
    account, qos = resolved
    unknown = [n for n in (*request.node_list, *request.exclude) if state.node(n) < 0]
    if unknown or set(request.node_list) & set(request.exclude):
        raise _RefusalError("Invalid node name specified")
    total = state.licenses.total
    if any(name not in total or count > total[name] for name, count in request.licenses):
        raise _RefusalError("Invalid license specification")
    if request.reservation and request.reservation not in state.reservations:
        raise _RefusalError("Requested reservation is invalid")
    most = state.conf.number("maxarraysize") or 1001
    if request.array is not None and (not request.array or max(request.array) >= most):
        raise _RefusalError("Invalid job array specification")
    if any(gres.name not in state.selector.gres_names for gres in request.gres):
        raise _RefusalError("Invalid generic resource (gres) specification", by_client=True)
    if request.features and not state.known_features.issuperset(features.names(features.parse(request.features))):
        new_id(state)
        raise _RefusalError("Invalid feature specification")
    job = Job(-1, request, user=request.user, account=account, qos=qos)
    job.partitions = tuple(partition.name for partition in partitions)
    job.partition, job.limit_min = job.partitions[0], request.time_min
    job.nice, job.submit_ns, job.submitted_ns = request.nice, state.now_ns, state.now_ns
    _enforce(state, job, partitions)
    if state.limits is not None:
        asks = state.selector.requested(demand_of(state, job, partitions[0]), partitions[0].conf)
        checked = Submission(state.limits, job, asks, tasks=len(request.array or (0,)))
        if checked.finding is not None:
            raise _RefusalError(POLICY, f"sbatch: error: {checked.finding.reason}\n")
        job.limit_min = checked.limit_min
    return job


def _partitions(state: State, request: JobRequest) -> list[Partition]:
    names = request.partitions
    if not names:
        default = [one for one in state.partitions.values() if one.conf.default]
        if not default:
            raise _RefusalError("No partition specified or system default partition")
        return default[:1]
    unknown = [name for name in names if name not in state.partitions]
    if unknown:
        raise _RefusalError(
            "Invalid partition name specified", f"sbatch: error: invalid partition specified: {','.join(names)}\n"
        )
    found = [state.partitions[name] for name in names]
    found = [one for one in found if one.takes_jobs]  # ``_alt_part_test``: those that are left of several do
    if not found:
        raise _RefusalError("Required partition not available (inactive or drain)")
    if request.user != "root" and any(one.conf.root_only for one in found):
        raise _RefusalError("User's group not permitted to use this partition")
    return sorted(found, key=lambda one: -one.conf.priority_tier)  # ``priority_sort_part_tier``


def _enforced(state: State) -> str:
    """EnforcePartLimits: with ALL every partition has to take a job, with ANY one of them; with NO it may wait."""
    said = (state.conf.text("enforcepartlimits") or "NO").upper()
    return {"0": "NO", "YES": "ALL", "1": "ALL"}.get(said, said)


def _enforce(state: State, job: Job, partitions: Sequence[Partition]) -> None:
    """What EnforcePartLimits refuses before there is a job (``_part_access_check``)."""
    enforce = _enforced(state)
    if enforce == "NO":
        return
    says = [_refuses(state, job, partition) for partition in partitions]
    job.partition = job.partitions[0]
    failing = [one for one in says if one]
    if enforce == "ALL" and failing:
        raise _RefusalError(failing[0])
    if len(failing) == len(says):
        raise _RefusalError(failing[-1])


def _refuses(state: State, job: Job, partition: Partition) -> str:
    """Why a partition does not take a job of this size or length; what it is now, up or down, does not count."""
    job.partition = partition.name
    if wants_more_cpus(state, job, partition):
        return MORE_CPUS
    if partition.up and (job.request.nodes_min or 1) > partition.size:
        return NODE_COUNT
    if (required_nodes(state, job) & ~partition.nodes).any():
        return NOT_HERE
    return _SAYS.get(partition_says(state, job, partition, as_asked=True), "")


def _entered(state: State, job: Job, tasks: Iterator[int], all_of_it: Sequence[Job]) -> list[Job]:
    """The job in the books: its id, its dependencies, its priority, the tasks of its array."""
    request = job.request
    job.id = new_id(state)
    if len(all_of_it) > 1:
        first = all_of_it[0]
        first.het = first.het or HetJob(first.id)
        job.het, job.het_offset = first.het, len(first.het.components)
        first.het.components.append(job)
    if request.begin:
        begin_ns = state.moment_ns(request.begin)
        job.begin_ns = begin_ns if begin_ns > state.now_ns else 0
    if request.deadline:
        job.deadline_ns = state.moment_ns(request.deadline)
    job.priority = 0 if request.hold else state.priorities.first(job)
    made = [job] if request.array is None else _tasks(state, job, request.array)
    for one in made:
        one.task = next(tasks)
        one.dependencies = [Condition(what) for what in request.dependencies]
        state.pending.append(one)
        state.tree.submit(one)
        if one.split:
            state.jobs[one.id] = one
    state.changed = True
    return made


def _tasks(state: State, job: Job, numbers: Sequence[int]) -> list[Job]:
    array = Array(job.id, job.request.array_limit)
    state.arrays[array.id] = array
    for number in numbers:
        one = Job(-1, job.request, id=job.id, user=job.user, account=job.account, qos=job.qos)
        one.partitions, one.partition, one.limit_min = job.partitions, job.partition, job.limit_min
        one.submit_ns, one.begin_ns, one.deadline_ns = job.submit_ns, job.begin_ns, job.deadline_ns
        one.submitted_ns = job.submit_ns
        one.priority, one.nice, one.array, one.array_task = job.priority, job.nice, array, number
        one.split = False
        array.tasks.append(one)
    if any(what.kind == "aftercorr" for what in job.request.dependencies):  # each has a condition of its own
        for one in array.tasks:
            split_off(state, one)
    return array.tasks


def _never(state: State, job: Job) -> str:
    """What refuses a job that cannot run in any of its partitions (``_select_nodes_parts``), "" if it may wait or run;
    ``job.partition`` is then the one that was looked at last. Held jobs are not looked at."""
    job.partition = job.partitions[0]
    if job.request.hold:
        return ""
    enforce = _enforced(state)
    several = len(job.partitions) > 1
    found, last, said = "", NOT_NOW, ""
    for name in job.partitions:
        partition = state.partitions[name]
        job.partition = name
        limit = partition_says(state, job, partition) or exceeds(state, job, partition)
        is_down = limit == "PartitionDown"
        if limit and ((several and enforce == "ANY") or not (several or is_down)):
            continue
        if limit and several and enforce == "ALL":
            found = "down" if is_down else NOT_NOW
            if not is_down:
                break
        demand, required = demand_of(state, job, partition), required_nodes(state, job)
        possible = possible_nodes(state, job, partition)
        if any(state.selector.fits_ever(demand, possible & one, required) for one in alternatives(state, job)):
            found = "down" if is_down else "fits"
            if enforce != "ALL":
                break
            continue
        last = NOT_AVAILABLE
        short = state.selector.shortfall(demand, partition.nodes)
        said = said or (short.value if short is not None else "")
    outcome = found or last
    if outcome == NOT_AVAILABLE:
        return f"sbatch: error: {said}\n{FAILURE}{NOT_AVAILABLE}" if said else f"{FAILURE}{NOT_AVAILABLE}"
    return f"{FAILURE}{NOT_NOW}" if outcome == NOT_NOW and enforce != "NO" else ""


def _fails(state: State, job: Job) -> None:
    """A job that can never run leaves a record (recorded: FAILED, BadConstraints, 1:0)."""
    job.state, job.reason, job.exit_code, job.ended_ns = FAILED, "BadConstraints", "1:0", state.now_ns
    state.pending.remove(job)
    state.tree.leave(job)
    state.world.drop(job)


def first_reason(state: State, job: Job) -> None:
    """The reason that a job shows before a scheduler has looked at it."""
    if job.request.hold:
        state.say(job, "JobHeldUser")
        return
    if job.dependencies and dependency(state, job) != "met":
        state.say(job, "Dependency")
        return
    if job.begin_ns > state.now_ns:
        state.say(job, "BeginTime")
        return
    partition = state.part(job)
    limit = partition_says(state, job, partition)
    limit = "PartitionConfig" if limit in _SAYS else limit or exceeds(state, job, partition)
    if limit == "PartitionDown" or (limit and (len(job.partitions) == 1 or _enforced(state) != "NO")):
        state.say(job, limit)
    else:
        _first_look(state, job)


def _first_look(state: State, job: Job) -> None:
    """What a job is told by the look at the nodes that comes with its submission."""
    top = _is_top(state, job)
    state.available = state.up
    if top or not state.available.all() or state.reservations:
        outcome = choose(state, job)
        if outcome.code in (Code.NOT_AVAILABLE, Code.RESERVATION) or (top and outcome.code is not Code.OK):
            return
    state.say(job, "None" if top else "Priority")


def _is_top(state: State, job: Job) -> bool:
    """Whether nobody in its partitions goes before it."""
    mine = set(job.partitions)
    for other, partition in state.line.entries(backfill=False):
        if partition.name in mine:
            return other is job or (job.array is not None and other.array is job.array)
    return True
