"""Which nodes a job gets now, or why it gets none: ``select_nodes`` of ``src/slurmctld/node_scheduler.c``.

The choice among usable nodes is :mod:`gnomon.systems.slurm.select`; here is which nodes are usable, in which order the
questions are asked, and what a refusal means.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

import numpy as np

from gnomon.systems.slurm.cluster import preempting
from gnomon.systems.slurm.cluster.job import Job
from gnomon.systems.slurm.cluster.reservations import Verdict, usable_nodes
from gnomon.systems.slurm.cluster.state import SECOND, YEAR_MIN, Mask, Partition, State, is_for_one_user
from gnomon.systems.slurm.notation.hostlist import compress
from gnomon.systems.slurm.sbatch import features
from gnomon.systems.slurm.schedulers.eligible import partition_says

UNAVAILABLE = "ReqNodeNotAvail, UnavailableNodes:"
SWITCH_WAIT_S = 300
"""So long a job waits for few switches if nothing else is said (max_switch_wait)."""
RESERVED = "ReqNodeNotAvail, May be reserved for other job"
MAINTENANCE = "ReqNodeNotAvail, Reserved for maintenance"


class Code(Enum):
    """What came of it (``ESLURM_…``)."""

    OK = "started"
    BUSY = "nodes busy"
    NOT_AVAILABLE = "nodes not available"
    NEVER = "requested node configuration is not available"
    PARTITION = "requested partition configuration not available now"
    POLICY = "accounting policy"
    LICENSES = "licenses"
    RESERVATION = "reservation busy"


@dataclass(slots=True)
class Outcome:
    """``victims``: who has to go first; the job then waits for that."""

    code: Code
    allocation: Any = None
    victims: tuple[Job, ...] = ()


def choose(state: State, job: Job, *, usable: Mask | None = None, minutes: int | None = None) -> Outcome:
    """Look for nodes for a job in its partition, among ``state.available`` (and ``usable``), for its time limit or so
    many minutes; sets its reason if there are none."""
    partition = state.part(job)
    says = partition_says(state, job, partition)
    if says:
        state.say(job, says)
        return Outcome(Code.PARTITION)
    if state.limits is not None and (reason := state.limits.before(job, job.request.nodes_min or 1)):
        state.say(job, reason)
        return Outcome(Code.POLICY)
    if not state.licenses.have(job):
        state.say(job, "Licenses")
        return Outcome(Code.LICENSES)
    too_large = exceeds(state, job, partition)
    if too_large:
        state.say(job, too_large)
        return Outcome(Code.PARTITION)
    verdict = usable_nodes(state, job, state.now_ns, minutes)
    if verdict.reason:
        state.say(job, verdict.reason)
        return Outcome(Code.RESERVATION)
    return _among(state, job, partition, verdict, usable)


def exceeds(state: State, job: Job, partition: Partition) -> str:
    """Whether a job is larger than the whole partition: then it waits, for that may change (recorded, 22.05)."""
    if (job.request.nodes_min or 1) > partition.size:
        return "PartitionNodeLimit"
    return "PartitionConfig" if wants_more_cpus(state, job, partition) else ""


def wants_more_cpus(state: State, job: Job, partition: Partition) -> bool:
    """Whether a job asks for more CPUs than a partition that is up has or gives (``_part_access_check``, job_mgr.c)."""
    if partition.cpus < 0:
        numbers = np.flatnonzero(partition.nodes).tolist()
        partition.cpus = sum(state.conf.nodes[n].cpus for n in numbers)
        most = partition.conf.max_cpus_per_node
        if most is not None:
            partition.cpus = min(partition.cpus, most * len(numbers))
    if not partition.up:
        return False
    least: int = state.selector.least_cpus(demand_of(state, job, partition))
    return least > partition.cpus


def demand_of(state: State, job: Job, partition: Partition) -> Any:
    """What a job asks in a partition, as the selection takes it; worked out once."""
    if job.demand is None:
        job.demand = {}
    known = job.demand
    if partition.name not in known:
        demand = state.selector.demand_of(job.request, partition.conf)
        limit = state.limits.most_nodes(job) if state.limits is not None else None
        known[partition.name] = demand if limit is None else state.selector.within(demand, limit.allowed)
    wait = job.request.switches
    if wait:
        most_s = int(state.conf.scheduler.get("max_switch_wait") or SWITCH_WAIT_S)
        patience_s = most_s if wait[1] is None else min(wait[1], most_s)
        if state.now_ns - job.submit_ns >= patience_s * SECOND:
            return state.selector.after_waiting(known[partition.name])
    return known[partition.name]


def not_anothers(state: State, job: Job, partition: Partition) -> Mask:
    """The nodes that no other user has for himself; for a job that wants that too, those without jobs of others."""
    mask = np.ones(len(state.conf.nodes), np.bool_)
    mine = is_for_one_user(job, partition)
    if not mine and not state.exclusive_users:
        return mask
    for other in state.running:
        if other.user != job.user and (mine or is_for_one_user(other, state.part(other))):
            mask[list(other.allocation.nodes)] = False
    return mask


def _among(state: State, job: Job, partition: Partition, verdict: Verdict, usable: Mask | None) -> Outcome:
    possible = possible_nodes(state, job, partition)
    open_now = possible & state.available & verdict.usable
    if usable is not None:
        open_now &= usable
    required = required_nodes(state, job)
    demand = demand_of(state, job, partition)
    if not required[~open_now].any():
        now = open_now & state.settled & not_anothers(state, job, partition)
        for feature in alternatives(state, job):
            for nodes in _nodes_in_turn(state, job, now & feature):
                allocation = select(state, job, verdict.occupancy, demand, nodes, required)
                if allocation is not None:
                    return _checked(state, job, allocation)
        found = preempting.make_room(state, job, demand, open_now, required, verdict.occupancy)
        if found is not None:
            return Outcome(Code.OK, found[0], found[1])
    return _refused(state, job, demand, possible, open_now, required, verdict)


def _nodes_in_turn(state: State, job: Job, usable: Mask) -> tuple[Mask, ...]:
    """Nodes that are switched on come before all (as if those that are off weighed more), where any are off; those of a
    job's own flexible reservation come before others."""
    own = state.reservations.get(job.request.reservation)
    if own is not None and "FLEX" in own.flags:
        return usable & own.nodes, usable
    return (usable,) if state.power is None else (usable & state.power.awake(), usable)


def _checked(state: State, job: Job, allocation: Any) -> Outcome:
    """The nodes are known: the limits that need to know them."""
    if reason := limit_after(state, job, allocation):
        state.say(job, reason)
        return Outcome(Code.POLICY)
    return Outcome(Code.OK, allocation)


def limit_after(state: State, job: Job, allocation: Any) -> str:
    """The limit that an allocation would break, "" if it breaks none."""
    if state.limits is None:
        return ""
    reason: str = state.limits.after(job, state.selector.tres(allocation, state.part(job).conf), allocation.nodes)
    return reason


def _refused(
    state: State, job: Job, demand: Any, possible: Mask, open_now: Mask, required: Mask, verdict: Verdict
) -> Outcome:
    """Why it got none: never, not with the nodes that are up, or not now."""
    features = alternatives(state, job)
    if not any(state.selector.fits_ever(demand, possible & feature, required) for feature in features):
        state.say(job, "BadConstraints")
        return Outcome(Code.NEVER)
    if not required[~open_now].any() and any(
        state.selector.fits_ever(demand, open_now & feature, required) for feature in features
    ):
        state.say(job, "Resources")
        return Outcome(Code.BUSY)
    if verdict.maintenance:
        state.say(job, MAINTENANCE)
        return Outcome(Code.RESERVATION)
    if not required[~open_now].any() and _waits_for_others(state, job, open_now):
        state.say(job, "Resources")
        return Outcome(Code.BUSY)
    away = possible & ~state.up if not required.any() else required & ~state.up
    state.say(job, f"{UNAVAILABLE}{compress(state.names(away))}" if away.any() else RESERVED)
    return Outcome(Code.NOT_AVAILABLE)


def _waits_for_others(state: State, job: Job, open_now: Mask) -> bool:
    """Whether some nodes that are up are not looked at for the sake of those who are there: processes linger, a job has
    them whole, or this one wants them whole (``nodes_busy`` of ``_pick_best_nodes``)."""
    if preempting.is_on(state):
        return bool((open_now & ~state.settled).any())
    partition = state.part(job)
    mask = state.settled & not_anothers(state, job, partition)
    for other in state.running:
        if wants_whole(job, partition) or wants_whole(other, state.part(other)):
            mask[list(other.allocation.nodes)] = False
    return bool((open_now & ~mask).any())


def wants_whole(job: Job, partition: Partition) -> bool:
    """Whether a job shares its nodes with nobody."""
    return job.request.exclusive == "node" or partition.conf.oversubscribe == "EXCLUSIVE"


def expected_ends(state: State, without: Collection[Job] = ()) -> list[tuple[int, Any]]:
    """When running jobs end by their limits (s; in a year without one), with what they have."""
    year = state.now_s + YEAR_MIN * 60
    return [
        (job.end_ns // SECOND if job.end_ns else year, job.allocation) for job in state.running if job not in without
    ]


def possible_nodes(state: State, job: Job, partition: Partition) -> Mask:
    """The nodes of a partition that a job does not exclude, with room for its files, whatever their state."""
    mask = partition.nodes.copy()
    if job.request.tmp_mb:
        mask &= np.array([node.tmp_mb >= job.request.tmp_mb for node in state.conf.nodes], np.bool_)
    for name in job.request.exclude:
        if (n := state.node(name)) >= 0:
            mask[n] = False
    return mask


def required_nodes(state: State, job: Job) -> Mask:
    """The nodes that it named."""
    mask = np.zeros(len(state.conf.nodes), np.bool_)
    for name in job.request.node_list:
        if (n := state.node(name)) >= 0:
            mask[n] = True
    return mask


def alternatives(state: State, job: Job) -> list[Mask]:
    """The sets of nodes whose features do, one after the other: several only for ``[a|b]``."""
    known = state.feature_masks.get(job.request.features)
    if known is None:
        expression = features.parse(job.request.features)
        known = [
            np.array([features.matches(choice, node.features) for node in state.conf.nodes], np.bool_)
            for choice in features.choices(expression)
        ]
        state.feature_masks[job.request.features] = known
    return known


def _weighs_more(state: State, job: Job) -> Any:
    """What nodes weigh more for a job under a limit on nodes: beside those that count already, others like them do."""
    counted = state.limits.nodes_in_use(job) if state.limits is not None else set()
    if not counted:
        return None
    alike: dict[Any, list[int]] = {}
    for number, node in enumerate(state.conf.nodes):
        alike.setdefault(replace(node, name=""), []).append(number)
    extra = np.zeros(len(state.conf.nodes), np.int64)
    for numbers in alike.values():
        others = [number for number in numbers if number not in counted]
        if len(others) < len(numbers):
            extra[others] = 1
    return extra


def select(state: State, job: Job, occupancy: Any, demand: Any, usable: Mask, required: Mask) -> Any:
    """Nodes for a job now, with so many of each feature as it asks (``gpu*2``); None: none will do."""
    allocation = state.selector.select(occupancy, demand, usable, required, extra=_weighs_more(state, job))
    if allocation is None or "*" not in job.request.features:
        return allocation
    wanted = features.counts(features.parse(job.request.features))
    for part, count in wanted:
        fit = np.array([features.matches(part, node.features) for node in state.conf.nodes], np.bool_)
        missing = count - int(fit[list(allocation.nodes)].sum())
        if missing > 0:
            more = np.flatnonzero(fit & usable & ~required)
            for last in range(missing, len(more) + 1):
                named = required.copy()
                named[more[last - missing : last]] = True
                other = state.selector.select(occupancy, demand, usable, named)
                if other is not None:
                    allocation, required = other, named
                    break
            else:
                return None
    return allocation
