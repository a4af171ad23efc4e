"""Every rule that keeps a job from starting at a moment, in the order in which slurmctld asks, with its numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gnomon.insight.explain.phrases import Numbers, counted, listed, span
from gnomon.insight.explain.waits import Wait
from gnomon.insight.slurm.moment import Moment
from gnomon.model.resources import NEVER
from gnomon.systems.slurm.accounting.limit_checks import Finding, place_name
from gnomon.systems.slurm.cluster.job import OVER, Job
from gnomon.systems.slurm.cluster.state import MINUTE, State
from gnomon.systems.slurm.schedulers.choosing import exceeds
from gnomon.systems.slurm.schedulers.eligible import Condition, dependency, partition_says

NAMED_MAX: Final = 4
_DEPTH_MAX: Final = 50


def rules(moment: Moment) -> list[Wait]:
    """What holds the job, all of it: Slurm shows the first alone."""
    found: list[Wait] = []
    for one in (_hold, _dependency, _begin, _array, _partition, _limits, _licenses, _reservations, _deadline):
        found += one(moment)
    return found


def _wait(moment: Moment, kind: str, rule: str, of: str, text: str, numbers: Numbers, earliest_ns: int = NEVER) -> Wait:
    return Wait(kind, rule, of, text, numbers, earliest_ns, moment.job.submit_ns, moment.now_ns)


def _hold(moment: Moment) -> Iterator[Wait]:
    job = moment.job
    if job.priority or moment.reason in ("BadConstraints",):
        return
    who = "its user" if moment.reason == "JobHeldUser" else "an administrator"
    text = f"{who} holds it; it stays until it is released"
    if moment.reason == "JobHoldMaxRequeue":
        text = "it failed to be launched too often, and is held until it is released"
    yield _wait(
        moment, "event", moment.reason if "Held" in moment.reason else "JobHeldAdmin", "", text, {"priority": 0}
    )


def _dependency(moment: Moment) -> Iterator[Wait]:
    state, job = moment.state, moment.job
    if not job.dependencies:
        return
    verdict = dependency(state, job)
    if verdict == "met":
        return
    for condition in job.dependencies:
        if condition.met:
            continue
        text, of = _condition(condition)
        hopeless = not condition.never and any(_never_ends(state, other) for other in condition.last)
        if condition.never:
            text += "; it stays in the queue until somebody cancels it"
        elif hopeless:
            text += ", and that never runs: neither does this one"
        kind = "infeasible" if (verdict == "never" and condition.never) or hopeless else "event"
        rule = "DependencyNeverSatisfied" if condition.never else "Dependency"
        yield _wait(moment, kind, rule, of, text, {"left": sum(not one.met for one in job.dependencies)})


def _never_ends(state: State, job: Job, depth: int = 0) -> bool:
    """Whether a job that waits never will run, since it depends on what can never be, or on one that does."""
    if not job.pends or not job.dependencies or depth > _DEPTH_MAX:
        return False
    if dependency(state, job) == "never":
        return True
    return any(_never_ends(state, other, depth + 1) for one in job.dependencies for other in one.last if not one.met)


def _condition(condition: Condition) -> tuple[str, str]:
    what = condition.what
    if what.kind == "singleton":
        return "another job of its user and name is before it (singleton)", ""
    name = str(what.job) if what.task is None else f"{what.job}_{what.task}"
    text = f"{what.kind}:{name} is not met"
    others = [job for job in condition.last if job.state not in OVER] or list(condition.last)
    if condition.last and condition.never:
        bad = next((job for job in condition.last if job.state in OVER and job.state != "COMPLETED"), condition.last[0])
        text = f"{what.kind}:{name} can never be met: job {bad.name} is {bad.state} ({bad.exit_code})"
    elif others:
        first = others[0]
        text = f"{what.kind}:{name} is not met yet: job {first.name} is {first.state}"
        if first.pends:
            text += f" ({first.reason})"
    return text, f"job/{name}"


def _begin(moment: Moment) -> Iterator[Wait]:
    job = moment.job
    if job.begin_ns <= moment.now_ns:
        return
    why = "it is not to begin before"
    if job.restarts and job.stints:
        why = f"{requeued(moment.state, job)}, and a requeued job begins 121s later"
    yield _wait(moment, "event", "BeginTime", "", f"{why}: {moment.at(job.begin_ns)}", {}, job.begin_ns)


def requeued(state: State, job: Job) -> str:
    """Why a job is back in the queue."""
    last = job.stints[-1]
    nodes = last.allocation.nodes
    power = state.power
    for n in nodes:
        why = state.down.get(n, "")
        if not why and power is not None and n in power.asleep and last.state == "NODE_FAIL":
            why = power.provider(n).reason
        if why:
            return f"it was requeued ({last.state}: {state.conf.nodes[n].name}, {why})"
    return f"it was requeued ({last.state})"


def _array(moment: Moment) -> Iterator[Wait]:
    array = moment.job.array
    if array is None or array.limit is None or array.running < array.limit:
        return
    text = f"{counted(array.running, 'task')} of array {array.id} run, and %{array.limit} lets no more run at once"
    numbers: Numbers = {"running": array.running, "limit": array.limit, "waiting": len(array.unsplit)}
    yield _wait(moment, "limit", "JobArrayTaskLimit", f"job/{array.id}", text, numbers, _first_end(array.tasks))


def _first_end(jobs: list[Job]) -> int:
    return min((job.end_ns for job in jobs if job.runs and job.end_ns), default=NEVER)


def _partition(moment: Moment) -> Iterator[Wait]:
    state, job = moment.state, moment.job
    for name in job.partitions:
        partition = state.partitions.get(name)
        if partition is None:
            continue
        reason = partition_says(state, job, partition) or exceeds(state, job, partition)
        if not reason:
            continue
        conf = partition.conf
        numbers: Numbers = {}
        if reason == "PartitionTimeLimit":
            numbers = {"asked_min": state.limit_min(job, partition) or 0, "limit_min": conf.max_time_min or 0}
            most_time = _minutes(numbers["limit_min"])
            text = f"it asks for {_minutes(numbers['asked_min'])}, and MaxTime of {name} is {most_time}"
        elif reason == "PartitionNodeLimit":
            least, most = job.request.nodes_min or 1, conf.max_nodes if conf.max_nodes is not None else partition.size
            numbers = {"asked_nodes": least, "limit_nodes": min(most, partition.size)}
            text = f"it asks for {counted(least, 'node')}, and {name} lets a job have {min(most, partition.size)}"
            if (job.request.nodes_max or conf.min_nodes) < conf.min_nodes:
                text = f"{name} takes no job of less than {counted(conf.min_nodes, 'node')}"
        elif reason == "PartitionConfig":
            has = sum(state.conf.nodes[n].cpus for n in range(len(state.conf.nodes)) if partition.nodes[n])
            numbers = {"asked_cpus": state.selector.least_cpus(moment.demand), "cpus": has}
            text = f"it asks for {numbers['asked_cpus']} CPUs, and {name} has {has}"
        else:
            text = f"partition {name} is {conf.state}"
        yield _wait(moment, "limit", reason, f"partition/{name}", text, numbers)


def _minutes(value: object) -> str:
    return span(int(str(value)) * MINUTE)


# ------------------------------------------------------------------ limits of associations and QOS


def findings(moment: Moment) -> list[Finding]:
    """The limits that are against it: before its nodes are known, and with what it would get (on an empty cluster, if
    nothing is free)."""
    state, job = moment.state, moment.job
    if state.limits is None:
        return []
    found = list(state.limits.findings_before(job))
    allocation = moment.fits_now or moment.fits_empty
    if allocation is not None:
        tres = state.selector.tres(allocation, moment.partition.conf)
        found += state.limits.findings_after(job, tres, allocation.nodes)
    else:
        found += state.limits.findings_after(job, state.selector.requested(moment.demand, moment.partition.conf))
    return found


def _limits(moment: Moment) -> Iterator[Wait]:
    for one in findings(moment):
        users = holders(moment.state, one)
        numbers: Numbers = {"limit": one.allowed, "used": one.used, "asked": one.asked}
        ends = _first_end(users)
        yield _wait(moment, "limit", one.reason, object_of(one.place), limit_text(one, users), numbers, ends)


def limit_text(one: Finding, users: list[Job]) -> str:
    """A limit with its numbers and who uses it up."""
    if not one.limit:
        return f"{one.place} is not known"
    of = f"{one.limit}={one.resource}={one.allowed}" if one.resource else f"{one.limit}={one.allowed}"
    unit = f" {one.resource}" if one.resource else ""
    if one.asked > one.allowed:
        return (
            f"{one.place} has {of}, and this job alone asks for {one.asked:,}{unit}: it can never start with that limit"
        )
    names = listed([job.name for job in users], NAMED_MAX)
    by = f" by {'job' if len(users) == 1 else 'jobs'} {names}" if users else ""
    return f"{one.place} has {of}; {one.used:,}{unit} are in use{by}, and this job adds {one.asked:,}"


def holders(state: State, one: Finding) -> list[Job]:
    """The running jobs that count against a limit."""
    found = []
    for job in state.running:
        entry = state.tree.entry(job)
        places = [place_name(above) for above in (entry.chain if entry is not None else ())]
        for qos in state.tree.qos_order(job):
            of = ("", f"user {job.user}", f"account {job.account}")
            places += [place_name(qos, who) for who in of]
        if one.place in places:
            found.append(job)
    return found


def object_of(place: str) -> str:
    """``account phys`` as ``account/phys``."""
    words = place.split(" ")
    return f"{words[0].lower()}/{words[1]}" if len(words) > 1 else place


# ------------------------------------------------------------------ what else there is


def _licenses(moment: Moment) -> Iterator[Wait]:
    state, job = moment.state, moment.job
    if state.licenses.have(job):
        return
    for name, count in job.request.licenses:
        free, total = state.licenses.free(name), state.licenses.total.get(name, 0)
        if free < count:
            users = [one for one in state.running if any(name == other for other, _ in one.request.licenses)]
            by = f" (in use by {listed([one.name for one in users], NAMED_MAX)})" if users else ""
            text = f"{free} of {counted(total, 'licence')} {name} are free{by}, and it asks for {count}"
            numbers: Numbers = {"asked": count, "free": free, "total": total}
            yield _wait(moment, "limit", "Licenses", f"license/{name}", text, numbers, _first_end(users))


def _reservations(moment: Moment) -> Iterator[Wait]:
    state, job = moment.state, moment.job
    own = state.reservations.get(job.request.reservation)
    if job.request.reservation and own is None:
        text = f"reservation {job.request.reservation} is gone"
        yield _wait(moment, "infeasible", "ReservationDeleted", f"reservation/{job.request.reservation}", text, {})
    elif own is not None and not own.start_ns <= moment.now_ns < own.end_ns:
        text = f"its reservation {own.name} is from {moment.at(own.start_ns)} to {moment.at(own.end_ns)}"
        later = own.start_ns if own.start_ns > moment.now_ns else NEVER
        yield _wait(moment, "event", "Reservation", f"reservation/{own.name}", text, {}, later)
    end_ns = moment.now_ns + moment.limit_min * MINUTE
    for other in state.reservations.values():
        if other is own or not (other.start_ns < end_ns and moment.now_ns < other.end_ns):
            continue
        kept = int((other.nodes & moment.possible).sum())
        if not kept:
            continue
        what = "maintenance" if other.is_maintenance else "a reservation"
        of_all = int(moment.possible.sum())
        reaches = f"its time limit of {span(moment.limit_min * MINUTE)} reaches to {moment.at(end_ns)}"
        text = f"{what} {other.name} has {kept} of the {of_all} nodes from {moment.at(other.start_ns)} to "
        text += f"{moment.at(other.end_ns)}, and {reaches}"
        numbers: Numbers = {"nodes": kept, "begins_s": other.start_ns // 10**9, "ends_s": other.end_ns // 10**9}
        if other.start_ns > moment.now_ns:
            numbers["longest_limit_min"] = longest = (other.start_ns - moment.now_ns) // MINUTE
            text += f"; up to {span(longest * MINUTE)} it would be over before that"
        rule = "ReqNodeNotAvail, Reserved for maintenance" if other.is_maintenance else "Reserved"
        yield _wait(moment, "event", rule, f"reservation/{other.name}", text, numbers, other.end_ns)


def _deadline(moment: Moment) -> Iterator[Wait]:
    job = moment.job
    if not job.deadline_ns:
        return
    latest = job.deadline_ns - moment.limit_min * MINUTE
    text = f"to end by its deadline {moment.at(job.deadline_ns)} it has to start by {moment.at(latest)}"
    yield _wait(moment, "event", "DeadLine", "", text, {}, NEVER)
