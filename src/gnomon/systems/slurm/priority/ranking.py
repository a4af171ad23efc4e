"""The priorities of jobs, as slurmctld keeps them: worked out at submission, and anew each PriorityCalcPeriod.

priority/basic counts down; priority/multifactor adds factors (``formula``) of age, size,
partition, QOS, fair share (:mod:`gnomon.systems.slurm.priority.fair_tree`) and resources.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from gnomon.systems.slurm.cluster.job import Job
from gnomon.systems.slurm.cluster.state import SECOND, Partition
from gnomon.systems.slurm.config.conf import Conf, PartitionConf
from gnomon.systems.slurm.config.tres_weights import tres_weights
from gnomon.systems.slurm.priority.classic import Classic
from gnomon.systems.slurm.priority.fair_tree import FairTree
from gnomon.systems.slurm.priority.formula import Basic, Factors, Lasting, Size, Standing, Weights, factors
from gnomon.systems.slurm.sbatch.request import JobRequest
from gnomon.systems.slurm.schedulers.choosing import demand_of

LEAST: Final = 2
"""The lowest priority that a change of nice gives (``_update_job`` of job_mgr.c)."""


class BasicRanking:
    """priority/basic: who comes first is first."""

    period_ns = 0

    def __init__(self, state: Any) -> None:
        self._state, self._basic = state, Basic()

    def first(self, job: Job) -> int:
        """The priority of a job that is submitted, or released."""
        return job.request.priority if job.request.priority is not None else self._basic.next(job.nice)

    def of(self, job: Job, partition: Partition) -> int:
        """The priority that counts in a partition."""
        return job.priority

    def renew(self, job: Job, before: int) -> None:
        """Its nice value is another one than ``before``: it moves by the difference, and is held no more if it was."""
        if not (job.fixed and job.priority):
            job.priority = max(job.priority + before - job.nice, LEAST)

    def fairshare(self, job: Any) -> float:
        """The factor of fair-share of a job, 0 to 1."""
        return 1.0

    def catch_up(self) -> bool:
        """Work out anew what is due; whether schedulers would go about the queue in another way now."""
        return False

    def forget(self, job: Job) -> None:
        """It waits no more."""

    def least_to_reserve(self, job: Job) -> int:
        """Below this priority a job keeps no nodes free for itself; 0: it always does."""
        own: int = self._state.tree.priority_threshold(job)
        return own or int(self._state.conf.scheduler.get("bf_min_prio_reserve", 0) or 0)


@dataclass(frozen=True, slots=True, eq=False)
class _Known:
    """What stays of a job's priority in a partition, and what it hangs on."""

    request: JobRequest
    partition: PartitionConf
    allocation: Any
    limit_min: int | None
    nice: int
    qos: str
    lasting: Lasting


class MultifactorRanking(BasicRanking):
    """priority/multifactor. The factors of a waiting job but its age and its fair share stay as they are."""

    def __init__(self, state: Any) -> None:
        super().__init__(state)
        conf, tree = state.conf, state.tree
        self.weights = weights_of(conf)
        self.period_ns = (conf.seconds("prioritycalcperiod") or 300) * SECOND
        nodes = len(conf.nodes)
        self.size = Size(nodes, sum(node.cpus for node in conf.nodes))
        self.fair: FairTree | Classic = (
            Classic(
                tree,
                dampening=float(conf.number("fairsharedampeningfactor") or 1),
                depth_oblivious="DEPTH_OBLIVIOUS" in self.weights.flags,
            )
            if self.weights.flags & {"NO_FAIR_TREE", "DEPTH_OBLIVIOUS"}
            else FairTree(tree)
        )
        self.fair.finish(state.usage.raw)
        self._periods = 0
        self._known: dict[tuple[Job, str], _Known] = {}
        self._most_part = max((one.conf.priority_job_factor for one in state.partitions.values()), default=0)

    def first(self, job: Job) -> int:
        """The priority of a job that is submitted, or released."""
        if job.request.priority is not None:
            job.fixed = True
            return job.request.priority
        self.catch_up()
        return self._work_out(job, self._state.now_s)

    def of(self, job: Job, partition: Partition) -> int:
        """The priority that counts in a partition."""
        return job.by_partition.get(partition.name, job.priority) if job.by_partition else job.priority

    def renew(self, job: Job, before: int) -> None:
        """Its nice value is another one than ``before``."""
        if job.priority and not job.fixed:
            job.priority = self._work_out(job, self._state.now_s)

    def fairshare(self, job: Any) -> float:
        """The factor of fair-share of a job, 0 to 1."""
        entry = self._state.tree.entry(job)
        return float(self.fair.factor[entry.number]) if entry is not None else 0.0

    def _work_out(self, job: Job, now_s: int) -> int:
        fairshare, accrue = self.fairshare(job), self._accrue_s(job)
        found = [self.lasting(job, name).priority(self.weights, accrue, fairshare, now_s) for name in job.partitions]
        job.by_partition = dict(zip(job.partitions, found, strict=True)) if len(found) > 1 else {}
        return max(found)

    def lasting(self, job: Job, name: str) -> Lasting:
        """What stays of its priority, worked out once for what it hangs on."""
        partition = self._state.partitions[name].conf
        known = self._known.get((job, name))
        if (
            known is None
            or known.request is not job.request
            or known.partition is not partition
            or known.allocation is not job.allocation
            or (known.limit_min, known.nice, known.qos) != (job.limit_min, job.nice, job.qos)
        ):
            lasting = Lasting.of(self.weights, self.size, self._standing(job, name))
            known = _Known(job.request, partition, job.allocation, job.limit_min, job.nice, job.qos, lasting)
            self._known[job, name] = known
        return known.lasting

    def _accrue_s(self, job: Job) -> int | None:
        accrue = job.submit_ns if "ACCRUE_ALWAYS" in self.weights.flags else job.eligible_ns
        return None if accrue == -1 else accrue // SECOND

    def factors(self, job: Job, partition: str) -> Factors:
        """The weighted factors of a job in a partition, as sprio shows them."""
        return factors(self.weights, self.size, self._standing(job, partition), self._state.now_s)

    def _standing(self, job: Job, name: str) -> Standing:
        state, weights = self._state, self.weights
        partition, entry = state.partitions[name], state.tree.entry(job)
        qos = state.tree.qos.get(job.qos)
        factor = partition.conf.priority_job_factor
        return Standing(
            accrue_s=self._accrue_s(job),
            fairshare=self.fairshare(job),
            assoc=(entry.priority_norm if weights.normal("ASSOC") else float(entry.priority)) if entry else 0.0,
            partition=(factor / self._most_part if self._most_part else 0.0) if weights.normal("PART") else factor,
            qos=(qos.priority_norm if weights.normal("QOS") else float(qos.record.priority)) if qos else 0.0,
            nodes=job.request.nodes_min or 1,
            cpus=self._cpus(job, partition),
            limit_min=job.limit_min,
            tres=self._tres(job, partition) if weights.tres else {},
            nice=job.nice,
        )

    def _cpus(self, job: Job, partition: Partition) -> int:
        if job.allocation is not None:
            return int(job.allocation.total_cpus)
        return int(self._state.selector.least_cpus(demand_of(self._state, job, partition)))

    def _tres(self, job: Job, partition: Partition) -> dict[str, float]:
        """What it asks for, as parts of what its partition has."""
        asks = self._state.selector.requested(demand_of(self._state, job, partition), partition.conf)
        if not self.weights.normal("TRES"):
            return {name: float(asks.get(name, 0)) for name in self.weights.tres}
        has = self._state.selector.capacity(partition.nodes)
        return {name: asks.get(name, 0) / has[name] if has.get(name) else 0.0 for name in self.weights.tres}

    def catch_up(self) -> bool:
        """What the decay thread does each PriorityCalcPeriod, for the periods that are over since it was done last;
        whether schedulers would go about the queue in another way now."""
        due, usage = self._state.now_ns // self.period_ns, self._state.usage
        passed = False
        while self._periods < due:
            self._periods = due if usage.is_idle else self._periods + 1
            wanted = self._periods == due or "INCR_ONLY" in self.weights.flags
            now_s = self._periods * self.period_ns // SECOND
            if wanted:
                self.fair.begin(usage.raw)
            usage.period(now_s)
            if wanted:
                self.fair.finish(usage.raw)
                passed |= self._renew_all(now_s)
        return passed

    def _renew_all(self, now_s: int) -> bool:
        """The priorities of all that wait, at a time."""
        state, passed = self._state, False
        has_thresholds = state.limits is not None or "bf_min_prio_reserve" in state.conf.scheduler
        for job in state.pending:
            if job.priority and not job.fixed:
                priority = self._work_out(job, now_s)
                if "INCR_ONLY" in self.weights.flags:
                    priority = max(priority, job.priority)
                if has_thresholds:
                    least = self.least_to_reserve(job)
                    passed |= job.priority < least <= priority or priority < least <= job.priority
                job.priority = priority
        return bool(state.line.reorder()) or passed

    def forget(self, job: Job) -> None:
        """It waits no more."""
        for name in job.partitions:
            self._known.pop((job, name), None)


def weights_of(conf: Conf) -> Weights:
    """The settings of priority/multifactor."""

    def number(key: str) -> int:
        return conf.number(key) or 0

    flags = frozenset(word.upper() for word in conf.words("priorityflags"))
    return Weights(
        age=number("priorityweightage"),
        assoc=number("priorityweightassoc"),
        fairshare=number("priorityweightfairshare"),
        jobsize=number("priorityweightjobsize"),
        partition=number("priorityweightpartition"),
        qos=number("priorityweightqos"),
        tres=tres_weights(conf.text("priorityweighttres"), conf.options, "PriorityWeightTRES"),
        max_age_s=conf.seconds("prioritymaxage") or 7 * 86_400,
        favor_small=conf.flag("priorityfavorsmall"),
        flags=flags,
    )
