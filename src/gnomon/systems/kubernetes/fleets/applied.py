"""What a change brings: charts are applied as a whole, so most objects of one say what is there already.

What is as it was makes no difference. Objects that only others refer to (claims, classes, budgets ...) count as there
from the beginning, where nothing refers to them yet. A change of what a run cannot change is refused, never left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, Final

from gnomon.model.errors import InputError
from gnomon.model.work import Note
from gnomon.systems.kubernetes.api.objects import Namespace
from gnomon.systems.kubernetes.api.snapshot import Objects
from gnomon.systems.kubernetes.api.workloads import Job, PodTemplate
from gnomon.systems.kubernetes.apiserver.admission import NAMESPACE_LABEL
from gnomon.systems.kubernetes.fleets.fleet import Change
from gnomon.systems.kubernetes.read.files import place_of

STEERED: Final = ("deployments", "stateful_sets", "daemon_sets", "resource_quotas")
"""Of these a new version is applied when it is time."""

CREATED: Final = ("pods", "jobs")
"""New ones of these are created when it is time."""

REFERRED: Final = (
    "namespaces",
    "priority_classes",
    "disruption_budgets",
    "services",
    "pod_groups",
    "volumes",
    "claims",
    "storage_classes",
    "csi_nodes",
    "resource_claims",
)
"""New ones of these are there from the beginning."""

FIXED: Final = ("nodes", "replica_sets", "cron_jobs", "limit_ranges")

_OF_THE_SERVER: Final = frozenset(
    """order version uid creation_ns deletion_ns disruptions_allowed disrupted_pods phase claim volume bind_completed
    selected_node reserved_for allocated is_over succeeded failed done_indexes failed_indexes""".split()
)
"""What the API server and controllers fill in, which nobody applies."""

_MARKS_OF_THE_SERVER: Final = (
    "kubectl.kubernetes.io/last-applied-configuration",
    "deployment.kubernetes.io/revision",
    "deprecated.daemonset.template.generation",
    "batch.kubernetes.io/controller-uid",
    "batch.kubernetes.io/job-name",
    "controller-uid",
    "job-name",
)
"""Labels and annotations that they add."""


def applied(objects: Objects, changes: Sequence[Change]) -> tuple[Objects, tuple[Change, ...]]:
    """The objects with what is there from the beginning, and the changes with what they really change.

    Raises InputError for changes of what a run cannot change.
    """
    latest = {(into, *_name(one)): one for into in _lists() for one in getattr(objects, into)}
    added: dict[str, list[Any]] = {}
    stages = []
    for change in changes:
        if change.objects.configuration is not None or change.objects.descheduler is not None:
            raise InputError("not modelled: a change of what configures the scheduler or the descheduler")
        kept: dict[str, Any] = {}
        for into in _lists():
            new = [one for one in getattr(change.objects, into) if not _is_same(latest.get((into, *_name(one))), one)]
            for one in new:
                _check(into, one, change, is_new=(into, *_name(one)) not in latest)
                latest[(into, *_name(one))] = one
            if into in REFERRED:
                added.setdefault(into, []).extend(new)
                new = []
            kept[into] = tuple(new)
        stages.append(replace(change, objects=replace(change.objects, **kept), files=()))
    more: dict[str, Any] = {into: (*getattr(objects, into), *new) for into, new in added.items() if new}
    notes = tuple(
        Note("default", type(new[0]).__name__, "those that changes bring are there from the beginning", len(new))
        for new in added.values()
        if new
    )
    return replace(objects, notes=(*objects.notes, *notes), **more), tuple(stages)


def _lists() -> tuple[str, ...]:
    return (*STEERED, *CREATED, *REFERRED, *FIXED)


def _name(one: Any) -> tuple[str, str]:
    return getattr(one, "namespace", ""), one.name


def _is_same(old: Any, new: Any) -> bool:
    """Whether two objects of one name say the same, but for what the API server and controllers fill in."""
    return old is not None and _said(old) == _said(new)


def _said(one: Any) -> dict[str, Any]:
    said = {each.name: _plain(getattr(one, each.name)) for each in fields(one) if each.name not in _OF_THE_SERVER}
    if isinstance(one, Namespace):
        said["labels"] = {**one.labels, NAMESPACE_LABEL: one.name}
    if isinstance(one, Job):
        said.pop("selector")  # made by the API server, of the uid
    return said


def _plain(value: Any) -> Any:
    """A value of a field; the template that a CronJob makes Jobs of is an object like others."""
    if isinstance(value, Job):
        return _said(value)
    if isinstance(value, PodTemplate):
        return replace(value, labels=_plain(value.labels), annotations=_plain(value.annotations))
    if isinstance(value, Mapping):
        return {key: one for key, one in value.items() if key not in _MARKS_OF_THE_SERVER}
    return value


def _check(into: str, one: Any, change: Change, *, is_new: bool) -> None:
    kind, name = type(one).__name__, "/".join(filter(None, _name(one)))
    if into not in FIXED and (into in STEERED or is_new):
        return
    what = f"a new {kind} while the cluster runs" if is_new else f"a change of a {kind} that is there"
    file, line = place_of(change.files, kind, getattr(one, "namespace", ""), one.name)
    raise InputError(f"not modelled: {what}", file=file, line=line, field=f"{kind} {name}")
