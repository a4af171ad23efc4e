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

LIVE_AFTER: Final = "gnomon.dev/live-after"
"""How long after its start it would pass its liveness and startup probes; at once, if it does not say."""

HANGS_AFTER: Final = "gnomon.dev/hangs-after"
"""How long after its start it hangs, and answers no probe any more; never, if it does not say."""

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


def stops_ns(pod: Pod, grace_s: int | None = None) -> int:
    """How long a pod takes to stop: what it says, at most its grace period (or another); without a word, that.

    >>> from gnomon.systems.kubernetes.objects import PodSpec
    >>> [stops_ns(Pod("p", annotations=said)) // 10**9 for said in ({}, {STOPS_AFTER: "3s"}, {STOPS_AFTER: "2m"})]
    [30, 3, 30]
    """
    grace = (pod.spec.grace_s if grace_s is None else grace_s) * 10**9
    said = annotated_ns(pod, STOPS_AFTER)
    return grace if said is None else min(said, grace)


def exit_code(pod: Pod) -> int:
    """With which code a pod fails by itself. Raises InputError for what is none."""
    said = pod.annotations.get(EXIT_CODE, "1")
    if not said.isdigit() or not 0 < int(said) < 256:
        field = f"pod {pod.key}, metadata.annotations.{EXIT_CODE}"
        raise InputError("not an exit code", field=field, found=said, allowed="1 to 255")
    return int(said)
