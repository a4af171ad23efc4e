"""Files of Slurm as a scenario: a cluster of slurm.conf, and a task for every job that is submitted.

``slurm.conf`` (gres.conf and topology.conf are found beside it), what ``sacctmgr`` writes, sessions
(:mod:`gnomon.systems.slurm.inputs.session`), batch scripts, work of a trace, a month of ``sacct``
(:mod:`gnomon.systems.slurm.inputs.history`), and what commands print of a running cluster
(:mod:`gnomon.systems.slurm.inputs.snapshot`). What only Slurm has stays in ``native``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from gnomon.formats.files import Path, by_kind, read_text
from gnomon.model.cluster import Cluster, Node
from gnomon.model.errors import InputError, slip
from gnomon.model.resources import MAX_AMOUNT, NEVER, Resources
from gnomon.model.scenario import Scenario
from gnomon.model.work import Note, Shape, Task, Work
from gnomon.systems.slurm.accounting.accounts import Accounts
from gnomon.systems.slurm.accounting.limits import enforced
from gnomon.systems.slurm.accounting.sacctmgr_text import is_dump, read_dump, read_show
from gnomon.systems.slurm.cluster.state import SECOND
from gnomon.systems.slurm.config.conf import Conf, NodeConf
from gnomon.systems.slurm.config.slurm_conf import read_conf
from gnomon.systems.slurm.inputs.behaviour import behaviour
from gnomon.systems.slurm.inputs.files import kind_of, read_json
from gnomon.systems.slurm.inputs.history import accounts_of, history
from gnomon.systems.slurm.inputs.native import Group, Native
from gnomon.systems.slurm.inputs.present import Present, Standing, standing
from gnomon.systems.slurm.inputs.session import Command, read_session
from gnomon.systems.slurm.inputs.snapshot import PRINTED, Snapshot, read_snapshot
from gnomon.systems.slurm.inputs.traced import USER, notes_of
from gnomon.systems.slurm.operation import operation_of
from gnomon.systems.slurm.read.sacct import Jobs, read_parsable
from gnomon.systems.slurm.read.sacct_json import jobs_of_json
from gnomon.systems.slurm.read.shown_conf import shown_conf, with_states
from gnomon.systems.slurm.sbatch.arrays import check_tasks
from gnomon.systems.slurm.sbatch.options import OPTIONS
from gnomon.systems.slurm.sbatch.request import JobRequest
from gnomon.systems.slurm.sbatch.site import Site, site_of
from gnomon.systems.slurm.sbatch.submission import Submission, submission

ACCOUNT: Final = "default"
"""The account of who names none, where no accounts are given."""

ENFORCE: Final = "accountingstorageenforce"
"""Nearly every cluster has it: without its accounts it would refuse everybody, so it is heeded only with them."""


def read_scenario(
    paths: Path | Sequence[Path],
    *,
    work: Work | None = None,
    until_ns: int = NEVER,
    version: tuple[int, int] | None = None,
    name: str = "",
) -> Scenario:
    """The scenario of files. ``work``: of a trace, submitted to this cluster. Raises InputError."""
    held = by_kind(paths, kind_of)
    there = read_snapshot(held)
    conf = _conf(held, there, version)
    accounts, site = Accounts(), site_of(conf)
    for path in held.get("accounts", ()):
        text = read_text(path)
        accounts = (read_dump if is_dump(text) else read_show)(text, file=path, start=accounts)
    jobs = _accounted(held)
    commands = [command for path in held.get("session", ()) for command in read_session(path, site)]
    notes = [*conf.notes, *there.notes]
    if jobs is not None:
        if commands or "script" in held or work is not None:
            raise InputError("not modelled together: sacct and other work", field="work", allowed="one of them")
        return _of_history(conf, accounts, jobs, there, notes=notes, name=name, known="accounts" in held)
    present = standing(there.jobs or (), there.moment_s())
    if present.jobs and "accounts" not in held:
        accounts = accounts_of(present.owners, present.qos)
    commands += [_of_script(path, site, accounts) for path in held.get("script", ())]
    if "accounts" not in held and enforced(conf.text(ENFORCE)):
        owners, qos = _asking(commands, work)
        accounts = accounts_of((*present.owners, *owners), (*present.qos, *qos))
        conf = replace(conf, options={**conf.options, ENFORCE: ""})
        notes.append(Note("assumed", "AccountingStorageEnforce", "nothing is enforced: no accounting dump is given"))
    if there.usage:
        accounts = replace(accounts, usage=there.usage)
    notes += [*accounts.notes, *present.notes]
    scenario = scenario_of(conf, accounts, commands, work=work, notes=notes, name=name, present=present)
    if not any(kind in held for kind in PRINTED):
        return scenario
    assert isinstance(scenario.native, Native)
    epoch = datetime(1970, 1, 1) + timedelta(seconds=there.moment_s())
    return replace(scenario, native=replace(scenario.native, epoch=epoch, reservations=tuple(there.reservations)))


def _conf(held: Mapping[str, Sequence[str]], there: Snapshot, version: tuple[int, int] | None) -> Conf:
    """The configuration: slurm.conf, or what scontrol shows of it; with the nodes as they are."""
    given = held.get("conf", [])
    if len(given) > 1:
        raise InputError(
            "one slurm.conf is wanted", found=", ".join(given), allowed="a file with NodeName= and PartitionName="
        )
    if not given and not there.nodes and not there.partitions:
        raise InputError(
            "there is no slurm.conf",
            allowed="a further file with NodeName= and PartitionName=, such as /etc/slurm/slurm.conf of the cluster",
        )
    conf = read_conf(given[0], version=version) if given else _shown(there, version)
    return with_states(conf, there.nodes)


def _shown(there: Snapshot, version: tuple[int, int] | None) -> Conf:
    conf = shown_conf(there.config, there.nodes, there.partitions, version=version)
    return replace(conf, licenses={**there.licenses, **conf.licenses})


def _accounted(held: Mapping[str, Sequence[str]]) -> Jobs | None:
    """The jobs of sacct, None: no file has any."""
    found = [read_parsable(path) for path in held.get("history", ())]
    for path in held.get("json", ()):
        kind, listed, _ = read_json(path)
        if kind == "history":
            found.append(jobs_of_json(listed, file=path))
    if len(found) > 1:
        raise InputError("several files of sacct", found=", ".join(held["history"]), allowed="one")
    return found[0] if found else None


def _of_history(
    conf: Conf, accounts: Accounts, jobs: Jobs, there: Snapshot, *, notes: list[Note], name: str, known: bool
) -> Scenario:
    """The scenario of a month of sacct."""
    past, work = history(jobs)
    if not known:
        accounts = accounts_of(past.owners, past.qos)
    if there.jobs:
        notes.append(Note("not modelled", "squeue", "the jobs that are there now: those of sacct are simulated"))
    if "Reservation" in jobs.words and any(jobs.word("Reservation", row) for row in range(len(jobs))):
        notes.append(Note("not modelled", "Reservation", "reservations of the past: their jobs are as others"))
    told = [*notes, *accounts.notes]
    return Scenario(
        Cluster(tuple(_node(node) for node in conf.nodes)),
        replace(work, notes=(*work.notes, *told)),
        system="slurm",
        kill_at_limit=False,
        gang=False,
        operation=operation_of(conf),
        native=Native(conf, accounts, epoch=past.epoch, history=past),
        name=name,
    )


def _asking(commands: Sequence[Command], work: Work | None) -> tuple[set[tuple[str, str]], set[str]]:
    """Who submits, as (account, user), and the QOS that are asked for."""
    requests = [request for command in commands for request in command.requests]
    pairs = {(one.account.lower(), one.user) for one in requests if one.account}
    users = {one.user for one in requests} | {name or USER for name in (() if work is None else work.users)}
    named = {user for _, user in pairs}
    return pairs | {(ACCOUNT, user) for user in users - named}, {one.qos.lower() for one in requests if one.qos}


def _of_script(path: str, site: Site, accounts: Accounts) -> Command:
    """A script is submitted at once; by whom, nobody says: where accounting knows users, by the first who may."""
    said = submission([path], read_text(path), user=USER, site=site)
    if not isinstance(said, Submission):
        wrong = re.search(r"unrecognized option '--([\w-]+)", said.text)
        meant = slip(wrong[1], [option.name for option in OPTIONS]) if wrong else ""
        raise InputError(f"sbatch refuses this script{meant}: {'; '.join(said.text.splitlines())}", file=path)
    user, notes = accounts.first_user(said.requests[0].account), said.notes
    if user:
        name = os.path.basename(path)
        notes = (*notes, Note("default", name, f"submitted by {user}; a session says who submits"))
    requests = tuple(replace(one, user=user or USER) for one in said.requests)
    return Command(0, user or USER, ("sbatch", path), requests, notes=notes)


def scenario_of(
    conf: Conf,
    accounts: Accounts,
    commands: Sequence[Command] = (),
    *,
    work: Work | None = None,
    notes: Sequence[Note] = (),
    name: str = "",
    present: Standing | None = None,
) -> Scenario:
    """The scenario of a configuration and of what is submitted; ``present``: what is there already."""
    tasks: list[Task] = []
    groups: list[Group] = []
    of_task: list[int] = []
    told = list(notes)
    there: dict[int, Present] = {}
    for one in () if present is None else present.jobs:
        first = len(tasks)
        for job, request in zip(one.members, one.asks, strict=True):
            there[len(tasks)] = job
            tasks.append(_task_of(job, request))
        groups.append(Group(first, len(tasks), one.requests, one.id))
        of_task += [len(groups) - 1] * (len(tasks) - first)
    offset = 0 if present is None else present.last_id - len(groups)
    for command in sorted(commands, key=lambda one: one.at_ns):
        told += command.notes
        if command.refusal:
            told.append(Note("default", f"line {command.line}", f"sbatch refuses: {command.refusal}"))
        if not command.requests:
            continue
        first = len(tasks)
        check_tasks(first + command.tasks, " ".join(command.words))
        for number, request in enumerate(command.requests):
            name_of = f"{len(groups) + offset + 1}" + (f"+{number}" if number else "")
            tasks += _tasks(command, request, name_of, conf)
        groups.append(Group(first, len(tasks), command.requests))
        of_task += [len(groups) - 1] * (len(tasks) - first)
    if work is not None:
        if tasks:
            problem = "not modelled together: a session and a trace"
            raise InputError(problem, field="work", allowed="one of them")
        told += notes_of(work, conf)
    whole = Work.from_tasks(tasks) if work is None else work
    given = tuple((one.at_ns, one.words) for one in commands if one.words[0] != "sbatch")
    return Scenario(
        Cluster(tuple(_node(node) for node in conf.nodes)),
        replace(whole, notes=(*whole.notes, *told)),
        system="slurm",
        kill_at_limit=False,
        gang=False,
        operation=operation_of(conf),
        native=Native(conf, accounts, tuple(groups), tuple(of_task), work, given, present=there),
        name=name,
    )


def _tasks(command: Command, request: JobRequest, number: str, conf: Conf) -> list[Task]:
    """A task for each task of its array."""
    found = []
    for index in request.array if request.array is not None else (None,):
        variables = {} if index is None else {"SLURM_ARRAY_TASK_ID": str(index)}
        run_s = request.run_s
        if run_s is None:
            run_s = behaviour(request.script, variables).run_s
        cpus = (request.tasks or request.nodes_min or 1) * (request.cpus_per_task or 1)
        memory = memory_mb(request, cpus, conf) * 2**20
        found.append(
            Task(
                number if index is None else f"{number}_{index}",
                Shape(Resources(cpu_milli=min(cpus * 1000, MAX_AMOUNT), memory_bytes=min(memory, MAX_AMOUNT))),
                submit_ns=command.at_ns,
                duration_ns=NEVER if run_s is None else min(int(run_s * SECOND), NEVER),
                estimate_ns=_limit_ns(request),
                user=command.user,
                queue=request.partitions[0] if request.partitions else "",
            )
        )
    return found


def memory_mb(request: JobRequest, cpus: int, conf: Conf) -> int:
    """What a job asks for or gets by default; 0: nothing says so."""
    each_node, each_cpu = request.mem_per_node_mb, request.mem_per_cpu_mb
    if each_node is None and each_cpu is None:
        named = [one for one in conf.partitions if one.name in request.partitions[:1]]
        of = next(iter(named or [one for one in conf.partitions if one.default]), None)
        amount, is_each_cpu = conf.default_memory(of)
        each_node, each_cpu = (None, amount) if is_each_cpu else (amount, None)
    return each_cpu * cpus if each_cpu is not None else (request.nodes_min or 1) * (each_node or 0)


def _task_of(job: Present, request: JobRequest) -> Task:
    """A task for a job that is there: how long it runs on is not known, so up to its limit."""
    cpus = max(1, job.seen.held.get("cpu", 0) or job.seen.num_cpus or request.cpus_min)
    return Task(
        job.name,
        Shape(Resources(cpu_milli=cpus * 1000, memory_bytes=job.seen.held.get("mem", 0) * 2**20)),
        duration_ns=NEVER,
        estimate_ns=_limit_ns(request),
        user=request.user,
        queue=request.partitions[0] if request.partitions else "",
    )


def _limit_ns(request: JobRequest) -> int:
    return NEVER if request.time_min is None else min(max(request.time_min, 0) * 60 * SECOND, NEVER)


def _node(node: NodeConf) -> Node:
    """A node as the shared parts know it."""
    kinds = [gres.type for gres in node.gres if gres.name == "gpu" and gres.type]
    capacity = Resources(cpu_milli=node.cpus * 1000, memory_bytes=node.memory_mb * 2**20)
    labels = tuple((f"feature/{name}", "yes") for name in node.features)
    return Node(node.name, capacity, kind=kinds[0] if kinds else "", labels=labels)
