"""Nodes grouped by why they do not take a task."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gnomon.engine.log import Reason
from gnomon.insight.explain.ground import Ground
from gnomon.insight.explain.phrases import amount, counted, listed, span
from gnomon.insight.explain.situation import Situation
from gnomon.model.resources import NEVER
from gnomon.model.work import IntArray

HOLDERS_MAX = 3
"""How many of those who hold a node are named."""


@dataclass(frozen=True, slots=True)
class NodeClass:
    """Nodes that a task does not get for the same reasons: how many, one of them, and the reasons with the numbers of
    that one (the nearest to having room)."""

    nodes: int
    example: str
    reasons: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """In the form of ``explain -o json``."""
        return {"nodes": self.nodes, "example": self.example, "reasons": list(self.reasons)}


def node_classes(here: Situation, task: int, *, empty: bool = False) -> list[NodeClass]:
    """The nodes by reasons, those first that are nearest to taking the task. ``empty``: as if nothing ran."""
    ground = here.ground
    rows = ground.capacity if empty else here.free
    kept = {} if empty else here.reserved(task, here.now_ns)
    found: dict[tuple[str, ...], list[int]] = {}
    for node in range(len(rows)):
        window = kept.get(node)
        key = _key(ground, rows, node, task, "" if window is None else window.name)
        found.setdefault(key if empty else _barred(here, node, task, key), []).append(node)
    order = sorted(found, key=lambda key: (_RANK[key[0]], len(key), -len(found[key])))
    told = []
    for key in order:
        example = min(found[key], key=lambda node: ground.shortage(rows[node], task))
        told.append(NodeClass(len(found[key]), ground.node_name(example), _reasons(here, rows, example, task, key)))
    return told


_RANK = {"room": 0, "reserved": 1, "closed": 2, "avoided": 3, "busy": 4, "small": 5, "label": 6, "kind": 7}


def node_reasons(here: Situation, rows: IntArray, node: int, task: int, *, empty: bool = False) -> tuple[str, ...]:
    """What is against one node, with the numbers; nothing if it takes the task."""
    window = None if empty else here.reserved(task, here.now_ns).get(node)
    key = _key(here.ground, rows, node, task, "" if window is None else window.name)
    key = key if empty else _barred(here, node, task, key)
    return () if key[0] == "room" else _reasons(here, rows, node, task, key)


def _barred(here: Situation, node: int, task: int, key: tuple[str, ...]) -> tuple[str, ...]:
    """That a node takes no new work, or that the task's job avoids it, if nothing is against it for good."""
    if key[0] not in ("room", "reserved", "busy"):
        return key
    if node in here.closed:
        return "closed", closed_for(here.ground, here.closed[node])
    if node in here.ground.avoided(task, here.row):
        return ("avoided",)
    return key


def closed_for(ground: Ground, row: int) -> str:
    """Why a node takes no new work; the row that closed it.

    The words are those of the reason, so that nodes which were closed at different times are of one class.
    """
    return CLOSED_FOR[Reason(int(ground.past.log.reason[row]))]


CLOSED_FOR = {
    Reason.CORDONED: "an operator closed it",
    Reason.LOST: "it is taken for lost",
    Reason.UNDER_PRESSURE: "it is under pressure",
    Reason.REMOVED: "it is not part of the cluster any more",
}


def _key(ground: Ground, rows: IntArray, node: int, task: int, window: str) -> tuple[str, ...]:
    """What is against a node, without numbers: first the kind of reason, then what it is about."""
    wanted, has = ground.work.shapes[ground.shape(task)], ground.scenario.cluster.nodes[node]
    if wanted.node_kinds and has.kind not in wanted.node_kinds:
        return "kind", has.kind
    missing = [f"{name}={value}" for name, value in wanted.node_labels if (name, value) not in has.labels]
    if missing:
        return "label", *missing
    for kind, row in (("small", ground.capacity[node]), ("busy", rows[node])):
        if not ground.places(row[None, :], task)[0]:
            offer = ground.offer(row, task)
            return kind, *(name for name, (asked, free) in offer.items() if asked > free)
    return ("reserved", window) if window else ("room",)


def _reasons(here: Situation, rows: IntArray, node: int, task: int, key: tuple[str, ...]) -> tuple[str, ...]:
    ground, about = here.ground, key[1:]
    wanted, has = ground.work.shapes[ground.shape(task)], ground.scenario.cluster.nodes[node]
    match key[0]:
        case "kind":
            return (f"of {f'kind {has.kind}' if has.kind else 'no kind'}, not {' or '.join(wanted.node_kinds)}",)
        case "label":
            return (f"without the label {listed(about)}",)
        case "small":
            offer = ground.offer(ground.capacity[node], task)
            return tuple(f"{amount(n, offer[n][0])} asked, {_plain(n, offer[n][1])} in all" for n in about)
        case "busy":
            return tuple(_busy(here, rows[node], node, task, name) for name in about)
        case "closed":
            since = span(int(ground.past.log.t_ns[here.closed[node]]))
            return (f"takes no new work since {since}: {about[0]}",)
        case "avoided":
            most = ground.work.recovery_of(task).exclude
            return (f"avoided, for {counted(most, 'attempt')} of the job failed there",)
        case "reserved":
            window = here.reserved(task, here.now_ns)[node]
            until = "for ever" if window.end_ns >= NEVER else f"until {span(window.end_ns)}"
            since = "" if window.start_ns <= here.now_ns else f"from {span(window.start_ns)} "
            return (f"set aside for {window.name} {since}{until}",)
    unit = ground.unit(task)
    return (
        f"has room for {int(ground.places(rows[node][None, :], task)[0]):,} of its tasks"
        if len(unit) > 1
        else "has room",
    )


def _busy(here: Situation, row: IntArray, node: int, task: int, name: str) -> str:
    """Not enough of one resource: what is asked, what is free of how much, and who holds most of the rest."""
    ground = here.ground
    asked, free = ground.offer(row, task)[name]
    total = ground.scenario.cluster.nodes[node].capacity.amount(name)
    text = f"{amount(name, asked)} asked, {_plain(name, free)} of {_plain(name, total)} free"
    devices = row[ground.plain :]
    if name == "gpu" and devices.sum() >= asked:
        spread = f"spread over {counted(int((devices > 0).sum()), 'gpu')}"
        most = _plain(name, int(devices.max()))
        text = (
            f"{amount(name, asked)} asked; {_plain(name, int(devices.sum()))} free, but {spread}, at most {most} on one"
        )
    holders = _holders(here, node, name)
    return f"{text} ({listed(holders, HOLDERS_MAX)} {'holds' if len(holders) == 1 else 'hold'} it)" if holders else text


def _holders(here: Situation, node: int, name: str) -> list[str]:
    """Who holds a resource on a node, the largest part first."""
    ground = here.ground
    there = np.flatnonzero(here.node == node)
    column = ground.names.index(name)
    held = ground.need[ground.work.shape[here.holders[there]], column]
    order = np.argsort(-held, kind="stable")
    return [ground.work.id(int(here.holders[there[i]])) for i in order if held[i]]


def _plain(name: str, value: int) -> str:
    return amount(name, value).removesuffix(f" {name}")
