"""The jobs that are there when a simulation begins: what runs holds its nodes since its start, what waits is as it is.

Time 0 is the moment of the snapshot; what was before has negative times. A running job whose length nobody knows runs
to its limit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from gnomon.model.errors import InputError
from gnomon.model.work import Note
from gnomon.systems.slurm.cluster.state import SECOND
from gnomon.systems.slurm.notation.hostlist import expand
from gnomon.systems.slurm.read.asked import gres_asks, gres_of, limit_min
from gnomon.systems.slurm.read.jobs import SeenJob
from gnomon.systems.slurm.read.words import NO_TIME
from gnomon.systems.slurm.sbatch.arrays import check_tasks, printed_tasks
from gnomon.systems.slurm.sbatch.licenses import licenses
from gnomon.systems.slurm.sbatch.refusals import RefusedError
from gnomon.systems.slurm.sbatch.request import JobRequest

WAITING: Final = frozenset(("PENDING", "REQUEUED", "REQUEUE_HOLD", "SPECIAL_EXIT"))
RUNNING: Final = frozenset(("RUNNING", "CONFIGURING", "SUSPENDED", "RESIZING", "SIGNALING", "STOPPED"))


@dataclass(frozen=True)
class Present:
    """A job that is there, with its times in ns from the snapshot (None: none); of the tasks of an array that are still
    together each one."""

    seen: SeenJob
    submit_ns: int
    eligible_ns: int | None
    start_ns: int | None

    name: str

    @property
    def runs(self) -> bool:
        """Whether it has nodes."""
        return self.seen.state in RUNNING


@dataclass(frozen=True)
class Submitted:
    """What was submitted together: ``members``, a job each, and what each ``asks`` for; ``requests``: of the
    submission; ``id``: what it was submitted under."""

    id: int
    members: tuple[Present, ...]
    asks: tuple[JobRequest, ...]
    requests: tuple[JobRequest, ...]


@dataclass(frozen=True)
class Standing:
    """The jobs that are there, in the order of their ids; ``last_id``: the largest id."""

    jobs: tuple[Submitted, ...]
    last_id: int
    notes: tuple[Note, ...] = ()

    @property
    def owners(self) -> set[tuple[str, str]]:
        """The accounts and users that have jobs."""
        return {(one.seen.account, one.seen.user) for group in self.jobs for one in group.members}

    @property
    def qos(self) -> set[str]:
        """The QOS that they use."""
        return {one.seen.qos for group in self.jobs for one in group.members}


def standing(jobs: Sequence[SeenJob], now_s: int) -> Standing:
    """The jobs that wait or run at a moment; those that are over, or on their way out, are left out, and told of."""
    notes = []
    here = [job for job in jobs if job.state in WAITING or job.state in RUNNING]
    leaving = sum(1 for job in jobs if job.state in ("COMPLETING", "STAGE_OUT"))
    if leaving:
        notes.append(
            Note("not modelled", "COMPLETING", "jobs whose processes were ending: their nodes are free", leaving)
        )
    runs = sum(1 for job in here if job.state in RUNNING)
    if runs:
        notes.append(
            Note("guess", "running jobs", "how long they run is not known: taken to run to their limits", runs)
        )
    found: list[Submitted] = []
    count = 0
    for group in together(here):
        count += sum(len(_numbers(job)) for job in group)
        check_tasks(count, group[0].shown)
        found.append(_submitted(group, now_s))
    return Standing(tuple(found), max((job.id for job in jobs), default=0), tuple(notes))


def _submitted(group: Sequence[SeenJob], now_s: int) -> Submitted:
    """Jobs that were submitted together."""
    first = group[0]
    number = next((one for one in (first.array, first.het) if one > 0), first.id)
    if first.array <= 0:
        requests = tuple(request_of(job) for job in group)
        return Submitted(number, tuple(_present(job, now_s, job.shown) for job in group), requests, requests)
    tasks = {}
    for job in group:
        for task in _numbers(job):
            tasks[task] = _present(job, now_s, f"{number}_{task}")
    numbers = tuple(sorted(tasks))
    waiting = next((job for job in group if job.state in WAITING), first)
    whole = request_of(waiting, array=numbers)
    members = tuple(tasks[task] for task in numbers)
    return Submitted(number, members, tuple(request_of(one.seen) for one in members), (whole,))


def _numbers(job: SeenJob) -> tuple[int, ...]:
    """Which tasks of an array a job stands for; (-1,): it is none."""
    return printed_tasks(job.tasks)[0] if job.array > 0 and job.task < 0 else (job.task,)


def _present(seen: SeenJob, now_s: int, name: str) -> Present:
    def since(moment: int) -> int | None:
        return None if moment == NO_TIME else (moment - now_s) * SECOND

    submit, start = since(seen.submit_s), since(seen.start_s)
    starts = None if start is None else min(start, 0)
    return Present(seen, min(submit or 0, 0), since(seen.eligible_s), starts, name)


def request_of(seen: SeenJob, *, array: tuple[int, ...] | None = None) -> JobRequest:
    """What a job asks for, as far as squeue or scontrol tell."""
    layout: dict[str, Any] = dict(seen.layout)
    for name in ("node_list", "exclude"):
        if name in layout:
            layout[name] = expand(layout[name])
    features = str(layout.get("features", "")).replace("(null)", "")
    if seen.state not in WAITING:  # what it has now is not what it asked for
        layout.pop("node_list", None)
    asks = dict(seen.tres_asks)
    per_node = gres_asks(asks.get("node", ""))
    if not asks and seen.held:
        per_node = gres_of(seen.held, max(1, seen.num_nodes or 1))
    tasks = layout.pop("tasks", None)
    if tasks is None and seen.num_cpus:
        tasks = max(1, seen.num_cpus // int(layout.get("cpus_per_task") or 1))
    told = layout.pop("nodes_min", None) or seen.num_nodes  # of a waiting job an estimate: its resources tell better
    nodes = seen.held.get("node") or told
    try:
        taken = licenses(seen.licenses) if seen.licenses else ((), False)
    except RefusedError as error:
        raise InputError("not a list of licences", field=f"job {seen.shown}", found=seen.licenses) from error
    if tasks is not None and nodes is not None:
        tasks = max(int(tasks), int(nodes))
    return JobRequest(
        name=seen.name,
        user=seen.user or "user",
        account=seen.account,
        qos=seen.qos,
        partitions=seen.partitions,
        nodes_min=nodes if nodes and nodes > 1 else None,
        tasks=tasks,
        cpus_min=(tasks or 1) * int(layout.get("cpus_per_task") or 1),
        gres=per_node,
        gpus=tuple(one for one in gres_asks(asks.get("job", "")) if one.name == "gpu"),
        gpus_per_socket=tuple(one for one in gres_asks(asks.get("socket", "")) if one.name == "gpu"),
        gpus_per_task=tuple(one for one in gres_asks(asks.get("task", "")) if one.name == "gpu"),
        time_min=limit_min(seen.limit_s),
        licenses=taken[0],
        licenses_any=taken[1],
        hold=seen.priority == 0,
        array=array,
        array_limit=seen.array_limit,
        **{**layout, "features": features},
    )


def together(jobs: Sequence[SeenJob]) -> Iterator[list[SeenJob]]:
    """The jobs as they were submitted: arrays and heterogeneous jobs in one, in the order of their ids."""
    groups: dict[tuple[str, int], list[SeenJob]] = {}
    for job in jobs:
        key = ("array", job.array) if job.array > 0 else ("het", job.het) if job.het > 0 else ("job", job.id)
        groups.setdefault(key, []).append(job)
    for (kind, _), group in sorted(groups.items(), key=lambda one: one[0][1]):
        yield sorted(group, key=lambda job: job.offset) if kind == "het" else group
