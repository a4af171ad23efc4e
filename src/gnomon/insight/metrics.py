"""The metrics of a run, from its log and the facts of its scenario (what tasks ask for, what nodes have).

Time is counted in seconds, over the time observed: from the first submission of a task that was not rejected to the
last end or, where tasks still wait or run, to the last row of the log. Rejected tasks count nowhere else. What has no
value (the mean wait when nothing started) is None. The definitions stand at :class:`Metrics`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon.control.batch.plan import batch_of
from gnomon.engine.log import Kind, Log, State
from gnomon.insight import exact
from gnomon.insight.accounting import areas
from gnomon.insight.distribution import SECOND, Distribution
from gnomon.insight.fairness import dominant_shares, jain_index, overtaken_max, served
from gnomon.insight.fragmentation import fragmentation
from gnomon.insight.history import History, history
from gnomon.insight.job_runs import job_runs
from gnomon.insight.recovery import Recovery, recovery
from gnomon.insight.usage import allocated, queue_length
from gnomon.model.resources import NEVER
from gnomon.model.scenario import Scenario
from gnomon.model.work import BoolArray, IntArray

TAU_NS = 10 * SECOND
"""The run time below which a bounded slowdown does not grow any more."""

MOST_TENANTS = 20
"""How many users, and how many queues, the metrics name: those with the largest mean dominant share."""


@dataclass(frozen=True)
class Metrics:
    """The metrics of a run; the fields up to ``overtaken_max`` are those of the contract, in its order.

    - ``jobs``: tasks (rows of the tasks file; a job of a trace is a task here), ``done`` and ``rejected``: of them.
    - ``makespan_s``: last end - first submission, of tasks; where stages of jobs are run, of jobs.
    - ``wait_s``: the longest wait for a place of each task that started (:mod:`gnomon.insight.waiting`): first start -
      submission, or longer if it lost its place and stood in a queue again.
    - ``turnaround_s``: end - submission, of all that started and ended, also by being killed.
    - ``bounded_slowdown``: of the same, max(1, turnaround / max(run, 10 s)), the run being that of the last attempt
      (of a task that was done in several, at least what it takes undisturbed: the last may have gone on from a
      checkpoint); with one attempt this is (wait + run) / max(run, 10 s) (Feitelson and Rudolph, "Metrics and
      benchmarking for parallel job scheduling", JSSPP 1998).
    - ``utilisation``, by resource: U = sum(r t) / (C T), with r what a task asks for, t the time it ran, over all
      attempts and copies, C what the cluster has, T the time observed. ``allocated``: the same with the time it had its
      place, be it only held for a gang, or lost on a node whose end nobody has noticed yet.
    - ``throughput_per_s``: done / time observed.
    - ``fragmentation``: see :mod:`gnomon.insight.fragmentation`.
    - ``jain_index``: of the users (or queues, as ``Scenario.tenants_by`` says), each by how much of its demand was
      served over time (:func:`gnomon.insight.fairness.served`); 1 when all waited alike, relative to what they asked.
    - ``preemptions``: attempts that gave way.
    - ``wasted_cpu_s``: CPU seconds of attempts that ended without the task being done: preempted, killed, cancelled,
      failed (but for the work that a checkpoint saved for the next attempt), beaten by a copy, or done in vain as the
      result was lost; and of copies that did not win.
    - ``goodput``: CPU seconds of attempts that were of use: that ended with the task done, or that a checkpoint saved
      / those of all that ended; None of none.
    - ``longest_wait_s``: the longest wait of all, also of tasks that never started: to their end, or the end of the
      time observed. ``overtaken_max``: see :func:`gnomon.insight.fairness.overtaken_max`.
    - ``killed``, ``failed``, ``running``, ``waiting``: tasks in that state when the log ends; ``observed_s``: the time
      observed; ``backlog``: tasks waiting (not for results of
      others), mean over time and peak.
    - ``deadline_misses``: accepted tasks that were not done by their deadline, as far as the time observed tells.
    - ``headroom``, by resource: the part of the capacity that was free at every moment: 1 - peak of what was allocated.
    - ``dominant_share``, by "user" and "queue": ``{name: {mean, peak}}``
      (:func:`gnomon.insight.fairness.dominant_shares`), the 20 with the largest mean.
    - ``recovery``: what went wrong and what was done about it (:class:`gnomon.insight.recovery.Recovery`); None, and
      not in ``metrics.json``, where nothing did.
    """

    jobs: int
    done: int
    rejected: int
    makespan_s: float | None
    wait_s: Distribution
    turnaround_s: Distribution
    bounded_slowdown: Distribution
    utilisation: dict[str, float | None]
    allocated: dict[str, float | None]
    throughput_per_s: float | None
    fragmentation: float
    jain_index: float | None
    preemptions: int
    wasted_cpu_s: float
    goodput: float | None
    longest_wait_s: float | None
    overtaken_max: int
    killed: int
    failed: int
    running: int
    waiting: int
    observed_s: float
    backlog: dict[str, float | None]
    deadline_misses: int
    headroom: dict[str, float | None]
    dominant_share: dict[str, dict[str, dict[str, float]]] = field(default_factory=dict)
    recovery: Recovery | None = None

    def as_dict(self) -> dict[str, Any]:
        """The contents of ``metrics.json``."""
        plain = {one.name: getattr(self, one.name) for one in fields(self)}
        if self.recovery is None:
            del plain["recovery"]
        return {name: _plain(value) for name, value in plain.items()}


def metrics(scenario: Scenario, log: Log) -> Metrics:
    """The metrics of a run.

    The textbook case: two jobs of 6 CPUs on a node with 8 run one after the other, at 75 %.

    >>> from gnomon.model.cluster import Cluster
    >>> from gnomon.model.resources import Resources
    >>> from gnomon.model.work import Shape, Task, Work
    >>> job = Shape(Resources(cpu_milli=6000))
    >>> work = Work.from_tasks([Task("a", job, duration_ns=10 * SECOND), Task("b", job, duration_ns=10 * SECOND)])
    >>> arrive, start, end = Kind.ARRIVE, Kind.START, Kind.END
    >>> rows = [(0, arrive, 0), (0, arrive, 1), (0, start, 0), (10, end, 0), (10, start, 1), (20, end, 1)]
    >>> t, kind, subject = (np.array(column) for column in zip(*rows))
    >>> rest = np.zeros(6, np.int64)
    >>> log = Log(t * SECOND, rest, kind, subject, rest - 1, rest, rest, rest)
    >>> found = metrics(Scenario(Cluster.of_processors(8), work), log)
    >>> found.makespan_s, found.utilisation, found.wait_s.mean
    (20.0, {'cpu': 0.75}, 5.0)
    """
    return of_history(history(scenario, log))


def of_history(past: History) -> Metrics:
    """The metrics of a run whose log is folded already."""
    what, work = past.outcome, past.scenario.work
    count = {state: int((what.state == state).sum()) for state in State}
    started = past.accepted & (what.first_start_ns < NEVER)
    ended = started & (what.end_ns < NEVER)
    waited = past.waited_ns
    turnaround_ns = what.end_ns[ended] - past.submit_ns[ended]
    area = areas(past)
    return Metrics(
        jobs=len(work),
        done=count[State.DONE],
        rejected=count[State.REJECTED],
        makespan_s=_makespan(past, what.end_ns[ended]),
        wait_s=Distribution.of_ns(waited[started]),
        turnaround_s=Distribution.of_ns(turnaround_ns),
        bounded_slowdown=Distribution.of(_bounded_slowdown(past, ended, turnaround_ns)),
        utilisation={name: exact.ratio(one.ran, past.capacity[name] * past.span_ns) for name, one in area.items()},
        allocated={name: exact.ratio(one.held, past.capacity[name] * past.span_ns) for name, one in area.items()},
        throughput_per_s=exact.ratio(count[State.DONE] * SECOND, past.span_ns),
        fragmentation=fragmentation(past),
        jain_index=jain_index(served(past, past.scenario.tenants_by)),
        preemptions=int((past.attempts.closed_by == Kind.PREEMPT).sum()),
        wasted_cpu_s=area["cpu"].wasted / (1000 * SECOND) if "cpu" in area else 0.0,
        goodput=exact.ratio(area["cpu"].useful, area["cpu"].useful + area["cpu"].wasted) if "cpu" in area else None,
        longest_wait_s=_seconds(int(waited[past.accepted].max())) if past.accepted.any() else None,
        overtaken_max=overtaken_max(past),
        killed=count[State.KILLED],
        failed=count[State.FAILED],
        running=count[State.RUNNING],
        waiting=int((what.state[work.submit_ns < NEVER] == State.UNBORN).sum())
        + count[State.WAITING]
        + count[State.HELD],
        observed_s=_seconds(past.span_ns),
        backlog=_backlog(past),
        deadline_misses=_deadline_misses(past),
        headroom={name: _headroom(past, name) for name in past.capacity},
        dominant_share={by: _largest_shares(past, by) for by in ("user", "queue")},
        recovery=recovery(past),
    )


def _makespan(past: History, ends_ns: IntArray) -> float | None:
    """From the first submission to the last end of those that ended. A driver works before the first task of a job and
    after its last, and says when the job was submitted and over."""
    if not ends_ns.size:
        return None
    times = [past.begin_ns, int(ends_ns.max())]
    if batch_of(past.scenario) is not None:
        times += [t_ns for job in job_runs(past.log).values() for t_ns in (job.start_ns, job.end_ns) if t_ns >= 0]
    return _seconds(max(times) - min(times))


def _bounded_slowdown(past: History, ended: BoolArray, turnaround_ns: IntArray) -> npt.NDArray[np.float64]:
    run_ns = np.zeros(len(ended), np.int64)
    run_ns[past.attempts.task] = past.run_ns  # attempts are in order, so the last one's stays
    again = (past.outcome.state == State.DONE) & (past.outcome.attempts > 1)
    run_ns[again] = np.maximum(run_ns[again], np.minimum(past.scenario.work.duration_ns[again], NEVER - 1))
    return np.maximum(1.0, turnaround_ns / np.maximum(run_ns[ended], TAU_NS))


def _deadline_misses(past: History) -> int:
    deadline, what = past.scenario.work.deadline_ns, past.outcome
    done_ns = np.where(what.state == State.DONE, what.end_ns, NEVER)
    known = (what.state == State.DONE) | (what.state == State.KILLED) | (what.state == State.FAILED)
    known |= past.end_ns > deadline
    return int((past.accepted & (deadline < NEVER) & known & (done_ns > deadline)).sum())


def _backlog(past: History) -> dict[str, float | None]:
    queue = queue_length(past)
    if not past.span_ns:
        return {"mean": None, "max": None}
    return {"mean": queue.mean(past.begin_ns, past.end_ns), "max": queue.peak(past.begin_ns, past.end_ns)}


def _headroom(past: History, resource: str) -> float | None:
    return 1.0 - allocated(past, resource).peak(past.begin_ns, past.end_ns) if past.span_ns else None


def _largest_shares(past: History, by: str) -> dict[str, dict[str, float]]:
    shares = dominant_shares(past, by)
    largest = np.argsort(-shares.mean, kind="stable")[:MOST_TENANTS]
    return {shares.tenants[i]: {"mean": float(shares.mean[i]), "peak": float(shares.peak[i])} for i in largest.tolist()}


def _seconds(ns: int) -> float:
    return ns / SECOND


def _plain(value: object) -> object:
    return value.as_dict() if isinstance(value, Distribution | Recovery) else value
