"""What pods tell of themselves that no field of the API has: how long they run, start, stop, what they use.

They are annotations of a pod, of the template that makes it, or of the workload whose template that is.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from gnomon.model.errors import InputError, nearest
from gnomon.model.quantity import parse_duration
from gnomon.systems.kubernetes.api.objects import Pod
from gnomon.systems.kubernetes.api.quantity import parse_quantity
from gnomon.systems.kubernetes.read.fields import Fields

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

PREFIX: Final = "gnomon.dev/"
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

    >>> from gnomon.systems.kubernetes.api.objects import PodSpec
    >>> [stops_ns(Pod("p", annotations=said)) // 10**9 for said in ({}, {STOPS_AFTER: "3s"}, {STOPS_AFTER: "2m"})]
    [30, 3, 30]
    """
    grace = (pod.spec.grace_s if grace_s is None else grace_s) * 10**9
    said = annotated_ns(pod, STOPS_AFTER)
    return grace if said is None else min(said, grace)


def exit_code(pod: Pod) -> int:
    """With which code a pod fails by itself. Raises InputError for what is none."""
    said = pod.annotations.get(EXIT_CODE, "1")
    try:
        return _code(said)
    except ValueError as error:
        raise InputError(str(error), field=f"pod {pod.key}, metadata.annotations.{EXIT_CODE}", found=said) from None


def use_points(text: str, name: str) -> dict[int, int]:
    """What ``cpu`` or ``memory`` is used at which times (ns): ``100Mi``, or ``0s 100Mi, 5m 2Gi``. Raises ValueError.

    >>> use_points("0s 1Ki, 5s 2Ki", "memory")
    {0: 1024, 5000000000: 2048}
    """
    parts = [part.split() for part in text.split(",")]
    if len(parts) == 1 and len(parts[0]) == 1:
        return {0: parse_quantity(parts[0][0], name)}
    if any(len(part) != 2 for part in parts):
        raise ValueError("an amount, or times with amounts are wanted: 0s 100Mi, 5m 2Gi")
    return {parse_duration(time): parse_quantity(amount, name) for time, amount in parts}


def read_annotations(metadata: Fields) -> dict[str, str]:
    """The annotations of an object or a template; among its problems are those of them that are read here and say
    nothing that can be understood."""
    found = metadata.labels("annotations")
    for name, said in found.items():
        if not name.startswith(PREFIX):
            continue
        read = _READERS.get(name)
        if read is None:
            meant = nearest(name, _READERS)
            allowed = None if meant else ", ".join(_READERS)
            metadata.inside("annotations").wrong(name, f"unknown annotation{meant}", allowed=allowed)
            continue
        try:
            read(said)
        except ValueError as error:
            metadata.inside("annotations").wrong(name, str(error), said)
    return found


def _code(said: str) -> int:
    if not said.isdecimal() or len(said) > 3 or not 0 < int(said) < 256:
        raise ValueError("not an exit code; allowed: 1 to 255")
    return int(said)


_TIMES: Final = (DURATION, READY_AFTER, LIVE_AFTER, HANGS_AFTER, STOPS_AFTER)
_READERS: Final[dict[str, Callable[[str], object]]] = {
    **dict.fromkeys(_TIMES, parse_duration),
    EXIT_CODE: _code,
    **{USAGE + name: partial(use_points, name=name) for name in ("cpu", "memory")},
}
