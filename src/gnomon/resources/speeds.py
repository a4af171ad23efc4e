"""How fast each attempt on a node goes, and why not faster.

The speed of an attempt is the part of the processors that it wants and gets, or of the disk throughput if that is less;
times the part of its time that it does not pause; times that in which the store makes room for it; times the speed of
the node. It is rounded down to 1/10,000 (not to 0, unless something stands still), and holds until something changes.

Demands for rates (cpu, disk-io) that rise or fall steadily are taken for their mean between two points of the profile;
pauses follow the memory in steps of one hundredth of what is full.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gnomon.model.resources import E4, NEVER
from gnomon.resources.attempt import Attempt
from gnomon.resources.incident import Incident
from gnomon.resources.node_state import NodeState, look
from gnomon.resources.sharing import cpu_weight, part_e4, paused_e4, weighted_shares

STEP_E4 = E4 // 100
"""A change of the memory's filling by less than this does not change a pause."""

Numbers = tuple[tuple[str, int | str], ...]


@dataclass(frozen=True, slots=True)
class Brake:
    """One thing that slows: what of its time it leaves, in 1/10,000."""

    cause: str
    resource: str
    e4: int
    numbers: Numbers = ()


def cpu_brakes(state: NodeState, now: int) -> Mapping[int, Brake]:
    """Processors: by weight of the requests, alike among threads where nothing weighs them, never above a cap.

    Without weights ("none") the kernel gives each thread the same, so that an attempt's weight is the number of its
    threads, which is what it wants.
    """
    if state.peaks["cpu"] <= state.cpu_milli and not state.capped:
        return {}
    takers = [(one, level) for one in state.present() if (level := one.level("cpu", now))]
    wants = [min(level, one.cpu_cap) for one, level in takers]
    if state.enforcement.cpu == "none":
        weights = [max(1, want) for want in wants]
    else:
        weights = [cpu_weight(one.running.request.cpu_milli) for one, _ in takers]
    shares = weighted_shares(wants, weights, state.cpu_milli)
    found = {}
    for (one, level), want, share in zip(takers, wants, shares, strict=True):
        if share < level:
            cause = "quota" if share == want else "cpu"
            found[one.task] = Brake(cause, "cpu", part_e4(share, level), (("share", share), ("demand", level)))
    return found


def disk_brakes(state: NodeState, now: int) -> Mapping[int, Brake]:
    """Disk throughput: all alike, what one does not want is free to the others."""
    if state.peaks["disk-io"] <= state.disk_rate:
        return {}
    takers = [(one, level) for one in state.present() if (level := one.level("disk-io", now))]
    levels = [level for _, level in takers]
    shares = weighted_shares(levels, [1] * len(levels), state.disk_rate)
    return {
        one.task: Brake("disk-io", "disk-io", part_e4(share, level), (("share", share), ("demand", level)))
        for (one, level), share in zip(takers, shares, strict=True)
        if share < level
    }


def pause_brake(state: NodeState, one: Attempt, now: int) -> Brake | None:
    """The pauses of one whose memory is almost full."""
    pauses, full = state.enforcement.pauses, one.memory_full()
    if pauses is None or not full:
        return None
    used = one.use("memory", now)
    step = _fill_step(part_e4(used, full), pauses.above_e4)
    paused = paused_e4(step, pauses)
    return Brake("pauses", "memory", E4 - paused, (("used", used), ("limit", full))) if paused else None


def _fill_step(fill_e4: int, above_e4: int) -> int:
    """The filling, rounded down to a step from where pauses begin."""
    return fill_e4 - (fill_e4 - above_e4) % STEP_E4 if above_e4 < fill_e4 < E4 else min(fill_e4, E4)


def spill_brakes(state: NodeState, now: int) -> Mapping[int, Brake]:
    """Those who wait for room in a full store, and those who let it grow faster than it can write.

    Who grows goes on at the part rate / growth of his speed, which is that of all who grow together.
    """
    if not state.spills():
        return {}
    numbers: Numbers = (("rate", state.enforcement.spill_rate),)
    waiting = [one.task for one in state.present() if one.spill_until > now]
    found = {task: Brake("spilling", "store", 0, numbers) for task in waiting}
    if state.left("store", now) >= 0:
        return found
    growth, growing = 0, []
    for one in state.present():
        if "store" in one.curves:
            (begin, end, first, last), _ = one.curves["store"].at(now - one.began)
            growth += (last - first) * 10**9 // (end - begin)
            if last > first:
                growing.append(one.task)
    if growth > state.enforcement.spill_rate:
        slowed = Brake(
            "spilling", "store", part_e4(state.enforcement.spill_rate, growth), (*numbers, ("growth", growth))
        )
        found = {**dict.fromkeys(growing, slowed), **found}
    return found


def set_speeds(state: NodeState, now: int) -> None:
    """Give every attempt the speed that it has from now on."""
    cpu, disk, spill = cpu_brakes(state, now), disk_brakes(state, now), spill_brakes(state, now)
    slow = Brake("slow", "node", state.slow_e4) if state.slow_e4 != E4 else None
    for one in state.present():
        rates = [brake for brake in (cpu.get(one.task), disk.get(one.task)) if brake]
        brakes = [min(rates, key=lambda brake: brake.e4)] if rates else []
        pause = pause_brake(state, one, now) if state.pausing else None
        brakes += [brake for brake in (pause, spill.get(one.task), slow) if brake]
        speed, cause, numbers = _together(brakes)
        if speed != one.speed_e4:
            one.settle(now)
            one.speed_e4 = speed
        one.cause, one.numbers = cause, numbers


def _together(brakes: list[Brake]) -> tuple[int, str, Numbers]:
    """The speed under several brakes, and the one that slows most."""
    if not brakes:
        return E4, "full", ()
    product = E4
    for brake in brakes:
        product *= brake.e4
    speed = product // E4 ** len(brakes)
    worst = min(brakes, key=lambda brake: brake.e4)
    if speed == 0 and all(brake.e4 for brake in brakes):
        speed = 1
    return speed, worst.cause, (("resource", worst.resource), *worst.numbers)


def announce(state: NodeState) -> list[Incident]:
    """An incident for each whose speed, or what slows it, is another than was last told."""
    found = []
    for one in state.present():
        if (one.speed_e4, one.cause) != one.told:
            numbers: Numbers = (("speed_e4", one.speed_e4), *(pair for pair in one.numbers if pair[0] != "resource"))
            found.append(Incident("speed", one.task, one.cause, str(dict(one.numbers).get("resource", "")), numbers))
            one.told = (one.speed_e4, one.cause)
    return found


def fail_starved(state: NodeState, now: int) -> list[Incident]:
    """Those whose disk throughput is below the part that they need fail, the worst off first, until the rest have
    enough."""
    least, found = state.enforcement.disk_fails_below_e4, []
    while least:
        starved = [(brake, task) for task, brake in disk_brakes(state, now).items() if brake.e4 < least]
        if not starved:
            break
        brake, task = min(starved, key=lambda pair: (pair[0].e4, pair[1]))
        found.append(
            Incident("kill", task, "disk", "disk-io", (*brake.numbers, ("part_e4", brake.e4), ("least_e4", least)))
        )
        state.kill(state.attempts[task], now)
    return found


def next_change(state: NodeState, now: int) -> int:
    """When speeds may change next by themselves, after ``now``; NEVER."""
    soonest = NEVER
    crowded = state.peaks["cpu"] > state.cpu_milli
    busy = state.peaks["disk-io"] > state.disk_rate
    spills = state.spills()
    for one in state.present() if crowded or busy or spills or state.capped or state.pausing else ():
        if crowded or (state.capped and one.curves["cpu"].peak > one.cpu_cap if "cpu" in one.curves else False):
            soonest = min(soonest, one.next_break("cpu", now))
        if busy:
            soonest = min(soonest, one.next_break("disk-io", now))
        if spills:
            soonest = min(soonest, one.next_break("store", now), one.spill_until if one.spill_until > now else NEVER)
            if "store" in one.curves and one.spill_seen < one.began:
                return now
        if state.pausing:
            soonest = min(soonest, _next_pause(state, one, now + 1))
    if spills:
        parts = state.parts("store")
        short = state.left("store", now) < 0
        soonest = min(soonest, look(parts, state.store_bytes, now + 1, above=not short))
    return soonest


def _next_pause(state: NodeState, one: Attempt, from_ns: int) -> int:
    """When one's memory next comes to another step of its filling."""
    pauses, full = state.enforcement.pauses, one.memory_full()
    if pauses is None or not full:
        return NEVER
    parts = [(one.curves["memory"], one.began)]
    step = _fill_step(part_e4(one.use("memory", from_ns - 1), full), pauses.above_e4)
    upper = min(max(step, pauses.above_e4) + STEP_E4, E4) if step < E4 else 0
    soonest = look(parts, -(-upper * full // E4) - 1, from_ns) if upper else NEVER
    if step > pauses.above_e4:
        soonest = min(soonest, look(parts, -(-step * full // E4) - 1, from_ns, above=False))
    return soonest
