"""The generic resources that a job asks: all that is said of one kind and type is one request."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from gnomon.systems.slurm.config.conf import Conf, PartitionConf
from gnomon.systems.slurm.sbatch.request import GresRequest, JobRequest
from gnomon.systems.slurm.select import ask
from gnomon.systems.slurm.select.hardware import SHARED, Names, option


@dataclass
class Wanted:
    """A request: so many for a node, the job, a socket, a task; CPUs and memory that go with each."""

    kind: str
    type: str
    node: int = 0
    job: int = 0
    socket: int = 0
    task: int = 0
    cpus: int = 0
    default_cpus: int = 0
    memory: int = 0
    default_memory: int = 0
    tasks_each: int = 0

    def row(self, names: Names) -> tuple[int, ...]:
        """As a row of ``Demands.gres``; a kind or type that no node has gets a number that none has."""
        row = [0] * ask.W_COUNT
        row[ask.W_KIND] = names.kinds.get(self.kind, -2)
        row[ask.W_TYPE] = names.types.get(self.type, -2)
        row[ask.W_NODE], row[ask.W_JOB] = self.node, self.job
        row[ask.W_SOCKET], row[ask.W_TASK] = self.socket, self.task
        row[ask.W_CPUS], row[ask.W_DEFAULT_CPUS] = self.cpus, self.default_cpus
        row[ask.W_MEMORY], row[ask.W_DEFAULT_MEMORY] = self.memory, self.default_memory
        row[ask.W_TASKS_EACH], row[ask.W_SHARED] = self.tasks_each, int(self.kind in SHARED)
        return tuple(row)

    def is_unknown(self, names: Names) -> bool:
        """Whether no node has such a kind or type."""
        return self.kind not in names.kinds or self.type not in names.types


def wanted_of(request: JobRequest, partition: PartitionConf, conf: Conf, *, tasks: int) -> list[Wanted]:
    """The requests of a job, in the order in which they are said. A count for each task makes one for the job."""
    found: dict[tuple[str, str], Wanted] = {}

    def add(parts: Iterable[GresRequest], of: str) -> None:
        for part in parts:
            one = found.setdefault((part.name, part.type), Wanted(part.name, part.type))
            setattr(one, of, getattr(one, of) + part.count)

    add(request.gpus, "job")
    add((*request.gres, *request.gpus_per_node), "node")
    add(request.gpus_per_socket, "socket")
    add((*request.gpus_per_task, *getattr(request, "gres_per_task", ())), "task")
    cpus, memory = gpu_defaults(partition, conf) if found else (0, 0)
    for one in found.values():
        if one.task and tasks and not one.job:
            one.job = one.task * tasks
        if one.kind == "gpu":
            one.cpus, one.memory = request.cpus_per_gpu or 0, request.mem_per_gpu_mb or 0
            one.default_cpus, one.default_memory = cpus, memory
            one.tasks_each = request.tasks_per_gpu or 0
    return [one for one in found.values() if one.node or one.job or one.socket or one.task]


def gpu_defaults(partition: PartitionConf, conf: Conf) -> tuple[int, int]:
    """CPUs and memory of a GPU by default: DefCpuPerGPU, DefMemPerGPU of the partition, else of the cluster."""
    parts = (part.partition("=") for part in option(conf, "jobdefaults").split(","))
    words = {name.strip(): value.strip() for name, _, value in parts}

    def default(own: int | None, key: str) -> int:
        if own is not None:
            return own
        text = option(conf, key) or words.get(key, "")
        return int(text) if text.isdigit() else 0

    return default(partition.def_cpu_per_gpu, "defcpupergpu"), default(partition.def_mem_per_gpu_mb, "defmempergpu")
