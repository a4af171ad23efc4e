"""What a job asks for: the options of sbatch (salloc, srun) as plain values, before the cluster is looked at.

None: not said. Counts are plain numbers, memory is in MiB (0: all of a node), times are in the unit of the name.
Source: sbatch(1), ``src/common/slurm_opt.c`` of Slurm 22.05 to 25.05.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class GresRequest:
    """So many of a generic resource, of a type or of any ("")."""

    name: str
    type: str = ""
    count: int = 1


@dataclass(frozen=True, slots=True)
class Dependency:
    """One condition. ``kind``: after, afterany, afterok, afternotok, aftercorr, afterburstbuffer, singleton;
    ``job``: the id; ``task``: of an array job, None: all of it; ``minutes``: of ``after:ID+minutes``."""

    kind: str
    job: int = 0
    task: int | None = None
    minutes: int = 0


@dataclass(frozen=True, slots=True)
class JobRequest:
    """One job (of an array: one for all its tasks; of a heterogeneous job: one a component).

    - ``nodes_min``, ``nodes_max``: of ``-N``; ``nodes_min`` None: not said. ``node_counts``: of ``-N 2,4-8:2`` (23.02).
    - ``tasks``: ``-n``; ``cpus_per_task``: ``-c``; the layout: ``tasks_per_node``, ``tasks_per_socket``,
      ``tasks_per_core``, ``sockets_per_node``, ``cores_per_socket``, ``threads_per_core``, ``distribution``, ``hint``.
    - ``mem_per_node_mb``, ``mem_per_cpu_mb``, ``mem_per_gpu_mb``: 0 is all of the node.
    - ``gres``: a node's share (``--gres``); ``gpus``: of the job; ``gpus_per_node``, ``gpus_per_socket``,
      ``gpus_per_task``; each as typed counts.
    - ``time_min``: ``-t`` in minutes, rounded up; -1: UNLIMITED; ``time_min_min``: ``--time-min``.
    - ``partitions``: ``-p`` in order; ``features``: ``-C`` as written; ``prefer``: likewise.
    - ``exclusive``: "", "node", "user", "mcs", "topo"; ``oversubscribe``: ``-s``.
    - ``array``: the task ids in order, None: no array; ``array_limit``: ``%n``.
    - ``dependencies``: conditions; ``any_dependency``: separated by ``?``, so that one is enough.
    - ``begin``, ``deadline``: as written, for they depend on the time of submission (see :mod:`times`).
    - ``licenses``: as (name, count); ``licenses_any``: written with ``|``.
    - ``signal``: as written; ``switches``: (count, wait in seconds or None).
    - ``cpus_min``: as sbatch counts them, before the cluster is looked at: tasks times CPUs of a task.
    - ``segment``: nodes of a segment of topology/block. ``gres_per_task``: ``--tres-per-task`` but for GPUs.
    - ``work_dir``, ``output``, ``error``, ``input``: as written, with their patterns.
    - ``requeue``: None: as JobRequeue says. ``hold``: ``-H``. ``priority``: ``--priority``; ``nice``.
    - ``run_s``, ``exit_code``: how long the script runs and how it ends, where that is known. ``script``: its text.
    """

    name: str = ""
    user: str = ""
    account: str = ""
    qos: str = ""
    partitions: tuple[str, ...] = ()
    reservation: str = ""
    wckey: str = ""
    comment: str = ""
    nodes_min: int | None = None
    nodes_max: int | None = None
    node_counts: tuple[int, ...] = ()
    tasks: int | None = None
    cpus_per_task: int | None = None
    tasks_per_node: int | None = None
    tasks_per_socket: int | None = None
    tasks_per_core: int | None = None
    tasks_per_gpu: int | None = None
    sockets_per_node: int | None = None
    cores_per_socket: int | None = None
    threads_per_core: int | None = None
    min_cpus_per_node: int | None = None
    distribution: str = ""
    hint: str = ""
    overcommit: bool = False
    core_spec: int | None = None
    mem_per_node_mb: int | None = None
    mem_per_cpu_mb: int | None = None
    mem_per_gpu_mb: int | None = None
    tmp_mb: int = 0
    gres: tuple[GresRequest, ...] = ()
    gres_flags: tuple[str, ...] = ()
    gpus: tuple[GresRequest, ...] = ()
    gpus_per_node: tuple[GresRequest, ...] = ()
    gpus_per_socket: tuple[GresRequest, ...] = ()
    gpus_per_task: tuple[GresRequest, ...] = ()
    gres_per_task: tuple[GresRequest, ...] = ()
    cpus_per_gpu: int | None = None
    cpus_min: int = 1
    time_min: int | None = None
    time_min_min: int | None = None
    features: str = ""
    prefer: str = ""
    node_list: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    contiguous: bool = False
    spread: bool = False
    use_min_nodes: bool = False
    exclusive: str = ""
    oversubscribe: bool = False
    array: tuple[int, ...] | None = None
    array_limit: int | None = None
    dependencies: tuple[Dependency, ...] = ()
    any_dependency: bool = False
    kill_on_invalid_dep: bool | None = None
    begin: str = ""
    deadline: str = ""
    licenses: tuple[tuple[str, int], ...] = ()
    licenses_any: bool = False
    switches: tuple[int, int | None] | None = None
    signal: str = ""
    requeue: bool | None = None
    no_kill: bool = False
    hold: bool = False
    priority: int | None = None
    nice: int = 0
    test_only: bool = False
    reboot: bool = False
    segment: int | None = None
    work_dir: str = ""
    output: str = ""
    error: str = ""
    input: str = ""
    mail_types: str = ""
    mail_user: str = ""
    run_s: float | None = None
    exit_code: int = 0
    script: str = ""
