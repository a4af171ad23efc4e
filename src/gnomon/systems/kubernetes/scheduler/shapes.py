"""What the scheduler works out of a pod once: pods alike in all that it looks at share one :class:`Shape`."""

from __future__ import annotations

from dataclasses import dataclass

from gnomon.systems.kubernetes.api.constraints import PodAffinityTerm, TopologySpreadConstraint, WeightedPodAffinityTerm
from gnomon.systems.kubernetes.api.objects import Owner, PodSpec
from gnomon.systems.kubernetes.api.selectors import with_label_keys
from gnomon.systems.kubernetes.scheduler.census import Held, Kind
from gnomon.systems.kubernetes.scheduler.volumes import Disk


@dataclass(frozen=True, eq=False, slots=True)
class Shape:
    """A pod without its name. Amounts are those of the effective request (sheet §1).

    ``rows``, ``amounts``: what it takes of each resource, by the row of the state's tables, none 0. ``non_zero``: cpu
    and memory as scores count them on a node; ``scored``: the same of the pod that is being placed, where
    NodeResourcesFit leaves out the pod level (1.34.1).
    """

    index: int
    spec_index: int
    """The number of its spec: shapes with the same one differ in labels, namespace or owner alone."""
    spec: PodSpec
    owner: Owner | None
    priority: int
    kind: Kind
    requests: dict[str, int]
    rows: tuple[int, ...]
    amounts: tuple[int, ...]
    non_zero: tuple[int, int]
    scored: dict[str, int]
    ports: tuple[tuple[str, str, int], ...]
    images: tuple[str, ...]
    affinity: tuple[PodAffinityTerm, ...]
    anti_affinity: tuple[PodAffinityTerm, ...]
    preferred: tuple[tuple[int, PodAffinityTerm], ...]
    """Of affinity and, with negative weights, anti-affinity."""
    spread: tuple[TopologySpreadConstraint, ...]
    claims: tuple[str, ...]
    disks: tuple[Disk, ...]
    holds: tuple[Held, ...]
    """The terms that its pods have for others to reckon with."""

    @property
    def namespace(self) -> str:
        """The namespace of its pods."""
        return self.kind.namespace


def resolved_term(term: PodAffinityTerm, kind: Kind) -> PodAffinityTerm:
    """A term with matchLabelKeys and mismatchLabelKeys as requirements of its selector."""
    if not term.match_label_keys and not term.mismatch_label_keys:
        return term
    selector = with_label_keys(term.label_selector, kind.labels, term.match_label_keys, term.mismatch_label_keys)
    return PodAffinityTerm(term.topology_key, selector, term.namespaces, term.namespace_selector)


def preferred_terms(spec: PodSpec, kind: Kind) -> tuple[tuple[int, PodAffinityTerm], ...]:
    """The preferred terms with signed weights: affinity attracts, anti-affinity repels."""
    signed: list[tuple[int, WeightedPodAffinityTerm]] = [
        *((1, one) for one in spec.affinity.pod_preferred),
        *((-1, one) for one in spec.affinity.anti_preferred),
    ]
    return tuple((sign * one.weight, resolved_term(one.term, kind)) for sign, one in signed)


def resolved_spread(spec: PodSpec, kind: Kind) -> tuple[TopologySpreadConstraint, ...]:
    """The constraints with matchLabelKeys as requirements of their selectors."""
    return tuple(
        TopologySpreadConstraint(
            one.max_skew,
            one.topology_key,
            one.when_unsatisfiable,
            with_label_keys(one.label_selector, kind.labels, one.match_label_keys),
            one.min_domains,
            one.node_affinity_policy,
            one.node_taints_policy,
        )
        for one in spec.topology_spread_constraints
    )


def image_name(name: str) -> str:
    """An image's name with its tag: ``:latest`` where there is none.

    >>> image_name("registry.example:5000/app"), image_name("app:1")
    ('registry.example:5000/app:latest', 'app:1')
    """
    return name if name.rfind(":") > name.rfind("/") else f"{name}:latest"
