"""Jobs of MapReduce as a scenario: a task for every map and reduce, on the nodes of a cluster.

A number as a cluster is that many workers with one slot each. Files lie in blocks on the nodes, with replicas where
HDFS would put them. The master of a job takes no room.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from gnomon.control.batch.plan import Batch
from gnomon.control.batch.rules import RECOVERS, NodeRule, ReportRule, Rules
from gnomon.dataflow.layout import Splits
from gnomon.dataflow.serialise import generic
from gnomon.dataflow.splits import Split
from gnomon.dataflow.stage import Graph
from gnomon.dataflow.storage import place_replicas
from gnomon.engine.streams import stream
from gnomon.formats.files import Path
from gnomon.model.cluster import Cluster, Node
from gnomon.model.errors import InputError
from gnomon.model.operation import Heartbeat, Operation
from gnomon.model.resources import NEVER, Resources
from gnomon.model.scenario import Limits, Scenario
from gnomon.model.work import Note, Shape, Task, Work
from gnomon.recovery.speculation import Gains
from gnomon.systems.mapreduce.attempts import Runner
from gnomon.systems.mapreduce.costs import Costs
from gnomon.systems.mapreduce.execution import DISK_FULL, Inputs, Place, Setup, Tasks
from gnomon.systems.mapreduce.jobs import Jobs, Part, Role, jobs_of
from gnomon.systems.mapreduce.read import Configuration, read_configuration
from gnomon.systems.mapreduce.settings import Settings

RACK = "rack"
"""The label of a node that says on which rack it is; all others are on one."""

_BEAT_NS = 10**9
"""How often a node tells that it lives (``yarn.resourcemanager.nodemanagers.heartbeat-interval-ms``)."""


@dataclass(frozen=True)
class Native:
    """What only MapReduce reads: the batch of its jobs, their parts, and what they are run with."""

    batch: Batch
    jobs: Jobs
    settings: Settings
    given: frozenset[str] = field(default_factory=frozenset)


def workers(slots: int) -> Cluster:
    """So many nodes with one slot each.

    >>> [node.name for node in workers(2).nodes]
    ['worker-1', 'worker-2']
    """
    return Cluster(tuple(Node(f"worker-{number + 1}", Resources(cpu_milli=1000)) for number in range(slots)))


def scenario_of(
    graph: Graph,
    cluster: Cluster,
    configuration: Configuration | None = None,
    *,
    splits: Splits | None = None,
    cuts: Mapping[int, Sequence[Split]] | None = None,
    costs: Costs | None = None,
    combining: bool = True,
    seed: int = 0,
    until_ns: int = NEVER,
) -> Scenario:
    """The scenario of a graph. ``splits``: the records of its text files by the number of the source, and ``cuts``
    where these lie in the files; ``combining`` off: combiners that were set are not run. Raises InputError."""
    known = configuration or Configuration(Settings())
    jobs = jobs_of(graph, known.settings, splits)
    settings, costs, cluster = _uber(jobs, known.settings, costs or Costs(), cluster, cuts or {})
    if settings is not known.settings:
        jobs = jobs_of(graph, settings, splits)
    inputs = _inputs(jobs, settings, cluster, cuts or {}, seed)
    runner = Runner(settings, costs, combining)
    batch = Batch(jobs.batch, rules_of(settings), Tasks(Setup(jobs, runner, inputs)))
    notes = [*known.notes, *(Note("not modelled", mark, "it has no meaning in MapReduce") for mark in jobs.unmodelled)]
    return Scenario(
        cluster=cluster,
        work=_rows(jobs, settings, cluster, notes),
        system="mapreduce",
        seed=seed,
        limits=Limits(until_ns=until_ns),
        gang=False,
        kill_at_limit=False,
        operation=operation_of(settings),
        native=Native(batch, jobs, settings, known.given),
    )


def read_job(
    graph: Graph,
    sources: Callable[[int], tuple[Splits, Mapping[int, Sequence[Split]]]],
    cluster: Cluster | int,
    paths: Sequence[Path],
    *,
    options: Mapping[str, object],
    seed: int = 0,
    until_ns: int = NEVER,
) -> Scenario:
    """The scenario of a job file's graph. ``sources``: its splits of so many bytes; ``paths``, ``options``: its
    configuration, ``mapred-site.xml`` and the like. Raises InputError."""
    known = read_configuration(paths, options)
    splits, cuts = sources(known.settings.split_bytes)
    nodes = workers(cluster) if isinstance(cluster, int) else cluster
    return scenario_of(graph, nodes, known, splits=splits, cuts=cuts, seed=seed, until_ns=until_ns)


def rules_of(settings: Settings) -> Rules:
    """The rules of the application master, as the batch placer has them."""
    gains = Gains(settings.scan_after_none_ns, settings.scan_after_one_ns, cap=settings.speculation)
    return Rules(
        eager=True,
        by_beat=True,
        early_e4=settings.rampup_e4,
        room_e4=settings.preemption_e4,
        copies=gains if settings.map_speculative or settings.reduce_speculative else None,
        exclusion=_exclusion(settings),
        reports=ReportRule(limits=settings.fetch_limits),
        disk_full=DISK_FULL,
        frees_disks=True,
        driver=RECOVERS,
        driver_attempts=settings.master_attempts,
    )


def _exclusion(settings: Settings) -> NodeRule | None:
    """Nodes where attempts of a job failed; a threshold of -1 is never reached."""
    percent = settings.node_ignored_percent
    rule = NodeRule(settings.node_failures, percent * 100 if percent >= 0 else NEVER)
    return rule if settings.node_exclusion else None


def operation_of(settings: Settings) -> Operation:
    """A node is lost when it has been silent for the expiry; its containers are then taken for over."""
    return Operation(detection=Heartbeat(_BEAT_NS, 0, settings.node_expiry_ns))


def _uber(
    jobs: Jobs, settings: Settings, costs: Costs, cluster: Cluster, cuts: Mapping[int, Sequence[Split]]
) -> tuple[Settings, Costs, Cluster]:
    """A job that is small enough runs in its master: one slot, no containers, no second attempt."""
    size = sum(split.length for found in cuts.values() for split in found)
    small = all(settings.is_uber(jobs.maps_of(job), jobs.reduces_of(job), size) for job in jobs.batch.jobs)
    if not small:
        return settings, costs, cluster
    alone = replace(
        settings,
        slowstart_e4=10_000,
        map_attempts=1,
        reduce_attempts=1,
        map_speculative=False,
        reduce_speculative=False,
    )
    first = cluster.nodes[0]
    one = replace(first, capacity=Resources(cpu_milli=1000, memory_bytes=first.capacity.memory_bytes))
    return alone, replace(costs, machine=replace(costs.machine, start_ns=0)), replace(cluster, nodes=(one,))


def _rows(jobs: Jobs, settings: Settings, cluster: Cluster, notes: Sequence[Note]) -> Work:
    """A row for every task, by Hadoop's numbers: job, m or r, number in the job."""
    memory = all(node.capacity.memory_bytes for node in cluster.nodes)
    shapes = {role: Shape(_asked(settings, role, memory=memory)) for role in Role}
    for role in {part.role for part in jobs.parts if part.tasks}:
        _check_room(role, shapes[role].request, cluster)
    rows, counted = [], dict[tuple[int, Role], int]()
    for _, stage, _ in jobs.batch.rows():
        part = jobs.parts[stage.number]
        number = counted.get((part.job, part.role), 0)
        counted[part.job, part.role] = number + 1
        name = jobs.batch.jobs[part.job].name
        task = f"{part.job + 1:04d}_{part.role[0]}_{number:06d}"
        rows.append(Task(task, shapes[part.role], submit_ns=NEVER, duration_ns=NEVER, job=name))
    return replace(Work.from_tasks(rows), notes=tuple(notes))


def _check_room(role: Role, asked: Resources, cluster: Cluster) -> None:
    """Raise InputError where no node has room for a container: MRAppMaster would kill such a job ("capability required
    is more than the supported max container capability in the cluster")."""
    for what, want, most, unit in (
        ("memory.mb", asked.memory_bytes, max(node.capacity.memory_bytes for node in cluster.nodes), 2**20),
        ("cpu.vcores", asked.cpu_milli, max(node.capacity.cpu_milli for node in cluster.nodes), 1000),
    ):
        if want > most:
            problem = f"no node has room for a {role}: the job would be killed"
            option = f"mapreduce.{role}.{what}"
            raise InputError(problem, field=option, found=want // unit, allowed=f"at most {most // unit}")


def _asked(settings: Settings, role: Role, *, memory: bool) -> Resources:
    asked = settings.container(reduce=role is Role.REDUCE)
    return asked if memory else Resources(cpu_milli=asked.cpu_milli)


def _inputs(jobs: Jobs, settings: Settings, cluster: Cluster, cuts: Mapping[int, Sequence[Split]], seed: int) -> Inputs:
    """How much each map reads, and which nodes have it."""
    size: dict[Place, int] = {}
    hosts: dict[Place, tuple[int, ...]] = {}
    splits: dict[Place, str] = {}
    blocks = _Blocks(settings, cluster, seed)
    for part in jobs.parts:
        if part.role is not Role.MAP or part.identity:
            continue
        for task in range(part.tasks):
            read = part.source.splits(task)
            size[part.number, task] = sum(_size(part, source, index, cuts) for source, index in read)
            said = [cuts[source][index] for source, index in read if source in cuts]
            if said:
                splits[part.number, task] = ", ".join(f"{one.file}:{one.offset}+{one.length}" for one in said)
            near = [blocks.of(cuts[source][index]) for source, index in read if source in cuts]
            if near:
                hosts[part.number, task] = near[0]
    return Inputs(size, hosts, splits)


def _size(part: Part, source: int, index: int, cuts: Mapping[int, Sequence[Split]]) -> int:
    """The bytes of a split; of a source whose records stand in the job, as lines of a file would be."""
    if source in cuts:
        return cuts[source][index].length
    return sum(map(generic, part.source.layout.stages[source].data[index]))


class _Blocks:
    """Where blocks lie: drawn once for each block of each file."""

    def __init__(self, settings: Settings, cluster: Cluster, seed: int) -> None:
        self._settings = settings
        self._draws = stream(seed, "blocks")
        self._racks = {str(number): dict(node.labels).get(RACK, "") for number, node in enumerate(cluster.nodes)}
        self._held: dict[tuple[str, int], tuple[int, ...]] = {}

    def of(self, split: Split) -> tuple[int, ...]:
        """The nodes (of the cluster) that have the first block of a split."""
        block = split.offset // self._settings.block_bytes
        if not split.length:
            return ()
        if (split.file, block) not in self._held:
            nodes = place_replicas(
                self._racks, None, lambda n: int(self._draws.integers(n)), replicas=self._settings.replication
            )
            self._held[split.file, block] = tuple(int(node) for node in nodes)
        return self._held[split.file, block]
