"""Limits of associations and QOS: what keeps a job from starting, before its nodes are chosen and after.

The order of the checks is slurmctld's: the first QOS, the second, then the associations from the job's own up to root;
``max_…`` limits of associations are looked at in the first only, for they are handed down. :class:`Limits` gives the
reason that Slurm shows, or all that hold. Source: ``acct_policy_job_runnable_pre_select`` and ``…_post_select``,
``acct_policy_get_max_nodes``, ``acct_policy_job_time_out`` in ``src/slurmctld/acct_policy.c``, Slurm 22.05 to 25.05.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial

from gnomon.systems.slurm.accounting.accounts import Limits as Values
from gnomon.systems.slurm.accounting.entries import Entry, LimitedJob, QosEntry, Used
from gnomon.systems.slurm.accounting.limit_checks import (
    Finding,
    Imposed,
    Ordered,
    Place,
    TresCheck,
    minutes_of,
    plain,
    set_time,
    time_out_text,
    weigh_time,
    with_new_nodes,
)
from gnomon.systems.slurm.accounting.tree import Tree
from gnomon.systems.slurm.accounting.usage import Usage

FACTOR_SAFE = "UsageFactorSafe"
_TRES_FIELDS = tuple(one.name for one in fields(Values) if "tres" in one.name)


@dataclass(frozen=True)
class Times:
    """MaxTime and DefaultTime of a partition, in minutes; None: none."""

    most: int | None = None
    default: int | None = None


class Limits:
    """The limits, checked against what is in use.

    ``enforce``: the words of AccountingStorageEnforce, with those that they imply (:func:`enforced`); ``times``: of
    each partition; ``fairshare``: a job's factor of fair-share, for UsageThreshold.
    """

    def __init__(
        self,
        tree: Tree,
        usage: Usage,
        enforce: frozenset[str],
        *,
        times: Mapping[str, Times] | None = None,
        fairshare: Callable[[LimitedJob], float] | None = None,
    ) -> None:
        self.tree, self.usage, self.enforce = tree, usage, enforce
        self.safe = "safe" in enforce
        self.times = times or {}
        self._fairshare = fairshare
        self._ordered: dict[Place, dict[str, Ordered]] = {}
        places: list[Place] = [*tree.entries, *tree.qos.values()]
        for place in places:
            self._ordered[place] = {name: self._sorted(place, name) for name in _TRES_FIELDS}
        self._above = {entry: tuple(one for one in entry.chain if _limits(one, entry)) for entry in tree.entries}
        self._free_qos = {
            qos for qos in tree.qos.values() if qos.limits == Values() and qos.record.limit_factor is None
        }

    def _sorted(self, place: Place, name: str) -> Ordered:
        counts: Mapping[str, int] = getattr(place.limits, name)
        number = self.tree.tres_number
        return sorted((number[resource], resource, count) for resource, count in counts.items())

    def check(self, place: Place, family: str, of: str = "", factor: float | None = None) -> TresCheck:
        """A check of one family of limits at a place. ``factor``: LimitFactor of a QOS, for limits of associations."""
        limits = self._ordered[place][family]
        if factor is not None and factor > 0 and limits:
            limits = [(number, name, int(count * factor)) for number, name, count in limits]
        return TresCheck(place, family, limits, of)

    # -------------------------------------------------------------- before nodes are chosen

    def before(self, job: LimitedJob, nodes: int = 0) -> str:
        """Why a job may not start whatever the nodes, "": nothing is against it. ``nodes``: so many it needs."""
        return next((finding.reason for finding in self.findings_before(job, nodes)), "")

    def findings_before(self, job: LimitedJob, nodes: int = 0) -> Iterator[Finding]:
        """All that is against it, in Slurm's order."""
        entry = self.tree.entry(job)
        if entry is None:
            if "associations" in self.enforce:
                yield Finding("InvalidAccount", f"user {job.user} in account {job.account}", "", "", 0, 0, 0)
            return
        if "limits" not in self.enforce:
            return
        order = self.tree.qos_order(job)
        if not self._above[entry] and all(qos in self._free_qos for qos in order):
            return
        imposed = Imposed()
        for qos in order:
            yield from self._qos_before(job, qos, imposed)
        yield from self._associations_before(job, entry, imposed)
        most = self.most_nodes(job) if nodes else None
        if most is not None and nodes > most.allowed:
            yield replace(most, asked=nodes)

    def _qos_before(self, job: LimitedJob, qos: QosEntry, imposed: Imposed) -> Iterator[Finding]:
        limits, time = qos.limits, None
        used, by_user, by_account = self.tree.qos_used(qos, job)
        if limits.grp_jobs is not None and imposed.first("grp_jobs") and used.jobs >= limits.grp_jobs:
            yield plain(qos, "grp_jobs", (limits.grp_jobs, used.jobs, 1))
        if limits.grp_wall_min is not None and imposed.first("grp_wall_min"):
            time = self._time(job, _least(limits.grp_wall_min, limits.max_wall_min))
            yield from self._wall(qos, limits.grp_wall_min, time)
        most = limits.max_jobs_per_account
        if most is not None and imposed.first("max_jobs_per_account") and by_account.jobs >= most:
            yield plain(qos, "max_jobs_per_account", (most, by_account.jobs, 1), f"account {job.account}")
        most = limits.max_jobs_per_user
        if most is not None and imposed.first("max_jobs_per_user") and by_user.jobs >= most:
            yield plain(qos, "max_jobs_per_user", (most, by_user.jobs, 1), f"user {job.user}")
        most = limits.max_wall_min
        if most is not None and imposed.first("max_wall_min"):
            if time is None:
                time = self._time(job, most, weigh=False)
            time = weigh_time(time, self._safe_factor(job))
            if time > most:
                yield plain(qos, "max_wall_min", (most, 0, time))

    def _associations_before(self, job: LimitedJob, own: Entry, imposed: Imposed) -> Iterator[Finding]:
        time: int | None = None
        for entry in self._above[own]:
            limits, used = entry.limits, entry.used
            most = limits.grp_jobs
            if most is not None and "grp_jobs" not in imposed.plain and used.jobs >= most:
                yield plain(entry, "grp_jobs", (most, used.jobs, 1))
            if limits.grp_wall_min is not None and "grp_wall_min" not in imposed.plain:
                if time is None:
                    time = self._time(job, _least(limits.grp_wall_min, limits.max_wall_min))
                yield from self._wall(entry, limits.grp_wall_min, time)
            if entry is not own:
                continue
            most = limits.max_jobs
            if (
                most is not None
                and not imposed.plain & {"max_jobs_per_account", "max_jobs_per_user"}
                and used.jobs >= most
            ):
                yield plain(entry, "max_jobs", (most, used.jobs, 1))
            most = limits.max_wall_min
            if most is not None and "max_wall_min" not in imposed.plain:
                if time is None:
                    time = self._time(job, most)
                if time > most:
                    yield plain(entry, "max_wall_min", (most, 0, time))

    def _wall(self, place: Place, allowed: int, time: int) -> Iterator[Finding]:
        spent = self.usage.wall_minutes(place)
        if spent >= allowed or (self.safe and spent + time > allowed):
            yield plain(place, "grp_wall_min", (allowed, spent, time))

    def _time(self, job: LimitedJob, policy_max: int, *, weigh: bool = True) -> int:
        time = set_time(minutes_of(job.limit_min), self.times.get(job.partition, Times()).most, policy_max)
        return weigh_time(time, self._safe_factor(job)) if weigh else time

    def _safe_factor(self, job: LimitedJob) -> float | None:
        own = self.tree.qos.get(job.qos)
        return own.record.usage_factor if own is not None and FACTOR_SAFE in own.record.flags else None

    # -------------------------------------------------------------- when the nodes are known

    def after(self, job: LimitedJob, tres: Mapping[str, int], nodes: Sequence[int] = ()) -> str:
        """Why a job may not start with these resources (with node and billing) on these nodes, "": it may."""
        return next((finding.reason for finding in self.findings_after(job, tres, nodes)), "")

    def findings_after(self, job: LimitedJob, tres: Mapping[str, int], nodes: Sequence[int] = ()) -> Iterator[Finding]:
        """All that is against it, in Slurm's order."""
        entry = self.tree.entry(job)
        if entry is None or "limits" not in self.enforce:
            return
        order = self.tree.qos_order(job)
        if not self._above[entry] and all(qos in self._free_qos for qos in order):
            return
        times = self.times.get(job.partition, Times())
        time = weigh_time(set_time(minutes_of(job.limit_min), times.most, times.default), self._safe_factor(job))
        minutes = {name: time * count for name, count in tres.items()}
        imposed = Imposed()
        for qos in order:
            yield from self._qos_after(job, qos, tres, minutes, nodes, imposed)
        factor = next((qos.record.limit_factor for qos in order if qos.record.limit_factor is not None), None)
        for one in self._above[entry]:
            yield from self._association_after(job, one, tres, minutes, nodes, imposed, factor, own=one is entry)

    def _counts(self, job: LimitedJob, place: Place, used: Used) -> tuple[Callable[[int], int], Callable[[int], int]]:
        """What was used in all, and what the running jobs may still use; nothing counts where UsageFactor is 0."""
        own = self.tree.qos.get(job.qos)
        if own is not None and own.record.usage_factor == 0.0:
            return (lambda number: 0), (lambda number: 0)
        return partial(self.usage.used_minutes, place), partial(self.usage.run_minutes, used)

    def _qos_after(
        self,
        job: LimitedJob,
        qos: QosEntry,
        tres: Mapping[str, int],
        minutes: Mapping[str, int],
        nodes: Sequence[int],
        imposed: Imposed,
    ) -> Iterator[Finding]:
        if qos in self._free_qos:
            return
        used, by_user, by_account = self.tree.qos_used(qos, job)
        user, account = f"user {job.user}", f"account {job.account}"
        spent, promised = self._counts(job, qos, used)
        yield from self.check(qos, "grp_tres_mins").minutes(minutes, imposed, spent, promised, safe=self.safe)
        in_use = used.tres.__getitem__
        yield from self.check(qos, "grp_tres").in_use(with_new_nodes(tres, nodes, used), imposed, in_use)
        yield from self.check(qos, "grp_tres_run_mins").in_use(minutes, imposed, promised)
        yield from self.check(qos, "max_tres_mins_per_job").per_job(minutes, imposed)
        yield from self.check(qos, "max_tres_per_job").per_job(tres, imposed)
        yield from self.check(qos, "max_tres_per_node").per_job(tres, imposed, divisor=tres.get("node", 0))
        yield from self.check(qos, "min_tres_per_job").per_job(tres, imposed, least=True)
        of_account, of_user = with_new_nodes(tres, nodes, by_account), with_new_nodes(tres, nodes, by_user)
        in_use = by_account.tres.__getitem__
        yield from self.check(qos, "max_tres_per_account", account).in_use(of_account, imposed, in_use)
        in_use = by_user.tres.__getitem__
        yield from self.check(qos, "max_tres_per_user", user).in_use(of_user, imposed, in_use)
        _, promised = self._counts(job, qos, by_account)
        yield from self.check(qos, "max_tres_run_mins_per_account", account).in_use(minutes, imposed, promised)
        promised = partial(self.usage.run_minutes, by_user)
        yield from self.check(qos, "max_tres_run_mins_per_user", user).in_use(minutes, imposed, promised)

    def _association_after(
        self,
        job: LimitedJob,
        entry: Entry,
        tres: Mapping[str, int],
        minutes: Mapping[str, int],
        nodes: Sequence[int],
        imposed: Imposed,
        factor: float | None,
        *,
        own: bool,
    ) -> Iterator[Finding]:
        spent, promised = self._counts(job, entry, entry.used)
        yield from self.check(entry, "grp_tres_mins").minutes(minutes, imposed, spent, promised, safe=self.safe)
        in_use, of_group = entry.used.tres.__getitem__, with_new_nodes(tres, nodes, entry.used)
        yield from self.check(entry, "grp_tres", factor=factor).in_use(of_group, imposed, in_use)
        yield from self.check(entry, "grp_tres_run_mins").in_use(minutes, imposed, promised)
        if own:
            yield from self.check(entry, "max_tres_mins_per_job").per_job(minutes, imposed)
            yield from self.check(entry, "max_tres_per_job", factor=factor).per_job(tres, imposed)
            yield from self.check(entry, "max_tres_per_node").per_job(tres, imposed, divisor=tres.get("node", 0))

    # -------------------------------------------------------------- other questions

    def below_threshold(self, job: LimitedJob) -> Finding | None:
        """Whether a QOS with the flag EnforceUsageThreshold asks for more fair-share than a job has."""
        qos = self.tree.qos.get(job.qos)
        if qos is None or self._fairshare is None or qos.record.usage_threshold is None:
            return None
        if "EnforceUsageThreshold" not in qos.record.flags or self._fairshare(job) >= qos.record.usage_threshold:
            return None
        return plain(qos, "usage_threshold", (0, 0, 0))

    def most_nodes(self, job: LimitedJob) -> Finding | None:
        """The limit that says how many nodes (``allowed``) a job may have at most, None: no limit does.

        More than that are not chosen for it, and if it asks for more it waits for the reason of that limit.
        """
        entry = self.tree.entry(job)
        if entry is None or "limits" not in self.enforce or not self.tree.counts_nodes:
            return None
        order, imposed = self.tree.qos_order(job), Imposed()
        found: list[Finding] = []
        for family in ("max_tres_per_account", "max_tres_per_job", "max_tres_per_user", "grp_tres"):
            for qos in order:
                count = getattr(qos.limits, family).get("node")
                if count is not None and imposed.first(family):
                    found.append(self.check(qos, family).finding("node", count, 0, 0))
        factor = next((qos.record.limit_factor for qos in order if qos.record.limit_factor is not None), None)
        for one in entry.chain:
            for family in ("grp_tres", "max_tres_per_job") if one is entry else ("grp_tres",):
                by_qos = {"grp_tres"} if family == "grp_tres" else imposed.plain - {"grp_tres"}
                if imposed.plain & by_qos:
                    continue
                check = self.check(one, family, factor=factor)
                found += [check.finding(name, count, 0, 0) for _, name, count in check.limits if name == "node"]
            if "node" in one.limits.grp_tres:
                break
        return min(found, key=lambda one: one.allowed, default=None)  # of equal ones the first

    def nodes_in_use(self, job: LimitedJob) -> set[int]:
        """The nodes that count only once for a job, whatever it takes of them: those that its QOS, user, account or
        association, where a limit on nodes holds for them, has already (``_find_grp_node_bitmap``)."""
        entry = self.tree.entry(job)
        if entry is None or "limits" not in self.enforce or not self.tree.counts_nodes:
            return set()
        found: set[int] = set()
        for qos in self.tree.qos_order(job):
            used = dict(
                zip(
                    ("grp_tres", "max_tres_per_user", "max_tres_per_account"), self.tree.qos_used(qos, job), strict=True
                )
            )
            for family, one in used.items():
                if "node" in getattr(qos.limits, family):
                    found |= set(one.nodes)
        for place in entry.chain:
            if "node" in place.limits.grp_tres:
                found |= set(place.used.nodes)
        return found

    def counts_minutes(self, job: LimitedJob) -> bool:
        """Whether minutes that are used up could end a job (:meth:`time_out`)."""
        entry = self.tree.entry(job)
        if entry is None or "limits" not in self.enforce or self.safe:
            return False
        places: list[Place] = [*self.tree.qos_order(job), *entry.chain]
        return any(
            one.limits.grp_tres_mins or one.limits.grp_wall_min is not None or one.limits.max_tres_mins_per_job
            for one in places
        )

    def time_out(self, job: LimitedJob, tres: Mapping[str, int], ran_min: int) -> str:
        """Slurm's words when a running job has to end because minutes are used up; never with ``safe``.

        ``tres``: what it has; ``ran_min``: for how many whole minutes.
        """
        entry = self.tree.entry(job)
        if entry is None or "limits" not in self.enforce or self.safe:
            return ""
        minutes = {name: ran_min * count + 1 for name, count in tres.items() if count and name != "energy"}
        imposed = Imposed()
        places: list[Place] = [*self.tree.qos_order(job), *entry.chain]
        for place in places:
            found = self._times_out(place, minutes, imposed)
            if found is not None:
                return time_out_text(place, found)
            if isinstance(place, Entry) and place.parent is not None and place.parent.parent is None:
                break  # root's limits do not end jobs
        return ""

    def _times_out(self, place: Place, minutes: Mapping[str, int], imposed: Imposed) -> Finding | None:
        spent = partial(self.usage.used_minutes, place)
        check = self.check(place, "grp_tres_mins")
        found = next(check.minutes(minutes, imposed, spent, lambda number: 0, safe=False), None)
        if found is not None:
            return found
        wall, first = place.limits.grp_wall_min, "grp_wall_min" not in imposed.plain
        if wall is not None and first:
            if isinstance(place, QosEntry):
                imposed.first("grp_wall_min")
            if self.usage.wall_minutes(place) >= wall:
                return plain(place, "grp_wall_min", (wall, self.usage.wall_minutes(place), 0))
        own = {name: count for name, count in minutes.items() if name != "node" or isinstance(place, QosEntry)}
        return next(self.check(place, "max_tres_mins_per_job").per_job(own, imposed), None)


def _least(one: int, other: int | None) -> int:
    return one if other is None else min(one, other)


def _limits(entry: Entry, own: Entry) -> bool:
    """Whether an entry limits the jobs of an association below it, or its own."""
    names = [one.name for one in fields(Values) if entry is own or one.name.startswith("grp_")]
    return any(getattr(entry.limits, name) not in (None, {}) for name in names)


def enforced(text: str) -> frozenset[str]:
    """The words of AccountingStorageEnforce, with those that they imply.

    >>> sorted(enforced("limits,qos")), sorted(enforced("safe"))
    (['associations', 'limits', 'qos'], ['associations', 'limits', 'safe'])
    """
    implied = {
        "limits": {"associations"},
        "qos": {"associations"},
        "safe": {"associations", "limits"},
        "wckeys": {"associations"},
        "all": {"associations", "limits", "qos", "safe", "wckeys"},
        "1": {"associations"},
        "2": {"associations", "limits"},
    }
    words = {word.strip().lower() for word in text.split(",") if word.strip()} - {"none", "0"}
    found = words.union(*(implied.get(word, set()) for word in words))
    return frozenset(found - {"all", "1", "2"})
