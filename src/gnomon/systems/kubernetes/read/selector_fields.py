"""Reading selectors, affinity, tolerations and spread constraints out of the fields of an object."""

from __future__ import annotations

from typing import Final

from gnomon.systems.kubernetes.api.constraints import (
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
from gnomon.systems.kubernetes.api.names import duplicate, invalid, label, label_value, qualified
from gnomon.systems.kubernetes.read.fields import INT32_MAX, Fields

LABEL_OPERATORS: Final = ("In", "NotIn", "Exists", "DoesNotExist")
NODE_OPERATORS: Final = (*LABEL_OPERATORS, "Gt", "Lt")
EFFECTS: Final = (NO_SCHEDULE, PREFER_NO_SCHEDULE, NO_EXECUTE)

_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED: Final = "preferredDuringSchedulingIgnoredDuringExecution"
_POLICIES: Final = ("Honor", "Ignore")
WEIGHT_MAX: Final = 100


def read_label_selector(parent: Fields, key: str) -> LabelSelector | None:
    """The selector at a key; None where there is none."""
    if key not in parent:
        return None
    selector = parent.inside(key)
    labels = selector.checked_labels("matchLabels")
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
    if selector.raw("nodeSelectorTerms") in (None, []):
        selector.wrong("nodeSelectorTerms", "Required value: must have at least one node selector term")
    selector.finish()
    return terms


def read_affinity(spec: Fields) -> Affinity:
    """The affinity of a pod's spec."""
    if "affinity" not in spec:
        return _NONE
    affinity = spec.inside("affinity")
    node, pod, anti = (affinity.inside(key) for key in ("nodeAffinity", "podAffinity", "podAntiAffinity"))
    node_required, node_preferred = read_node_affinity(node)
    found = Affinity(
        node_required=node_required,
        node_preferred=node_preferred,
        pod_required=tuple(_pod_term(one) for one in pod.items(_REQUIRED)),
        pod_preferred=tuple(_weighted(one) for one in pod.items(_PREFERRED)),
        anti_required=tuple(_pod_term(one) for one in anti.items(_REQUIRED)),
        anti_preferred=tuple(_weighted(one) for one in anti.items(_PREFERRED)),
    )
    for fields in (pod, anti, affinity):
        fields.finish()
    return found


def read_node_affinity(node: Fields) -> tuple[tuple[NodeSelectorTerm, ...] | None, tuple[PreferredNodeTerm, ...]]:
    """What an affinity to nodes requires, and what it prefers: a pod's, or a scheduler's addedAffinity."""
    found = read_node_selector(node, _REQUIRED), tuple(_preferred_node(one) for one in node.items(_PREFERRED))
    node.finish()
    return found


def read_tolerations(spec: Fields) -> tuple[Toleration, ...]:
    """The tolerations of a pod's spec."""
    return tuple(_toleration(one) for one in spec.items("tolerations"))


def read_taints(spec: Fields) -> tuple[Taint, ...]:
    """The taints of a node's spec."""
    taints: dict[tuple[str, str], Taint] = {}
    for one in spec.items("taints"):
        taint = _taint(one)
        if taints.setdefault((taint.key, taint.effect), taint) is not taint:
            said = f"{taint.key}={taint.value}:{taint.effect}"
            spec.problem(one.steps, f"{duplicate(said)}: taints must be unique by key and effect pair")
    return tuple(taints.values())


def read_spread(spec: Fields) -> tuple[TopologySpreadConstraint, ...]:
    """The topology spread constraints of a pod's spec."""
    return tuple(_spread(one) for one in spec.items("topologySpreadConstraints"))


_NONE: Final = Affinity()


def _requirement(fields: Fields, operators: tuple[str, ...]) -> Requirement:
    key, operator = fields.named("key", qualified), fields.text("operator", of=operators)
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


def _field_requirement(fields: Fields) -> Requirement:
    """A requirement of a node's own fields, of which there is one: its name."""
    found = _requirement(fields, ("In", "NotIn"))
    if found.key and found.key != "metadata.name":
        fields.wrong("key", invalid(found.key, "not a valid field selector key"))
    if len(found.values) > 1:
        text = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
        fields.wrong("values", f"Required value: {text}")
    return found


def _node_term(fields: Fields) -> NodeSelectorTerm:
    term = NodeSelectorTerm(
        tuple(_requirement(one, NODE_OPERATORS) for one in fields.items("matchExpressions")),
        tuple(_field_requirement(one) for one in fields.items("matchFields")),
    )
    fields.finish()
    return term


def _preferred_node(fields: Fields) -> PreferredNodeTerm:
    term = PreferredNodeTerm(_weight(fields), _node_term(fields.inside("preference")))
    fields.finish()
    return term


def _pod_term(fields: Fields) -> PodAffinityTerm:
    term = PodAffinityTerm(
        topology_key=fields.named("topologyKey", qualified),
        label_selector=read_label_selector(fields, "labelSelector"),
        namespaces=_namespaces(fields),
        namespace_selector=read_label_selector(fields, "namespaceSelector"),
        match_label_keys=fields.texts("matchLabelKeys"),
        mismatch_label_keys=fields.texts("mismatchLabelKeys"),
    )
    fields.finish()
    return term


def _namespaces(fields: Fields) -> tuple[str, ...]:
    found = fields.texts("namespaces")
    for position, name in enumerate(found):
        if (text := label(name)) is not None:
            fields.problem((*fields.steps, "namespaces", position), invalid(name, text))
    return found


def _weight(fields: Fields) -> int:
    weight = fields.integer("weight", low=-INT32_MAX)
    if not 1 <= weight <= WEIGHT_MAX and isinstance(fields.raw("weight"), int | None):
        fields.wrong("weight", invalid(weight, f"must be in the range 1-{WEIGHT_MAX}"))
    return weight


def _weighted(fields: Fields) -> WeightedPodAffinityTerm:
    term = WeightedPodAffinityTerm(_weight(fields), _pod_term(fields.inside("podAffinityTerm")))
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
    operator = fields.raw("operator")
    if not toleration.key and toleration.operator != "Exists" and isinstance(operator, str | None):
        text = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
        fields.wrong("operator", invalid(operator or "", text))
    if toleration.key and (problem := qualified(toleration.key)) is not None:
        fields.wrong("key", invalid(toleration.key, problem))
    effect = fields.raw("effect")
    if toleration.seconds is not None and toleration.effect != NO_EXECUTE and isinstance(effect, str | None):
        text = "effect must be 'NoExecute' when `tolerationSeconds` is set"
        fields.wrong("effect", invalid(toleration.effect, text))
    if toleration.value and toleration.operator == "Exists":
        fields.wrong("operator", invalid(toleration.value, "value must be empty when `operator` is 'Exists'"))
    elif (problem := label_value(toleration.value)) is not None:
        fields.wrong("operator", invalid(toleration.value, problem))
    fields.finish()
    return toleration


def _taint(fields: Fields) -> Taint:
    taint = Taint(
        fields.named("key", qualified),
        fields.text("value"),
        fields.text("effect", of=EFFECTS),
        fields.time_ns("timeAdded"),
    )
    if (text := label_value(taint.value)) is not None:
        fields.wrong("value", invalid(taint.value, text))
    if not taint.effect and isinstance(fields.raw("effect"), str | None):
        fields.wrong("effect", "this is missing", allowed=", ".join(EFFECTS))
    fields.finish()
    return taint


def _spread(fields: Fields) -> TopologySpreadConstraint:
    constraint = TopologySpreadConstraint(
        max_skew=fields.integer("maxSkew", low=-INT32_MAX),
        topology_key=fields.named("topologyKey", qualified),
        when_unsatisfiable=fields.text("whenUnsatisfiable", DO_NOT_SCHEDULE, of=(DO_NOT_SCHEDULE, SCHEDULE_ANYWAY)),
        label_selector=read_label_selector(fields, "labelSelector"),
        min_domains=fields.maybe_integer("minDomains", low=1),
        node_affinity_policy=fields.text("nodeAffinityPolicy", "Honor", of=_POLICIES),
        node_taints_policy=fields.text("nodeTaintsPolicy", "Ignore", of=_POLICIES),
        match_label_keys=fields.texts("matchLabelKeys"),
    )
    if constraint.max_skew <= 0 and isinstance(fields.raw("maxSkew"), int | None):
        fields.wrong("maxSkew", invalid(constraint.max_skew, "must be greater than zero"))
    if "whenUnsatisfiable" not in fields:
        fields.wrong("whenUnsatisfiable", "this is missing", allowed=f"{DO_NOT_SCHEDULE}, {SCHEDULE_ANYWAY}")
    fields.finish()
    return constraint
