"""The checks that all limits are made of: on counts, on use in a place, on minutes; and which QOS overrides what.

Every check yields what it finds against a job, in the order of the resources; the first finding is Slurm's reason. A
limit that the first QOS sets is not looked at in the second, nor in the associations: that is kept in
:class:`Imposed`. Source: ``_validate_tres_usage_limits``, ``_validate_tres_limits_for_qos``,
``_validate_tres_limits_for_assoc``, ``_set_time_limit`` in ``src/slurmctld/acct_policy.c``, Slurm 22.05 to 25.05.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from gnomon.systems.slurm.accounting.entries import Entry, QosEntry, Used
from gnomon.systems.slurm.accounting.limit_reasons import ASSOC, OPTION_NAMES, PLAIN, QOS, tres_reason

INFINITE: Final = 2**32 - 1
"""A time limit without end, in minutes, as slurmctld reckons with it."""

Place = Entry | QosEntry
Ordered = Sequence[tuple[int, str, int]]
"""A limit on resources: number, name and count of each, in the order of the numbers."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A limit against a job. ``reason``: Slurm's word; ``place``: where the limit stands, as ``account phys`` or ``user
    alice in QOS high``; ``limit``: its name; ``resource`` "": it is on none; ``allowed``, ``used``, ``asked``: its
    value, what is in use already, what the job would add."""

    reason: str
    place: str
    limit: str
    resource: str
    allowed: int
    used: int
    asked: int


@dataclass
class Imposed:
    """What the QOS looked at so far have set, by field of Limits."""

    plain: set[str] = field(default_factory=set)
    tres: dict[str, set[str]] = field(default_factory=dict)

    def of(self, family: str) -> set[str]:
        """The resources that a limit is set on already."""
        return self.tres.setdefault(family, set())

    def first(self, name: str) -> bool:
        """Whether this limit is not set yet; it is from now on."""
        if name in self.plain:
            return False
        self.plain.add(name)
        return True


def place_name(place: Place, of: str = "") -> str:
    """Where a limit stands, in words."""
    if isinstance(place, QosEntry):
        return f"{of} in QOS {place.name}" if of else f"QOS {place.name}"
    return f"user {place.user} in account {place.account}" if place.user else f"account {place.account}"


def scope_of(place: Place) -> str:
    """The scope of its reasons."""
    return QOS if isinstance(place, QosEntry) else ASSOC


def plain(place: Place, family: str, numbers: tuple[int, int, int], of: str = "") -> Finding:
    """A finding on a limit that is not on a resource. ``numbers``: allowed, used, asked."""
    return Finding(PLAIN[scope_of(place), family], place_name(place, of), OPTION_NAMES[family], "", *numbers)


@dataclass(frozen=True, slots=True)
class TresCheck:
    """A limit on resources at a place, and the use that counts against it. ``of``: whose, in a QOS: ``user alice``."""

    place: Place
    family: str
    limits: Ordered
    of: str = ""

    def finding(self, name: str, allowed: int, used: int, asked: int) -> Finding:
        """A finding on one of the resources."""
        reason = tres_reason(scope_of(self.place), self.family, name)
        return Finding(reason, place_name(self.place, self.of), OPTION_NAMES[self.family], name, allowed, used, asked)

    def per_job(
        self, tres: Mapping[str, int], imposed: Imposed, *, divisor: int = 0, least: bool = False
    ) -> Iterator[Finding]:
        """What one job may have at most (``least``: must have at least), on each of so many nodes."""
        qos, taken = isinstance(self.place, QosEntry), imposed.of(self.family)
        for _, name, allowed in self.limits:
            asked = tres.get(name, 0)
            if name in taken or (not qos and not asked):
                continue
            if qos:
                taken.add(name)
            asked = asked // divisor if divisor else asked
            if asked < allowed if least else asked > allowed:
                yield self.finding(name, allowed, 0, asked)

    def in_use(self, tres: Mapping[str, int], imposed: Imposed, used: Callable[[int], int]) -> Iterator[Finding]:
        """What may be used at once, this job included."""
        for number, name, allowed in self._to_check(imposed):
            asked, now = tres.get(name, 0), used(number)
            if asked > allowed or (asked and asked + now > allowed):
                yield self.finding(name, allowed, now, asked)

    def minutes(
        self,
        tres: Mapping[str, int],
        imposed: Imposed,
        used: Callable[[int], int],
        promised: Callable[[int], int],
        *,
        safe: bool,
    ) -> Iterator[Finding]:
        """What may be used in all; ``safe``: what this job and those that run may still use counts too."""
        for number, name, allowed in self._to_check(imposed):
            asked, now = tres.get(name, 0), used(number)
            over = bool(asked) and now >= allowed
            if safe and not over:
                over = asked > allowed or (bool(asked) and asked + promised(number) > allowed - now)
            if over:
                yield self.finding(name, allowed, now + (promised(number) if safe else 0), asked)

    def _to_check(self, imposed: Imposed) -> Iterator[tuple[int, str, int]]:
        taken, qos = imposed.of(self.family), isinstance(self.place, QosEntry)
        for number, name, allowed in self.limits:
            if name not in taken:
                if qos:
                    taken.add(name)
                yield number, name, allowed


def with_new_nodes(tres: Mapping[str, int], nodes: Collection[int], used: Used) -> Mapping[str, int]:
    """The resources of a job, of its nodes only those that are not in use at a place already."""
    shared = sum(1 for node in nodes if node in used.nodes)
    return {**tres, "node": len(nodes) - shared} if shared else tres


# ------------------------------------------------------------------ time limits


def minutes_of(limit_min: int | None) -> int | None:
    """A job's limit as slurmctld reckons: None not said, :data:`INFINITE` none."""
    return INFINITE if limit_min is not None and limit_min < 0 else limit_min


def set_time(limit: int | None, partition_max: int | None, policy_max: int | None) -> int:
    """The time limit of a job that names none: that of the policy, else the partition's, else none.

    >>> set_time(None, 60, 1440), set_time(None, 60, None), set_time(5, 60, 1440)
    (1440, 60, 5)
    """
    if limit is not None:
        return limit
    if policy_max:
        return policy_max
    return INFINITE if partition_max is None else partition_max


def weigh_time(minutes: int, factor: float | None) -> int:
    """A time limit times the UsageFactor of a QOS with the flag UsageFactorSafe (None: it has not).

    >>> weigh_time(60, 0.5), weigh_time(60, None)
    (30, 60)
    """
    if factor is None or factor < 0 or (minutes == INFINITE and factor >= 1.0):
        return minutes
    return int(minutes * factor)


def time_out_text(place: Place, found: Finding) -> str:
    """What slurmctld logs when minutes that are used up end a job."""
    if isinstance(place, QosEntry):
        at = f"QOS {place.name}'s"
    else:
        partition = place.record.partition or "(null)"
        at = f"association (acc={place.account}/user={place.user or '(null)'}/part={partition})"
    if found.resource:
        kind = "group max" if found.limit == "GrpTRESMins" else "max"
        numbers = found.used if found.limit == "GrpTRESMins" else found.asked
        return f"Job is at or exceeds {at} {kind} TRES({found.resource}) minutes of {found.allowed} with {numbers}"
    middle = "group wall limit of" if isinstance(place, QosEntry) else "group wall limit"
    return f"Job is at or exceeds {at} {middle} {found.allowed} with {found.used}"
