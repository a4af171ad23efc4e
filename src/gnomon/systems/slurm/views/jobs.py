"""A job as squeue and scontrol tell of it: what each of their fields says, from the state of the model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

from gnomon.systems.slurm.cluster.job import OVER, PENDING, Job
from gnomon.systems.slurm.cluster.state import SECOND, State
from gnomon.systems.slurm.notation.hostlist import compress
from gnomon.systems.slurm.read.words import STATES
from gnomon.systems.slurm.schedulers.choosing import demand_of
from gnomon.systems.slurm.select.allocation import ranges
from gnomon.systems.slurm.views.formats import Clock, size, tres_text, used

SHORT: Final = {state: short for short, state in STATES.items()}
PRIORITY_MOST: Final = float(2**32 - 1)


@dataclass(frozen=True)
class Shown:
    """A job, or the tasks of an array that still stand together (``tasks``)."""

    state: State
    job: Job
    clock: Clock
    tasks: tuple[Job, ...] = ()

    @property
    def id(self) -> str:
        """As squeue shows it."""
        if self.tasks and self.job.array is not None:
            return f"{self.job.array.id}_[{task_list(self.tasks)}]"
        return self.job.name

    @property
    def task_list(self) -> str:
        """The tasks of its array that it stands for."""
        if self.job.array is None:
            return "N/A"
        return task_list(self.tasks) if self.tasks else str(self.job.array_task)

    @property
    def nodes(self) -> str:
        """Its nodes, as a list of hosts."""
        allocation = self.allocation
        return "" if allocation is None else compress(self.state.names(list(allocation.nodes)))

    @property
    def allocation(self) -> Any:
        """What it has, or had last."""
        if self.job.state == PENDING:
            return None
        return self.job.allocation or (self.job.stints[-1].allocation if self.job.stints else None)

    @property
    def cpus(self) -> int:
        """How many it has, or asks for."""
        if self.allocation is not None:
            return int(self.allocation.total_cpus)
        partition = self.state.part(self.job)
        return int(self.state.selector.least_cpus(demand_of(self.state, self.job, partition)))

    @property
    def node_count(self) -> int:
        """How many nodes it has, or needs at least."""
        if self.allocation is not None:
            return len(self.allocation.nodes)
        conf, partition = self.state.conf, self.state.part(self.job)
        most = max((conf.nodes[n].cpus for n in range(len(conf.nodes)) if partition.nodes[n]), default=1)
        return max(self.job.request.nodes_min or 1, -(-self.cpus // max(1, most)))

    @property
    def limit_s(self) -> int | None:
        """Its time limit, None: none."""
        minutes = self.state.limit_min(self.job, self.state.part(self.job))
        return None if minutes is None else minutes * 60

    @property
    def ran_s(self) -> int:
        """How long it has run."""
        job = self.job
        if job.state == PENDING or not job.stints:
            return 0
        last = job.stints[-1]
        return int(((last.end_ns if last.end_ns >= 0 else self.state.now_ns) - last.start_ns) // SECOND)

    @property
    def start_ns(self) -> int | None:
        """When it started, or is expected to; None: nobody knows."""
        job = self.job
        if job.state != PENDING:
            return job.stints[-1].start_ns if job.stints else (job.ended_ns if job.state in OVER else None)
        if job.begin_ns > self.state.now_ns:
            return job.begin_ns
        return job.planned_ns if job.planned_ns >= 0 else None

    @property
    def end_ns(self) -> int | None:
        """When it ended, or its limit ends; None: nobody knows."""
        job, limit, start = self.job, self.limit_s, self.start_ns
        if job.state in OVER:
            return job.stints[-1].end_ns if job.stints and job.stints[-1].end_ns >= 0 else job.ended_ns
        if job.state != PENDING and job.end_ns:
            return job.end_ns
        return None if limit is None or start is None else start + limit * SECOND

    @property
    def tres(self) -> Mapping[str, int]:
        """What it has, or asks for."""
        partition = self.state.part(self.job).conf
        if self.allocation is not None:
            found: Mapping[str, int] = self.state.selector.tres(self.allocation, partition)
            return found
        demand = demand_of(self.state, self.job, self.state.part(self.job))
        asks: Mapping[str, int] = self.state.selector.requested(demand, partition)
        return asks

    @property
    def memory(self) -> str:
        """The least memory, of a CPU or of a node."""
        request = self.job.request
        mb = request.mem_per_cpu_mb if request.mem_per_node_mb is None else request.mem_per_node_mb
        return size(self.state.conf.default_memory(self.state.part(self.job).conf)[0] if mb is None else mb)

    @property
    def reason(self) -> str:
        """Why it waits, or how it ended."""
        return self.job.reason or "None"

    @property
    def place(self) -> str:
        """Where it runs, or why it does not."""
        return f"({self.reason})" if self.job.state == PENDING else self.nodes

    @property
    def over_subscribe(self) -> str:
        """Whether it shares what it has."""
        request = self.job.request
        return {"node": "NO", "user": "USER", "mcs": "MCS"}.get(request.exclusive) or (
            "YES" if request.oversubscribe else "OK"
        )

    @property
    def dependency(self) -> str:
        """Its conditions that are not met."""
        found = []
        for one in self.job.dependencies:
            if not one.met:
                what = one.what
                of = f":{what.job}" + (f"_{what.task}" if what.task is not None else "") if what.job else ""
                later = f"+{what.minutes}" if what.minutes else ""
                found.append(f"{what.kind}{of}{later}({'failed' if one.never else 'unfulfilled'})")
        return ("?" if self.job.request.any_dependency else ",").join(found) or "(null)"

    def at(self, time_ns: int | None) -> str:
        """A time; N/A for none."""
        return "N/A" if time_ns is None else self.clock(time_ns)


def task_list(tasks: tuple[Job, ...]) -> str:
    """Tasks of an array as squeue writes them: ``1-3,7``, ``7-40:3%2``."""
    numbers = sorted(one.array_task for one in tasks)
    array = tasks[0].array
    limit = f"%{array.limit}" if array is not None and array.limit else ""
    steps = {b - a for a, b in pairwise(numbers)}
    if len(numbers) > 2 and len(steps) == 1 and steps != {1}:
        return f"{numbers[0]}-{numbers[-1]}:{steps.pop()}{limit}"
    return ranges(numbers) + limit


def shown_jobs(state: State, clock: Clock, *, split: bool = False) -> list[Shown]:
    """All jobs in the order of their records; tasks of arrays without one of their own together, unless ``split``."""
    found: list[Shown] = []
    met: set[int] = set()
    every = {id(job): job for job in [*state.jobs.values(), *state.pending, *state.running]}
    for job in every.values():
        if job.array is None or job.split or split:
            found.append(Shown(state, job, clock))
        elif job.array.id not in met:
            met.add(job.array.id)
            tasks = tuple(job.array.unsplit)
            found.append(Shown(state, job, clock, tasks))
    return sorted(found, key=lambda one: (one.job.order_id, one.job.het_offset, one.job.array_task))


def _limit(one: Shown) -> str:
    return "UNLIMITED" if one.limit_s is None else used(one.limit_s)


def _left(one: Shown) -> str:
    if one.limit_s is None:
        return "UNLIMITED"
    left = one.limit_s - one.ran_s
    return used(left) if left >= 0 else "INVALID"


def _gres(one: Shown) -> str:
    asks = one.job.request.gres or one.job.request.gpus_per_node
    return ",".join(f"gres:{g.name}{':' + g.type if g.type else ''}:{g.count}" for g in asks) or "N/A"


FIELDS: Final[Mapping[str, tuple[str, str, Callable[[Shown], str]]]] = {
    "a": ("ACCOUNT", "account", lambda s: s.job.account or "(null)"),
    "A": ("JOBID", "jobid", lambda s: str(s.job.id)),
    "b": ("TRES_PER_NODE", "tres-per-node", _gres),
    "C": ("CPUS", "numcpus", lambda s: str(s.cpus)),
    "D": ("NODES", "numnodes", lambda s: str(s.node_count)),
    "e": ("END_TIME", "endtime", lambda s: s.at(s.end_ns)),
    "E": ("DEPENDENCY", "dependency", lambda s: s.dependency),
    "f": ("FEATURES", "feature", lambda s: s.job.request.features or "(null)"),
    "F": ("ARRAY_JOB_ID", "arrayjobid", lambda s: str(s.job.order_id)),
    "h": ("OVER_SUBSCRIBE", "oversubscribe", lambda s: s.over_subscribe),
    "i": ("JOBID", "jobarrayid", lambda s: s.id),
    "j": ("NAME", "name", lambda s: s.job.request.name),
    "k": ("COMMENT", "comment", lambda s: s.job.request.comment or "(null)"),
    "K": ("ARRAY_TASK_ID", "arraytaskid", lambda s: s.task_list),
    "l": ("TIME_LIMIT", "timelimit", _limit),
    "L": ("TIME_LEFT", "timeleft", _left),
    "m": ("MIN_MEMORY", "minmemory", lambda s: s.memory),
    "M": ("TIME", "timeused", lambda s: used(s.ran_s)),
    "N": ("NODELIST", "nodelist", lambda s: s.nodes),
    "p": ("PRIORITY", "priority", lambda s: f"{s.job.shown_priority / PRIORITY_MOST:16.14f}"),
    "P": ("PARTITION", "partition", lambda s: ",".join(s.job.partitions) if s.job.pends else s.job.partition),
    "q": ("QOS", "qos", lambda s: s.job.qos or "normal"),
    "Q": ("PRIORITY", "prioritylong", lambda s: str(s.job.shown_priority)),
    "r": ("REASON", "reason", lambda s: s.reason),
    "R": ("NODELIST(REASON)", "reasonlist", lambda s: s.place),
    "S": ("START_TIME", "starttime", lambda s: s.at(s.start_ns)),
    "t": ("ST", "statecompact", lambda s: SHORT[s.job.state]),
    "T": ("STATE", "state", lambda s: s.job.state),
    "u": ("USER", "username", lambda s: s.job.user),
    "v": ("RESERVATION", "reservation", lambda s: s.job.request.reservation or "(null)"),
    "V": ("SUBMIT_TIME", "submittime", lambda s: s.clock(s.job.submit_ns)),
    "W": ("LICENSES", "licenses", lambda s: ",".join(f"{n}:{c}" for n, c in s.job.request.licenses) or "(null)"),
    "y": ("NICE", "nice", lambda s: str(s.job.nice)),
    "Y": (
        "SCHEDNODES",
        "schednodes",
        lambda s: compress(s.state.names(list(s.job.planned_nodes))) if s.job.planned_nodes else "(null)",
    ),
    "Z": ("WORK_DIR", "workdir", lambda s: s.job.request.work_dir or "/"),
    "z-tres": ("TRES_ALLOC", "tres-alloc", lambda s: tres_text(s.tres)),
}
"""Fields of squeue by letter: header, the name for ``-O``, value."""
