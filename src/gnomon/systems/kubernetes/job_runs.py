"""Which Jobs there are over a run: those that are among the objects, come by a change, or are made by CronJobs.

The run begins at 1970-01-01T00:00Z (a Thursday) for schedules, which are read in UTC.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from gnomon.model.errors import InputError
from gnomon.model.resources import NEVER
from gnomon.model.work import Note
from gnomon.systems.kubernetes.cron import MINUTE_NS, parse
from gnomon.systems.kubernetes.makers import Change, JobRun
from gnomon.systems.kubernetes.objects import Owner
from gnomon.systems.kubernetes.snapshot import Objects
from gnomon.systems.kubernetes.workloads import (
    CronJob,
    DaemonSet,
    Deployment,
    Job,
    ReplicaSet,
    StatefulSet,
    Workload,
)

MOST_RUNS: Final = 10_000
"""Of one CronJob."""

_MAKERS: Final = (Deployment, ReplicaSet, StatefulSet, DaemonSet, Job)


def runs_of(objects: Objects, changes: Sequence[Change], until_ns: int) -> Iterator[JobRun]:
    """The Jobs, each with when it is made."""
    made = {one.uid or one.name for one in objects.cron_jobs}
    for job in objects.jobs:
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


def notes_of(objects: Objects, changes: Sequence[Change], until_ns: int) -> Iterator[Note]:
    """What of all that is not modelled, or taken for granted."""
    crons = [one for one in objects.cron_jobs if not one.suspend]
    if crons and until_ns >= NEVER:
        yield Note("not modelled", "CronJob", "no Jobs are made of it in a run without an end (until)", len(crons))
    if any(one.time_zone not in ("", "Etc/UTC", "UTC") for one in crons):
        yield Note("not modelled", "CronJob spec.timeZone", "schedules are read in UTC")
    if crons:
        yield Note("default", "CronJob spec.schedule", "the run begins at midnight UTC, on Thursday 1970-01-01")
    yield from _left_out(objects)
    for change in changes:
        yield from change.objects.notes


def _left_out(objects: Objects) -> Iterator[Note]:
    """What is read, and makes no difference."""
    made: tuple[Workload, ...] = (*objects.deployments, *objects.replica_sets, *objects.stateful_sets)
    made += (*objects.daemon_sets, *objects.jobs)
    templates = [one.template for one in made if isinstance(one, _MAKERS) and one.template is not None]
    specs = [*(pod.spec for pod in objects.pods), *(template.spec for template in templates)]
    first = sum(any(not one.is_sidecar for one in spec.init_containers) for spec in specs)
    if first:
        yield Note("not modelled", "initContainers", "they take no time", first)
    ephemeral = sum(any(one.kind == "ephemeral" for one in spec.volumes) for spec in specs)
    if ephemeral:
        yield Note("not modelled", "Pod spec.volumes.ephemeral", "no claims are made of them", ephemeral)
    asking = sum(bool(one.min_resources) for one in objects.pod_groups)
    if asking:
        yield Note("not modelled", "PodGroup spec.minResources", "gangs wait by the number of their pods", asking)
    if objects.pod_groups:
        text = "the scheduler is taken to run the coscheduling plugin, as there are PodGroups"
        yield Note("default", "PodGroup", text, len(objects.pod_groups))
