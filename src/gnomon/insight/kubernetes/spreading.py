"""The numbers behind a topology spread constraint: matching + itself - global minimum <= maxSkew (sheet §4.3)."""

from __future__ import annotations

import numpy as np

from gnomon.insight.explain.phrases import Numbers
from gnomon.insight.kubernetes.classes import Judged
from gnomon.systems.kubernetes.scheduler.plugins.pod_topology_spread import by_domain, matching, setting


def spread_numbers(found: Judged, node: int) -> Numbers:
    """Of the constraint that refuses a node: how many pods count there, at least anywhere, and at most."""
    for one in _constraints(found, node):
        return one
    return {}


def spread_text(found: Judged, node: int) -> str:
    """The same in words."""
    name = found.state.names[node]
    for one in _constraints(found, node):
        if "matching" not in one:
            return f"{name} has no label {one['topology_key']}, by which it is spread"
        total = int(one["matching"] or 0) + int(one["itself"] or 0) - int(one["lowest"] or 0)
        return (
            f"spread over {one['topology_key']} with maxSkew {one['max_skew']}, {one['domain']} would be "
            f"{one['matching']} + {one['itself']} - {one['lowest']} = {total} > {one['max_skew']} "
            "(pods there + itself - least anywhere)"
        )
    return "its topology spread constraints are not met"


def _constraints(found: Judged, node: int) -> list[Numbers]:
    """The constraints that refuse a node."""
    hard = setting(found.query, hard=True)
    refusing: list[Numbers] = []
    for i, one in enumerate(hard.constraints):
        domains = hard.domains[i]
        if domains.of[node] < 0:
            refusing.append({"topology_key": one.key, "max_skew": one.max_skew})
            continue
        counts = by_domain(matching(found.query, one.selector), hard.slots[i], domains)
        present = hard.present[i]
        lowest = int(counts[present].min()) if len(present) >= one.min_domains else 0
        there, itself = int(counts[domains.slots[node]]), hard.itself[i]
        if there + itself - lowest > one.max_skew:
            refusing.append(
                {
                    "topology_key": one.key,
                    "max_skew": one.max_skew,
                    "domain": domains.values[int(domains.of[node])],
                    "matching": there,
                    "itself": itself,
                    "lowest": lowest,
                    "skew": there + itself - lowest,
                    "domains": int(np.size(present)),
                }
            )
    return refusing
