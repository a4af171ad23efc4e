"""The tasks of jobs of MapReduce on real records: an :class:`gnomon.control.batch.plan.Execution`.

Maps and reduces run when their attempt starts; what counts is the output of the attempt that is done first. A reduce
that started early copies each segment when its map is done, keeps what it has copied whatever becomes of the map, and
goes on when all maps are done.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from gnomon.control.batch import plan
from gnomon.control.batch.plan import Course, StagePlan, Where
from gnomon.dataflow.commit import Output
from gnomon.dataflow.layout import Exchange
from gnomon.dataflow.sampling import bounds_of
from gnomon.dataflow.sorting import Segment
from gnomon.model.errors import InputError
from gnomon.model.resources import E4, NEVER
from gnomon.systems.mapreduce.attempts import Attempt, Runner
from gnomon.systems.mapreduce.jobs import Jobs, Part, Role

DISK_FULL = "DiskErrorException: Could not find any valid local directory for output/spill0.out"
"""What an attempt says for whose output no local directory has room (``LocalDirAllocator``)."""

BLOCK_MISSING = "BlockMissingException"
"""How the message of a map begins whose input cannot be read."""

Place = tuple[int, int]
"""A task: its part, its number in it."""
Piece = tuple[int, int, int]
"""A segment: the part and the number of the map that made it, the partition that it is of."""
Try = tuple[int, int, int, int]
"""An attempt: part, task, attempt of the stage, number."""


@dataclass(slots=True)
class Copying:
    """A reduce that copies. ``held``: the segments that it has copied, in the order in which that was; ``free_ns``:
    when it has the last of them."""

    start_ns: int
    free_ns: int
    held: dict[Piece, Segment] = field(default_factory=dict)


@dataclass(frozen=True)
class Inputs:
    """What maps read, by task. ``size``: bytes; ``hosts``: the nodes (of the cluster) that have it; ``splits``: the
    place in its file, as text."""

    size: Mapping[Place, int] = field(default_factory=dict)
    hosts: Mapping[Place, tuple[int, ...]] = field(default_factory=dict)
    splits: Mapping[Place, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Setup:
    """What is to be run."""

    jobs: Jobs
    runner: Runner
    inputs: Inputs = Inputs()


class Tasks(plan.Execution):
    """One run. ``outputs``: the output folder of each job, ``made``: the attempts that count, by task."""

    def __init__(self, setup: Setup, now: Callable[[], int] = lambda: 0) -> None:
        self._work, self._now = setup, now
        self._parts, self._runner = setup.jobs.parts, setup.runner
        self.made: dict[Place, Attempt] = {}
        self._made_at: dict[Place, int] = {}
        self._node: dict[Place, int] = {}
        self._to_copy: dict[Place, list[Piece]] = {}
        self._down: set[int] = set()
        self._trying: dict[Try, Attempt] = {}
        self._copying: dict[Try, Copying] = {}
        algorithm = setup.runner.settings.committer
        self.outputs = {job: Output(algorithm) for job in setup.jobs.batch.jobs}

    # ------------------------------------------------------------------ as the placer asks

    def start(self, now: Callable[[], int]) -> Tasks:
        """A run of its own."""
        return Tasks(self._work, now)

    def reach(self, node: int, up: bool) -> None:
        """What is on a node cannot be copied any more, or can be again."""
        self._copy_so_far()
        (self._down.discard if up else self._down.add)(node)

    def lacks(self, where: Where) -> Sequence[Place] | None:
        """The maps whose segments a reduce has not copied, and cannot now."""
        copying = self._copying.get(where.key)
        if copying is None:
            return []
        self._copy(where, copying, until_ns=self._now())
        left = [piece for piece in self._pieces(where.stage.number, where.partition) if piece not in copying.held]
        return [place for place in dict.fromkeys(piece[:2] for piece in left) if not self._is_there(place)]

    def progress_e4(self, where: Where, ran_ns: int, length_ns: int) -> int:
        """By phases as Hadoop weighs them: of a map with reduces 2/3 until the last spill; of a reduce a third each for
        copying, sorting and the rest (``MapTask``, ``ReduceTask``)."""
        attempt, copying = self._trying.get(where.key), self._copying.get(where.key)
        if length_ns >= NEVER or attempt is None:
            pieces = len(self._pieces(where.stage.number, where.partition))
            return len(copying.held) * E4 // (3 * pieces) if copying is not None and pieces else 0
        return progress_e4(attempt.phases, ran_ns)

    def prefers(self, stage: StagePlan, partition: int) -> Sequence[tuple[int, int]]:
        """The nodes that have a block of the input."""
        return [(node, 1) for node in self._work.inputs.hosts.get((stage.number, partition), ())]

    def begin(self, where: Where) -> Course:
        """Run a map; a reduce too, if all maps are done."""
        part = self._parts[where.stage.number]
        try:
            return self._map(part, where) if part.role is Role.MAP else self._reduce(part, where)
        except InputError as error:
            if error.file:
                raise  # an input that cannot be read: nobody's attempt
            return Course(self._runner.costs.start_ns, fails=str(error))

    def resume(self, where: Where, ran_ns: int) -> Course:
        """All is there: what is left to copy, and what follows."""
        try:
            return self._finish(self._parts[where.stage.number], where, self._copying[where.key])
        except InputError as error:
            return Course(0, fails=str(error))

    def done(self, where: Where) -> Mapping[str, int | str]:
        """The attempt counts: its output is there for others."""
        place, part = (where.stage.number, where.partition), self._parts[where.stage.number]
        attempt = self._of(where)
        self.made[place], self._made_at[place], self._node[place] = attempt, self._now(), where.node
        if part.shuffles is None:
            self._commit(part, where, attempt)
        self._forget(place)
        phases = {f"{name}_ns": length for name, length in attempt.phases.items()}
        spills = {} if attempt.output is None else {"spills": len(attempt.output.spills)}
        files = {"committed": self._file(part, where.partition)} if part.shuffles is None else {}
        return {**phases, **spills, **files, **attempt.counts}

    def lost(self, stage: StagePlan, partition: int) -> None:
        """The output of a map is gone; who has copied it keeps that."""
        self._copy_so_far()
        self.made.pop((stage.number, partition), None)
        self._made_at.pop((stage.number, partition), None)

    # ------------------------------------------------------------------ maps

    def _map(self, part: Part, where: Where) -> Course:
        place = (part.number, where.partition)
        hosts = self._work.inputs.hosts.get(place, ())
        if hosts and all(host in self._down for host in hosts):
            return Course(self._runner.costs.start_ns, fails=f"{BLOCK_MISSING}: no replica of its split can be read")
        attempt = self._runner.map(
            part,
            where.partition,
            input_bytes=self._input_bytes(part, where.partition),
            local=not hosts or where.node in hosts,
            loads=lambda number, index: self._loaded(part, number, index),
            stored=None if part.stored is None else self.made[part.stored, where.partition].records,
            bounds=self._bounds(part.shuffles),
        )
        self._trying[where.key] = attempt
        facts: dict[str, int | str] = {"input_bytes": self._input_bytes(part, where.partition)}
        if place in self._work.inputs.splits:
            facts["split"] = self._work.inputs.splits[place]
        return replace(_on_disk(attempt), details=facts)

    def _input_bytes(self, part: Part, index: int) -> int:
        if part.stored is None:
            return self._work.inputs.size.get((part.number, index), 0)
        return sum(map(self._runner.size, self.made[part.stored, index].records or ()))

    def _loaded(self, part: Part, number: int, index: int) -> Iterable[Any]:
        """What a broadcast has stored."""
        writer = next(one for exchange, one in part.loads if exchange.number == number)
        for task in range(self._parts[writer].tasks):
            yield from self.made[writer, task].records or ()

    def _bounds(self, exchange: Exchange | None) -> Mapping[int, Sequence[Any]]:
        """The bounds of an exchange by range, from the job that sampled for it."""
        if exchange is None or exchange.known.bounds is None:
            return {}
        for part in self._parts:
            sampled = part.source.samples
            if sampled is not None and sampled.number == exchange.known.bounds and part.shuffles is None:
                made = [self.made[part.number, task].records for task in range(part.tasks)]
                return {sampled.number: bounds_of(sampled, [one[0] for one in made if one])}
        return {}

    # ------------------------------------------------------------------ reduces

    def _reduce(self, part: Part, where: Where) -> Course:
        begun = self._now() + self._runner.costs.start_ns
        copying = self._copying[where.key] = Copying(begun, begun)
        if not all(self._is_there(piece[:2]) for piece in self._pieces(part.number, where.partition)):
            return Course(NEVER)
        return self._finish(part, where, copying)

    def _pieces(self, number: int, index: int) -> list[Piece]:
        """What a reduce has to copy: mostly its own partition of each map, but several after ``coalesce``, and after
        ``union`` those of one side."""
        place = (number, index)
        if place not in self._to_copy:
            part = self._parts[number]
            writers = {exchange.number: writer for exchange, writer in part.reads}
            self._to_copy[place] = [
                (writers[exchange.number], task, partition)
                for exchange, partition in part.source.needs(index)
                if exchange.number in writers
                for task in range(self._parts[writers[exchange.number]].tasks)
            ]
        return self._to_copy[place]

    def _is_there(self, place: Place) -> bool:
        return place in self.made and self._node[place] not in self._down

    def _copy_so_far(self) -> None:
        """Something is about to change: what has been copied by now stays."""
        for key, copying in self._copying.items():
            part, task, attempt, number = key
            where = Where(self._work.jobs.batch.stages[part], task, attempt, number, -1)
            self._copy(where, copying, until_ns=self._now())

    def _copy(self, where: Where, copying: Copying, *, until_ns: int = NEVER) -> None:
        """Copy what is there, the first made first, as far as it is copied at a time."""
        pieces = self._pieces(where.stage.number, where.partition)
        wanted = [piece for piece in pieces if piece not in copying.held and self._is_there(piece[:2])]
        costs, threads = self._runner.costs, self._runner.settings.copies
        for piece in sorted(wanted, key=lambda one: (self._made_at[one[:2]], one)):
            output = self.made[piece[:2]].output
            assert output is not None
            segment = output.segments[piece[2]]
            begun = max(copying.free_ns, self._made_at[piece[:2]])
            end = begun + costs.copy_ns(segment.bytes, threads)
            if end > until_ns:
                return
            copying.held[piece], copying.free_ns = segment, end

    def _finish(self, part: Part, where: Where, copying: Copying) -> Course:
        """Copy all, then merge and reduce. What it has really copied by a later time is found out then."""
        whole = Copying(copying.start_ns, copying.free_ns, dict(copying.held))
        self._copy(where, whole)
        exchanges = {writer: exchange.number for exchange, writer in part.reads}
        copied: dict[tuple[int, int], list[Segment]] = {}
        for (writer, _, partition), segment in whole.held.items():
            copied.setdefault((exchanges[writer], partition), []).append(segment)
        attempt = self._runner.reduce(
            part, where.partition, copied, loads=lambda number, index: self._loaded(part, number, index)
        )
        now = self._now()
        reads_ns = max(whole.free_ns - now, 0)
        phases = {"start": self._runner.costs.start_ns, "copy": max(whole.free_ns, now) - whole.start_ns}
        phases["copy"] = max(phases["copy"], 0)
        self._trying[where.key] = Attempt(attempt.counts, {**phases, **attempt.phases}, records=attempt.records)
        return Course(reads_ns + attempt.length_ns, reads_ns=reads_ns)

    # ------------------------------------------------------------------ ends

    def _of(self, where: Where) -> Attempt:
        """What an attempt made; of a copy that is not known by its number, what the task made last."""
        key = where.key
        if key in self._trying:
            return self._trying[key]
        mine = [other for other in self._trying if other[:2] == key[:2]]
        return self._trying[max(mine)]

    def _commit(self, part: Part, where: Where, attempt: Attempt) -> None:
        """The task's file, and after the last task the job's output."""
        output = self.outputs[part.job]
        task = where.partition
        if output.may_commit(task, where.number):
            output.write(task, where.number, {self._file(part, task): attempt.records})
            output.commit_task(task, where.number)
        if all((part.number, other) in self.made for other in range(part.tasks)) and not output.is_complete:
            output.commit_job()

    def _file(self, part: Part, task: int) -> str:
        return f"part-{part.role[0]}-{task:05d}"

    def _forget(self, place: Place) -> None:
        for key in [key for key in self._trying if key[:2] == place]:
            del self._trying[key]
        for key in [key for key in self._copying if key[:2] == place]:
            del self._copying[key]

    # ------------------------------------------------------------------ results

    def records(self, sink: str | None = None) -> list[list[Any]]:
        """The records of each partition of a result: of the only one, or of that with the name of its stage."""
        found = {part.source.name: part for part in self._parts if part.source.sink is not None}
        if sink is None and len(found) > 1:
            raise InputError("there are several results", allowed=", ".join(found))
        part = found[sink] if sink is not None else next(iter(found.values()))
        return [self.made[part.number, task].records or [] for task in range(part.tasks)]


_THIRDS = (
    ("copy", ((1, ("copy",)), (1, ("sort",)), (1, ("reduce", "write")))),
    ("spill", ((2, ("read", "map")), (1, ("spill", "merge")))),
    ("map", ((3, ("read", "map", "write")),)),
)
"""What the phases of a reduce, of a map with reduces and of one without count for, in thirds."""


def progress_e4(phases: Mapping[str, int], ran_ns: int) -> int:
    """How far an attempt is that ran so long; while it starts there is no progress.

    >>> phases = {"start": 10, "read": 0, "map": 40, "spill": 10, "merge": 10}
    >>> [progress_e4(phases, ran) for ran in (5, 30, 50, 60, 70)]
    [0, 3333, 6666, 8333, 10000]
    """
    groups = next(groups for name, groups in _THIRDS if name in phases)
    left, done = ran_ns - phases.get("start", 0), Fraction(0)
    for thirds, names in groups:
        length = sum(phases.get(name, 0) for name in names)
        if left < length:
            return int((done + Fraction(thirds * max(left, 0), 3 * length)) * E4)
        done, left = done + Fraction(thirds, 3), left - length
    return E4


def _on_disk(attempt: Attempt) -> Course:
    """How a map goes: its spills lie on the disk until they are merged, then what they were merged to."""
    output = attempt.output
    if output is None:
        return Course(attempt.length_ns)
    kept = output.counts.materialised
    spilled = sum(spill.bytes for spill in output.spills)
    writes = kept + spilled if len(output.spills) > 1 else kept
    length = attempt.phases["spill"] + attempt.phases["merge"]
    return Course(attempt.length_ns, writes=writes, writes_ns=length, keeps=kept)
