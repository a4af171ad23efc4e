"""What would make the API server create a pod that a quota refuses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from gnomon.insight.explain.changes import CONSTRAINT, LIMIT, OTHERS, OWN
from gnomon.insight.explain.phrases import listed
from gnomon.insight.kubernetes.levers.bench import Bench, Effect, Lever
from gnomon.insight.kubernetes.levers.own import with_request
from gnomon.insight.kubernetes.levers.scaling import replicas_of, scaled_down, workload_of
from gnomon.insight.kubernetes.moment import Gatekeeper, is_peer, quota_key, usage_of
from gnomon.insight.kubernetes.quota import Over, amount_of, binding, holders_of
from gnomon.insight.kubernetes.subjects import owner_of
from gnomon.systems.kubernetes.api.objects import Pod, PodSpec
from gnomon.systems.kubernetes.api.policies import LimitRange, ResourceQuota
from gnomon.systems.kubernetes.api.snapshot import Objects
from gnomon.systems.kubernetes.api.workloads import Deployment
from gnomon.systems.kubernetes.apiserver.quotas import applies


def quota_levers(bench: Bench) -> Iterator[Lever]:
    """Raise the quota; ask for what is left of it; for a rollout, remove an old pod first; end another's pod."""
    moment = bench.moment
    found = binding(moment)
    if found is None:
        return
    quota, over = found
    where = f"resourcequota/{quota.namespace}/{quota.name}"
    raised = {name: used + asked * moment.missing for name, (asked, used, _) in over.items()}
    hard = {**quota.hard, **raised}
    yield Lever(
        kind=LIMIT,
        size=sum((raised[name] - most) / most for name, (_, _, most) in over.items() if most),
        phrase="raise the quota to " + listed([f"{name} {amount_of(name, amount)}" for name, amount in raised.items()]),
        object=where,
        field=", ".join(f"spec.hard.{name}" for name in raised),
        before=", ".join(amount_of(name, most) for name, (_, _, most) in over.items()),
        after=", ".join(amount_of(name, amount) for name, amount in raised.items()),
        attempt=lambda: created(bench, replace(quota, hard=hard)),
    )
    yield from _less(bench, quota, over)
    yield from _as_many_as_may_be(bench)
    yield from _without_surge(bench, quota)
    yield from _another(bench, quota, over)
    yield from _idle_workloads(bench, quota, over)


def created(
    bench: Bench,
    quota: ResourceQuota | None,
    pod: Pod | None = None,
    *,
    gone: Sequence[Pod] = (),
    ranges: tuple[LimitRange, ...] | None = None,
) -> Effect | None:
    """What comes of it when the pod is created with another quota (or limit ranges), as another pod, or after pods
    have gone."""
    moment, pod = bench.moment, pod or bench.moment.pod
    quotas = moment.objects.resource_quotas
    if quota is not None:
        quotas = tuple(quota if quota_key(one) == quota_key(quota) else one for one in quotas)
    used = {name: {**amounts} for name, amounts in moment.in_use.items()}
    for one in quotas:
        for away in gone:
            for name, amount in usage_of(one, away).items() if applies(one, away) else ():
                used[quota_key(one)][name] = used[quota_key(one)].get(name, 0) - amount
    objects = replace(moment.objects, resource_quotas=quotas)
    gate = Gatekeeper(objects if ranges is None else replace(objects, limit_ranges=ranges), (), used)
    for number in range(moment.missing):
        _, text = gate.admit(replace(pod, name=f"{pod.name}+{number}"))
        if text:
            return None
    effect = bench.effect(bench.nodes(replace(pod, node_name="")))
    made = "it is created" if moment.missing == 1 else f"it and the {moment.missing - 1} after it are created"
    return Effect(made + (f", and {effect.text}" if effect else ", but fits on no node"))


def _less(bench: Bench, quota: ResourceQuota, over: Over) -> Iterator[Lever]:
    spec: PodSpec = bench.pod.spec
    fields: list[str] = []
    before: list[str] = []
    after: list[str] = []
    size = 0.0
    for name, (asked, used, hard) in over.items():
        resource, left = name.removeprefix("requests.").removeprefix("limits."), hard - used
        if left <= 0 or resource in ("pods", "count/pods"):
            return
        changed = with_limit(spec, resource, left) if name.startswith("limits.") else with_request(spec, resource, left)
        if changed is None:
            return
        spec, field = changed
        fields.append(field)
        before.append(amount_of(name, asked))
        after.append(amount_of(name, left))
        size += (asked - left) / asked
    yield Lever(
        kind=OWN,
        size=size,
        phrase=f"ask for {', '.join(after)} instead of {', '.join(before)} ({', '.join(over)})",
        object=f"pod/{bench.pod.key}",
        field=", ".join(fields),
        before=", ".join(before),
        after=", ".join(after),
        attempt=lambda: created(bench, quota, replace(bench.pod, spec=spec)),
    )


def with_limit(spec: PodSpec, name: str, total: int) -> tuple[PodSpec, str] | None:
    """A spec of one container whose limit, and request if that was more, is this."""
    if len(spec.containers) != 1 or spec.init_containers or spec.limits:
        return None
    (one,) = spec.containers
    requests = {**one.requests}
    if requests.get(name, 0) > total:
        requests[name] = total
    changed = replace(one, limits={**one.limits, name: total}, requests=requests)
    return replace(spec, containers=(changed,)), f"spec.containers[{one.name}].resources.limits.{name}"


def _as_many_as_may_be(bench: Bench) -> Iterator[Lever]:
    """Of a snapshot: no more replicas than the quota has let be created."""
    moment, objects = bench.moment, bench.moment.objects
    replicas = replicas_of(bench.pod, objects)
    there = sum(1 for one in moment.created if bench.is_sibling(one))
    if moment.row >= 0 or replicas is None or not 0 < there < replicas:
        return
    workload = workload_of(bench.pod, objects)
    yield Lever(
        kind=CONSTRAINT,
        size=(replicas - there) / replicas,
        phrase=f"scale {workload} from {replicas} to {there}",
        object=workload,
        field="spec.replicas",
        before=replicas,
        after=there,
        attempt=lambda: Effect("the quota refuses none of them"),
    )


def _without_surge(bench: Bench, quota: ResourceQuota) -> Iterator[Lever]:
    """The pod belongs to a rollout: remove a pod of the old generation first instead of one more at first."""
    moment = bench.moment
    deployment = deployment_of(bench.pod, moment.objects)
    if deployment is None:
        return
    old = [
        one
        for one in moment.created
        if one.owner is not None
        and one.owner.name != (bench.pod.owner.name if bench.pod.owner else "")
        and owner_of(one, moment.objects) == ("Deployment", deployment.name)
        and one.namespace == deployment.namespace
    ]
    if not old or str(deployment.max_surge) in ("0", "0%"):
        return
    yield Lever(
        kind=CONSTRAINT,
        size=0.5,
        phrase="roll out with maxSurge 0 and maxUnavailable 1, so that an old pod goes first",
        object=f"deployment/{deployment.namespace}/{deployment.name}",
        field="spec.strategy.rollingUpdate",
        before=f"maxSurge {deployment.max_surge}, maxUnavailable {deployment.max_unavailable}",
        after="maxSurge 0, maxUnavailable 1",
        attempt=lambda: created(bench, quota, gone=old[:1]),
    )


def deployment_of(pod: Pod, objects: Objects) -> Deployment | None:
    """The Deployment that a pod belongs to."""
    kind, name = owner_of(pod, objects)
    named = (one for one in objects.deployments if (one.namespace, one.name) == (pod.namespace, name))
    return next(named, None) if kind == "Deployment" else None


def _another(bench: Bench, quota: ResourceQuota, over: Over) -> Iterator[Lever]:
    """The smallest pod under the quota whose end leaves enough."""
    able = []
    for one in bench.moment.created:
        if applies(quota, one) and one.key != bench.pod.key and not bench.is_sibling(one):
            usage = usage_of(quota, one)
            if all(usage.get(name, 0) >= asked + used - hard for name, (asked, used, hard) in over.items()):
                able.append((sum(usage.get(name, 0) for name in over), one.key, one))
    if able:
        _, key, gone = min(able, key=lambda one: one[:2])
        if gone.owner is not None:
            yield from scaled_down(
                bench,
                gone,
                "quota",
                lambda: created(bench, quota, gone=(gone,)),
                bench.moment.created,
            )
            return
        yield Lever(
            kind=OTHERS,
            size=1.0,
            phrase=f"delete {key}",
            object=f"pod/{key}",
            field="",
            before="running",
            after=None,
            attempt=lambda: created(bench, quota, gone=(gone,)),
        )


def _idle_workloads(bench: Bench, quota: ResourceQuota, over: Over) -> Iterator[Lever]:
    """Another workload none of whose pods has a node gives way for now."""
    found: dict[tuple[str, str], list[Pod]] = {}
    for one in holders_of(bench.moment, quota, over):
        if one.owner is not None and not is_peer(one, bench.pod):
            found.setdefault((one.owner.kind, one.owner.name), []).append(one)
    for (kind, name), pods in found.items():
        if len(pods) < 2 or any(one.node_name for one in pods):
            continue
        yield Lever(
            kind=OTHERS,
            size=1.5,
            phrase=f"let {kind} {name} wait: delete its {len(pods)} pods, none of which has a node",
            object=f"{kind.lower()}/{quota.namespace}/{name}",
            field="",
            before=len(pods),
            after=0,
            attempt=lambda pods=tuple(pods): created(bench, quota, gone=pods),  # type: ignore[misc]
            group="idle workload",
        )
