"""From the options of one component to its request: what excludes what, what follows from what.

Source: ``validate_options_salloc_sbatch_srun`` and ``slurm_opt_create_job_desc`` of ``src/common/slurm_opt.c``,
``_opt_verify`` of ``src/sbatch/opt.c`` of Slurm 22.05 to 25.05.
"""

from __future__ import annotations

from typing import Any, Final

from gnomon.model.errors import InputError
from gnomon.systems.slurm.notation import hostlist
from gnomon.systems.slurm.sbatch import features
from gnomon.systems.slurm.sbatch.arrays import array_tasks
from gnomon.systems.slurm.sbatch.dependencies import dependencies
from gnomon.systems.slurm.sbatch.exclusions import exclusions
from gnomon.systems.slurm.sbatch.gres import Counts, Shares, agree, gpus, gres, tasks_of_gpus
from gnomon.systems.slurm.sbatch.layout_values import Sockets
from gnomon.systems.slurm.sbatch.licenses import licenses
from gnomon.systems.slurm.sbatch.refusals import WRONG, RefusedError, error, rejected
from gnomon.systems.slurm.sbatch.request import GresRequest, JobRequest
from gnomon.systems.slurm.sbatch.settings import Settings
from gnomon.systems.slurm.sbatch.site import Site
from gnomon.systems.slurm.sbatch.tres import tres_per_task
from gnomon.systems.slurm.sbatch.values import Nodes, Place, in_order

_TRES_OPTIONS: Final = ("gpus", "gpus-per-node", "gpus-per-socket", "gpus-per-task", "cpus-per-gpu", "mem-per-gpu")


_LEVELS: Final = ("sockets-per-node", "cores-per-socket", "threads-per-core")
_HINTS: Final = {
    "compute_bound": Sockets(None, None, 1),
    "memory_bound": Sockets(None, 1, 1),
    "multithread": Sockets(None, None, None),
    "nomultithread": Sockets(None, None, 1),
}
"""What ``verify_hint`` of proc_args.c sets, over what was said."""


def combined(settings: Settings, place: Place, site: Site) -> JobRequest:
    """The request, as sbatch would send it. Raises :class:`RefusedError`."""
    exclusions(settings, place)
    hint = _hint(settings)
    sockets, cores, threads = (settings.get(key) for key in _LEVELS)
    if hint:
        # a hint of the environment is taken before the command line is
        sockets = sockets if _after_hint(settings, "sockets-per-node") else None
        cores = cores if _after_hint(settings, "cores-per-socket") else _HINTS[hint].cores
        threads = _HINTS[hint].threads
    extra = settings.get("extra-node-info")
    if extra is not None:
        sockets, cores, threads = extra.sockets or sockets, extra.cores or cores, extra.threads or threads
    shape = _Shape(settings, place)
    shape.settle(sockets, cores, threads, extra is not None)
    if shape.arbitrary and not shape.hosts:
        raise error("With Arbitrary distribution you need to specify a nodelist or hostfile with the -w option", WRONG)
    if not in_order(settings.get("begin"), settings.get("deadline"), place.now):
        raise error("Incompatible begin and deadline time specification", WRONG)
    counts = _counts(settings, shape, sockets)
    try:
        shares = _shares(settings, site)
    except RefusedError:
        tasks_of_gpus(counts, False, place.said)
        raise
    agree(shares, counts, place.said)
    distribution = settings.get("distribution")
    kind = settings.get("shared")
    on_node = tuple(one for one in _per_node_gpus(settings) if one in shares.node)
    return JobRequest(
        nodes_min=counts.nodes_min,
        nodes_max=counts.nodes_max,
        node_counts=shape.nodes.counts if shape.nodes else (),
        tasks=counts.tasks,
        cpus_per_task=counts.cpus_per_task,
        cpus_min=shape.cpus_min(),
        tasks_per_node=counts.tasks_per_node,
        tasks_per_socket=counts.tasks_per_socket,
        tasks_per_core=settings.get("ntasks-per-core"),
        tasks_per_gpu=counts.tasks_per_gpu,
        sockets_per_node=counts.sockets_per_node,
        cores_per_socket=cores,
        threads_per_core=threads,
        min_cpus_per_node=_least_cpus(settings),
        distribution=distribution.name if distribution else "",
        hint=hint,
        gres=tuple(one for one in shares.node if one not in on_node),
        gpus=shares.job,
        gpus_per_node=on_node,
        gpus_per_socket=shares.socket,
        gpus_per_task=tuple(one for one in shares.task if one.name == "gpu"),
        gres_per_task=tuple(one for one in shares.task if one.name != "gpu"),
        node_list=shape.hosts,
        exclude=hosts(settings.get("exclude"), place),
        exclusive=(settings.get("exclusive") or "") if kind == "exclusive" else "",
        oversubscribe=kind == "oversubscribe",
        **_lists(settings, site),
        **_plain(settings),
    )


def _lists(settings: Settings, site: Site) -> dict[str, Any]:
    """Lists that slurmctld takes apart, and refuses."""
    found: dict[str, Any] = {"partitions": tuple(filter(None, (settings.get("partition") or "").split(",")))}
    for option, name, what in (("constraint", "features", "feature"), ("prefer", "prefer", "preferred feature")):
        found[name] = settings.get(option) or ""
        try:
            features.parse(found[name])
        except InputError:
            raise rejected(f"Invalid {what} specification") from None
    if settings.get("array"):
        found["array"], found["array_limit"] = array_tasks(settings.get("array"), site.max_array_size)
    found["dependencies"], found["any_dependency"] = dependencies(settings.get("dependency") or "")
    found["licenses"], found["licenses_any"] = licenses(settings.get("licenses") or "")
    return found


_PLAIN: Final = {
    "job-name": "name",
    "account": "account",
    "qos": "qos",
    "reservation": "reservation",
    "wckey": "wckey",
    "comment": "comment",
    "begin": "begin",
    "deadline": "deadline",
    "signal": "signal",
    "chdir": "work_dir",
    "output": "output",
    "error": "error",
    "input": "input",
    "mail-type": "mail_types",
    "mail-user": "mail_user",
    "contiguous": "contiguous",
    "overcommit": "overcommit",
    "spread-job": "spread",
    "use-min-nodes": "use_min_nodes",
    "no-kill": "no_kill",
    "hold": "hold",
    "test-only": "test_only",
    "reboot": "reboot",
    "core-spec": "core_spec",
    "tmp": "tmp_mb",
    "mem": "mem_per_node_mb",
    "mem-per-cpu": "mem_per_cpu_mb",
    "mem-per-gpu": "mem_per_gpu_mb",
    "cpus-per-gpu": "cpus_per_gpu",
    "gres-flags": "gres_flags",
    "time": "time_min",
    "time-min": "time_min_min",
    "kill-on-invalid-dep": "kill_on_invalid_dep",
    "switches": "switches",
    "requeue": "requeue",
    "priority": "priority",
    "nice": "nice",
    "segment": "segment",
}
"""Options whose value is a field of the request as it stands."""


def _plain(settings: Settings) -> dict[str, Any]:
    found = {field: settings.get(key) for key, field in _PLAIN.items() if settings.get(key) is not None}
    if found.get("priority") == 0:
        # opt.c sends a priority only where it is not 0
        del found["priority"]
    return found


def _hint(settings: Settings) -> str:
    found = (settings.get("hint") or "").lower()
    if not found:
        return ""
    others = ("ntasks-per-core", "threads-per-core", "extra-node-info")
    if any(settings.said(key) for key in others):
        settings.drop("hint")
        return ""
    if settings.said("hint"):
        settings.drop(*others)
    elif any(settings.get(key) is not None for key in others):
        settings.drop("hint")
        return ""
    if found == "help":
        raise RefusedError("sbatch --hint=help: nothing is submitted", WRONG)
    if found not in _HINTS:
        raise error(f'unrecognized --hint argument "{settings.get("hint")}", see --hint=help', WRONG)
    return str(found)


def _after_hint(settings: Settings, key: str) -> bool:
    return "hint" in settings.by_environment and settings.said(key)


def _least_cpus(settings: Settings) -> int | None:
    least, per_task = settings.get("mincpus"), settings.get("cpus-per-task")
    return max(least or 0, per_task or 0) or None


def _counts(settings: Settings, shape: _Shape, sockets: int | None) -> Counts:
    nodes, per_node = shape.nodes, settings.get("ntasks-per-node")
    least = nodes.least if nodes else None
    if shape.place.version >= (23, 11) and nodes is None and shape.tasks is not None and per_node:
        least = -(-shape.tasks // per_node)
    return Counts(
        shape.tasks,
        least,
        (nodes.most or None) if nodes else None,
        per_node,
        settings.get("ntasks-per-socket"),
        settings.get("ntasks-per-gpu") or settings.get("ntasks-per-tres"),
        sockets,
        shape.cpus_per_task,
        settings.get("cpus-per-gpu"),
        settings.get("mem-per-gpu"),
    )


def _shares(settings: Settings, site: Site) -> Shares:
    if not site.tres_options and any(settings.get(key) is not None for key in _TRES_OPTIONS):
        raise error("Requested GRES option unsupported by configured SelectType plugin", WRONG)
    known = site.gres_types
    return Shares(
        job=gpus(settings.get("gpus") or "", known),
        node=_later_counts((*_per_node_gpus(settings), *gres(settings.get("gres") or "", known))),
        socket=gpus(settings.get("gpus-per-socket") or "", known),
        task=(*gpus(settings.get("gpus-per-task") or "", known), *tres_per_task(settings, known)),
    )


def _later_counts(parts: tuple[GresRequest, ...]) -> tuple[GresRequest, ...]:
    """Of the same resource twice, the later counts."""
    return tuple({(one.name, one.type): one for one in parts}.values())


def _per_node_gpus(settings: Settings) -> tuple[GresRequest, ...]:
    return gpus(settings.get("gpus-per-node") or "")


def hosts(text: str | None, place: Place) -> tuple[str, ...]:
    """A host list; one with a slash is a file of one. Raises :class:`RefusedError`."""
    if not text:
        return ()
    if "/" in text:
        written = place.read(text)
        if written is None:
            complaint = f"slurm_allocate_resources error opening file {text}, No such file or directory"
            raise error(complaint, WRONG)
        lines = (line.partition("#")[0].strip() for line in written.splitlines())
        text = ",".join(line for line in lines if line)
    try:
        return hostlist.expand(text)
    except InputError:
        raise rejected("Invalid node name specified") from None


class _Shape:
    """Nodes and tasks, and what each says of the other."""

    def __init__(self, settings: Settings, place: Place) -> None:
        self.settings, self.place, self.bad = settings, place, False
        self.tasks: int | None = settings.get("ntasks")
        self.cpus_per_task: int | None = settings.get("cpus-per-task")
        self.nodes: Nodes | None = settings.get("nodes")
        self.implied = max(self.tasks or 1, 1)
        distribution = settings.get("distribution")
        self.arbitrary = distribution is not None and distribution.name.startswith("arbitrary")
        self.hosts = self._hosts()

    def _hosts(self) -> tuple[str, ...]:
        if (path := self.settings.get("nodefile")) is not None:
            written = self.place.read(path)
            if written is None:
                opening = f"slurm_allocate_resources error opening file {path}, No such file or directory"
                raise RefusedError(f"sbatch: error: {opening}\nsbatch: error: Invalid --nodefile node file")
            found = hosts(",".join(written.split()), self.place)
        else:
            found = hosts(self.settings.get("nodelist"), self.place)
        return found if self.arbitrary else tuple(dict.fromkeys(found))

    def settle(self, sockets: int | None, cores: int | None, threads: int | None, extra: bool) -> None:
        """Makes nodes and tasks fit. Raises :class:`RefusedError`."""
        if self.tasks is not None and self.tasks < 0:
            self._wrong(f"invalid number of tasks (-n {self.tasks})")
        if self.cpus_per_task is not None and self.cpus_per_task <= 0:
            self._wrong(f"invalid number of cpus per task (-c {self.cpus_per_task})")
        distribution = self.settings.get("distribution")
        plane = distribution.plane if distribution else None
        self._name_hosts()
        self._tasks_of_layout()
        if plane and self.nodes is not None and (self.nodes.least - 1) * plane >= (self.tasks or 1):
            raise error("Too few processes for the requested {plane,node} distribution", WRONG)
        fixed = self.nodes is not None and self.nodes.most in (0, self.nodes.least)
        if (fixed or (self.nodes is None and extra)) and self.tasks is None:
            self.implied = max(self.nodes.least if self.nodes else 1, 1)
            for count in (sockets, cores, threads):
                if count is not None:
                    self.implied *= count
                    self.tasks = self.implied
        elif self.nodes is not None and self.tasks is not None:
            self._fewer_nodes(self.nodes, self.tasks)
        if self.arbitrary and self.tasks is None and self.hosts:
            self.tasks = len(dict.fromkeys(self.hosts))
        if self.bad:
            # all that is wrong was said
            raise RefusedError("", WRONG)

    def _wrong(self, what: str) -> None:
        """Says what is wrong, and goes on to the next."""
        self.place.said.append(f"sbatch: error: {what}")
        self.bad = True

    def _tasks_of_layout(self) -> None:
        """Tasks of a node, and a number of nodes, make a number of tasks."""
        per_node = self.settings.get("ntasks-per-node")
        if per_node and self.tasks is None and (self.nodes is None or self.nodes.most in (0, self.nodes.least)):
            self.tasks = (self.nodes.least if self.nodes else 1) * per_node

    def _name_hosts(self) -> None:
        """Each named host is a node of the job."""
        if not self.hosts:
            return
        named = len(dict.fromkeys(self.hosts))
        if self.nodes is None:
            self.nodes = Nodes(named, 0)
            return
        self.nodes = self.nodes._replace(least=max(named, self.nodes.least))
        if self.nodes.most and self.nodes.most < self.nodes.least:
            self._wrong(f"invalid number of nodes (-N {self.nodes.least}-{self.nodes.most})")

    def _fewer_nodes(self, nodes: Nodes, tasks: int) -> None:
        """No more nodes than tasks."""
        if 0 < tasks < nodes.least:
            what = f"can't run {tasks} processes on {nodes.least} nodes, setting nnodes to {tasks}"
            self.place.said.append(f"sbatch: Warning: {what}")
            self.nodes = Nodes(tasks, tasks)
            self.hosts = self.hosts[:tasks]
        elif 0 < tasks < nodes.most:
            self.nodes = nodes._replace(most=tasks, counts=tuple(one for one in nodes.counts if one <= tasks))

    def cpus_min(self) -> int:
        """The CPUs that sbatch asks for at least."""
        tasks = self.tasks if self.tasks is not None else self.implied
        nodes = self.nodes
        if self.settings.get("overcommit"):
            return max(nodes.least if nodes else 1, 1)
        return tasks * (self.cpus_per_task or 1)
