"""Changes of the pod's own: what it asks for, its tolerations, its priority."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from gnomon.insight.explain.changes import OWN
from gnomon.insight.explain.phrases import counted, listed
from gnomon.insight.kubernetes.classes import FIT, quantity, written
from gnomon.insight.kubernetes.levers.bench import Bench, Effect, Lever
from gnomon.insight.kubernetes.moment import key_of
from gnomon.systems.kubernetes.api.constraints import Taint, Toleration
from gnomon.systems.kubernetes.api.objects import Container, Pod, PodSpec
from gnomon.systems.kubernetes.api.requests import container_requests, pod_requests
from gnomon.systems.kubernetes.api.selectors import REJECTING, tolerates
from gnomon.systems.kubernetes.apiserver.admission import PREEMPT_LOWER
from gnomon.systems.kubernetes.scheduler.state import NOBODY

GROUPS_MAX = 6
"""How many sets of taints, or priorities, are tried."""

CONDITIONS = ("not-ready", "unreachable", "network-unavailable", "out-of-service", "unschedulable")
"""Taints of nodes that would not run the pod though it tolerated them, or that are to be opened instead."""


# ------------------------------------------------------------------ requests


def requests(bench: Bench) -> Iterator[Lever]:
    """Ask for as much as some node has free: of one resource, or of all of which there is too little."""
    found = bench.found
    if not found.asked:
        return
    mask = found.only(FIT) & (bench.state.count < bench.state.allowed)
    if bench.target is not None:
        mask &= np.arange(len(mask)) == bench.target
    short = {name: found.free(name) < amount for name, amount in found.asked.items()}
    for name in found.asked:
        others = [short[other] for other in found.asked if other != name]
        nodes = np.flatnonzero(mask & short[name] & ~np.any([*others, np.zeros_like(mask)], axis=0))
        if len(nodes):
            node = int(nodes[np.argmax(found.free(name)[nodes])])
            yield from _asking(bench, {name: int(found.free(name)[node])})
    several = np.flatnonzero(mask & (np.sum([*short.values()], axis=0) > 1))
    if len(several):
        cost = sum(np.maximum(amount - found.free(name), 0) / amount for name, amount in found.asked.items())
        node = int(several[np.argmin(np.asarray(cost)[several])])
        yield from _asking(bench, {name: int(found.free(name)[node]) for name in found.asked if short[name][node]})


def _asking(bench: Bench, amounts: Mapping[str, int]) -> Iterator[Lever]:
    asked, spec = bench.found.asked, bench.pod.spec
    if any(amount <= 0 for amount in amounts.values()):
        return
    fields = []
    for name, amount in amounts.items():
        changed = with_request(spec, name, amount)
        if changed is None:
            return
        spec, field = changed
        fields.append(field)
    before = ", ".join(written(name, asked[name]) for name in amounts)
    more = before if len(amounts) == 1 else listed([quantity(name, asked[name]) for name in amounts])
    less = listed([quantity(name, amount) for name, amount in amounts.items()])
    yield bench.of_spec(
        spec,
        kind=OWN,
        size=sum((asked[name] - amount) / asked[name] for name, amount in amounts.items()),
        phrase=f"ask for {less} instead of {more}",
        field=", ".join(fields),
        before=before,
        after=", ".join(written(name, amount) for name, amount in amounts.items()),
        group=f"request {sorted(amounts)}",
    )


def with_request(spec: PodSpec, name: str, total: int) -> tuple[PodSpec, str] | None:
    """A spec that asks for so much in total, by as few of its containers as will do, the largest first, and the field
    that changes; None where its overhead alone is more.

    >>> spec = PodSpec((Container("a", requests={"cpu": 3000}), Container("b", requests={"cpu": 1000})))
    >>> smaller, field = with_request(spec, "cpu", 2500)
    >>> [one.requests["cpu"] for one in smaller.containers], field
    ([1500, 1000], 'spec.containers[a].resources.requests.cpu')
    """
    if spec.requests and name in spec.requests:
        own = total - spec.overhead.get(name, 0)
        field = f"spec.resources.requests.{name}"
        return None if own < 0 else (replace(spec, requests={**spec.requests, name: own}), field)
    fields: list[str] = []
    for _ in range(len(spec.containers) + len(spec.init_containers)):
        over = pod_requests(spec)[name] - total
        if over <= 0:
            break
        place, position, one = _largest(spec, name)
        left = max(one.requests.get(name, 0) - over, 0)
        spec = _with_container(spec, place, position, replace(one, requests={**one.requests, name: left}))
        fields.append(f"spec.{place}[{one.name}].resources.requests.{name}")
    if pod_requests(spec)[name] > total:
        return None
    return spec, ", ".join(dict.fromkeys(fields))


def _largest(spec: PodSpec, name: str) -> tuple[str, int, Container]:
    """The container that asks for most; an init container where these decide."""
    running = container_requests(replace(spec, init_containers=())).get(name, 0)
    starting = [one for one in spec.init_containers if not one.is_sidecar]
    decided_by_start = any(one.requests.get(name, 0) > running for one in starting)
    place = "initContainers" if decided_by_start else "containers"
    listed_ = spec.init_containers if decided_by_start else spec.containers
    position = max(range(len(listed_)), key=lambda i: listed_[i].requests.get(name, 0))
    return place, position, listed_[position]


def _with_container(spec: PodSpec, place: str, position: int, one: Container) -> PodSpec:
    if place == "initContainers":
        changed = (*spec.init_containers[:position], one, *spec.init_containers[position + 1 :])
        return replace(spec, init_containers=changed)
    return replace(spec, containers=(*spec.containers[:position], one, *spec.containers[position + 1 :]))


# ------------------------------------------------------------------ tolerations


def tolerations(bench: Bench) -> Iterator[Lever]:
    """Tolerate all taints of a kind of node, where that is sensible; what needs fewest first."""
    mask = bench.found.masks.get("TaintToleration")
    if mask is None or not mask.any():
        return
    spec = bench.pod.spec
    of, sets = bench.state.taint_sets()
    found: dict[tuple[Taint, ...], int] = {}
    for number, count in zip(*np.unique(of[mask], return_counts=True), strict=True):
        missing = tuple(replace(taint, added_ns=None) for taint in sets[number] if _is_refused(taint, spec))
        if not any(taint.key.endswith(CONDITIONS) and "kubernetes.io" in taint.key for taint in missing):
            found[missing] = found.get(missing, 0) + int(count)
    for missing in sorted(found, key=lambda taints: (len(taints), -found[taints]))[:GROUPS_MAX]:
        added = tuple(Toleration(taint.key, "Equal", taint.value, taint.effect) for taint in missing)
        changed = replace(spec, tolerations=(*spec.tolerations, *added))
        text = listed([f"{taint.key}{'=' if taint.value else ''}{taint.value}:{taint.effect}" for taint in missing])
        reserved = sum("kubernetes.io/" in taint.key for taint in missing)
        yield bench.of_spec(
            changed,
            kind=OWN,
            size=float(len(missing) + reserved),
            phrase=f"tolerate the taint{'s' if len(missing) > 1 else ''} {text}",
            field="spec.tolerations",
            before=None,
            after=text,
        )


def _is_refused(taint: Taint, spec: PodSpec) -> bool:
    return taint.effect in REJECTING and not any(tolerates(one, taint) for one in spec.tolerations)


# ------------------------------------------------------------------ priority


def priorities(bench: Bench) -> Iterator[Lever]:
    """A priority above that of pods whose places would do, by a class that is there if one is; or that it may preempt
    at all."""
    pod, state = bench.pod, bench.state
    if pod.spec.never_preempts:
        able = replace(pod, spec=replace(pod.spec, preemption_policy=PREEMPT_LOWER))
        yield Lever(
            kind=OWN,
            size=1.0,
            phrase="let it preempt others",
            object=f"pod/{pod.key}",
            field="spec.preemptionPolicy",
            before="Never",
            after=PREEMPT_LOWER,
            attempt=lambda: _preempts(bench, able),
        )
    nodes = state.lowest[bench.found.statuses.resolvable()]
    above = np.unique(nodes[(nodes >= pod.priority) & (nodes < NOBODY)])
    classes = sorted(bench.moment.objects.priority_classes, key=lambda one: one.value)
    for lowest in above[:GROUPS_MAX].tolist():
        named = next((one for one in classes if one.value > lowest and one.preemption_policy != "Never"), None)
        value = lowest + 1 if named is None else named.value
        if value > 10**9:
            continue
        changes = {"priority": value, "priority_class": "" if named is None else named.name}
        raised = replace(pod, spec=replace(pod.spec, **changes))  # type: ignore[arg-type]
        yield Lever(
            kind=OWN,
            size=(value - pod.priority) / max(abs(pod.priority), 1),
            phrase=f"give it the priority {value}" + (f" (class {named.name})" if named else ""),
            object=f"pod/{pod.key}",
            field="spec.priorityClassName" if named else "spec.priority",
            before=pod.spec.priority_class if named and pod.spec.priority_class else pod.priority,
            after=named.name if named else value,
            attempt=lambda raised=raised: _preempts(bench, raised),  # type: ignore[misc]
            group="priority",
        )


def _preempts(bench: Bench, pod: Pod) -> Effect | None:
    chosen = bench.preempting_strangers(pod)
    if chosen is None:
        return None
    victims = listed([key_of(victim.pod) for victim in chosen.victims], most=3)
    broken = f", against {counted(chosen.violations, 'disruption budget')}" if chosen.violations else ""
    return Effect(f"it takes the place of {victims} on {bench.state.names[chosen.node]}{broken}")
