"""Pods, workloads and nodes by the names that kubectl takes."""

from __future__ import annotations

import pytest

from gnomon.insight.kubernetes.subjects import find_subject, node_named
from gnomon.model.errors import InputError
from gnomon.systems.kubernetes.objects import Node, Owner, Pod
from gnomon.systems.kubernetes.snapshot import Objects

HASH = {"pod-template-hash": "7d9"}
PODS = (
    Pod("web-7d9-a", "shop", HASH, owner=Owner("ReplicaSet", "web-7d9"), node_name="n1", uid="1"),
    Pod("web-7d9-b", "shop", HASH, owner=Owner("ReplicaSet", "web-7d9"), uid="2"),
    Pod("db-0", "shop", owner=Owner("StatefulSet", "db"), uid="3"),
    Pod("db-0", "blog", owner=Owner("StatefulSet", "db"), uid="4"),
)
OBJECTS = Objects(nodes=(Node("n1"), Node("n2")), pods=PODS)


@pytest.mark.parametrize(
    ("text", "name", "first"),
    [
        ("web-7d9-a", "pod/shop/web-7d9-a", "shop/web-7d9-a"),
        ("shop/db-0", "pod/shop/db-0", "shop/db-0"),
        ("pod/blog/db-0", "pod/blog/db-0", "blog/db-0"),
        ("po/web-7d9-b", "pod/shop/web-7d9-b", "shop/web-7d9-b"),
        ("deployment/web", "deployment/shop/web", "shop/web-7d9-b"),
        ("deploy/shop/web", "deployment/shop/web", "shop/web-7d9-b"),
        ("rs/web-7d9", "replicaset/shop/web-7d9", "shop/web-7d9-b"),
        ("sts/blog/db", "statefulset/blog/db", "blog/db-0"),
        ("9-b", "pod/shop/web-7d9-b", "shop/web-7d9-b"),
        ("web", "deployment/shop/web", "shop/web-7d9-b"),
    ],
)
def test_a_name_means(text: str, name: str, first: str) -> None:
    found = find_subject(text, OBJECTS, PODS)
    assert (found.name, found.pods[0].key) == (name, first)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("db-0", "2 pods have this in their name"),
        ("deployment/wep", "no deployment has this name"),
        ("wbe-7d9-a", "did you mean"),
        ("sts/db", "2 statefulsets have this in their name"),
        (" ", "no subject is given"),
    ],
)
def test_a_name_that_means_none_or_several_is_an_error(text: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        find_subject(text, OBJECTS, PODS)


def test_nodes() -> None:
    assert (node_named("node/n1", OBJECTS), node_named("n1", OBJECTS)) == ("n1", None)
    with pytest.raises(InputError, match="no node has this name"):
        node_named("node/x", OBJECTS)
