"""When a container's probes let its pod be ready, and when they have it killed.

Probes begin ``initialDelaySeconds`` after the start and come every ``periodSeconds``; a startup probe that has not
succeeded yet gates the other two. So many in a row as ``successThreshold`` or ``failureThreshold`` says change the
verdict. A probe fails at once while nothing listens, and after ``timeoutSeconds`` once the container hangs. Source:
``pkg/kubelet/prober/worker.go``, API defaults of v1.34 (10 s, 1 s, 1, 3; sheet on Kubernetes, §9); that the first probe
comes after a part of a period when the kubelet itself has just started is left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from gnomon.model.resources import NEVER
from gnomon.systems.kubernetes.api.objects import Container, Pod, Probe
from gnomon.systems.kubernetes.read.annotations import HANGS_AFTER, LIVE_AFTER, READY_AFTER, annotated_ns

_S: Final = 10**9


@dataclass(frozen=True, slots=True)
class Failure:
    """A probe has failed too often, ``after_ns`` the start of its container: ``what`` is startup, liveness or
    readiness."""

    after_ns: int
    what: str
    container: str
    probe: Probe


def ready_ns(pod: Pod) -> int:
    """How long after its start a pod is ready: at the last successful readiness probe that its slowest container needs.

    NEVER, if that is not before it hangs.

    >>> from gnomon.systems.kubernetes.api.objects import PodSpec
    >>> spec = PodSpec((Container("c", readiness=Probe(initial_delay_s=5, period_s=10)),))
    >>> [ready_ns(Pod("p", annotations={READY_AFTER: said}, spec=spec)) // 10**9 for said in ("0s", "5s", "6s")]
    [5, 5, 15]
    """
    well = _said(pod, READY_AFTER, 0)
    latest = well
    for container in pod.spec.containers:
        up = max(well, _up_ns(pod, container))
        if container.readiness is not None:
            up = _passed(container.readiness, up)
        latest = max(latest, up)
    return latest if latest <= _said(pod, HANGS_AFTER, NEVER) else NEVER


def first_kill(pod: Pod) -> Failure | None:
    """The first startup or liveness probe that has a container of a pod killed; None: none ever does.

    >>> from gnomon.systems.kubernetes.api.objects import PodSpec
    >>> spec = PodSpec((Container("c", liveness=Probe()),))
    >>> found = first_kill(Pod("p", annotations={HANGS_AFTER: "1m"}, spec=spec))
    >>> found.after_ns // 10**9, found.what  # probes at 60, 70 and 80 s are not answered within 1 s
    (81, 'liveness')
    """
    return min(_kills(pod), key=lambda one: one.after_ns, default=None)


def unready(pod: Pod) -> Failure | None:
    """The first readiness probe that tells that a pod which was ready hangs; None: none does."""
    hangs = _said(pod, HANGS_AFTER, NEVER)
    if hangs >= NEVER:
        return None
    probes = [(one.name, one.readiness) for one in pod.spec.containers if one.readiness is not None]
    found = [Failure(_silent(probe, hangs), "readiness", name, probe) for name, probe in probes]
    return min(found, key=lambda one: one.after_ns, default=None)


def _kills(pod: Pod) -> Iterator[Failure]:
    live, hangs = _said(pod, LIVE_AFTER, 0), _said(pod, HANGS_AFTER, NEVER)
    for container in pod.spec.containers:
        up = _up_ns(pod, container)
        startup, liveness = container.startup, container.liveness
        if startup is not None and (when := _kill_ns(startup, 0, _starts_ns(pod), hangs)) <= up:
            yield Failure(when, "startup", container.name, startup)
        elif liveness is not None and (when := _kill_ns(liveness, up, live, hangs)) < NEVER:
            yield Failure(when, "liveness", container.name, liveness)


def _starts_ns(pod: Pod) -> int:
    """From when on startup probes succeed."""
    return max(_said(pod, READY_AFTER, 0), _said(pod, LIVE_AFTER, 0))


def _up_ns(pod: Pod, container: Container) -> int:
    """When the startup probe of a container has succeeded; 0 without one, NEVER if it hangs before."""
    if container.startup is None:
        return 0
    up = _passed(container.startup, _starts_ns(pod))
    return up if up < _said(pod, HANGS_AFTER, NEVER) else NEVER


def _said(pod: Pod, name: str, default: int) -> int:
    found = annotated_ns(pod, name)
    return default if found is None else found


def _tick(probe: Probe, from_ns: int) -> int:
    """When the first probe from a time on comes."""
    first, period = probe.initial_delay_s * _S, probe.period_s * _S
    return first + max(0, -(-(from_ns - first) // period)) * period


def _passed(probe: Probe, from_ns: int) -> int:
    """When enough probes in a row have succeeded that do from a time on."""
    if from_ns >= NEVER:
        return NEVER
    return _tick(probe, from_ns) + (probe.success_threshold - 1) * probe.period_s * _S


def _silent(probe: Probe, hangs: int) -> int:
    """When too many probes in a row have not been answered; a probe that waits longer than its period delays the next
    one."""
    step = max(probe.period_s, probe.timeout_s) * _S
    return _tick(probe, hangs) + (probe.failure_threshold - 1) * step + probe.timeout_s * _S


def _kill_ns(probe: Probe, from_ns: int, well: int, hangs: int) -> int:
    """When too many probes in a row have failed, of those that begin at ``from_ns`` and succeed from ``well`` until the
    container hangs; NEVER: they never do."""
    if from_ns >= NEVER:
        return NEVER
    first = _tick(probe, from_ns)
    refused = first + (probe.failure_threshold - 1) * probe.period_s * _S
    if refused < min(well, hangs):
        return refused
    return _silent(probe, max(first, hangs)) if hangs < NEVER else NEVER
