"""What to change: each change is simulated, and told with what it brings.

How a change changes tasks is an assumption that its sentence names; the rest is Spark's rules. What cannot be told from
an event log (whether a partition holds one hot key or several, how much memory would have been enough) is taken at the
side that promises less, or said to be a bound.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as made
from functools import lru_cache
from typing import Final

from gnomon.insight.explain.changes import NODES, OWN, Change
from gnomon.insight.explain.phrases import Plain, counted
from gnomon.insight.spark.bench import Bench, Copies, Lengths
from gnomon.insight.spark.figures import Figures, Finding, figures_of, median_of
from gnomon.insight.spark.words import share, time
from gnomon.systems.spark.adaptive import skewed, split_target
from gnomon.systems.spark.application import StageAttempt
from gnomon.systems.spark.profile import major

PROGRAM: Final = OWN + 1
"""The kind of a change of the program: more work than an option, less than machines."""

WORTH_E2: Final = 3
"""A change is worth telling that takes so many hundredths off."""

PARTS: Final = (2, 5, 10, 20, 50, 100, 200)
"""Into how many parts a hot key is split, tried in this order until more does not help."""

TASKS_MAX: Final = 50_000
"""How many tasks are simulated in the shared world for all changes together, about: each takes 0.2 ms."""

TRIED_ABOUT: Final = 20
"""How many changes are tried, about, where a log is not large."""

COUNTED: Final = 80
"""Where slots need only be counted so many tasks are simulated in the time of one."""

_JOINS: Final = ("SortMergeJoin", "ShuffledHashJoin")


@dataclass(frozen=True)
class Idea:
    """A change to try. ``lengths``, ``executors``, ``copies``: what the bench is given; ``bound``: it brings at most
    what the simulation says; ``saves``: it is worth it where it costs little time."""

    what: str
    object: str
    field: str
    before: Plain | None
    after: Plain | None
    kind: int
    lengths: Lengths = made(default_factory=dict)
    executors: tuple[int, ...] | None = None
    copies: Copies | None = None
    bound: bool = False
    saves: bool = False


@dataclass(frozen=True)
class Tried:
    """An idea, and what the span of the jobs is with it."""

    idea: Idea
    span_ms: int

    def gain(self, base_ms: int) -> int:
        """How much shorter it is."""
        return base_ms - self.span_ms


Source = Callable[[Bench, Figures, Finding], Iterator[Idea]]


Tell = Callable[[int, int], object]
"""``tell(done, total)`` is called before each change that is tried."""


def silent(done: int, total: int) -> None:
    """Tells nobody."""


def cost_of(bench: Bench, copies: Copies | None = None) -> int:
    """What a run costs, in tasks of :data:`TASKS_MAX`."""
    tasks = max(1, sum(map(len, bench.lengths.values())))
    return -(-tasks // COUNTED) if bench.counts_only(speculates=copies is not None) else tasks


@lru_cache(maxsize=1)
def base_ms(bench: Bench) -> int:
    """What changes are compared with: the span of the jobs without one; 0 where nothing ran."""
    return bench.span_ms()


def tried(bench: Bench, ideas: Sequence[Idea], tell: Tell = silent) -> list[Tried]:
    """Ideas with their simulated spans, as far as :data:`TASKS_MAX` goes: those that cost too much are passed over."""
    left, found = TASKS_MAX - cost_of(bench), []
    for place, one in enumerate(ideas):
        tell(place, len(ideas))
        cost = cost_of(bench, one.copies)
        if cost <= left:
            left -= cost
            span = bench.span_ms(lengths=one.lengths, executors=one.executors, copies=one.copies)
            found.append(Tried(one, span))
    return found


def is_worth(one: Tried, base_ms: int) -> bool:
    """Whether an idea takes enough off, or saves something and takes hardly longer."""
    if one.idea.saves:
        return -one.gain(base_ms) * 100 < WORTH_E2 * base_ms
    return one.gain(base_ms) * 100 >= WORTH_E2 * base_ms > 0


def change_of(one: Tried, base_ms: int) -> Change:
    """A change as it is told: with the simulated times before and after."""
    idea, most = one.idea, "at least " if one.idea.bound else ""
    text = (
        f"{idea.what}: {most}{time(one.span_ms)} instead of {time(base_ms)} ({difference(one.gain(base_ms), base_ms)})"
    )
    relative = one.span_ms / base_ms if base_ms else 1.0
    cost = round(idea.kind + relative / (1 + relative), 4)
    return Change(text, idea.object, idea.field, idea.before, idea.after, cost, confirmed=True)


def difference(gain: int, base_ms: int) -> str:
    """A gain as a change in per cent.

    >>> difference(30, 100), difference(-1, 100), difference(0, 100)
    ('-30 %', '+1 %', '0 %')
    """
    if not gain:
        return "0 %"
    return f"-{share(gain, base_ms)}" if gain > 0 else f"+{share(-gain, base_ms)}"


def ideas_for(bench: Bench, attempt: StageAttempt, causes: Sequence[Finding]) -> list[Idea]:
    """What may help a stage, from the causes that make it slow."""
    figures = figures_of(bench.application, attempt)
    if figures is None or attempt.stage.id not in bench.lengths:
        return []
    found: dict[tuple[str, str], Idea] = {}
    for cause in causes:
        for source in _SOURCES.get(cause.rule, ()):
            for idea in source(bench, figures, cause):
                found.setdefault((idea.field, str(idea.after)), idea)
    return list(found.values())


def ideas_for_all(bench: Bench) -> list[Idea]:
    """More executors, and fewer."""
    now = bench.executors
    if bench.application.properties.get("spark.master", "").startswith("local["):
        slots = sum(now)
        what, double = f"twice the slots ({2 * slots} for {slots})", f"local[{2 * slots}]"
        return [Idea(what, "app", "spark.master", f"local[{slots}]", double, NODES, executors=(2 * slots,))]
    total = f"{counted(len(now), 'executor')} of {counted(now[0], 'slot')}"
    twice = f"twice the executors ({2 * len(now)} for {total})"
    ideas = [Idea(twice, "app", _INSTANCES, len(now), 2 * len(now), NODES, executors=now * 2)]
    if len(now) > 1:
        half = now[: (len(now) + 1) // 2]
        what = f"half the executors would do ({len(half)} for {total})"
        ideas.append(Idea(what, "app", _INSTANCES, len(now), len(half), NODES, executors=half, saves=True))
    return ideas


_INSTANCES: Final = "spark.executor.instances"


# ------------------------------------------------------------------ skew


def split_hot(bench: Bench, stage: int, row: int, parts: int) -> Lengths:
    """The tasks of a stage when the partition of one is split into so many, as by a salted key: what it has to start
    and end is paid by each of them."""
    own = list(bench.lengths[stage])
    overhead = bench.again.delays.overhead
    work = max(0, own[row] - overhead)
    own[row : row + 1] = [work // parts + overhead] * parts
    return {stage: own}


def _salting(bench: Bench, figures: Figures, cause: Finding) -> Iterator[Idea]:
    stage, row = figures.attempt.stage.id, int(cause.object.rpartition(".")[2])
    best: tuple[int, int] | None = None
    if cost_of(bench) * TRIED_ABOUT > TASKS_MAX:
        best = PARTS[len(PARTS) // 2], 0  # to look for the best costs too much
    for parts in PARTS if best is None else ():
        span = bench.span_ms(lengths=split_hot(bench, stage, row, parts))
        if best is not None and span * 100 > best[1] * 97:
            break
        best = parts, span
    if best is not None:
        parts = best[0]
        what = f"salt the hot key of stage {stage} into {parts} parts (a second, small step puts them together again)"
        yield Idea(what, f"stage/{stage}", "program", 1, parts, PROGRAM, split_hot(bench, stage, row, parts))


def _skew_stays(bench: Bench, figures: Figures, cause: Finding) -> Iterator[Idea]:
    """More partitions, of which one has the hot key again."""
    stage, row = figures.attempt.stage.id, int(cause.object.rpartition(".")[2])
    now = len(bench.lengths[stage])
    name, text = partitions_option(bench, figures.attempt)
    what = f"{text} {4 * now:,} partitions in stage {stage} instead of {now:,} (one key stays in one partition)"
    yield Idea(what, f"stage/{stage}", name, now, 4 * now, OWN, spread(bench, stage, 4 * now, kept=[row]))


def _skew_copied(bench: Bench, figures: Figures, cause: Finding) -> Iterator[Idea]:
    """Copies, of which that of the hot partition has as much to do."""
    if bench.conf.text("spark.speculation") != "true" and len(set(bench.hosts)) > 1:
        stage = figures.attempt.stage.id
        what = f"speculation (a copy of stage {stage}'s hot partition has the same work)"
        yield Idea(what, f"stage/{stage}", "spark.speculation", "false", "true", OWN, copies={})


def _adaptive_join(bench: Bench, figures: Figures, cause: Finding) -> Iterator[Idea]:
    """AQE splits a skewed partition of a join by map outputs: pieces of the advisory size or of the mean of the others,
    if it is larger than the threshold and the factor times the median (``OptimizeSkewedJoin``)."""
    application, stage = bench.application, figures.attempt.stage.id
    if not joins(figures.attempt, bench) or major(application.version) < 3:
        return
    conf = application.properties
    on = conf.get("spark.sql.adaptive.enabled", "true") == "true"
    row, sizes = int(cause.object.rpartition(".")[2]), figures.data.tolist()
    place = figures.good.column("index").tolist().index(row)
    size, median = sizes[place], median_of(figures.data)
    if place in skewed(sizes):
        if on and conf.get("spark.sql.adaptive.skewJoin.enabled", "true") == "true":
            return  # it had its chance
        target = split_target(sizes)
    elif on or not size or size <= 2 * median:
        return
    else:
        target = max(median, 1)  # with a lower threshold
    parts = max(2, min(-(-size // target), _maps(bench, figures.attempt)))
    what = f"let AQE split the skewed partition of the join in stage {stage} into {parts} (by map outputs)"
    yield Idea(
        what,
        f"stage/{stage}",
        "spark.sql.adaptive.skewJoin.enabled",
        "false",
        "true",
        OWN,
        split_hot(bench, stage, row, parts),
    )


def joins(attempt: StageAttempt, bench: Bench) -> bool:
    """Whether a stage reads two shuffles for a join of a query."""
    application = bench.application
    of = [job.sql for job in application.jobs_of(attempt.stage.id) if job.sql is not None]
    plans = [application.sql[number].plan for number in of if number in application.sql]
    return len(attempt.stage.parents) > 1 and any(join in plan for plan in plans for join in _JOINS)


def _maps(bench: Bench, attempt: StageAttempt) -> int:
    """How many map outputs a partition is made of: into no more it can be cut."""
    tasks = [
        bench.application.stages[parent].tasks for parent in attempt.stage.parents if parent in bench.application.stages
    ]
    return max(tasks, default=1)


# ------------------------------------------------------------------ numbers of partitions


def spread(bench: Bench, stage: int, tasks: int, *, kept: Sequence[int] = ()) -> Lengths:
    """The tasks of a stage when there are so many: its work evenly, but rows that are ``kept`` as they are, since one
    key stays in one partition whatever their number."""
    own, overhead = bench.lengths[stage], bench.again.delays.overhead
    fixed = [own[row] for row in kept]
    rest = sum(max(0, length - overhead) for row, length in enumerate(own) if row not in set(kept))
    count = max(1, tasks - len(fixed))
    return {stage: [*fixed, *([rest // count + overhead] * count)]}


def _more_partitions(bench: Bench, figures: Figures, cause: Finding) -> Iterator[Idea]:
    stage, now = figures.attempt.stage, len(bench.lengths[figures.attempt.stage.id])
    slots = sum(bench.executors)
    wanted = -(-now // slots) * slots if now % slots and now > slots else slots if now < slots else 2 * now
    if cause.rule == "spill":
        wanted = 2 * now
    name, text = partitions_option(bench, figures.attempt)
    what = f"{text} {wanted:,} partitions in stage {stage.id} instead of {now:,} (if its data spreads evenly)"
    yield Idea(what, f"stage/{stage.id}", name, now, wanted, OWN, spread(bench, stage.id, wanted))


def _fewer_partitions(bench: Bench, figures: Figures, cause: Finding) -> Iterator[Idea]:
    stage, now = figures.attempt.stage, len(bench.lengths[figures.attempt.stage.id])
    wanted = max(2 * sum(bench.executors), 1)
    if wanted < now:
        name, text = partitions_option(bench, figures.attempt)
        what = f"{text} {wanted:,} partitions in stage {stage.id} instead of {now:,}"
        yield Idea(what, f"stage/{stage.id}", name, now, wanted, OWN, spread(bench, stage.id, wanted))


def partitions_option(bench: Bench, attempt: StageAttempt) -> tuple[str, str]:
    """What sets the number of a stage's partitions, and how to say it."""
    sql = any(job.sql is not None for job in bench.application.jobs_of(attempt.stage.id))
    if not attempt.stage.parents:
        if sql:
            return "spark.sql.files.maxPartitionBytes", "with a smaller or larger spark.sql.files.maxPartitionBytes"
        return "minPartitions", "read the input into"
    if sql:
        return "spark.sql.shuffle.partitions", "with spark.sql.shuffle.partitions (or AQE's advisory size)"
    return "numPartitions", "give the operator numPartitions:"


# ------------------------------------------------------------------ stragglers, memory, failures


def copies_of(bench: Bench, figures: Figures) -> Copies:
    """How long copies take of tasks that have no more data than others: the median."""
    stage, usual = figures.attempt.stage.id, figures.median + bench.again.delays.overhead
    return {stage: {int(figures.good.column("index")[row]): usual for row in figures.stragglers.tolist()}}


def _speculation(bench: Bench, figures: Figures, cause: Finding) -> Iterator[Idea]:
    if bench.conf.text("spark.speculation") == "true" or len(set(bench.hosts)) < 2:
        return  # it had its chance; a copy goes to another host
    stage = figures.attempt.stage.id
    what = f"speculation: a copy of stage {stage}'s straggler on another host (if it takes the median there)"
    copies = copies_of(bench, figures)
    yield Idea(what, f"stage/{stage}", "spark.speculation", "false", "true", OWN, copies=copies)


def _without_node(bench: Bench, figures: Figures, cause: Finding) -> Iterator[Idea]:
    """Without the slow executor: its tasks take what they take elsewhere, on fewer slots."""
    name = cause.object.partition("/")[2]
    executors = figures.good.column("executor").tolist()
    here = {row for row, place in enumerate(executors) if figures.good.names[place] == name}
    indices = figures.good.column("index").tolist()
    slow = {indices[row] for row in here}
    own, stage = bench.lengths[figures.attempt.stage.id], figures.attempt.stage.id
    others = sorted(length for row, length in enumerate(own) if row not in slow)
    if not others or len(bench.executors) < 2:
        return
    usual = others[(len(others) - 1) // 2]
    lengths = {stage: [min(length, usual) if row in slow else length for row, length in enumerate(own)]}
    what = f"without executor {name} (its node is slow)"
    yield Idea(
        what,
        f"executor/{name}",
        "spark.excludeOnFailure or the node",
        name,
        None,
        PROGRAM,
        lengths,
        executors=bench.executors[:-1],
    )


def _memory(bench: Bench, figures: Figures, cause: Finding) -> Iterator[Idea]:
    """If the heap were large enough: without GC beyond a little, and a third less of what tasks that spill take."""
    stage = figures.attempt.stage.id
    own = list(bench.lengths[stage])
    for task in figures.good:
        if task.index < len(own):
            saved = task.gc_ms * 9 // 10 + (task.run_ms // 3 if task.memory_spilled_bytes else 0)
            own[task.index] = max(own[task.index] - saved, own[task.index] // 4)
    before = bench.application.properties.get("spark.executor.memory", "1g")
    what = (
        f"more memory a task (spark.executor.memory above {before}, or fewer spark.executor.cores), if GC and spills go"
    )
    yield Idea(what, f"stage/{stage}", "spark.executor.memory", before, None, OWN, {stage: own}, bound=True)


_SOURCES: Final[Mapping[str, tuple[Source, ...]]] = {
    "skew": (_adaptive_join, _salting, _skew_stays, _skew_copied),
    "uneven-input": (_more_partitions,),
    "slow-node": (_speculation, _without_node),
    "straggler": (_speculation,),
    "gc": (_memory,),
    "spill": (_more_partitions, _memory),
    "few-tasks": (_more_partitions,),
    "small-tasks": (_fewer_partitions,),
}
"""What is tried for each cause."""
