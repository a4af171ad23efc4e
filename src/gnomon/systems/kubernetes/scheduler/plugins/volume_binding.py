"""VolumeBinding: bound volumes must be reachable from the node, and what is bound only with the pod must find a volume
there, or a class that makes one (sheet §4.3).

Source: ``plugins/volumebinding/{volume_binding,binder}.go`` of v1.34.1. Capacity that drivers publish is not modelled;
a volume that a class makes is reached from the zone of the node that it was made for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from gnomon.systems.kubernetes.api.constraints import ZONE
from gnomon.systems.kubernetes.api.objects import Pod
from gnomon.systems.kubernetes.api.storage import NO_PROVISIONER, PersistentVolume
from gnomon.systems.kubernetes.scheduler.plugins.base import Filter, Nodes, Query, Scope
from gnomon.systems.kubernetes.scheduler.plugins.node_affinity import terms_mask
from gnomon.systems.kubernetes.scheduler.state import Ints, Mask, State

IMMEDIATE = "pod has unbound immediate PersistentVolumeClaims"
GONE = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"
ELSEWHERE = "node(s) didn't match PersistentVolume's node affinity"
NONE_FOUND = "node(s) didn't find available persistent volumes to bind"

_TEXTS = {1: GONE, 2: ELSEWHERE, 4: NONE_FOUND}


def refused_early(query: Query) -> str | None:
    """Why no node is even looked at: a claim that is not there, is going, or waits for its volume; None: go on."""
    volumes = query.state.volumes
    for key in query.shape.claims:
        name = key.partition("/")[2]
        claim = volumes.claims.get(key)
        if claim is None:
            return f'persistentvolumeclaim "{name}" not found'
        if claim.phase == "Lost":
            return f'persistentvolumeclaim "{name}" bound to non-existent persistentvolume "{claim.volume}"'
        if claim.deletion_ns is not None:
            return f'persistentvolumeclaim "{name}" is being deleted'
    if any(not volumes.is_bound(key) and not volumes.waits(key) for key in query.shape.claims):
        return IMMEDIATE
    return None


def _reachable(state: State, volume: PersistentVolume) -> Mask:
    if volume.node_required is None:
        return np.ones(len(state.nodes), bool)
    terms = volume.node_required
    return state.static(("volume", volume.name), lambda: terms_mask(state, terms))


def _bound(query: Query) -> Ints:
    """By node, what the first bound claim that fails says."""
    state, volumes = query.state, query.state.volumes
    codes = np.zeros(len(state.nodes), np.int64)
    for key in query.shape.claims:
        if key in volumes.made_in:
            away = np.array([node.labels.get(ZONE, "") != volumes.made_in[key] for node in state.nodes], bool)
            codes = np.where((codes == 0) & away, 2, codes)
        elif key in volumes.bound:
            volume = volumes.volumes.get(volumes.bound[key])
            found = np.ones(len(state.nodes), np.int64) if volume is None else 2 * ~_reachable(state, volume)
            codes = np.where(codes == 0, found, codes)
    return codes


def matches(state: State, claims: Sequence[str]) -> Iterator[tuple[str, list[PersistentVolume], Ints, Mask]]:
    """For each claim that is bound with the pod, the smallest first: its candidates, which of them each node would take
    (-1: none), and where its class would make one."""
    volumes = state.volumes
    waiting = [key for key in claims if key in volumes.claims and not volumes.is_bound(key)]
    taken: list[dict[str, Mask]] = []
    for key in sorted(waiting, key=lambda key: volumes.claims[key].request_bytes):
        candidates = volumes.candidates(key)
        chosen = np.full(len(state.nodes), -1, np.int64)
        own: dict[str, Mask] = {}
        for i, volume in enumerate(candidates):
            free = (chosen < 0) & _reachable(state, volume)
            for other in taken:
                if volume.name in other:
                    free &= ~other[volume.name]
            chosen[free] = i
            own[volume.name] = free
        taken.append(own)
        yield key, candidates, chosen, _provisioned(state, key)


def _provisioned(state: State, key: str) -> Mask:
    """The nodes on which a claim's class would make a volume."""
    claim = state.volumes.claims[key]
    found = state.volumes.class_of(claim)
    if found is None or found.provisioner in ("", NO_PROVISIONER):
        return np.zeros(len(state.nodes), bool)
    mask = np.ones(len(state.nodes), bool)
    if found.allowed_topologies:
        mask &= terms_mask(state, found.allowed_topologies)
    if claim.selected_node:
        mask &= np.array([name == claim.selected_node for name in state.names], bool)
    return mask


def _codes(query: Query, nodes: Nodes) -> Ints:
    codes = _bound(query)
    for _, _, chosen, provisioned in matches(query.state, query.shape.claims):
        codes |= 4 * ((chosen < 0) & ~provisioned)
    return codes[nodes]


def bind(state: State, claims: Sequence[str], node: int) -> None:
    """A pod with these claims takes its place on a node: they are bound there."""
    volumes = state.volumes
    for key, candidates, chosen, _ in list(matches(state, claims)):
        if chosen[node] >= 0:
            volumes.bound[key] = candidates[int(chosen[node])].name
        else:
            volumes.made_in[key] = state.nodes[node].labels.get(ZONE, "")


def bind_pod(state: State, pod: Pod, node: str) -> None:
    """The same by names; a pod without claims costs nothing."""
    if claims := state.shape(pod).claims:
        bind(state, claims, state.index[node])


FILTER = Filter(
    "VolumeBinding",
    Scope.CLUSTER,
    _codes,
    (True, False, False, False, False, False, False, False),
    lambda query, nodes, codes: [(text, codes & bit > 0) for bit, text in _TEXTS.items() if (codes & bit).any()],
    lambda query: bool(query.shape.claims),
)
