"""Deaths by memory: of the own limit, and of a node whose memory is used up.

These are two mechanisms that know nothing of each other (corrections K5): over its *limit* an attempt dies wherever it
runs; what was *requested* counts only when the node itself has no more.
"""

from __future__ import annotations

from gnomon.model.resources import NEVER
from gnomon.resources.attempt import Attempt
from gnomon.resources.incident import Incident
from gnomon.resources.node_state import NodeState, first_tick, has_limit, look
from gnomon.resources.victims import ORDERS, Candidate, largest, last_of_group


def next_over_limit(state: NodeState, from_ns: int) -> int:
    """When somebody is next found over his limit (or the search has to be taken up again), NEVER if nobody is.

    At once, or at the next look (Kubernetes sheet 8: the kernel; YARN sheet 5, Slurm sheet 10: a check that polls, and
    misses what was over only between two looks).
    """
    if not state.limited:
        return NEVER
    soonest = NEVER
    for one in state.present():
        if has_limit(one, state.enforcement):
            if one.over_limit_ns < from_ns:
                one.over_limit_ns = _over_limit(one, state.enforcement.memory_check_ns, from_ns)
            soonest = min(soonest, one.over_limit_ns)
    return soonest


def _over_limit(one: Attempt, check_ns: int, from_ns: int) -> int:
    limit, parts = one.running.limit.memory_bytes, [(one.curves["memory"], one.began)]
    return first_tick(
        lambda t: look(parts, limit, t), lambda t: one.use("memory", t) > limit, max(from_ns, one.began), check_ns
    )


def kill_over_limit(state: NodeState, now: int) -> list[Incident]:
    """Those who are over their limit at a moment at which is looked die."""
    check = state.enforcement.memory_check_ns
    if not state.limited or (check and now % check):
        return []
    found = []
    for one in list(state.present()):
        limit = one.running.limit.memory_bytes
        if has_limit(one, state.enforcement) and (used := one.use("memory", now)) > limit:
            numbers = (("used", used), ("limit", limit), ("request", one.running.request.memory_bytes))
            found.append(Incident("kill", one.task, "memory", "memory", numbers))
            state.kill(one, now)
    return found


def next_used_up(state: NodeState, from_ns: int) -> int:
    """When more memory is used than the node has, NEVER if that never is, or nobody is there who could give some."""
    soonest = state.first_short("memory", 0, from_ns)
    if soonest == from_ns and not state.candidates("memory", from_ns, leaving=True):
        parts = [(one.curves["memory"], one.began) for one in state.present() if "memory" in one.curves]
        return look(parts, 0, from_ns)
    return soonest


def kill_used_up(state: NodeState, now: int) -> list[Incident]:
    """While more is used than the node has, the first victim of the order dies (if the order takes nobody, the
    largest)."""
    found: list[Incident] = []
    name = state.enforcement.out_of_memory
    while (left := state.left("memory", now)) < 0:
        listed = state.candidates("memory", now, leaving=True)
        if not listed:
            break
        victim = (ORDERS[name](listed) or largest(listed))[0]
        numbers = (
            ("used", state.memory_bytes - left + state.machine.used_bytes),
            ("capacity", state.memory_bytes + state.machine.used_bytes),
            ("task_used", victim.used),
            ("request", victim.request),
            ("order", name),
        )
        found.append(Incident("kill", victim.task, "memory", "memory", numbers, 0, may_retry(name, listed, victim)))
        state.kill(state.attempts[victim.task], now)
    return found


def may_retry(order: str, candidates: list[Candidate], victim: Candidate) -> bool:
    """Whether the rule lets the victim be repeated: by groups of owners, the last of a group is not (Ray sheet 4)."""
    return order != "newest-retriable" or not last_of_group(candidates, victim)
