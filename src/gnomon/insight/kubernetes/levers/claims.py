"""Claims that are not there or have no volume: in words, and what would change it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from gnomon.insight.explain.changes import CONSTRAINT
from gnomon.insight.kubernetes.levers.bench import Bench, Lever
from gnomon.insight.kubernetes.levers.constraints import likeness
from gnomon.systems.kubernetes.api.storage import NO_PROVISIONER, PersistentVolumeClaim
from gnomon.systems.kubernetes.scheduler.volumes import Volumes

ALIKE = 0.6
"""From which likeness on a claim that is there is taken for the one that was meant."""


def claims(bench: Bench) -> Iterator[Lever]:
    """Make the claim that a pod names and that is not there, or name one that is; see to the volume of one without."""
    pod, objects = bench.pod, bench.moment.objects
    yield from _volumes(bench)
    there = {one.name for one in objects.claims if one.namespace == pod.namespace}
    for place, volume in enumerate(pod.spec.volumes):
        if volume.kind != "persistentVolumeClaim" or volume.source in there:
            continue
        rest = (*pod.spec.volumes[:place], *pod.spec.volumes[place + 1 :])
        without = replace(pod.spec, volumes=rest)
        yield Lever(
            kind=CONSTRAINT,
            size=0.5,
            phrase=f"create the PersistentVolumeClaim {pod.namespace}/{volume.source}",
            object=f"persistentvolumeclaim/{pod.namespace}/{volume.source}",
            field="",
            before=None,
            after=volume.source,
            attempt=lambda without=without: bench.with_spec(without),  # type: ignore[misc]
            spec=without,
        )
        for name in sorted(there, key=lambda one: -likeness(one, volume.source))[:3]:
            if likeness(name, volume.source) < ALIKE:
                break
            other = replace(volume, source=name)
            changed = replace(pod.spec, volumes=(*pod.spec.volumes[:place], other, *pod.spec.volumes[place + 1 :]))
            yield bench.of_spec(
                changed,
                kind=CONSTRAINT,
                size=round(1 - likeness(name, volume.source), 4),
                phrase=f"claimName: {volume.source} → {name}",
                field=f"spec.volumes[{volume.name}].persistentVolumeClaim.claimName",
                before=volume.source,
                after=name,
                group=f"claim {volume.name}",
            )


def unbound(volumes: Volumes, keys: Iterable[str]) -> str:
    """Which claims have no volume though they do not wait for a pod, and why each has none."""
    return "; ".join(_no_volume(volumes, claim) for claim in _immediate(volumes, keys))


def _immediate(volumes: Volumes, keys: Iterable[str]) -> list[PersistentVolumeClaim]:
    return [volumes.claims[key] for key in keys if key in volumes.claims and not _settled(volumes, key)]


def _settled(volumes: Volumes, key: str) -> bool:
    return volumes.is_bound(key) or volumes.waits(key)


def _no_volume(volumes: Volumes, claim: PersistentVolumeClaim) -> str:
    name, found = f"{claim.namespace}/{claim.name}", volumes.class_of(claim)
    if claim.volume:
        return f"the claim {name} names the volume {claim.volume} and is not bound to it yet"
    if found is not None and found.provisioner not in ("", NO_PROVISIONER):
        return f"the claim {name} waits until {found.provisioner} has made its volume (StorageClass {found.name})"
    if found is not None:
        return f"the claim {name} is of the StorageClass {found.name}, which makes no volumes"
    if claim.storage_class:
        return f"the claim {name} asks for the StorageClass {claim.storage_class}, which is not among the objects"
    if claim.storage_class is None:
        return f"the claim {name} names no StorageClass, and none that is the default is among the objects"
    return f"the claim {name} wants a volume that is there (storageClassName is empty)"


def _volumes(bench: Bench) -> Iterator[Lever]:
    """A claim that is there gets its volume; of a class that is not there, once that is."""
    spec, volumes = bench.pod.spec, bench.state.volumes
    for claim in _immediate(volumes, bench.state.shape(bench.pod).claims):
        rest = tuple(one for one in spec.volumes if one.source != claim.name or one.kind != "persistentVolumeClaim")
        without = replace(spec, volumes=rest)
        absent = claim.storage_class if claim.storage_class and volumes.class_of(claim) is None else ""
        key = f"{claim.namespace}/{claim.name}"
        yield Lever(
            kind=CONSTRAINT,
            size=0.5,
            phrase=f"create the StorageClass {absent}" if absent else f"a volume for the PersistentVolumeClaim {key}",
            object=f"storageclass/{absent}" if absent else f"persistentvolumeclaim/{key}",
            field="",
            before=None,
            after=absent or key,
            attempt=lambda without=without: bench.with_spec(without),  # type: ignore[misc]
            spec=without,
        )
