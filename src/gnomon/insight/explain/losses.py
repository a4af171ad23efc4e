"""What ended an attempt before its time: the numbers behind a FAIL row, as clauses.

What use was held to is in the row's details, put there where it was decided; who was on the node, what they had asked
for and what their limits add up to is folded from the log up to that row.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from gnomon.engine.log import Kind, Reason
from gnomon.insight.explain.faults import fault_behind, node_story
from gnomon.insight.explain.ground import Ground
from gnomon.insight.explain.phrases import above, counted, size, span
from gnomon.insight.explain.situation import Situation, rows_of
from gnomon.model.resources import NEVER
from gnomon.model.usage import Profile

Facts = Mapping[str, int | str]


@dataclass(frozen=True)
class Crowd:
    """Those who have a place on a node just before a row: what they asked for, what their limits add up to (those who
    have one), what each uses of memory, in bytes."""

    tasks: tuple[int, ...]
    asked: int
    limits: int
    unlimited: int
    used: tuple[int, ...]
    allocatable: int

    @property
    def overcommit(self) -> float:
        """The sum of the limits over what may be asked of the node; 0 where nobody has a limit, or all of it is."""
        return self.limits / self.allocatable if self.allocatable else 0.0


def crowd(ground: Ground, node: int, row: int) -> Crowd:
    """Who is on a node just before a row."""
    here = Situation(ground, row, int(ground.past.log.t_ns[row]))
    there = np.flatnonzero(here.node == node)
    tasks = here.holders[there].tolist()
    shapes = [ground.work.shapes[ground.shape(task)] for task in tasks]
    began = [int(ground.past.places.open_ns[here.stays[i]]) for i in there]
    limits = [shape.limit.memory_bytes for shape in shapes]
    return Crowd(
        tasks=tuple(tasks),
        asked=sum(shape.request.memory_bytes for shape in shapes),
        limits=sum(limits),
        unlimited=sum(not limit for limit in limits),
        used=tuple(memory_used(ground, task, here.now_ns - begin) for task, begin in zip(tasks, began, strict=True)),
        allocatable=ground.scenario.cluster.nodes[node].capacity.memory_bytes,
    )


def memory_used(ground: Ground, task: int, elapsed_ns: int) -> int:
    """The memory that a task uses so long after its attempt began, in bytes."""
    usage = ground.work.usage_of(task)
    profile = None if usage is None else usage.profile("memory")
    return ground.work.shapes[ground.shape(task)].request.memory_bytes if profile is None else at(profile, elapsed_ns)


def at(profile: Profile, elapsed_ns: int) -> int:
    """The amount of a profile at a time since the attempt began, rounded down.

    >>> at(Profile(((0, 0), (100, 50))), 10), at(Profile(((0, 0), (100, 50))), 200)
    (5, 50)
    """
    t = elapsed_ns % profile.every_ns if profile.every_ns else elapsed_ns
    before = max((i for i, (time, _) in enumerate(profile.points) if time <= t), default=0)
    time, amount = profile.points[before]
    if before + 1 == len(profile.points):
        return amount
    later, then = profile.points[before + 1]
    return amount + (then - amount) * (t - time) // (later - time)


def peak(ground: Ground, task: int, name: str) -> int:
    """The most that a task ever uses of cpu (millicores) or memory (bytes) in a run at full speed."""
    usage = ground.work.usage_of(task)
    profile = None if usage is None else usage.profile(name)
    if profile is None:
        return ground.work.shapes[ground.shape(task)].request.amount(name)
    length = int(ground.work.duration_ns[task])
    points = [amount for time, amount in profile.points if time <= length or profile.every_ns]
    return max(*points, at(profile, length)) if length < NEVER else max(points)


def used_up(ground: Ground, row: int) -> str:
    """A node whose memory is used up: what is used, what had been asked for, what the limits add up to."""
    log = ground.past.log
    node, facts = int(log.node[row]), log.details.get(row, {})
    those = crowd(ground, node, row)
    has, used = int(facts.get("capacity", those.allocatable)), int(facts.get("used", sum(those.used)))
    text = f"{ground.node_name(node)} has {size(has)} of memory, and its {counted(len(those.tasks), 'task')} use "
    placed = f"placed by the {size(those.asked)} that they asked for in all"
    leak = _leak_behind(ground, row)
    if leak >= 0:
        own, since = sum(those.used), span(int(ground.past.log.t_ns[leak]))
        return (
            f"{text}{size(own)}, {placed}; something beside them uses {size(used - own)}, more and more since {since}"
        )
    return f"{text}{above(used, has)}, {placed}; {_limits(those)}"


def _limits(those: Crowd) -> str:
    """How much the limits promise beyond what there is."""
    with_limit = len(those.tasks) - those.unlimited
    if not with_limit:
        return "none of them has a limit"
    text = f"their limits add up to {size(those.limits)} = {those.overcommit:.2g}x"
    return f"{text}, without those of {those.unlimited} that have none" if those.unlimited else text


def _leak_behind(ground: Ground, row: int) -> int:
    """The fault that takes the node's memory, -1 if none does."""
    fault = fault_behind(ground, row)
    return fault if fault >= 0 and ground.past.log.details.get(fault, {}).get("kind") == "leak" else -1


def victim(facts: Facts) -> str:
    """By which order one was chosen, and on what numbers."""
    used = int(facts.get("task_used", facts.get("used", 0)))
    text = f"it came first by {facts.get('order', 'order')}, using {size(used)} where it had asked for"
    return f"{text} {size(int(facts['request']))}" if facts.get("request") else f"{text} nothing"


def loss(ground: Ground, row: int, *, timed: bool = True) -> str:
    """How an attempt came to its end, as a clause about "it"; with when, if ``timed``."""
    log, facts = ground.past.log, ground.past.log.details.get(row, {})
    reason, node, cause = Reason(int(log.reason[row])), int(log.node[row]), int(log.cause[row])
    where, then = ground.node_name(node) if node >= 0 else "its node", span(int(log.t_ns[row]))
    when = f" at {then}" if timed else ""
    match reason:
        case Reason.EXIT:
            said = _said(ground, str(facts.get("message", "")))
            text = f"it failed by itself{when}" + (f" on {where}" if not ground.scenario.cluster.pool else "")
            return f"{text}: {said}" if said else text
        case Reason.MEMORY:
            limit = int(facts.get("limit", 0))
            used = above(int(facts.get("used", 0)), limit)
            text = f"it was killed{when} on {where} for its own limit of memory"
            return f"{text}: it used {used}, limit {size(limit)}"
        case Reason.NODE_MEMORY:
            text = f"it was killed{when}, when the memory of {where} was used up: {used_up(ground, row)}"
            return f"{text}; {victim(facts)}"
        case Reason.EVICTED:
            return f"at {then} it was sent away from {where}, which {_too_little(facts)}; {victim(facts)}"
        case Reason.DISK:
            said = f" ({facts['message']})" if "message" in facts else ""
            return f"it failed{when} for the disk of {where}{said}{_disk(facts)}"
        case Reason.STORE:
            has = f" of {size(int(facts['capacity']))}" if "capacity" in facts else ""
            return f"it failed{when}, when the object store{has} of {where} was full and could not spill"
        case Reason.DEVICE:
            return f"it lost its device on {where}{when}"
        case Reason.KILLED if "message" in facts:
            return f"it was ended{when} on {where}: {facts['message']}"
        case Reason.KILLED:
            return f"its process was killed from outside{when} on {where}"
        case Reason.PEER:
            peer = ground.work.id(int(log.subject[cause])) if cause >= 0 and log.subject[cause] >= 0 else "a task"
            text = f"it was stopped{when} with its job"
            root = cause >= 0 and log.kind[cause] == Kind.FAIL and log.reason[cause] != Reason.PEER
            return f"{text}: {loss(ground, cause).replace('it ', f'{peer} ', 1)}" if root else text
        case Reason.DRAINED:
            return f"at {then} it was sent away from {where}, which an operator emptied"
        case Reason.DELETED:
            return f"it was deleted{when} on {where}"
        case Reason.PREEMPTED if "by" in facts:
            return f"it gave way to {ground.work.id(int(facts['by']))}{when} on {where}"
    return f"it was lost with {where}, which {node_story(ground, row)}"


_FROM_NODE: Final = re.compile(r"(?<=, from )node (\d{1,9})$")


def _said(ground: Ground, message: str) -> str:
    """What an attempt said when it failed, in its first line; a node by its name."""
    nodes = len(ground.scenario.cluster.nodes)

    def named(found: re.Match[str]) -> str:
        return ground.node_name(int(found[1])) if int(found[1]) < nodes else found[0]

    return _FROM_NODE.sub(named, message.partition("\n")[0])


def _too_little(facts: Facts) -> str:
    left, below = int(facts.get("available", 0)), int(facts.get("below", 0))
    return f"had {size(max(left, 0))} left where {size(below)} are the least"


def _disk(facts: Facts) -> str:
    if "share" in facts and "demand" in facts:
        return f": it got {size(int(facts['share']))}/s of the {size(int(facts['demand']))}/s that it wanted"
    if "spilled" in facts:
        more = f"{size(int(facts['spilled']))} more than its object store of {size(int(facts['store']))} has room for"
        return f": {more} had to lie on a disk of {size(int(facts['capacity']))}"
    if "message" in facts and "used" in facts:
        left = max(int(facts["capacity"]) - int(facts["used"]), 0)
        text = f": files of shuffles took {size(int(facts['used']))} of {size(int(facts['capacity']))}"
        return f"{text}; it had {size(int(facts['task_used']))} to write, and {size(left)} were left"
    used = f", which was full ({size(int(facts['capacity']))})" if "capacity" in facts else ", which was full"
    return used + (f"; it used {size(int(facts['task_used']))} of it" if "task_used" in facts else "")


def failures(ground: Ground, task: int) -> list[int]:
    """The rows of a task's failed attempts."""
    found: list[int] = rows_of(ground.past.log, (task,), Kind.FAIL).tolist()
    return found


def is_final(ground: Ground, row: int) -> bool:
    """Whether nothing follows a failure, be it that of the task of the gang that was lost first."""
    log, cause = ground.past.log, int(ground.past.log.cause[row])
    if log.reason[row] == Reason.PEER and cause >= 0:
        return is_final(ground, cause)
    return bool(log.details.get(row, {}).get("final"))
