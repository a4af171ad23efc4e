"""What a pod asks for as a whole.

Source: component-helpers ``resource/helpers.go`` (``PodRequests``) and the scheduler's ``util/pod_resources.go`` of
v1.34.1, as the sheet on Kubernetes sums them up (section 1):
``max(sum(containers) + sum(sidecars), max over init i of (init_i + sidecars before i))``, replaced by the pod level's
cpu, memory and huge pages where it has them, plus the overhead.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

from gnomon.systems.kubernetes.api.objects import Amounts, PodSpec

NON_ZERO: Final[Mapping[str, int]] = {"cpu": 100, "memory": 200 * 2**20}
"""What a container counts with in scores where it asks for nothing: 100 millicores, 200 MiB."""

_COMPUTE: Final = ("cpu", "memory")

HUGE_PAGES: Final = "hugepages-"


def pod_requests(spec: PodSpec, *, non_zero: bool = False, pod_level: bool = True) -> dict[str, int]:
    """The amounts that a pod takes on its node.

    ``non_zero``: with :data:`NON_ZERO` for containers that say nothing of cpu or memory, as the scores count;
    ``pod_level``: whether spec.resources count (the scorer of NodeResourcesFit leaves them out in 1.34.1).

    >>> from gnomon.systems.kubernetes.api.objects import Container
    >>> main, init = Container("main", requests={"cpu": 500}), Container("init", requests={"cpu": 800, "memory": 64})
    >>> pod_requests(PodSpec((main,), (init,)))
    {'cpu': 800, 'memory': 64}
    >>> pod_requests(PodSpec((main,), (init,)), non_zero=True)
    {'cpu': 800, 'memory': 209715200}
    """
    defaults = NON_ZERO if non_zero else {}
    total = container_requests(spec, defaults)
    if pod_level and spec.requests:
        total.update({name: amount for name, amount in spec.requests.items() if is_pod_level(name)})
    _add(total, spec.overhead)
    return total


def container_requests(spec: PodSpec, defaults: Amounts = MappingProxyType({})) -> dict[str, int]:
    """What the containers ask for together, without the pod level and the overhead. ``defaults``: what a container
    counts with that says nothing."""
    return _together(
        [{**defaults, **one.requests} for one in spec.containers],
        [({**defaults, **one.requests}, one.is_sidecar) for one in spec.init_containers],
    )


def pod_limits(spec: PodSpec) -> dict[str, int]:
    """The limits of a pod as a whole, of the resources that some container limits (``PodLimits`` of the same source).

    The overhead counts with the limits that there are.
    """
    total = _together(
        [one.limits for one in spec.containers], [(one.limits, one.is_sidecar) for one in spec.init_containers]
    )
    if spec.limits:
        total.update({name: amount for name, amount in spec.limits.items() if is_pod_level(name)})
    _add(total, {name: amount for name, amount in spec.overhead.items() if total.get(name)})
    return total


def qos_class(spec: PodSpec) -> str:
    """Guaranteed, Burstable or BestEffort. Source: ``qos.ComputePodQOS`` of v1.34 (sheet, section 1.1).

    >>> from gnomon.systems.kubernetes.api.objects import Container
    >>> qos_class(PodSpec((Container("c", requests={"cpu": 1}),)))
    'Burstable'
    """
    if spec.requests is not None or spec.limits is not None:
        parts = [(spec.requests or {}, spec.limits or {})]
    else:
        parts = [(one.requests, one.limits) for one in (*spec.containers, *spec.init_containers)]
    requests: dict[str, int] = {}
    limits: dict[str, int] = {}
    for request, limit in parts:
        _add(requests, {name: request[name] for name in _COMPUTE if request.get(name)})
        _add(limits, {name: limit[name] for name in _COMPUTE if limit.get(name)})
    if not requests and not limits:
        return "BestEffort"
    limited = all(limit.get(name) for _, limit in parts for name in _COMPUTE)
    return "Guaranteed" if limited and requests == limits else "Burstable"


def is_pod_level(name: str) -> bool:
    """Whether spec.resources may name a resource."""
    return name in ("cpu", "memory") or name.startswith(HUGE_PAGES)


def is_extended(name: str) -> bool:
    """Whether it is an extended resource: a name with a domain that is not Kubernetes' own.

    >>> [is_extended(name) for name in ("nvidia.com/gpu", "cpu", "requests.nvidia.com/gpu", "kubernetes.io/batch")]
    [True, False, False, False]
    """
    return "/" in name and "kubernetes.io/" not in name and not name.startswith("requests.")


def host_ports(spec: PodSpec) -> tuple[tuple[str, str, int], ...]:
    """The ports that a pod takes on its node, as (address, protocol, port): those of containers and sidecars.

    >>> from gnomon.systems.kubernetes.api.objects import Container, ContainerPort
    >>> host_ports(PodSpec((Container("c", ports=(ContainerPort(80, 8080), ContainerPort(90))),)))
    (('0.0.0.0', 'TCP', 8080),)
    """
    running = (*spec.containers, *(one for one in spec.init_containers if one.is_sidecar))
    return tuple(
        (port.host_ip or "0.0.0.0", port.protocol or "TCP", port.host_port)
        for container in running
        for port in container.ports
        if port.host_port > 0
    )


def _together(containers: Iterable[Amounts], initial: Iterable[tuple[Amounts, bool]]) -> dict[str, int]:
    """The amounts of containers, and of init containers in order with whether each is a sidecar."""
    total: dict[str, int] = {}
    for amounts in containers:
        _add(total, amounts)
    sidecars: dict[str, int] = {}
    starting: dict[str, int] = {}
    for amounts, stays in initial:
        if stays:
            _add(total, amounts)
            _add(sidecars, amounts)
            _raise(starting, sidecars)
        else:
            alone = dict(amounts)
            _add(alone, sidecars)
            _raise(starting, alone)
    _raise(total, starting)
    return total


def _add(total: dict[str, int], amounts: Amounts) -> None:
    for name, amount in amounts.items():
        total[name] = total.get(name, 0) + amount


def _raise(total: dict[str, int], amounts: Amounts) -> None:
    for name, amount in amounts.items():
        if amount > total.get(name, 0) or name not in total:
            total[name] = amount
