"""The configuration of a cluster: what slurm.conf, gres.conf and topology.conf say, as plain values.

Memory is in MiB, weights and priorities are plain numbers, times are in the unit that the name ends with. None: not
set, or no limit, as the field says. Defaults: slurm.conf(5) and ``src/common/read_config.h`` of Slurm 22.05 to 25.05
(:mod:`options`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gnomon.model.work import Note
from gnomon.systems.slurm.config.options import KEYS, default_of
from gnomon.systems.slurm.notation.times import limit_minutes, limit_seconds
from gnomon.systems.slurm.notation.values import boolean, leading_number, number, parts_of


@dataclass(frozen=True, slots=True)
class Gres:
    """Generic resources of one kind and type on a node: ``count`` of them. ``cores``: the cores (numbers on the node,
    from 0) that they are bound to, empty: to none in particular; ``links``: to how many links each is joined to each
    other one, row by row, as in ``Links=``; ``count_only``: without a file, so without numbers of its own (shards)."""

    name: str
    type: str = ""
    count: int = 1
    cores: tuple[int, ...] = ()
    links: tuple[tuple[int, ...], ...] = ()
    count_only: bool = False


@dataclass(frozen=True, slots=True)
class NodeConf:
    """One node as configured. ``cores``: of a socket; ``threads``: of a core; ``cpus``: as slurmctld counts them (the
    number of cores where CPUs= says so, else that of threads). ``state``: UNKNOWN, DOWN, IDLE, …, FUTURE, DRAIN, FAIL,
    CLOUD, from State= or DownNodes. ``core_spec``, ``cpu_spec``: cores, or these CPUs, kept for the system;
    ``effective_cpus`` are those that jobs may have. ``restricted_cores_per_gpu``, ``suspend_time_s``: from 23.11 on."""

    name: str
    cpus: int = 1
    boards: int = 1
    sockets: int = 1
    cores: int = 1
    threads: int = 1
    memory_mb: int = 1
    tmp_mb: int = 0
    weight: int = 1
    features: tuple[str, ...] = ()
    gres: tuple[Gres, ...] = ()
    state: str = "UNKNOWN"
    reason: str = ""
    core_spec: int = 0
    cpu_spec: tuple[int, ...] = ()
    mem_spec_mb: int = 0
    restricted_cores_per_gpu: int = 0
    suspend_time_s: int | None = None

    @property
    def effective_cpus(self) -> int:
        """CPUs without those that are kept for the system (CPUEfctv)."""
        threads = max(1, self.cpus // (self.sockets * self.cores))
        kept = {cpu // threads for cpu in self.cpu_spec}
        return self.cpus - threads * (len(kept) if kept else self.core_spec)


@dataclass(frozen=True, slots=True)
class PartitionConf:
    """One partition. Limits that are None do not limit; ``default_time_min`` None: the job gets ``max_time_min``.
    ``oversubscribe``: NO, YES, FORCE or EXCLUSIVE, with the number of jobs that may share a resource in ``sharing``.
    ``allow_…`` empty: everybody. ``nodes``: in the order of :attr:`Conf.nodes`. ``preempt_mode`` "": the cluster's.
    ``billing``: TRESBillingWeights, for the unit that Slurm counts (memory: a MiB)."""

    name: str
    nodes: tuple[str, ...] = ()
    default: bool = False
    state: str = "UP"
    max_time_min: int | None = None
    default_time_min: int | None = None
    max_nodes: int | None = None
    min_nodes: int = 0
    max_cpus_per_node: int | None = None
    max_cpus_per_socket: int | None = None
    def_mem_per_cpu_mb: int | None = None
    def_mem_per_node_mb: int | None = None
    max_mem_per_cpu_mb: int | None = None
    max_mem_per_node_mb: int | None = None
    def_cpu_per_gpu: int | None = None
    def_mem_per_gpu_mb: int | None = None
    priority_tier: int = 1
    priority_job_factor: int = 1
    oversubscribe: str = "NO"
    sharing: int = 1
    preempt_mode: str = ""
    grace_s: int = 0
    over_time_limit_min: int | None = None
    exclusive_user: bool = False
    exclusive_topo: bool = False
    lln: bool = False
    root_only: bool = False
    req_resv: bool = False
    hidden: bool = False
    disable_root_jobs: bool = False
    power_down_on_idle: bool = False
    allow_groups: tuple[str, ...] = ()
    allow_accounts: tuple[str, ...] = ()
    deny_accounts: tuple[str, ...] = ()
    allow_qos: tuple[str, ...] = ()
    deny_qos: tuple[str, ...] = ()
    qos: str = ""
    alternate: str = ""
    select_parameters: str = ""
    billing: Mapping[str, float] = field(default_factory=dict)
    suspend_time_s: int | None = None
    suspend_timeout_s: int | None = None
    resume_timeout_s: int | None = None


@dataclass(frozen=True, slots=True)
class Switch:
    """A switch of topology/tree: the nodes or the switches under it, and LinkSpeed (not used in decisions)."""

    name: str
    nodes: tuple[str, ...] = ()
    switches: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Block:
    """A block of topology/block with its nodes, in order."""

    name: str
    nodes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Conf:
    """A configuration.

    - ``version``: (22, 5) to (25, 5): whose defaults hold.
    - ``options``: every global key, in lower case, with its value as written; keys that are not in the file are absent
      (:meth:`text` and its like know the defaults of the version).
    - ``scheduler``: SchedulerParameters, one entry each, in lower case; a bare word has the value "".
    - ``nodes``: in the order of slurmctld's node table: by name, numbers as numbers (or by switch, see topology_conf).
    - ``partitions``: in the order of the file.
    - ``licenses``: how many of each; ``switches`` or ``blocks``: the topology, if there is one; ``block_sizes``: of
      BlockSizes, in nodes.
    - ``notes``: keys that nothing here looks at, values that were taken otherwise.
    """

    nodes: tuple[NodeConf, ...]
    partitions: tuple[PartitionConf, ...]
    options: Mapping[str, str] = field(default_factory=dict)
    scheduler: Mapping[str, str] = field(default_factory=dict)
    licenses: Mapping[str, int] = field(default_factory=dict)
    switches: tuple[Switch, ...] = ()
    blocks: tuple[Block, ...] = ()
    block_sizes: tuple[int, ...] = ()
    version: tuple[int, int] = (25, 5)
    notes: tuple[Note, ...] = ()

    def text(self, key: str) -> str:
        """The value of a key, or what holds in this version without it; "" where nothing does.

        >>> Conf((), (), {"schedulertype": "sched/builtin"}).text("SchedulerType"), Conf((), ()).text("SelectType")
        ('sched/builtin', 'select/cons_tres')

        :raises KeyError: the key is not one of :data:`options.KEYS`.
        """
        name = KEYS[key.lower()].name.lower()
        value = self.options.get(name)
        return default_of(name, self.version, self.options) if value is None else value

    def number(self, key: str) -> int | None:
        """A number; None: unlimited, or nothing holds.

        >>> Conf((), ()).number("MaxJobCount"), Conf((), ()).number("DefMemPerCPU")
        (10000, None)
        """
        value = self.text(key)
        return number(value, key, KEYS[key.lower()].bits) if value else None

    def default_memory(self, partition: PartitionConf | None) -> tuple[int, bool]:
        """The memory (MB) of a job that asks for none, and whether that is for each CPU: DefMemPerCPU or DefMemPerNode
        of its partition, else of the cluster; 0: nothing is said (slurm.conf(5)).

        >>> Conf((), ()).default_memory(None)
        (0, False)
        """
        if partition is not None and partition.def_mem_per_cpu_mb is not None:
            return partition.def_mem_per_cpu_mb, True
        if partition is not None and partition.def_mem_per_node_mb is not None:
            return partition.def_mem_per_node_mb, False
        each_cpu = self.number("defmempercpu")
        return (each_cpu, True) if each_cpu else (self.number("defmempernode") or 0, False)

    def seconds(self, key: str) -> int | None:
        """A length of time, whatever unit the key is written in; None: unlimited, never.

        >>> conf = Conf((), (), {"prioritymaxage": "1-0", "overtimelimit": "5"})
        >>> [conf.seconds(key) for key in ("PriorityMaxAge", "OverTimeLimit", "KillWait", "SuspendTime")]
        [86400, 300, 30, None]
        """
        kind, value = KEYS[key.lower()].kind, self.text(key)
        if kind == "precise":
            return limit_seconds(value)
        if kind == "limit":
            minutes = limit_minutes(value)
        elif kind == "idle":
            never = value.lower() in ("none", "infinite") or leading_number(value) < 0
            return None if never else leading_number(value)
        else:
            amount = number(value, key)
            if kind != "minutes":
                return amount
            minutes = amount
        return None if minutes is None else minutes * 60

    def flag(self, key: str) -> bool:
        """Whether YES (or a number that is not 0) stands or holds.

        >>> Conf((), ()).flag("JobRequeue"), Conf((), ()).flag("DisableRootJobs")
        (True, False)
        """
        value = self.text(key)
        return bool(number(value, key)) if KEYS[key.lower()].kind == "number" else boolean(value, key)

    def words(self, key: str) -> frozenset[str]:
        """The parts of a list with commas, in lower case.

        >>> sorted(Conf((), (), {"preemptmode": "SUSPEND,GANG"}).words("PreemptMode"))
        ['gang', 'suspend']
        """
        return frozenset(parts_of(self.text(key).lower()))
