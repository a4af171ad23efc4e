"""What a user can change about a job alone: to ask for less, for less time, for other nodes, in another place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from gnomon.insight.explain.changes import CONSTRAINT, OWN
from gnomon.insight.explain.phrases import span
from gnomon.insight.slurm.classes import Nodes
from gnomon.insight.slurm.levers import acts
from gnomon.insight.slurm.levers.bench import Lever
from gnomon.insight.slurm.moment import Moment
from gnomon.insight.slurm.rehearsal import Act
from gnomon.insight.slurm.rules import findings
from gnomon.systems.slurm.cluster.state import MINUTE
from gnomon.systems.slurm.sbatch.request import GresRequest

VALUES_MAX = 64


def own_levers(moment: Moment) -> Iterator[Lever]:
    """The job's own request and priority."""
    if moment.job.priority == 0 and moment.reason != "BadConstraints":
        yield single(
            moment,
            OWN,
            "hold",
            "held",
            "released",
            0.0,
            f"release it (scontrol release {moment.job.name})",
            acts.released(moment.job.task),
        )
        return
    yield from _shorter(moment)
    yield from _counts(moment)
    yield from _memory(moment)
    yield from _devices(moment)
    yield from _ahead(moment)


def single(moment: Moment, kind: int, field: str, before: Any, after: Any, size: float, phrase: str, act: Act) -> Lever:
    """A lever with one value."""
    return Lever(
        kind=kind,
        object=f"job/{moment.job.name}",
        field=field,
        before=before,
        values=(after,),
        sizes=(size,),
        phrases=(phrase,),
        acts=(act,),
    )


def _scale(
    moment: Moment,
    field: str,
    before: int,
    values: Iterable[int],
    phrase: Callable[[int], str],
    ask: Callable[[int], Act],
) -> Lever | None:
    """A lever that asks for less of something: the smallest change first."""
    found = _thinned([value for value in values if 0 < value < before])
    if not found:
        return None
    return Lever(
        kind=OWN,
        object=f"job/{moment.job.name}",
        field=field,
        before=before,
        values=tuple(found),
        sizes=tuple((before - value) / max(before, 1) for value in found),
        phrases=tuple(phrase(value) for value in found),
        acts=tuple(ask(value) for value in found),
    )


def _thinned(values: Sequence[int]) -> list[int]:
    """So many of the values as are tried, the largest first."""
    line = sorted(set(values), reverse=True)
    return line if len(line) <= VALUES_MAX else [line[i * len(line) // VALUES_MAX] for i in range(VALUES_MAX)]


def _shorter(moment: Moment) -> Iterator[Lever]:
    """A time limit that is over before what is promised to others, before a reservation, within a limit."""
    job, now = moment.job, moment.now_ns
    before = moment.state.limit_min(job, moment.partition) or moment.limit_min
    ends = [at for at, _, _ in moment.promises()]
    ends += [one.start_ns for one in moment.state.reservations.values() if one.start_ns > now]
    minutes = {(at - now) // MINUTE - late for at in ends for late in (0, 1)}  # a pass may come a little later
    minutes |= {most for name in job.partitions if (most := moment.state.partitions[name].conf.max_time_min)}
    for one in findings(moment):
        if "wall" in one.limit.lower():
            minutes.add(one.allowed - one.used)
        elif "Mins" in one.limit and one.asked:
            minutes.add(max(one.allowed - one.used, 0) * before // one.asked)
    runs = job.request.run_s

    def phrase(value: int) -> str:
        text = f"a time limit of {span(value * MINUTE)} (-t {value})"
        text += f" instead of {span(before * MINUTE)}" if job.limit_min is not None and job.limit_min > 0 else ""
        cut = runs is not None and runs > value * 60
        return f"{text}, in pieces, for it runs {span(int((runs or 0) * 10**9))}" if cut else text

    lever = _scale(moment, "--time", before, minutes, phrase, lambda value: acts.setting(job.task, limit_min=value))
    if lever is not None:
        yield lever


def _counts(moment: Moment) -> Iterator[Lever]:
    """Fewer nodes, tasks, CPUs of a task."""
    request, task = moment.job.request, moment.job.task
    nodes, tasks, each = request.nodes_min or 1, request.tasks or 0, request.cpus_per_task or 1
    levers = []
    if nodes > 1:
        per = tasks / nodes if tasks >= nodes else 0

        def fewer(value: int) -> Act:
            count = int(per * value) or None
            cpus = (count or value) * each
            return acts.asking(task, nodes_min=value, nodes_max=value, node_counts=(), tasks=count, cpus_min=cpus)

        def phrase(value: int) -> str:
            also = f" and {int(per * value)} tasks (-N {value} -n {int(per * value)})" if per else f" (-N {value})"
            return f"ask for {value} node{'' if value == 1 else 's'}{also} instead of {nodes}"

        levers.append(_scale(moment, "--nodes", nodes, range(nodes), phrase, fewer))
    elif tasks > 1:
        levers.append(
            _scale(
                moment,
                "--ntasks",
                tasks,
                range(tasks),
                lambda value: f"ask for {value} task{'' if value == 1 else 's'} (-n {value}) instead of {tasks}",
                lambda value: acts.asking(task, tasks=value, cpus_min=value * each),
            )
        )
    if each > 1:
        levers.append(
            _scale(
                moment,
                "--cpus-per-task",
                each,
                range(each),
                lambda value: f"ask for {value} CPU{'' if value == 1 else 's'} a task (-c {value}) instead of {each}",
                lambda value: acts.asking(task, **acts.with_cpus_per_task(request, value)),
            )
        )
    yield from (lever for lever in levers if lever is not None)


def _memory(moment: Moment) -> Iterator[Lever]:
    """Less memory; or to say how much, where all of the node is taken otherwise."""
    request, task, state = moment.job.request, moment.job.task, moment.state
    nodes = Nodes(moment)
    if not nodes.counts_memory():
        return
    places = [n for n in range(len(state.conf.nodes)) if moment.possible[n] and nodes.free_cpus(n, state.conf.nodes[n])]
    free = {nodes.free_memory(n, state.conf.nodes[n]) for n in places}
    if nodes.asks_all_memory():
        yield from _said(moment, free)
        return
    if request.mem_per_cpu_mb:
        cpus = max(1, nodes.needs(state.conf.nodes[0])[0])
        lever = _scale(
            moment,
            "--mem-per-cpu",
            request.mem_per_cpu_mb,
            {one // cpus for one in free},
            lambda value: f"ask for {value} MB a CPU (--mem-per-cpu={value}) instead of {request.mem_per_cpu_mb}",
            lambda value: acts.asking(task, mem_per_cpu_mb=value),
        )
    elif request.mem_per_node_mb:
        lever = _scale(
            moment,
            "--mem",
            request.mem_per_node_mb,
            free,
            lambda value: f"ask for {value} MB of memory (--mem={value}) instead of {request.mem_per_node_mb}",
            lambda value: acts.asking(task, mem_per_node_mb=value),
        )
    else:
        lever = None
    if lever is not None:
        yield lever


def even_share_mb(moment: Moment) -> int:
    """What a CPU has of the memory of a node, where that is least, in whole 100 MB below."""
    shares = [
        (node.memory_mb - node.mem_spec_mb) // max(1, node.effective_cpus)
        for n, node in enumerate(moment.state.conf.nodes)
        if moment.possible[n]
    ]
    least = min(shares, default=0)
    return least // 100 * 100 or least


def _said(moment: Moment, free: set[int]) -> Iterator[Lever]:
    task, share = moment.job.task, even_share_mb(moment)
    values = _thinned([one for one in free if one > 0])
    if values:
        yield Lever(
            kind=OWN,
            object=f"job/{moment.job.name}",
            field="--mem",
            before=None,
            values=tuple(values),
            sizes=tuple(0.1 + place / 100 for place in range(len(values))),
            phrases=tuple(f"say how much memory it needs, at most {value} MB (--mem={value})" for value in values),
            acts=tuple(acts.asking(task, mem_per_node_mb=value) for value in values),
        )
    native = acts.submitted_with(moment.played.native, task, mem_per_cpu_mb=share)
    if native is not None and share:
        yield Lever(
            kind=OWN,
            object=f"job/{moment.job.name}",
            field="--mem-per-cpu",
            before=None,
            values=(share,),
            sizes=(0.1,),
            phrases=(f"submitted with --mem-per-cpu={share}, say, it leaves memory to the others",),
            natives=(native,),
        )


def _devices(moment: Moment) -> Iterator[Lever]:
    """Fewer devices, or of any type."""
    request, task = moment.job.request, moment.job.task
    for field, option in (("gres", "--gres"), ("gpus", "--gpus"), ("gpus_per_node", "--gpus-per-node")):
        for place, one in enumerate(getattr(request, field)):
            others = getattr(request, field)
            name = one.name or "gpu"

            def other(new: GresRequest, field: str = field, place: int = place, others: Any = others) -> Act:
                return acts.asking(task, **{field: (*others[:place], new, *others[place + 1 :])})

            def fewer(value: int, one: GresRequest = one, other: Any = other) -> Act:
                return other(replace(one, count=value))  # type: ignore[no-any-return]

            lever = _scale(
                moment,
                option,
                one.count,
                range(one.count),
                lambda value, name=name, one=one: f"ask for {value} {name} instead of {one.count}",  # type: ignore[misc]
                fewer,
            )
            if lever is not None:
                yield lever
            if one.type:
                yield single(
                    moment,
                    CONSTRAINT,
                    option,
                    f"{name}:{one.type}",
                    name,
                    0.2,
                    f"ask for any {name}, not only {one.type}",
                    other(replace(one, type="")),
                )


def _ahead(moment: Moment) -> Iterator[Lever]:
    """To be the first in line."""
    line = moment.line
    if not line:
        return
    job = moment.job
    top = max(one.priority for one in line) + 1
    size = (top - job.priority) / max(job.priority, 1)
    phrase = f"a priority above those before it (scontrol update JobId={job.name} Priority={top})"
    yield single(moment, OWN, "Priority", job.priority, top, max(size, 0.05), phrase, acts.raised(job.task, top))
