"""Reading selectors, affinity, tolerations and spread constraints out of the fields of an object."""

from __future__ import annotations

from typing import Final

from gnomon.systems.kubernetes.fields import Fields
from gnomon.systems.kubernetes.objects import (
    DO_NOT_SCHEDULE,
    NO_EXECUTE,
    NO_SCHEDULE,
    PREFER_NO_SCHEDULE,
    SCHEDULE_ANYWAY,
    Affinity,
    LabelSelector,
    NodeSelectorTerm,
    PodAffinityTerm,
    PreferredNodeTerm,
    Requirement,
    Taint,
    Toleration,
    TopologySpreadConstraint,
    WeightedPodAffinityTerm,
)

LABEL_OPERATORS: Final = ("In", "NotIn", "Exists", "DoesNotExist")
NODE_OPERATORS: Final = (*LABEL_OPERATORS, "Gt", "Lt")
EFFECTS: Final = (NO_SCHEDULE, PREFER_NO_SCHEDULE, NO_EXECUTE)

_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED: Final = "preferredDuringSchedulingIgnoredDuringExecution"
_POLICIES: Final = ("Honor", "Ignore")


def read_label_selector(parent: Fields, key: str) -> LabelSelector | None:
    """The selector at a key; None where there is none."""
    if key not in parent:
        return None
    selector = parent.inside(key)
    labels = selector.labels("matchLabels")
    equal = tuple(Requirement(name, "In", (labels[name],)) for name in sorted(labels))
    written = tuple(_requirement(one, LABEL_OPERATORS) for one in selector.items("matchExpressions"))
    selector.finish()
    return LabelSelector(equal + written)


def read_value_selector(parent: Fields, key: str) -> LabelSelector | None:
    """A selector of label values (a ReplicationController's); None where there is none."""
    labels = parent.labels(key)
    return LabelSelector(tuple(Requirement(name, "In", (labels[name],)) for name in sorted(labels))) if labels else None


def read_node_selector(parent: Fields, key: str) -> tuple[NodeSelectorTerm, ...] | None:
    """The terms of a node selector; None where there is none."""
    if key not in parent:
        return None
    selector = parent.inside(key)
    terms = tuple(_node_term(term) for term in selector.items("nodeSelectorTerms"))
    selector.finish()
    return terms


def read_affinity(spec: Fields) -> Affinity:
    """The affinity of a pod's spec, or of a scheduler's addedAffinity."""
    if "affinity" not in spec:
        return _NONE
    affinity = spec.inside("affinity")
    node, pod, anti = (affinity.inside(key) for key in ("nodeAffinity", "podAffinity", "podAntiAffinity"))
    found = Affinity(
        node_required=read_node_selector(node, _REQUIRED),
        node_preferred=tuple(_preferred_node(one) for one in node.items(_PREFERRED)),
        pod_required=tuple(_pod_term(one) for one in pod.items(_REQUIRED)),
        pod_preferred=tuple(_weighted(one) for one in pod.items(_PREFERRED)),
        anti_required=tuple(_pod_term(one) for one in anti.items(_REQUIRED)),
        anti_preferred=tuple(_weighted(one) for one in anti.items(_PREFERRED)),
    )
    for fields in (node, pod, anti, affinity):
        fields.finish()
    return found


def read_tolerations(spec: Fields) -> tuple[Toleration, ...]:
    """The tolerations of a pod's spec."""
    return tuple(_toleration(one) for one in spec.items("tolerations"))


def read_taints(spec: Fields) -> tuple[Taint, ...]:
    """The taints of a node's spec."""
    return tuple(_taint(one) for one in spec.items("taints"))


def read_spread(spec: Fields) -> tuple[TopologySpreadConstraint, ...]:
    """The topology spread constraints of a pod's spec."""
    return tuple(_spread(one) for one in spec.items("topologySpreadConstraints"))


_NONE: Final = Affinity()


def _requirement(fields: Fields, operators: tuple[str, ...]) -> Requirement:
    key, operator = fields.required("key"), fields.text("operator", of=operators)
    values = fields.texts("values")
    if not operator and isinstance(fields.raw("operator"), str | None):
        fields.wrong("operator", "this is missing", allowed=", ".join(operators))
    elif operator in ("In", "NotIn") and not values:
        fields.wrong("values", f"{operator} needs values")
    elif operator in ("Exists", "DoesNotExist") and values:
        fields.wrong("values", f"{operator} takes no values")
    elif operator in ("Gt", "Lt") and len(values) != 1:
        fields.wrong("values", f"{operator} needs one value")
    fields.finish()
    return Requirement(key, operator, values)


def _node_term(fields: Fields) -> NodeSelectorTerm:
    term = NodeSelectorTerm(
        tuple(_requirement(one, NODE_OPERATORS) for one in fields.items("matchExpressions")),
        tuple(_requirement(one, LABEL_OPERATORS) for one in fields.items("matchFields")),
    )
    fields.finish()
    return term


def _preferred_node(fields: Fields) -> PreferredNodeTerm:
    term = PreferredNodeTerm(fields.integer("weight", 1, low=1, high=100), _node_term(fields.inside("preference")))
    fields.finish()
    return term


def _pod_term(fields: Fields) -> PodAffinityTerm:
    term = PodAffinityTerm(
        topology_key=fields.required("topologyKey"),
        label_selector=read_label_selector(fields, "labelSelector"),
        namespaces=fields.texts("namespaces"),
        namespace_selector=read_label_selector(fields, "namespaceSelector"),
        match_label_keys=fields.texts("matchLabelKeys"),
        mismatch_label_keys=fields.texts("mismatchLabelKeys"),
    )
    fields.finish()
    return term


def _weighted(fields: Fields) -> WeightedPodAffinityTerm:
    term = WeightedPodAffinityTerm(
        fields.integer("weight", 1, low=1, high=100), _pod_term(fields.inside("podAffinityTerm"))
    )
    fields.finish()
    return term


def _toleration(fields: Fields) -> Toleration:
    toleration = Toleration(
        key=fields.text("key"),
        operator=fields.text("operator", "Equal", of=("Equal", "Exists")),
        value=fields.text("value"),
        effect=fields.text("effect", of=EFFECTS),
        seconds=fields.maybe_integer("tolerationSeconds", low=-(2**63), high=2**63 - 1),
    )
    if not toleration.key and toleration.operator != "Exists" and isinstance(fields.raw("operator"), str | None):
        fields.wrong("operator", "must be Exists when `key` is empty")
    fields.finish()
    return toleration


def _taint(fields: Fields) -> Taint:
    taint = Taint(
        fields.required("key"), fields.text("value"), fields.text("effect", of=EFFECTS), fields.time_ns("timeAdded")
    )
    if not taint.effect and isinstance(fields.raw("effect"), str | None):
        fields.wrong("effect", "this is missing", allowed=", ".join(EFFECTS))
    fields.finish()
    return taint


def _spread(fields: Fields) -> TopologySpreadConstraint:
    constraint = TopologySpreadConstraint(
        max_skew=fields.integer("maxSkew", 1, low=1),
        topology_key=fields.required("topologyKey"),
        when_unsatisfiable=fields.text("whenUnsatisfiable", DO_NOT_SCHEDULE, of=(DO_NOT_SCHEDULE, SCHEDULE_ANYWAY)),
        label_selector=read_label_selector(fields, "labelSelector"),
        min_domains=fields.maybe_integer("minDomains", low=1),
        node_affinity_policy=fields.text("nodeAffinityPolicy", "Honor", of=_POLICIES),
        node_taints_policy=fields.text("nodeTaintsPolicy", "Ignore", of=_POLICIES),
        match_label_keys=fields.texts("matchLabelKeys"),
    )
    fields.finish()
    return constraint
