"""What a job asks, resolved against the configuration and its partition, as one row of numbers.

Source: ``src/common/slurm_opt.c``, ``_figure_out_num_tasks``, ``_valid_pn_min_mem`` and
``_copy_job_desc_to_job_record`` of ``src/slurmctld/job_mgr.c``, ``_resolve_shared_status`` and ``_get_req_features`` of
``node_scheduler.c``, ``gres_select_util.c`` (22.05 to 25.05).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from gnomon.systems.slurm.config.conf import Conf, PartitionConf
from gnomon.systems.slurm.sbatch.request import JobRequest
from gnomon.systems.slurm.select import ask, rule
from gnomon.systems.slurm.select.columns import ANY_COUNT, REQUESTS
from gnomon.systems.slurm.select.gres_demand import Wanted, wanted_of
from gnomon.systems.slurm.select.hardware import Names, is_linear, option, parameters, sharing_of, unit_of

MOST_NODES = 500_000
"""``max_nodes`` of ``select_nodes``."""


@dataclass(frozen=True)
class Demand:
    """What a job asks. ``value`` and ``gres``: rows of :class:`~gnomon.systems.slurm.select.columns.Demands`;
    ``unit``: what is given out in its partition and whether memory counts; ``unknown_gres``: it asks for a kind or type
    that no node has; ``too_much_memory``: more than MaxMemPerNode or MaxMemPerCPU can ever give; ``tmp_mb``: ``--tmp``.
    """

    value: tuple[int, ...]
    gres: tuple[tuple[int, ...], ...]
    unit: tuple[int, bool]
    unknown_gres: bool = False
    too_much_memory: bool = False
    tmp_mb: int = 0

    def __getitem__(self, place: int) -> int:
        """One of the numbers of :mod:`~gnomon.systems.slurm.select.ask`."""
        return self.value[place]


@dataclass
class _Shape:
    """The numbers while they are worked out."""

    nodes: int
    most_nodes: int
    tasks: int
    each: int
    min_cpus: int
    node_cpus: int
    memory: int
    per_cpu: bool
    too_much: bool = False


def demand_of(request: JobRequest, partition: PartitionConf, conf: Conf, names: Names) -> Demand:
    """The demand of a request in a partition."""
    shape = _counts(request)
    wanted = wanted_of(request, partition, conf, tasks=shape.tasks)
    _memory(shape, request, partition, conf)
    if any(one.memory or one.default_memory for one in wanted) and not _says_memory(request):
        shape.memory, shape.per_cpu = -1, False
    value = _values(shape, request, partition, conf, names)
    _gres_values(value, wanted, shape)
    return Demand(
        tuple(value),
        tuple(one.row(names) for one in wanted[:REQUESTS]),
        unit_of(parameters(conf, partition)),
        any(one.is_unknown(names) for one in wanted) or len(wanted) > REQUESTS,
        shape.too_much,
        request.tmp_mb,
    )


def with_switches_waited(demand: Demand) -> Demand:
    """The same after the wait for few switches is over."""
    value = list(demand.value)
    value[ask.WAITED] = 1
    return replace(demand, value=tuple(value))


def with_most_nodes(demand: Demand, nodes: int) -> Demand:
    """The same with so many nodes at most (``acct_policy_get_max_nodes`` in ``select_nodes``)."""
    value = list(demand.value)
    value[ask.MOST_NODES] = min(value[ask.MOST_NODES], nodes)
    value[ask.REQ_NODES] = min(value[ask.REQ_NODES], max(nodes, value[ask.MIN_NODES]))
    return replace(demand, value=tuple(value))


def _counts(request: JobRequest) -> _Shape:
    """Nodes, tasks and CPUs: a job of fewer tasks than nodes gets so many nodes."""
    nodes = request.nodes_min or len(request.node_list) or 1
    most = request.nodes_max or 0
    tasks = request.tasks or 0
    if tasks and request.nodes_min and tasks < nodes:
        nodes = tasks
        most = min(most, max(tasks, nodes)) if most else 0
    if not tasks and request.tasks_per_node:
        tasks = nodes * request.tasks_per_node
    elif not tasks and request.tasks_per_gpu:
        gpus = sum(one.count for one in request.gpus) or nodes * sum(
            one.count for one in (*request.gpus_per_node, *request.gres) if one.name == "gpu"
        )
        tasks = gpus * request.tasks_per_gpu
    if request.spread and not most and tasks:
        most = max(tasks, nodes)
    each = max(1, request.cpus_per_task or 1)
    cpus = nodes if request.overcommit else (tasks or nodes) * each
    least = max(1, request.min_cpus_per_node or 1)
    if request.cpus_per_task and not request.overcommit:
        least = max(least, each)
    if request.tasks_per_node and not request.overcommit and tasks > 1:
        least = max(least, request.tasks_per_node * each)
    cpus = max(cpus, getattr(request, "cpus_min", 1))
    return _Shape(nodes, most, tasks, each, cpus, least, 0, False)


def _says_memory(request: JobRequest) -> bool:
    return request.mem_per_cpu_mb is not None or request.mem_per_node_mb is not None


def _limit(partition_value: int | None, conf: Conf, key: str) -> int:
    if partition_value is not None:
        return partition_value
    text = option(conf, key, "0")
    return int(text) if text.isdigit() else 0


def _memory(shape: _Shape, request: JobRequest, partition: PartitionConf, conf: Conf) -> None:
    """Memory as asked, else by default; more than MaxMemPerCPU for a CPU makes more CPUs."""
    if request.mem_per_cpu_mb is not None:
        shape.memory, shape.per_cpu = request.mem_per_cpu_mb, request.mem_per_cpu_mb > 0
    elif request.mem_per_node_mb is not None:
        shape.memory = request.mem_per_node_mb
    elif partition.def_mem_per_cpu_mb is not None or partition.def_mem_per_node_mb is not None:
        shape.per_cpu = partition.def_mem_per_cpu_mb is not None
        shape.memory = partition.def_mem_per_cpu_mb or partition.def_mem_per_node_mb or 0
    elif per_cpu := _limit(None, conf, "defmempercpu"):
        shape.memory, shape.per_cpu = per_cpu, True
    else:
        shape.memory = _limit(None, conf, "defmempernode")
    shape.per_cpu = shape.per_cpu and shape.memory > 0
    _limit_memory(shape, request, partition, conf)


def _limit_memory(shape: _Shape, request: JobRequest, partition: PartitionConf, conf: Conf) -> None:
    own = partition.max_mem_per_cpu_mb is not None or partition.max_mem_per_node_mb is not None
    per_cpu = _limit(partition.max_mem_per_cpu_mb, conf, "maxmempercpu" if not own else "")
    per_node = _limit(partition.max_mem_per_node_mb, conf, "maxmempernode" if not own else "")
    if shape.memory == 0:
        return
    if per_cpu and shape.per_cpu and shape.memory > per_cpu:
        times = -(-shape.memory // per_cpu)
        shape.each *= times
        shape.memory = -(-shape.memory // times)
        shape.min_cpus = max(shape.min_cpus, shape.tasks * shape.each) if shape.tasks else shape.min_cpus * times
    elif per_cpu and not shape.per_cpu:
        shape.node_cpus = max(shape.node_cpus, -(-shape.memory // per_cpu))
    elif per_node:
        cpus = max(shape.node_cpus, (request.tasks_per_node or 1) * shape.each) if shape.per_cpu else 1
        shape.too_much = shape.memory * cpus > per_node


def _threads(request: JobRequest) -> int:
    if request.threads_per_core is not None:
        return request.threads_per_core
    return 1 if request.hint in ("nomultithread", "compute_bound", "memory_bound") else -1


def _cores_distribution(text: str) -> tuple[int, int]:
    """How sockets are filled (1 one after the other, 0 in turn, -1 not said) and the size of a plane.

    >>> [_cores_distribution(text) for text in ("block:block", "cyclic:fcyclic", "plane=4", "")]
    [(1, 0), (0, 0), (1, 4), (-1, 0)]
    """
    parts = text.lower().split(",")[0].split(":")
    if parts[0].startswith("plane"):
        _, _, size = parts[0].partition("=")
        return 1, int(size) if size.isdigit() else 0
    if len(parts) > 1 and parts[1] in ("block", "cyclic", "fcyclic"):
        return int(parts[1] == "block"), 0
    return -1, 0


def _is_forced(partition: PartitionConf) -> bool:
    """Whether all jobs of a partition share, whatever they ask (``_resolve_shared_status`` of node_scheduler.c)."""
    return partition.oversubscribe == "FORCE" and sharing_of(partition) > 1


def _share(request: JobRequest, partition: PartitionConf) -> int:
    if partition.oversubscribe == "EXCLUSIVE":
        return rule.RESERVED
    rows = sharing_of(partition)
    if partition.oversubscribe == "FORCE" or (rows > 1 and request.oversubscribe):
        return rule.AVAILABLE
    return rule.ONE_ROW


def _values(shape: _Shape, request: JobRequest, partition: PartitionConf, conf: Conf, names: Names) -> list[int]:
    words = parameters(conf, partition)
    least = max(shape.nodes, partition.min_nodes)
    most = min(shape.most_nodes or MOST_NODES, partition.max_nodes or MOST_NODES, MOST_NODES)
    whole = request.exclusive == "node" or partition.oversubscribe == "EXCLUSIVE" or bool(request.core_spec)
    per_core = request.tasks_per_core or (1 if "cr_one_task_per_core" in words else 0)
    by_socket, plane = _cores_distribution(request.distribution)
    value = [0] * ask.COUNT
    for place, number in (
        (ask.PARTITION, names.partitions[partition.name]),
        (ask.MIN_NODES, least),
        (ask.MAX_NODES, shape.most_nodes),
        (ask.MOST_NODES, most),
        (ask.REQ_NODES, most if shape.most_nodes and not request.use_min_nodes else least),
        (ask.TASKS, shape.tasks),
        (ask.CPUS_PER_TASK, shape.each),
        (ask.MIN_CPUS, shape.min_cpus),
        (ask.NODE_CPUS, shape.node_cpus),
        (ask.TASKS_PER_NODE, request.tasks_per_node or 0),
        (ask.TASKS_PER_SOCKET, request.tasks_per_socket or 0),
        (ask.TASKS_PER_CORE, per_core),
        (ask.SOCKETS, request.sockets_per_node or -1),
        (ask.CORES, request.cores_per_socket or -1),
        (ask.THREADS, _threads(request)),
        (ask.OVERCOMMIT, request.overcommit),
        (ask.MEMORY, shape.memory),
        (ask.PER_CPU, shape.per_cpu),
        (ask.MEMORY_SAID, _says_memory(request)),
        (ask.WHOLE, whole or is_linear(conf)),
        (ask.ALONE, (whole or is_linear(conf)) and not _is_forced(partition)),
        (ask.CONTIGUOUS, request.contiguous),
        (ask.SPREAD, request.spread),
        (ask.LLN, partition.lln),
        (ask.PLANE, plane),
        (ask.BLOCK_CORES, by_socket),
        (ask.SHARE, _share(request, partition)),
        (ask.ROWS, sharing_of(partition)),
        (ask.PART_NODE_CPUS, ANY_COUNT if partition.max_cpus_per_node is None else partition.max_cpus_per_node),
        (ask.SWITCHES, request.switches[0] if request.switches else 0),
        (ask.BIND, "enforce-binding" in request.gres_flags),
        (ask.TASKS_PER_GPU, request.tasks_per_gpu or 0),
        (ask.SOCKETS_EXPECTED, _sockets_expected(shape, request)),
    ):
        value[place] = int(number)
    return value


def _sockets_expected(shape: _Shape, request: JobRequest) -> int:
    """Sockets of a node that the tasks need, -1: any number (``_socks_per_node``)."""
    cpus = max(shape.min_cpus, shape.tasks * shape.each)
    if cpus // max(1, shape.nodes) <= 1:
        return 1
    if request.tasks_per_socket:
        return -(-(shape.tasks // max(1, shape.nodes)) // request.tasks_per_socket)
    return -1


def _gres_values(value: list[int], wanted: list[Wanted], shape: _Shape) -> None:
    sockets = max(1, value[ask.SOCKETS])
    value[ask.REQUESTS] = min(len(wanted), REQUESTS)
    value[ask.JOB_COUNTS] = int(any(one.job for one in wanted))
    value[ask.PER_TASK] = int(any(one.task for one in wanted))
    for one in wanted:
        each = one.cpus or one.default_cpus
        per_node = one.node or one.socket * sockets or (one.task * value[ask.TASKS_PER_NODE] if one.task else 1)
        in_all = one.job or one.node * shape.nodes or one.socket * shape.nodes * sockets or one.task * shape.tasks
        value[ask.GRES_NODE_CPUS] = max(value[ask.GRES_NODE_CPUS], each * per_node)
        value[ask.GRES_CPUS] = max(value[ask.GRES_CPUS], each * in_all)
