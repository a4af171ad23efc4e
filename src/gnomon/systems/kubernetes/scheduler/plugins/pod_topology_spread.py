"""PodTopologySpread: pods that a selector finds are held, or kept, even over the domains of a label.

Sources: sheet §4.3 and §4.5; ``plugins/podtopologyspread/{filtering,scoring,common}.go`` of v1.34.1. Hard constraints
(DoNotSchedule) filter, soft ones (ScheduleAnyway) score. The logarithms and the rounding of the score are those of the
source: binary floating point, each constraint added in turn.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gnomon.systems.kubernetes.api.constraints import DO_NOT_SCHEDULE, HOSTNAME, LabelSelector, Requirement
from gnomon.systems.kubernetes.api.selectors import selects, selects_equal, untolerated
from gnomon.systems.kubernetes.scheduler.census import Kind
from gnomon.systems.kubernetes.scheduler.plugins.base import (
    MAX_SCORE,
    ClusterScore,
    Filter,
    Nodes,
    Query,
    Scope,
    by_text,
)
from gnomon.systems.kubernetes.scheduler.plugins.node_affinity import required_mask
from gnomon.systems.kubernetes.scheduler.shapes import Shape
from gnomon.systems.kubernetes.scheduler.state import Domains, Ints, Mask, State

MISSING = "node(s) didn't match pod topology spread constraints (missing required label)"
SKEWED = "node(s) didn't match pod topology spread constraints"


@dataclass(frozen=True)
class Constraint:
    """A constraint of the pod or of the profile's defaults."""

    key: str
    max_skew: int
    selector: LabelSelector | None
    min_domains: int = 1
    honor_affinity: bool = True
    honor_taints: bool = False


@dataclass(frozen=True)
class Setting:
    """What of a pod's hard, or soft, constraints depends on nodes alone.

    ``has_keys``: the nodes that carry the labels of all of them. By constraint: its domains; the slot in which each
    node counts, that of nodes without the label where it does not count; the domains that count; whether the selector
    finds the pod itself.
    """

    constraints: tuple[Constraint, ...]
    has_keys: Mask
    domains: tuple[Domains, ...]
    slots: tuple[Ints, ...]
    present: tuple[Ints, ...]
    itself: tuple[int, ...]


def setting(query: Query, *, hard: bool) -> Setting:
    """The hard or the soft constraints of the pod, with what nodes alone decide."""
    key = ("PodTopologySpread", hard, query.profile.name, query.shape.index)
    return query.state.static(key, lambda: _setting(query, hard))


def _setting(query: Query, hard: bool) -> Setting:
    state, shape = query.state, query.shape
    constraints = _constraints(query, hard)
    domains = tuple(state.domains(one.key) for one in constraints)
    has_keys = np.ones(len(state.nodes), bool)
    for one in domains:
        has_keys &= one.of >= 0
    slots, present = [], []
    for constraint, domain in zip(constraints, domains, strict=True):
        counts = _included(state, shape, constraint)
        if hard or requires_keys(query):
            counts &= has_keys
        slot = np.where(counts, domain.slots, len(domain.values))
        slots.append(slot)
        present.append(np.flatnonzero(np.bincount(slot, minlength=len(domain.values) + 1)[:-1]))
    itself = tuple(int(selects(one.selector, shape.kind.labels)) for one in constraints)
    return Setting(constraints, has_keys, domains, tuple(slots), tuple(present), itself)


def requires_keys(query: Query) -> bool:
    """Whether nodes need the labels of all constraints: not under the system's defaults."""
    return bool(query.shape.spread) or not query.profile.spread.system


def _included(state: State, shape: Shape, constraint: Constraint) -> Mask:
    """The nodes whose pods count by the constraint's policies on affinity and taints."""
    mask = np.ones(len(state.nodes), bool)
    if constraint.honor_affinity:
        mask &= required_mask(state, shape)
    if constraint.honor_taints:
        of, sets = state.taint_sets()
        mask &= np.array([untolerated(taints, shape.spec.tolerations) is None for taints in sets], bool)[of]
    return mask


# ---------------------------------------------------------------- which constraints


def _constraints(query: Query, hard: bool) -> tuple[Constraint, ...]:
    if query.shape.spread:
        return tuple(
            Constraint(
                one.topology_key,
                one.max_skew,
                one.label_selector,
                one.min_domains or 1,
                one.node_affinity_policy != "Ignore",
                one.node_taints_policy == "Honor",
            )
            for one in query.shape.spread
            if (one.when_unsatisfiable == DO_NOT_SCHEDULE) == hard
        )
    defaults = [one for one in query.profile.spread.defaults if one.hard == hard]
    selector = default_selector(query.state, query.shape) if defaults else None
    if selector is None or not selector.requirements:
        return ()
    return tuple(Constraint(one.key, one.max_skew, selector) for one in defaults)


def default_selector(state: State, shape: Shape) -> LabelSelector:
    """What the services that select a pod select, and its ReplicaSet, ReplicationController or StatefulSet."""
    around, labels = state.around, shape.kind.labels
    equal: dict[str, str] = {}
    for service in around.services:
        if service.namespace == shape.namespace and service.selector and selects_equal(service.selector, labels):
            equal |= service.selector
    owned: tuple[Requirement, ...] = ()
    owner = shape.owner
    if owner is not None:
        controllers = [(one.kind, one.name, one.namespace, one.selector) for one in around.replica_sets]
        controllers += [("StatefulSet", one.name, one.namespace, one.selector) for one in around.stateful_sets]
        for *named, selector in controllers:
            if named == [owner.kind, owner.name, shape.namespace] and selector is not None:
                owned = selector.requirements
    return LabelSelector((*(Requirement(key, "In", (value,)) for key, value in sorted(equal.items())), *owned))


def matching(query: Query, selector: LabelSelector | None) -> Ints:
    """How many pods on each node count: of the pod's namespace, selected, not terminating; an empty selector none."""
    namespace = query.shape.namespace

    def asks(kind: Kind) -> bool:
        if kind.namespace != namespace or kind.terminating or selector is None or not selector.requirements:
            return False
        return selects(selector, kind.labels)

    return query.state.census.count(("spread", namespace, selector), asks)


def by_domain(counts: Ints, slots: Ints, domains: Domains) -> Ints:
    """Counts of nodes summed up by the slots that they count in; the last is that of nodes that do not."""
    return np.bincount(slots, counts, len(domains.values) + 1).astype(np.int64)


# ---------------------------------------------------------------- filter


def _codes(query: Query, nodes: Nodes) -> Ints:
    hard = setting(query, hard=True)
    codes = np.zeros(len(query.state.nodes), np.int64)[nodes]
    for i, constraint in enumerate(hard.constraints):
        domains = hard.domains[i]
        found = by_domain(matching(query, constraint.selector), hard.slots[i], domains)
        present = hard.present[i]
        lowest = int(found[present].min()) if len(present) >= constraint.min_domains else 0
        found[-1] = 0
        skewed = found[domains.slots[nodes]] > constraint.max_skew + lowest - hard.itself[i]
        new = np.where(domains.of[nodes] < 0, 1, 2 * skewed)
        codes = np.where(codes == 0, new, codes)
    return codes


FILTER = Filter(
    "PodTopologySpread",
    Scope.CLUSTER,
    _codes,
    (True, False, True),
    lambda query, nodes, codes: by_text([MISSING, SKEWED], codes),
    lambda query: bool(setting(query, hard=True).constraints),
)


# ---------------------------------------------------------------- score


def _points(query: Query, feasible: Ints) -> Ints | None:
    soft = setting(query, hard=False)
    if not soft.constraints:
        return None
    scored = soft.has_keys[feasible] if requires_keys(query) else np.ones(len(feasible), bool)
    counting = feasible[scored]
    total = np.zeros(len(feasible))
    for i, constraint in enumerate(soft.constraints):
        domains = soft.domains[i]
        there = matching(query, constraint.selector)
        if constraint.key == HOSTNAME:
            size, found = len(counting), there[feasible]
        else:
            size = int(np.count_nonzero(np.bincount(domains.slots[counting])))
            found = by_domain(there, soft.slots[i], domains)[domains.slots[feasible]]
        points = found * math.log(size + 2) + float(constraint.max_skew - 1)
        total += np.where(domains.of[feasible] < 0, 0.0, points)
    return _normalised(np.where(scored, _rounded(total), -1))


def _rounded(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> Ints:
    """Half away from zero, of values that are not negative."""
    whole = np.floor(values)
    return (whole + (values - whole >= 0.5)).astype(np.int64)


def _normalised(raw: Ints) -> Ints:
    """``100 * (max + min - s) / max``, fewer is better; -1 marks nodes that are left out and get 0."""
    scored = raw >= 0
    if not scored.any():
        return np.zeros(len(raw), np.int64)
    highest, lowest = int(raw.max()), int(raw[scored].min())
    if highest == 0:
        return np.where(scored, MAX_SCORE, 0)
    return np.where(scored, MAX_SCORE * (highest + lowest - raw) // highest, 0)


SCORE = ClusterScore("PodTopologySpread", _points)
