"""Changes of claims that are not there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from gnomon.insight.explain.changes import CONSTRAINT
from gnomon.insight.kubernetes.levers.bench import Bench, Lever
from gnomon.insight.kubernetes.levers.constraints import likeness

ALIKE = 0.6
"""From which likeness on a claim that is there is taken for the one that was meant."""


def claims(bench: Bench) -> Iterator[Lever]:
    """Make the claim that a pod names and that is not there, or name one that is."""
    pod, objects = bench.pod, bench.moment.objects
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
