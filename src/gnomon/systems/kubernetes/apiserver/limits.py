"""LimitRanges: the defaults that they give to containers, and what they refuse, in the API server's words.

Source: ``plugin/pkg/admission/limitranger`` and ``SetDefaults_LimitRangeItem`` (sheet on Kubernetes, section 5). Where
the real code goes through a map in random order, resources are taken by name here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from gnomon.systems.kubernetes.api.objects import Amounts, Container, Pod, PodSpec
from gnomon.systems.kubernetes.api.policies import LimitRange, LimitRangeItem
from gnomon.systems.kubernetes.api.quantity import format_quantity
from gnomon.systems.kubernetes.api.requests import pod_limits, pod_requests

CONTAINER: Final = "Container"
POD: Final = "Pod"


def with_limit_defaults(spec: PodSpec, ranges: Iterable[LimitRange]) -> PodSpec:
    """A spec whose containers have the requests and limits of the namespace's ranges where they say nothing.

    >>> ranges = [LimitRange("r", items=(LimitRangeItem("Container", max={"cpu": 2000}, min={"memory": 1024}),))]
    >>> made = with_limit_defaults(PodSpec((Container("c"),)), ranges).containers[0]
    >>> made.limits, sorted(made.requests.items())
    ({'cpu': 2000}, [('cpu', 2000), ('memory', 1024)])
    """
    for limit_range in ranges:
        limits: dict[str, int] = {}
        requests: dict[str, int] = {}
        for item in limit_range.items:
            if item.type == CONTAINER:
                own_limits, own_requests = item_defaults(item)
                limits |= own_limits
                requests |= own_requests
        if limits or requests:
            spec = replace(
                spec,
                containers=tuple(_filled(one, limits, requests) for one in spec.containers),
                init_containers=tuple(_filled(one, limits, requests) for one in spec.init_containers),
            )
    return spec


def item_defaults(item: LimitRangeItem) -> tuple[dict[str, int], dict[str, int]]:
    """The limits and requests that an item of containers gives: max fills default, that defaultRequest, then min."""
    limits = {**item.max, **item.default}
    return limits, {**item.min, **limits, **item.default_request}


def limit_rejection(pod: Pod, ranges: Iterable[LimitRange]) -> str | None:
    """Why the ranges of its namespace refuse a pod, as the API server says it; None where they do not."""
    for limit_range in ranges:
        problems = list(dict.fromkeys(_problems(pod.spec, limit_range)))
        if problems:
            text = problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]"
            return f'pods "{pod.name}" is forbidden: {text}'
    return None


def _filled(container: Container, limits: Amounts, requests: Amounts) -> Container:
    return replace(container, limits={**limits, **container.limits}, requests={**requests, **container.requests})


def _problems(spec: PodSpec, limit_range: LimitRange) -> Iterator[str]:
    for item in limit_range.items:
        if item.type == CONTAINER:
            for container in (*spec.containers, *spec.init_containers):
                yield from _of(item, container.requests, container.limits)
        elif item.type == POD:
            yield from _of(item, pod_requests(spec), pod_limits(spec))


def _of(item: LimitRangeItem, requests: Amounts, limits: Amounts) -> Iterator[str]:
    yield from _below(item, requests, limits)
    yield from _above(item, requests, limits)
    for name, most in sorted(item.max_ratio_milli.items()):
        text = f"{name} max limit to request ratio per {item.type} is {format_quantity(most, 'cpu')}, but"
        if not requests.get(name):
            yield f"{text} no request is specified or request is 0"
        elif not limits.get(name):
            yield f"{text} no limit is specified or limit is 0"
        elif limits[name] * 1000 > most * requests[name]:
            yield f"{text} provided ratio is {limits[name] / requests[name]:f}"


def _below(item: LimitRangeItem, requests: Amounts, limits: Amounts) -> Iterator[str]:
    for name, least in sorted(item.min.items()):
        text = f"minimum {name} usage per {item.type} is {format_quantity(least, name)}"
        if name not in requests:
            yield f"{text}.  No request is specified"
        elif requests[name] < least:
            yield f"{text}, but request is {format_quantity(requests[name], name)}"
        elif name in limits and limits[name] < least:
            yield f"{text}, but limit is {format_quantity(limits[name], name)}"


def _above(item: LimitRangeItem, requests: Amounts, limits: Amounts) -> Iterator[str]:
    for name, most in sorted(item.max.items()):
        text = f"maximum {name} usage per {item.type} is {format_quantity(most, name)}"
        if name not in limits:
            yield f"{text}.  No limit is specified"
        elif limits[name] > most:
            yield f"{text}, but limit is {format_quantity(limits[name], name)}"
        elif name in requests and requests[name] > most:
            yield f"{text}, but request is {format_quantity(requests[name], name)}"
