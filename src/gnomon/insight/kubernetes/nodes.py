"""What is on a node, and whom it does not take."""

from __future__ import annotations

from gnomon.insight.explain.answer import Explanation
from gnomon.insight.explain.phrases import counted, listed
from gnomon.insight.kubernetes.classes import written
from gnomon.systems.kubernetes.api.constraints import NOT_READY, UNREACHABLE
from gnomon.systems.kubernetes.api.objects import Node
from gnomon.systems.kubernetes.api.requests import pod_requests
from gnomon.systems.kubernetes.fleets.native import Native

RESOURCES_MAX = 4


def explain_node(native: Native, name: str) -> Explanation:
    """What a node of a snapshot holds, whether it takes pods, and why not."""
    node = next(one for one in native.objects.nodes if one.name == name)
    there = [pod for pod in native.pods if pod.node_name == name]
    used: dict[str, int] = {}
    for pod in there:
        for resource, amount in pod_requests(pod.spec).items():
            used[resource] = used.get(resource, 0) + amount
    parts = [
        f"{written(resource, used.get(resource, 0))} of {written(resource, amount)} {resource}"
        for resource, amount in node.allocatable.items()
        if resource != "pods" and (resource in ("cpu", "memory") or used.get(resource))
    ]
    against = closed_by(node)
    text = f"{name} has {counted(len(there), 'pod')}"
    ask = "asks" if len(there) == 1 else "ask"
    amounts = listed(parts, RESOURCES_MAX)
    text += f", which {ask} for {amounts}" if parts else ", and states no capacity (status.capacity)"
    ready = is_ready(node)
    state = "not ready" if not ready else "closed" if node.unschedulable else "open"
    if against:
        text += f"; {listed(against)}"
    return Explanation(f"node/{name}", state, text, text)


def is_ready(node: Node) -> bool:
    """Whether a node says that it is ready, and has no taint that says otherwise."""
    said = next((one.status for one in node.conditions if one.type == "Ready"), "True")
    return said == "True" and not any(one.key in (NOT_READY, UNREACHABLE) for one in node.taints)


def closed_by(node: Node) -> list[str]:
    """What keeps pods away from a node, whatever is free."""
    found = ["it is cordoned"] if node.unschedulable else []
    taints = [one for one in node.taints if one.effect != "PreferNoSchedule"]
    taints = [one for one in taints if one.key != "node.kubernetes.io/unschedulable"]
    for taint in taints:
        value = f"={taint.value}" if taint.value else ""
        found.append(f"only pods that tolerate {taint.key}{value}:{taint.effect} come there")
    ready = next((one for one in node.conditions if one.type == "Ready"), None)
    if ready is not None and ready.status != "True":
        found.append(f"it is not ready ({ready.reason or ready.status})")
    return found
