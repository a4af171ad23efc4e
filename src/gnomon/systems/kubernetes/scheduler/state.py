"""The cluster as the scheduler's cache has it: nodes as columns, pods by node, and what changed since one last looked.

Rows are resources, columns nodes, so that a test of one resource on all nodes is one vector operation. A pod that comes
or goes (:meth:`State.place`, :meth:`State.remove`) costs as much as it has facts. What depends on nodes alone is kept
until a node changes (:meth:`State.static`); what depends on a node's pods is brought up to date for the nodes that were
touched since (:meth:`State.since`).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from gnomon.model.errors import InputError
from gnomon.systems.kubernetes.api.constraints import REGION, ZONE, Taint
from gnomon.systems.kubernetes.api.objects import Labels, Node, Pod, PodDisruptionBudget, Service
from gnomon.systems.kubernetes.api.requests import host_ports, pod_requests
from gnomon.systems.kubernetes.api.snapshot import Objects
from gnomon.systems.kubernetes.api.storage import PersistentVolume, PersistentVolumeClaim, StorageClass
from gnomon.systems.kubernetes.api.workloads import ReplicaSet, StatefulSet
from gnomon.systems.kubernetes.scheduler.census import ANTI, PREFERRED, REQUIRED, Census, Kind
from gnomon.systems.kubernetes.scheduler.shapes import (
    Shape,
    image_name,
    preferred_terms,
    resolved_spread,
    resolved_term,
)
from gnomon.systems.kubernetes.scheduler.volumes import Volumes, claims_of, disks_of

Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

CPU, MEMORY, EPHEMERAL = 0, 1, 2
"""The rows that every table has."""

NOBODY = 2**62
"""More than any priority: the lowest on a node without pods."""

_FEW = 16
"""So many changed nodes are always judged alone."""

_REMEMBERED = 2**20
"""How many changes are remembered before all are forgotten."""

_KEPT_BYTES = 256 * 2**20
"""About what the answers that are kept may take together."""

_T = TypeVar("_T")


@dataclass(frozen=True)
class Placed:
    """A pod on a node. ``start_ns``: its start time, None while it has none."""

    pod: Pod
    shape: Shape
    start_ns: int | None


@dataclass(frozen=True)
class Domains:
    """The domains of one topology key: ``of`` has each node's number (-1: the label is missing)."""

    of: Ints
    values: tuple[str, ...]
    slots: Ints
    """``of`` with the nodes that lack the label in a slot of their own after the last."""


@dataclass
class Surroundings:
    """What else than nodes and pods decides: labels of namespaces, services, controllers, budgets, volumes."""

    namespaces: Mapping[str, Labels] = field(default_factory=dict)
    services: tuple[Service, ...] = ()
    replica_sets: tuple[ReplicaSet, ...] = ()
    stateful_sets: tuple[StatefulSet, ...] = ()
    budgets: tuple[PodDisruptionBudget, ...] = ()
    volumes: tuple[PersistentVolume, ...] = ()
    claims: tuple[PersistentVolumeClaim, ...] = ()
    storage_classes: tuple[StorageClass, ...] = ()
    csi_limits: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """By node: how many volumes of each driver it takes."""

    @staticmethod
    def of(objects: Objects) -> Surroundings:
        """Those that were read."""
        return Surroundings(
            {space.name: space.labels for space in objects.namespaces},
            objects.services,
            objects.replica_sets,
            objects.stateful_sets,
            objects.disruption_budgets,
            objects.volumes,
            objects.claims,
            objects.storage_classes,
            {node.name: node.limits for node in objects.csi_nodes},
        )


class State:
    """Nodes, the pods on them, and what was nominated.

    >>> state = State([Node("n", allocatable={"cpu": 4000, "pods": 110})])
    >>> state.place(Pod("a"), "n")
    >>> state.count.tolist()
    [1]
    """

    def __init__(self, nodes: Iterable[Node], around: Surroundings | None = None) -> None:
        self.around = around or Surroundings()
        self.nominated: dict[str, dict[str, Placed]] = {}
        """Pods that a node is being cleared for, by node and key."""
        self._shapes: dict[Hashable, Shape] = {}
        self._specs: dict[int, tuple[object, int]] = {}
        self._texts: dict[str, int] = {}
        self._build(list(nodes), [])

    # ------------------------------------------------------------------ nodes

    def _build(self, nodes: list[Node], placed: list[tuple[Placed, str]]) -> None:
        self.nodes = nodes
        self.names = [node.name for node in nodes]
        self.index = {name: i for i, name in enumerate(self.names)}
        if len(self.index) < len(nodes):
            raise InputError("two nodes of one name", field="metadata.name")
        count = len(nodes)
        self.resources = {"cpu": CPU, "memory": MEMORY, "ephemeral-storage": EPHEMERAL}
        self.allocatable = np.zeros((3, count), np.int64)
        self.used = np.zeros((3, count), np.int64)
        self.non_zero = np.zeros((2, count), np.int64)
        self.allowed = np.zeros(count, np.int64)
        self.count = np.zeros(count, np.int64)
        self.lowest = np.full(count, NOBODY, np.int64)
        self.pods: list[dict[str, Placed]] = [{} for _ in nodes]
        self.where: dict[str, int] = {}
        self.ports: dict[tuple[str, int], dict[str, Ints]] = {}
        self.census = Census(count, self.around.namespaces)
        self.volumes = _volumes(count, self.around, getattr(self, "volumes", None))
        self.touched: list[int] = []
        self.edits = 0
        self._shapes.clear()
        self._memo: dict[Hashable, object] = {}
        self.order = np.array(_round_robin(nodes), np.int64)
        for i in range(count):
            self._read_node(i)
        for one, name in placed:
            if name in self.index:
                self.place(one.pod, name, start_ns=one.start_ns)

    def _read_node(self, i: int) -> None:
        amounts = self.nodes[i].allocatable
        self.allocatable[:, i] = 0
        for name, amount in amounts.items():
            if name == "pods":
                self.allowed[i] = amount
            else:
                row = self.resource(name)  # may put a new table in place
                self.allocatable[row, i] = amount

    def resource(self, name: str) -> int:
        """The row of a resource in the tables."""
        row = self.resources.get(name)
        if row is None:
            row = self.resources[name] = len(self.resources)
            empty = np.zeros((1, len(self.nodes)), np.int64)
            self.allocatable = np.concatenate([self.allocatable, empty])
            self.used = np.concatenate([self.used, empty])
        return row

    def replace_node(self, node: Node) -> None:
        """A node changes: its labels, taints, resources, whether it takes pods."""
        i = self.index[node.name]
        moved = _zone(self.nodes[i]) != _zone(node)
        self.nodes[i] = node
        self._read_node(i)
        self.touched.append(i)
        self.edits += 1
        self._memo.clear()
        if moved:
            self.order = np.array(_round_robin(self.nodes), np.int64)

    # ------------------------------------------------------------------ pods

    def shape(self, pod: Pod) -> Shape:
        """What the scheduler works out of a pod; pods alike get the same one."""
        spec = pod.spec
        known = self._specs.get(id(spec))
        if known is None or known[0] is not spec:
            known = self._specs[id(spec)] = spec, self._texts.setdefault(repr(spec), len(self._texts))
        kind = self.census.kind(pod.namespace, pod.labels, pod.deletion_ns is not None)
        key = (known[1], id(kind), pod.owner)
        found = self._shapes.get(key)
        if found is None:
            found = self._shapes[key] = self._new_shape(pod, kind, known[1])
        return found

    def _new_shape(self, pod: Pod, kind: Kind, spec_index: int) -> Shape:
        spec = pod.spec
        requests = {name: amount for name, amount in pod_requests(spec).items() if amount}
        counted = pod_requests(spec, non_zero=True)
        census = self.census
        affinity = tuple(resolved_term(term, kind) for term in spec.affinity.pod_required)
        anti_affinity = tuple(resolved_term(term, kind) for term in spec.affinity.anti_required)
        preferred = preferred_terms(spec, kind)
        return Shape(
            index=len(self._shapes),
            spec_index=spec_index,
            spec=spec,
            owner=pod.owner,
            priority=pod.priority,
            kind=kind,
            requests=requests,
            rows=tuple(self.resource(name) for name in requests),
            amounts=tuple(requests.values()),
            non_zero=(counted.get("cpu", 0), counted.get("memory", 0)),
            scored=pod_requests(spec, non_zero=True, pod_level=False),
            ports=host_ports(spec),
            images=tuple(image_name(one.image) for one in (*spec.init_containers, *spec.containers)),
            affinity=affinity,
            anti_affinity=anti_affinity,
            preferred=preferred,
            spread=resolved_spread(spec, kind),
            claims=claims_of(spec, pod.namespace),
            disks=disks_of(spec),
            holds=(
                *(census.held(REQUIRED, pod.namespace, term) for term in affinity),
                *(census.held(ANTI, pod.namespace, term) for term in anti_affinity),
                *(census.held(PREFERRED, pod.namespace, term, weight) for weight, term in preferred),
            ),
        )

    def place(self, pod: Pod, node: str, *, start_ns: int | None = None) -> None:
        """A pod takes its place on a node (what the scheduler assumes, or a watch tells)."""
        start = pod.start_time_ns if start_ns is None else start_ns
        self.put(Placed(pod, self.shape(pod), start), self.index[node])

    def remove(self, key: str) -> Placed:
        """A pod leaves its node."""
        i = self.where.pop(key)
        placed = self.pods[i][key]
        self._change(placed, i, -1)
        return placed

    def put(self, placed: Placed, i: int) -> None:
        """What is known of a pod already takes its place; undoes :meth:`remove`."""
        key = placed.pod.key
        if key in self.where:
            raise InputError("two pods of one name", field="metadata.name", found=key)
        self.where[key] = i
        self._change(placed, i, 1)

    def _change(self, placed: Placed, i: int, by: int) -> None:
        shape = placed.shape
        for row, amount in zip(shape.rows, shape.amounts, strict=True):
            self.used[row, i] += by * amount
        self.non_zero[0, i] += by * shape.non_zero[0]
        self.non_zero[1, i] += by * shape.non_zero[1]
        self.count[i] += by
        pods = self.pods[i]
        if by > 0:
            pods[placed.pod.key] = placed
            if shape.priority < self.lowest[i]:
                self.lowest[i] = shape.priority
        else:
            del pods[placed.pod.key]
            if shape.priority == self.lowest[i]:
                self.lowest[i] = min((one.shape.priority for one in pods.values()), default=NOBODY)
        for address, protocol, port in shape.ports:
            self.port_column(address, protocol, port)[i] += by
        if shape.claims or shape.disks:
            self.volumes.change(shape.claims, shape.disks, i, by)
        self.census.change(shape.kind, shape.holds, i, by)
        if len(self.touched) == _REMEMBERED:
            self.touched.clear()
            self.edits += 1  # whoever looked at some of them works everything out anew
        self.touched.append(i)

    def port_column(self, address: str, protocol: str, port: int) -> Ints:
        """How many pods on each node take a host port at an address."""
        by_address = self.ports.setdefault((protocol, port), {})
        column = by_address.get(address)
        if column is None:
            column = by_address[address] = np.zeros(len(self.nodes), np.int64)
        return column

    # ------------------------------------------------------------------ nominations

    def nominate(self, pod: Pod, node: str) -> None:
        """A node is being cleared for a pod."""
        self.withdraw(pod.key)
        self.nominated.setdefault(node, {})[pod.key] = Placed(pod, self.shape(pod), None)

    def withdraw(self, key: str) -> None:
        """A pod is no longer nominated to any node."""
        for node, pods in list(self.nominated.items()):
            if pods.pop(key, None) is not None and not pods:
                del self.nominated[node]

    # ------------------------------------------------------------------ what is kept

    def static(self, key: Hashable, work_out: Callable[[], _T]) -> _T:
        """What depends on nodes alone, worked out once until a node changes. Equal keys, equal answers."""
        found = self._memo.get(key)
        if found is None:
            found = work_out()  # may itself ask for more
            if len(self._memo) * len(self.nodes) * 16 > _KEPT_BYTES:
                self._memo.clear()
            self._memo[key] = found
        return found  # type: ignore[return-value]

    def since(self, seen: int) -> Ints | slice | None:
        """The nodes that changed since ``touched`` had ``seen`` entries; None: too many to go one by one."""
        changed = set(self.touched[seen:])
        if len(changed) == 1:
            (node,) = changed
            return slice(node, node + 1)  # cheaper than an array of one
        if len(changed) > max(_FEW, len(self.nodes) // 4):
            return None
        return np.fromiter(changed, np.int64, len(changed))

    def domains(self, key: str) -> Domains:
        """The domains of a topology key."""
        return self.static(("domains", key), lambda: self._domains(key))

    def _domains(self, key: str) -> Domains:
        numbers: dict[str, int] = {}
        of = np.full(len(self.nodes), -1, np.int64)
        for i, node in enumerate(self.nodes):
            value = node.labels.get(key)
            if value is not None:
                of[i] = numbers.setdefault(value, len(numbers))
        return Domains(of, tuple(numbers), np.where(of < 0, len(numbers), of))

    def taint_sets(self) -> tuple[Ints, tuple[tuple[Taint, ...], ...]]:
        """Each node's number among the distinct lists of taints, and these."""
        return self.static("taints", self._taint_sets)

    def _taint_sets(self) -> tuple[Ints, tuple[tuple[Taint, ...], ...]]:
        numbers: dict[tuple[Taint, ...], int] = {}
        of = [numbers.setdefault(node.taints, len(numbers)) for node in self.nodes]
        return np.array(of, np.int64), tuple(numbers)


def _volumes(nodes: int, around: Surroundings, before: Volumes | None) -> Volumes:
    """Claims and volumes as the objects have them, and as they were bound since."""
    return Volumes(
        nodes,
        {f"{one.namespace}/{one.name}": one for one in around.claims},
        {one.name: one for one in around.volumes},
        {one.name: one for one in around.storage_classes},
        {} if before is None else before.bound,
        {} if before is None else before.made_in,
    )


def _zone(node: Node) -> tuple[str, str]:
    return node.labels.get(REGION, ""), node.labels.get(ZONE, "")


def _round_robin(nodes: list[Node]) -> list[int]:
    """Nodes in the order of the scheduler's node tree: one of each zone in turn, in a zone as they came (sheet §4)."""
    zones: dict[tuple[str, str], list[int]] = {}
    for i, node in enumerate(nodes):
        zones.setdefault(_zone(node), []).append(i)
    order: list[int] = []
    longest = max((len(members) for members in zones.values()), default=0)
    for turn in range(longest):
        order += [members[turn] for members in zones.values() if turn < len(members)]
    return order
