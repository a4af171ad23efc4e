"""What keeps a container that its own probe has killed alive: a probe that begins later, or bears more failures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from gnomon.engine.log import Kind
from gnomon.insight.explain.changes import OWN, Change, Simulate, cost_of
from gnomon.insight.explain.ground import Ground
from gnomon.insight.explain.situation import rows_of
from gnomon.systems.kubernetes.api.objects import Container, Pod, Probe
from gnomon.systems.kubernetes.controllers.probes import Failure, first_kill
from gnomon.systems.kubernetes.fleets.native import Native, native_of

MOST: Final = 86_400
"""No delay (in seconds) and no number of failures above this is proposed."""

_FIELDS: Final[dict[str, tuple[Callable[[Probe], int], Callable[[Probe, int], Probe]]]] = {
    "initialDelaySeconds": (
        lambda probe: probe.initial_delay_s,
        lambda probe, value: replace(probe, initial_delay_s=value),
    ),
    "failureThreshold": (
        lambda probe: probe.failure_threshold,
        lambda probe, value: replace(probe, failure_threshold=value),
    ),
}


def against_probe(ground: Ground, task: int, simulate: Simulate) -> list[Change]:
    """The least that keeps the probe which killed a pod's container last from doing so, each simulated; nothing of a
    container that hangs, which a probe is to kill."""
    native = native_of(ground.scenario)
    pod, fails = native.pods[task], rows_of(ground.past.log, (task,), Kind.FAIL).tolist()
    kill = first_kill(pod)
    said = str(ground.past.log.details.get(fails[-1], {}).get("message", "")) if fails else ""
    if kill is None or f"failed {kill.what} probe" not in said:
        return []
    found = []
    for field, (get, put) in _FIELDS.items():
        before = get(kill.probe)
        after = _least(lambda value, put=put: _with(pod, kill, put(kill.probe, value)), before)  # type: ignore[misc]
        if after is None:
            continue
        log = simulate(replace(ground.scenario, native=replace(native, pods=_changed(native, task, kill, put, after))))
        if not len(rows_of(log, (task,), Kind.FAIL)):
            size = (after - before) / max(before, 1)
            text = f"{kill.what}Probe.{field} {before} → {after}: container {kill.container} is not killed"
            path = f"spec.containers[*].{kill.what}Probe.{field}"
            cost = cost_of(OWN, size)
            found.append(Change(text, f"pod/{pod.key}", path, before, after, cost, confirmed=True))
    return found


def _changed(
    native: Native, task: int, kill: Failure, put: Callable[[Probe, int], Probe], value: int
) -> tuple[Pod, ...]:
    """The pods, of which that of a task and all others of its workload, as they have one template, are changed."""
    own = native.pods[task]
    return tuple(
        _with(pod, kill, put(kill.probe, value))
        if number == task or (own.owner is not None and (pod.namespace, pod.owner) == (own.namespace, own.owner))
        else pod
        for number, pod in enumerate(native.pods)
    )


def _least(made: Callable[[int], Pod], above: int) -> int | None:
    """The least value above one with which no probe kills; None if there is none."""
    low, high = above, max(2 * above, 1)
    while first_kill(made(high)) is not None:
        if high > MOST:
            return None
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if first_kill(made(middle)) is None else (middle, high)
    return high


def _with(pod: Pod, kill: Failure, probe: Probe) -> Pod:
    """A pod whose container has another probe of the kind that failed."""

    def changed(one: Container) -> Container:
        if one.name != kill.container:
            return one
        return replace(one, startup=probe) if kill.what == "startup" else replace(one, liveness=probe)

    return replace(pod, spec=replace(pod.spec, containers=tuple(map(changed, pod.spec.containers))))
