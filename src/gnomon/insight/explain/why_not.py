"""Why a task is not, or was not, on one node, at the moment that matters.

That is the end of the run for one that waits, its arrival for one that was refused, and the decision itself for one
that was placed elsewhere. Scores are not kept: they are worked out again from what was free just before the decision.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gnomon.engine.log import Kind, State
from gnomon.insight.explain.classes import node_reasons
from gnomon.insight.explain.faults import beginning, fault_behind
from gnomon.insight.explain.ground import Ground
from gnomon.insight.explain.phrases import span
from gnomon.insight.explain.situation import Situation, rows_of
from gnomon.insight.explain.subjects import node_named
from gnomon.insight.explain.waits import Wait
from gnomon.model.errors import InputError
from gnomon.model.resources import NEVER
from gnomon.scheduling.codes import PLACEMENT, PLACEMENT_CODES
from gnomon.scheduling.compose import compose
from gnomon.scheduling.scores import points, score


@dataclass(frozen=True, slots=True)
class WhyNot:
    """Why not on ``node``: whether it had room and was open to the task (``fits``), in a sentence, and what was against
    it, one after the other."""

    node: str
    fits: bool
    text: str
    reasons: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """In the form of ``explain -o json``."""
        return {"node": self.node, "fits": self.fits, "text": self.text, "reasons": list(self.reasons)}


def why_not(ground: Ground, task: int, name: str, spells: Sequence[Wait]) -> WhyNot:
    """Why a task is not, or was not, on a node. ``spells``: what it waited for. Raises InputError for a pool."""
    if ground.scenario.cluster.pool:
        raise InputError("a pool of processors has no nodes to choose among", field="--why-not", found=name)
    node = node_named(name, ground, field="--why-not")
    shown, who = ground.node_name(node), ground.work.id(task)
    here, chosen, when = _moment(ground, task)
    there = _there(ground, task, node)
    if there and chosen == node:
        return WhyNot(shown, True, f"{who} {there}", (there,))
    empty = State(int(ground.past.outcome.state[task])) is State.REJECTED
    rows = ground.capacity if empty else here.free
    reasons = [*node_reasons(here, rows, node, task, empty=empty)]
    before = f"{who} {there}; " if there else ""
    if reasons:
        reasons += _fault(here, node)
        return WhyNot(shown, False, f"{before}{when}, {shown} did not take {who}: {'; '.join(reasons)}", tuple(reasons))
    if chosen >= 0:
        reasons = _preferred(here, task, node, chosen)
        text = f"{when}, {shown} would have taken {who} too, but it went to {ground.node_name(chosen)}: "
    else:
        reasons = [spells[-1].text if spells else "nobody has looked at it yet"]
        text = f"{when}, {shown} has room for {who}, which waits for another reason: "
    return WhyNot(shown, True, before + text + "; ".join(reasons), tuple(reasons))


def _there(ground: Ground, task: int, node: int) -> str:
    """That it was on the node after all, the last time; empty if it never was."""
    places = ground.past.places
    mine = np.flatnonzero((places.task == task) & (places.node == node))
    if not len(mine):
        return ""
    begin, end = int(places.open_ns[mine[-1]]), int(places.close_ns[mine[-1]])
    for stay in mine[::-1].tolist():  # a copy goes on where an attempt was given up
        begin = int(places.open_ns[stay]) if places.close_ns[stay] == begin else begin
    until = f"was on it from {span(begin)} to {span(end)}" if end < NEVER else f"is on it since {span(begin)}"
    return until


def _moment(ground: Ground, task: int) -> tuple[Situation, int, str]:
    """The situation that matters, the node that was chosen then (-1: none), and when that was, in words."""
    log, what = ground.past.log, ground.past.outcome
    state = State(int(what.state[task]))
    if state is State.REJECTED:
        row = int(rows_of(log, (task,), Kind.REJECT)[0])
        return Situation(ground, row, int(log.t_ns[row])), -1, f"on its arrival at {span(int(log.t_ns[row]))}"
    mine = np.flatnonzero(ground.past.attempts.task == task)
    if len(mine) and state not in (State.WAITING, State.DELAYED):
        row = int(ground.past.attempts.open_row[mine[-1]])
        t_ns = int(log.t_ns[row])
        return (
            Situation(ground, row, t_ns),
            int(ground.past.attempts.node[mine[-1]]),
            f"when it was placed at {span(t_ns)}",
        )
    return Situation(ground, len(log), ground.horizon_ns), -1, f"at {span(ground.horizon_ns)}"


def _fault(here: Situation, node: int) -> list[str]:
    """The fault behind a node that is closed."""
    fault = fault_behind(here.ground, here.closed.get(node, -1))
    return [] if fault is None else [f"at {span(fault.t_ns)} {beginning(here.ground, fault)}"]


def _preferred(here: Situation, task: int, node: int, chosen: int) -> list[str]:
    """Why another node was chosen that takes the task as well."""
    ground, policy = here.ground, here.ground.scenario.policy
    name, other = ground.node_name(node), ground.node_name(chosen)
    if callable(policy.placement) or policy.placement not in PLACEMENT_CODES:
        return [f"the placement {policy.text}, written in Python, chose {other}"]
    order = ground.layout.node_of.tolist()
    first = f"{other} stands before {name} in the order of the nodes, of which the first with room is taken"
    if policy.placement == "first-fit":
        later = order.index(chosen) > order.index(node)
        return [f"{other} kept its place" if later else first]
    if policy.placement == "random":
        return [f"of the nodes with room one is drawn at random, and that was {other}"]
    values = scores(here, task)
    mine, best = values[node], values[chosen]
    better = sum(value > mine for value in values.values())
    text = f"{name} scores {mine:.4g} by {policy.placement} where {other} scores {best:.4g}"
    if mine == best:
        return [f"{text}, and at a tie the first in the order of the nodes is taken"]
    return [f"{text}: it is number {better + 1} of {len(values)} that had room"]


def scores(here: Situation, task: int) -> dict[int, float]:
    """By node with room for a task, in a situation: its score under the scenario's placement."""
    ground = here.ground
    world = compose(ground.scenario).world
    order, shape = ground.layout.node_of, ground.shape(task)
    world.free[:] = here.free[order]
    position = {int(node): row for row, node in enumerate(order.tolist())}
    if world.families.size:
        world.families[:] = 0
        for holder, node in zip(here.holders.tolist(), here.node.tolist(), strict=True):
            world.families[position[node], world.family[ground.shape(holder)]] += 1
    room = ground.accepting(shape) & (ground.places(here.free, task) > 0) & ~here.barred(task)
    room[list(here.reserved(task, here.now_ns))] = False
    code = int(world.opt[PLACEMENT])
    return {node: points(world, score(world, code, position[node], shape)) for node in np.flatnonzero(room).tolist()}
