"""InterPodAffinity: pods that want to be near others, or apart, by the domains of a label.

Sources: sheet §4.3 and §4.5; ``plugins/interpodaffinity/{filtering,scoring}.go`` of v1.34.1. The score's normalisation
takes the quotient first, in binary floating point.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from gnomon.systems.kubernetes.api.constraints import PodAffinityTerm
from gnomon.systems.kubernetes.scheduler.census import ANTI, PREFERRED, REQUIRED
from gnomon.systems.kubernetes.scheduler.plugins.base import (
    MAX_SCORE,
    ClusterScore,
    Filter,
    Nodes,
    Query,
    Scope,
    by_text,
)
from gnomon.systems.kubernetes.scheduler.state import Domains, Ints, Mask

AFFINITY = "node(s) didn't match pod affinity rules"
ANTI_AFFINITY = "node(s) didn't match pod anti-affinity rules"
EXISTING = "node(s) didn't satisfy existing pods anti-affinity rules"


def _counted(query: Query, terms: tuple[PodAffinityTerm, ...]) -> Ints:
    """How many pods on each node match all the terms at once."""
    census, namespace = query.state.census, query.shape.namespace
    return census.count(
        ("terms", namespace, terms), lambda kind: all(census.selects(term, namespace, kind) for term in terms)
    )


def _by_domain(counts: Ints, domains: Domains) -> Ints:
    """Summed up by domain; the last entry, of the nodes without the label, is 0."""
    found = np.bincount(domains.slots, counts, len(domains.values) + 1).astype(np.int64)
    found[-1] = 0
    return found


# ---------------------------------------------------------------- filter


def _applies(query: Query) -> bool:
    shape = query.shape
    return bool(shape.affinity or shape.anti_affinity) or any(
        held.role == ANTI and held.total for held in query.state.census.selecting(shape.kind)
    )


def _codes(query: Query, nodes: Nodes) -> Ints:
    codes = np.where(_repelled_by_others(query, nodes), 3, 0)
    codes[_repels(query, nodes)] = 2
    codes[~_attracted(query, nodes)] = 1
    return codes


def _nowhere(query: Query, nodes: Nodes) -> Mask:
    return np.zeros(len(query.state.nodes), bool)[nodes]


def _attracted(query: Query, nodes: Nodes) -> Mask:
    """The nodes that meet all required affinity terms. When no pod meets them anywhere, the pod itself may be the
    first, where the node has the labels."""
    terms = query.shape.affinity
    everywhere = ~_nowhere(query, nodes)
    if not terms:
        return everywhere
    counts = _counted(query, terms)
    has_keys, exist, any_counted = everywhere, everywhere.copy(), False
    for term in terms:
        domains = query.state.domains(term.topology_key)
        found = _by_domain(counts, domains)
        any_counted |= bool((found > 0).any())
        has_keys &= domains.of[nodes] >= 0
        exist &= found[domains.slots[nodes]] > 0
    if not any_counted and _matches_itself(query):
        return has_keys
    return exist


def _matches_itself(query: Query) -> bool:
    census, shape = query.state.census, query.shape
    return all(census.selects(term, shape.namespace, shape.kind) for term in shape.affinity)


def _repels(query: Query, nodes: Nodes) -> Mask:
    """The nodes in whose domain is a pod that one of the pod's anti-affinity terms selects."""
    mask = _nowhere(query, nodes)
    for term in query.shape.anti_affinity:
        domains = query.state.domains(term.topology_key)
        mask |= _by_domain(_counted(query, (term,)), domains)[domains.slots[nodes]] > 0
    return mask


def _repelled_by_others(query: Query, nodes: Nodes) -> Mask:
    """The nodes in whose domain is a pod with an anti-affinity term that selects this one."""
    by_key: dict[str, Ints] = {}
    for held in query.state.census.selecting(query.shape.kind):
        if held.role == ANTI and held.total:
            key = held.term.topology_key
            by_key[key] = by_key[key] + held.on_node if key in by_key else held.on_node
    mask = _nowhere(query, nodes)
    for key, counts in by_key.items():
        domains = query.state.domains(key)
        mask |= _by_domain(counts, domains)[domains.slots[nodes]] > 0
    return mask


FILTER = Filter(
    "InterPodAffinity",
    Scope.CLUSTER,
    _codes,
    (True, False, True, True),
    lambda query, nodes, codes: by_text([AFFINITY, ANTI_AFFINITY, EXISTING], codes),
    _applies,
)


# ---------------------------------------------------------------- score


def _points(query: Query, feasible: Ints) -> Ints | None:
    shape, args, census = query.shape, query.profile.affinity, query.state.census
    if args.ignore_preferred_of_existing and not shape.preferred:
        return None
    weighted = [(term.topology_key, weight, _counted(query, (term,))) for weight, term in shape.preferred]
    for held in census.selecting(shape.kind):
        weight = {REQUIRED: args.hard_weight, PREFERRED: held.weight}.get(held.role, 0)
        if weight and held.total:
            weighted.append((held.term.topology_key, weight, held.on_node))
    by_key: dict[str, Ints | int] = defaultdict(int)
    for key, weight, counts in weighted:
        if (counts[query.state.domains(key).of >= 0] > 0).any():
            by_key[key] = by_key[key] + weight * counts
    if not by_key:
        return None
    total = np.zeros(len(feasible), np.int64)
    for key, sums in by_key.items():
        domains = query.state.domains(key)
        total += _by_domain(np.asarray(sums), domains)[domains.slots[feasible]]
    return _normalised(total)


def _normalised(raw: Ints) -> Ints:
    """``int(100 * ((s - min) / (max - min)))``: 29/100 gives 28 (recorded); all 0 when all are equal.

    >>> _normalised(np.array([0, 29, 100])).tolist()
    [0, 28, 100]
    """
    low, high = int(raw.min()), int(raw.max())
    if high == low:
        return np.zeros(len(raw), np.int64)
    return (MAX_SCORE * ((raw - low) / (high - low))).astype(np.int64)


SCORE = ClusterScore("InterPodAffinity", _points)
