"""Volumes, claims, their classes, the drivers of nodes, and claims of devices.

Names as in ``objects``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from gnomon.systems.kubernetes.api.constraints import LabelSelector, NodeSelectorTerm
from gnomon.systems.kubernetes.api.objects import Labels

READ_WRITE_ONCE_POD: Final = "ReadWriteOncePod"
WAIT_FOR_FIRST_CONSUMER: Final = "WaitForFirstConsumer"
IMMEDIATE: Final = "Immediate"
NO_PROVISIONER: Final = "kubernetes.io/no-provisioner"


@dataclass(frozen=True, slots=True)
class PersistentVolume:
    """A volume. ``claim``: ``namespace/name`` of the claim that it is bound or kept for; ``kind``: its source as the
    API calls it, and ``driver`` that of a csi source. ``node_required`` None: every node."""

    name: str
    labels: Labels = field(default_factory=dict)
    capacity_bytes: int = 0
    access_modes: tuple[str, ...] = ()
    storage_class: str = ""
    volume_mode: str = "Filesystem"
    claim: str = ""
    phase: str = ""
    kind: str = ""
    driver: str = ""
    handle: str = ""
    node_required: tuple[NodeSelectorTerm, ...] | None = None
    deletion_ns: int | None = None


@dataclass(frozen=True, slots=True)
class PersistentVolumeClaim:
    """A claim. ``storage_class`` None: the default class; empty: none. ``volume``: what it is bound to.

    ``selected_node`` and ``bind_completed`` are annotations (volume.kubernetes.io/selected-node,
    pv.kubernetes.io/bind-completed): the scheduler's choice, and whether the binding is done.
    """

    name: str
    namespace: str = "default"
    labels: Labels = field(default_factory=dict)
    request_bytes: int = 0
    access_modes: tuple[str, ...] = ()
    storage_class: str | None = None
    volume_mode: str = "Filesystem"
    volume: str = ""
    selector: LabelSelector | None = None
    phase: str = ""
    selected_node: str = ""
    bind_completed: bool = False
    deletion_ns: int | None = None


@dataclass(frozen=True, slots=True)
class StorageClass:
    """A class. ``binding_mode`` Immediate or WaitForFirstConsumer; ``allowed_topologies``: empty for everywhere."""

    name: str
    provisioner: str = ""
    binding_mode: str = IMMEDIATE
    is_default: bool = False
    allowed_topologies: tuple[NodeSelectorTerm, ...] = ()
    parameters: Labels = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CSINode:
    """The drivers of a node, and how many volumes of each it takes (a driver that is left out has no limit)."""

    name: str
    drivers: tuple[str, ...] = ()
    limits: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ResourceClaim:
    """A claim of devices: only what keeps pods waiting is read."""

    name: str
    namespace: str = "default"
    device_classes: tuple[str, ...] = ()
    allocated: bool = False
    reserved_for: tuple[str, ...] = ()
