"""What pods tell of themselves that no field of the API has: how long they run, start, stop, what they use.

They are annotations of a pod, of the template that makes it, or of the workload whose template that is.
"""

from __future__ import annotations

from typing import Final

from gnomon.model.errors import InputError
from gnomon.model.quantity import parse_duration
from gnomon.systems.kubernetes.objects import Pod

DURATION: Final = "gnomon.dev/duration"
"""How long it runs; for ever, if it does not say."""

READY_AFTER: Final = "gnomon.dev/ready-after"
"""How long after its start it would pass its readiness probe (without one: is ready); at once, if it does not say."""

STOPS_AFTER: Final = "gnomon.dev/stops-after"
"""How long it takes to stop when it is told to; its whole grace period, if it does not say."""

EXIT_CODE: Final = "gnomon.dev/exit-code"
"""With which code it fails when it fails by itself; 1, if it does not say."""

USAGE: Final = "gnomon.dev/usage-"
"""Beginning of ``usage-cpu`` and ``usage-memory``: what it uses, as an amount, or as ``0s 100Mi, 5m 2Gi``: amounts
since its start, in a line from each to the next."""


def annotated_ns(pod: Pod, name: str) -> int | None:
    """A time that an annotation tells; None if it is not there. Raises InputError for one that is none."""
    said = pod.annotations.get(name)
    if said is None:
        return None
    try:
        return parse_duration(said)
    except ValueError as error:
        raise InputError(str(error), field=f"pod {pod.key}, metadata.annotations.{name}", found=said) from None


def ready_ns(pod: Pod) -> int:
    """How long after its start a pod is ready: at the first successful readiness probe of its slowest container.

    Probes begin ``initialDelaySeconds`` after the start and come every ``periodSeconds``; so many in a row have to
    succeed as ``successThreshold`` says. A startup probe gates them. (``pkg/kubelet/prober``; that the first one comes
    after a part of a period when the kubelet itself has just started is left out.)

    >>> from gnomon.systems.kubernetes.objects import Container, PodSpec, Probe
    >>> spec = PodSpec((Container("c", readiness=Probe(initial_delay_s=5, period_s=10)),))
    >>> [ready_ns(Pod("p", annotations={READY_AFTER: said}, spec=spec)) // 10**9 for said in ("0s", "5s", "6s")]
    [5, 5, 15]
    """
    well = annotated_ns(pod, READY_AFTER) or 0
    latest = well
    for container in pod.spec.containers:
        up = well
        if container.startup is not None:
            up = _passed(container.startup.initial_delay_s, container.startup.period_s, 1, well)
        if container.readiness is not None:
            probe = container.readiness
            up = _passed(probe.initial_delay_s, probe.period_s, probe.success_threshold, up)
        latest = max(latest, up)
    return latest


def _passed(delay_s: int, period_s: int, successes: int, from_ns: int) -> int:
    """When so many probes in a row have succeeded that do from a time on."""
    first, period = delay_s * 10**9, max(period_s, 1) * 10**9
    missed = max(0, -(-(from_ns - first) // period))
    return first + (missed + max(successes, 1) - 1) * period


def stops_ns(pod: Pod) -> int:
    """How long a pod takes to stop: what it says, at most its grace period; without a word, that.

    >>> from gnomon.systems.kubernetes.objects import PodSpec
    >>> [stops_ns(Pod("p", annotations=said)) // 10**9 for said in ({}, {STOPS_AFTER: "3s"}, {STOPS_AFTER: "2m"})]
    [30, 3, 30]
    """
    grace = pod.spec.grace_s * 10**9
    said = annotated_ns(pod, STOPS_AFTER)
    return grace if said is None else min(said, grace)


def exit_code(pod: Pod) -> int:
    """With which code a pod fails by itself. Raises InputError for what is none."""
    said = pod.annotations.get(EXIT_CODE, "1")
    if not said.isdigit() or not 0 < int(said) < 256:
        field = f"pod {pod.key}, metadata.annotations.{EXIT_CODE}"
        raise InputError("not an exit code", field=field, found=said, allowed="1 to 255")
    return int(said)
