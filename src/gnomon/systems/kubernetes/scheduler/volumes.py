"""Which volumes claims are bound to, and which nodes use them: the part of the scheduler's cache that is about storage.

A claim is bound by what the objects say, or by a pod that was placed here: to the volume that fits best, or to one that
would be made on that node (dynamic provisioning), which then is where that node is.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from gnomon.systems.kubernetes.api.objects import Labels, PodSpec
from gnomon.systems.kubernetes.api.selectors import selects
from gnomon.systems.kubernetes.api.storage import (
    WAIT_FOR_FIRST_CONSUMER,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
)

Column = npt.NDArray[np.int64]

EXCLUSIVE_DISKS = frozenset(["gcePersistentDisk", "awsElasticBlockStore", "rbd", "iscsi"])
"""Sources of which one pod of a node has the disk to itself, unless all only read (sheet §4.3, VolumeRestrictions)."""

Disk = tuple[str, str, bool]
"""Kind, name, whether it is only read."""


def claims_of(spec: PodSpec, namespace: str) -> tuple[str, ...]:
    """The claims of a pod by ``namespace/name``. Claims that are made for one pod alone (ephemeral volumes) are left
    out: the controller that makes them is not modelled."""
    return tuple(
        dict.fromkeys(f"{namespace}/{one.source}" for one in spec.volumes if one.kind == "persistentVolumeClaim")
    )


def disks_of(spec: PodSpec) -> tuple[Disk, ...]:
    """The disks of a pod that nodes share out exclusively."""
    return tuple((one.kind, one.source, one.read_only) for one in spec.volumes if one.kind in EXCLUSIVE_DISKS)


@dataclass
class Volumes:
    """Claims, volumes and classes by name, with the number of pods on each node that use each."""

    nodes: int
    claims: dict[str, PersistentVolumeClaim] = field(default_factory=dict)
    volumes: dict[str, PersistentVolume] = field(default_factory=dict)
    classes: dict[str, StorageClass] = field(default_factory=dict)
    bound: dict[str, str] = field(default_factory=dict)
    """The volume of a claim."""
    made_in: dict[str, str] = field(default_factory=dict)
    """The zone in which a claim's volume would be made, for claims of pods that were placed here."""
    users: dict[str, Column] = field(default_factory=dict)
    disks: dict[Disk, Column] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for key, claim in self.claims.items():
            if claim.volume:
                self.bound.setdefault(key, claim.volume)

    def change(self, claims: tuple[str, ...], disks: tuple[Disk, ...], node: int, by: int) -> None:
        """A pod with these comes to a node or leaves it."""
        for key in claims:
            self.users_of(key)[node] += by
        for disk in disks:
            self.users_of_disk(disk)[node] += by

    def users_of(self, key: str) -> Column:
        """How many pods on each node use a claim."""
        if key not in self.users:
            self.users[key] = np.zeros(self.nodes, np.int64)
        return self.users[key]

    def users_of_disk(self, disk: Disk) -> Column:
        """How many pods on each node use a disk in this way."""
        if disk not in self.disks:
            self.disks[disk] = np.zeros(self.nodes, np.int64)
        return self.disks[disk]

    def class_of(self, claim: PersistentVolumeClaim) -> StorageClass | None:
        """A claim's class; where it names none, the default one."""
        if claim.storage_class is None:
            return next((one for one in self.classes.values() if one.is_default), None)
        return self.classes.get(claim.storage_class)

    def waits(self, key: str) -> bool:
        """Whether a claim is bound only when a pod that uses it is placed."""
        claim = self.claims[key]
        found = self.class_of(claim)
        return not claim.volume and found is not None and found.binding_mode == WAIT_FOR_FIRST_CONSUMER

    def is_bound(self, key: str) -> bool:
        """Whether a claim has a volume, or would have one by now."""
        return key in self.bound or key in self.made_in

    def driver(self, key: str) -> str:
        """The CSI driver of a claim's volume; of one without a volume, that of its class. Empty: none."""
        volume = self.volumes.get(self.bound.get(key, ""))
        if volume is not None:
            return volume.driver
        claim = self.claims.get(key)
        found = None if claim is None else self.class_of(claim)
        return "" if found is None else found.provisioner

    def candidates(self, key: str) -> list[PersistentVolume]:
        """The volumes that a claim could be bound to, wherever they are, the best first: one that is kept for it, then
        the smallest that is large enough."""
        claim = self.claims[key]
        in_use = set(self.bound.values())
        found = [one for one in self.volumes.values() if one.name not in in_use and self._suits(one, claim, key)]
        return sorted(found, key=lambda one: (one.claim != key, one.capacity_bytes, one.name))

    def _suits(self, volume: PersistentVolume, claim: PersistentVolumeClaim, key: str) -> bool:
        if volume.claim:
            free = volume.claim == key
        else:
            free = volume.phase in ("", "Available")
        chosen = self.class_of(claim)
        named = claim.storage_class if claim.storage_class is not None else (chosen.name if chosen else "")
        return (
            free
            and volume.deletion_ns is None
            and volume.capacity_bytes >= claim.request_bytes
            and volume.storage_class == named
            and volume.volume_mode == claim.volume_mode
            and set(claim.access_modes) <= set(volume.access_modes)
            and (claim.selector is None or selects(claim.selector, volume.labels))
        )


def same_zone(labels: Labels, node: Labels, keys: tuple[str, ...]) -> bool:
    """Whether a node is in the zones and regions that a volume's labels name (several are joined by ``__``).

    >>> same_zone({"zone": "a__b"}, {"zone": "b"}, ("zone",)), same_zone({"zone": "a"}, {"region": "r"}, ("zone",))
    (True, False)
    """
    return all(node.get(key) in labels[key].split("__") for key in keys if key in labels)
