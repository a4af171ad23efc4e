"""Short words for clusters that run for a while."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from gnomon.api import Run, simulate
from gnomon.engine.log import Kind, Reason
from gnomon.model.fault import Failure
from gnomon.model.resources import NEVER
from gnomon.model.scenario import Limits
from gnomon.systems.kubernetes.fleets.fleet import Change
from gnomon.systems.kubernetes.read.files import objects_of
from gnomon.systems.kubernetes.scenario import scenario_of

S = 10**9
Object = dict[str, Any]


def node(name: str, *, cpu: str = "8", memory: str = "32Gi", pods: str = "110", **labels: str) -> Object:
    amounts = {"cpu": cpu, "memory": memory, "pods": pods}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, **labels}},
        "status": {"capacity": amounts, "allocatable": amounts},
    }


def spec(*, image: str = "app:1", requests: Object | None = None, limits: Object | None = None, **more: Any) -> Object:
    container: Object = {"name": "c", "image": image, "resources": {"requests": requests or {}, "limits": limits or {}}}
    return {"containers": [container], **more}


def pod(name: str, annotations: Object | None = None, labels: Object | None = None, **more: Any) -> Object:
    metadata = {"name": name, "annotations": annotations or {}, "labels": labels or {}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec(**more)}


def workload(
    kind: str, name: str, replicas: int, template: Object, annotations: Object | None = None, **more: Any
) -> Object:
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": name, "annotations": annotations or {}},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": name}},
            "template": {"metadata": {"labels": {"app": name}}, "spec": template},
            **more,
        },
    }


def job(name: str, template: Object, annotations: Object | None = None, **more: Any) -> Object:
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "annotations": annotations or {}},
        "spec": {"template": {"spec": {"restartPolicy": "Never", **template}}, **more},
    }


def play(
    objects: Sequence[Object],
    *,
    until_s: int | None,
    faults: Sequence[Failure] = (),
    changes: Sequence[tuple[int, Sequence[Object]]] = (),
    seed: int = 0,
) -> Run:
    """Run objects for a while (None: until nothing is left to happen), every invariant checked after every instant."""
    until_ns = NEVER if until_s is None else until_s * S
    applied = [Change(at_s * S, objects_of(list(later))) for at_s, later in changes]
    scenario = scenario_of(objects_of(list(objects)), changes=applied, until_ns=until_ns)
    scenario = replace(scenario, faults=tuple(faults), limits=Limits(until_ns=until_ns), seed=seed)
    return simulate(scenario, invariants=True)


def rows(run: Run, *kinds: Kind) -> list[tuple[float, str, str, str, str]]:
    """(seconds, kind, task, node, reason) of the rows of some kinds."""
    log, work = run.log, run.scenario.work
    names = [one.name for one in run.scenario.cluster.nodes]
    return [
        (
            log.t_ns[i] / S,
            Kind(log.kind[i]).name,
            work.id(log.subject[i]).partition("/")[2] if log.subject[i] >= 0 else "",
            names[log.node[i]] if log.node[i] >= 0 else "",
            Reason(log.reason[i]).name,
        )
        for i in range(len(log))
        if Kind(log.kind[i]) in kinds
    ]


def starts(run: Run) -> list[tuple[float, str]]:
    """(seconds, task) of every start."""
    return [(when, task) for when, _, task, _, _ in rows(run, Kind.START)]


def deletions(run: Run) -> list[tuple[float, str]]:
    """(seconds, task) of every pod that was deleted."""
    return [(when, task) for when, _, task, _, _ in rows(run, Kind.CANCEL)]


def events(run: Run) -> list[tuple[float, str, str]]:
    """(seconds, reason, message) of the events of controllers."""
    log = run.log
    return [
        (log.t_ns[i] / S, str(log.details[i]["reason"]), str(log.details[i]["message"]))
        for i in range(len(log))
        if log.kind[i] == Kind.EVENT
    ]


def refusals(run: Run) -> list[tuple[float, str]]:
    """(seconds, message) of creations that were refused."""
    log = run.log
    found = ((i, log.details.get(i, {})) for i in range(len(log)) if log.kind[i] == Kind.WAIT)
    return [(log.t_ns[i] / S, str(one["message"])) for i, one in found if one.get("reason") == "FailedCreate"]
