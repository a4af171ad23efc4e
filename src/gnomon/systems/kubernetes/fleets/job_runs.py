"""Which Jobs there are over a run: those that are among the objects, come by a change, or are made by CronJobs.

The run begins at 1970-01-01T00:00Z (a Thursday) for schedules, which are read in UTC.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from gnomon.model.errors import InputError
from gnomon.model.resources import NEVER
from gnomon.systems.kubernetes.api.cron import MINUTE_NS, parse
from gnomon.systems.kubernetes.api.objects import Owner
from gnomon.systems.kubernetes.api.snapshot import Objects
from gnomon.systems.kubernetes.api.workloads import CronJob
from gnomon.systems.kubernetes.fleets.fleet import Change, JobRun

MOST_RUNS: Final = 10_000
"""Of one CronJob."""


def runs_of(objects: Objects, changes: Sequence[Change], until_ns: int) -> Iterator[JobRun]:
    """The Jobs, each with when it is made."""
    made = {one.uid or one.name for one in objects.cron_jobs}
    for job in objects.jobs:
        if job.is_over:
            continue
        if job.owner is None or job.owner.kind != "CronJob" or (job.owner.uid or job.owner.name) not in made:
            yield JobRun(0, job, -1)
        else:
            yield JobRun(0, job, -1, job.owner.name)
    for change in changes:
        for job in change.objects.jobs:
            yield JobRun(change.at_ns, job, -1)
    if until_ns < NEVER:
        for cron in objects.cron_jobs:
            if not cron.suspend:
                yield from _of_cron(cron, until_ns)


def _of_cron(cron: CronJob, until_ns: int) -> Iterator[JobRun]:
    """The runs of a CronJob; whether each comes about, its policy says when it is time."""
    try:
        schedule = parse(cron.schedule)
    except ValueError as error:
        field = f"CronJob {cron.namespace}/{cron.name}, spec.schedule"
        raise InputError(str(error), field=field, found=cron.schedule) from None
    at, count = -1, 0
    while (following := schedule.next_ns(at)) is not None and following < until_ns:
        at, count = following, count + 1
        if count > MOST_RUNS:
            field = f"CronJob {cron.namespace}/{cron.name}, spec.schedule"
            raise InputError(f"more than {MOST_RUNS} runs until the end", field=field, found=cron.schedule)
        name = f"{cron.name}-{at // MINUTE_NS}"
        annotations = {**cron.annotations, **cron.job.annotations}
        owner = Owner("CronJob", cron.name, cron.uid)
        job = replace(cron.job, name=name, namespace=cron.namespace, owner=owner, annotations=annotations)
        yield JobRun(at, job, -1, cron.name)
