"""From the question to the answer, of what a scenario submits: the model is run for it."""

from __future__ import annotations

from dataclasses import dataclass

from gnomon.engine.log import Log
from gnomon.insight.explain.answer import Explanation
from gnomon.insight.explain.answer import explain as plain_explanation
from gnomon.insight.explain.changes import Change, Simulate
from gnomon.insight.explain.phrases import span
from gnomon.insight.explain.waits import Wait
from gnomon.insight.explain.why_not import WhyNot
from gnomon.insight.slurm.arrays import array_clause
from gnomon.insight.slurm.classes import Nodes, node_classes
from gnomon.insight.slurm.course import Course, course_of, moment_ns, play_out, settle_ns
from gnomon.insight.slurm.history import history
from gnomon.insight.slurm.levers.bench import Bench, search
from gnomon.insight.slurm.levers.constraints import constraint_levers
from gnomon.insight.slurm.levers.others import limit_levers, node_levers, other_levers
from gnomon.insight.slurm.levers.own import own_levers
from gnomon.insight.slurm.meaning import meaning, queue_wait
from gnomon.insight.slurm.moment import Moment, job_of
from gnomon.insight.slurm.outlook import outlook
from gnomon.insight.slurm.places import explain_node, explain_partition
from gnomon.insight.slurm.refused import explain_refusal
from gnomon.insight.slurm.rehearsal import Given, Rehearsal, native_if_kept
from gnomon.insight.slurm.rules import rules
from gnomon.insight.slurm.shares import explain_shares
from gnomon.insight.slurm.sizing import sizing
from gnomon.insight.slurm.subjects import Subject, find_job, is_id, kind_and_name, knows, named
from gnomon.insight.slurm.submitted import script_named
from gnomon.model.errors import InputError
from gnomon.model.resources import NEVER
from gnomon.model.scenario import Scenario
from gnomon.systems.slurm.cluster.job import Job

MANY = 500
"""Of more jobs than this not all are submitted to find one by its id."""
_STATES = {"COMPLETED": "done", "TIMEOUT": "killed", "CANCELLED": "killed", "PREEMPTED": "killed"}


def explain(
    subject: str,
    scenario: Scenario,
    *,
    log: Log | None = None,
    simulate: Simulate | None = None,
    why_not: str | None = None,
) -> Explanation:
    """Explain a job, or what becomes of a batch script, a node, a partition, or the shares of a user or an account.

    ``subject``: an id as squeue shows it (``5``, ``5_1``, ``5+0``), ``job/NAME`` or a part of a name, the path of a
    script, ``node/NAME``, ``partition/NAME``, ``user/NAME``, ``account/NAME``; ``why_not``: a node, to be told why the
    job is not there. The horizon of the scenario, if it has one, is the moment that is asked about. Of a kept run
    without its native files the general explanation is given. Raises InputError for a subject that is unknown or
    ambiguous, or an unknown node.
    """
    native = native_if_kept(scenario)
    if native is None:
        if log is None:
            raise InputError("the run does not hold what Slurm reads", allowed="the files, with -f")
        kept = log
        return plain_explanation(subject, scenario, kept, simulate=lambda _: kept, why_not=why_not)
    kind, name = kind_and_name(subject)
    first = Rehearsal(scenario, native)
    until_ns = scenario.limits.until_ns
    if kind != "job":
        first.run(min(first.last_ns + settle_ns(first), until_ns))
        if kind in ("user", "account"):
            return explain_shares(kind, name, first)
        return explain_node(name, first) if kind == "node" else explain_partition(name, first)
    _come_to(name, first, until_ns)
    more: tuple[Given, ...] = ()
    try:
        who = find_job(name, first)
    except InputError:
        given = script_named(subject, native, first)
        if given is None:
            raise
        if isinstance(given, Explanation):
            return given
        more = (given,)
        first = Rehearsal(scenario, native, more=more)
        first.run(first.last_ns)
        sent = first.sent[-1]
        who = Subject(f"job/{sent.requests[0].name}", tuple(job.task for job in sent.jobs), sent)
    if who.sent.is_refused:
        return explain_refusal(who, Rehearsal(scenario, native, more=more))
    return _of_job(who, Asked(scenario, until_ns, more), why_not)


def _come_to(name: str, played: Rehearsal, until_ns: int) -> None:
    """Run on until the job of an id is there; for anything else until all is submitted."""
    parts = (32, 16, 8, 4, 2) if len(played.scenario.work) > MANY and is_id(name) else ()
    for part in parts:
        played.run(min(played.last_ns // part, until_ns))
        if knows(name, played):
            return
    played.run(min(played.last_ns, until_ns))


@dataclass(frozen=True)
class Asked:
    """What is run for the answer: the scenario, to the moment that is asked about, with what is submitted besides."""

    scenario: Scenario
    until_ns: int
    more: tuple[Given, ...] = ()

    def rehearsal(self, *, detail: bool = False) -> Rehearsal:
        """It, from the beginning."""
        native = native_if_kept(self.scenario)
        assert native is not None
        return Rehearsal(self.scenario, native, more=self.more, detail=detail)


def _of_job(who: Subject, asked: Asked, why_not: str | None) -> Explanation:
    whole = asked.rehearsal()
    play_out(whole, who.tasks)
    present = asked.until_ns if asked.until_ns < NEVER else whole.last_ns + settle_ns(whole)
    course = _spokesman(whole, who, present)
    last = job_of(whole, course.task)
    waits = (course.start_ns > present or not course.ran) and course.over_ns > present >= course.submit_ns
    waited = min(course.start_ns, course.over_ns) - course.submit_ns
    moment = _moment(asked, whole, course) if waits or waited > settle_ns(whole) else None
    state = _state(course, present, waits)
    name = who.name if len(who.tasks) == 1 or not moment else f"job/{course.name}"
    found: list[Wait] = []
    changes: list[Change] = []
    notes: tuple[str, ...] = ()
    clauses = [_said(course, moment, waits)]
    if moment is not None:
        moment.fits_now  # noqa: B018 - before anything is looked into that changes what is remembered
        found = rules(moment)
        clauses += [meaning(moment, found)]
        queued = None if any(one.rule == moment.reason for one in found) else queue_wait(moment)
        if waits:
            clauses.append(outlook(moment))
        if queued is not None:
            found.append(queued)
        ends = max(one.ended_ns for one in whole.jobs if one.array is last.array) if last.array is not None else -1
        clauses.append(array_clause(moment.job, ends))
        changes, notes = _changes(moment, course)
    notes += _as_shown(whole, course, moment)
    if not waits:
        clauses.append(_end(course))
    clauses.append(sizing(whole.state, last, _allocation(last, moment)))
    summary = _joined(clauses, course.name, waits and moment is not None)
    native = moment.reason if moment is not None and waits else "CONFIGURING" if waits else _native(course)
    classes = tuple(node_classes(moment)) if moment is not None and _is_about_nodes(moment) else ()
    links = history(last, course, moment)
    return Explanation(
        name,
        state,
        summary,
        native,
        tuple(found),
        classes,
        links,
        tuple(changes),
        notes,
        None if why_not is None else _why_not(why_not, moment, whole, course),
    )


def _as_shown(whole: Rehearsal, course: Course, moment: Moment | None) -> tuple[str, ...]:
    """Of a job of a snapshot, where the model comes to another reason than squeue shows."""
    then = whole.native.present.get(course.task)
    if then is None or then.runs or then.seen.reason in ("", "None"):
        return ()
    if moment is None:
        return (f"squeue shows it pending ({then.seen.reason}); the model starts it",)
    same = then.seen.reason == moment.reason
    return () if same else (f"squeue shows {then.seen.reason}; the model comes to {moment.reason}",)


def _spokesman(whole: Rehearsal, who: Subject, present: int) -> Course:
    """The course of the job that stands for several: the first that never starts, else the first that waits now, else
    the one that waited longest."""
    courses = [course_of(whole, job_of(whole, task)) for task in who.tasks]

    def rank(one: Course) -> tuple[bool, bool, int, int]:
        waits = one.start_ns > present and not 0 <= one.given_ns <= present
        return one.ran or one.over_ns < NEVER, not waits, 0 if waits else one.submit_ns - one.start_ns, one.task

    return min(courses, key=rank)


def _moment(asked: Asked, whole: Rehearsal, course: Course) -> Moment | None:
    """The job at the moment that matters; None: it does not wait then."""
    played = asked.rehearsal(detail=True)
    played.run(moment_ns(whole, course, asked.until_ns))
    job = played.job(course.task)
    return Moment(played, job, course) if job is not None and job.pends else None


def _state(course: Course, present: int, waits: bool) -> str:
    if waits:
        return "waiting"
    if course.over_ns <= present or (course.over_ns < NEVER and not course.ran):
        return _STATES.get(course.state, "failed")
    return "running" if course.ran else "waiting"


def _said(course: Course, moment: Moment | None, waits: bool) -> str:
    if waits and moment is not None:
        if course.submit_ns < 0:  # of a snapshot, whose moment is time 0
            return f"it has waited {span(moment.now_ns - course.submit_ns)}: {moment.reason}"
        return f"it waits since {span(course.submit_ns)}: {moment.reason}"
    if waits and course.given_ns >= 0:
        where = ",".join(course.runs[-1].nodes[:4]) + (",…" if len(course.runs[-1].nodes) > 4 else "")
        starts = f"it starts at {span(course.start_ns)}" if course.ran else "they do not come up"
        return f"it was given {where} at {span(course.given_ns)}, and waits until they are switched on: {starts}"
    if not course.ran:
        return f"it was submitted at {span(course.submit_ns)} and never ran"
    waited = course.start_ns - course.submit_ns
    after = f" after waiting {span(waited)}" if waited > 2 * 10**9 else ""
    if after and course.given_ns >= 0 and moment is None:
        after += f", since {span(course.given_ns)} for its nodes to be switched on"
    elif after and moment is None:
        after += " for the next pass of a scheduler"
    where = ",".join(course.runs[-1].nodes[:4]) + (",…" if len(course.runs[-1].nodes) > 4 else "")
    return f"it started at {span(course.start_ns)} on {where}{after}"


def _end(course: Course) -> str:
    if course.over_ns >= NEVER:
        return ""
    reason = f" ({course.reason})" if course.reason not in ("None", "") else ""
    return f"it is {course.state}{reason} at {span(course.over_ns)}"


def _native(course: Course) -> str:
    return course.state if course.reason in ("None", "") else f"{course.state} ({course.reason})"


def _joined(clauses: list[str], name: str, waits: bool) -> str:
    """Clauses as sentences about the job."""
    said = [clause for clause in clauses if clause]
    first = said[0].replace("it ", f"job {name} ", 1)
    said = [f"{first}: {said[1]}", *said[2:]] if waits and len(said) > 1 else [first, *said[1:]]
    return ". ".join(f"{one[0].upper()}{one[1:]}" if place else one for place, one in enumerate(said)) + "."


def _allocation(job: Job, moment: Moment | None) -> object:
    if job.allocation is not None:
        return job.allocation
    return moment.fits_empty if moment is not None else None


def _is_about_nodes(moment: Moment) -> bool:
    return not moment.reason.startswith(("Dependency", "JobHeld", "JobArrayTaskLimit", "BeginTime", "PartitionDown"))


def _changes(moment: Moment, course: Course) -> tuple[list[Change], tuple[str, ...]]:
    bench = Bench(moment)
    levers = [*own_levers(moment), *constraint_levers(moment), *limit_levers(moment), *other_levers(moment)]
    changes, complete = search([*levers, *node_levers(moment)], bench)
    notes: list[str] = []
    if not complete:
        notes.append("not all changes could be tried; there may be smaller ones")
    elif not changes:
        notes.append("no single change that was tried lets it start" + (" much earlier" if course.ran else ""))
    elif course.ran and bench.latest_ns < course.start_ns - 1:
        notes.append("listed is what saves at least a third of what is left of its wait")
    return changes, tuple(notes)


def _why_not(name: str, moment: Moment | None, whole: Rehearsal, course: Course) -> WhyNot:
    names = [node.name for node in whole.state.conf.nodes]
    wanted = named("node", name.removeprefix("node/"), names)
    if moment is None:
        there = bool(course.runs) and wanted in course.runs[-1].nodes
        text = (
            f"job {course.name} is on {wanted}" if there else f"job {course.name} got {','.join(course.runs[-1].nodes)}"
        )
        return WhyNot(wanted, there, text, ())
    found = Nodes(moment).node(names.index(wanted))
    fits = found.kind == "fits"
    text = f"{wanted} would take job {course.name}" if fits else f"{wanted} does not take job {course.name}"
    reasons = found.reasons if not fits else ()
    return WhyNot(wanted, fits, f"{text}: {'; '.join(found.reasons)}", reasons)
