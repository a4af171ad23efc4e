"""The answer in a sentence: the rule that holds the pod, the object that has it, the numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from gnomon.insight.explain.phrases import Numbers, counted, listed
from gnomon.insight.explain.waits import Wait
from gnomon.insight.kubernetes.classes import FIT, PodNodeClass, quantity, shown, written
from gnomon.insight.kubernetes.levers.bench import Bench
from gnomon.insight.kubernetes.levers.constraints import selector_text
from gnomon.insight.kubernetes.moment import Moment, key_of
from gnomon.insight.kubernetes.pod_waits import PodWait
from gnomon.insight.kubernetes.spreading import spread_numbers, spread_text
from gnomon.systems.kubernetes.api.constraints import PodAffinityTerm, Requirement
from gnomon.systems.kubernetes.api.requests import host_ports
from gnomon.systems.kubernetes.api.selectors import REJECTING, meets, tolerates
from gnomon.systems.kubernetes.scheduler.census import ANTI
from gnomon.systems.kubernetes.scheduler.plugins.inter_pod_affinity import AFFINITY, ANTI_AFFINITY, EXISTING

CONDITION = "node.kubernetes.io/"
"""What the names of the taints begin with that stand for conditions of a node."""

_SHORT = {
    FIT: "too full",
    "NodeAffinity": "with other labels",
    "TaintToleration": "tainted",
    "NodeUnschedulable": "cordoned",
    "NodePorts": "with the port taken",
    "PodTopologySpread": "against its spread",
    "InterPodAffinity": "against affinities",
    "VolumeBinding": "out of reach of its volume",
    "VolumeZone": "out of reach of its volume",
    "NodeVolumeLimits": "with too many volumes",
}
"""Rules as a word or two."""


_Told = tuple[str, str, Numbers]


def refusals(bench: Bench, rows: Sequence[PodNodeClass], first: str = "") -> list[Wait]:
    """What refuses the pod, one entry a plugin, that of the plugin ``first`` before the others."""
    by: dict[tuple[str, bool], list[PodNodeClass]] = {}
    for row in rows:
        if row.plugin:
            by.setdefault((row.plugin, _is_of_condition(bench, row)), []).append(row)
    order = sorted(by, key=lambda one: (one[0] != first, -sum(row.nodes for row in by[one])))
    return [_wait(bench, one[0], by[one], ill=one[1]) for one in order]


def _is_of_condition(bench: Bench, row: PodNodeClass) -> bool:
    """Whether nodes refuse the pod for a taint that the cluster itself gives and takes away, as of one that is not
    ready: that is over some time, and no reason for ever."""
    if row.plugin != "TaintToleration":
        return False
    missing = [taint for taint in bench.state.nodes[row.members[0]].taints if taint.effect in REJECTING]
    missing = [one for one in missing if not any(tolerates(each, one) for each in bench.pod.spec.tolerations)]
    return all(one.key.startswith(CONDITION) for one in missing)


def _wait(bench: Bench, plugin: str, rows: list[PodNodeClass], *, ill: bool) -> Wait:
    nodes = sum(row.nodes for row in rows)
    text, about, numbers = _of_condition(bench, rows) if ill else _TELLERS.get(plugin, _plain)(bench, rows)
    passing = any(row.resolvable for row in rows) or plugin in ("NodeUnschedulable", "InterPodAffinity")
    return PodWait("event" if passing or ill else "infeasible", plugin, about, text, {"nodes": nodes, **numbers})


def _of_condition(bench: Bench, rows: list[PodNodeClass]) -> _Told:
    """Nodes that are not as they should be."""
    names, said = [bench.state.names[node] for row in rows for node in row.members], Counter[str]()
    for row in rows:
        for node in row.members:
            taints = [one.key for one in bench.state.nodes[node].taints if one.key.startswith(CONDITION)]
            said.update({one.removeprefix(CONDITION).replace("-", " ") for one in taints})
    verb = "is" if len(names) == 1 else "are"
    return f"{listed(names, 3)} {verb} {listed(said)}", f"node/{names[0]}", {}


def _plain(bench: Bench, rows: list[PodNodeClass]) -> _Told:
    reasons = Counter[str]()
    for row in rows:
        for reason in row.reasons[: len(row.reasons) - len(row.behind)]:
            reasons[reason] += row.nodes
    text = listed([f"{count} {reason}" for reason, count in reasons.items()])
    return text, f"node/{rows[0].example}", {}


def _of_resources(bench: Bench, rows: list[PodNodeClass]) -> _Told:
    """By resource what is asked, and the most that one of these nodes has free."""
    found, state = bench.found, bench.state
    nodes = [node for row in rows for node in row.members]
    parts, numbers, about = [], Numbers(), f"node/{rows[0].example}"
    never = False
    for name, amount in found.asked.items():
        short = [node for node in nodes if int(found.free(name)[node]) < amount]
        if not short:
            continue
        best = max(short, key=lambda node: (int(found.free(name)[node]), -node))
        free, whole = int(found.free(name)[best]), int(state.allocatable[state.resources[name], best])
        most = max(int(state.allocatable[state.resources[name], node]) for node in nodes)
        never |= most < amount
        more = f"none has more than {quantity(name, most)} at all" if most < amount else ""
        best_text = f"{state.names[best]} has most free, {written(name, free)} of {written(name, whole)}"
        parts.append(f"it asks for {quantity(name, amount)} and {more or best_text}")
        numbers |= {f"asked_{name}": shown(name, amount), f"free_{name}": shown(name, free)}
        about = f"node/{state.names[best]}"
    full = sum(int(state.count[node] >= state.allowed[node]) for node in nodes)
    if full:
        which = f"{counted(full, 'node')} of them have" if full < len(nodes) else "there are"
        example = next(node for node in nodes if state.count[node] >= state.allowed[node])
        parts.append(
            f"{which} as many pods as may be ({state.count[example]} of {state.allowed[example]} on "
            f"{state.names[example]})"
        )
        numbers["full"] = full
    if not parts:
        names = {key: None for node in nodes for key in state.nominated.get(state.names[node], {})}
        parts.append(f"what is free is kept for {listed(names, 3)}, of at least its priority")
    return listed(parts), about, numbers


def _of_labels(bench: Bench, rows: list[PodNodeClass]) -> _Told:
    """Which requirement the nodes do not meet, and what they have instead."""
    spec, nodes = bench.pod.spec, [node for row in rows for node in row.members]
    wanted = [Requirement(key, "In", (value,)) for key, value in spec.node_selector.items()]
    for term in spec.affinity.node_required or ():
        wanted += term.match_expressions
    parts = []
    for one in wanted:
        missing = [bench.state.nodes[node] for node in nodes if not meets(one, bench.state.nodes[node].labels)]
        if missing:
            has = Counter(node.labels.get(one.key) for node in missing).most_common(3)
            shown = listed(["no such label" if value is None else f"{one.key}={value}" for value, _ in has])
            asked = (
                f"{one.key}={one.values[0]}"
                if len(one.values) == 1 and one.operator == "In"
                else (f"{one.key} {one.operator} {', '.join(one.values)}".strip())
            )
            parts.append(f"it asks for {asked} and {counted(len(missing), 'node')} have {shown}")
    return listed(parts[:3]) or "its node affinity is not met", f"pod/{bench.pod.key}", {}


def _of_taints(bench: Bench, rows: list[PodNodeClass]) -> _Told:
    counts = Counter[str]()
    for row in rows:
        for node in row.members:
            for taint in bench.state.nodes[node].taints:
                if taint.effect in REJECTING and not any(tolerates(one, taint) for one in bench.pod.spec.tolerations):
                    counts[f"{taint.key}{'=' if taint.value else ''}{taint.value}:{taint.effect}"] += 1
                    break
    alone = len(counts) == 1
    parts = [text if alone else f"{text} on {counted(count, 'node')}" for text, count in counts.most_common(4)]
    return f"it does not tolerate the taint {listed(parts)}", f"node/{rows[0].example}", {}


def _of_cordon(bench: Bench, rows: list[PodNodeClass]) -> _Told:
    names = [bench.state.names[node] for row in rows for node in row.members]
    return f"{listed(names, 3)} {'is' if len(names) == 1 else 'are'} cordoned", f"node/{names[0]}", {}


def _of_ports(bench: Bench, rows: list[PodNodeClass]) -> _Told:
    taken = {port for _, _, port in host_ports(bench.pod.spec)}
    node = rows[0].members[0]
    holder = next(
        (
            key_of(one.pod)
            for one in bench.state.pods[node].values()
            if any(port in taken for _, _, port in one.shape.ports)
        ),
        "",
    )
    nodes = sum(row.nodes for row in rows)
    text = f"host port {listed(map(str, sorted(taken)))} is taken on {counted(nodes, 'node')}"
    return text + (f" (on {bench.state.names[node]} by {holder})" if holder else ""), f"pod/{holder}", {}


def _of_spread(bench: Bench, rows: list[PodNodeClass]) -> _Told:
    node = rows[0].members[0]
    return spread_text(bench.found, node), f"pod/{bench.pod.key}", spread_numbers(bench.found, node)


def _of_volumes(bench: Bench, rows: list[PodNodeClass]) -> _Told:
    volumes = bench.state.volumes
    parts, about = [], f"pod/{bench.pod.key}"
    for key in bench.found.query.shape.claims:
        if zone := volumes.made_in.get(key):
            parts.append(f"the volume of its claim {key} was made in the zone {zone}, and is reached only there")
            about = f"persistentvolumeclaim/{key}"
        volume = volumes.volumes.get(volumes.bound.get(key, ""))
        terms = volume.node_required if volume is not None else None
        if volume is not None and terms:
            where = listed([f"{one.key} {one.operator} {', '.join(one.values)}" for one in terms[0].match_expressions])
            parts.append(f"its claim {key} is bound to the volume {volume.name}, which is reached only where {where}")
            about = f"persistentvolume/{volume.name}"
    text, _, _ = _plain(bench, rows)
    return "; ".join(parts) or text, about, {}


def _of_others(bench: Bench, rows: list[PodNodeClass]) -> _Told:
    """Which pods it must be near, or may not be near."""
    spec, state = bench.pod.spec, bench.state
    reasons = {reason for row in rows for reason in row.reasons}
    parts: list[str] = []
    holder = ""
    if AFFINITY in reasons:
        parts += [f"no pod {_pods(one)} is there" for one in spec.affinity.pod_required]
    if ANTI_AFFINITY in reasons:
        for one in spec.affinity.anti_required:
            holder = holder or _selected(bench, one)
            parts.append(f"a pod {_pods(one)} is there already, which its anti-affinity bars")
    if EXISTING in reasons:
        held = [one for one in state.census.selecting(bench.found.query.shape.kind) if one.role == ANTI and one.total]
        for term in held[:2]:
            node = int(np.flatnonzero(term.on_node)[0])
            owner = next(pod for pod in state.pods[node].values() if term in pod.shape.holds)
            holder = holder or key_of(owner.pod)
            parts.append(f"{key_of(owner.pod)} on {state.names[node]} bars pods {_pods(term.term)}, as this one is")
    return listed(parts, 3), f"pod/{holder or bench.pod.key}", {}


def _pods(term: PodAffinityTerm) -> str:
    return f"with {selector_text(term.label_selector)} of the same {term.topology_key}"


def _selected(bench: Bench, term: PodAffinityTerm) -> str:
    """A pod that a term selects."""
    kind, census = bench.found.query.shape.kind, bench.state.census
    for there in bench.state.pods:
        for one in there.values():
            if census.selects(term, kind.namespace, one.shape.kind):
                return key_of(one.pod)
    return ""


_TELLERS: dict[str, Callable[[Bench, list[PodNodeClass]], _Told]] = {
    FIT: _of_resources,
    "NodeAffinity": _of_labels,
    "TaintToleration": _of_taints,
    "NodeUnschedulable": _of_cordon,
    "NodePorts": _of_ports,
    "PodTopologySpread": _of_spread,
    "VolumeBinding": _of_volumes,
    "VolumeZone": _of_volumes,
    "InterPodAffinity": _of_others,
}


def sentence(moment: Moment, waits: Iterable[Wait]) -> str:
    """Why it fits on no node: the rule that holds it, and how many nodes others exclude."""
    found = list(waits)
    told = [(one.numbers.get("nodes"), one.text) for one in found]
    count = len(moment.state.nodes)
    head = f"{moment.pod.key} fits on none of the {counted(count, 'node')}"
    if count == 1:
        head = f"{moment.pod.key} does not fit on the only node"
    if len(told) == 1:
        return f"{head}: {told[0][1]}"
    nodes, text = told[0]
    rest = [f"{one.numbers.get('nodes')} {_short(one)}" for one in found[1:]]
    return f"{head}: on {counted(int(nodes or 0), 'node')} {text} ({listed(rest)})"


def _short(one: Wait) -> str:
    if one.rule == "TaintToleration" and one.kind == "event":
        return "not ready"
    return _SHORT.get(one.rule, f"refused by {one.rule}")
