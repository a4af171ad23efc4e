"""Files of Slurm as a scenario: a cluster of slurm.conf, and a task for every job that is submitted.

``slurm.conf`` (gres.conf and topology.conf are found beside it), what ``sacctmgr`` writes, sessions
(:mod:`gnomon.systems.slurm.session`), batch scripts, and work of a trace. What only Slurm has stays in ``native``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from gnomon.formats.files import Path, read_start, read_text
from gnomon.model.cluster import Cluster, Node
from gnomon.model.errors import InputError
from gnomon.model.resources import NEVER, Resources
from gnomon.model.scenario import Scenario
from gnomon.model.work import Note, Shape, Task, Work
from gnomon.systems.slurm.accounts import Accounts
from gnomon.systems.slurm.behaviour import behaviour
from gnomon.systems.slurm.conf import Conf, NodeConf
from gnomon.systems.slurm.operation import operation
from gnomon.systems.slurm.request import JobRequest
from gnomon.systems.slurm.sacctmgr_text import is_dump, read_dump, read_show
from gnomon.systems.slurm.sbatch.site import Site, site_of
from gnomon.systems.slurm.sbatch.submission import Submission, submission
from gnomon.systems.slurm.session import LOOKS, Command, read_session
from gnomon.systems.slurm.slurm_conf import read_conf
from gnomon.systems.slurm.state import SECOND

EPOCH: Final = datetime(2026, 1, 1)
_CONF: Final = re.compile(r"(?im)^\s*(NodeName|PartitionName|ClusterName|SlurmctldHost|ControlMachine|NodeSet)\s*=")
_ACCOUNTS: Final = re.compile(r"(?m)^Cluster - |\A(Cluster|Account|User|Name)\|")
_USER: Final = "user"


@dataclass(frozen=True)
class Group:
    """One submission: its tasks are ``first`` up to before ``last``."""

    first: int
    last: int
    requests: tuple[JobRequest, ...]


@dataclass(frozen=True)
class Native:
    """What the controller reads. ``groups``: the submissions; ``of_task``: the group of each task; ``traced``: the work
    of a trace, whose tasks come after those of the groups, and each of which is a submission; ``commands``: (time,
    words) of scontrol and scancel."""

    conf: Conf
    accounts: Accounts
    groups: tuple[Group, ...] = ()
    of_task: tuple[int, ...] = ()
    traced: Work | None = None
    commands: tuple[tuple[int, tuple[str, ...]], ...] = ()
    epoch: datetime = EPOCH

    def group(self, task: int) -> list[int]:
        """The tasks that are submitted together with a task."""
        if task >= len(self.of_task):
            return [task]
        group = self.groups[self.of_task[task]]
        return list(range(group.first, group.last))

    def requests(self, task: int) -> tuple[JobRequest, ...]:
        """What the submission of a task asks for."""
        if task < len(self.of_task):
            return self.groups[self.of_task[task]].requests
        assert self.traced is not None
        return (request_of(self.traced, task - len(self.of_task), self.conf),)


def request_of(work: Work, row: int, conf: Conf) -> JobRequest:
    """A row of a trace as a submission: so many tasks of one CPU, for as long as its user said."""
    shape = work.shapes[int(work.shape[row])].request
    queue = work.queues[int(work.queue[row])]
    known = {partition.name for partition in conf.partitions}
    memory = shape.memory_bytes // 2**20
    cpus = max(1, -(-shape.cpu_milli // 1000))
    return JobRequest(
        name=work.job_name(row),
        user=work.users[int(work.user[row])] or _USER,
        partitions=(queue,) if queue in known else (),
        tasks=cpus,
        time_min=max(1, -(-int(work.estimate_ns[row]) // (60 * SECOND))),
        mem_per_cpu_mb=-(-memory // cpus) if memory else None,
        run_s=int(work.duration_ns[row]) / SECOND,
    )


def read_scenario(
    paths: Path | Sequence[Path],
    *,
    work: Work | None = None,
    until_ns: int = NEVER,
    version: tuple[int, int] | None = None,
    name: str = "",
) -> Scenario:
    """The scenario of files. ``work``: of a trace, submitted to this cluster. Raises InputError."""
    files = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    held: dict[str, list[str]] = {"conf": [], "accounts": [], "session": [], "script": []}
    for path in [os.fspath(one) for one in files]:
        held[_kind(path)].append(path)
    if len(held["conf"]) != 1:
        problem = "one slurm.conf is wanted" if held["conf"] else "there is no slurm.conf"
        found = ", ".join(held["conf"])
        raise InputError(problem, found=found, allowed="a file with NodeName= and PartitionName=")
    conf = read_conf(held["conf"][0], version=version)
    accounts, site = Accounts(), site_of(conf)
    for path in held["accounts"]:
        text = read_text(path)
        accounts = (read_dump if is_dump(text) else read_show)(text, file=path, start=accounts)
    commands = [command for path in held["session"] for command in read_session(path, site)]
    commands += [_of_script(path, site) for path in held["script"]]
    notes = conf.notes
    return scenario_of(conf, accounts, commands, work=work, notes=notes, name=name)


def _kind(path: str) -> str:
    """What a file is, by its beginning. Raises InputError for one that is nothing known."""
    start = read_start(path)
    if LOOKS.search(start):
        return "session"
    if start.startswith("#!") or "#SBATCH" in start:
        return "script"
    if _ACCOUNTS.search(start):
        return "accounts"
    if _CONF.search(start):
        return "conf"
    problem = "not a file of Slurm that is known"
    raise InputError(problem, file=path, allowed="slurm.conf, sacctmgr dump, batch scripts, sessions")


def _of_script(path: str, site: Site) -> Command:
    said = submission([path], read_text(path), user=_USER, site=site)
    if not isinstance(said, Submission):
        raise InputError("sbatch refuses this script", file=path, found=said.text)
    return Command(0, _USER, ("sbatch", path), said.requests, notes=said.notes)


def scenario_of(
    conf: Conf,
    accounts: Accounts,
    commands: Sequence[Command] = (),
    *,
    work: Work | None = None,
    notes: Sequence[Note] = (),
    name: str = "",
) -> Scenario:
    """The scenario of a configuration and of what is submitted."""
    tasks: list[Task] = []
    groups: list[Group] = []
    of_task: list[int] = []
    told = list(notes)
    for command in sorted(commands, key=lambda one: one.at_ns):
        told += command.notes
        if command.refusal:
            told.append(Note("default", f"line {command.line}", f"sbatch refuses: {command.refusal}"))
        if not command.requests:
            continue
        first = len(tasks)
        for number, request in enumerate(command.requests):
            tasks += _tasks(command, request, f"{len(groups) + 1}" + (f"+{number}" if number else ""))
        groups.append(Group(first, len(tasks), command.requests))
        of_task += [len(groups) - 1] * (len(tasks) - first)
    whole = Work.from_tasks(tasks)
    if work is not None:
        whole = work if not tasks else _joined(whole, work)
    given = tuple((one.at_ns, one.words) for one in commands if one.words[0] != "sbatch")
    return Scenario(
        Cluster(tuple(_node(node) for node in conf.nodes)),
        replace(whole, notes=(*whole.notes, *told)),
        system="slurm",
        kill_at_limit=False,
        gang=False,
        operation=operation(conf),
        native=Native(conf, accounts, tuple(groups), tuple(of_task), work, given),
        name=name,
    )


def _joined(first: Work, second: Work) -> Work:
    raise InputError("not modelled together: a session and a trace", field="work", allowed="one of them")


def _tasks(command: Command, request: JobRequest, number: str) -> list[Task]:
    """A task for each task of its array."""
    found = []
    for index in request.array if request.array is not None else (None,):
        variables = {} if index is None else {"SLURM_ARRAY_TASK_ID": str(index)}
        run_s = request.run_s
        if run_s is None:
            run_s = behaviour(request.script, variables).run_s
        cpus = (request.tasks or request.nodes_min or 1) * (request.cpus_per_task or 1)
        memory = request.mem_per_node_mb or cpus * (request.mem_per_cpu_mb or 0)
        found.append(
            Task(
                number if index is None else f"{number}_{index}",
                Shape(Resources(cpu_milli=cpus * 1000, memory_bytes=memory * 2**20)),
                submit_ns=command.at_ns,
                duration_ns=NEVER if run_s is None else int(run_s * SECOND),
                estimate_ns=NEVER if request.time_min is None else max(request.time_min, 0) * 60 * SECOND,
                user=command.user,
                queue=request.partitions[0] if request.partitions else "",
            )
        )
    return found


def _node(node: NodeConf) -> Node:
    """A node as the shared parts know it."""
    kinds = [gres.type for gres in node.gres if gres.name == "gpu" and gres.type]
    capacity = Resources(cpu_milli=node.cpus * 1000, memory_bytes=node.memory_mb * 2**20)
    labels = tuple((f"feature/{name}", "yes") for name in node.features)
    return Node(node.name, capacity, kind=kinds[0] if kinds else "", labels=labels)
