"""Pods whose owners are not among the objects: they are made anew as if these were, and it is said."""

from __future__ import annotations

from typing import Any

from gnomon.model.fault import Failure, Fault
from gnomon.systems.kubernetes.api.revisions import HASH_LABEL
from gnomon.systems.kubernetes.fleets.missing_owners import with_owners
from gnomon.systems.kubernetes.read.files import objects_of
from tests.systems.kubernetes.play import Object, S, node, play, pod, spec, starts, workload


def owned(name: str, kind: str, owner: str, **more: Any) -> Object:
    labels = {"app": "shop", **more.pop("labels", {})}
    found = pod(name, labels=labels, **{"nodeName": "n1", **more})
    found["metadata"]["uid"] = name
    found["metadata"]["ownerReferences"] = [{"apiVersion": "v1", "kind": kind, "name": owner, "controller": True}]
    return found


def lost(*objects: Object) -> list[tuple[float, str]]:
    """What starts after the loss of n1 at 100 s."""
    crash = Failure(Fault.CRASH, 100 * S, targets=("node/n1",))
    run = play([node("n1"), node("n2", cpu="9"), *objects], until_s=1000, faults=[crash])
    return [(when, task) for when, task in starts(run) if when > 0]


def test_a_replica_sets_pod_is_replaced_when_its_node_is_given_up() -> None:
    """As one of a ReplicaSet that is there: 50 s of grace after the last lease, looked at every 5 s, and 300 s."""
    mine = workload("ReplicaSet", "shop", 1, spec())
    there = lost(mine, owned("shop-x", "ReplicaSet", "shop"))
    assert len(there) == 1
    assert lost(owned("shop-x", "ReplicaSet", "shop")) == there


def test_a_stateful_sets_pod_waits_for_its_node() -> None:
    assert lost(owned("db-3", "StatefulSet", "db")) == []
    (one,) = with_owners(
        objects_of([owned("db-3", "StatefulSet", "db"), owned("db-5", "StatefulSet", "db")])
    ).stateful_sets
    assert (one.first_ordinal, one.replicas) == (3, 3)


def test_a_daemon_set_has_no_pods_on_other_nodes() -> None:
    assert starts(play([node("n1"), node("n2"), owned("log-1", "DaemonSet", "log")], until_s=100)) == [(0, "log-1")]


def test_a_bare_pod_and_a_static_one_have_no_owner_that_lacks() -> None:
    found = with_owners(objects_of([pod("bare"), owned("kube-proxy-n1", "Node", "n1")]))
    assert (found.replica_sets, found.notes) == ((), ())


def test_an_owner_that_is_there_is_not_made() -> None:
    mine = workload("ReplicaSet", "shop", 1, spec())
    assert len(with_owners(objects_of([mine, owned("shop-x", "ReplicaSet", "shop")])).replica_sets) == 1


def test_a_deployment_makes_no_pods_beside_those_that_it_has() -> None:
    objects = [
        workload("Deployment", "shop", 2, spec()),
        *(owned(f"shop-abc-{n}", "ReplicaSet", "shop-abc", labels={HASH_LABEL: "abc"}) for n in range(2)),
    ]
    assert starts(play([node("n1"), *objects], until_s=100)) == [(0, "shop-abc-0"), (0, "shop-abc-1")]


def test_what_is_taken_for_granted_is_said() -> None:
    found = with_owners(objects_of([owned("a", "ReplicaSet", "shop"), owned("b", "Workflow", "etl")]))
    assert [(note.what, note.field, note.text) for note in found.notes] == [
        ("guess", "ReplicaSet default/shop", "it is not among the objects: it keeps the pods that it has"),
        ("not modelled", "Workflow default/etl", "it is not among the objects: its pods are not made anew"),
    ]


def test_of_many_the_first_are_named() -> None:
    found = with_owners(objects_of([owned(f"p{n}", "ReplicaSet", f"r{n}") for n in range(9)]))
    assert [note.field for note in found.notes][4:] == ["ReplicaSet default/r4", "4 more owners"]
