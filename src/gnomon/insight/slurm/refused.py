"""A submission that sbatch is refused: the reply, the part of it that cannot be met, and what would be taken."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any

from gnomon.insight.explain.answer import Explanation
from gnomon.insight.explain.changes import CONSTRAINT, OWN, Change, cost_of
from gnomon.insight.explain.phrases import Numbers, listed, span
from gnomon.insight.explain.waits import Wait
from gnomon.insight.slurm.classes import node_classes
from gnomon.insight.slurm.course import course_of
from gnomon.insight.slurm.history import asks
from gnomon.insight.slurm.levers import acts
from gnomon.insight.slurm.levers.own import VALUES_MAX
from gnomon.insight.slurm.meaning import short_of
from gnomon.insight.slurm.moment import Moment
from gnomon.insight.slurm.rehearsal import Given, Rehearsal
from gnomon.insight.slurm.subjects import Subject
from gnomon.systems.slurm.accounting.limit_submission import Submission as LimitSubmission
from gnomon.systems.slurm.cluster.job import Job
from gnomon.systems.slurm.cluster.state import MINUTE, State
from gnomon.systems.slurm.controller.submitting import NOT_AVAILABLE
from gnomon.systems.slurm.sbatch.request import JobRequest

SOON_NS = 65 * 10**9


@dataclass(frozen=True)
class Other:
    """Another request: which option, its value before and after, how it is told, and the fields that differ."""

    kind: int
    option: str
    before: Any
    after: Any
    size: float
    phrase: str
    fields: dict[str, Any]


def explain_refusal(who: Subject, played: Rehearsal) -> Explanation:
    """Explain a refusal. ``played``: a rehearsal that has not begun."""
    played.run(who.sent.at_ns)
    sent = next(one for one in played.sent if one.task == who.sent.task)
    assert sent.reply is not None
    state, request = played.state, sent.requests[0]
    text = sent.reply.text
    said = text.replace("sbatch: error: ", "").replace("Batch job submission failed: ", "").replace("\n", "; ")
    classes: tuple[Any, ...] = ()
    why, waits = _why(state, request, text), "refused"
    numbers: Numbers = {}
    if sent.jobs and NOT_AVAILABLE in text:
        job = sent.jobs[0]
        moment = Moment(played, job, course_of(played, job))
        why, classes, waits = (
            f"no node can ever take it: {short_of(moment, ever=True)}",
            tuple(node_classes(moment, ever=True)),
            "BadConstraints",
        )
        numbers = _most(state, job)
    if "violates accounting/QOS policy" in text:
        why = _limit(state, request) or why
    wait = Wait("infeasible", waits, who.name, said, numbers, begin_ns=sent.at_ns, end_ns=sent.at_ns)
    name = request.name or who.name
    summary = f"{name} ({_asked(sent.jobs, request)}) is refused at {span(sent.at_ns)}: {said}; {why}"
    changes = tuple(_changes(who, played, list(_others(state, request))))
    notes = () if changes else ("no single change that was tried makes it be taken",)
    return Explanation(who.name, "rejected", summary.removesuffix("; "), text, (wait,), classes, (), changes, notes)


def _asked(jobs: tuple[Job, ...], request: JobRequest) -> str:
    stand_in = jobs[0] if jobs else Job(-1, request, user=request.user, partitions=request.partitions or ("default",))
    return asks(stand_in)


def _most(state: State, job: Job) -> Numbers:
    """The usable maximum of a node of its partition."""
    nodes = [node for n, node in enumerate(state.conf.nodes) if state.part(job).nodes[n]]
    cpus = max((node.effective_cpus for node in nodes), default=0)
    memory = max((node.memory_mb - node.mem_spec_mb for node in nodes), default=0)
    return {"most_cpus_of_a_node": cpus, **({"most_mb_of_a_node": memory} if memory > 1 else {})}


def _why(state: State, request: JobRequest, text: str) -> str:
    if "invalid partition" in text:
        return f"there are the partitions {listed(list(state.partitions))}"
    if "account" in text and "Invalid" in text:
        has = [one.account for one in state.tree.entries if one.user == request.user.lower()]
        if not has:
            return f"user {request.user} is in no account"
        return f"user {request.user} is in {listed(has)}, not in {request.account or 'one by default'}"
    if "qos" in text.lower() and "Invalid" in text:
        account = request.account or state.tree.default_account(request.user)
        entry = state.tree.find(request.user, account)
        return f"user {request.user} may use the QOS {listed(sorted(entry.qos))}" if entry is not None else ""
    if "feature" in text:
        return (
            f"nodes have the features {listed(sorted({name for node in state.conf.nodes for name in node.features}))}"
        )
    if "gres" in text:
        kinds = {f"{g.name}:{g.type}" if g.type else g.name for node in state.conf.nodes for g in node.gres}
        return f"nodes have {listed(sorted(kinds)) or 'no generic resources'}"
    if "license" in text:
        return f"there are the licences {listed([f'{n}:{c}' for n, c in state.licenses.total.items()]) or 'none'}"
    if "time limit" in text:
        most = {name: part.conf.max_time_min for name, part in state.partitions.items()}
        return f"MaxTime is {listed([f'{span(m * MINUTE)} in {n}' for n, m in most.items() if m])}"
    if "Node count" in text:
        sizes = [f"{min(p.size, p.conf.max_nodes or p.size)} in {name}" for name, p in state.partitions.items()]
        return f"a job may have so many nodes: {listed(sizes)}"
    return ""


def _limit(state: State, request: JobRequest) -> str:
    """The limit that refused it, with its numbers."""
    account = request.account or state.tree.default_account(request.user)
    entry = state.tree.find(request.user, account)
    names = request.partitions or tuple(name for name, one in state.partitions.items() if one.conf.default)
    job = Job(
        -1,
        request,
        user=request.user,
        account=account,
        partitions=names,
        partition=names[0],
        limit_min=request.time_min,
    )
    job.qos = request.qos or state.tree.default_qos(entry)
    asks_for = state.selector.requested(
        state.selector.demand_of(request, state.partitions[names[0]].conf), state.partitions[names[0]].conf
    )
    found = LimitSubmission(state.limits, job, asks_for, tasks=len(request.array or (0,))).finding
    if found is None:
        return ""
    of = f"{found.limit}={f'{found.resource}=' if found.resource else ''}{found.allowed}"
    return f"{found.place} has {of}, {found.used} are in use, and this asks for {found.asked}"


# ------------------------------------------------------------------ what would be taken


def _changes(who: Subject, played: Rehearsal, others: list[list[Other]]) -> Iterator[Change]:
    """The smallest change of each kind that is taken; of each list the first is the smallest."""
    found: list[Change] = []
    for line in others:
        low, high = -1, len(line) - 1
        if high < 0 or not _taken(who, played, line[high]):
            continue
        while high - low > 1:
            middle = (low + high) // 2
            if _taken(who, played, line[middle]):
                high = middle
            else:
                low = middle
        one = line[high]
        start = _starts(who, played, one)
        when = "it is taken" if start is None else "it is taken, and starts at once"
        cost = cost_of(one.kind, one.size)
        found.append(Change(f"{one.phrase}: {when}", who.name, one.option, one.before, one.after, cost, confirmed=True))
    yield from sorted(found, key=lambda change: change.cost)


def _again(who: Subject, played: Rehearsal, other: Other) -> tuple[Rehearsal, Any]:
    native, more = played.native, list(played.more)
    changed = acts.submitted_with(native, who.sent.task, **other.fields)
    if changed is not None:
        native = changed
    else:
        more[-1] = Given(more[-1].at_ns, tuple(replace(one, **other.fields) for one in more[-1].requests))
    new = Rehearsal(played.scenario, native, played.acts, more)
    new.run(who.sent.at_ns)
    return new, next(one for one in new.sent if one.task == who.sent.task)


def _taken(who: Subject, played: Rehearsal, other: Other) -> bool:
    reply = _again(who, played, other)[1].reply
    return reply is not None and reply.rc == 0


def _starts(who: Subject, played: Rehearsal, other: Other) -> int | None:
    new, sent = _again(who, played, other)
    job = sent.jobs[0]
    new.run_while(lambda: job.pends, who.sent.at_ns + SOON_NS)
    return job.start_ns if job.start_ns >= 0 and not job.pends else None


def _others(state: State, request: JobRequest) -> Iterator[list[Other]]:
    each, tasks, nodes = request.cpus_per_task or 1, request.tasks or 0, request.nodes_min or 1
    if tasks > 1:
        yield _less("--ntasks", tasks, range(1, tasks), "tasks (-n {0})", lambda v: {"tasks": v, "cpus_min": v * each})
    if each > 1:
        yield _less(
            "--cpus-per-task",
            each,
            range(1, each),
            "CPUs a task (-c {0})",
            lambda v: acts.with_cpus_per_task(request, v),
        )
    if nodes > 1:
        yield _less("--nodes", nodes, range(1, nodes), "nodes (-N {0})", lambda v: {"nodes_min": v, "nodes_max": v})
    if nodes == 1 and request.nodes_max == 1 and tasks > 1:
        yield [
            Other(
                CONSTRAINT,
                "--nodes",
                1,
                n,
                0.5 + n / 10,
                f"spread over {n} nodes (-N {n})",
                {"nodes_min": n, "nodes_max": n},
            )
            for n in range(2, 9)
        ]
    memory = sorted({node.memory_mb - node.mem_spec_mb for node in state.conf.nodes})
    if request.mem_per_node_mb:
        yield _less(
            "--mem", request.mem_per_node_mb, memory, "MB of memory (--mem={0}M)", lambda v: {"mem_per_node_mb": v}
        )
    if request.mem_per_cpu_mb:
        shares = {node.memory_mb // max(1, node.effective_cpus) for node in state.conf.nodes}
        yield _less(
            "--mem-per-cpu",
            request.mem_per_cpu_mb,
            shares,
            "MB a CPU (--mem-per-cpu={0})",
            lambda v: {"mem_per_cpu_mb": v},
        )
    if request.time_min and request.time_min > 0:
        most = {one.conf.max_time_min for one in state.partitions.values() if one.conf.max_time_min}
        yield _less("--time", request.time_min, most, "minutes (-t {0})", lambda v: {"time_min": v})
    yield from _devices(request)
    yield from _named(state, request)


def _less(
    option: str, before: int, values: Iterable[int], phrase: str, fields: Callable[[int], dict[str, Any]]
) -> list[Other]:
    line = sorted({value for value in values if 0 < value < before}, reverse=True)[:VALUES_MAX]
    return [
        Other(
            OWN,
            option,
            before,
            v,
            (before - v) / before,
            f"ask for {v} {phrase.format(v)} instead of {before}",
            fields(v),
        )
        for v in line
    ]


def _devices(request: JobRequest) -> Iterator[list[Other]]:
    for field, option in (("gres", "--gres"), ("gpus", "--gpus"), ("gpus_per_node", "--gpus-per-node")):
        for place, one in enumerate(getattr(request, field)):
            rest = getattr(request, field)

            def with_count(value: int, one: Any = one, place: int = place, rest: Any = rest, field: str = field) -> Any:
                return {field: (*rest[:place], replace(one, count=value), *rest[place + 1 :])}

            yield _less(option, one.count, range(1, one.count), f"{one.name or 'gpu'} ({option})", with_count)


def _named(state: State, request: JobRequest) -> Iterator[list[Other]]:
    """Another name for what is not known, or not allowed."""
    accounts = dict.fromkeys(one.account for one in state.tree.entries if one.user == request.user.lower())
    entry = state.tree.find(request.user, request.account or state.tree.default_account(request.user))
    features = sorted({name for node in state.conf.nodes for name in node.features})
    up = [name for name, one in state.partitions.items() if one.up and one.takes_jobs]
    names: tuple[tuple[str, str, str, list[str], Callable[[str], Any]], ...] = (
        ("--partition", "partitions", ",".join(request.partitions), up, lambda name: (name,)),
        ("--account", "account", request.account, list(accounts), str),
        ("--qos", "qos", request.qos, sorted(entry.qos) if entry is not None else [], str),
        ("--constraint", "features", request.features, features, str),
    )
    for option, field, before, known, value in names:
        if not before and option in ("--qos", "--constraint"):
            continue
        near = get_close_matches(before, known, n=3, cutoff=0.5) if before else []
        for place, name in enumerate(dict.fromkeys([*near, *known][:4])):
            if name != before:
                phrase = f"{option}={name}" + (f" instead of {before}" if before else "")
                yield [Other(CONSTRAINT, option, before or None, name, 0.3 + place / 10, phrase, {field: value(name)})]
    for option, field in (("--nodelist", "node_list"), ("--exclude", "exclude")):
        if names_of := getattr(request, field):
            shown = ",".join(names_of)
            yield [Other(CONSTRAINT, option, shown, None, 1.0, f"drop {option}={shown}", {field: ()})]
    if request.features:
        yield [Other(CONSTRAINT, "--constraint", request.features, None, 1.0, "drop --constraint", {"features": ""})]
