"""Why another job is before one in the line: the tier of its partition, the factors of the priority, or the time."""

from __future__ import annotations

from gnomon.insight.slurm.shares import decided_between
from gnomon.systems.slurm.cluster.job import Job
from gnomon.systems.slurm.cluster.state import State

_FACTORS = ("age", "assoc", "fairshare", "jobsize", "partition", "qos")


def why_behind(state: State, job: Job, first: Job) -> str:
    """What puts another job before it, as a clause that follows ", ", with its comma; "": nothing to tell."""
    tiers = [state.part(one).conf.priority_tier for one in (first, job)]
    if tiers[0] > tiers[1]:
        return f", whose partition {first.partition} has PriorityTier {tiers[0]}, above {tiers[1]}"
    if first.fixed and first.priority > job.priority:
        return f", whose priority {first.priority} was set directly, above {job.priority}"
    if not state.priorities.period_ns or first.priority <= job.priority:
        return ""
    mine = state.priorities.factors(job, job.partition)
    theirs = state.priorities.factors(first, first.partition)
    leads = {name: getattr(theirs, name) - getattr(mine, name) for name in _FACTORS}
    leads["nice"] = float(mine.nice - theirs.nice)
    name = max(leads, key=lambda one: leads[one])
    if leads[name] <= 0:
        return f", whose priority is {first.priority}, above {job.priority}"
    values = [getattr(one, name) for one in (theirs, mine)]
    text = f", whose priority is {first.priority}, above {job.priority}"
    text += f", most of it {name}: {values[0]:.0f} above {values[1]:.0f}"
    if name == "fairshare" and (why := decided_between(state, job, first)):
        text += f"; {why}"
    return text
