"""Running a job for real: processes on this machine, with a shuffle on disk.

The stages of a plan run one after another, the tasks of a stage side by side. A task's output is written beside its
final name and renamed when it is whole, and noted in a list; so a job that was killed goes on from what the list says.
Sinks follow the first algorithm of Hadoop's ``FileOutputCommitter``: outputs of tasks gather in ``_temporary`` inside
the folder of the sink, move up when all are there, and ``_SUCCESS`` comes last.
"""

from __future__ import annotations

import shutil
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path
from time import monotonic
from typing import Any, Final

from gnomon.backends.local_blocks import read
from gnomon.backends.local_manifest import SCRATCH, Done, Manifest
from gnomon.backends.local_output import Sink
from gnomon.backends.local_pool import Death, Pool
from gnomon.backends.local_task import Failed, Finished, Runner, Task, output_name
from gnomon.dataflow.plan import Plan, PlanStage
from gnomon.dataflow.sampling import bounds_of
from gnomon.model.errors import GnomonError, InputError

PROCESS_BYTES: Final = 64 << 20
"""What a process takes before it holds a record: the interpreter, modules, buffers."""

_LIMIT_MIN: Final = 4 << 20
_LOOK_S: Final = 0.2
"""How often the progress is told, and whether to stop is asked."""

Progress = Callable[[int, int], bool]
"""Called with how many tasks are done, and how many there are; False: stop."""


@dataclass(frozen=True)
class Options:
    """How to run.

    - ``folder``: what the paths of sinks are relative to; ``work``: where outputs of tasks are kept until the end.
    - ``memory`` [bytes]: what all processes together may take.
    - ``attempts``: how often a task is tried (``mapreduce.map.maxattempts``, ``spark.task.maxFailures``: 4).
    """

    folder: Path
    work: Path
    workers: int
    memory: int = 1 << 30
    attempts: int = 4

    def limit(self) -> int:
        """How many bytes of records one task may hold: half of what is left to a process, as their size is estimated
        and they are held twice while they are written. Raises InputError for less than a few MiB."""
        each = (self.memory - (self.workers + 1) * PROCESS_BYTES) // self.workers // 2
        if each < _LIMIT_MIN:
            least = (self.workers + 1) * PROCESS_BYTES + 2 * self.workers * _LIMIT_MIN
            allowed = f"at least {-(-least >> 20)}Mi with --workers {self.workers}"
            raise InputError("too little", field="--memory", found=f"{self.memory >> 20}Mi", allowed=allowed)
        return each


@dataclass(frozen=True)
class StageDone:
    """What a stage came to: its tasks, those that were finished before, attempts that failed, and what was counted."""

    stage: int
    name: str
    tasks: int
    kept: int
    failures: int
    seconds: float
    counts: Mapping[str, int]


@dataclass(frozen=True)
class Ended:
    """What a run came to. ``files``: the folder of each sink; ``records``: what was collected, by name; ``changed``:
    what differed from the job whose outputs were here, so that they were of no use."""

    job: str
    stages: tuple[StageDone, ...]
    files: Mapping[str, Path]
    records: Mapping[str, list[Any]]
    changed: tuple[str, ...]
    seconds: float


class JobFailedError(GnomonError):
    """A task failed as often as it may. ``story`` says what happened, line by line. Exit code 1."""

    exit_code = 1

    def __init__(self, problem: str, story: tuple[str, ...]) -> None:
        self.problem, self.story = problem, story
        super().__init__("\n".join((problem, *story)))


def run(
    plan: Plan,
    prepare: Callable[[], Plan],
    options: Options,
    *,
    identity: Mapping[str, str],
    progress: Progress = lambda done, total: True,
) -> Ended:
    """Run a job. ``prepare`` makes the same plan in a worker; it is told to it by name. ``identity`` says what the
    outputs depend on: code, input.

    Raises JobFailedError, InputError for a sink that exists and for too little memory, and KeyboardInterrupt when
    ``progress`` says stop; what was done by then is kept.
    """
    limit = options.limit()
    sinks = {stage.number: _sink(stage, options.folder) for stage in plan.run if _path(stage)}
    for sink in sinks.values():
        sink.check()
    with Manifest(options.work, identity) as manifest, ExitStack() as stack:
        for sink in sinks.values():
            stack.enter_context(sink.open())
        if not manifest.done:
            for sink in sinks.values():
                sink.clear()
        ended = _Run(plan, prepare, options, manifest, sinks, progress).run(limit)
        for number, sink in sinks.items():
            sink.commit(plan.stages[number].tasks)
        manifest.remove()
    return ended


def _path(stage: PlanStage) -> str | None:
    """Where a stage's results are to be written; None where it has none, or they are collected."""
    return None if stage.sink is None else stage.layout.stages[stage.root].data


def _sink(stage: PlanStage, folder: Path) -> Sink:
    return Sink(folder / str(_path(stage)), "r" if stage.reads else "m")


@dataclass
class _Run:
    """One run: what it works with, and the bounds of sorts that it knows so far."""

    plan: Plan
    prepare: Callable[[], Plan]
    options: Options
    manifest: Manifest
    sinks: Mapping[int, Sink]
    progress: Progress
    bounds: dict[int, list[Any]] = field(default_factory=dict)

    def run(self, limit: int) -> Ended:
        begun = monotonic()
        shutil.rmtree(self._scratch, ignore_errors=True)
        writers = [(stage.writes.number, stage) for stage in self.plan.run if stage.writes is not None]
        inputs = {number: (self._folder(stage), stage.tasks) for number, stage in writers}
        stages = []
        with Pool(self.options.workers, partial(_runner, self.prepare, inputs, self._scratch, limit)) as pool:
            for stage in self.plan.run:
                stages.append(self._stage(stage, pool))
                if stage.samples is not None:
                    self.bounds[stage.samples.number] = bounds_of(stage.samples, list(self._records(stage)))
        results = [stage for stage in self.plan.run if stage.sink is not None]
        return Ended(
            self.plan.name,
            tuple(stages),
            {stage.name: self.sinks[stage.number].folder for stage in results if stage.number in self.sinks},
            {stage.name: list(self._records(stage)) for stage in results if stage.number not in self.sinks},
            tuple(self.manifest.changed),
            monotonic() - begun,
        )

    @property
    def _scratch(self) -> Path:
        return self.manifest.path(SCRATCH)

    def _stage(self, stage: PlanStage, pool: Pool) -> StageDone:
        """Do what is left of a stage."""
        begun = monotonic()
        self._folder(stage).mkdir(parents=True, exist_ok=True)
        left = deque(index for index in range(stage.tasks) if (stage.number, index) not in self.manifest.done)
        kept, running = stage.tasks - len(left), 0
        failures: Counter[int] = Counter()
        while left or running:
            while left and pool.free:
                index = left.popleft()
                pool.give(self._task(stage, index, failures[index]))
                running += 1
            self._tell()
            for task, result in pool.ended(_LOOK_S):
                running -= 1
                if isinstance(result, Finished):
                    self._commit(task, result)
                else:
                    failures[task.index] += 1
                    self._judge(stage, task, result, failures[task.index])
                    left.appendleft(task.index)
        self._tell()
        counts: Counter[str] = Counter()
        for index in range(stage.tasks):
            done = self.manifest.done[stage.number, index]
            counts.update({**done.counts, "bytes": done.bytes})
        return StageDone(
            stage.number, stage.name, stage.tasks, kept, failures.total(), monotonic() - begun, dict(counts)
        )

    def _task(self, stage: PlanStage, index: int, failures: int) -> Task:
        """The next attempt: the first one is quick, unless it is the only one."""
        quick = failures == 0 and self.options.attempts > 1
        return Task(stage.number, index, failures, str(self._target(stage, index)), self.bounds, quick)

    def _commit(self, task: Task, result: Finished) -> None:
        """Give an output its final name, then note it."""
        Path(result.path).replace(task.target)
        done = Done(task.stage, task.index, task.target, result.bytes, result.digest, result.counts)
        self.manifest.add(done)

    def _judge(self, stage: PlanStage, task: Task, result: object, failures: int) -> None:
        """Whether a task that failed is tried again. Raises JobFailedError if it is not."""
        if isinstance(result, GnomonError):  # the worker could not be prepared, or an input not be read
            raise result
        if not isinstance(result, Death | Failed):
            raise TypeError(f"a worker gave {result!r}")
        lines = (str(result),) if isinstance(result, Death) else result.lines
        if failures < self.options.attempts and (isinstance(result, Death) or result.again):
            return
        times = "once" if failures == 1 else f"{failures} times"
        problem = (
            f"job {self.plan.name} failed: task {task.index} of stage {stage.number} ({stage.name}) failed {times}"
        )
        raise JobFailedError(problem, lines)

    def _tell(self) -> None:
        total = sum(stage.tasks for stage in self.plan.run)
        if not self.progress(len(self.manifest.done), total):
            raise KeyboardInterrupt

    def _folder(self, stage: PlanStage) -> Path:
        return self.manifest.path(f"stage-{stage.number}")

    def _target(self, stage: PlanStage, index: int) -> Path:
        sink = self.sinks.get(stage.number)
        return self._folder(stage) / output_name(index) if sink is None else sink.target(index)

    def _records(self, stage: PlanStage) -> Iterator[Any]:
        """What the tasks of a stage made that writes to no exchange."""
        for index in range(stage.tasks):
            yield from chain.from_iterable(read(self._target(stage, index), 0))


def _runner(
    prepare: Callable[[], Plan], inputs: Mapping[int, tuple[Path, int]], scratch: Path, limit: int
) -> Callable[[Task], Finished | Failed | InputError]:
    """What each worker makes before its first task."""
    return Runner(prepare(), inputs, scratch, limit)
