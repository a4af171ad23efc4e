"""Nodes in use for tests: short ways to say what is used, and to run a node to its rest."""

from __future__ import annotations

from gnomon.model.resources import NEVER, Resources
from gnomon.model.usage import Profile, Usage
from gnomon.resources.node_use import Incident, NodeUse

S, GI, MI = 10**9, 2**30, 2**20


def flat(amount: int) -> Profile:
    return Profile(((0, amount),))


def ramp(until_ns: int, amount: int, first: int = 0) -> Profile:
    return Profile(((0, first), (until_ns, amount)))


def uses(**profiles: Profile) -> Usage:
    return Usage(tuple((name.replace("_", "-"), one) for name, one in profiles.items()))


def memory(size: int) -> Resources:
    return Resources(memory_bytes=size)


def cpu(milli: int) -> Resources:
    return Resources(cpu_milli=milli)


def run(node: NodeUse, until: int = NEVER) -> list[tuple[int, Incident]]:
    """All that happens up to a time, each victim leaving as soon as it may."""
    found: list[tuple[int, Incident]] = []
    going: list[tuple[int, int]] = []
    for _ in range(2_000):
        ends = [(when, task) for task, when in node.ends().items() if when < NEVER] + going
        end, task = min(ends, default=(NEVER, -1))
        now = node.next_ns()
        if min(now, end) > until or min(now, end) == NEVER:
            return found
        if end <= now:
            node.leave(task, end)
            going = [(when, other) for when, other in going if other != task]
            continue
        incidents = node.happen(now)
        found += [(now, one) for one in incidents]
        for one in incidents:
            if one.kind in ("kill", "evict"):
                if one.grace_ns:
                    going.append((now + one.grace_ns, one.task))
                else:
                    node.leave(one.task, now)
    raise AssertionError("it never comes to rest")


def deaths(found: list[tuple[int, Incident]]) -> list[tuple[int, int, str]]:
    return [(t, one.task, one.cause) for t, one in found if one.kind in ("kill", "evict")]


def of_kind(found: list[tuple[int, Incident]], *kinds: str) -> list[tuple[int, str, int]]:
    return [(t, one.kind, one.task) for t, one in found if one.kind in kinds]
