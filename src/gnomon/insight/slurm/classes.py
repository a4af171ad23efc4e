"""Nodes grouped by why they do not take a job, with the numbers of the one that is nearest to taking it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from gnomon.insight.explain.classes import NodeClass
from gnomon.insight.explain.phrases import listed
from gnomon.insight.slurm.moment import Moment
from gnomon.systems.slurm.cluster.job import Job
from gnomon.systems.slurm.config.conf import NodeConf
from gnomon.systems.slurm.sbatch.request import GresRequest, JobRequest
from gnomon.systems.slurm.schedulers.choosing import not_anothers

HOLDERS_MAX: Final = 3
"""How many of the jobs that hold a node are named."""
_RANK: Final = ("fits", "promised", "closed", "reserved", "busy", "off", "small", "left out", "feature", "partition")


@dataclass(frozen=True)
class Node:
    """One node as the job finds it: what kind of thing is against it (one of the words of the rank), and the reasons;
    ``key``: the same for nodes that fail for the same reasons; ``short``: how far it is from having room."""

    number: int
    kind: str
    key: tuple[str, ...]
    reasons: tuple[str, ...]
    short: float = 0.0


class Nodes:
    """What each node offers a job at a moment. ``ever``: what it could offer at all, whatever its state is."""

    def __init__(self, moment: Moment, *, ever: bool = False) -> None:
        self.moment, self._ever = moment, ever
        state = moment.state
        self.request, self.whole = share_of(moment.job.request)
        self._demand = state.selector.demand_of(self.request, moment.partition.conf)
        self._nobody = np.zeros(len(state.conf.nodes), np.bool_)
        self._empty = state.selector.occupancy()
        self._open = not_anothers(state, moment.job, moment.partition)
        columns = state.occupancy.columns.columns
        self._idle, self._memory = columns.idle.tolist(), columns.memory.tolist()
        self._on: dict[int, list[Job]] = {}
        for job in state.running:
            for node in job.allocation.nodes:
                self._on.setdefault(node, []).append(job)

    def found(self) -> list[Node]:
        """All nodes."""
        return [self.node(n) for n in range(len(self.moment.state.conf.nodes))]

    def node(self, n: int) -> Node:
        """One node."""
        moment, state = self.moment, self.moment.state
        conf, name = state.conf.nodes[n], moment.partition.name
        if not moment.partition.nodes[n]:
            return Node(n, "partition", ("partition",), (f"not in partition {name}",))
        if not self._ever and (n in state.down or n in state.drained):
            return _closed(n, state.down.get(n), state.drained.get(n), busy=n in self._on)
        if conf.name in moment.job.request.exclude:
            return Node(n, "left out", ("exclude",), ("left out by --exclude",))
        if moment.job.request.tmp_mb > conf.tmp_mb:
            text = f"has {conf.tmp_mb} MB of temporary disk, {needed(moment.job.request.tmp_mb)}"
            return Node(n, "small", ("small", "tmp"), (text,))
        if not moment.possible[n]:
            wanted = moment.job.request.features
            has = ",".join(conf.features) or "none"
            return Node(n, "feature", ("feature", has), (f"has not the features {wanted} (its own: {has})",))
        if not state.selector.fits_ever(self._demand, self._only(n), self._nobody):
            lacks = list(self._lacks(conf))
            return Node(n, "small", ("small", *(kind for kind, _, _ in lacks)), *_told(lacks))
        if self._ever:
            return Node(n, "fits", ("fits",), ("could take all of it" if self.whole else "could take a part of it",))
        return self._now(n, conf)

    def _now(self, n: int, conf: NodeConf) -> Node:
        moment, state = self.moment, self.moment.state
        if not moment.verdict.usable[n]:
            return self._reserved(n)
        only = self._only(n)
        settled = n not in state.completing
        if (
            settled
            and self._open[n]
            and state.selector.select(moment.verdict.occupancy, self._demand, only, self._nobody)
        ):
            return self._with_room(n)
        if not settled:
            return Node(n, "busy", ("completing",), ("completing: processes of a job are not gone yet",))
        if not self._open[n]:
            return Node(n, "busy", ("another user",), ("another user has it for himself", self._holders(n)))
        taken = list(self._taken(n, conf))
        reasons, short = _told(taken) if taken else (("taken in a way that does not fit",), 0.0)
        holders = self._holders(n)
        return Node(
            n, "busy", ("busy", *(kind for kind, _, _ in taken)), (*reasons, *([holders] if holders else [])), short
        )

    def _with_room(self, n: int) -> Node:
        moment = self.moment
        power = moment.state.power
        off = power is not None and n in power.asleep
        for at_ns, other, nodes in moment.promises():
            if n in nodes:
                text = f"promised to job {other.name} from {moment.at(at_ns)} on"
                return Node(n, "promised", ("promised", other.name), (text,))
        if off:
            return Node(n, "off", ("off",), ("powered down: is switched on when a job is given it",))
        return Node(n, "fits", ("fits",), ("has room" if self.whole else "has room for a part of it",))

    def _only(self, n: int) -> Any:
        mask = self._nobody.copy()
        mask[n] = True
        return mask

    def _reserved(self, n: int) -> Node:
        moment = self.moment
        end_ns = moment.now_ns + moment.limit_min * 60 * 10**9
        own = moment.job.request.reservation
        kept = [
            one
            for one in moment.state.reservations.values()
            if one.nodes[n] and one.name != own and one.start_ns < end_ns and moment.now_ns < one.end_ns
        ]
        if not kept:
            return Node(n, "reserved", ("not its",), (f"not in reservation {own}",))
        first = min(kept, key=lambda one: one.start_ns)
        what = "maintenance" if first.is_maintenance else "reservation"
        text = f"{what} {first.name} from {moment.at(first.start_ns)} to {moment.at(first.end_ns)}"
        return Node(n, "reserved", ("reserved", first.name), (text,))

    def _lacks(self, conf: NodeConf) -> Iterator[tuple[str, str, float]]:
        """What a node never has enough of, each with a text and how far it is off."""
        cpus, memory = self.needs(conf)
        if cpus > conf.effective_cpus:
            kept = conf.effective_cpus < conf.cpus
            has = f"{conf.effective_cpus} of its {conf.cpus} CPUs for jobs" if kept else f"{conf.cpus} CPUs"
            yield "cpu", f"has {has}, {needed(cpus)}", cpus / max(conf.effective_cpus, 1) - 1
        usable = conf.memory_mb - conf.mem_spec_mb
        if memory > usable:
            yield "memory", f"has {usable} MB of memory, {needed(memory)}", memory / max(usable, 1) - 1
        for name, kind, count in self._wants():
            has_count = _gres_of(conf, name, kind)
            if count > has_count:
                yield (
                    f"gres/{name}",
                    f"has {has_count} {_typed(name, kind)}, {needed(count)}",
                    float(count - has_count),
                )

    def _taken(self, n: int, conf: NodeConf) -> Iterator[tuple[str, str, float]]:
        """What a node has not enough of now."""
        cpus, memory = self.needs(conf)
        free, usable = self.free_cpus(n, conf), conf.memory_mb - conf.mem_spec_mb
        if self.request.exclusive == "node" and n in self._on:
            yield "whole", "is not empty, and the job wants whole nodes", 1.0
            return
        if cpus > free:
            yield "cpu", f"{free} of {conf.effective_cpus} CPUs free, {needed(cpus)}", (cpus - free) / max(cpus, 1)
        left = self.free_memory(n, conf)
        if memory > left and self.counts_memory():
            idle = f" ({free} of {conf.effective_cpus} CPUs are idle)" if free else ""
            text = f"{left} of {usable} MB of memory free, {needed(memory)}{idle}"
            yield "memory", text, (memory - left) / max(memory, 1)
        for name, kind, count in self._wants():
            left = _gres_of(conf, name, kind) - self._gres_taken(n, name)
            if count > left:
                yield f"gres/{name}", f"{max(left, 0)} {_typed(name, kind)} free, {needed(count)}", 1.0

    # ------------------------------------------------------------------ amounts

    def free_cpus(self, n: int, conf: NodeConf) -> int:
        """CPUs of the cores that nobody has."""
        threads = max(1, conf.cpus // max(1, conf.sockets * conf.cores))
        return min(int(self._idle[n]) * threads, conf.effective_cpus)

    def free_memory(self, n: int, conf: NodeConf) -> int:
        """Memory that nobody has, in MB."""
        return conf.memory_mb - conf.mem_spec_mb - int(self._memory[n])

    def counts_memory(self) -> bool:
        """Whether memory is given out in this partition."""
        return bool(self._demand.unit[1])

    def asks_all_memory(self) -> bool:
        """Whether the job gets all memory of its nodes, since neither it nor a default says how much."""
        from gnomon.systems.slurm.select import ask

        return self.counts_memory() and self._demand[ask.MEMORY] == 0

    def needs(self, conf: NodeConf) -> tuple[int, int]:
        """CPUs and memory (MB) that the job needs on a node that it has a share on."""
        from gnomon.systems.slurm.select import ask

        demand = self._demand
        cpus = max(demand[ask.NODE_CPUS], demand[ask.CPUS_PER_TASK] * max(1, demand[ask.TASKS] if self.whole else 1))
        cpus = max(cpus, demand[ask.GRES_NODE_CPUS], demand[ask.MIN_CPUS] if self.whole else 1)
        if demand[ask.WHOLE]:
            cpus = max(cpus, conf.effective_cpus)
        if self.asks_all_memory():
            return cpus, conf.memory_mb - conf.mem_spec_mb
        return cpus, demand[ask.MEMORY] * (cpus if demand[ask.PER_CPU] else 1)

    def _wants(self) -> Iterator[tuple[str, str, int]]:
        request = self.request
        for one in (*request.gres, *request.gpus, *request.gpus_per_node, *request.gpus_per_task):
            yield one.name or "gpu", one.type, one.count

    def _gres_taken(self, n: int, name: str) -> int:
        state, taken = self.moment.state, 0
        for job in self._on.get(n, ()):
            tres = state.selector.tres(job.allocation, state.part(job).conf)
            taken += tres.get(f"gres/{name}", 0) // max(1, len(job.allocation.nodes))
        return taken

    def _holders(self, n: int) -> str:
        jobs = sorted(self._on.get(n, ()), key=lambda job: job.order_id)
        names = [job.name for job in jobs]
        return f"held by {'job' if len(names) == 1 else 'jobs'} {listed(names, HOLDERS_MAX)}" if names else ""


def needed(count: int) -> str:
    """So many are needed.

    >>> needed(1), needed(8)
    ('1 is needed', '8 are needed')
    """
    return f"{count} {'is' if count == 1 else 'are'} needed"


def share_of(request: JobRequest) -> tuple[JobRequest, bool]:
    """The least that a job takes of a node, and whether that is all of it: of one that may be spread one task."""
    whole = request.nodes_max == 1 or ((request.nodes_min or 1) == 1 and (request.tasks or 1) == 1 and not request.gpus)
    request = replace(request, node_list=(), features="", array=None, dependencies=(), switches=None, contiguous=False)
    if whole:
        return request, True
    tasks = request.tasks_per_node or 1
    gpus = tuple(GresRequest(one.name, one.type, 1) for one in request.gpus)
    cpus = tasks * (request.cpus_per_task or 1)
    return replace(request, nodes_min=1, nodes_max=1, node_counts=(), tasks=tasks, gpus=gpus, cpus_min=cpus), False


def node_classes(moment: Moment, *, ever: bool = False) -> list[NodeClass]:
    """The nodes by reasons, those first that are nearest to taking the job. ``ever``: as if
    nothing ran and all were up."""
    found: dict[tuple[str, ...], list[Node]] = {}
    for node in Nodes(moment, ever=ever).found():
        found.setdefault((node.kind, *node.key), []).append(node)
    told = []
    for nodes in sorted(found.values(), key=lambda nodes: (_RANK.index(nodes[0].kind), -len(nodes))):
        example = min(nodes, key=lambda node: node.short)
        told.append(NodeClass(len(nodes), moment.state.conf.nodes[example.number].name, example.reasons))
    return told


def _told(parts: list[tuple[str, str, float]]) -> tuple[tuple[str, ...], float]:
    reasons = tuple(text for _, text, _ in parts) or ("does not fit by its sockets, cores or threads",)
    return reasons, sum(short for _, _, short in parts)


def _closed(n: int, down: str | None, drained: str | None, *, busy: bool) -> Node:
    word = "DOWN" if down is not None else "DRAINING" if busy else "DRAINED"
    why = down or drained or ""
    return Node(n, "closed", ("closed", word, why), (f"{word}: {why}" if why else word,))


def _gres_of(conf: NodeConf, name: str, kind: str) -> int:
    return sum(one.count for one in conf.gres if one.name == name and (not kind or one.type == kind))


def _typed(name: str, kind: str) -> str:
    return f"{name}:{kind}" if kind else name
