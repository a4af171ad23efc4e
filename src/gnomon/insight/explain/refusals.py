"""Why a task was refused on its arrival: what makes it infeasible, with the numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gnomon.engine.log import Reason
from gnomon.insight.explain.ground import Ground
from gnomon.insight.explain.phrases import Numbers, amount, amounts_of, compared, counted, listed, number, written
from gnomon.insight.explain.situation import Situation

Refusal = tuple[str, str, Numbers]
"""The object that stands against it, the reason as a clause, and the numbers."""


def refusal(here: Situation, task: int, reason: Reason) -> Refusal:
    """Tell a rejection."""
    ground, unit = here.ground, here.ground.unit(task)
    match reason:
        case Reason.TOO_LARGE:
            return _too_large(ground, next((one for one in unit if not ground.could_ever(one).any()), task))
        case Reason.NO_NODE_KIND:
            wanting = (one for one in unit if not ground.accepting(ground.shape(one)).any())
            return _no_node_kind(ground, next(wanting, task))
        case Reason.OVER_LIMIT:
            return _over_limit(ground, unit)
        case Reason.GANG_TOO_LARGE:
            return _gang_too_large(ground, unit)
        case Reason.DROPPED:
            return _dropped(here, unit)
    unusable = next((one for one in unit if not ground.work.usable[one]), task)
    text = "its row in the input cannot run as it stands (it has no run time, or no size)"
    return f"task/{ground.work.id(unusable)}", text, {}


def _too_large(ground: Ground, task: int) -> Refusal:
    """Of the nodes that it accepts, the one that lacks least."""
    accepting = np.flatnonzero(ground.accepting(ground.shape(task))).tolist()
    node = min(accepting, key=lambda one: ground.shortage(ground.capacity[one], task))
    offer = ground.offer(ground.capacity[node], task)
    lacks = {name: pair for name, pair in offer.items() if pair[0] > pair[1]}
    clauses = [f"{amount(name, asked)} where that has {written(name, has)}" for name, (asked, has) in lacks.items()]
    text = f"no node is large enough, not even {ground.node_name(node)} when it is empty: it asks for {listed(clauses)}"
    return f"node/{ground.node_name(node)}", text, compared(offer, "largest")


def _no_node_kind(ground: Ground, task: int) -> Refusal:
    wanted, nodes = ground.work.shapes[ground.shape(task)], ground.scenario.cluster.nodes
    of_kind = [node for node in nodes if not wanted.node_kinds or node.kind in wanted.node_kinds]
    kinds = " or ".join(wanted.node_kinds)
    if not of_kind:
        there = listed(sorted({node.kind or "no kind" for node in nodes}))
        text = f"none of {counted(len(nodes), 'node')} is of kind {kinds}, but of {there}"
        return f"kind/{kinds}", text, {"nodes": len(nodes), "of_kind": 0}
    labels = listed([f"{name}={value}" for name, value in wanted.node_labels])
    among = f"the {counted(len(of_kind), 'node')} of kind {kinds}" if kinds else counted(len(of_kind), "node")
    text = f"none of {among} has the label{'s' * (len(wanted.node_labels) > 1)} {labels}"
    return f"label/{labels}", text, {"nodes": len(nodes), "of_kind": len(of_kind)}


def _over_limit(ground: Ground, unit: Sequence[int]) -> Refusal:
    rules, label = ground.tenant_rules(unit[0]), ground.tenant_label(unit[0])
    numbers: Numbers = {}
    clauses = []
    limit = None if rules is None else rules.limit
    for name in limit.names() if limit else ():
        asked, most = ground.asked(unit).get(name, 0), limit.amount(name) if limit else 0
        numbers |= {f"asked_{name}": number(name, asked), f"limit_{name}": number(name, most)}
        if asked > most:
            numbers[f"short_{name}"] = number(name, asked - most)
            clauses.append(f"{amount(name, asked)} where {written(name, most)} are the most")
    if rules and rules.max_running is not None and len(unit) > rules.max_running:
        numbers |= {"tasks": len(unit), "limit_running": rules.max_running}
        clauses.append(f"{counted(len(unit), 'task')} at a time where {rules.max_running:,} are the most")
    text = f"by itself it asks for more than {label.replace('/', ' ', 1)} may ever have: {listed(clauses)}"
    return label, text, numbers


def _gang_too_large(ground: Ground, unit: Sequence[int]) -> Refusal:
    """All its tasks at once do not even fit the empty cluster."""
    fits = len(ground.seats(ground.capacity, unit, {}))
    accepting = np.logical_or.reduce([ground.accepting(ground.shape(task)) for task in unit])
    numbers: Numbers = {"tasks": len(unit), "room_for": fits, "nodes": int(accepting.sum())}
    for name, asked in ground.asked(unit).items():
        has = sum(ground.scenario.cluster.nodes[int(n)].capacity.amount(name) for n in np.flatnonzero(accepting))
        numbers |= {f"asked_{name}": number(name, asked), f"largest_{name}": number(name, has)}
    text = (
        f"its {counted(len(unit), 'task')} start together or not at all, and the empty cluster has room for {fits:,}: "
        f"they ask for {amounts_of(ground.asked(unit))}"
    )
    return f"job/{ground.work.job_name(unit[0])}", text, numbers


def _dropped(here: Situation, unit: Sequence[int]) -> Refusal:
    """There was no room when it came, and nobody waits here."""
    ground, task = here.ground, unit[0]
    candidates = np.flatnonzero(ground.could_ever(task)).tolist()
    node = min(candidates, key=lambda one: ground.shortage(here.free[one], task))
    offer = ground.offer(here.free[node], task)
    lacks = [amount(name, asked - free) for name, (asked, free) in offer.items() if asked > free]
    text = f"nobody waits under this policy, and when it came {ground.node_name(node)} lacked {listed(lacks) or 'time'}"
    return f"node/{ground.node_name(node)}", text, compared(offer, "free")
