"""What is in the way of a start: not enough free, a reservation, peers without a place, a limit, a promise to another.

Each function tells one of them as object, clause and numbers, from a situation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from gnomon.engine.log import Reason
from gnomon.insight.explain.classes import closed_for
from gnomon.insight.explain.outlook import Opening, first_opening, seated
from gnomon.insight.explain.phrases import Numbers, amount, compared, counted, listed, number, seconds, span, written
from gnomon.insight.explain.situation import Situation
from gnomon.model.cluster import Reservation
from gnomon.model.resources import NEVER
from gnomon.model.work import BoolArray

Obstacle = tuple[str, str, str, Numbers, int]
"""Rule, object, clause, numbers, and the earliest time at which it may be gone (NEVER: not known)."""


def no_room(here: Situation, task: int, promised_ns: int = -1) -> list[Obstacle]:
    """Not enough is free, or what is free is set aside: both, if each is so on other nodes; the earliest to go first.

    ``promised_ns``: when the scheduler has promised a start (-1: it has not). Empty if there is room.
    """
    ground = here.ground
    unit = ground.unit(task)
    if promised_ns < 0 and seated(here, unit, here.free, here.now_ns):
        return []
    if len(unit) > 1:
        return [_gang(here, unit, promised_ns)]
    room = ground.accepting(ground.shape(task)) & (ground.places(here.free, task) > 0)
    kept = {node: window for node, window in here.reserved(task, here.now_ns).items() if room[node]}
    found = [_reserved(here, window, kept) for window in dict.fromkeys(kept.values())]
    barred = here.barred(task)
    found += [_closed(here, node) for node in np.flatnonzero(room & barred).tolist()[:1]]
    others = ~barred
    others[list(kept)] = False
    if (ground.could_ever(task) & others).any():
        found.append(_resources(here, task, promised_ns, others))
    if not found:
        found = [_closed(here, node, has="") for node in np.flatnonzero(ground.could_ever(task) & barred).tolist()[:1]]
    return sorted(found, key=lambda one: one[-1])


def _closed(here: Situation, node: int, *, has: str = "has room, but ") -> Obstacle:
    """A node takes no new work, or none of the task's job."""
    name, row = here.ground.node_name(node), here.closed.get(node)
    if row is None:
        return "avoided", f"node/{name}", f"{name} {has}is avoided by its job, as attempts failed there", {}, NEVER
    since = int(here.ground.past.log.t_ns[row])
    text = f"{name} {has}takes no new work since {span(since)}: {closed_for(here.ground, row)}"
    return "closed", f"node/{name}", text, {"closed_from_s": seconds(since)}, NEVER


def _reserved(here: Situation, window: Reservation, kept: Mapping[int, Reservation]) -> Obstacle:
    mine = [here.ground.node_name(node) for node, one in kept.items() if one is window]
    has = f"{listed(mine, 3)} {'has' if len(mine) == 1 else 'have'} room, but"
    until = "for ever" if window.end_ns >= NEVER else f"until {span(window.end_ns)}"
    if window.start_ns <= here.now_ns:
        text = f"{has} {window.name} has set it aside {until}"
    else:
        text = f"{has} it may run into {window.name}, which has set it aside from {span(window.start_ns)} {until}"
    numbers: Numbers = {"nodes": len(mine), "reserved_from_s": seconds(window.start_ns)}
    numbers["reserved_until_s"] = seconds(window.end_ns)
    return "reserved", f"reservation/{window.name}", text, numbers, window.end_ns


def _resources(here: Situation, task: int, promised_ns: int, others: BoolArray) -> Obstacle:
    ground = here.ground
    opening = first_opening(here, (task,), only=others)
    candidates = opening.nodes or np.flatnonzero(ground.could_ever(task) & others).tolist()
    node = min(candidates, key=lambda one: ground.shortage(here.free[one], task))
    earliest = promised_ns if promised_ns >= here.now_ns else opening.t_ns
    offer, name = ground.offer(here.free[node], task), ground.node_name(node)
    short = listed([amount(resource, asked - free) for resource, (asked, free) in offer.items() if free < asked])
    if short:
        text = f"{name} lacks {short}" if opening.nodes else f"the nearest node, {name}, lacks {short}"
        text += _until(here, earliest, opening)
    else:
        text = f"{name} has room now, but what is promised to others begins before it would end"
    return "resources", f"node/{name}", text, compared(offer, "free"), earliest


def _gang(here: Situation, unit: Sequence[int], promised_ns: int) -> Obstacle:
    """All tasks of a gang need their places at once."""
    ground = here.ground
    opening = first_opening(here, unit)
    earliest = promised_ns if promised_ns >= here.now_ns else opening.t_ns
    seats = len(ground.seats(here.free, unit, {}))
    numbers: Numbers = {"tasks": len(unit), "room_for": seats}
    accepting = np.logical_or.reduce([ground.accepting(ground.shape(task)) for task in unit])
    for name, asked in ground.asked(unit).items():
        rows = here.free[accepting]
        free = rows[:, ground.plain :] if name == "gpu" else rows[:, ground.names.index(name)]
        numbers |= {f"asked_{name}": number(name, asked), f"free_{name}": number(name, int(free.sum()))}
    text = f"its {len(unit):,} tasks start together or not at all, and there is room for {seats:,}"
    text += _until(here, earliest, opening)
    return "resources", f"job/{ground.work.job_name(unit[0])}", text, numbers, earliest


def _until(here: Situation, earliest_ns: int, opening: Opening) -> str:
    """Until when, and what happens then."""
    if earliest_ns >= NEVER:
        return ", and nothing that is known will change that"
    text = f" until {span(earliest_ns)}"
    if opening.after is not None and opening.t_ns == earliest_ns:
        text += f", when {here.ground.work.id(opening.after)} should end"
    return text


def peers(here: Situation, task: int) -> tuple[str, str, Numbers]:
    """Its place is held, and its peers have none."""
    work = here.ground.work
    job = np.flatnonzero(work.job == work.job[task])
    placed = int(np.isin(job, here.holders).sum())
    text = f"it holds its place, and {len(job) - placed:,} of the {len(job):,} tasks of its job have none yet"
    return f"job/{work.job_name(task)}", text, {"tasks": len(job), "placed": placed, "missing": len(job) - placed}


def at_limit(here: Situation, task: int) -> Obstacle:
    """Its tenant holds or runs as much as it may, or would with this task."""
    ground, unit = here.ground, here.ground.unit(task)
    mine, rules = here.of_tenant(task), ground.tenant_rules(task)
    used = ground.asked(here.holders[mine].tolist())
    limit, most = (None, None) if rules is None else (rules.limit, rules.max_running)
    numbers: Numbers = {}
    clauses = []
    for name in limit.names() if limit else ():
        held, asked, bound = used.get(name, 0), ground.asked(unit).get(name, 0), limit.amount(name) if limit else 0
        numbers |= {f"used_{name}": number(name, held), f"limit_{name}": number(name, bound)}
        numbers |= {f"asked_{name}": number(name, asked)}
        if held + asked > bound:
            more = f"where {written(name, asked)} more are asked"
            clauses.append(f"holds {written(name, held)} of at most {amount(name, bound)} {more}")
    rule = Reason.TENANT_LIMIT if clauses else Reason.TENANT_RUNNING
    if most is not None:
        numbers |= {"running": len(mine), "limit_running": most}
        if len(mine) + len(unit) > most:
            clauses.append(f"runs {len(mine):,} of at most {counted(most, 'task')}")
    label = ground.tenant_label(task)
    text = f"{label.replace('/', ' ', 1)} {listed(clauses) or 'is at its limit'}"
    return rule.name.lower().replace("_", "-"), label, text, numbers, _limit_opening(here, task)


def _limit_opening(here: Situation, task: int) -> int:
    """When enough of what its tenant holds is given back, by the estimates."""
    ground, unit = here.ground, here.ground.unit(task)
    mine, rules = here.of_tenant(task), ground.tenant_rules(task)
    held = here.holders[mine][np.argsort(here.due_ns[mine], kind="stable")].tolist()
    due = np.sort(here.due_ns[mine]).tolist()
    if rules is None:
        return NEVER
    for ended in range(len(held) + 1):
        left = ground.asked([*held[ended:], *unit])
        within = rules.limit is None or all(left.get(n, 0) <= rules.limit.amount(n) for n in rules.limit.names())
        if within and (rules.max_running is None or len(held) - ended + len(unit) <= rules.max_running):
            return due[ended - 1] if ended else here.now_ns
    return NEVER


def promise(here: Situation, task: int, holder: int) -> tuple[str, Numbers]:
    """The start that is promised to another (backfilling), and how this task would delay it."""
    ground, unit = here.ground, here.ground.unit(task)
    begins = first_opening(here, ground.unit(holder)).t_ns
    ends = here.now_ns + max(ground.estimate_ns(one) for one in unit)
    numbers: Numbers = {"promised_start_s": seconds(begins), "may_end_s": seconds(ends)}
    text = f"{ground.work.id(holder)} is promised a start at {span(begins)}"
    if seated(here, unit, here.free, here.now_ns):
        return f"it would fit, but may run until {span(ends)}, and {text}", numbers
    candidates = np.flatnonzero(ground.could_ever(task)).tolist()
    node = min(candidates, key=lambda one: ground.shortage(here.free[one], task))
    offer = ground.offer(here.free[node], task)
    short = [amount(resource, asked - free) for resource, (asked, free) in offer.items() if free < asked]
    text += f", and until then it lacks {listed(short) or 'room for all its tasks'}"
    return text, {**numbers, **compared(offer, "free")}
