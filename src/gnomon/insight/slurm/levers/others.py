"""What others can change: limits, partitions, configuration, nodes, and the jobs that are in its way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from gnomon.insight.explain.changes import LIMIT, NODES, OTHERS
from gnomon.insight.explain.phrases import counted, span
from gnomon.insight.slurm.classes import Nodes
from gnomon.insight.slurm.levers import acts
from gnomon.insight.slurm.levers.bench import Lever
from gnomon.insight.slurm.levers.own import even_share_mb
from gnomon.insight.slurm.meaning import in_its_way
from gnomon.insight.slurm.moment import Moment
from gnomon.insight.slurm.rehearsal import Act, Rehearsal
from gnomon.insight.slurm.rules import findings, holders, object_of
from gnomon.systems.slurm.accounting.entries import Entry, QosEntry
from gnomon.systems.slurm.accounting.limit_checks import Finding, place_name
from gnomon.systems.slurm.accounting.limit_reasons import OPTION_NAMES
from gnomon.systems.slurm.accounting.limits import Limits
from gnomon.systems.slurm.cluster.job import Job
from gnomon.systems.slurm.cluster.state import MINUTE, State

JOBS_MAX = 6
NODES_MAX = 8


def limit_levers(moment: Moment) -> Iterator[Lever]:
    """Limits, configuration, nodes that are there and closed."""
    for one in findings(moment):
        lever = _raised(one)
        if lever is not None:
            yield lever
    yield from _partition(moment)
    yield from _memory_default(moment)
    yield from _resumed(moment)


def other_levers(moment: Moment) -> Iterator[Lever]:
    """Another's work, and reservations."""
    blocked = in_its_way(moment) if moment.fits_now is not None else None
    if blocked is not None:
        yield _of_job(blocked[1], "hold", acts.held(blocked[1].task), f"hold job {blocked[1].name}", 0.3)
    for name, one in moment.state.reservations.items():
        if (
            one.end_ns > moment.now_ns
            and (one.nodes & moment.possible).any()
            and name != moment.job.request.reservation
        ):
            yield Lever(
                kind=OTHERS,
                object=f"reservation/{name}",
                field="delete",
                before=name,
                values=(None,),
                sizes=(1.0,),
                phrases=(f"delete reservation {name}",),
                acts=(_without_reservation(name),),
            )
    for job in _who_holds(moment):
        size = 0.5 + _size(job)
        phrase = f"cancel job {job.name} ({_has(job)})"
        yield _of_job(job, "cancel", acts.cancelled(job.task), phrase, size)


def node_levers(moment: Moment) -> Iterator[Lever]:
    """More nodes."""
    nodes = Nodes(moment)
    takes = [n for n in np.flatnonzero(moment.possible).tolist() if nodes.node(n).kind != "small"]
    power = moment.state.power
    if power is not None:
        yield from _capacity(moment)
    if not takes:
        return
    like = moment.state.conf.nodes[_commonest(moment.state, takes)].name
    counts = range(1, min(NODES_MAX, moment.job.request.nodes_min or 1) + 1)
    made = [acts.with_nodes(moment.played.native, like, count) for count in counts]
    yield Lever(
        kind=NODES,
        object=f"node/{like}",
        field="count",
        before=0,
        values=tuple(counts),
        sizes=tuple(float(count) for count in counts),
        phrases=tuple(f"{'one more node' if n == 1 else f'{n} more nodes'} like {like}" for n in counts),
        natives=tuple(native for native, _ in made),
        acts=tuple(acts.resumed(*numbers) for _, numbers in made),
    )


def _commonest(state: State, numbers: list[int]) -> int:
    """The first of the nodes of which there are most alike."""
    alike = Counter(_model(state, n) for n in numbers)
    return max(numbers, key=lambda n: (alike[_model(state, n)], -n))


def _model(state: State, n: int) -> tuple[Any, ...]:
    node = state.conf.nodes[n]
    return node.cpus, node.memory_mb, node.features, node.gres, node.weight


# ------------------------------------------------------------------ limits


def _raised(one: Finding) -> Lever | None:
    """A limit, raised to what is needed."""
    family = next((name for name, option in OPTION_NAMES.items() if option == one.limit), "")
    if not family:
        return None
    needed = one.used + one.asked if not family.startswith("min_") else one.asked
    of = f"{one.limit}={one.resource}=" if one.resource else f"{one.limit}="
    return Lever(
        kind=LIMIT,
        object=object_of(one.place),
        field=f"{one.limit}{f'={one.resource}' if one.resource else ''}",
        before=one.allowed,
        values=(needed,),
        sizes=(abs(needed - one.allowed) / max(one.allowed, 1),),
        phrases=(f"{of}{needed} for {one.place} instead of {one.allowed}",),
        acts=(_limit_set(one.place, family, one.resource, needed),),
    )


def _limit_set(place: str, family: str, resource: str, value: int) -> Act:
    """A limit has another value from now on."""

    def act(played: Rehearsal) -> None:
        state = played.state
        entries: list[Entry | QosEntry] = [*state.tree.entries, *state.tree.qos.values()]
        for entry in entries:
            if place not in (place_name(entry), *(() if isinstance(entry, Entry) else _of_qos(place, entry))):
                continue
            old = getattr(entry.limits, family)
            new: Any = {**old, resource: value} if resource else value
            limits = replace(entry.limits, **{family: new})
            if isinstance(entry, QosEntry):
                entry.record = replace(entry.record, limits=limits)
            else:
                entry.limits = limits
        old_limits = state.limits
        state.limits = Limits(
            state.tree, state.usage, old_limits.enforce, times=old_limits.times, fairshare=state.priorities.fairshare
        )

    return act


def _of_qos(place: str, entry: QosEntry) -> tuple[str, ...]:
    return (place,) if place.endswith(f" in QOS {entry.name}") else ()


def _partition(moment: Moment) -> Iterator[Lever]:
    """MaxTime, MaxNodes, State of the partition."""
    conf, job = moment.partition.conf, moment.job
    limit, least = moment.state.limit_min(job, moment.partition), job.request.nodes_min or 1
    changes: list[tuple[str, Any, Any, str, dict[str, Any]]] = []
    if conf.max_time_min is not None and limit is not None and limit > conf.max_time_min:
        phrase = (
            f"MaxTime={span(limit * MINUTE)} for partition {conf.name} instead of {span(conf.max_time_min * MINUTE)}"
        )
        changes.append(("MaxTime", conf.max_time_min, limit, phrase, {"max_time_min": limit}))
    if conf.max_nodes is not None and least > conf.max_nodes:
        phrase = f"MaxNodes={least} for partition {conf.name} instead of {conf.max_nodes}"
        changes.append(("MaxNodes", conf.max_nodes, least, phrase, {"max_nodes": least}))
    if not moment.partition.up:
        changes.append(("State", conf.state, "UP", f"set partition {conf.name} UP", {"state": "UP"}))
    for field, before, after, phrase, values in changes:
        size = (after - before) / max(before, 1) if isinstance(after, int) else 0.5
        yield Lever(
            kind=LIMIT,
            object=f"partition/{conf.name}",
            field=field,
            before=before,
            values=(after,),
            sizes=(size,),
            phrases=(phrase,),
            acts=(acts.partition_with(conf.name, **values),),
        )


def _memory_default(moment: Moment) -> Iterator[Lever]:
    """DefMemPerCPU, where jobs that say nothing take all memory."""
    if not Nodes(moment).asks_all_memory():
        return
    share = even_share_mb(moment)
    if share:
        yield Lever(
            kind=LIMIT,
            object="slurm.conf",
            field="DefMemPerCPU",
            before=None,
            values=(share,),
            sizes=(0.1,),
            phrases=(f"DefMemPerCPU={share} in slurm.conf, as much as the nodes have for a CPU",),
            natives=(acts.configured_with(moment.played.native, defmempercpu=str(share)),),
        )


def _resumed(moment: Moment) -> Iterator[Lever]:
    """Nodes that are down or drained, resumed."""
    state = moment.state
    closed = [n for n in (*state.drained, *state.down) if moment.possible[n]]
    named = set(moment.job.request.node_list)
    closed.sort(key=lambda n: (state.conf.nodes[n].name not in named, n in state.down, n))
    closed = list(dict.fromkeys(closed))[:NODES_MAX]
    if not closed:
        return
    names = [state.conf.nodes[n].name for n in closed]
    yield Lever(
        kind=LIMIT,
        object=f"node/{names[0]}",
        field="State",
        before="DOWN" if closed[0] in state.down else "DRAINED",
        values=tuple("RESUME" for _ in closed),
        sizes=tuple(float(count) for count in range(1, len(closed) + 1)),
        phrases=tuple(f"resume {', '.join(names[: count + 1])}" for count in range(len(closed))),
        acts=tuple(acts.resumed(*closed[: count + 1]) for count in range(len(closed))),
    )


def _capacity(moment: Moment) -> Iterator[Lever]:
    """More instances from the provider of nodes that are switched on."""
    power = moment.state.power
    for number, one in enumerate(power.providers):
        mine = [n for n in sorted(one.nodes) if moment.possible[n]]
        if one.capacity is None or not mine or one.capacity >= len(one.nodes):
            continue
        values = tuple(range(one.capacity + 1, min(len(one.nodes), one.capacity + NODES_MAX) + 1))
        like = moment.state.conf.nodes[mine[0]].name
        yield Lever(
            kind=NODES,
            object=f"node/{like}",
            field="Capacity",
            before=one.capacity,
            values=values,
            sizes=tuple(float(value - one.capacity) for value in values),
            phrases=tuple(f"the provider has {counted(value, 'instance')} of {like} and its like" for value in values),
            acts=tuple(_with_capacity(number, value) for value in values),
        )


def _with_capacity(number: int, value: int) -> Act:
    def act(played: Rehearsal) -> None:
        power = played.state.power
        power.providers[number] = replace(power.providers[number], capacity=value)

    return act


# ------------------------------------------------------------------ others


def _of_job(job: Job, field: str, act: Act, phrase: str, size: float) -> Lever:
    return Lever(
        kind=OTHERS,
        object=f"job/{job.name}",
        field=field,
        before=job.state,
        values=(None,),
        sizes=(size,),
        phrases=(phrase,),
        acts=(act,),
    )


def _without_reservation(name: str) -> Act:
    def act(played: Rehearsal) -> None:
        played.state.reservations.pop(name, None)
        played.state.changed = True

    return act


def _who_holds(moment: Moment) -> list[Job]:
    """The running jobs on nodes that it could have, or that use up its limits or licences; those with least first."""
    state, job = moment.state, moment.job
    found = [one for one in state.running if moment.possible[list(one.allocation.nodes)].any()]
    limited = [one for finding in findings(moment) for one in holders(state, finding)]
    wanted = {name for name, _ in job.request.licenses}
    licensed = [one for one in state.running if wanted & {name for name, _ in one.request.licenses}]
    line = list(dict.fromkeys([*limited, *licensed, *found]))
    own = set(job.array.tasks) if job.array is not None else set()
    return sorted((one for one in line if one not in own), key=_size)[:JOBS_MAX]


def _size(job: Job) -> float:
    return float(job.allocation.total_cpus) if job.allocation is not None else 0.0


def _has(job: Job) -> str:
    nodes = len(job.allocation.nodes)
    return f"{job.user}, {job.allocation.total_cpus} CPUs on {nodes} node{'' if nodes == 1 else 's'}"
