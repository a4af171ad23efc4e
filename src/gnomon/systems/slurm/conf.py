"""The configuration of a cluster: what slurm.conf, gres.conf and topology.conf say, as plain values.

Memory is in MiB, weights and priorities are plain numbers, times are in the unit that the name ends with. None: not
set, or no limit, as the field says. Defaults: slurm.conf(5) and ``src/common/read_config.h`` of Slurm 22.05 to 25.05.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gnomon.model.work import Note


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
    number of cores where CPUs= says so, else that of threads). ``state``: the State= of the file, in upper case."""

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
    mem_spec_mb: int = 0


@dataclass(frozen=True, slots=True)
class PartitionConf:
    """One partition. Limits that are None do not limit; ``default_time_min`` None: the job gets ``max_time_min``.
    ``oversubscribe``: NO, YES, FORCE or EXCLUSIVE, with the number of jobs that may share a resource in ``sharing``.
    ``allow_…`` empty: everybody. ``billing``: TRESBillingWeights, for the unit that Slurm counts (memory: a MiB)."""

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
    - ``nodes``: in the order of the file; ``partitions``: likewise.
    - ``licenses``: how many of each; ``switches`` or ``blocks``: the topology, if there is one.
    - ``notes``: keys that nothing here looks at, values that were taken otherwise.
    """

    nodes: tuple[NodeConf, ...]
    partitions: tuple[PartitionConf, ...]
    options: Mapping[str, str] = field(default_factory=dict)
    scheduler: Mapping[str, str] = field(default_factory=dict)
    licenses: Mapping[str, int] = field(default_factory=dict)
    switches: tuple[Switch, ...] = ()
    blocks: tuple[Block, ...] = ()
    version: tuple[int, int] = (25, 5)
    notes: tuple[Note, ...] = ()
