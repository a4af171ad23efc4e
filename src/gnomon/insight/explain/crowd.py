"""Who shares a node with whom, and the memory or processors that they use, by their profiles."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gnomon.insight.explain.ground import Ground
from gnomon.insight.explain.situation import Situation
from gnomon.model.resources import NEVER
from gnomon.model.usage import Profile


@dataclass(frozen=True)
class Crowd:
    """Those who have a place on a node just before a row: what they asked for, what their limits add up to (those who
    have one), what each uses of memory, in bytes."""

    tasks: tuple[int, ...]
    asked: int
    limits: int
    unlimited: int
    used: tuple[int, ...]
    allocatable: int

    @property
    def overcommit(self) -> float:
        """The sum of the limits over what may be asked of the node; 0 where nobody has a limit, or all of it is."""
        return self.limits / self.allocatable if self.allocatable else 0.0


def crowd(ground: Ground, node: int, row: int) -> Crowd:
    """Who is on a node just before a row."""
    here = Situation(ground, row, int(ground.past.log.t_ns[row]))
    there = np.flatnonzero(here.node == node)
    tasks = here.holders[there].tolist()
    shapes = [ground.work.shapes[ground.shape(task)] for task in tasks]
    began = [int(ground.past.places.open_ns[here.stays[i]]) for i in there]
    limits = [shape.limit.memory_bytes for shape in shapes]
    return Crowd(
        tasks=tuple(tasks),
        asked=sum(shape.request.memory_bytes for shape in shapes),
        limits=sum(limits),
        unlimited=sum(not limit for limit in limits),
        used=tuple(memory_used(ground, task, here.now_ns - begin) for task, begin in zip(tasks, began, strict=True)),
        allocatable=ground.scenario.cluster.nodes[node].capacity.memory_bytes,
    )


def memory_used(ground: Ground, task: int, elapsed_ns: int) -> int:
    """The memory that a task uses so long after its attempt began, in bytes."""
    usage = ground.work.usage_of(task)
    profile = None if usage is None else usage.profile("memory")
    return ground.work.shapes[ground.shape(task)].request.memory_bytes if profile is None else at(profile, elapsed_ns)


def at(profile: Profile, elapsed_ns: int) -> int:
    """The amount of a profile at a time since the attempt began, rounded down.

    >>> at(Profile(((0, 0), (100, 50))), 10), at(Profile(((0, 0), (100, 50))), 200)
    (5, 50)
    """
    t = elapsed_ns % profile.every_ns if profile.every_ns else elapsed_ns
    before = max((i for i, (time, _) in enumerate(profile.points) if time <= t), default=0)
    time, amount = profile.points[before]
    if before + 1 == len(profile.points):
        return amount
    later, then = profile.points[before + 1]
    return amount + (then - amount) * (t - time) // (later - time)


def peak(ground: Ground, task: int, name: str) -> int:
    """The most that a task ever uses of cpu (millicores) or memory (bytes) in a run at full speed."""
    usage = ground.work.usage_of(task)
    profile = None if usage is None else usage.profile(name)
    if profile is None:
        return ground.work.shapes[ground.shape(task)].request.amount(name)
    length = int(ground.work.duration_ns[task])
    points = [amount for time, amount in profile.points if time <= length or profile.every_ns]
    return max(*points, at(profile, length)) if length < NEVER else max(points)
