"""Jobs: so many pods at a time until enough have succeeded, or too much has failed (rules in ``job_rules``).

A Job that is over stays, with its pods that have ended, as objects that count in quotas of ``count/pods``, until its
``ttlSecondsAfterFinished`` is over (``pkg/controller/ttlafterfinished``), or its CronJob keeps it no longer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Final

from gnomon.engine.log import Reason
from gnomon.model.resources import NEVER
from gnomon.recovery.retry import Answer
from gnomon.systems.kubernetes.controllers.desk import Desk
from gnomon.systems.kubernetes.controllers.job_rules import (
    BACKOFF_EXCEEDED,
    BY_POLICY,
    DEADLINE_EXCEEDED,
    FAILED_INDEXES,
    MESSAGES,
    TOO_MANY_INDEXES,
    Tally,
    action,
    backoff_limit,
    criteria_met,
    delay_ns,
    settled,
    wanted_active,
)
from gnomon.systems.kubernetes.controllers.retrying import JOBS_FIRST_NS, JOBS_MOST_NS, Retrying
from gnomon.systems.kubernetes.fleets.fleet import Fleet, JobRun
from gnomon.systems.kubernetes.read.annotations import exit_code

COMPLETE: Final = "Complete"
_KILLED: Final = (Reason.MEMORY, Reason.NODE_MEMORY, Reason.KILLED)
_SIGKILL: Final = 137
_DELETED: Final = (Reason.NODE, Reason.PREEMPTED, Reason.DRAINED)
"""After these a pod is gone as an object, too."""
_DISRUPTED: Final = (Reason.NODE, Reason.EVICTED, Reason.PREEMPTED, Reason.DRAINED)


class JobController:
    """One Job. ``verdict``: Complete, or the reason of its failure, empty while it is active; ``is_deleted``: whether
    it is gone as an object."""

    def __init__(self, run: JobRun, fleet: Fleet, desk: Desk) -> None:
        self.run, self._fleet, self._desk = run, fleet, desk
        self.tasks: Sequence[int] = fleet.tasks
        self._index = {task: index for index, task in enumerate(fleet.tasks)}
        self._held: dict[int, int] = {}
        self._parked: dict[int, int] = {}
        self._coming = {task for task in fleet.tasks if task in desk.submitted}
        self._born = set(self._coming)
        self._retry = Retrying(desk, JOBS_FIRST_NS, JOBS_MOST_NS)
        self._woken = False
        self._tally = Tally()
        self._of_index: Counter[int] = Counter()
        self._failed_at: dict[int, int] = {}
        self._succeeded, self._failed_indexes = settled(run.job)
        self._tally.failed = run.job.failed
        self._policy_text = ""
        self.started_ns = -1
        self.verdict = ""
        self.is_deleted = False
        self._finished_ns = NEVER
        self._left: list[object] = []
        self.ended: Callable[[], None] = lambda: None
        if not run.cron:
            desk.at(run.at_ns, self)
        elif run.at_ns == 0 and self._coming:
            self.start()

    @property
    def about(self) -> str:
        """Its name."""
        return f"Job {self._fleet.namespace}/{self._fleet.name}"

    @property
    def is_active(self) -> bool:
        """Whether it has begun, and is not over."""
        return self.started_ns >= 0 and not self.verdict

    def start(self) -> None:
        """It is made."""
        self.started_ns = self._desk.now
        deadline = self.run.job.active_deadline_s
        if deadline is not None:
            self._desk.at(self.started_ns + deadline * 10**9, self)
        self._desk.touch(self)

    # ------------------------------------------------------------------ what is told

    def present(self, task: int) -> None:
        """A pod was there from the beginning."""
        self._coming.discard(task)

    def wake(self) -> None:
        """Something happened to a pod of its own."""
        self._woken = True
        self._desk.touch(self)

    def enter(self, task: int, row: int) -> None:
        """A pod of its own stands by."""
        self._coming.discard(task)
        self._held[task] = row
        self._desk.touch(self)

    def succeeded(self, task: int) -> None:
        """A pod has done its work."""
        self._leave(task, "Succeeded")
        self._succeeded.add(self._index[task])
        self._tally.since_success = 0
        self._of_index.pop(self._index[task], None)
        self._desk.touch(self)

    def restarted(self) -> None:
        """A container of a pod is restarted where it is."""
        self._tally.restarts += 1
        self._desk.touch(self)

    def lost(self, task: int, reason: Reason, row: int, usual: Answer) -> Answer:
        """A pod has failed, or is deleted, which counts the same."""
        job, index, now = self.run.job, self._index[task], self._desk.now
        code = exit_code(self._desk.pods[task]) if reason is Reason.EXIT else _SIGKILL if reason in _KILLED else None
        conditions = ("DisruptionTarget",) if reason in _DISRUPTED else ()
        name = self._desk.pods[task].spec.containers[0].name if self._desk.pods[task].spec.containers else ""
        what = action(job.failure_rules, code, conditions, name)
        if reason not in _DELETED:
            self._leave(task, "Failed")
        if what != "Ignore":
            self._tally.failed += 1
            self._of_index[index] += 1
        self._tally.since_success += 1
        self._tally.last_ns = self._failed_at[index] = now
        limit = job.backoff_limit_per_index
        if what == "FailIndex" or (limit is not None and self._of_index[index] > limit):
            self._failed_indexes.add(index)
        if what == "FailJob":
            self._policy_text = BY_POLICY
        self._desk.touch(self)
        if index in self._failed_indexes or self._failure() or self.verdict:
            return replace(usual, retry=False, limit=backoff_limit(job))
        self._parked[task] = row
        later = {"delay_ns": NEVER, "at_ns": NEVER, "limit": backoff_limit(job)}
        return replace(usual, retry=True, in_place=False, **later)

    def _leave(self, task: int, phase: str) -> None:
        """A pod has ended, and stays as an object."""
        key = "ended", task, len(self._left)
        self._left.append(key)
        self._desk.usage.add(key, replace(self._desk.pods[task], phase=phase))

    # ------------------------------------------------------------------ what is done

    def sync(self) -> None:
        """See whether it is over; else make the pods that lack."""
        woken, self._woken = self._woken, False
        if self.started_ns < 0:
            if self.run.cron or self.run.at_ns > self._desk.now or self.run.job.suspend:
                return
            self.start()
        if self.verdict:
            self._expire()
            return
        if failure := self._failure():
            self._end(failure, "Failed", MESSAGES[failure])
        elif self._is_complete():
            self._end(COMPLETE, "Completed", "Job completed")
        else:
            self._make(woken=woken)

    def _failure(self) -> str:
        """Why it has failed, if it has."""
        job, tally, limit = self.run.job, self._tally, backoff_limit(self.run.job)
        if self._policy_text:
            return self._policy_text
        deadline = job.active_deadline_s
        if deadline is not None and self._desk.now >= self.started_ns + deadline * 10**9:
            return DEADLINE_EXCEEDED
        restarts = tally.restarts if job.template.spec.restart_policy == "OnFailure" else 0
        if tally.failed > limit or (restarts > 0 and restarts >= limit):
            return BACKOFF_EXCEEDED
        most = job.max_failed_indexes
        if most is not None and len(self._failed_indexes) > most:
            return TOO_MANY_INDEXES
        wanted = job.completions or 0
        if self._failed_indexes and len(self._succeeded) + len(self._failed_indexes) >= wanted:
            return FAILED_INDEXES
        return ""

    def _is_complete(self) -> bool:
        job = self.run.job
        if job.success_rules and criteria_met(job.success_rules, self._succeeded):
            return True
        if job.completions is None:
            return bool(self._succeeded) and not self._active()
        return len(self._succeeded) >= job.completions

    def _active(self) -> list[int]:
        return [task for task in self.tasks if task in self._desk.created]

    def _make(self, *, woken: bool) -> None:
        job, desk = self.run.job, self._desk
        count = len(self._active())
        if (job.pod_replacement_policy or ("Failed" if job.failure_rules else "")) == "Failed":
            count += sum(desk.is_stopping(task) for task in self.tasks)
        left = wanted_active(job, len(self._succeeded) + len(self._failed_indexes), count) - count - len(self._coming)
        job_wide = 0 if job.backoff_limit_per_index is not None else self._not_before(self._tally.since_success, -1)
        refused = self._retry.blocked(woken=woken)
        for task in self.tasks:
            index = self._index[task]
            if left <= 0 or refused:
                break
            if task in desk.created or task in self._coming or index in self._succeeded | self._failed_indexes:
                continue
            when = job_wide or self._not_before(self._of_index[index], index)
            if when > desk.now and task not in self._held:
                desk.at(when, self)
                continue
            left -= 1
            refused = not self._make_one(task)
        if not refused and not self._held:
            self._retry.done()

    def _not_before(self, failures: int, index: int) -> int:
        """When the next pod may come after failures, of an index if it is one; 0: at once."""
        job_wide = index < 0
        if not failures or (not job_wide and self.run.job.backoff_limit_per_index is None):
            return 0
        last = self._tally.last_ns if job_wide else self._failed_at.get(index, 0)
        return last + delay_ns(failures)

    def _make_one(self, task: int) -> bool:
        """Create a pod, or have it stand by first; whether the API server did not refuse it."""
        desk = self._desk
        if task in self._held:
            text = desk.create(task, self._held[task])
            if text is not None:
                desk.refusal(task, text)
                self._retry.refused(self)
                return False
            del self._held[task]
        elif task in self._parked:
            row = self._parked.pop(task)
            self._coming.add(task)
            desk.hands.queue(task, row)
        elif task not in self._born:
            self._born.add(task)
            self._coming.add(task)
            desk.hands.submit(task, desk.now)
        return True

    def _end(self, verdict: str, reason: str, text: str) -> None:
        """It is over: what of its pods is still there goes."""
        row = self._desk.event(reason if verdict == COMPLETE else verdict, text, about=self.about)
        self._delete_pods(verdict, row)
        self._finished_ns = self._desk.now
        if (ttl := self.run.job.ttl_after_finished_s) is not None:
            self._desk.at(self._desk.now + ttl * 10**9, self)
        self.ended()

    def _expire(self) -> None:
        """Delete it when it has been over for long enough."""
        ttl = self.run.job.ttl_after_finished_s
        if ttl is not None and not self.is_deleted and self._desk.now >= self._finished_ns + ttl * 10**9:
            text = f"Deleted job {self.run.job.name}: its ttlSecondsAfterFinished of {ttl} s is over"
            self.stop(self._desk.event("SuccessfulDelete", text, about=self.about))

    def _delete_pods(self, verdict: str, row: int) -> None:
        self.verdict = verdict
        for task in (*self._held, *self._parked, *self._active()):
            self._desk.delete(task, row)
        self._held.clear()
        self._parked.clear()

    def stop(self, row: int) -> None:
        """It is deleted, with its pods."""
        self._delete_pods(self.verdict or "Deleted", row)
        self.is_deleted = True
        for key in self._left:
            self._desk.usage.drop(key, self._fleet.namespace)
        self._left.clear()

    def waiting(self) -> Iterable[int]:
        """The tasks that are held back."""
        return (*self._held, *self._parked)

    def is_busy(self) -> bool:
        """Whether it makes pods later."""
        if self.started_ns < 0:
            return not self.run.cron and not self.run.job.suspend and self.run.at_ns < NEVER
        if self.verdict:
            return False
        ends = self.run.job.active_deadline_s is not None
        return bool(self._parked) or ends or self._retry.is_promising()
