"""How a Deployment comes from one version to the next: how many pods each of its ReplicaSets is to have.

Source: ``pkg/controller/deployment/rolling.go``, ``recreate.go`` and ``util/deployment_util.go`` (NewRSNewReplicas,
ResolveFenceposts, MaxUnavailable). Each function is one sync of the controller: it rescales once, and looks again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gnomon.systems.kubernetes.api.workloads import IntOrPercent


@dataclass(frozen=True, slots=True)
class Count:
    """Of a ReplicaSet: how many pods it is to have, and how many of its pods are available."""

    wanted: int
    available: int = 0


@dataclass(frozen=True, slots=True)
class Rescale:
    """ReplicaSets (by their place in the list) and how many pods they are to have from now on."""

    to: tuple[tuple[int, int], ...]


def resolved(value: IntOrPercent, total: int, *, up: bool) -> int:
    """A number as it is, or a percentage of a total, rounded up or down.

    >>> resolved("25%", 5, up=True), resolved("25%", 5, up=False), resolved(3, 5, up=True)
    (2, 1, 3)
    """
    if isinstance(value, int):
        return value
    share = int(value.removesuffix("%")) * total
    return -(-share // 100) if up else share // 100


def fenceposts(max_surge: IntOrPercent, max_unavailable: IntOrPercent, replicas: int) -> tuple[int, int]:
    """How many pods more than ``replicas`` there may be, and how many fewer: surge is rounded up, unavailable down;
    where both come to 0, one may be unavailable, or nothing would ever move.

    >>> fenceposts("25%", "25%", 4), fenceposts("25%", "25%", 5), fenceposts(0, "10%", 5)
    ((1, 1), (2, 1), (0, 1))
    """
    surge = resolved(max_surge, replicas, up=True)
    unavailable = resolved(max_unavailable, replicas, up=False)
    if surge == 0 and unavailable == 0:
        unavailable = 1
    return surge, min(unavailable, replicas)


def rolling(replicas: int, surge: int, unavailable: int, new: Count, old: Sequence[Count]) -> Rescale | None:
    """One sync of a rolling update; None: nothing to do as things are. ``old``: the oldest first; the new ReplicaSet
    has the place ``len(old)``.

    >>> rolling(4, 1, 1, Count(0), [Count(4, 4)])
    Rescale(to=((1, 1),))
    >>> rolling(4, 1, 1, Count(1, 0), [Count(4, 4)])
    Rescale(to=((0, 3),))
    """
    wanted = new.wanted + sum(one.wanted for one in old)
    grown = _new_wanted(replicas, surge, new, wanted)
    if grown != new.wanted:
        return Rescale(((len(old), grown),))
    least = replicas - unavailable
    most_down = wanted - least - (new.wanted - new.available)
    if not any(one.wanted for one in old) or most_down <= 0:
        return None
    left, cleaned = [one.wanted for one in old], 0
    for place, one in enumerate(old):  # those that are not available first: that costs nothing
        down = min(most_down - cleaned, max(left[place] - one.available, 0))
        left[place] -= down
        cleaned += down
    spare = new.available + sum(one.available for one in old) - least
    for place in range(len(old)):
        down = min(left[place], max(spare, 0))
        left[place] -= down
        spare -= down
    changed = tuple((place, now) for place, now in enumerate(left) if now != old[place].wanted)
    return Rescale(changed) if changed else None


def _new_wanted(replicas: int, surge: int, new: Count, wanted: int) -> int:
    if new.wanted >= replicas:
        return replicas
    room = replicas + surge - wanted
    return new.wanted + max(0, min(room, replicas - new.wanted))


def recreate(replicas: int, new: Count, old: Sequence[Count], *, old_pods: int) -> Rescale | None:
    """One sync of a Recreate: all old pods go, and only when none is left, terminating ones included (``old_pods``),
    new ones come.

    >>> recreate(2, Count(0), [Count(2, 2)], old_pods=2)
    Rescale(to=((0, 0),))
    >>> recreate(2, Count(0), [Count(0)], old_pods=1) is None
    True
    """
    down = tuple((place, 0) for place, one in enumerate(old) if one.wanted)
    if down:
        return Rescale(down)
    if old_pods or new.wanted == replicas:
        return None
    return Rescale(((len(old), replicas),))


@dataclass(frozen=True, slots=True)
class Active:
    """A pod of a ReplicaSet as its controller ranks it when some are too many. ``ready_ns``: since when it is ready."""

    task: int
    placed: bool
    running: bool
    ready_ns: int | None
    neighbours: int = 0
    created_ns: int = 0


def to_delete(pods: Sequence[Active], count: int) -> list[int]:
    """The tasks of the pods that go when ``count`` are too many: those without a node, that do not run, that are not
    ready, on the node with most of them, ready for the shortest time, created last.

    Source: ``controller.ActivePodsWithRanks`` of ``pkg/controller/controller_utils.go``; times of readiness are
    compared by their order of magnitude there, which matters for ages in days alone and is left out.
    """

    def rank(one: Active) -> tuple[int, int, int, int, int, int, int]:
        ready = one.ready_ns
        since = 0 if ready is None else -ready
        return (
            int(one.placed),
            int(one.running),
            int(ready is not None),
            -one.neighbours,
            since,
            -one.created_ns,
            -one.task,
        )

    return [one.task for one in sorted(pods, key=rank)[:count]]
