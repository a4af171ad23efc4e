"""When the jobs of a plan begin and end, where nothing can go wrong: the same rules without the shared world.

Without faults, places, second copies and nodes that come and go, who runs on which node changes nothing: slots are only
counted, so that a run of many tasks takes a hundredth of the time. What this says is what the log of
:func:`gnomon.control.batch.play.play` says; the tests hold them against each other.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from gnomon.control.batch.plan import BatchPlan, JobPlan
from gnomon.control.batch.rules import Rules
from gnomon.control.batch.stages import Stage, Stages
from gnomon.scheduling.pools import FIFO


def counts_only(plan: BatchPlan, rules: Rules) -> bool:
    """Whether slots need only be counted."""
    plain = rules.mode == FIFO and rules.copies is None and rules.allocation is None and not rules.eager
    return plain and not any(stage.overlaps for stage in plan.stages.values())


@dataclass
class _Set:
    """The tasks of a stage. ``next``: the first that was not launched; ``known``: how many are known to be done."""

    stage: Stage
    job: int
    next: int = 0
    known: int = 0


class _Play:
    """A run. ``ends``: (when, number of the stage) of what runs; ``timers``: as :class:`gnomon.control.timers.Timers`
    has them; ``told``: when jobs began and ended."""

    def __init__(self, plan: BatchPlan, rules: Rules, lengths: Mapping[int, Sequence[int]], slots: int) -> None:
        self.plan, self.rules, self.lengths, self.free = plan, rules, lengths, slots
        self.stages = Stages(plan)
        self.now = 0
        self.ends: list[tuple[int, int]] = []
        self.timers: list[tuple[int, int, Callable[[], None]]] = []
        self.entered = 0
        self.sets: dict[int, _Set] = {}
        self.waiting: list[_Set] = []
        self.unfinished = set(plan.jobs)
        self.told: list[int] = []
        for job in plan.jobs.values():
            if job.after not in self.unfinished:
                self.at(job.at_ns, partial(self.submit_job, job))

    def at(self, time: int, act: Callable[[], None]) -> None:
        heapq.heappush(self.timers, (time, self.entered, act))
        self.entered += 1

    def run(self) -> None:
        """Ends free their slots, then what is due happens, then free slots are given away."""
        ends, timers = self.ends, self.timers
        while ends or timers:
            self.now = now = min(ends[0][0] if ends else timers[0][0], timers[0][0] if timers else ends[0][0])
            done: dict[int, int] = {}
            while ends and ends[0][0] <= now:
                stage = heapq.heappop(ends)[1]
                done[stage] = done.get(stage, 0) + 1
            for stage, count in done.items():
                self.free += count
                self.at(now + self.rules.result_ns, partial(self.known, stage, count))
            while timers and timers[0][0] <= now:
                heapq.heappop(timers)[2]()
            if self.free and self.waiting:
                self.place()

    def submit_job(self, job: JobPlan) -> None:
        self.told.append(self.now)
        self.submit(self.stages.submit_job(job), job.setup_ns)

    def submit(self, ready: Sequence[Stage], delay_ns: int) -> None:
        for stage in ready:
            missing = 0 if stage.complete else stage.plan.tasks
            tasks = _Set(stage, stage.job, next=stage.plan.tasks - missing)
            self.sets[stage.plan.number] = tasks
            self.at(self.now + delay_ns, partial(self.open, tasks))

    def open(self, tasks: _Set) -> None:
        if tasks.next < tasks.stage.plan.tasks:
            self.waiting.append(tasks)
            self.waiting.sort(key=lambda one: (one.job, one.stage.plan.number))

    def place(self) -> None:
        """Free slots are given to task sets, first come first served."""
        for tasks in self.waiting:
            number = tasks.stage.plan.number
            lengths = self.lengths[number]
            last = min(tasks.next + self.free, len(lengths))
            for partition in range(tasks.next, last):
                heapq.heappush(self.ends, (self.now + lengths[partition], number))
            self.free -= last - tasks.next
            tasks.next = last
            if not self.free:
                break
        self.waiting = [one for one in self.waiting if one.next < one.stage.plan.tasks]

    def known(self, number: int, count: int) -> None:
        """It is known that so many tasks of a stage are done."""
        tasks = self.sets[number]
        stage, tasks.known = tasks.stage, tasks.known + count
        if tasks.known < stage.plan.tasks:
            return
        stage.output = dict.fromkeys(range(stage.plan.tasks), 0)
        self.submit(self.stages.done(number, 0, node=0) or [], self.rules.stage_ns)
        for job in list(self.stages.active.values()):
            if job.result == number:
                self.at(self.now + job.teardown_ns, partial(self.end_job, job))

    def end_job(self, job: JobPlan) -> None:
        if job.number not in self.stages.active:
            return
        self.told.append(self.now)
        self.stages.end_job(job.number)
        self.unfinished.discard(job.number)
        for later in self.plan.jobs.values():
            if later.after == job.number and later.number in self.unfinished:
                self.at(self.now + later.at_ns, partial(self.submit_job, later))


def span_ns(plan: BatchPlan, rules: Rules, lengths: Mapping[int, Sequence[int]], slots: int) -> int:
    """From the submission of the first job to the end of the last, on so many slots, where :func:`counts_only`.

    ``lengths``: how long each task of each stage has its slot, in ns. Seven tasks of 10 on three slots go in three
    waves:

    >>> from gnomon.control.batch.plan import StagePlan
    >>> plan = BatchPlan({0: JobPlan(0, "count", result=0, setup_ns=5)}, {0: StagePlan(0, "map", 0, 7)})
    >>> span_ns(plan, Rules(result_ns=1), {0: [10] * 7}, 3)
    36
    """
    found = _Play(plan, rules, lengths, slots)
    found.run()
    return max(found.told) - min(found.told) if found.told else 0
