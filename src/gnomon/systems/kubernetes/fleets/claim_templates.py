"""The claims that StatefulSets make of their volumeClaimTemplates: one a template and ordinal, kept when the pod goes.

Source: ``pkg/controller/statefulset/stateful_set_utils.go`` (getPersistentVolumeClaims, updateStorage). They are among
the objects from the beginning: nothing but the pod of their ordinal uses them. One whose class binds at once gets its
volume at once, reached from everywhere that the class allows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from gnomon.model.work import Note
from gnomon.systems.kubernetes.api.objects import Volume
from gnomon.systems.kubernetes.api.snapshot import Objects
from gnomon.systems.kubernetes.api.storage import (
    IMMEDIATE,
    NO_PROVISIONER,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
)
from gnomon.systems.kubernetes.api.workloads import PodTemplate, StatefulSet

_CLAIM = "persistentVolumeClaim"


def claim_name(template: str, stateful: str, ordinal: int) -> str:
    """The name of a claim.

    >>> claim_name("data", "db", 2)
    'data-db-2'
    """
    return f"{template}-{stateful}-{ordinal}"


def template_of(one: StatefulSet, ordinal: int) -> PodTemplate:
    """The template of the pod of an ordinal: with its claims as volumes, in place of those of the same name."""
    if not one.claim_templates:
        return one.template
    names = {claim.name for claim in one.claim_templates}
    own = [Volume(claim.name, _CLAIM, claim_name(claim.name, one.name, ordinal)) for claim in one.claim_templates]
    others = [volume for volume in one.template.spec.volumes if volume.name not in names]
    return replace(one.template, spec=replace(one.template.spec, volumes=(*own, *others)))


@dataclass(frozen=True)
class Claimed:
    """What StatefulSets add to the objects."""

    claims: tuple[PersistentVolumeClaim, ...] = ()
    volumes: tuple[PersistentVolume, ...] = ()
    notes: tuple[Note, ...] = ()

    def added_to(self, objects: Objects) -> Objects:
        """The objects with it."""
        claims, volumes = (*objects.claims, *self.claims), (*objects.volumes, *self.volumes)
        return replace(objects, claims=claims, volumes=volumes)


def claimed(objects: Objects, later: Sequence[Objects] = ()) -> Claimed:
    """The claims of all StatefulSets, of those that come ``later`` as well, that are not among the objects."""
    there = {(one.namespace, one.name) for one in objects.claims}
    made: dict[tuple[str, str], PersistentVolumeClaim] = {}
    for one in chain(objects.stateful_sets, *(stage.stateful_sets for stage in later)):
        for claim in _claims_of(one):
            key = claim.namespace, claim.name
            if key not in there:
                made.setdefault(key, claim)
    classes = {one.name: one for one in objects.storage_classes}
    default = next((one for one in objects.storage_classes if one.is_default), None)
    claims, volumes = [], []
    for claim in made.values():
        found = default if claim.storage_class is None else classes.get(claim.storage_class)
        volume = _volume(claim, found)
        volumes += [volume] if volume is not None else []
        claims.append(claim if volume is None else replace(claim, volume=volume.name, phase="Bound"))
    text = "those of volumeClaimTemplates whose class binds at once can be reached from wherever it allows"
    notes = (Note("guess", "PersistentVolume", text, len(volumes)),) if volumes else ()
    return Claimed(tuple(claims), tuple(volumes), notes)


def _claims_of(one: StatefulSet) -> Iterator[PersistentVolumeClaim]:
    selected = {
        requirement.key: requirement.values[0]
        for requirement in (one.selector.requirements if one.selector is not None else ())
        if requirement.operator == "In" and len(requirement.values) == 1
    }
    for claim in one.claim_templates:
        for ordinal in range(one.first_ordinal, one.first_ordinal + one.replicas):
            name = claim_name(claim.name, one.name, ordinal)
            yield replace(claim, name=name, namespace=one.namespace, labels={**claim.labels, **selected})


def _volume(claim: PersistentVolumeClaim, found: StorageClass | None) -> PersistentVolume | None:
    """The volume that a class makes of a claim at once; None: it does not."""
    if found is None or found.binding_mode != IMMEDIATE or found.provisioner in ("", NO_PROVISIONER):
        return None
    return PersistentVolume(
        f"pvc-{claim.namespace}-{claim.name}",
        capacity_bytes=claim.request_bytes,
        access_modes=claim.access_modes,
        storage_class=found.name,
        volume_mode=claim.volume_mode,
        claim=f"{claim.namespace}/{claim.name}",
        phase="Bound",
        kind="csi",
        driver=found.provisioner,
        node_required=found.allowed_topologies or None,
    )
