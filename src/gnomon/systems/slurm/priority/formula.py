"""Priorities: multifactor, at once or again and again, and basic.

A priority is the sum of weighted factors from 0 to 1, plus the site's, less nice, cut down to a whole number from 1 to
2**32 - 1. All sums are of doubles in Slurm's order, so that the last digit is the same. Times are whole seconds, as
slurmctld reads its clock. Source: ``set_priority_factors``, ``_get_priority_internal`` in
``src/plugins/priority/multifactor/priority_multifactor.c``, ``src/plugins/priority/basic/priority_basic.c``, Slurm
22.05 to 25.05.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

PRIORITY_MAX = 2**32 - 1

FIRST_BASIC = 0xFFFF0000 - 1
"""The priority of the first job under priority/basic (TOP_PRIORITY less one)."""


@dataclass(frozen=True)
class Weights:
    """The settings of priority/multifactor. ``tres``: PriorityWeightTRES, in the order of the resources' numbers."""

    age: int = 0
    assoc: int = 0
    fairshare: int = 0
    jobsize: int = 0
    partition: int = 0
    qos: int = 0
    tres: Mapping[str, float] = field(default_factory=dict)
    max_age_s: int = 7 * 86400
    favor_small: bool = False
    flags: frozenset[str] = frozenset()

    def normal(self, what: str) -> bool:
        """Whether a factor (ASSOC, PART, QOS, TRES) is a part of the largest, and not taken as it is."""
        return not self.flags & {f"NO_NORMAL_{what}", "NO_NORMAL_ALL"}


@dataclass(frozen=True)
class Size:
    """What sizes are parts of: the nodes and the CPUs of the cluster."""

    nodes: int
    cpus: int


@dataclass(frozen=True, slots=True)
class Standing:
    """What counts of one job. ``accrue_s``: since when it gathers age, None: it does not; ``fairshare``: its factor;
    ``assoc``, ``partition``, ``qos``: the factors, or the plain numbers where they are not normalised. ``cpus``: what
    it has, else may have at most, else asks for; ``nodes``: what it asks for at least. ``limit_min`` None: not said and
    none of the partition's. ``tres``: its parts of the partition's resources, or plain counts, as NO_NORMAL_TRES says.
    """

    accrue_s: int | None = None
    fairshare: float = 0.0
    assoc: float = 0.0
    partition: float = 0.0
    qos: float = 0.0
    nodes: int = 1
    cpus: int = 1
    limit_min: int | None = None
    tres: Mapping[str, float] = field(default_factory=dict)
    site: int = 0
    nice: int = 0


@dataclass(frozen=True, slots=True)
class Factors:
    """The weighted factors of one job, as sprio shows them."""

    age: float = 0.0
    assoc: float = 0.0
    fairshare: float = 0.0
    jobsize: float = 0.0
    partition: float = 0.0
    qos: float = 0.0
    tres: Mapping[str, float] = field(default_factory=dict)
    site: int = 0
    nice: int = 0

    @property
    def priority(self) -> int:
        """The sum, as slurmctld keeps it."""
        total = self.age + self.assoc + self.fairshare + self.jobsize + self.partition + self.qos
        tres = 0.0
        for value in self.tres.values():
            tres += value
        return cut(total + tres + float(self.site) - float(self.nice))


def cut(total: float) -> int:
    """A sum as a priority: whole, at least 1 (0 is for jobs on hold), at most 2**32 - 1.

    >>> cut(187.5), cut(-3.0), cut(1e12)
    (187, 1, 4294967295)
    """
    return min(int(max(total, 1.0)), PRIORITY_MAX)


def size_factor(weights: Weights, size: Size, standing: Standing) -> float:
    """The factor of size, 0 to 1: of 16 CPUs and one node asked for, on 4 nodes of 8 CPUs, (1/4 + 16/32)/2.

    >>> size_factor(Weights(), Size(4, 32), Standing(cpus=16))
    0.375
    """
    nodes, cpus = standing.nodes, standing.cpus
    if "SMALL_RELATIVE_TO_TIME" in weights.flags:
        value = float(nodes) * float(size.cpus) / float(size.nodes)
        value = float(cpus) if cpus > value else value
        value = value / (1 if standing.limit_min is None else standing.limit_min) / size.cpus
        value = 1.0 - value if weights.favor_small else value
    elif weights.favor_small:
        value = float(size.nodes - nodes) / float(size.nodes)
        if cpus:
            value = (value + float(size.cpus - cpus) / float(size.cpus)) / 2
    else:
        value = float(nodes) / float(size.nodes)
        if cpus:
            value = (value + float(cpus) / float(size.cpus)) / 2
    return min(max(value, 0.0), 1.0)


def age_factor(weights: Weights, accrue_s: int | None, now_s: int) -> float:
    """How long a job has gathered age, as a part of PriorityMaxAge: 0 to 1."""
    if not weights.age or accrue_s is None:
        return 0.0
    waited = max(0, now_s - accrue_s)
    return waited / weights.max_age_s if waited < weights.max_age_s else 1.0


def factors(weights: Weights, size: Size, standing: Standing, now_s: int) -> Factors:
    """The weighted factors of a job at a time.

    >>> day = 86400
    >>> factors(Weights(age=1000), Size(1, 1), Standing(accrue_s=0), now_s=7 * day // 2).priority
    500
    """
    return Factors(
        age_factor(weights, standing.accrue_s, now_s) * weights.age,
        (standing.assoc if weights.assoc else 0.0) * weights.assoc,
        (standing.fairshare if weights.fairshare else 0.0) * weights.fairshare,
        (size_factor(weights, size, standing) if weights.jobsize else 0.0) * weights.jobsize,
        (standing.partition if weights.partition else 0.0) * weights.partition,
        (standing.qos if weights.qos else 0.0) * weights.qos,
        {name: standing.tres.get(name, 0.0) * weight for name, weight in weights.tres.items()},
        standing.site,
        standing.nice,
    )


# ------------------------------------------------------------------ again and again


@dataclass(frozen=True, slots=True)
class Lasting:
    """What of a waiting job's priority stays as it is, weighted: all but its age and its fair share.

    >>> weights, size, one = Weights(age=1000, jobsize=100), Size(4, 32), Standing(accrue_s=0, cpus=16)
    >>> lasting = Lasting.of(weights, size, one)
    >>> lasting.priority(weights, 0, 0.0, 302400), factors(weights, size, one, 302400).priority
    (537, 537)
    """

    assoc: float
    jobsize: float
    partition: float
    qos: float
    tres: float
    site: int
    nice: int

    @classmethod
    def of(cls, weights: Weights, size: Size, standing: Standing) -> Lasting:
        """That of one job."""
        row = factors(weights, size, standing, 0)
        return cls(row.assoc, row.jobsize, row.partition, row.qos, _in_turn(row.tres), row.site, row.nice)

    def priority(self, weights: Weights, accrue_s: int | None, fairshare: float, now_s: int) -> int:
        """The priority at a time: the same as :func:`factors` gives, added in the same order."""
        total = age_factor(weights, accrue_s, now_s) * weights.age + self.assoc
        total = total + (fairshare if weights.fairshare else 0.0) * weights.fairshare
        total = total + self.jobsize + self.partition + self.qos
        return cut(total + self.tres + float(self.site) - float(self.nice))


def _in_turn(values: Mapping[str, float]) -> float:
    total = 0.0
    for value in values.values():
        total += value
    return total


# ------------------------------------------------------------------ basic


@dataclass
class Basic:
    """priority/basic: every job gets one less than the one before it; its nice does not count for those after it.

    >>> basic = Basic()
    >>> basic.next(), basic.next(nice=100), basic.next()
    (4294901759, 4294901658, 4294901757)
    """

    following: int = FIRST_BASIC

    def next(self, nice: int = 0) -> int:
        """The priority of the next job."""
        priority = self.following - nice
        self.following = max(1, self.following - 1)
        return min(max(1, priority), PRIORITY_MAX)
