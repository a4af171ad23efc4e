"""What a run of objects leaves out, or takes for granted, once a field."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from gnomon.model.resources import NEVER
from gnomon.model.work import Note
from gnomon.systems.kubernetes.api.objects import Container
from gnomon.systems.kubernetes.api.quantity import format_quantity
from gnomon.systems.kubernetes.api.requests import pod_requests
from gnomon.systems.kubernetes.api.snapshot import Objects
from gnomon.systems.kubernetes.api.workloads import DaemonSet, Deployment, Job, ReplicaSet, StatefulSet, Workload
from gnomon.systems.kubernetes.fleets.fleet import Change

_MAKERS: Final = (Deployment, ReplicaSet, StatefulSet, DaemonSet, Job)


def notes_of(objects: Objects, changes: Sequence[Change], until_ns: int) -> Iterator[Note]:
    """What of all that is not modelled, or taken for granted."""
    crons = [one for one in objects.cron_jobs if not one.suspend]
    if crons and until_ns >= NEVER:
        yield Note("not modelled", "CronJob", "no Jobs are made of it in a run without an end (until)", len(crons))
    if any(one.time_zone not in ("", "Etc/UTC", "UTC") for one in crons):
        yield Note("not modelled", "CronJob spec.timeZone", "schedules are read in UTC")
    if crons:
        yield Note("default", "CronJob spec.schedule", "the run begins at midnight UTC, on Thursday 1970-01-01")
    found: dict[tuple[str, str], Note] = {}
    for stage in (objects, *(change.objects for change in changes)):
        for note in _left_out(stage):
            same = found.get((note.what, note.field))
            count = note.count + (same.count if same is not None else 0)
            found[note.what, note.field] = replace(note, count=count)
    yield from found.values()
    for change in changes:
        yield from change.objects.notes


def _left_out(objects: Objects) -> Iterator[Note]:
    """What is read, and makes no difference."""
    made: tuple[Workload, ...] = (*objects.deployments, *objects.replica_sets, *objects.stateful_sets)
    made += (*objects.daemon_sets, *objects.jobs, *(one.job for one in objects.cron_jobs))
    templates = [one.template for one in made if isinstance(one, _MAKERS) and one.template is not None]
    specs = [*(pod.spec for pod in objects.pods), *(template.spec for template in templates)]
    first = sum(any(not one.is_sidecar for one in spec.init_containers) for spec in specs)
    if first:
        yield Note("not modelled", "initContainers", "they take no time", first)
    ephemeral = sum(any(one.kind == "ephemeral" for one in spec.volumes) for spec in specs)
    if ephemeral:
        yield Note("not modelled", "Pod spec.volumes.ephemeral", "no claims are made of them", ephemeral)
    beside = sum(any(_is_probed(one) for one in spec.init_containers) for spec in specs)
    if beside:
        yield Note("not modelled", "initContainers probes", "init containers and sidecars pass theirs", beside)
    disk = sum(any("ephemeral-storage" in one.limits for one in spec.containers) for spec in specs)
    if disk:
        text = "nobody is evicted for the disk that it uses; what is asked for counts when pods are placed"
        yield Note("not modelled", "limits.ephemeral-storage", text, disk)
    faster = sum(one.max_unavailable != 1 for one in objects.stateful_sets)
    if faster:
        text = "one pod at a time (the gate MaxUnavailableStatefulSet is off by default)"
        yield Note("not modelled", "StatefulSet rollingUpdate.maxUnavailable", text, faster)
    full = _overfull(objects)
    if full:
        where = ", ".join(full[:_NAMED_MAX]) + ("..." if full[_NAMED_MAX:] else "")
        text = f"pods run where they are bound though they ask for more than is there ({where}); a kubelet refuses them"
        yield Note("not modelled", "Pod spec.nodeName", f"{text} (OutOfcpu)", len(full))
    asking = sum(bool(one.min_resources) for one in objects.pod_groups)
    if asking:
        yield Note("not modelled", "PodGroup spec.minResources", "gangs wait by the number of their pods", asking)
    if objects.pod_groups:
        text = "the scheduler is taken to run the coscheduling plugin, as there are PodGroups"
        yield Note("default", "PodGroup", text, len(objects.pod_groups))


def _is_probed(one: Container) -> bool:
    return not (one.liveness is None and one.readiness is None and one.startup is None)


_NAMED_MAX: Final = 5


def _overfull(objects: Objects) -> list[str]:
    """The nodes on which the pods that are bound ask for more cpu or memory than may be asked for, with the sums."""
    held: dict[str, Counter[str]] = {}
    for pod in objects.pods:
        if pod.node_name and not pod.is_terminal and not pod.is_terminating:
            held.setdefault(pod.node_name, Counter()).update(pod_requests(pod.spec))
    found = []
    for node in objects.nodes:
        asked, has = held.get(node.name, Counter()), node.allocatable
        over = [name for name in ("cpu", "memory") if asked[name] > has.get(name, 0)]
        said = [
            f"{format_quantity(asked[name], name)} {name} of {format_quantity(has.get(name, 0), name)}" for name in over
        ]
        found += [f"{node.name}: {' and '.join(said)}"] if said else []
    return found
