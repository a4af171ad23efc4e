"""Which events bring a refused pod back (sheet §3)."""

from dataclasses import replace

import pytest

from gnomon.systems.kubernetes.api.constraints import (
    HOSTNAME,
    ZONE,
    Affinity,
    PodAffinityTerm,
    Taint,
    Toleration,
    TopologySpreadConstraint,
)
from gnomon.systems.kubernetes.api.objects import Container, ContainerPort, Pod
from gnomon.systems.kubernetes.scheduler.hints import Event, NodeChanged, PodChanged, StorageChanged, helped, may_help
from tests.systems.kubernetes.build import app, node, pod

NODE = node("n", labels={ZONE: "a", HOSTNAME: "n"})
FIT = "NodeResourcesFit"
BIG = pod("big", {"cpu": 3000})
PORT = pod("port", containers=(Container("c", ports=(ContainerPort(80, 80),)),))
SPREAD = pod("s", topology_spread_constraints=(TopologySpreadConstraint(1, ZONE, label_selector=app("web")),))
NEAR = pod("near", affinity=Affinity(pod_required=(PodAffinityTerm(ZONE, app("web")),)))
FAR = pod("far", affinity=Affinity(anti_required=(PodAffinityTerm(ZONE, app("web")),)))
WEB, DB = pod("w", labels={"app": "web"}), pod("d", labels={"app": "db"})


def gone(one: Pod) -> Event:
    return PodChanged(one, None)


@pytest.mark.parametrize(
    ("event", "refused", "by", "expected"),
    [
        (NodeChanged(None, NODE), BIG, FIT, True),
        (NodeChanged(None, node("n", cpu=2999)), BIG, FIT, False),
        (NodeChanged(node("n", cpu=2000), NODE), BIG, FIT, True),
        (NodeChanged(node("n", memory=1), NODE), BIG, FIT, False),  # not what it asks for
        (NodeChanged(NODE, None), BIG, FIT, False),
        (gone(WEB), BIG, FIT, True),
        (PodChanged(None, WEB), BIG, FIT, False),
        (PodChanged(pod("x", {"cpu": 900}), pod("x", {"cpu": 100})), BIG, FIT, True),
        (PodChanged(pod("x", {"memory": 900}), pod("x", {"memory": 100})), BIG, FIT, False),
        (NodeChanged(replace(NODE, taints=(Taint("t"),)), NODE), BIG, "TaintToleration", True),
        (NodeChanged(NODE, replace(NODE, taints=(Taint("t"),))), BIG, "TaintToleration", False),
        (NodeChanged(None, replace(NODE, taints=(Taint("t"),))), BIG, "TaintToleration", False),
        (NodeChanged(replace(NODE, unschedulable=True), NODE), BIG, "NodeUnschedulable", True),
        (NodeChanged(NODE, NODE), BIG, "NodeUnschedulable", False),
        (NodeChanged(node("n"), NODE), pod("x", node_selector={ZONE: "a"}), "NodeAffinity", True),
        (NodeChanged(NODE, NODE), pod("x", node_selector={ZONE: "a"}), "NodeAffinity", False),
        (gone(PORT), PORT, "NodePorts", True),
        (gone(WEB), PORT, "NodePorts", False),
        (NodeChanged(None, NODE), PORT, "NodePorts", True),
        (gone(WEB), SPREAD, "PodTopologySpread", True),
        (gone(DB), SPREAD, "PodTopologySpread", False),
        (PodChanged(WEB, WEB), SPREAD, "PodTopologySpread", False),
        (NodeChanged(None, node("bare")), SPREAD, "PodTopologySpread", False),
        (PodChanged(None, WEB), NEAR, "InterPodAffinity", True),
        (gone(WEB), NEAR, "InterPodAffinity", False),
        (gone(WEB), FAR, "InterPodAffinity", True),
        (gone(FAR), WEB, "InterPodAffinity", True),
        (gone(DB), FAR, "InterPodAffinity", False),
        (NodeChanged(node("n"), NODE), NEAR, "InterPodAffinity", True),
        (StorageChanged(), BIG, "VolumeBinding", True),
        (StorageChanged(), BIG, FIT, False),
        (gone(WEB), BIG, "NoSuchPlugin", False),
    ],
)
def test_events(event: Event, refused: Pod, by: str, expected: bool) -> None:
    assert may_help(event, refused, [by]) is expected


def test_a_cordon_that_is_tolerated_is_none() -> None:
    tolerant = pod("t", tolerations=(Toleration("node.kubernetes.io/unschedulable", "Exists"),))
    assert may_help(NodeChanged(None, replace(NODE, unschedulable=True)), tolerant, ["NodeUnschedulable"])


def test_any_of_the_plugins_that_refused_will_do_and_only_those_pods_come_back() -> None:
    waiting = [(BIG, [FIT]), (PORT, ["NodePorts"]), (FAR, ["InterPodAffinity", FIT])]
    assert helped(gone(WEB), waiting) == ["default/big", "default/far"]
