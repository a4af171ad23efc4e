"""The plugins about storage: claims with and without volumes, zones, attach limits, exclusive disks (sheet §4.3)."""

from typing import Any

import pytest

from gnomon.systems.kubernetes.api.constraints import ZONE, NodeSelectorTerm, Requirement
from gnomon.systems.kubernetes.api.objects import Node, Pod, Volume
from gnomon.systems.kubernetes.api.storage import PersistentVolume, PersistentVolumeClaim, StorageClass
from gnomon.systems.kubernetes.scheduler.cycle import Scheduler
from gnomon.systems.kubernetes.scheduler.plugins.volume_restrictions import IN_USE
from gnomon.systems.kubernetes.scheduler.state import Surroundings
from tests.systems.kubernetes.build import GIB, node, pod, refusals, scheduler

UNRESOLVABLE = "UnschedulableAndUnresolvable"
LOCAL = StorageClass("local", "kubernetes.io/no-provisioner", "WaitForFirstConsumer")
CLOUD = StorageClass("cloud", "disk.csi.example.com", "WaitForFirstConsumer")


def zoned(*zones: str) -> list[Node]:
    return [node(f"n{i}", labels={ZONE: zone}) for i, zone in enumerate(zones)]


def in_zone(*zones: str) -> tuple[NodeSelectorTerm, ...]:
    return (NodeSelectorTerm((Requirement(ZONE, "In", zones),)),)


def volume(name: str, *, gib: int = 10, zone: str = "", **more: Any) -> PersistentVolume:
    where = in_zone(zone) if zone else None
    return PersistentVolume(
        name, capacity_bytes=gib * GIB, access_modes=("ReadWriteOnce",), node_required=where, **more
    )


def claim(
    name: str, *, gib: int = 1, modes: tuple[str, ...] = ("ReadWriteOnce",), **more: Any
) -> PersistentVolumeClaim:
    return PersistentVolumeClaim(name, request_bytes=gib * GIB, access_modes=modes, **more)


def using(name: str, *claims: str) -> Pod:
    return pod(name, volumes=tuple(Volume(one, "persistentVolumeClaim", one) for one in claims))


def cluster(nodes: list[Node], **around: Any) -> Scheduler:
    return scheduler(nodes, Surroundings(**around))


def place(asked: Scheduler, one: Pod) -> str:
    attempt = asked.attempt(one)
    asked.assume(attempt)
    return asked.state.names[attempt.chosen]


@pytest.mark.parametrize(
    ("claims", "text"),
    [
        ((), 'persistentvolumeclaim "data" not found'),
        ((claim("data", storage_class=""),), "pod has unbound immediate PersistentVolumeClaims"),
        ((claim("data", volume="v", deletion_ns=1),), 'persistentvolumeclaim "data" is being deleted'),
        (
            (claim("data", volume="v", phase="Lost"),),
            'persistentvolumeclaim "data" bound to non-existent persistentvolume "v"',
        ),
    ],
)
def test_claims_that_end_the_cycle_before_any_filter(claims: tuple[PersistentVolumeClaim, ...], text: str) -> None:
    attempt = cluster(zoned("a", "b"), claims=claims).attempt(using("p", "data"))
    assert attempt.message == f"0/2 nodes are available: {text}. not found"


def test_a_bound_volume_is_where_it_is() -> None:
    asked = cluster(zoned("a", "b"), claims=(claim("data", volume="v"),), volumes=(volume("v", zone="b"),))
    text = "node(s) didn't match PersistentVolume's node affinity"
    assert refusals(asked, using("p", "data")) == {"n0": ("VolumeBinding", UNRESOLVABLE, [text])}


def test_a_volume_that_is_gone() -> None:
    asked = cluster(zoned("a"), claims=(claim("data", volume="v"),))
    text = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"
    assert refusals(asked, using("p", "data"))["n0"] == ("VolumeBinding", UNRESOLVABLE, [text])


def test_the_smallest_volume_that_is_large_enough_and_near_is_taken_once() -> None:
    volumes = tuple(
        volume(name, gib=gib, zone=zone, storage_class="local")
        for name, gib, zone in [("s", 1, "b"), ("m", 5, "a"), ("l", 9, "a")]
    )
    claims = (
        claim("one", gib=2, storage_class="local"),
        claim("two", gib=2, storage_class="local"),
        claim("three", storage_class="local"),
    )
    asked = cluster(zoned("a", "b"), claims=claims, volumes=volumes, storage_classes=(LOCAL,))
    assert place(asked, using("p", "one")) == "n0"
    assert asked.state.volumes.bound == {"default/one": "m"}
    assert place(asked, using("q", "two")) == "n0"
    assert place(asked, using("r", "three")) == "n1"
    assert asked.state.volumes.bound["default/three"] == "s"


def test_two_claims_of_one_pod_need_two_volumes_on_one_node() -> None:
    volumes = tuple(
        volume(name, zone=zone, storage_class="local") for name, zone in [("x", "a"), ("y", "b"), ("z", "b")]
    )
    claims = tuple(claim(name, storage_class="local") for name in ("one", "two"))
    asked = cluster(zoned("a", "b"), claims=claims, volumes=volumes, storage_classes=(LOCAL,))
    text = "node(s) didn't find available persistent volumes to bind"
    assert refusals(asked, using("p", "one", "two")) == {"n0": ("VolumeBinding", UNRESOLVABLE, [text])}


def test_volumes_that_do_not_suit_are_left() -> None:
    unfit = (
        volume("small", gib=1, storage_class="local"),
        volume("other", storage_class="cloud"),
        volume("block", storage_class="local", volume_mode="Block"),
        volume("kept", storage_class="local", claim="default/else"),
        volume("used", storage_class="local", phase="Released"),
    )
    wanted = claim("data", gib=2, storage_class="local")
    asked = cluster(zoned("a"), claims=(wanted,), volumes=unfit, storage_classes=(LOCAL,))
    assert list(refusals(asked, using("p", "data"))) == ["n0"]


def test_a_class_makes_volumes_where_it_may_and_there_they_stay() -> None:
    limited = StorageClass(
        "cloud", "disk.csi.example.com", "WaitForFirstConsumer", allowed_topologies=in_zone("b", "c")
    )
    asked = cluster(zoned("a", "b", "c"), claims=(claim("data", storage_class="cloud"),), storage_classes=(limited,))
    assert place(asked, using("p", "data")) == "n1"
    asked.state.remove("default/p")
    assert list(refusals(asked, using("p", "data"))) == ["n0", "n2"]


def test_zone_labels_of_a_volume_bind_nodes_that_have_such_labels() -> None:
    asked = cluster(
        [*zoned("a", "b"), node("bare")],
        claims=(claim("data", volume="v"),),
        volumes=(volume("v", labels={ZONE: "b__c"}),),
    )
    assert refusals(asked, using("p", "data")) == {
        "n0": ("VolumeZone", UNRESOLVABLE, ["node(s) had no available volume zone"])
    }


def test_attach_limits_count_volumes_not_pods() -> None:
    claims = tuple(claim(name, volume=f"v-{name}") for name in "abc")
    volumes = tuple(volume(f"v-{name}", driver="disk.csi.example.com") for name in "abc")
    asked = cluster(zoned("z"), claims=claims, volumes=volumes, csi_limits={"n0": {"disk.csi.example.com": 2}})
    place(asked, using("p", "a"))
    place(asked, using("q", "a", "b"))
    assert refusals(asked, using("r", "b")) == {}
    assert refusals(asked, using("s", "c")) == {
        "n0": ("NodeVolumeLimits", "Unschedulable", ["node(s) exceed max volume count"])
    }


def test_a_claim_of_one_pod_is_in_use_everywhere() -> None:
    asked = cluster(
        zoned("a", "b"), claims=(claim("data", volume="v", modes=("ReadWriteOncePod",)),), volumes=(volume("v"),)
    )
    place(asked, using("p", "data"))
    text = IN_USE
    assert refusals(asked, using("q", "data")) == {
        name: ("VolumeRestrictions", "Unschedulable", [text]) for name in ("n0", "n1")
    }
    asked.state.remove("default/p")
    assert refusals(asked, using("q", "data")) == {}


@pytest.mark.parametrize(
    ("kind", "there", "new", "refused"),
    [
        ("gcePersistentDisk", True, True, False),
        ("gcePersistentDisk", True, False, True),
        ("gcePersistentDisk", False, True, True),
        ("awsElasticBlockStore", True, True, True),
        ("nfs", False, False, False),
    ],
)
def test_disks_that_a_pod_has_to_itself(kind: str, there: bool, new: bool, refused: bool) -> None:
    asked = cluster(zoned("a"))
    place(asked, pod("p", volumes=(Volume("d", kind, "disk-1", there),)))
    found = refusals(asked, pod("q", volumes=(Volume("d", kind, "disk-1", new),)))
    assert [one[2] for one in found.values()] == ([["node(s) had no available disk"]] if refused else [])
