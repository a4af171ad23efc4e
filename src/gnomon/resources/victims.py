"""Who has to go when a node has too little left: the orders in which victims are chosen.

An order takes those who run on the node and gives them back, the first victim first. Whom it never takes is not in the
answer. Ties go to the task with the lower number, so that an order is the same in every run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from gnomon.model.resources import E4

GUARANTEED, BEST_EFFORT = -997, 1_000


@dataclass(frozen=True, slots=True)
class Candidate:
    """One who runs on the node: ``request``, ``limit`` (0: none), ``used`` and the node's ``capacity`` are bytes of the
    resource that is short; ``start_ns``: when the attempt began; ``owner``: who started it; ``retriable``: whether it
    may be repeated."""

    task: int
    request: int = 0
    limit: int = 0
    used: int = 0
    priority: int = 0
    start_ns: int = 0
    owner: str = ""
    retriable: bool = True
    capacity: int = 0


Order = Callable[[Sequence[Candidate]], list[Candidate]]


def over_request(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Those who use more than they asked for first, then the lower priority, then who is further above his request.

    Source: Kubernetes sheet 8 (eviction manager), corrections K6: the class of service is no key.

    >>> [one.task for one in over_request([Candidate(0, 13, used=12), Candidate(1, 1, used=12), Candidate(2, used=8)])]
    [1, 2, 0]
    """
    return sorted(candidates, key=lambda one: (one.used <= one.request, one.priority, one.request - one.used, one.task))


def oom_score(candidates: Sequence[Candidate]) -> list[Candidate]:
    """The kernel's choice when memory is used up: the largest :func:`score_e4`.

    Source: Kubernetes sheet 8 (qos/policy.go for the adjustment; the kernel adds what part of the memory is used).

    >>> [one.task for one in oom_score([Candidate(0, 4, 4, used=4, capacity=8), Candidate(1, used=1, capacity=8)])]
    [1, 0]
    """
    return sorted(candidates, key=lambda one: (-score_e4(one), one.task))


def score_e4(one: Candidate) -> int:
    """The kernel's badness in 1/10,000 of its points: 1000 times the part of the node's memory that is used, plus the
    adjustment.

    >>> score_e4(Candidate(0, used=1, capacity=8)) / 10_000
    1125.0
    """
    return 1_000 * E4 * one.used // max(1, one.capacity) + E4 * adjustment(one)


def adjustment(one: Candidate) -> int:
    """oom_score_adj: -997 if the request is the limit, 1000 without a request, else the less the larger the request.

    Source: Kubernetes sheet 8: 1000 - 1000 * request / capacity, at least 3 and at most 999.

    >>> [adjustment(one) for one in (Candidate(0, 4, 4, capacity=8), Candidate(0), Candidate(0, 2, capacity=8))]
    [-997, 1000, 750]
    """
    if not one.request:
        return BEST_EFFORT
    if one.request == one.limit:
        return GUARANTEED
    return min(999, max(3, 1_000 - 1_000 * one.request // max(1, one.capacity)))


def newest_retriable(candidates: Sequence[Candidate]) -> list[Candidate]:
    """By groups of one owner, retriable groups first, then the larger group, then the one whose first member began
    last; inside a group the newest first. Those who may not be repeated are one group together.

    The list is that of victims one after the other: the groups are looked at anew after each. Source: Ray sheet 4
    ("group by owner").

    >>> pair = [Candidate(0, start_ns=1, owner="a"), Candidate(1, start_ns=2, owner="a")]
    >>> [one.task for one in newest_retriable([Candidate(2, start_ns=9, owner="b"), *pair])]
    [1, 2, 0]
    """
    left, victims = list(candidates), []
    while left:
        groups: dict[tuple[bool, str], list[Candidate]] = {}
        for one in left:
            groups.setdefault(_group(one), []).append(one)
        group = min(groups.items(), key=lambda item: _group_rank(*item))[1]
        victims.append(min(group, key=lambda one: (-one.start_ns, one.task)))
        left.remove(victims[-1])
    return victims


def last_of_group(candidates: Sequence[Candidate], victim: Candidate) -> bool:
    """Whether no other of the victim's group is there: then it fails for good (Ray sheet 4, corrections R9).

    >>> last_of_group([Candidate(0, owner="a"), Candidate(1, owner="b")], Candidate(0, owner="a"))
    True
    """
    return all(one.task == victim.task or _group(one) != _group(victim) for one in candidates)


def _group(one: Candidate) -> tuple[bool, str]:
    return (True, one.owner) if one.retriable else (False, "")


def _group_rank(key: tuple[bool, str], group: Sequence[Candidate]) -> tuple[bool, int, int, str]:
    return not key[0], -len(group), -min(one.start_ns for one in group), key[1]


def largest(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Who uses most first.

    >>> [one.task for one in largest([Candidate(0, used=1), Candidate(1, used=2)])]
    [1, 0]
    """
    return sorted(candidates, key=lambda one: (-one.used, one.task))


def over_limit(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Only those over their limit, the one that is furthest over it first; the others never go.

    Source: YARN sheet 5 and Slurm sheet 10 (a check that polls and kills who is over what he was given).

    >>> [one.task for one in over_limit([Candidate(0, limit=4, used=5), Candidate(1, limit=4, used=4)])]
    [0]
    """
    over = [one for one in candidates if one.limit and one.used > one.limit]
    return sorted(over, key=lambda one: (one.limit - one.used, one.task))


def lowest_priority(candidates: Sequence[Candidate]) -> list[Candidate]:
    """The lowest priority first, then the newest: what was done least for is lost.

    >>> [one.task for one in lowest_priority([Candidate(0, priority=5), Candidate(1, priority=-5)])]
    [1, 0]
    """
    return sorted(candidates, key=lambda one: (one.priority, -one.start_ns, one.task))


ORDERS: Final[Mapping[str, Order]] = MappingProxyType(
    {
        "over-request": over_request,
        "oom-score": oom_score,
        "newest-retriable": newest_retriable,
        "largest": largest,
        "over-limit": over_limit,
        "lowest-priority": lowest_priority,
    }
)
"""The orders by name."""
