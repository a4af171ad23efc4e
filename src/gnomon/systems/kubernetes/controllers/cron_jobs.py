"""CronJobs: when it is time, a Job is made, unless the policy or the deadline forbids it.

Source: ``pkg/controller/cronjob/cronjob_controllerv2.go`` (syncCronJob). A run that a running Job keeps from starting
is not lost: it starts when that Job is over, if its deadline allows; of several that were missed only the last does.
Of those that are over the newest stay (cleanupFinishedJobs): 3 that succeeded and 1 that failed, unless it says.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from gnomon.systems.kubernetes.api.workloads import CronJob
from gnomon.systems.kubernetes.controllers.desk import Desk
from gnomon.systems.kubernetes.controllers.jobs import COMPLETE, JobController


class CronJobController:
    """One CronJob and its Jobs, in the order of their times."""

    def __init__(self, cron: CronJob, jobs: Sequence[JobController], desk: Desk) -> None:
        self._cron, self._jobs, self._desk = cron, jobs, desk
        self._next = self._looked = 0
        self._times = [one.run.at_ns for one in jobs]
        self._there: list[JobController] = []
        for one in jobs:
            desk.at(one.run.at_ns, self)
            one.ended = self._again

    def _again(self) -> None:
        self._desk.touch(self)

    @property
    def about(self) -> str:
        """Its name."""
        return f"CronJob {self._cron.namespace}/{self._cron.name}"

    def sync(self) -> None:
        """Start the last Job whose time has come, if it may, and delete those that are over and too many."""
        due = bisect_right(self._times, self._desk.now)
        self._there += self._jobs[self._looked : due]
        self._looked, last = due, due - 1
        self._there = [
            one for one in self._there if not one.is_deleted and (one.started_ns >= 0 or one is self._jobs[last])
        ]
        self._start(last)
        self._clean()

    def _clean(self) -> None:
        over = [job for job in self._there if job.verdict and not job.is_deleted]
        good = [job for job in over if job.verdict == COMPLETE]
        bad = [job for job in over if job.verdict != COMPLETE]
        for jobs, kept in ((good, self._cron.successful_history), (bad, self._cron.failed_history)):
            for job in sorted(jobs, key=lambda one: one.started_ns)[: max(0, len(jobs) - kept)]:
                self._delete(job)

    def _delete(self, job: JobController) -> None:
        job.stop(self._desk.event("SuccessfulDelete", f"Deleted job {job.run.job.name}", about=self.about))

    def _start(self, last: int) -> None:
        if last < self._next:
            return
        one, deadline = self._jobs[last], self._cron.starting_deadline_s
        if one.started_ns >= 0:
            self._next = last + 1
            return
        if deadline is not None and self._desk.now > one.run.at_ns + deadline * 10**9:
            self._next = last + 1
            self._desk.event("MissSchedule", "Missed scheduled time to start a job", about=self.about)
            return
        active = [job for job in self._there if job.is_active]
        if active and self._cron.concurrency_policy == "Forbid":
            text = "Not starting job because prior execution is running and concurrency policy is Forbid"
            self._desk.event("JobAlreadyActive", text, about=self.about)
            return
        if active and self._cron.concurrency_policy == "Replace":
            for job in active:
                self._delete(job)
        self._next = last + 1
        self._desk.event("SuccessfulCreate", f"Created job {one.run.job.name}", about=self.about)
        one.start()

    def is_busy(self) -> bool:
        """Whether a Job is still to come."""
        return self._next < len(self._jobs)
