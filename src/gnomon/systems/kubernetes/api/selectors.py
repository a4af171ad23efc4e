"""What selects what: labels by selectors, nodes by terms, taints by tolerations, namespaces by affinity terms.

Pure functions of ``objects``. Sources: apimachinery ``labels.Requirement.Matches`` and
component-helpers ``nodeaffinity`` of v1.34, as the sheet on Kubernetes sums them up (section 4.3).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from gnomon.systems.kubernetes.api.constraints import (
    NO_EXECUTE,
    NO_SCHEDULE,
    PREFER_NO_SCHEDULE,
    LabelSelector,
    NodeSelectorTerm,
    PodAffinityTerm,
    Requirement,
    Taint,
    Toleration,
)
from gnomon.systems.kubernetes.api.objects import Labels, PodSpec

_INTEGER: Final = re.compile(r"[+-]?[0-9]+", re.ASCII)
_INT64: Final = range(-(2**63), 2**63)

REJECTING: Final = (NO_SCHEDULE, NO_EXECUTE)
"""The effects of taints that keep a pod away."""


def meets(requirement: Requirement, labels: Labels) -> bool:
    """Whether labels meet one requirement.

    NotIn and DoesNotExist hold where the label is missing; Gt and Lt need whole numbers on both sides.

    >>> meets(Requirement("zone", "NotIn", ("a",)), {}), meets(Requirement("gen", "Gt", ("5",)), {"gen": "x"})
    (True, False)
    """
    found = labels.get(requirement.key)
    match requirement.operator:
        case "In":
            return found is not None and found in requirement.values
        case "NotIn":
            return found is None or found not in requirement.values
        case "Exists":
            return found is not None
        case "DoesNotExist":
            return found is None
        case "Gt" | "Lt":
            return found is not None and _compares(requirement, found)
    return False


def selects(selector: LabelSelector | None, labels: Labels) -> bool:
    """Whether a selector selects labels: all of its requirements; None selects nothing, an empty one everything.

    >>> selects(None, {"a": "b"}), selects(LabelSelector(), {})
    (False, True)
    """
    return selector is not None and all(meets(one, labels) for one in selector.requirements)


def selects_equal(selector: Labels, labels: Labels) -> bool:
    """Whether a selector of label values (nodeSelector, a Service's) selects labels; an empty one selects everything.

    >>> selects_equal({"app": "web"}, {"app": "web", "tier": "front"})
    True
    """
    return all(labels.get(key) == value for key, value in selector.items())


def term_matches(term: NodeSelectorTerm, labels: Labels, name: str) -> bool:
    """Whether a node meets a term: all of its expressions and fields; an empty term is met by no node.

    >>> term_matches(NodeSelectorTerm(), {}, "n"), term_matches(
    ...     NodeSelectorTerm(match_fields=(Requirement("metadata.name", "In", ("n",)),)), {}, "n")
    (False, True)
    """
    if not term.match_expressions and not term.match_fields:
        return False
    return all(meets(one, labels) for one in term.match_expressions) and all(
        meets(one, {"metadata.name": name}) for one in term.match_fields
    )


def any_term_matches(terms: Iterable[NodeSelectorTerm], labels: Labels, name: str) -> bool:
    """Whether a node meets one of the terms."""
    return any(term_matches(term, labels, name) for term in terms)


def node_matches(spec: PodSpec, labels: Labels, name: str) -> bool:
    """Whether a node meets the pod's nodeSelector and its required node affinity."""
    required = spec.affinity.node_required
    return selects_equal(spec.node_selector, labels) and (required is None or any_term_matches(required, labels, name))


def tolerates(toleration: Toleration, taint: Taint) -> bool:
    """Whether a toleration covers a taint: effect and key equal or left out, and Exists or an equal value.

    >>> tolerates(Toleration(operator="Exists"), Taint("gpu", "a100", "NoExecute"))
    True
    >>> tolerates(Toleration("gpu"), Taint("gpu")), tolerates(Toleration("gpu"), Taint("gpu", "a100"))
    (True, False)
    """
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    return toleration.operator == "Exists" or toleration.value == taint.value


def untolerated(
    taints: Iterable[Taint], tolerations: Iterable[Toleration], effects: tuple[str, ...] = REJECTING
) -> Taint | None:
    """The first taint with one of the effects that no toleration covers."""
    listed = tuple(tolerations)
    for taint in taints:
        if taint.effect in effects and not any(tolerates(one, taint) for one in listed):
            return taint
    return None


def untolerated_preferences(taints: Iterable[Taint], tolerations: Iterable[Toleration]) -> int:
    """How many PreferNoSchedule taints no toleration covers: the raw score of TaintToleration.

    Only tolerations whose effect is empty or PreferNoSchedule are looked at.
    """
    listed = [one for one in tolerations if one.effect in ("", PREFER_NO_SCHEDULE)]
    return sum(
        taint.effect == PREFER_NO_SCHEDULE and not any(tolerates(one, taint) for one in listed) for taint in taints
    )


def term_covers(term: PodAffinityTerm, own: str, other: str, namespaces: Mapping[str, Labels]) -> bool:
    """Whether a term of a pod in the namespace ``own`` looks at pods of the namespace ``other``.

    ``namespaces``: the labels of all namespaces. Without namespaces and selector a term looks at its pod's own; an
    empty selector takes all.
    """
    if not term.namespaces and term.namespace_selector is None:
        return other == own
    return other in term.namespaces or selects(term.namespace_selector, namespaces.get(other, {}))


def term_selects(term: PodAffinityTerm, own: str, labels: Labels, other: str, namespaces: Mapping[str, Labels]) -> bool:
    """Whether a term of a pod in ``own`` selects a pod with these labels in ``other``."""
    return term_covers(term, own, other, namespaces) and selects(term.label_selector, labels)


def with_label_keys(
    selector: LabelSelector | None, own: Labels, match: Iterable[str], mismatch: Iterable[str] = ()
) -> LabelSelector | None:
    """A selector with matchLabelKeys and mismatchLabelKeys merged in: In and NotIn of the pod's own values.

    Keys that the pod lacks are left out, and so is what the selector says already; a nil selector stays nil.

    >>> with_label_keys(LabelSelector(), {"hash": "7f"}, ["hash", "other"])
    LabelSelector(requirements=(Requirement(key='hash', operator='In', values=('7f',)),))
    """
    if selector is None:
        return None
    added = [Requirement(key, "In", (own[key],)) for key in match if key in own]
    added += [Requirement(key, "NotIn", (own[key],)) for key in mismatch if key in own]
    fresh = tuple(one for one in added if one not in selector.requirements)
    return replace(selector, requirements=selector.requirements + fresh) if fresh else selector


def _compares(requirement: Requirement, found: str) -> bool:
    if len(requirement.values) != 1:
        return False
    bound = requirement.values[0]
    if not _INTEGER.fullmatch(found) or not _INTEGER.fullmatch(bound):
        return False
    left, right = int(found), int(bound)
    if left not in _INT64 or right not in _INT64:
        return False
    return left > right if requirement.operator == "Gt" else left < right
