"""What would make the API server create a pod that it refuses for a limit range or a priority class."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from gnomon.insight.explain.changes import CONSTRAINT, LIMIT, OWN
from gnomon.insight.kubernetes.classes import written
from gnomon.insight.kubernetes.levers.bench import Bench, Lever
from gnomon.insight.kubernetes.levers.constraints import likeness
from gnomon.insight.kubernetes.levers.quota import created, with_limit
from gnomon.insight.kubernetes.moment import quota_key, usage_of
from gnomon.systems.kubernetes.api.objects import Amounts, Container, PodSpec
from gnomon.systems.kubernetes.api.policies import LimitRange, LimitRangeItem
from gnomon.systems.kubernetes.apiserver.limits import CONTAINER
from gnomon.systems.kubernetes.apiserver.quotas import applies

NO_CLASS: Final = re.compile(r"no PriorityClass with name (\S+) was found")
"""The words of the admission plugin Priority."""

OF_THE_SYSTEM: Final = "system-"
"""How the names of the priority classes begin that every cluster has for its own pods."""

CLASSES_MAX: Final = 4
"""How many priority classes are tried in the place of one."""


def denial_levers(bench: Bench) -> Iterator[Lever]:
    """Another priority class, or none; amounts within the limit ranges, or a limit range that allows for more."""
    found = NO_CLASS.search(bench.moment.refused)
    if found is not None:
        yield from _classes(bench, found[1])
        return
    for one in bench.moment.objects.limit_ranges:
        if one.namespace == bench.pod.namespace:
            yield from _within(bench, one)
            yield from _wider(bench, one)


def _classes(bench: Bench, name: str) -> Iterator[Lever]:
    known = [one for one in bench.moment.objects.priority_classes if not one.name.startswith(OF_THE_SYSTEM)]
    for one in sorted(known, key=lambda one: (-likeness(one.name, name), one.name))[:CLASSES_MAX]:
        spec = replace(
            bench.pod.spec,
            priority=one.value,
            priority_class=one.name,
            preemption_policy=one.preemption_policy or bench.pod.spec.preemption_policy,
        )
        yield _of_class(bench, name, one.name, spec, 1 - likeness(one.name, name))
    default = next((one for one in known if one.global_default), None)
    value = 0 if default is None else default.value
    yield _of_class(bench, name, None, replace(bench.pod.spec, priority=value, priority_class=""), 1.0)
    yield Lever(
        kind=CONSTRAINT,
        size=1.0,
        phrase=f"create the PriorityClass {name}",
        object=f"priorityclass/{name}",
        field="",
        before=None,
        after=name,
        attempt=lambda: created(bench, None, replace(bench.pod, spec=replace(bench.pod.spec, priority=0))),
    )


def _of_class(bench: Bench, before: str, after: str | None, spec: PodSpec, size: float) -> Lever:
    return Lever(
        kind=OWN,
        size=round(size, 4),
        phrase=f"priorityClassName: {before} → {after}" if after else f"name no priorityClassName {before}",
        object=f"pod/{bench.pod.key}",
        field="spec.priorityClassName",
        before=before,
        after=after,
        attempt=lambda: created(bench, None, replace(bench.pod, spec=spec)),
    )


def _within(bench: Bench, ranges: LimitRange) -> Iterator[Lever]:
    """Requests and limits of the containers as far as a range's least and most allow."""
    before = spec = bench.pod.spec
    for item in ranges.items:
        if item.type == CONTAINER:
            spec = replace(spec, containers=tuple(_clamped(one, item) for one in spec.containers))
    if spec == before:
        return
    for quota in bench.moment.objects.resource_quotas:  # which refuses next what the range lets pass
        pod = replace(bench.pod, spec=spec)
        for name, asked in usage_of(quota, pod).items() if applies(quota, pod) else ():
            left = quota.hard[name] - bench.moment.in_use.get(quota_key(quota), {}).get(name, 0)
            if name.startswith("limits.") and 0 < left < asked:
                less = with_limit(spec, name.removeprefix("limits."), left)
                spec = spec if less is None else less[0]
    said = _differences(before, spec)
    yield Lever(
        kind=OWN,
        size=0.5,
        phrase=", ".join(f"{name}: {old} → {new}" for name, (old, new) in said.items()),
        object=f"pod/{bench.pod.key}",
        field=", ".join(f"spec.containers[*].resources.{name}" for name in said),
        before=", ".join(old for old, _ in said.values()),
        after=", ".join(new for _, new in said.values()),
        attempt=lambda: created(bench, None, replace(bench.pod, spec=spec)),
    )


def _clamped(container: Container, item: LimitRangeItem) -> Container:
    """A container whose amounts are within an item."""

    def within(amounts: Amounts) -> dict[str, int]:
        return {name: max(min(has, item.max.get(name, has)), item.min.get(name, 0)) for name, has in amounts.items()}

    return replace(container, limits=within(container.limits), requests=within(container.requests))


def _differences(before: PodSpec, after: PodSpec) -> dict[str, tuple[str, str]]:
    """What containers say of their amounts, as it was and as it is, where that differs."""
    said: dict[str, tuple[str, str]] = {}
    for old, new in zip(before.containers, after.containers, strict=True):
        for word, has, gets in (("limits", old.limits, new.limits), ("requests", old.requests, new.requests)):
            for name in has:
                if has[name] != gets[name]:
                    said[f"{word}.{name}"] = written(name, has[name]), written(name, gets[name])
    return said


def _wider(bench: Bench, ranges: LimitRange) -> Iterator[Lever]:
    """A range that allows for what the containers say."""
    items, said = [], dict[str, tuple[int, int]]()
    for item in ranges.items:
        if item.type == CONTAINER:
            most = {
                name: max([has, *(one.limits.get(name, 0) for one in bench.pod.spec.containers)])
                for name, has in item.max.items()
            }
            said |= {name: (item.max[name], value) for name, value in most.items() if value != item.max[name]}
            item = replace(item, max=most)
        items.append(item)
    if not said:
        return
    wider, key = replace(ranges, items=tuple(items)), (ranges.namespace, ranges.name)
    others = tuple(wider if (one.namespace, one.name) == key else one for one in bench.moment.objects.limit_ranges)
    yield Lever(
        kind=LIMIT,
        size=sum((new - old) / max(old, 1) for old, new in said.values()),
        phrase="let the limit range allow "
        + ", ".join(
            f"{written(name, new)} {name} instead of {written(name, old)}" for name, (old, new) in said.items()
        ),
        object=f"limitrange/{ranges.namespace}/{ranges.name}",
        field=", ".join(f"spec.limits[*].max.{name}" for name in said),
        before=", ".join(written(name, old) for name, (old, _) in said.items()),
        after=", ".join(written(name, new) for name, (_, new) in said.items()),
        attempt=lambda: created(bench, None, ranges=others),
    )
