"""The plugins of kube-scheduler that place pods, one a module.

:data:`FILTERS` and :data:`SCORES` have them by name; a name without an entry there takes no part in that step.
"""

from gnomon.systems.kubernetes.scheduler.plugins import (
    balanced_allocation,
    image_locality,
    inter_pod_affinity,
    node_affinity,
    node_ports,
    node_resources_fit,
    node_unschedulable,
    node_volume_limits,
    pod_topology_spread,
    taint_toleration,
    volume_binding,
    volume_restrictions,
    volume_zone,
)
from gnomon.systems.kubernetes.scheduler.plugins.base import ClusterScore, Filter, Score

FILTERS: dict[str, Filter] = {
    plugin.name: plugin
    for plugin in (
        node_unschedulable.FILTER,
        taint_toleration.FILTER,
        node_affinity.FILTER,
        node_ports.FILTER,
        node_resources_fit.FILTER,
        volume_restrictions.FILTER,
        node_volume_limits.FILTER,
        volume_binding.FILTER,
        volume_zone.FILTER,
        pod_topology_spread.FILTER,
        inter_pod_affinity.FILTER,
    )
}

SCORES: dict[str, Score | ClusterScore] = {
    plugin.name: plugin
    for plugin in (
        taint_toleration.SCORE,
        node_affinity.SCORE,
        node_resources_fit.SCORE,
        pod_topology_spread.SCORE,
        inter_pod_affinity.SCORE,
        balanced_allocation.SCORE,
        image_locality.SCORE,
    )
}
