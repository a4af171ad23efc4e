"""Spark's rules, as a composition of :mod:`gnomon.control.batch` from its options.

Defaults are those of the configuration registry of 4.3.0 (:mod:`gnomon.systems.spark.conf`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from gnomon.control.batch.rules import AGAIN, FAILS, AllocationRule, ExclusionRule, LocalityRule, Rules
from gnomon.model.errors import InputError
from gnomon.model.operation import Enforcement, Heartbeat, Operation
from gnomon.model.resources import E4, NEVER
from gnomon.recovery.speculation import SlowTasks
from gnomon.scheduling.pools import DEFAULT, FAIR, FIFO, Pool
from gnomon.systems.spark.adaptive import Adaptive
from gnomon.systems.spark.conf import Conf
from gnomon.systems.spark.delays import MS, RESULT_MS, STAGE_MS

RESUBMIT_MS: Final = 200
"""How long failed stages wait (``DAGScheduler.RESUBMIT_TIMEOUT``)."""


DISK_FULL: Final = "java.io.IOException: No space left on device"
"""What an attempt says that cannot write its shuffle file."""

LOOK_NS: Final = 60_000 * MS
"""How often the driver looks for executors that are silent (``spark.network.timeoutInterval``)."""


def rules_of(
    conf: Conf, pools: Sequence[Pool] | None = None, *, result_ms: int = RESULT_MS, stage_ms: int = STAGE_MS
) -> Rules:
    """The rules of options. ``pools``: those of the allocation file; the delays of the driver, as a log shows them.
    Raises InputError for values that are none."""
    mode = conf.text("spark.scheduler.mode").upper()
    if mode not in (FIFO, FAIR):
        raise InputError("no such mode", field="spark.scheduler.mode", found=mode, allowed=f"{FIFO}, {FAIR}")
    return Rules(
        mode=mode,
        pools=pools_of(pools, conf.version),
        result_ns=result_ms * MS,
        stage_ns=stage_ms * MS,
        max_failures=conf.whole("spark.task.maxFailures"),
        max_stage_attempts=conf.whole("spark.stage.maxConsecutiveAttempts"),
        resubmit_ns=RESUBMIT_MS * MS,
        fetch_fails_ns=conf.whole("spark.shuffle.io.maxRetries") * conf.time_ns("spark.shuffle.io.retryWait"),
        outputs_survive=conf.truth("spark.shuffle.service.enabled"),
        disk_full=DISK_FULL,
        driver=AGAIN if conf.truth("spark.driver.supervise") else FAILS,
        driver_attempts=NEVER,
        locality=_locality(conf),
        copies=_copies(conf) if conf.truth("spark.speculation") else None,
        exclusion=_exclusion(conf) if conf.truth("spark.excludeOnFailure.enabled") else None,
        allocation=_allocation(conf) if conf.truth("spark.dynamicAllocation.enabled") else None,
    )


def pools_of(declared: Sequence[Pool] | None, version: str = "") -> Mapping[str, Pool]:
    """The pools of FAIR mode by name. ``declared``: those of the allocation file, None: there is none. Then all jobs
    are in the pool ``default``, which from 4.0 on is fair inside (seen in 4.3.0), and was FIFO before.

    >>> pools_of(None, "4.3.0")["default"].mode, pools_of(None, "3.5.1"), pools_of([], "4.3.0")
    ('FAIR', {}, {})
    """
    if declared is not None:
        return {pool.name: pool for pool in declared}
    return {DEFAULT: Pool(DEFAULT, mode=FAIR)} if major(version) >= 4 else {}


def major(version: str) -> int:
    """The first number of a version; of none, that of the version that is modelled.

    >>> major("3.5.1"), major("")
    (3, 4)
    """
    first = version.partition(".")[0]
    return int(first) if first.isdigit() else 4


def adaptive_of(conf: Conf, slots: int) -> Adaptive | None:
    """How small partitions are joined, where that is said: jobs in Python are made of RDDs, of which adaptive execution
    knows nothing by itself."""
    name = "spark.sql.adaptive."
    joins = conf.truth(f"{name}enabled") and conf.truth(f"{name}coalescePartitions.enabled")
    if not conf.is_set(f"{name}enabled") or not joins:
        return None
    return Adaptive(
        conf.size(f"{name}advisoryPartitionSizeInBytes", "b"),
        conf.size(f"{name}coalescePartitions.minPartitionSize", "b"),
        slots if conf.truth(f"{name}coalescePartitions.parallelismFirst") else 1,
    )


def _locality(conf: Conf) -> LocalityRule:
    waits = [
        conf.time_ns(name if conf.is_set(name) else "spark.locality.wait", "ms")
        for name in ("spark.locality.wait.process", "spark.locality.wait.node", "spark.locality.wait.rack")
    ]
    process, node, rack = waits
    return LocalityRule(process, node, rack, offers_ns=conf.time_ns("spark.scheduler.revive.interval"))


def _copies(conf: Conf) -> SlowTasks:
    threshold = "spark.speculation.task.duration.threshold"
    efficient = conf.truth("spark.speculation.efficiency.enabled") and _knows_efficiency(conf.version)
    return SlowTasks(
        check_ns=conf.time_ns("spark.speculation.interval", "ms"),
        multiplier_e4=conf.part_e4("spark.speculation.multiplier"),
        quantile_e4=conf.part_e4("spark.speculation.quantile"),
        least_ns=conf.time_ns("spark.speculation.minTaskRuntime", "ms"),
        long_e4=conf.part_e4("spark.speculation.efficiency.longRunTaskFactor") if efficient else 0,
        rate_e4=conf.part_e4("spark.speculation.efficiency.processRateMultiplier"),
        threshold_ns=conf.time_ns(threshold, "ms") if conf.is_set(threshold) else NEVER,
    )


def _knows_efficiency(version: str) -> bool:
    """Whether a version looks at how fast a task reads: since 3.4.

    >>> [_knows_efficiency(version) for version in ("", "4.3.0", "3.4.1", "3.3.2", "2.4.8")]
    [True, True, True, False, False]
    """
    parts = version.split(".")
    if len(parts) < 2 or not (parts[0].isdigit() and parts[1].isdigit()):
        return True
    return (int(parts[0]), int(parts[1])) >= (3, 4)


def _exclusion(conf: Conf) -> ExclusionRule:
    name = "spark.excludeOnFailure."
    return ExclusionRule(
        task_node=conf.whole(f"{name}task.maxTaskAttemptsPerExecutor"),
        task_host=conf.whole(f"{name}task.maxTaskAttemptsPerNode"),
        set_node=conf.whole(f"{name}stage.maxFailedTasksPerExecutor"),
        set_host=conf.whole(f"{name}stage.maxFailedExecutorsPerNode"),
        all_node=conf.whole(f"{name}application.maxFailedTasksPerExecutor"),
        all_host=conf.whole(f"{name}application.maxFailedExecutorsPerNode"),
        timeout_ns=conf.time_ns(f"{name}timeout", "ms"),
        unschedulable_ns=conf.time_ns("spark.scheduler.excludeOnFailure.unschedulableTaskSetTimeout"),
    )


def _allocation(conf: Conf) -> AllocationRule:
    name = "spark.dynamicAllocation."
    least = conf.whole(f"{name}minExecutors")
    backlog = conf.time_ns(f"{name}schedulerBacklogTimeout")
    sustained = f"{name}sustainedSchedulerBacklogTimeout"
    tracking = f"{name}shuffleTracking"
    asked = [least]
    for option in (f"{name}initialExecutors", "spark.executor.instances"):
        asked += [conf.whole(option)] if conf.is_set(option) else []
    return AllocationRule(
        least=least,
        initial=max(asked),
        most=conf.positive(f"{name}maxExecutors"),
        backlog_ns=backlog,
        sustained_ns=conf.time_ns(sustained) if conf.is_set(sustained) else backlog,
        idle_ns=conf.time_ns(f"{name}executorIdleTimeout"),
        ratio_e4=min(conf.part_e4(f"{name}executorAllocationRatio"), E4),
        keeps_outputs=conf.truth(f"{tracking}.enabled"),
        outputs_ns=conf.time_ns(f"{tracking}.timeout", "ms") if conf.is_set(f"{tracking}.timeout") else NEVER,
    )


def operation_of(conf: Conf) -> Operation:
    """How executors that fall silent are noticed: the driver looks every minute who has not been heard of for
    ``spark.network.timeout`` (HeartbeatReceiver). One whose process alone ends is noticed at once, by its connection:
    that is a reboot, not a crash, of its node."""
    name = "spark.executor.heartbeatInterval"
    beat, timeout = conf.time_ns(name, "ms"), conf.time_ns("spark.network.timeout")
    if beat >= timeout:
        allowed = f"less than spark.network.timeout, {conf.text('spark.network.timeout')}"
        raise InputError("executors would be taken for lost", field=name, found=conf.text(name), allowed=allowed)
    detection = Heartbeat(beat_ns=beat, check_ns=LOOK_NS, grace_ns=timeout)
    return Operation(detection=detection, enforcement=Enforcement(cpu="none", memory="none"))
