"""The course of a workload over a run: how many of its pods were ready, at the end and at least, and rollouts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from gnomon.insight.kubernetes.runs.readiness import Span, Steps, at, counted_over
from gnomon.insight.kubernetes.runs.workloads import NEVER_BY_ITSELF, Followed, Version
from gnomon.model.resources import NEVER

Said = Sequence[tuple[int, str]]
Events = Mapping[str, Said]

TIMED_OUT = "ProgressDeadlineExceeded"
PROGRESSED = "NewReplicaSetAvailable"


@dataclass(frozen=True, slots=True)
class RolledOut:
    """A version: from when it is wanted, when it was out (NEVER: not up to the end), and when its controller gave up
    waiting for that (NEVER: it did not)."""

    at_ns: int
    done_ns: int
    timed_out_ns: int = NEVER
    by_hand: bool = False


@dataclass(frozen=True, slots=True)
class Course:
    """``whole_ns``: when all pods that were wanted were ready for the first time (NEVER: not once); from then on
    ``least``: the fewest that were, first at ``least_ns``, and ``short_ns``: for how long fewer than were wanted."""

    workload: Followed
    ready: int
    desired: int
    whole_ns: int
    least: int
    least_ns: int
    short_ns: int
    rollouts: tuple[RolledOut, ...]


def course_of(workload: Followed, spans: Mapping[int, list[Span]], events: Events, end_ns: int) -> Course:
    """The course of a workload. ``spans``: when pods are ready; ``events``: what is said of each object; ``end_ns``: up
    to when the run is known."""
    said = events.get(workload.about, ())
    steps = counted_over(dict(spans), workload.tasks)
    known = [step for step in steps if step[0] <= end_ns]
    whole = _first_whole(workload, known, end_ns)
    least, least_ns, short = 0, NEVER, 0
    if whole < NEVER:
        later = [(whole, at(known, whole)), *(step for step in known if step[0] > whole)]
        least_ns, least = min(later, key=lambda step: (step[1], step[0]))
        short = _short(workload, later, end_ns)
    rollouts = tuple(_rolled_out(workload, place, dict(spans), said, end_ns) for place in range(len(workload.versions)))
    last = min(end_ns, NEVER - 1)
    return Course(workload, at(known, last), workload.desired_at(last), whole, least, least_ns, short, rollouts)


def _first_whole(workload: Followed, steps: Steps, end_ns: int) -> int:
    times = {t_ns for t_ns, _ in steps} | {one.at_ns for one in workload.versions if one.at_ns <= end_ns}
    later = sorted(t_ns for t_ns in times if t_ns >= workload.versions[0].at_ns)
    return next((t_ns for t_ns in later if at(steps, t_ns) >= workload.desired_at(t_ns)), NEVER)


def _short(workload: Followed, steps: Steps, end_ns: int) -> int:
    """For how long fewer pods were ready than were wanted."""
    end = min(end_ns, max(steps[-1][0], workload.versions[-1].at_ns)) if end_ns >= NEVER else end_ns
    cuts = {t_ns for t_ns, _ in steps} | {one.at_ns for one in workload.versions if steps[0][0] < one.at_ns < end}
    times = [*sorted(cuts), end]
    return sum(max(later - t_ns, 0) for t_ns, later in pairwise(times) if at(steps, t_ns) < workload.desired_at(t_ns))


def _rolled_out(workload: Followed, place: int, spans: dict[int, list[Span]], said: Said, end_ns: int) -> RolledOut:
    version = workload.versions[place]
    until = workload.versions[place + 1].at_ns if place + 1 < len(workload.versions) else NEVER
    until = min(until, end_ns)
    timed_out = _said(said, TIMED_OUT, version.at_ns, until)
    if version.strategy == NEVER_BY_ITSELF:
        return RolledOut(version.at_ns, NEVER, timed_out, by_hand=True)
    done = _said(said, PROGRESSED, version.at_ns, until) if place and version.at_ns else NEVER
    if done >= NEVER:
        done = _out(workload, version, spans, until)
    return RolledOut(version.at_ns, done, timed_out if done >= NEVER else NEVER)


def _out(workload: Followed, version: Version, spans: dict[int, list[Span]], until: int) -> int:
    """The first moment at which all pods that are wanted are available, and as many of this version as are to be."""
    after = version.min_ready_s * 10**9
    everyone, new = (counted_over(spans, tasks, after_ns=after) for tasks in (workload.tasks, version.tasks))
    old = counted_over(spans, set(workload.tasks) - set(version.tasks))
    kept = version.desired - version.renewed
    for t_ns in sorted({version.at_ns, *(one for steps in (everyone, new, old) for one, _ in steps)}):
        if version.at_ns <= t_ns <= until and t_ns < NEVER:
            whole = at(everyone, t_ns) >= version.desired and at(new, t_ns) >= version.renewed
            if whole and at(old, t_ns) <= kept:
                return t_ns
    return NEVER


def _said(said: Said, reason: str, from_ns: int, until: int) -> int:
    """When a controller said something first, within a time; NEVER: it did not."""
    return next((t_ns for t_ns, word in said if word == reason and from_ns <= t_ns < until), NEVER)
