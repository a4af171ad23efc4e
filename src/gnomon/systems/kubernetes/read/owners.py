"""Objects that own themselves, by way of others or not: what follows owners would never end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

Key = tuple[str, str, str]
"""Kind, namespace and name."""

_KINDS: Final = {"replica_sets": "ReplicaSet", "deployments": "Deployment", "jobs": "Job", "cron_jobs": "CronJob"}


def owned_by_themselves(found: Mapping[str, Sequence[Any]]) -> Iterator[Key]:
    """One object of each such circle. ``found``: lists of objects, named as in ``Objects``.

    A pod that the API server gave its own uid as its owner's is none: that it allows, and nothing follows it.
    """
    owners: dict[Key, Key] = {
        (getattr(one, "kind", kind), one.namespace, one.name): (one.owner.kind, one.namespace, one.owner.name)
        for into, kind in _KINDS.items()
        for one in found.get(into, ())
        if one.owner is not None
    }
    done: set[Key] = set()
    for start in owners:
        seen: dict[Key, None] = {}
        here = start
        while here in owners and here not in done and here not in seen:
            seen[here] = None
            here = owners[here]
        if here in seen:
            yield here
        done.update(seen)
    for pod in found.get("pods", ()):
        owner = pod.owner
        if owner is not None and (owner.kind, owner.name) == ("Pod", pod.name) and not pod.uid:
            yield "Pod", pod.namespace, pod.name
