"""Deployments that run already: which of their ReplicaSets has which version.

Source: ``pkg/controller/deployment/util/deployment_util.go`` (FindNewReplicaSet: of the ReplicaSets whose template is
the Deployment's but for the label ``pod-template-hash`` the oldest; EqualIgnoreHash; Revision) of v1.34. What the API
server has added to the templates may be read of one of the two files alone, so the revision decides where none is
equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from gnomon.systems.kubernetes.api.workloads import Deployment, PodTemplate, ReplicaSet, Workload

HASH_LABEL: Final = "pod-template-hash"
REVISION: Final = "deployment.kubernetes.io/revision"


def revision(one: Workload) -> int:
    """Its number by its annotation; 0 where it has none.

    >>> revision(ReplicaSet("web-abc", annotations={REVISION: "12"})), revision(ReplicaSet("web-abc"))
    (12, 0)
    """
    said = one.annotations.get(REVISION, "")
    return int(said) if said.isdecimal() else 0


def oldest_first(sets: Sequence[ReplicaSet]) -> list[ReplicaSet]:
    """ReplicaSets by age."""
    return sorted(sets, key=lambda one: (revision(one), one.creation_ns or 0, one.order))


def of_template(template: PodTemplate, sets: Sequence[ReplicaSet]) -> ReplicaSet | None:
    """The oldest of the ReplicaSets that have a template.

    >>> old = ReplicaSet("web-abc", template=PodTemplate({"app": "web", HASH_LABEL: "abc"}))
    >>> of_template(PodTemplate({"app": "web"}), [old]) is old, of_template(PodTemplate({"app": "x"}), [old])
    (True, None)
    """
    return next((one for one in sets if one.template is not None and _unmarked(one.template) == template), None)


def current(deployment: Deployment, sets: Sequence[ReplicaSet]) -> ReplicaSet:
    """The ReplicaSet of the present version, of some that are there (the oldest first)."""
    alike = of_template(deployment.template, sets)
    if alike is not None:
        return alike
    same = [one for one in sets if revision(one) == revision(deployment) > 0]
    return same[-1] if same else sets[-1]


def _unmarked(template: PodTemplate) -> PodTemplate:
    labels = {key: value for key, value in template.labels.items() if key != HASH_LABEL}
    return replace(template, labels=labels)
