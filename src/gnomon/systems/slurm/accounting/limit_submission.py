"""Limits at submission: what sbatch is refused at once, and the time limit that a policy gives to a job without one.

Numbers of submitted jobs are always checked. What one job asks for is checked only for a QOS with the flag DenyOnLimit
(or where there is no QOS): else the job is taken, and waits. A job without a time limit gets the DefaultTime of its
first partition, or if that has none the limit of a policy, be it above the partition's MaxTime (recorded with 22.05.8).
Source: ``_qos_policy_validate``, ``_acct_policy_validate`` in ``src/slurmctld/acct_policy.c``, Slurm 22.05 to 25.05.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from gnomon.systems.slurm.accounting.entries import Entry, LimitedJob, QosEntry
from gnomon.systems.slurm.accounting.limit_checks import INFINITE, Finding, Imposed, Place, minutes_of, plain, set_time
from gnomon.systems.slurm.accounting.limits import Limits, Times

POLICY: Final = "Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)"
_MINUTES: Final = (
    "max_tres_mins_per_job",
    "grp_tres_mins",
    "grp_tres_run_mins",
    "max_tres_run_mins_per_account",
    "max_tres_run_mins_per_user",
)


class Submission:
    """One submission, checked in each of its partitions until one refuses it.

    ``tres``: what it asks for, with node; ``tasks``: of an array. Afterwards ``limit_min`` is the job's time limit
    (None: not said, -1: none), which its partition or a policy may have given to it; ``finding`` is what refuses it.
    """

    def __init__(self, limits: Limits, job: LimitedJob, tres: Mapping[str, int], *, tasks: int = 1) -> None:
        self._limits, self._job, self._tres, self._tasks = limits, job, tres, tasks
        self._time = minutes_of(job.limit_min)
        if self._time is None:
            self._time = limits.times.get((*job.partitions, job.partition)[0], Times()).default
        self._set = False  # the time limit was given by a policy
        self.finding: Finding | None = None
        if "limits" in limits.enforce:
            findings = (found for part in job.partitions or (job.partition,) for found in self._in_partition(part))
            self.finding = next(findings, None)

    @property
    def limit_min(self) -> int | None:
        """The time limit in minutes, as a job has it."""
        return -1 if self._time == INFINITE else self._time

    def _in_partition(self, partition: str) -> Iterator[Finding]:
        tree, job = self._limits.tree, self._job
        entry = tree.find(job.user, job.account, partition)
        if entry is None:
            return
        order = tree.qos_in(job.qos, partition)
        strict = not order or any("DenyOnLimit" in qos.record.flags for qos in order)
        imposed, most = Imposed(), self._limits.times.get(partition, Times()).most
        for qos in order:
            yield from self._qos(qos, imposed, strict, most)
        factor = next((qos.record.limit_factor for qos in order if qos.record.limit_factor is not None), None)
        for one in entry.chain:
            yield from self._association(one, imposed, strict, most, factor if factor else None, own=one is entry)

    def _qos(self, qos: QosEntry, imposed: Imposed, strict: bool, most: int | None) -> Iterator[Finding]:
        limits, job, check = qos.limits, self._job, self._limits.check
        used, by_user, by_account = self._limits.tree.qos_used(qos, job)
        user, account = f"user {job.user}", f"account {job.account}"
        if strict:
            yield from check(qos, "max_tres_per_account", account).per_job(self._tres, imposed)
            yield from self._group_and_user(qos, imposed, user)
        yield from self._jobs(qos, "grp_submit", used.submitted, imposed)
        if strict:
            for family in _MINUTES:
                yield from self._minutes(qos, family, imposed, most)
        for family in ("max_wall_min", "grp_wall_min"):
            allowed = getattr(limits, family)
            if allowed is not None and imposed.first(family):
                self._give_time(most, allowed)
                if strict and self._time is not None and self._time > allowed:
                    yield plain(qos, family, (allowed, 0, self._time))
        if strict:
            yield from check(qos, "max_tres_per_job").per_job(self._tres, imposed)
            nodes = self._tres.get("node", 0)
            yield from check(qos, "max_tres_per_node").per_job(self._tres, imposed, divisor=nodes)
        yield from self._jobs(qos, "max_submit_per_account", by_account.submitted, imposed, account)
        yield from self._jobs(qos, "max_submit_per_user", by_user.submitted, imposed, user)
        if strict:
            yield from check(qos, "min_tres_per_job").per_job(self._tres, imposed, least=True)

    def _group_and_user(self, qos: QosEntry, imposed: Imposed, user: str) -> Iterator[Finding]:
        """GrpTRES and MaxTRESPerUser together: where one is set by another QOS, neither is looked at."""
        group, each = self._limits.check(qos, "grp_tres"), self._limits.check(qos, "max_tres_per_user", user)
        taken, taken_each = imposed.of("grp_tres"), imposed.of("max_tres_per_user")
        limits = {name: (number, count) for number, name, count in group.limits}
        limits_each = {name: (number, count) for number, name, count in each.limits}
        for name in sorted({**limits, **limits_each}, key=lambda one: (limits.get(one) or limits_each[one])[0]):
            if name in taken or name in taken_each:
                continue
            asked = self._tres.get(name, 0)
            if name in limits_each:
                taken_each.add(name)
                if asked > limits_each[name][1]:
                    yield each.finding(name, limits_each[name][1], 0, asked)
            if name in limits:
                taken.add(name)
                if asked > limits[name][1]:
                    yield group.finding(name, limits[name][1], 0, asked)

    def _association(
        self, entry: Entry, imposed: Imposed, strict: bool, most: int | None, factor: float | None, *, own: bool
    ) -> Iterator[Finding]:
        check, limits = self._limits.check, entry.limits
        if strict:
            yield from check(entry, "grp_tres", factor=factor).per_job(self._tres, imposed)
        yield from self._jobs(entry, "grp_submit", entry.used.submitted, imposed)
        if strict:
            yield from self._minutes(entry, "grp_tres_mins", imposed, most)
            yield from self._minutes(entry, "grp_tres_run_mins", imposed, most)
        yield from self._wall(entry, "grp_wall_min", imposed, strict, most)
        if not own:
            return
        if strict:
            yield from check(entry, "max_tres_per_job", factor=factor).per_job(self._tres, imposed)
            nodes = self._tres.get("node", 0)
            yield from check(entry, "max_tres_per_node").per_job(self._tres, imposed, divisor=nodes)
        allowed, now = limits.max_submit, entry.used.submitted
        overridden = imposed.plain & {"max_submit_per_account", "max_submit_per_user"}
        if allowed is not None and not overridden and now + self._tasks > allowed:
            yield plain(entry, "max_submit", (allowed, now, self._tasks))
        if strict:
            yield from self._minutes(entry, "max_tres_mins_per_job", imposed, most)
        yield from self._wall(entry, "max_wall_min", imposed, strict, most)

    # -------------------------------------------------------------- the kinds of checks

    def _jobs(self, place: Place, family: str, now: int, imposed: Imposed, of: str = "") -> Iterator[Finding]:
        allowed = getattr(place.limits, family)
        if allowed is None or family in imposed.plain:
            return
        if isinstance(place, QosEntry):
            imposed.first(family)
        if now + self._tasks > allowed:
            yield plain(place, family, (allowed, now, self._tasks), of)

    def _minutes(self, place: Place, family: str, imposed: Imposed, most: int | None) -> Iterator[Finding]:
        check, taken = self._limits.check(place, family), imposed.of(family)
        for _, name, allowed in check.limits:
            asked = self._tres.get(name, 0)
            if not asked or name in taken:
                continue
            if isinstance(place, QosEntry):
                taken.add(name)
            self._give_time(most, allowed // asked)
            if self._time is not None and self._time > allowed // asked:
                yield check.finding(name, allowed, 0, self._time * asked)

    def _wall(self, entry: Entry, family: str, imposed: Imposed, strict: bool, most: int | None) -> Iterator[Finding]:
        allowed = getattr(entry.limits, family)
        if allowed is None or family in imposed.plain or (self._time is not None and not strict):
            return
        self._give_time(most, allowed)
        if self._time is not None and self._time > allowed:
            yield plain(entry, family, (allowed, 0, self._time))

    def _give_time(self, partition_max: int | None, policy_max: int) -> None:
        """``_set_time_limit``: a job without a limit gets the policy's, and then the smallest of several."""
        if self._time is None:
            self._time, self._set = set_time(None, partition_max, policy_max), True
        elif self._set and self._time > policy_max:
            self._time = policy_max
