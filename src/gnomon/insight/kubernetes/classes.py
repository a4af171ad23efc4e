"""The nodes by what is against a pod there: those that fail for the same reasons are one row.

The first reasons of a row are those of the filter that refused the node, as they count in the event; what other filters
would have refused it for as well comes after them, for a change that removes the first alone does not help there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from gnomon.insight.explain.classes import NodeClass
from gnomon.insight.explain.phrases import Numbers
from gnomon.insight.history import FloatArray
from gnomon.systems.kubernetes.api.objects import Pod
from gnomon.systems.kubernetes.api.quantity import format_quantity
from gnomon.systems.kubernetes.scheduler.cycle import Scheduler
from gnomon.systems.kubernetes.scheduler.plugins.base import ALL, Filter, Query
from gnomon.systems.kubernetes.scheduler.plugins.node_unschedulable import CORDON
from gnomon.systems.kubernetes.scheduler.state import Ints, Mask, State
from gnomon.systems.kubernetes.scheduler.statuses import PASSES, Statuses

FIT = "NodeResourcesFit"
FITS = "fits"


@dataclass(frozen=True, slots=True)
class PodNodeClass(NodeClass):
    """``plugin``: what refused the nodes first, empty where they take the pod; ``behind``: what else would have;
    ``numbers``: what is asked and free on the example, where it is about resources; ``numbers_of``: all its nodes."""

    plugin: str = ""
    resolvable: bool = False
    behind: tuple[str, ...] = ()
    numbers: Numbers = field(default_factory=dict)
    members: tuple[int, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """In the form of ``explain -o json``."""
        return {
            **NodeClass.as_dict(self),
            "plugin": self.plugin,
            "preemption_may_help": self.resolvable,
            "numbers": self.numbers,
        }


@dataclass
class Judged:
    """All nodes judged for one pod, by every filter that looks at it and not only by the first that refuses."""

    state: State
    pod: Pod
    query: Query
    filters: Sequence[Filter]
    statuses: Statuses

    @cached_property
    def masks(self) -> dict[str, Mask]:
        """By plugin the nodes that it refuses."""
        return {plugin.name: plugin.codes(self.query, ALL) != 0 for plugin in self.filters}

    @cached_property
    def passing(self) -> Ints:
        """The nodes that take the pod."""
        taken = self.statuses.by == PASSES
        for node, refusal in self.statuses.special.items():
            taken[node] = refusal is None
        if self.statuses.outside is not None:
            taken &= ~self.statuses.outside
        return np.flatnonzero(taken)

    def only(self, *plugins: str) -> Mask:
        """The nodes that none but these plugins refuse."""
        open_ = np.ones(len(self.state.nodes), bool)
        for name, mask in self.masks.items():
            if name not in plugins:
                open_ &= ~mask
        if self.statuses.outside is not None:
            open_ &= ~self.statuses.outside
        return open_

    def free(self, name: str) -> Ints:
        """By node what is free of a resource."""
        row = self.state.resources.get(name)
        if row is None:
            return np.zeros(len(self.state.nodes), np.int64)
        free: Ints = self.state.allocatable[row] - self.state.used[row]
        return free

    @property
    def asked(self) -> dict[str, int]:
        """What the pod asks for, by resource."""
        return self.query.shape.requests

    def shortage(self) -> FloatArray:
        """By node the largest part of a request that is missing; 0 where all is there."""
        worst: FloatArray = np.zeros(len(self.state.nodes))
        for name, amount in self.asked.items():
            worst = np.maximum(worst, (amount - self.free(name)) / amount)
        worst[self.state.count >= self.state.allowed] += 0.5
        return worst


def judged(scheduler: Scheduler, pod: Pod) -> Judged:
    """All nodes judged for a pod as they are."""
    statuses = scheduler.statuses(pod)
    attempt = scheduler.attempt(pod)
    if attempt.statuses is not None and attempt.statuses.outside is not None and attempt.statuses.outside.all():
        statuses = attempt.statuses  # a PreFilter plugin refuses all nodes, and no filter looks at them
    return Judged(scheduler.state, pod, statuses.query, statuses.filters, statuses)


def classes(found: Judged) -> list[PodNodeClass]:
    """The nodes by reasons: those first that take the pod, then those that come nearest to it."""
    rows: dict[tuple[str, bool, tuple[str, ...], tuple[str, ...]], list[int]] = {}
    refusals = found.statuses.refusals()
    others = _behind(found)
    for node in found.passing.tolist():
        rows.setdefault(("", True, (FITS,), ()), []).append(node)
    for node, refusal in refusals.items():
        behind = tuple(text for plugin, text in others.get(node, ()) if plugin != refusal.plugin)
        rows.setdefault((refusal.plugin, refusal.resolvable, refusal.reasons, behind), []).append(node)
    shortage = found.shortage()
    told = []
    for (plugin, resolvable, reasons, behind), nodes in rows.items():
        example = min(nodes, key=lambda node: (shortage[node], node))
        about = plugin == FIT or not plugin or any(name == FIT for name, _ in others.get(example, ()))
        told.append(
            PodNodeClass(
                len(nodes),
                found.state.names[example],
                (*reasons, *(f"besides: {text}" for text in behind)),
                plugin,
                resolvable,
                behind,
                numbers_of(found, example) if about else {},
                tuple(nodes),
            )
        )
    return sorted(told, key=lambda one: (bool(one.plugin), not one.resolvable, len(one.behind), -one.nodes))


def _behind(found: Judged) -> dict[int, list[tuple[str, str]]]:
    """By node the reasons of all plugins that refuse it."""
    texts: dict[int, list[tuple[str, str]]] = {}
    for plugin in found.filters:
        nodes = np.flatnonzero(found.masks[plugin.name])
        codes = plugin.codes(found.query, ALL)[nodes]
        for text, mask in plugin.reasons(found.query, nodes, codes):
            if CORDON.key in text:
                continue  # said already, by NodeUnschedulable
            for node in nodes[mask].tolist():
                texts.setdefault(node, []).append((plugin.name, text))
    return texts


def numbers_of(found: Judged, node: int) -> Numbers:
    """What is asked and what is free on a node, of the resources that the pod asks for; and its slots for pods if they
    are used up."""
    numbers: Numbers = {}
    for name, amount in found.asked.items():
        free = int(found.free(name)[node])
        numbers |= {f"asked_{name}": shown(name, amount), f"free_{name}": shown(name, free)}
        row = found.state.resources[name]
        numbers[f"allocatable_{name}"] = shown(name, int(found.state.allocatable[row, node]))
    if found.state.count[node] >= found.state.allowed[node]:
        numbers |= {"pods": int(found.state.count[node]), "pods_allowed": int(found.state.allowed[node])}
    return numbers


def shown(name: str, amount: int) -> int | float:
    """An amount as a plain number: processors, bytes, units."""
    if name != "cpu":
        return amount
    return amount / 1000 if amount % 1000 else amount // 1000


def quantity(name: str, amount: int) -> str:
    """An amount with its resource, as the API writes it.

    >>> quantity("cpu", 1500), quantity("memory", 2**30), quantity("nvidia.com/gpu", 2)
    ('1500m cpu', '1Gi memory', '2 nvidia.com/gpu')
    """
    return f"{written(name, amount)} {name}"


def written(name: str, amount: int) -> str:
    """An amount as the API writes it; below zero where more is used than there is."""
    text = format_quantity(abs(amount), name)
    return f"-{text}" if amount < 0 else text
