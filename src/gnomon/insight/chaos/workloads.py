"""What may be demanded of workloads: how many of their pods are ready, and how soon a new version is out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Final

import numpy as np

from gnomon.insight.chaos.facts import Facts
from gnomon.insight.chaos.rules import Rule, Verdict, clock
from gnomon.model.quantity import parse_count, parse_duration
from gnomon.model.resources import NEVER
from gnomon.model.scenario import Scenario

if TYPE_CHECKING:
    from gnomon.insight.kubernetes.runs.course import Course
    from gnomon.insight.kubernetes.runs.workloads import Followed

EVERY: Final = "every workload"

FORMS: Final = (
    "deployment/web has at least 5 ready",
    "deployment/web has at least 80 % ready",
    "every workload has at least 1 ready",
    "deployment/web is rolled out within 10m",
)
"""One example of each form; a name outside of ``default`` with its namespace: ``statefulset/data/db``."""

_NAME: Final = r"(every workload|[a-z]+/[a-z0-9./-]+)"
_READY: Final = re.compile(
    rf"{_NAME} (?:always )?(?:has|have|keeps) (?:at least|>=|≥|no less than|not less than) ([\d.]+ ?(?:%|per ?cent)?) ?"
    r"(?:pods |replicas )?(?:ready|available)(?: pods| replicas)?"
)
_ROLLED: Final = re.compile(rf"{_NAME} (?:is|are) rolled out within (\S.*)")


def workload_rule(text: str) -> Rule | None:
    """What a text demands of workloads; None: it is about something else. Raises ValueError for a number that is none.

    >>> workload_rule("Deployment/web has at least 5 ready")
    EnoughReady(name='deployment/web', least=5)
    >>> workload_rule("every job ends")
    """
    plain = " ".join(text.lower().split()).rstrip(".")
    if match := _READY.fullmatch(plain):
        name, amount = match.groups()
        return EnoughReady(name, _share(amount) if not amount.strip().isdigit() else parse_count(amount.strip()))
    if match := _ROLLED.fullmatch(plain):
        return RolledOutWithin(match[1], parse_duration(match[2]))
    return None


def _share(text: str) -> Fraction:
    number = re.fullmatch(r"(\d{1,3}(?:\.\d{1,9})?) ?(?:%|per ?cent)", text.strip())
    if number is None or Fraction(number[1]) > 100:
        raise ValueError("not a number of pods, nor a share of them (as in 5, 80 %)")
    return Fraction(number[1]) / 100


@dataclass(frozen=True, slots=True)
class EnoughReady:
    """Of a workload (or of each) at least so many pods, or such a part of those that it wants, are ready from when so
    many are for the first time to the end of the run."""

    name: str
    least: int | Fraction

    def judge(self, facts: Facts) -> Verdict:
        """As the API server has it: a pod on a node that is down counts until that is noticed."""
        worst: Verdict | None = None
        told = []
        for found, steps in _steps(facts, self.name):
            verdict = self._judge(facts, found, steps)
            if not verdict.holds:
                return verdict
            told.append(verdict.found)
            worst = verdict if worst is None or verdict.near_e4 > worst.near_e4 else worst
        if worst is None:
            return Verdict(True, "no workloads")
        return worst if len(told) == 1 else replace(worst, found=f"{len(told)} workloads; {worst.found}")

    def _judge(self, facts: Facts, found: Followed, steps: Sequence[tuple[int, int, int]]) -> Verdict:
        begin = next((t_ns for t_ns, ready, wanted in steps if ready >= self._bound(wanted)), NEVER)
        if begin >= NEVER:
            most = max(ready for _, ready, _ in steps)
            return Verdict(False, f"{found.label} never has so many ready: at most {most}", _rows(facts, found), -1)
        later = [step for step in steps if step[0] >= begin]
        t_ns, ready, wanted = min(later, key=lambda step: (step[1] - self._bound(step[2]), step[0]))
        room = wanted - self._bound(wanted)
        near = int(min(Fraction(max(wanted - ready, 0)) / room, Fraction(1)) * 10_000) if room > 0 else 0
        if ready >= self._bound(wanted):
            return Verdict(True, f"{found.label}: at least {ready} of {wanted} ready", near_e4=near)
        row = _row_at(facts, found, t_ns)
        back = next((when for when, count, want in later if when > t_ns and count >= self._bound(want)), NEVER)
        until = f" until {clock(back)}" if back < NEVER else " up to the end"
        text = f"{found.label} has {ready} of {wanted} ready from {clock(t_ns)}{until}"
        return Verdict(False, text, (row,) if row >= 0 else (), int(facts.log.subject[row]) if row >= 0 else -1, 10_000)

    def _bound(self, wanted: int) -> int | Fraction:
        return self.least * wanted if isinstance(self.least, Fraction) else self.least

    def objection(self, scenario: Scenario) -> str:
        """There is no such workload, or it never wants so many."""
        if why := _missing(scenario, self.name):
            return why
        if not self.least:
            return "fewer than none cannot be ready"
        for one in _meant(scenario, self.name):
            most = max(version.desired for version in one.versions)
            if isinstance(self.least, int) and self.least > most:
                return f"{one.label} never wants more than {most}"
        return ""


@dataclass(frozen=True, slots=True)
class RolledOutWithin:
    """Each version of a workload (or of each workload) is out so long after it was applied."""

    name: str
    most_ns: int

    def judge(self, facts: Facts) -> Verdict:
        """All pods that are wanted are available then, of the new version alone."""
        longest = 0
        for course in _courses(facts, self.name):
            for one in course.rollouts:
                took = min(one.done_ns, facts.end_ns) - one.at_ns
                if one.done_ns >= NEVER or took > self.most_ns:
                    text = f"the version of {clock(one.at_ns)} of {course.workload.label} is "
                    text += f"out at {clock(one.done_ns)}" if one.done_ns < NEVER else "never out"
                    return Verdict(False, text, _rows(facts, course.workload), -1, 10_000)
                longest = max(longest, took)
        near = int(Fraction(longest, self.most_ns) * 10_000) if self.most_ns else 0
        return Verdict(True, f"the longest took {clock(longest)}", near_e4=min(near, 10_000))

    def objection(self, scenario: Scenario) -> str:
        """There is no such workload."""
        return _missing(scenario, self.name)


# ------------------------------------------------------------------ what there is


def workload_names(scenario: Scenario) -> list[str]:
    """The workloads that something can be demanded of."""
    return [one.label for one in _all(scenario)]


def _missing(scenario: Scenario, name: str) -> str:
    """Why a scenario has nothing of this name; empty if it has."""
    labels = workload_names(scenario)
    if not labels:
        return "it has no workloads that keep pods running (Deployments, StatefulSets, DaemonSets)"
    if not list(_meant(scenario, name)):
        more = f" and {len(labels) - 8} more" if len(labels) > 8 else ""
        return f"there is no {name}; there are {', '.join(labels[:8])}{more}"
    return ""


def _all(scenario: Scenario) -> list[Followed]:
    from gnomon.insight.kubernetes.runs.workloads import workloads_of
    from gnomon.systems.kubernetes.fleets.native import Native

    return workloads_of(scenario.native) if isinstance(scenario.native, Native) else []


def _meant(scenario: Scenario, name: str) -> Iterator[Followed]:
    """The workloads that a name means: that with or without its namespace, its kind in full or in short."""
    from gnomon.insight.kubernetes.subjects import KINDS

    kind, _, rest = name.partition("/")
    for one in _all(scenario):
        right = KINDS.get(kind, kind) == one.kind and rest in (one.name, f"{one.namespace}/{one.name}")
        if name == EVERY or right:
            yield one


def _steps(facts: Facts, name: str) -> Iterator[tuple[Followed, list[tuple[int, int, int]]]]:
    """Of each workload that is meant: times, with how many are ready and how many are wanted from then on."""
    from gnomon.insight.kubernetes.runs.readiness import at, counted_over, end_of, ready_spans

    meant = list(_meant(facts.scenario, name))
    spans = ready_spans(facts.scenario, facts.log) if meant else {}
    end = end_of(facts.scenario, facts.log)
    for one in meant:
        steps = counted_over(spans, one.tasks)
        times = sorted({t_ns for t_ns, _ in steps} | {version.at_ns for version in one.versions})
        known = [t_ns for t_ns in times if one.versions[0].at_ns <= t_ns <= end and t_ns < NEVER]
        yield one, [(t_ns, at(steps, t_ns), one.desired_at(t_ns)) for t_ns in known]


def _courses(facts: Facts, name: str) -> Iterator[Course]:
    from gnomon.insight.kubernetes.runs.course import course_of
    from gnomon.insight.kubernetes.runs.readiness import end_of, events_by_object, ready_spans

    meant = list(_meant(facts.scenario, name))
    spans = ready_spans(facts.scenario, facts.log) if meant else {}
    end, events = end_of(facts.scenario, facts.log), events_by_object(facts.log)
    for one in meant:
        yield course_of(one, spans, events, end)


def _row_at(facts: Facts, found: Followed, t_ns: int) -> int:
    """The row by which a pod of a workload was lost at a time; -1 where it is about none of them alone."""
    log = facts.log
    rows = np.flatnonzero((log.t_ns == t_ns) & np.isin(log.subject, found.tasks))
    return int(rows[0]) if len(rows) else -1


def _rows(facts: Facts, found: Followed) -> tuple[int, ...]:
    """The last row about a workload."""
    rows = np.flatnonzero(np.isin(facts.log.subject, found.tasks))
    return (int(rows[-1]),) if len(rows) else ()
