"""Which stages of which jobs can run: parents first, a barrier between, only what is missing.

The rules are those of Spark's ``DAGScheduler`` (submitStage, getMissingParentStages, submitWaitingChildStages).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from gnomon.control.batch.plan import BatchPlan, JobPlan, StagePlan
from gnomon.model.resources import E4


@dataclass
class Stage:
    """The state of a stage. ``output``: the node that has what each done partition made (of a stage that writes) or
    made it (of a result); ``attempts``: how many there have been; ``runs``: it has a task set at work; ``waits``: it
    waits for its parents; ``failed_in``: the attempts in a row that could not read what they need; ``job``: the first
    one that needs it; ``joined``: partitions whose work another one does, and which."""

    plan: StagePlan
    job: int = -1
    output: dict[int, int] = field(default_factory=dict)
    attempts: int = 0
    runs: bool = False
    waits: bool = False
    failed_in: set[int] = field(default_factory=set)
    joined: Mapping[int, int] = field(default_factory=dict)

    @property
    def complete(self) -> bool:
        """Whether all its partitions are there."""
        return len(self.output) + len(self.joined) == self.plan.tasks

    def missing(self) -> list[int]:
        """The partitions that are not there."""
        there = self.output.keys() | self.joined.keys()
        return [partition for partition in range(self.plan.tasks) if partition not in there]


class Stages:
    """The stages of all jobs.

    >>> plan = BatchPlan(
    ...     {0: JobPlan(0, "count", result=1)},
    ...     {0: StagePlan(0, "map", 0, 2, writes=True), 1: StagePlan(1, "reduce", 2, 1, parents=(0,))},
    ... )
    >>> stages = Stages(plan)
    >>> [one.plan.name for one in stages.submit_job(plan.jobs[0])]
    ['map']
    >>> stages.done(0, 0, node=5), [one.plan.name for one in stages.done(0, 1, node=5) or []]
    (None, ['reduce'])
    """

    def __init__(self, plan: BatchPlan) -> None:
        self.plan = plan
        self.of = {number: Stage(stage) for number, stage in plan.stages.items()}
        self.needed = {job: set(plan.ancestors(one.result)) for job, one in plan.jobs.items()}
        self.active: dict[int, JobPlan] = {}
        self._children: dict[int, list[int]] = {}
        for number, stage in plan.stages.items():
            for parent in stage.parents:
                self._children.setdefault(parent, []).append(number)

    def submit_job(self, job: JobPlan) -> list[Stage]:
        """A job is there. The stages that can be submitted now, in order."""
        self.active[job.number] = job
        for number in self.needed[job.number]:
            if self.of[number].job not in self.active:
                self.of[number].job = job.number
        return self.submit(self.of[job.result])

    def submit(self, stage: Stage) -> list[Stage]:
        """A stage is wanted: it, or of what it lacks what can be submitted now, in order."""
        if stage.runs or stage.waits:
            return []
        lacking = self.lacking(stage)
        ready = [one for parent in lacking for one in self.submit(parent)]
        if lacking and not self._may_overlap(stage):
            stage.waits = True
            return ready
        stage.runs = True
        return [*ready, stage]

    def lacking(self, stage: Stage) -> list[Stage]:
        """The parents of a stage whose output is not all there, by number."""
        parents = (self.of[number] for number in sorted(stage.plan.parents))
        return [parent for parent in parents if not parent.complete]

    def _may_overlap(self, stage: Stage) -> bool:
        """Whether enough of its parents is done for its tasks to start, and wait inside for the rest."""
        if stage.plan.overlaps_e4 >= E4:
            return False
        parents = [self.of[number] for number in stage.plan.parents]
        done, tasks = sum(len(one.output) for one in parents), sum(one.plan.tasks for one in parents)
        return done * E4 >= stage.plan.overlaps_e4 * tasks

    def done(self, number: int, partition: int, *, node: int) -> list[Stage] | None:
        """A task is done. When it was the last of its stage, and where children may overlap: who can be submitted now;
        None otherwise. A result stage that is complete is for the job to look at."""
        stage = self.of[number]
        stage.output[partition] = node
        if not stage.complete:
            early = [child for child in self.children(stage) if child.waits and self._may_overlap(child)]
            return self._submit_all(early) if early else None
        stage.runs = False
        stage.failed_in.clear()
        return self._submit_all([child for child in self.children(stage) if child.waits])

    def _submit_all(self, waiting: list[Stage]) -> list[Stage]:
        ready = []
        for child in sorted(waiting, key=lambda one: (one.job, one.plan.number)):
            child.waits = False
            ready += self.submit(child)
        return ready

    def children(self, stage: Stage) -> Iterator[Stage]:
        """Those that read the output of a stage."""
        return (self.of[number] for number in self._children.get(stage.plan.number, ()))

    def end_job(self, number: int) -> list[Stage]:
        """A job has ended, or failed. Its stages that no other job needs, and that run or wait: they stop."""
        self.active.pop(number, None)
        wanted = set().union(*(self.needed[other] for other in self.active)) if self.active else set()
        stopped = [self.of[one] for one in sorted(self.needed[number] - wanted)]
        stopped = [stage for stage in stopped if stage.runs or stage.waits]
        for stage in stopped:
            stage.runs = stage.waits = False
        for one in self.needed[number] & wanted:  # another job has it now
            if self.of[one].job == number:
                self.of[one].job = min(other for other in self.active if one in self.needed[other])
        return stopped

    def roll_back(self, stage: Stage) -> list[tuple[Stage, int]] | None:
        """What a stage makes another time may be other records: all that it made counts no more, nor what others made
        of it. What that was; None where a result was given away already, which nobody can take back."""
        found, gone, todo = {stage.plan.number}, [], [stage]
        while todo:
            one = todo.pop()
            if one.output and not one.plan.writes:
                return None
            gone += [(one, partition) for partition in sorted(one.output)]
            fresh = [child for child in self.children(one) if child.plan.number not in found and child.output]
            found.update(child.plan.number for child in fresh)
            todo += fresh
        for one, partition in gone:
            del one.output[partition]
        return gone

    def lose_outputs(self, node: int) -> list[tuple[Stage, int]]:
        """What stages that write had on a node is gone. What that was."""
        gone = []
        for stage in self.of.values():
            if stage.plan.writes:
                here = [partition for partition, where in stage.output.items() if where == node]
                for partition in here:
                    del stage.output[partition]
                gone += [(stage, partition) for partition in here]
        return gone
