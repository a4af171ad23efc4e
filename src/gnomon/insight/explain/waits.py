"""Why a task waited or was refused, spell by spell: the kind of waiting, what it waited for, and the numbers.

The reason of a spell is in the log, put there where it was decided. The numbers behind it (what was free, what a tenant
held, who stood in front) are folded from the log up to that row.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np

from gnomon.engine.log import Kind, Reason, Waiting
from gnomon.insight.explain.delays import delayed, leaderless, missing
from gnomon.insight.explain.ground import Ground
from gnomon.insight.explain.phrases import Numbers, amounts_of, counted, seconds, span
from gnomon.insight.explain.queues import Place, place_in_queue
from gnomon.insight.explain.refusals import refusal
from gnomon.insight.explain.room import at_limit, no_room, peers, promise
from gnomon.insight.explain.situation import Situation, rows_of
from gnomon.model.resources import NEVER


@dataclass(frozen=True, slots=True)
class Wait:
    """One spell of waiting, or a refusal.

    ``kind``: infeasible, event, limit or behind; ``rule``: the reason's name; ``object``: what is waited for, as
    ``node/…``, ``task/…``, ``queue/…``; ``text``: the reason as a clause; ``begin_ns`` to ``end_ns``: the spell;
    ``earliest_ns``: when it may be over as far as the estimates tell (NEVER: not known).
    """

    kind: str
    rule: str
    object: str
    text: str
    numbers: Numbers = field(default_factory=dict)
    earliest_ns: int = NEVER
    begin_ns: int = 0
    end_ns: int = 0

    @property
    def length_ns(self) -> int:
        """How long it lasted."""
        return self.end_ns - self.begin_ns

    def as_dict(self) -> dict[str, Any]:
        """In the form of ``explain -o json``."""
        when: Numbers = {"from_s": seconds(self.begin_ns), "waited_s": seconds(self.length_ns)}
        return {
            "kind": self.kind,
            "rule": self.rule,
            "object": self.object,
            "numbers": {**self.numbers, **(when if self.kind != "infeasible" else {})},
            "earliest_s": seconds(self.earliest_ns),
        }


@dataclass(frozen=True, slots=True)
class Spell:
    """One reason for waiting, from one row of the log about the task to the next, or to the end of what is known (not
    ``over``)."""

    row: int
    end_row: int
    reason: Reason
    value: int
    begin_ns: int
    end_ns: int
    over: bool


def waits(ground: Ground, task: int) -> list[Wait]:
    """The spells of waiting of a task, in order, and its refusal.

    A spell in which any of several things would do is several entries. The last spell of a task that waits to the end
    is told as it is then.
    """
    found = _before_arrival(ground, task)
    log = ground.past.log
    for spell in spells(ground, task):
        here = Situation(ground, spell.row + 1, spell.begin_ns)
        if not spell.over:
            here = Situation(ground, len(log), ground.horizon_ns)
        if spell.reason.waiting is Waiting.INFEASIBLE:
            found.append(Wait("infeasible", rule(spell.reason), *refusal(here, task, spell.reason)))
        else:
            told = _told(here, task, spell)
            found += [replace(one, begin_ns=spell.begin_ns, end_ns=spell.end_ns) for one in told]
    return found


def spells(ground: Ground, task: int) -> list[Spell]:
    """The spells of a task as the log has them; those that lasted no time are left out."""
    log, found = ground.past.log, []
    unit = ground.unit(task)

    def first_of_unit(row: int) -> int:
        """The members of a gang start in rows one after the other."""
        while row > 0 and log.subject[row - 1] in unit:
            row -= 1
        return row

    rows: list[int | None] = rows_of(log, (task,)).tolist()
    for row, following in pairwise([*rows, None]):
        assert row is not None
        kind, reason = Kind(int(log.kind[row])), Reason(int(log.reason[row]))
        if kind in (Kind.ARRIVE, Kind.QUEUE) and _is_leaderless(ground, row, following):
            kind, reason = Kind.WAIT, Reason.NO_LEADER
        if kind not in (Kind.WAIT, Kind.HOLD, Kind.REJECT, Kind.PREEMPT, Kind.RETRY):
            continue
        begin = int(log.t_ns[row])
        end = max(begin, ground.horizon_ns if following is None else int(log.t_ns[following]))
        if end > begin or following is None:
            over = following is not None or kind == Kind.REJECT
            last = len(log) if following is None else first_of_unit(following)
            found.append(Spell(row, last, reason, int(log.value[row]), begin, end, over))
    return found


def _is_leaderless(ground: Ground, row: int, following: int | None) -> bool:
    """Whether nobody decided on a task that stands in the queue, and so no reason was written down."""
    log, end = ground.past.log, len(ground.past.log) if following is None else following
    led = np.flatnonzero(log.kind[:end] == Kind.LEAD)
    before, within = led[led <= row], led[led > row]
    frozen = (len(before) and log.value[before[-1]] < 0) or (log.value[within] < 0).any()
    until = ground.horizon_ns if following is None else int(log.t_ns[following])
    return bool(frozen) and until > log.t_ns[row]


def rule(reason: Reason) -> str:
    """A reason's name as a rule.

    >>> rule(Reason.TENANT_LIMIT)
    'tenant-limit'
    """
    return reason.name.lower().replace("_", "-")


def _told(here: Situation, task: int, spell: Spell) -> list[Wait]:
    promised = max(spell.value, -1) if spell.over else -1
    match spell.reason:
        case Reason.TENANT_LIMIT | Reason.TENANT_RUNNING:
            return [Wait("limit", *at_limit(here, task))]
        case Reason.ORDER | Reason.TURN | Reason.PREEMPTED:
            return [_behind(here, task, spell)]
        case Reason.BACKFILL:
            return [_backfill(here, task, spell)]
        case Reason.PEERS:
            return [Wait("event", "peers", *peers(here, task))]
        case Reason.BACKOFF:
            return [Wait("event", "backoff", *delayed(here.ground, task, spell.row), spell.value)]
        case Reason.NEEDS:
            return [Wait("event", "needs", *missing(_at_end(here, spell), task, spell.row, over=spell.over))]
        case Reason.GATED | Reason.UNATTENDED:
            said = here.ground.past.log.details.get(spell.row, {}).get("message", "nobody lets it go")
            return [Wait("event", rule(spell.reason), f"task/{here.ground.work.id(task)}", str(said))]
        case Reason.NO_LEADER:
            return [Wait("event", "no-leader", *leaderless(here.ground, spell.end_row))]
    found = [_meanwhile(here, task, spell, Wait("event", *one)) for one in no_room(here, task, promised)]
    return found or [_turn(here, task)]


def _at_end(here: Situation, spell: Spell) -> Situation:
    return replace(here, row=spell.end_row) if spell.over else here


def _meanwhile(here: Situation, task: int, spell: Spell, wait: Wait) -> Wait:
    """Who started while it waited, where it could have: others got the room."""
    ground, log = here.ground, here.ground.past.log
    rows = np.arange(spell.row, spell.end_row)
    rows = rows[log.kind[rows] == Kind.START]
    rows = rows[ground.accepting(ground.shape(task))[np.maximum(log.node[rows], 0)]]
    if not len(rows):
        return wait
    first = int(rows[0])
    others = f"{counted(len(rows), 'other task')} started meanwhile" + (", the first of them" if len(rows) > 1 else ",")
    text = f"{wait.text} ({others} {ground.work.id(int(log.subject[first]))} at {span(int(log.t_ns[first]))})"
    return replace(wait, text=text, numbers={**wait.numbers, "started_meanwhile": len(rows)})


def _before_arrival(ground: Ground, task: int) -> list[Wait]:
    """A gang has arrived when its last task has, and until then the others wait for it."""
    work = ground.work
    submit = int(work.submit_ns[task])
    last = max(ground.unit(task), key=lambda one: int(work.submit_ns[one]))
    when = int(work.submit_ns[last])
    end = min(when, ground.horizon_ns)
    if end <= submit:
        return []
    text = f"its job arrives as a whole only when {work.id(last)} does, at {span(when)}"
    return [Wait("event", "peers", f"task/{work.id(last)}", text, {"tasks": len(ground.unit(task))}, when, submit, end)]


# ------------------------------------------------------------------ behind others


def _behind(here: Situation, task: int, spell: Spell) -> Wait:
    """Others are in front; the first of them that is held up, and why."""
    work, place = here.ground.work, place_in_queue(here, task)
    if spell.reason is Reason.PREEMPTED:
        name = work.id(spell.value)
        return Wait("behind", "preempted", f"task/{name}", f"it gave way to {name}", _standing(place))
    held_up = spell.value if spell.over and spell.value >= 0 else place.first
    if held_up is None:
        label = here.ground.tenant_label(task)
        return Wait("behind", rule(spell.reason), label, "others go first", _standing(place))
    first = work.id(held_up)
    if here.reason(held_up).waiting is Waiting.LIMIT:
        why = f"waits because {at_limit(here, held_up)[2]}"
    else:
        why = f"waits for {amounts_of(here.ground.asked(here.ground.unit(held_up)))}"
    if place.ahead == 0:
        text = f"it is the turn of {first}, which {why}"
    elif place.ahead == 1:
        text = f"{first} stands in front and {why}"
    else:
        text = f"{counted(place.ahead, 'task')} stand in front, among them {first}, which {why}"
    return Wait("behind", rule(spell.reason), f"task/{first}", text, _standing(place))


def _turn(here: Situation, task: int) -> Wait:
    """There is room, and somebody else's turn."""
    place = place_in_queue(here, task)
    label = here.ground.tenant_label(task) if place.first is None else f"task/{here.ground.work.id(place.first)}"
    return Wait("behind", "turn", label, "there is room, but it is not its turn", _standing(place), here.now_ns)


def _backfill(here: Situation, task: int, spell: Spell) -> Wait:
    """Somebody has the promise of a start, which it would delay."""
    place = place_in_queue(here, task)
    holder = spell.value if spell.over and spell.value >= 0 else place.first
    if holder is None:
        return _behind(here, task, spell)
    text, numbers = promise(here, task, holder)
    label = f"task/{here.ground.work.id(holder)}"
    return Wait("behind", "backfill", label, text, {**_standing(place), **numbers})


def _standing(place: Place) -> Numbers:
    return {"position": place.position, "ahead": place.ahead}
