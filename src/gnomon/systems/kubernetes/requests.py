"""What a pod asks for as a whole.

Source: component-helpers ``resource/helpers.go`` (``PodRequests``) and the scheduler's ``util/pod_resources.go`` of
v1.34.1, as the sheet on Kubernetes sums them up (section 1):
``max(sum(containers) + sum(sidecars), max over init i of (init_i + sidecars before i))``, replaced by the pod level's
cpu, memory and huge pages where it has them, plus the overhead.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gnomon.systems.kubernetes.objects import Amounts, PodSpec

NON_ZERO: Final[Mapping[str, int]] = {"cpu": 100, "memory": 200 * 2**20}
"""What a container counts with in scores where it asks for nothing: 100 millicores, 200 MiB."""

HUGE_PAGES: Final = "hugepages-"


def pod_requests(spec: PodSpec, *, non_zero: bool = False, pod_level: bool = True) -> dict[str, int]:
    """The amounts that a pod takes on its node.

    ``non_zero``: with :data:`NON_ZERO` for containers that say nothing of cpu or memory, as the scores count;
    ``pod_level``: whether spec.resources count (the scorer of NodeResourcesFit leaves them out in 1.34.1).

    >>> from gnomon.systems.kubernetes.objects import Container
    >>> main, init = Container("main", requests={"cpu": 500}), Container("init", requests={"cpu": 800, "memory": 64})
    >>> pod_requests(PodSpec((main,), (init,)))
    {'cpu': 800, 'memory': 64}
    >>> pod_requests(PodSpec((main,), (init,)), non_zero=True)
    {'cpu': 800, 'memory': 209715200}
    """
    defaults = NON_ZERO if non_zero else {}
    total: dict[str, int] = {}
    for container in spec.containers:
        _add(total, {**defaults, **container.requests})
    sidecars: dict[str, int] = {}
    starting: dict[str, int] = {}
    for container in spec.init_containers:
        own = {**defaults, **container.requests}
        if container.is_sidecar:
            _add(total, own)
            _add(sidecars, own)
            _raise(starting, sidecars)
        else:
            _add(own, sidecars)
            _raise(starting, own)
    _raise(total, starting)
    if pod_level and spec.requests:
        total.update({name: amount for name, amount in spec.requests.items() if is_pod_level(name)})
    _add(total, spec.overhead)
    return total


def pod_limits(spec: PodSpec) -> dict[str, int]:
    """The limits of a pod as a whole, of the resources that every container limits; the same sums and maxima."""
    total: dict[str, int] = {}
    running = (*spec.containers, *(one for one in spec.init_containers if one.is_sidecar))
    for container in running:
        _add(total, container.limits)
    limited = [name for name in total if all(name in one.limits for one in running)]
    total = {name: total[name] for name in limited}
    if spec.limits:
        total.update({name: amount for name, amount in spec.limits.items() if is_pod_level(name)})
    _add(total, {name: amount for name, amount in spec.overhead.items() if name in total})
    return total


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

    >>> from gnomon.systems.kubernetes.objects import Container, ContainerPort
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


def _add(total: dict[str, int], amounts: Amounts) -> None:
    for name, amount in amounts.items():
        total[name] = total.get(name, 0) + amount


def _raise(total: dict[str, int], amounts: Amounts) -> None:
    for name, amount in amounts.items():
        if amount > total.get(name, 0) or name not in total:
            total[name] = amount
