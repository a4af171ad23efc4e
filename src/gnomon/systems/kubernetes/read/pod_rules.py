"""What the API server refuses in the spec of a pod or a template, in its words, beyond the types of the fields.

Source: ``ValidatePodSpec`` and what it calls in ``pkg/apis/core/validation/validation.go`` of v1.34. What admission may
still mend in a bare pod (a limit that a LimitRange gives) is no mistake of its manifest; a template is refused as it
is. Images are not asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gnomon.systems.kubernetes.api.constraints import TopologySpreadConstraint
from gnomon.systems.kubernetes.api.names import container_resource, duplicate, invalid, port_name
from gnomon.systems.kubernetes.api.objects import Amounts, Container, PodSpec
from gnomon.systems.kubernetes.api.quantity import format_quantity
from gnomon.systems.kubernetes.api.requests import HUGE_PAGES
from gnomon.systems.kubernetes.read.fields import Fields

PORT_MAX: Final = 65535
LIMIT_WANTED: Final = "Required value: Limit must be set for non overcommitable resources"


def check_pod(fields: Fields, spec: PodSpec, *, bare: bool) -> None:
    """Note what is wrong between the containers of a spec. ``bare``: it is a pod's own, and no template's."""
    seen: set[str] = set()
    for place in ("containers", "initContainers"):
        for one in fields.items(place):
            name = one.text("name")
            if name and name in seen:
                one.wrong("name", duplicate(name))
            seen.add(name)
    taken: set[str] = set()
    for one in fields.items("containers"):
        for port in one.items("ports"):
            _check_host_port(port, taken, host_network=spec.host_network, bare=bare)
    pairs: set[str] = set()
    for one, constraint in zip(
        fields.items("topologySpreadConstraints"), spec.topology_spread_constraints, strict=False
    ):
        _check_spread(one, constraint, pairs)


def check_container(resources: Fields, container: Container, *, bare: bool) -> None:
    """Note what is wrong with the resources of a container."""
    for key, amounts in (("limits", container.limits), ("requests", container.requests)):
        for name in sorted(amounts):
            if (text := container_resource(name)) is not None:
                resources.problem((*resources.steps, key, name), invalid(name, text))
    for key, text in refused_amounts(container.requests, container.limits):
        if text != LIMIT_WANTED or not bare:
            resources.wrong(key, text)


def refused_amounts(requests: Amounts, limits: Amounts) -> Iterator[tuple[str, str]]:
    """What is wrong between requests and limits: ``requests`` or ``limits``, and what is said.

    >>> dict(refused_amounts({"cpu": 2000}, {"cpu": 1000}))
    {'requests': 'Invalid value: "2": must be less than or equal to cpu limit of 1'}
    >>> dict(refused_amounts({"x.io/gpu": 1}, {"x.io/gpu": 2}))
    {'requests': 'Invalid value: "1": must be equal to x.io/gpu limit of 2'}
    """
    for name, request in sorted(requests.items()):
        limit = limits.get(name)
        exact = ("/" in name and "kubernetes.io/" not in name) or name.startswith(HUGE_PAGES)
        if limit is None:
            if exact:
                yield "limits", LIMIT_WANTED
        elif request > limit or (exact and request != limit):
            how = "equal to" if exact else "less than or equal to"
            most = format_quantity(limit, name)
            yield "requests", invalid(format_quantity(request, name), f"must be {how} {name} limit of {most}")


def check_ports(container: Fields) -> None:
    """Note what is wrong with the names and numbers of a container's ports."""
    names: set[str] = set()
    for port in container.items("ports"):
        name = port.text("name")
        if name and (text := port_name(name)) is not None:
            port.wrong("name", invalid(name, text))
        elif name in names:
            port.wrong("name", duplicate(name))
        names.add(name or "\n")
        for key, least in (("containerPort", 1), ("hostPort", 0)):
            number = port.raw(key)
            if number is None and least:
                port.wrong(key, "this is missing")
            elif isinstance(number, int) and not isinstance(number, bool) and not least <= number <= PORT_MAX:
                port.wrong(key, invalid(number, f"must be between 1 and {PORT_MAX}, inclusive"))


def _check_host_port(port: Fields, taken: set[str], *, host_network: bool, bare: bool) -> None:
    """A port of the host is taken once, and is the container's own where that is on the host's network."""
    container_port, host_port = port.raw("containerPort"), port.raw("hostPort") or 0
    if host_network and host_port and host_port != container_port:
        port.wrong("hostPort", invalid(host_port, "must match `containerPort` when `hostNetwork` is true"))
    if host_network and bare:
        host_port = host_port or container_port
    if host_port:
        key = f"{port.text('protocol', 'TCP')}/{port.text('hostIP')}/{host_port}"
        if key in taken:
            port.wrong("hostPort", duplicate(key))
        taken.add(key)


def _check_spread(fields: Fields, constraint: TopologySpreadConstraint, pairs: set[str]) -> None:
    pair = f"{{{constraint.topology_key}, {constraint.when_unsatisfiable}}}"
    if pair in pairs:
        fields.wrong("topologyKey", duplicate(pair))
    pairs.add(pair)
    if constraint.min_domains is not None and constraint.when_unsatisfiable == "ScheduleAnyway":
        text = "can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ScheduleAnyway"
        fields.wrong("minDomains", invalid(constraint.min_domains, text))
