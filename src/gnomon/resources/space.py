"""Space that runs out: on the disk, and in the node's store of shared objects.

A store that is full makes room on the disk, if it can: what is too much for it counts as use of the disk, at once (Ray
sheet 4). If it cannot, or the disk is full as well, whoever added to it fails (user problem U50: what counts is one
node, not the sum over the cluster). Whoever does not grow is not touched: a write fails, not a file that is there.
"""

from __future__ import annotations

from gnomon.model.resources import NEVER
from gnomon.resources.attempt import Attempt
from gnomon.resources.incident import Incident
from gnomon.resources.node_state import NodeState
from gnomon.resources.victims import ORDERS, largest


def next_full(state: NodeState, from_ns: int) -> int:
    """When somebody fails because the disk or the store is full (or the search has to be taken up again)."""
    disk = state.first_short("disk", 0, from_ns)
    return disk if state.enforcement.spill_rate else min(disk, state.first_short("store", 0, from_ns))


def fail_full(state: NodeState, now: int) -> list[Incident]:
    """Those who grow fail, until the rest fits: by the order of the disk's pressure if there is one, else who uses most
    first."""
    found: list[Incident] = []
    if not state.enforcement.spill_rate and state.least_left("store") < 0:
        while (left := state.left("store", now)) < 0 and (grown := _growing(state, now, ("store",))):
            found.append(_fail(state, now, grown, left, "store"))
    if state.least_left("disk") < 0:
        while (left := state.left("disk", now)) < 0:
            names = ("disk", "store") if state.spills() and state.left("store", now) < 0 else ("disk",)
            if not (grown := _growing(state, now, names)):
                break
            found.append(_fail(state, now, grown, left, "disk"))
    return found


def _growing(state: NodeState, now: int, names: tuple[str, ...]) -> list[tuple[Attempt, str]]:
    """Those who use more than a ns ago, and of which of the resources; if there are none, all who use any."""
    pairs = [(one, name) for one in state.present() for name in names if one.uses(name, now)]
    return [(one, name) for one, name in pairs if one.grows(name, now)] or pairs


def _fail(state: NodeState, now: int, grown: list[tuple[Attempt, str]], left: int, short: str) -> Incident:
    rules = [rule.order for rule in state.enforcement.pressures if rule.resource == "disk" and short == "disk"]
    capacity = state.disk_bytes if short == "disk" else state.store_bytes
    choice: dict[int, tuple[Attempt, str, int]] = {}
    for one, name in grown:
        _, first, used = choice.get(one.task, (one, name, 0))
        choice[one.task] = one, first, used + one.use(name, now)
    listed = [one.candidate(short, used, capacity) for one, _, used in choice.values()]
    order = rules[0] if rules else "largest"
    victim = (ORDERS[order](listed) or largest(listed))[0]
    one, cause, _ = choice[victim.task]
    numbers: list[tuple[str, int | str]] = [("used", capacity - left), ("capacity", capacity)]
    numbers.append(("task_used", victim.used))
    if cause == "store" and short == "disk":
        numbers += [("store", state.store_bytes), ("spilled", -state.left("store", now))]
    state.kill(one, now)
    return Incident("kill", one.task, cause, short, tuple(numbers))


def wait_for_room(state: NodeState, now: int) -> list[Incident]:
    """Those whose use of the store jumps while it is full wait until what that drives out has been written.

    Gnomon's own simple model: each jump is written at the store's rate, one after the other, and who jumped stands
    still until his is done. (Who grows steadily is slowed instead: :mod:`gnomon.resources.speeds`.)
    """
    if not state.spills():
        return []
    jumps = {}
    for one in state.present():
        if "store" in one.curves and one.spill_seen < now:
            one.spill_seen = now
            if jump := _jump(one, now):
                jumps[one.task] = jump
    over = -state.left("store", now)
    moved = min(sum(jumps.values()), over)
    if moved <= 0:
        return []
    rate = state.enforcement.spill_rate
    state.spill_until = min(NEVER, max(now, state.spill_until) - (-moved * 10**9 // rate))
    for task in jumps:
        state.attempts[task].spill_until = state.spill_until
    numbers = ("spilled", over), ("moved", moved), ("rate", rate), ("capacity", state.store_bytes)
    return [Incident("spill", -1, "spilling", "store", numbers)]


def _jump(one: Attempt, now: int) -> int:
    """How much more of the store it uses than just before."""
    curve, t = one.curves["store"], now - one.began
    if t == 0:
        return curve.amount(0)
    (begin, end, first, last), shift = curve.at(t - 1)
    before = first + (last - first) * (t - shift - begin) // (end - begin)
    return max(0, curve.amount(t) - before)
