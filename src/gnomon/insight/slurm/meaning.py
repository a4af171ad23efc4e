"""What the reason that squeue shows says, and what it does not.

Priority is not a low priority: somebody before it in the line of its partition waits for nodes. Resources is the first
of that line. What is promised to whom, and how long a job could be to run before that, backfill knows.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gnomon.insight.explain.phrases import Numbers, counted, listed, span
from gnomon.insight.explain.waits import Wait
from gnomon.insight.slurm.classes import Node, Nodes
from gnomon.insight.slurm.moment import Moment
from gnomon.insight.slurm.ranks import why_behind
from gnomon.insight.slurm.sizing import part_of
from gnomon.model.resources import NEVER
from gnomon.systems.slurm.cluster.job import Job
from gnomon.systems.slurm.cluster.state import MINUTE
from gnomon.systems.slurm.schedulers.choosing import MAINTENANCE, UNAVAILABLE

QUEUE_REASONS = ("None", "Priority", "Resources")
NAMED_MAX = 4


def meaning(moment: Moment, found: Sequence[Wait]) -> str:
    """The reason in plain words, as a clause."""
    reason = moment.reason
    same = next((one for one in found if one.rule == reason), None)
    if same is not None:
        return same.text
    if reason == "Priority":
        return _priority(moment, found)
    if reason == "Resources" or reason.startswith("Nodes required"):
        return _resources(moment, found)
    if reason == "None":
        return found[0].text if found else _priority(moment, found)
    if reason.startswith("ReqNodeNotAvail"):
        return _not_available(moment, found)
    if reason == "BadConstraints":
        short = short_of(moment, ever=True)
        return f"no node of {moment.partition.name} can ever take it: {short}; it is held (priority 0)"
    if reason == "PartitionConfig" and found:
        return found[0].text
    if reason == "BeginTime" and not found:
        return "its begin time has come, and no scheduler has looked at it since"
    if reason.startswith(("Assoc", "QOS", "Max")) and not found:
        return "that limit was reached when it was looked at last, and is not any more"
    return found[0].text if found else reason


def _priority(moment: Moment, found: Sequence[Wait]) -> str:
    line, name = moment.line, moment.partition.name
    if not line:
        held = f" ({found[0].text})" if found else ""
        return f"nobody is before it in the line of {name}: no scheduler has looked at it since that came about{held}"
    first = line[0]
    text = f"{_are(len(line), 'job')} before it in the line of {name} (the first is job {first.name}{_shown(first)})"
    rank = why_behind(moment.state, moment.job, first)
    low = "" if rank else "that its own priority is low, or "
    text += f"{rank}; Priority says no more than that: not {low}that they are to run on these nodes"
    return f"{text}; {why_not_backfilled(moment, found)}"


def _are(count: int, noun: str) -> str:
    return f"{counted(count, noun)} {'is' if count == 1 else 'are'}"


def _shown(job: Job) -> str:
    return f", {job.reason}" if job.reason not in ("None", "Priority") else ""


def why_not_backfilled(moment: Moment, found: Sequence[Wait] = ()) -> str:
    """Why backfill does not start it now either."""
    if moment.fits_now is None:
        return f"and for now there is no room for it either: {short_of(moment)}"
    where = listed(moment.state.names(list(moment.fits_now.nodes)), 3)
    blocked = in_its_way(moment)
    if blocked is not None:
        at_ns, other = blocked
        limit = span(moment.limit_min * MINUTE)
        longest = (at_ns - moment.now_ns) // MINUTE
        text = f"there is room for it now ({where}), but its time limit of {limit} reaches past {moment.at(at_ns)}, "
        text += f"when job {other.name} is promised nodes"
        return f"{text}; up to {span(longest * MINUTE)} it would start now" if longest else text
    held = next((one.text for one in found if one.kind == "limit"), "")
    if held:
        return f"there is room for it now ({where}), but {held}"
    kind = moment.state.conf.text("schedulertype")
    if not kind.endswith("backfill"):
        return f"there is room for it now ({where}), but with SchedulerType={kind} nobody passes the one before him"
    return f"there is room for it now ({where}), and backfill has not come to it yet"


def in_its_way(moment: Moment) -> tuple[int, Job] | None:
    """The first promise that keeps it from starting where there is room now, None: no promise does."""
    state, job = moment.state, moment.job
    usable = moment.possible & state.up & state.settled & moment.verdict.usable
    required = np.zeros(len(usable), np.bool_)
    for at_ns, other, nodes in moment.promises():
        usable[list(nodes)] = False
        if state.selector.select(moment.verdict.occupancy, moment.demand, usable, required) is None:
            return at_ns, other
    assert job is not None
    return None


def _resources(moment: Moment, found: Sequence[Wait]) -> str:
    name = moment.partition.name
    first = f"it is the first in the line of {name}" if not moment.line else f"it waits for nodes in {name}"
    if moment.fits_now is not None and moment.planned_ns > moment.now_ns:
        return f"{first}; {why_not_backfilled(moment, found)}"
    if moment.reason.startswith("Nodes required") and moment.line:
        first = f"the nodes of {name} that are up are kept for jobs before it (the first is job {moment.line[0].name})"
    reserved = next((one for one in found if one.object.startswith("reservation/")), None)
    if reserved is not None and moment.fits_now is None:
        return f"{first}, and {reserved.text}"
    return f"{first}, and there is not enough free for it: {short_of(moment)}"


def _not_available(moment: Moment, found: Sequence[Wait]) -> str:
    reserved = next((one for one in found if one.object.startswith("reservation/")), None)
    if moment.reason == MAINTENANCE or (reserved is not None and "reserved" in moment.reason.lower()):
        text = reserved.text if reserved is not None else "maintenance has its nodes"
        return f"idle nodes do not help: {text}"
    if moment.reason.startswith(UNAVAILABLE):
        away = moment.reason.partition(":")[2]
        named = moment.job.request.node_list
        if named:
            return f"it asks for {listed(named, 4)} by name, and {away} {_is_are(away)} down or drained"
        text = f"the nodes that are up cannot take it at all, and {away} {_is_are(away)} down or drained"
        return f"{text}: {short_of(moment)}"
    return f"nodes that it could have are kept for others: {short_of(moment)}"


def _is_are(names: str) -> str:
    return "are" if "," in names or "-" in names.partition("[")[2] else "is"


def short_of(moment: Moment, *, ever: bool = False) -> str:
    """What there is not enough of, on how many nodes, with the numbers of the nearest one. ``ever``: as if nothing ran
    and all were up."""
    nodes = Nodes(moment, ever=ever)
    outside = [name for name in moment.job.request.node_list if not moment.possible[moment.state.node(name)]]
    if outside:
        name = moment.partition.name
        return f"it asks for {listed(outside, 4)} by name, and {name} has no such node that it does not rule out itself"
    of_partition = [one for one in nodes.found() if one.kind != "partition"]
    fit = [one for one in of_partition if one.kind in ("fits", "promised", "off")]
    memory = _all_memory(nodes, of_partition)
    if memory:
        return memory
    groups: dict[tuple[str, ...], list[Node]] = {}
    for one in of_partition:
        if one not in fit:
            groups.setdefault((one.kind, *one.key), []).append(one)
    parts = []
    for group in sorted(groups.values(), key=lambda group: -len(group))[:3]:
        example = min(group, key=lambda one: one.short)
        where = moment.state.conf.nodes[example.number].name
        count = f"on {counted(len(group), 'node')}, " if len(of_partition) > 1 else ""
        parts.append(f"{count}{where} {_clause(example.reasons[0])}")
    if fit:
        least = moment.job.request.nodes_min or 1
        needs = f"it needs {least}" if least > len(fit) else "all of it needs more"
        each = part_of(moment.job.request, [moment.state.conf.nodes[one.number].effective_cpus for one in fit])
        parts.insert(0, f"{counted(len(fit), 'node')} could take a part of it{each}, and {needs}")
    return "; ".join(parts)


def _clause(text: str) -> str:
    if text.startswith(("has ", "is ", "does ", "could ")):
        return text
    return f"has {text}" if text[:1].isdigit() else f"is {text}"


def _all_memory(nodes: Nodes, found: Sequence[Node]) -> str:
    """The usual surprise: a job that asks for no memory gets all of its nodes."""
    full = [one for one in found if one.kind == "busy" and "memory" in one.key]
    if not nodes.asks_all_memory() or not full:
        return ""
    example = min(full, key=lambda one: one.short)
    conf = nodes.moment.state.conf.nodes[example.number]
    idle = nodes.free_cpus(example.number, conf)
    return (
        f"memory, not CPUs: without --mem and DefMemPerCPU or DefMemPerNode a job gets all memory of its node, so one "
        f"job fills it ({conf.name}: {idle} of {conf.effective_cpus} CPUs idle, "
        f"{nodes.free_memory(example.number, conf)} of {conf.memory_mb} MB of memory free)"
    )


def queue_wait(moment: Moment) -> Wait | None:
    """The waiting for nodes, or behind others, as an entry of its own."""
    job = moment.job
    if moment.reason not in QUEUE_REASONS and not moment.reason.startswith(("Nodes required", "ReqNodeNotAvail")):
        return None
    line = moment.line
    numbers: Numbers = {"before": len(line), "priority": job.priority}
    kind = "behind" if line else "event"
    blocked = in_its_way(moment) if moment.fits_now is not None else None
    of = f"job/{line[0].name}" if line else f"partition/{moment.partition.name}"
    if blocked is not None:
        numbers["longest_limit_min"] = (blocked[0] - moment.now_ns) // MINUTE
        of = f"job/{blocked[1].name}"
    earliest = moment.expected_ns if moment.expected_ns >= 0 else NEVER
    rule = moment.reason if moment.reason != "None" else "Priority" if line else "Resources"
    return Wait(kind, rule, of, "", numbers, earliest, job.submit_ns, moment.now_ns)
