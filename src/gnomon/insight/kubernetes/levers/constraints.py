"""Changes of the pod's own constraints: selectors, affinity, spreading, ports, gates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from difflib import SequenceMatcher

from gnomon.insight.explain.changes import CONSTRAINT
from gnomon.insight.kubernetes.levers.bench import Bench, Lever
from gnomon.systems.kubernetes.api.constraints import (
    DO_NOT_SCHEDULE,
    SCHEDULE_ANYWAY,
    LabelSelector,
    NodeSelectorTerm,
    Requirement,
    TopologySpreadConstraint,
)
from gnomon.systems.kubernetes.api.objects import PodSpec
from gnomon.systems.kubernetes.api.requests import host_ports
from gnomon.systems.kubernetes.api.revisions import HASH_LABEL
from gnomon.systems.kubernetes.api.selectors import with_label_keys

VALUES_MAX = 12
"""How many values of a label are tried in the place of one."""

HONOR = "Honor"
"""nodeTaintsPolicy with which nodes do not count whose taints the pod does not tolerate, as those that are lost."""
SKEWS = (1, 2, 3, 4, 5, 7, 10, 20, 50, 100, 1000)
"""By how much maxSkew is raised, until it helps."""


def likeness(one: str, other: str) -> float:
    """How much alike two names are, 1 for the same: small slips count more than other words.

    >>> likeness("genral", "general") > 0.9, likeness("gpu", "general") < 0.5
    (True, True)
    """
    return SequenceMatcher(None, one.lower(), other.lower()).ratio()


def selectors(bench: Bench) -> Iterator[Lever]:
    """Another value that nodes have for a key of the selector, the most alike first; another key; or no such key."""
    mask = bench.found.masks.get("NodeAffinity")
    if mask is None or not mask.any():
        return
    spec = bench.pod.spec
    for key, value in spec.node_selector.items():
        rest = {name: one for name, one in spec.node_selector.items() if name != key}
        for other, _ in _values(bench, key, value):
            changed = replace(spec, node_selector={**rest, key: other})
            yield _option(bench, f"nodeSelector.{key}", value, other, changed, alike=likeness(value, other))
        for name in _keys(bench, key, value):
            changed = replace(spec, node_selector={**rest, name: value})
            yield _option(bench, "nodeSelector", f"{key}={value}", f"{name}={value}", changed, likeness(key, name))
        changed = replace(spec, node_selector=rest)
        yield _removal(bench, f"nodeSelector.{key}", f"{key}={value}", changed, "no longer select nodes by")
    yield from _terms(bench)


def _values(bench: Bench, key: str, value: str) -> list[tuple[str, int]]:
    """The values that nodes have for a label, the most alike first."""
    counts = Counter(node.labels[key] for node in bench.state.nodes if key in node.labels)
    counts.pop(value, None)
    return sorted(counts.items(), key=lambda one: (-likeness(value, one[0]), -one[1], one[0]))[:VALUES_MAX]


def _keys(bench: Bench, key: str, value: str) -> list[str]:
    """Other labels of nodes that have this value and a name like this one."""
    names = {name for node in bench.state.nodes for name, one in node.labels.items() if one == value} - {key}
    tail = key.rpartition("/")[2]
    alike = {name: max(likeness(key, name), likeness(tail, name.rpartition("/")[2])) for name in names}
    return [name for name in sorted(names, key=lambda name: -alike[name])[:3] if alike[name] > 0.6]


def _terms(bench: Bench) -> Iterator[Lever]:
    """The same for the expressions of the required node affinity."""
    spec = bench.pod.spec
    terms = spec.affinity.node_required
    for i, term in enumerate(terms or ()):
        for j, one in enumerate(term.match_expressions):
            place = f"affinity.nodeAffinity.required[{i}].{one.key}"
            if one.operator == "In":
                tried = {other for value in one.values for other, _ in _values(bench, one.key, value)[:4]}
                for other in sorted(tried - set(one.values)):
                    alike = max(likeness(value, other) for value in one.values)
                    changed = _with_expression(spec, i, j, replace(one, values=(*one.values, other)))
                    yield _option(bench, place, _listed(one), f"{_listed(one)}, {other}", changed, alike)
            changed = _with_expression(spec, i, j, None)
            text = f"{one.key} {one.operator} {_listed(one)}".strip()
            yield _removal(bench, place, text, changed, "require of nodes no")


def _listed(one: Requirement) -> str:
    return ", ".join(one.values)


def _with_expression(spec: PodSpec, i: int, j: int, one: Requirement | None) -> PodSpec:
    terms = list(spec.affinity.node_required or ())
    kept = [*terms[i].match_expressions]
    kept[j : j + 1] = [] if one is None else [one]
    terms[i] = replace(terms[i], match_expressions=tuple(kept))
    empty = NodeSelectorTerm()
    required = None if empty in terms else tuple(terms)
    return replace(spec, affinity=replace(spec.affinity, node_required=required))


def _option(bench: Bench, field: str, before: str, after: str, spec: PodSpec, alike: float) -> Lever:
    name = field.partition(".")[2] or field
    return bench.of_spec(
        spec,
        kind=CONSTRAINT,
        size=round(1 - alike, 4),
        phrase=f"{name}: {before} → {after}",
        field=f"spec.{field}",
        before=before,
        after=after,
        group=f"value of {field}",
    )


def _removal(bench: Bench, field: str, before: str, spec: PodSpec, verb: str, size: float = 1.0) -> Lever:
    phrase = f"{verb} {before}"
    return bench.of_spec(
        spec, kind=CONSTRAINT, size=size, phrase=phrase, field=f"spec.{field}", before=before, after=None
    )


# ------------------------------------------------------------------ spreading


def spreads(bench: Bench) -> Iterator[Lever]:
    """A constraint that counts pods of its own generation alone, allows more skew, or only prefers."""
    if "PodTopologySpread" not in bench.found.masks:
        return
    spec = bench.pod.spec
    for i, one in enumerate(spec.topology_spread_constraints):
        if one.when_unsatisfiable != DO_NOT_SCHEDULE:
            continue
        place = f"topologySpreadConstraints[{one.topology_key}]"
        digest = bench.pod.labels.get(HASH_LABEL)
        if digest is not None and HASH_LABEL not in one.match_label_keys and one.label_selector is not None:
            own = with_label_keys(one.label_selector, bench.pod.labels, (HASH_LABEL,))
            keyed = replace(one, label_selector=own, match_label_keys=(*one.match_label_keys, HASH_LABEL))
            yield _spread(bench, i, keyed, f"{place}.matchLabelKeys", (None, HASH_LABEL), 0.25)
        if one.node_taints_policy != HONOR:
            honest = replace(one, node_taints_policy=HONOR)
            values_of = (one.node_taints_policy, HONOR)
            yield _spread(bench, i, honest, f"{place}.nodeTaintsPolicy", values_of, 0.4)
        for step in SKEWS:
            wider = replace(one, max_skew=one.max_skew + step)
            values = (one.max_skew, wider.max_skew)
            yield _spread(bench, i, wider, f"{place}.maxSkew", values, step / one.max_skew)
        soft = replace(one, when_unsatisfiable=SCHEDULE_ANYWAY)
        yield _spread(bench, i, soft, f"{place}.whenUnsatisfiable", (DO_NOT_SCHEDULE, SCHEDULE_ANYWAY), 3.0)


def _spread(
    bench: Bench,
    i: int,
    one: TopologySpreadConstraint,
    field: str,
    values: tuple[int | str | None, int | str],
    size: float,
) -> Lever:
    listed = bench.pod.spec.topology_spread_constraints
    spec = replace(bench.pod.spec, topology_spread_constraints=(*listed[:i], one, *listed[i + 1 :]))
    name = field.rpartition(".")[2]
    before, after = values
    phrase = f"{name}: [{after}]" if before is None else f"{name}: {before} → {after}"
    return bench.of_spec(
        spec,
        kind=CONSTRAINT,
        size=size,
        phrase=f"spread over {one.topology_key} with {phrase}",
        field=f"spec.{field}",
        before=before,
        after=after,
        group=f"spread {field}",
    )


# ------------------------------------------------------------------ other pods


def terms_of_others(bench: Bench) -> Iterator[Lever]:
    """No affinity to, or anti-affinity against, other pods: term by term."""
    if "InterPodAffinity" not in bench.found.masks:
        return
    spec = bench.pod.spec
    for name, field in (("anti_required", "podAntiAffinity"), ("pod_required", "podAffinity")):
        terms = getattr(spec.affinity, name)
        for i, term in enumerate(terms):
            rest = (*terms[:i], *terms[i + 1 :])
            changed = replace(spec, affinity=replace(spec.affinity, **{name: rest}))
            text = f"{field} {selector_text(term.label_selector)} over {term.topology_key}"
            place = f"affinity.{field}.required[{i}]"
            yield _removal(bench, place, text, changed, "only prefer, and do not require,")


def selector_text(selector: LabelSelector | None) -> str:
    """A selector as one writes it on a command line."""
    if selector is None:
        return "of no pods"
    parts = [
        f"{one.key}={one.values[0]}"
        if one.operator == "In" and len(one.values) == 1
        else f"{one.key} {one.operator} {', '.join(one.values)}".strip()
        for one in selector.requirements
    ]
    return ",".join(parts) or "of all pods"


# ------------------------------------------------------------------ ports and gates


def ports(bench: Bench) -> Iterator[Lever]:
    """No host ports."""
    mask = bench.found.masks.get("NodePorts")
    if mask is None or not mask.any():
        return
    spec = bench.pod.spec
    taken = ", ".join(str(port) for _, _, port in host_ports(spec))
    without = replace(
        spec,
        host_network=False,
        containers=tuple(
            replace(one, ports=tuple(replace(port, host_port=0) for port in one.ports)) for one in spec.containers
        ),
        init_containers=tuple(
            replace(one, ports=tuple(replace(port, host_port=0) for port in one.ports)) for one in spec.init_containers
        ),
    )
    yield _removal(bench, "containers[*].ports[*].hostPort", taken, without, "take no host port")


def gates(bench: Bench) -> Iterator[Lever]:
    """No scheduling gates."""
    spec = bench.pod.spec
    if spec.scheduling_gates:
        names = ", ".join(spec.scheduling_gates)
        open_ = replace(spec, scheduling_gates=())
        yield _removal(bench, "schedulingGates", names, open_, "remove the scheduling gates", size=0.5)
