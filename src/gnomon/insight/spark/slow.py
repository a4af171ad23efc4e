"""What makes a stage attempt slow: each cause that its tasks show, with the numbers and what it costs.

``cost_ms`` is how much sooner the stage would be done without it, as far as that can be told from the log alone; what a
change brings the whole application is simulated (:mod:`gnomon.insight.spark.advice`). Thresholds are those at which
Spark's UI or its own rules take notice, where there are any.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

import numpy as np

from gnomon.insight.explain.phrases import Numbers
from gnomon.insight.spark.meanings import of_failure
from gnomon.insight.spark.words import counted, share, size, time
from gnomon.systems.spark.application import Application, StageAttempt
from gnomon.systems.spark.facts import peak_running
from gnomon.systems.spark.tasks import IntArray, Tasks

STRAGGLER: Final = 2
"""A task is a straggler that takes more than so many times the median."""
SKEW_DATA: Final = 2
"""Its data is to blame where it has so many times the median."""
SLOW_NODE_E2: Final = 150
"""An executor is slow whose median task takes so many hundredths of the median elsewhere."""
GC_E2: Final = 10
"""Spark's UI marks executors whose GC takes more than so many hundredths of the task time."""
WAIT_E2: Final = 10
SHORT_MS: Final = 200
"""Tasks this short are mostly the driver's work."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A cause. ``rule``: its name; ``object``: of which it is said, as ``task/17`` or ``executor/3``; ``text``: a
    sentence; ``cost_ms``: see the module; ``numbers``: what it rests on."""

    rule: str
    object: str
    text: str
    cost_ms: int
    numbers: Numbers = field(default_factory=dict)


@dataclass(frozen=True)
class Profile:
    """An attempt with the figures that causes are judged by. Times in ms; ``wall``: from the first launch to the last
    finish; ``slots``: how many tasks the executors took at a time; ``fresh``: the first tasks of each executor."""

    attempt: StageAttempt
    good: Tasks
    duration: IntArray
    data: IntArray
    records: IntArray
    median: int
    wall: int
    slots: int
    fresh: frozenset[int]

    @property
    def stragglers(self) -> IntArray:
        """Rows of tasks that take much longer than the median, the longest first."""
        found = np.flatnonzero(self.duration > STRAGGLER * max(self.median, 1))
        return found[np.argsort(-self.duration[found], kind="stable")]


def profile_of(application: Application, attempt: StageAttempt) -> Profile | None:
    """The figures of an attempt; None where none of its tasks succeeded."""
    good = attempt.tasks.succeeded
    if not len(good):
        return None
    duration = good.duration_ms
    data = good.shuffle_read_bytes + good.column("input_bytes")
    records = good.column("read_records") + good.column("input_records")
    wall = int(attempt.tasks.column("finish_ms").max() - attempt.tasks.column("launch_ms").min())
    fresh = first_tasks(application)
    return Profile(attempt, good, duration, data, records, _median(duration), wall, slots_of(application), fresh)


@lru_cache(maxsize=1)
def first_tasks(application: Application) -> frozenset[int]:
    """The ids of the tasks that were the first on their slot, so that all had still to be started there."""
    found: dict[int, list[tuple[int, int]]] = {}
    for attempt in application.attempts:
        columns = (attempt.tasks.column(name).tolist() for name in ("executor", "launch_ms", "task_id"))
        for executor, launch, task in zip(*columns, strict=True):
            found.setdefault(executor, []).append((launch, task))
    fresh: set[int] = set()
    for name, tasks in found.items():
        executor = application.executors.get(application.attempts[0].tasks.names[name])
        fresh.update(task for _, task in sorted(tasks)[: max(1, executor.cores if executor else 1)])
    return frozenset(fresh)


@lru_cache(maxsize=1)
def slots_of(application: Application) -> int:
    """How many tasks the executors took at a time, when most of them were there; where the log does not say how many
    cores they have, how many tasks ran at a time at most."""
    cpus = application.properties.get("spark.task.cpus", "1")
    each = max(1, int(cpus)) if cpus.isdecimal() and cpus.isascii() else 1
    changes = []
    for one in application.executors.values():
        if one.added_ms is not None and one.cores:
            changes.append((one.added_ms, one.cores // each))
            if one.removed_ms is not None:
                changes.append((one.removed_ms, -(one.cores // each)))
    most = now = 0
    for _, change in sorted(changes):
        now += change
        most = max(most, now)
    return most or max(1, peak_running([one.tasks for one in application.attempts]))


def findings(application: Application, attempt: StageAttempt) -> list[Finding]:
    """All causes, the most expensive first."""
    profile = profile_of(application, attempt)
    found = list(_retries(attempt)) + list(_read_failures(attempt))
    if profile is not None:
        for look in _LOOKS:
            found += look(profile)
    return sorted(found, key=lambda one: -one.cost_ms)


# ------------------------------------------------------------------ stragglers


def _stragglers(profile: Profile) -> Iterator[Finding]:
    """The worst of those that have more data than others, and the worst of the others."""
    rows = profile.stragglers
    if not len(rows) or len(profile.good) < 2:
        return
    skewed = np.array([_ratio(profile, row) >= SKEW_DATA for row in rows.tolist()])
    for group in (rows[skewed], rows[~skewed]):
        if len(group):
            yield _because(profile, int(group[0]), _cost(profile, group), len(group))


def _cost(profile: Profile, rows: IntArray) -> int:
    """How much earlier the last task ended if some took no longer than the median."""
    others = np.setdiff1d(np.arange(len(profile.good)), rows)
    finish, launch = profile.good.column("finish_ms"), profile.good.column("launch_ms")
    fair = max(int(finish[others].max(initial=0)), int((launch[rows] + profile.median).max()))
    return max(0, int(finish.max()) - fair)


def _ratio(profile: Profile, row: int) -> float:
    """How many times the median of the data a task has, in bytes or records."""
    found = 0.0
    for column in (profile.data, profile.records):
        own, median = int(column[row]), _median(column)
        found = max(found, own / median if median else float(own > 0) * SKEW_DATA)
    return found


def _because(profile: Profile, row: int, cost: int, alike: int) -> Finding:
    """Why a task takes so long: its data, its node, or what else the metrics show."""
    task = profile.good[row]
    numbers: Numbers = {
        "longest_s": task.duration_ms / 1000,
        "median_s": profile.median / 1000,
        "stragglers": alike,
        "tasks": len(profile.good),
    }
    name = (
        f"task {task.index} ({time(task.duration_ms)}, the median of {len(profile.good):,} is {time(profile.median)})"
    )
    where = f"task/{profile.attempt.stage.id}.{task.index}"
    if _ratio(profile, row) >= SKEW_DATA:
        return _skew(profile, row, Finding("skew", where, name, cost, numbers))
    slow = _slow_executor(profile, row)
    if slow is not None:
        executor, host, mine, elsewhere = slow
        text = f"{name} ran on executor {executor} ({host}), where tasks take {time(mine)} and elsewhere "
        text += f"{time(elsewhere)}, with as much data: that node is slow"
        return Finding("slow-node", f"executor/{executor}", text, cost, numbers)
    rule, why = _inside(profile, row)
    return Finding(rule, where, f"{name} has no more data than others; {why}", cost, numbers)


def _skew(profile: Profile, row: int, finding: Finding) -> Finding:
    """A task that has more data than others: a hot key, a larger piece of a file, or a cached block that is gone."""
    task, cached = profile.good[row], [rdd for rdd in profile.attempt.stage.rdds if rdd.cached]
    own, records = int(profile.data[row]), int(profile.records[row])
    read = task.shuffle_read_bytes or task.read_records
    numbers: Numbers = {
        **finding.numbers,
        "bytes": own,
        "median_bytes": _median(profile.data),
        "records": records,
        "median_records": _median(profile.records),
    }
    if not read and cached:
        text = f"{finding.text} read {records:,} records where the median task read {numbers['median_records']:,}: its "
        text += f"partition of {_short(cached[0].name)} was not in the cache any more, and was computed again"
        return Finding("cache-miss", finding.object, text, finding.cost_ms, numbers)
    of_all = share(records, int(profile.records.sum())) if records else share(own, int(profile.data.sum()))
    median = f"{size(_median(profile.data))} and {_median(profile.records):,} records"
    text = f"{finding.text} reads {size(own)} and {records:,} records, the median task {median}: partition "
    text += f"{task.partition} has {of_all} of the stage's data"
    text += ", so one hot key or few are in it" if read else ": a file or split that is larger than the others"
    return Finding("skew" if read else "uneven-input", finding.object, text, finding.cost_ms, numbers)


def _slow_executor(profile: Profile, row: int) -> tuple[str, str, int, int] | None:
    """The executor of a task, if the tasks on it are slower than the same elsewhere."""
    executors = profile.good.column("executor")
    here = executors == executors[row]
    if here.all() or here.sum() < 2:
        return None
    mine, elsewhere = _median(profile.duration[here]), _median(profile.duration[~here])
    if mine * 100 < SLOW_NODE_E2 * elsewhere:
        return None
    return profile.good.executor(row), profile.good.host(row), mine, elsewhere


def _inside(profile: Profile, row: int) -> tuple[str, str]:
    """What a task did with its time."""
    task = profile.good[row]
    cpu = task.cpu_ns // 1_000_000
    spent = {
        "gc": (task.gc_ms, f"{time(task.gc_ms)} of it is GC"),
        "fetch-wait": (task.fetch_wait_ms, f"it waited {time(task.fetch_wait_ms)} for shuffle blocks of others"),
        "deserialize": (
            task.deserialize_ms,
            f"{time(task.deserialize_ms)} of it went into getting ready "
            "(deserialising the task, loading classes: the first task of an executor)",
        ),
        "spill": (
            task.duration_ms // 2 if task.disk_spilled_bytes else 0,
            f"it spilled {size(task.disk_spilled_bytes)}",
        ),
        "scheduler-delay": (
            delay_ms(task.duration_ms, task.run_ms, task.deserialize_ms, task.result_serialize_ms),
            "most of it is the driver's (scheduler delay)",
        ),
    }
    if task.task_id in profile.fresh:
        return (
            "warm-up",
            "it is the first task on its slot, where all had still to be started (JVM, classes, Python worker)",
        )
    rule = max(spent, key=lambda name: spent[name][0])
    if spent[rule][0] * 3 >= task.duration_ms:
        return rule, spent[rule][1]
    if cpu * 2 >= task.run_ms > 0:
        return "compute", f"it computed for {time(cpu)}: its records are more work than those of others"
    return "straggler", (
        f"the JVM used {time(cpu)} of CPU in {time(task.run_ms)}: it waited for something outside "
        "(a Python worker, a disk, a service, a slow machine)"
    )


def delay_ms(duration: int, run: int, deserialize: int, serialize: int) -> int:
    """Scheduler delay as Spark's UI has it: what is neither running nor (de)serialising.

    >>> delay_ms(100, 80, 5, 1)
    14
    """
    return max(0, duration - run - deserialize - serialize)


# ------------------------------------------------------------------ all tasks


def _gc(profile: Profile) -> Iterator[Finding]:
    gc, run = _sum(profile, "gc_ms"), _sum(profile, "run_ms")
    if gc * 100 > GC_E2 * run > 0:
        text = f"{share(gc, run)} of the task time is GC ({time(gc)} of {time(run)}): the heap is too small for what "
        text += "runs in it at a time"
        yield Finding(
            "gc", _name(profile), text, profile.wall * gc // max(run, 1), {"gc_s": gc / 1000, "run_s": run / 1000}
        )


def _spill(profile: Profile) -> Iterator[Finding]:
    memory, disk = _sum(profile, "memory_spilled_bytes"), _sum(profile, "disk_spilled_bytes")
    if memory or disk:
        column = profile.good.column("memory_spilled_bytes")
        count = int((column > 0).sum())
        text = f"{counted(count, 'task')} spilled {size(memory)} of memory, {size(disk)} on disk: their share of "
        text += f"execution memory is too small for {size(_most(profile))} a task"
        spilling = int(profile.duration[column > 0].sum())
        cost = profile.wall * spilling // max(int(profile.duration.sum()), 1) // 3
        yield Finding("spill", _name(profile), text, cost, {"memory_bytes": memory, "disk_bytes": disk, "tasks": count})


def _fetch_wait(profile: Profile) -> Iterator[Finding]:
    wait, run = _sum(profile, "fetch_wait_ms"), _sum(profile, "run_ms")
    if wait * 100 > WAIT_E2 * run > 0:
        text = f"{share(wait, run)} of the task time is waiting for shuffle blocks ({time(wait)}): the executors that "
        text += "serve them, or the network, are too slow"
        yield Finding("fetch-wait", _name(profile), text, profile.wall * wait // run, {"wait_s": wait / 1000})


def _few_tasks(profile: Profile) -> Iterator[Finding]:
    count = max(len(profile.good), profile.attempt.planned or 0)
    if count < profile.slots and profile.wall >= SHORT_MS:
        total = int(profile.duration.sum())
        cost = max(0, profile.wall - max(total // profile.slots, 1))
        text = f"{counted(count, 'task')} for {profile.slots:,} slots: {counted(profile.slots - count, 'slot')} had "
        text += "nothing to do in this stage"
        yield Finding("few-tasks", _name(profile), text, cost // 2, {"tasks": count, "slots": profile.slots})


def _small_tasks(profile: Profile) -> Iterator[Finding]:
    count = len(profile.good)
    if count < 2 * profile.slots or profile.median >= SHORT_MS:
        return
    run, total = _sum(profile, "run_ms"), int(profile.duration.sum())
    text = f"{counted(count, 'task')} of {time(profile.median)} each: {share(total - run, total)} of their time is "
    text += "starting them, not running them"
    if (total - run) * 4 > total:
        cost = profile.wall * (total - run) // max(total, 1)
        yield Finding("small-tasks", _name(profile), text, cost, {"tasks": count, "median_s": profile.median / 1000})


def _locality(profile: Profile) -> Iterator[Finding]:
    level = profile.good.column("locality")
    far, near = level >= 3, (level >= 0) & (level <= 1)
    if not far.any() or not near.any():
        return
    slow, fast = _median(profile.duration[far]), _median(profile.duration[near])
    if slow > 1.5 * max(fast, 1):
        text = f"{counted(int(far.sum()), 'task')} ran far from their data (RACK_LOCAL or ANY) and took {time(slow)}, "
        text += f"those near it {time(fast)}"
        cost = (slow - fast) * int(far.sum()) // profile.slots
        yield Finding("locality", _name(profile), text, cost, {"far": int(far.sum()), "near": int(near.sum())})


# ------------------------------------------------------------------ what failed


def _retries(attempt: StageAttempt) -> Iterator[Finding]:
    """Attempts that failed by themselves, by what they say."""
    failed = attempt.tasks.failed
    groups: dict[tuple[str, str], list[int]] = {}
    for place in range(len(failed)):
        why = failed.why(place)
        if why is not None and why.reason not in ("FetchFailed", "TaskKilled", "Resubmitted", "TaskCommitDenied"):
            groups.setdefault((of_failure(why).rule, why.kind), []).append(place)
    for (rule, _), places in groups.items():
        last = failed.why(places[-1])
        assert last is not None
        lost = int(failed.duration_ms[places].sum())
        tasks = len({int(failed.column("index")[place]) for place in places})
        text = f"{counted(len(places), 'attempt')} of {counted(tasks, 'task')} failed, and {time(lost)} of work with "
        text += f"{'it' if len(places) == 1 else 'them'}: {of_failure(last).what}"
        text += " (so the last of them)" if len(places) > 1 and rule == "exception" else ""
        numbers: Numbers = {"attempts": len(places), "tasks": tasks, "lost_s": lost / 1000}
        longest = int(failed.duration_ms[places].max())
        yield Finding(rule, f"stage/{attempt.stage.id}", text, longest, numbers)


def _read_failures(attempt: StageAttempt) -> Iterator[Finding]:
    failed = attempt.tasks.failed
    places = [place for place in range(len(failed)) if (why := failed.why(place)) and why.reason == "FetchFailed"]
    if not places:
        return
    lost = sorted({why.executor for place in places if (why := failed.why(place)) and why.executor})
    whose = f" of executor{'s' * (len(lost) > 1)} {', '.join(lost)}" if lost else ""
    text = f"{counted(len(places), 'task')} could not fetch shuffle output{whose}: the attempt ended, the lost map "
    text += "outputs are made again, and what was not done of this stage is run again"
    yield Finding(
        "fetch-failed", f"stage/{attempt.stage.id}", text, int(failed.duration_ms.max()), {"tasks": len(places)}
    )


def _short(name: str) -> str:
    """The first line of a name, which may be a whole plan."""
    line = name.partition("\n")[0]
    return line if len(line) <= 60 else f"{line[:57]}..."


def _name(profile: Profile) -> str:
    return f"stage/{profile.attempt.stage.id}"


def _sum(profile: Profile, column: str) -> int:
    return int(profile.good.column(column).sum())


def _most(profile: Profile) -> int:
    return int(max(profile.data.max(), profile.good.column("memory_spilled_bytes").max()))


def _median(values: IntArray) -> int:
    """By nearest rank, as in the facts."""
    ordered = np.sort(values)
    return int(ordered[max(0, -(-50 * len(ordered) // 100) - 1)])


_LOOKS: Final[tuple[Callable[[Profile], Iterator[Finding]], ...]] = (
    _stragglers,
    _gc,
    _spill,
    _fetch_wait,
    _few_tasks,
    _small_tasks,
    _locality,
)
