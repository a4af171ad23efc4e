"""One cycle of a plugin of the descheduler on nodes and pods, without a run."""

from __future__ import annotations

from typing import Any

from gnomon.systems.kubernetes.api.descheduling import DeschedulerPolicy, Evictor, Plugin, Restarts, Utilization
from gnomon.systems.kubernetes.api.descheduling import Duplicates as Duplicates
from gnomon.systems.kubernetes.api.descheduling import SpreadViolations as SpreadViolations
from gnomon.systems.kubernetes.api.objects import Node, Owner, Pod
from gnomon.systems.kubernetes.descheduler.evictor import Facts, Filter, Limits
from gnomon.systems.kubernetes.descheduler.node_utilization import balance
from gnomon.systems.kubernetes.descheduler.rebalancing import balance_spread, remove_duplicates, remove_restarting
from gnomon.systems.kubernetes.descheduler.view import Seen, View
from tests.systems.kubernetes.build import pod

OWNER = Owner("ReplicaSet", "replicaset-1")


def placed(name: str, node: str, cpu: int = 400, **more: Any) -> tuple[Pod, str]:
    """A pod of a ReplicaSet on a node."""
    return pod(name, {"cpu": cpu}, owner=more.pop("owner", OWNER), **more), node


def evicted(
    plugin: Plugin,
    nodes: list[Node],
    pods: list[tuple[Pod, str]],
    *,
    evictor: Evictor | None = None,
    limits: DeschedulerPolicy | None = None,
    threshold: int | None = None,
    restarts: dict[str, int] | None = None,
) -> list[str]:
    """The names of the pods that it evicts, in order; the API server lets all of them go."""
    by_node: dict[str, list[Seen]] = {}
    for task, (one, node) in enumerate(pods):
        by_node.setdefault(node, []).append(Seen(one, node, task, (restarts or {}).get(one.name, 0)))
    view, gone = View(nodes, by_node, {}), list[str]()

    def evict(one: Seen, name: str, facts: Facts) -> bool:
        gone.append(one.pod.name)
        return True

    rule = Filter(evictor or Evictor(), view, threshold=threshold, budgets=(), now_ns=0)
    within = Limits(limits or DeschedulerPolicy(), evict)
    if isinstance(plugin, Utilization):
        balance(plugin, view, rule, within)
    elif isinstance(plugin, Restarts):
        remove_restarting(plugin, view, rule, within)
    elif isinstance(plugin, SpreadViolations):
        balance_spread(plugin, view, rule, within)
    else:
        remove_duplicates(plugin, view, rule, within)
    return gone
