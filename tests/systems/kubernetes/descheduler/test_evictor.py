"""DefaultEvictor: whom it spares by default and by its arguments (defaultevictor.go of kubernetes-sigs/descheduler)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gnomon.model.errors import InputError
from gnomon.systems.kubernetes.api import descheduling as policy
from gnomon.systems.kubernetes.api.constraints import LabelSelector, Requirement
from gnomon.systems.kubernetes.api.descheduling import HIGH, Evictor, Utilization
from gnomon.systems.kubernetes.api.objects import Owner, Pod, PodResourceClaim, PriorityClass, Volume
from gnomon.systems.kubernetes.descheduler.evictor import threshold_of
from tests.systems.kubernetes.build import node
from tests.systems.kubernetes.descheduled import evicted, placed

NODES = [node("n1", cpu=4000), node("n2", cpu=4000)]
EMPTY_N1 = Utilization(HIGH, {"cpu": 20 * policy.PERCENT})
"""Sends away whatever may go of n1."""


def goes(pod: Pod, evictor: Evictor | None = None, *, threshold: int | None = None, count: int = 1) -> bool:
    pods = [(pod if k == 0 else replace(pod, name=f"{pod.name}{k}"), "n1") for k in range(count)]
    gone = evicted(
        EMPTY_N1,
        NODES,
        [*pods, placed("other", "n2", 2000, owner=Owner("ReplicaSet", "o"))],
        evictor=evictor,
        threshold=threshold,
    )
    return pod.name in gone


def plain(cpu: int = 100, **more: Any) -> Pod:
    return placed("p", "n1", cpu, **more)[0]


def test_a_pod_of_a_replica_set_goes() -> None:
    assert goes(plain())


@pytest.mark.parametrize(
    "pod",
    [
        plain(owner=Owner("DaemonSet", "d")),
        replace(plain(), owner=None),
        plain(priority=2_000_000_000),
        plain(volumes=(Volume("v", "emptyDir"),)),
        plain(volumes=(Volume("v", "hostPath", "/var"),)),
        replace(plain(), annotations={"kubernetes.io/config.mirror": "x"}),
        replace(plain(), annotations={"kubernetes.io/config.source": "file"}),
        replace(plain(), deletion_ns=1),
    ],
)
def test_spared_by_default(pod: Pod) -> None:
    assert not goes(pod)


def test_protections_are_taken_off_and_put_on() -> None:
    local = plain(volumes=(Volume("v", "emptyDir"),))
    assert goes(local, Evictor(protections=frozenset(policy.DEFAULT_PROTECTIONS) - {policy.LOCAL_STORAGE}))
    claim = plain(volumes=(Volume("v", "persistentVolumeClaim", "c"),))
    assert goes(claim)
    assert not goes(claim, Evictor(protections=frozenset([policy.CLAIMS])))
    assert not goes(plain(resource_claims=(PodResourceClaim("d"),)), Evictor(protections=frozenset([policy.DEVICES])))
    assert not goes(plain(), Evictor(protections=frozenset([policy.NO_BUDGET])))


def test_the_annotation_lets_any_pod_go() -> None:
    assert goes(replace(plain(priority=2_000_000_000), annotations={"descheduler.alpha.kubernetes.io/evict": "true"}))


def test_prefer_no_eviction_is_a_rule_only_where_the_policy_says_so() -> None:
    pod = replace(plain(), annotations={"descheduler.alpha.kubernetes.io/prefer-no-eviction": ""})
    assert goes(pod)
    assert not goes(pod, Evictor(mandatory=True))


def test_priorities_from_the_threshold_on_are_spared() -> None:
    assert goes(plain(priority=99), threshold=100)
    assert not goes(plain(priority=100), threshold=100)


def test_the_threshold_by_the_name_of_a_class() -> None:
    assert threshold_of(Evictor(priority_class="gold"), [PriorityClass("gold", 7)]) == 7
    assert threshold_of(Evictor(priority_class="system-cluster-critical"), []) == 2_000_000_000
    with pytest.raises(InputError, match="unknown priority class"):
        threshold_of(Evictor(priority_class="golden"), [PriorityClass("gold", 7)])


def test_labels_and_replicas_and_age() -> None:
    selector = LabelSelector((Requirement("app", "In", ("a",)),))
    assert goes(plain(labels={"app": "a"}), Evictor(label_selector=selector))
    assert not goes(plain(labels={"app": "b"}), Evictor(label_selector=selector))
    assert not goes(plain(), Evictor(min_replicas=2))
    assert goes(plain(), Evictor(min_replicas=2), count=2)
    assert not goes(plain(), Evictor(min_pod_age_ns=1))


def test_node_fit_keeps_a_pod_that_fits_nowhere_else() -> None:
    assert goes(plain(400))
    tight = [NODES[0], node("n2", cpu=2300)]
    pods = [placed("p", "n1", 400), placed("other", "n2", 2000)]
    assert evicted(EMPTY_N1, tight, pods) == ["p"]
    assert evicted(EMPTY_N1, tight, pods, evictor=Evictor(node_fit=True)) == []
