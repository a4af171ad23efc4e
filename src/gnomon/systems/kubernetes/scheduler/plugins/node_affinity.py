"""NodeAffinity: nodeSelector, required and preferred terms, what the profile adds, and names that narrow the nodes
before anything else (sheet §4.3, §4.5). A requirement is judged once for each value of its label."""

from __future__ import annotations

import numpy as np

from gnomon.systems.kubernetes.api.constraints import NodeSelectorTerm, Requirement
from gnomon.systems.kubernetes.api.selectors import meets
from gnomon.systems.kubernetes.scheduler.plugins.base import Filter, Nodes, Query, Scope, Score, by_highest, by_text
from gnomon.systems.kubernetes.scheduler.shapes import Shape
from gnomon.systems.kubernetes.scheduler.state import Ints, Mask, State

CONFLICT = "pod affinity terms conflict"
ENFORCED = "node(s) didn't match scheduler-enforced node affinity"
OWN = "node(s) didn't match Pod's node affinity/selector"


def required_mask(state: State, shape: Shape) -> Mask:
    """The nodes that meet the pod's nodeSelector and required terms."""

    def work_out() -> Mask:
        mask = np.ones(len(state.nodes), bool)
        for key, value in shape.spec.node_selector.items():
            mask &= _meeting(state, Requirement(key, "In", (value,)))
        required = shape.spec.affinity.node_required
        return mask if required is None else mask & terms_mask(state, required)

    return state.static(("required nodes", shape.spec_index), work_out)


def narrowed(shape: Shape) -> frozenset[str] | None:
    """The names of the only nodes that can do, None: all. Empty: the terms contradict each other.

    Only ``metadata.name In`` counts; the sets intersect inside a term and unite over terms, and a term without one
    lets in every node.
    """
    names: frozenset[str] | None = None
    for term in shape.spec.affinity.node_required or ():
        own: frozenset[str] | None = None
        for field in term.match_fields:
            if field.key == "metadata.name" and field.operator == "In":
                own = frozenset(field.values) if own is None else own & frozenset(field.values)
        if own is None:
            return None
        names = own if names is None else names | own
    return names


def _meeting(state: State, requirement: Requirement) -> Mask:
    domains = state.domains(requirement.key)
    answers = [meets(requirement, {requirement.key: value}) for value in domains.values]
    return np.array([*answers, meets(requirement, {})], bool)[domains.slots]


def _term(state: State, term: NodeSelectorTerm) -> Mask:
    if not term.match_expressions and not term.match_fields:
        return np.zeros(len(state.nodes), bool)
    mask = np.ones(len(state.nodes), bool)
    for expression in term.match_expressions:
        mask &= _meeting(state, expression)
    for field in term.match_fields:
        mask &= np.array([meets(field, {"metadata.name": name}) for name in state.names], bool)
    return mask


def terms_mask(state: State, terms: tuple[NodeSelectorTerm, ...]) -> Mask:
    """The nodes that meet one of the terms."""
    mask = np.zeros(len(state.nodes), bool)
    for term in terms:
        mask |= _term(state, term)
    return mask


def _codes(query: Query, nodes: Nodes) -> Ints:
    state, added = query.state, query.profile.added_required

    def work_out() -> Ints:
        own = np.where(required_mask(state, query.shape), 0, 2)
        return own if added is None else np.where(terms_mask(state, added), own, 1)

    return state.static(("NodeAffinity", query.profile.name, query.shape.spec_index), work_out)[nodes]


def _applies(query: Query) -> bool:
    spec = query.shape.spec
    return (
        query.profile.added_required is not None or bool(spec.node_selector) or spec.affinity.node_required is not None
    )


def _raw(query: Query, nodes: Nodes) -> Ints:
    preferred = (*query.shape.spec.affinity.node_preferred, *query.profile.added_preferred)
    points = np.zeros(len(query.state.nodes), np.int64)
    for one in preferred:
        points += one.weight * _term(query.state, one.preference)
    return points[nodes]


FILTER = Filter(
    "NodeAffinity",
    Scope.STATIC,
    _codes,
    (True, False, False),
    lambda query, nodes, codes: by_text([ENFORCED, OWN], codes),
    _applies,
)
SCORE = Score(
    "NodeAffinity",
    Scope.STATIC,
    _raw,
    by_highest,
    lambda query: bool(query.shape.spec.affinity.node_preferred or query.profile.added_preferred),
)
