"""Spark's event logs, and jobs in Python, as scenarios: a cluster of executors, and a task for every partition.

A number as a cluster is so many slots on one executor, as the master ``local[number]`` has them.
``spark-defaults.conf`` and ``fairscheduler.xml`` say what differs from the defaults, or from what a log was recorded
with.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from gnomon.control.batch.plan import Batch, BatchPlan, Execution, StagePlan
from gnomon.control.batch.rules import Rules
from gnomon.dataflow import layout
from gnomon.dataflow.cost import Cost
from gnomon.dataflow.plan import cut
from gnomon.dataflow.splits import Split
from gnomon.dataflow.stage import Graph
from gnomon.formats.files import Path, by_kind, read_start
from gnomon.model.cluster import Cluster, Node
from gnomon.model.errors import InputError
from gnomon.model.operation import Operation
from gnomon.model.resources import NEVER, Resources
from gnomon.model.scenario import Limits, Scenario
from gnomon.model.work import IntArray, Note, Shape, Work
from gnomon.scheduling.pools import FAIR, Pool
from gnomon.systems.spark.allocations import read_allocations
from gnomon.systems.spark.application import Application
from gnomon.systems.spark.conf import Conf, options_of, read_conf, recorded
from gnomon.systems.spark.delays import MS
from gnomon.systems.spark.execution import Tasks, plan_of
from gnomon.systems.spark.memory import memory_of
from gnomon.systems.spark.profile import adaptive_of, operation_of, rules_of
from gnomon.systems.spark.read import read_event_log
from gnomon.systems.spark.read_lines import is_log_folder
from gnomon.systems.spark.replay import replay

SLOTS_MAX: Final = 1_000_000


@dataclass(frozen=True)
class Settings:
    """What is said beside the work. ``pools``: those of the allocation file, None: there is none; ``given``: options
    that were said, and not only recorded."""

    conf: Conf = field(default_factory=Conf)
    pools: tuple[Pool, ...] | None = None
    notes: tuple[Note, ...] = ()
    given: bool = False


def read_scenario(
    paths: Path | Sequence[Path],
    *,
    cluster: Cluster | int | None = None,
    options: Mapping[str, object] | None = None,
    seed: int = 0,
    until_ns: int = NEVER,
    name: str = "",
) -> Scenario:
    """The scenario of an event log, with ``spark-defaults.conf`` and ``fairscheduler.xml`` where they are given.

    ``cluster``: slots, or executors as nodes; None: as recorded, or as the options say; ``options``: over those of the
    log and of files. Raises InputError.
    """
    held = _sorted_out(paths)
    settings = _settings(held, options or {})
    if LOG not in held:
        raise InputError("there is no work", field="work", allowed="an event log, or a job in Python")
    nodes = slots(cluster) if isinstance(cluster, int) else cluster
    scenario = of_log(read_event_log(held[LOG][0]), nodes, settings)
    return replace(scenario, limits=Limits(until_ns=until_ns), seed=seed, name=name, source=held[LOG][0])


def read_job(
    graph: Graph,
    sources: Callable[[int], tuple[layout.Splits, Mapping[int, Sequence[Split]]]],
    cluster: Cluster | int | None,
    paths: Sequence[Path],
    *,
    options: Mapping[str, object],
    seed: int = 0,
    until_ns: int = NEVER,
) -> Scenario:
    """The scenario of a job in Python. ``sources``: its text files in splits of so many bytes; ``paths``, ``options``:
    its configuration. Raises InputError."""
    held = _sorted_out(paths)
    if LOG in held:
        raise InputError("a log and a job are not run together", file=held[LOG][0], allowed="one of them")
    settings = _settings(held, options)
    nodes = slots(cluster) if isinstance(cluster, int) else cluster
    splits, cuts = sources(BLOCK_BYTES)
    total = sum(split.length for found in cuts.values() for split in found)
    if total < LEAST_SPLITS * BLOCK_BYTES:
        splits, _ = sources(max(total // LEAST_SPLITS, 1))
    scenario = of_job(graph, nodes, settings, splits=splits)
    return replace(scenario, limits=Limits(until_ns=until_ns), seed=seed)


BLOCK_BYTES: Final = 32 * 2**20
"""How a file on a local disk is cut at the most (``fs.local.block.size`` of Hadoop)."""
LEAST_SPLITS: Final = 2
"""``SparkContext.defaultMinPartitions`` with two slots or more."""


def _sorted_out(paths: Path | Sequence[Path]) -> dict[str, list[str]]:
    """Files by their kind, of each one at most."""
    held = by_kind(paths, kind_of)
    for kind, found in held.items():
        if len(found) > 1:
            raise InputError(f"more than one {kind}", found=", ".join(found), allowed="one")
    return held


LOG: Final = "event log"
CONF: Final = "spark-defaults.conf"
POOLS: Final = "fairscheduler.xml"


def kind_of(path: str) -> str:
    """What a file of Spark is."""
    if is_log_folder(path):
        return LOG
    start = read_start(path).lstrip("\ufeff \t\r\n")
    if start.startswith("{"):
        return LOG
    return POOLS if start.startswith("<") else CONF


def _settings(held: Mapping[str, Sequence[str]], said: Mapping[str, object]) -> Settings:
    conf = read_conf(held[CONF][0]) if CONF in held else Conf()
    conf = conf.merged(options_of(said))
    pools, notes = read_allocations(held[POOLS][0]) if POOLS in held else (None, [])
    return Settings(conf, None if pools is None else tuple(pools), (*conf.notes(), *notes), given=bool(conf.said))


def of_log(application: Application, cluster: Cluster | None = None, settings: Settings | None = None) -> Scenario:
    """The run of a log again: on its own executors or others, with its own options or others."""
    settings = settings or Settings()
    conf = replace(recorded(application).merged(settings.conf.said), source=settings.conf.source)
    asked = _executors(conf) if settings.given and not (cluster or _local(settings.conf)) else None
    nodes = cluster or _local(settings.conf) or asked or recorded_cluster(application)
    again = replay(application, exact=_cores(nodes) == _cores(recorded_cluster(application)))
    pools, unknown = _pools(conf, settings)
    rules = rules_of(conf, pools, result_ms=again.delays.result, stage_ms=again.delays.stage)
    work = work_of(
        again.plan,
        task_cpus=conf.whole("spark.task.cpus"),
        lengths_ms=again.execution.length_ms,
        notes=(*again.notes, *_log_notes(settings, sized=asked is not None), *unknown),
        source=application.source,
    )
    _check_room(nodes, conf)
    return scenario_of(again.plan, rules, again.execution, nodes, work=work, operation=operation_of(conf))


_OF_PLANS: Final = ("spark.default.parallelism", "spark.sql.shuffle.partitions", "spark.sql.adaptive.")
"""Options that decide on partitions before a stage runs: what a log says of its tasks is the outcome."""


_UNSIZED: Final = "the executors are those of the cluster: say spark.executor.instances, and no other cluster"


def _log_notes(settings: Settings, *, sized: bool) -> Iterator[Note]:
    """What of the settings the run of a log does not heed. ``sized``: its executors are those that options ask for."""
    told = {note.field: note for note in settings.notes}
    for name in settings.conf.said:
        if name.startswith(_OF_PLANS):
            text = "the stages of a log keep their partitions; explain stage/N tries more and fewer, and AQE"
            told[name] = Note("not modelled", name, text)
    for name in ("spark.executor.cores", "spark.executor.instances"):
        if settings.conf.is_set(name) and not sized:
            told[name] = Note("not modelled", name, _UNSIZED)
    yield from told.values()


def _pools(conf: Conf, settings: Settings) -> tuple[tuple[Pool, ...] | None, list[Note]]:
    """The pools of FAIR mode; those of a file that a log only names are not known, and have the values of undeclared
    ones."""
    name = "spark.scheduler.allocation.file"
    if settings.pools is not None or not conf.is_set(name) or conf.text("spark.scheduler.mode").upper() != FAIR:
        return settings.pools, []
    return (), [Note("not modelled", name, "its pools are not in the log: say `pools: FILE`")]


def of_job(
    job: Graph,
    cluster: Cluster | None,
    settings: Settings | None = None,
    *,
    splits: layout.Splits | None = None,
    cost: Cost | None = None,
) -> Scenario:
    """A job in Python on executors: those given, or as ``spark.executor.instances`` and ``cores`` say."""
    settings = settings or Settings()
    conf = settings.conf
    nodes = cluster or _local(conf) or _executors(conf)
    if nodes is None:
        allowed = "a number of slots, nodes, or spark.executor.instances"
        raise InputError("the cluster is missing", field="cluster", allowed=allowed)
    parallelism = "spark.default.parallelism"
    partitions = conf.whole(parallelism) if conf.is_set(parallelism) else None
    planned = cut(job, layout.Rules(partitions=partitions, cuts=True), splits)
    plan = plan_of(planned)
    work = work_of(plan, task_cpus=conf.whole("spark.task.cpus"), notes=settings.notes)
    _check_room(nodes, conf)
    rules = rules_of(conf, settings.pools)
    at_a_time = _cores(nodes) // conf.whole("spark.task.cpus")
    tasks = Tasks(planned, cost or Cost(), adaptive_of(conf, at_a_time), memory_of(conf).unified)
    return scenario_of(plan, rules, tasks, nodes, work=work, operation=operation_of(conf))


# ---------------------------------------------------------------------- clusters


def slots(number: int) -> Cluster:
    """So many slots on one executor. Raises InputError for a number that is none."""
    if not 1 <= number <= SLOTS_MAX:
        raise InputError("not a number of slots", field="cluster", found=number, allowed=f"1 to {SLOTS_MAX:,}")
    return Cluster((Node("driver", Resources(cpu_milli=1000 * number)),))


_LOCAL: Final = re.compile(r"local(?:\[(\d{1,7})(?:,\d+)?\])?")


def _local(conf: Conf) -> Cluster | None:
    """The slots of a master ``local``, ``local[4]`` or ``local[4,2]`` (``SparkMasterRegex``); None for any other."""
    found = _LOCAL.fullmatch(conf.text("spark.master").replace(" ", ""))
    return slots(int(found[1] or 1)) if found else None


def recorded_cluster(application: Application) -> Cluster:
    """The executors of a log, each with its cores, on its host. Raises InputError for a log without any."""
    nodes = tuple(
        Node(one.id, Resources(cpu_milli=1000 * one.cores), labels=(("host", one.host),))
        for one in application.executors.values()
        if one.cores
    )
    if not nodes:
        allowed = "a number of slots, or nodes"
        raise InputError(
            "the log tells of no executor", file=application.source or None, field="cluster", allowed=allowed
        )
    return Cluster(nodes)


def _executors(conf: Conf) -> Cluster | None:
    """The executors that options ask for, None if they do not say how many."""
    most = "spark.dynamicAllocation.maxExecutors"
    count = conf.whole("spark.executor.instances") if conf.is_set("spark.executor.instances") else 0
    if conf.truth("spark.dynamicAllocation.enabled") and conf.is_set(most):
        count = max(count, conf.positive(most))
    if not count:
        return None
    cores = conf.whole("spark.executor.cores")
    if not 1 <= count <= SLOTS_MAX or not 1 <= cores <= SLOTS_MAX:
        field = "spark.executor.instances"
        raise InputError("not a number of executors", field=field, found=count, allowed=f"1 to {SLOTS_MAX:,}")
    return Cluster(tuple(Node(f"executor-{n}", Resources(cpu_milli=1000 * cores)) for n in range(1, count + 1)))


def _cores(cluster: Cluster) -> int:
    return sum(node.capacity.cpu_milli for node in cluster.nodes) // 1000


def _check_room(cluster: Cluster, conf: Conf) -> None:
    """Raise InputError where no executor has the cores for one task, as Spark refuses to start then."""
    cpus, most = conf.whole("spark.task.cpus"), max((node.capacity.cpu_milli for node in cluster.nodes), default=0)
    if cpus < 1 or most < 1000 * cpus:
        allowed = f"1 to {most // 1000}, the cores of an executor"
        file, field = conf.source or None, "spark.task.cpus"
        raise InputError("no executor has room for a task", file=file, field=field, found=cpus, allowed=allowed)


# ---------------------------------------------------------------------- tasks


def work_of(
    plan: BatchPlan,
    *,
    task_cpus: int = 1,
    lengths_ms: Mapping[int, Sequence[int]] | None = None,
    notes: Sequence[Note] = (),
    source: str = "",
) -> Work:
    """A row for every partition of every stage: ``STAGE.PARTITION``; its job is the first that needs it.
    ``lengths_ms``: how long tasks take, by stage, where that is known before they start."""
    rows = list(plan.rows())
    job_of: dict[int, int] = {}
    for number, job in sorted(plan.jobs.items()):
        for stage in plan.ancestors(job.result):
            job_of.setdefault(stage, number)
    place = {number: at for at, number in enumerate(sorted(plan.jobs))}
    pools = tuple(sorted({job.pool for job in plan.jobs.values()})) or ("",)
    job_at = np.array([place[job_of[stage.number]] for _, stage, _ in rows], np.int64)
    pool_of = np.array([pools.index(plan.jobs[number].pool) for number in sorted(plan.jobs)], np.int64)
    count = len(rows)
    never, zero = np.full(count, NEVER), np.zeros(count, np.int64)
    return Work(
        ids=[f"{stage.number}.{partition}" for _, stage, partition in rows],
        shapes=(Shape(Resources(cpu_milli=1000 * task_cpus)),),
        shape=zero,
        submit_ns=never,
        duration_ns=never.copy() if lengths_ms is None else _lengths(rows, lengths_ms),
        estimate_ns=never.copy(),
        users=("",),
        user=zero.copy(),
        queues=pools,
        queue=pool_of[job_at] if count else zero.copy(),
        priority=zero.copy(),
        deadline_ns=never.copy(),
        job=job_at,
        jobs=tuple(f"job {number}" for number in sorted(plan.jobs)),
        recorded_wait_ns=np.full(count, -1, np.int64),
        usable=np.ones(count, np.bool_),
        notes=tuple(notes),
        source=source,
    )


def _lengths(rows: Sequence[tuple[int, StagePlan, int]], lengths_ms: Mapping[int, Sequence[int]]) -> IntArray:
    return np.array([lengths_ms[stage.number][partition] * MS for _, stage, partition in rows], np.int64)


def scenario_of(
    plan: BatchPlan,
    rules: Rules,
    execution: Execution,
    cluster: Cluster,
    *,
    work: Work,
    seed: int = 0,
    operation: Operation | None = None,
) -> Scenario:
    """The scenario in which the shared world runs jobs by Spark's rules."""
    return Scenario(
        cluster=cluster,
        work=work,
        system="spark",
        seed=seed,
        gang=False,
        kill_at_limit=False,
        operation=operation or Operation(),
        native=Batch(plan, rules, execution),
    )
