"""What ended an attempt before its time: the numbers behind a FAIL row, as clauses.

What use was held to is in the row's details, put there where it was decided; who was on the node, what they had asked
for and what their limits add up to is folded from the log up to that row.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from gnomon.engine.log import Kind, Reason, Row
from gnomon.insight.explain.crowd import Crowd, crowd
from gnomon.insight.explain.faults import fate_of_node, fault_behind
from gnomon.insight.explain.ground import Ground
from gnomon.insight.explain.phrases import above, counted, size, span
from gnomon.insight.explain.situation import rows_of

Facts = Mapping[str, int | str]


def used_up(ground: Ground, row: int) -> str:
    """A node whose memory is used up: what is used, what had been asked for, what the limits add up to."""
    one = ground.past.log.row(row)
    those = crowd(ground, one.node, row)
    has = int(one.details.get("capacity", those.allocatable))
    used, own = int(one.details.get("used", sum(those.used))), sum(those.used)
    text = f"{ground.node_name(one.node)} has {size(has)} of memory, and its {counted(len(those.tasks), 'task')} use "
    placed = f"placed by the {size(those.asked)} that they asked for in all"
    fault = fault_behind(ground, row)
    if fault is not None and fault.details.get("kind") == "leak":
        more = f"something beside them uses {size(used - own)}, more and more since {span(fault.t_ns)}"
        return f"{text}{size(own)}, {placed}; {more}"
    return f"{text}{above(used, has)}, {placed}; {_limits(those)}"


def _limits(those: Crowd) -> str:
    """How much the limits promise beyond what there is."""
    with_limit = len(those.tasks) - those.unlimited
    if not with_limit:
        return "none of them has a limit"
    text = f"their limits add up to {size(those.limits)} = {those.overcommit:.2g}x"
    return f"{text}, without those of {those.unlimited} that have none" if those.unlimited else text


def victim(facts: Facts) -> str:
    """By which order one was chosen, and on what numbers."""
    used = int(facts.get("task_used", facts.get("used", 0)))
    text = f"it came first by {facts.get('order', 'order')}, using {size(used)} where it had asked for"
    return f"{text} {size(int(facts['request']))}" if facts.get("request") else f"{text} nothing"


def loss(ground: Ground, row: int, *, timed: bool = True) -> str:
    """How an attempt came to its end, as a clause about "it"; with when, if ``timed``."""
    one = ground.past.log.row(row)
    facts, then = one.details, span(one.t_ns)
    where, when = ground.node_name(one.node) if one.node >= 0 else "its node", f" at {then}" if timed else ""
    match one.reason:
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
            text = f"it was stopped{when} with its job"
            first = next(ground.past.log.back(one.cause), None)
            if first is None or first.kind is not Kind.FAIL or first.reason is Reason.PEER:
                return text
            return f"{text}: {loss(ground, first.number).replace('it ', f'{peer_of(ground, one)} ', 1)}"
        case Reason.DRAINED:
            return f"at {then} it was sent away from {where}, which an operator emptied"
        case Reason.DELETED:
            return f"it was deleted{when} on {where}"
        case Reason.PREEMPTED if "by" in facts:
            return f"it gave way to {ground.work.id(int(facts['by']))}{when} on {where}"
    return f"it was lost with {where}, which {fate_of_node(ground, row)}"


def peer_of(ground: Ground, one: Row) -> str:
    """The task of the same job whose loss a row follows from."""
    cause = int(ground.past.log.subject[one.cause]) if one.cause >= 0 else -1
    return ground.work.id(cause) if cause >= 0 else "a task"


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
    one = ground.past.log.row(row)
    if one.reason is Reason.PEER and one.cause >= 0:
        return is_final(ground, one.cause)
    return bool(one.details.get("final"))
