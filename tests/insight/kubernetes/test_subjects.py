"""Pods, workloads and nodes by the names that kubectl takes."""

from __future__ import annotations

import pytest

from gnomon.insight.kubernetes.subjects import find_subject, node_named
from gnomon.model.errors import InputError
from gnomon.systems.kubernetes.api.objects import Node, Owner, Pod
from gnomon.systems.kubernetes.api.snapshot import Objects
from gnomon.systems.kubernetes.api.workloads import CronJob

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
        ("deployment.apps/web", "deployment/shop/web", "shop/web-7d9-b"),
        ("Deployment/web", "deployment/shop/web", "shop/web-7d9-b"),
        ("statefulsets/blog/db", "statefulset/blog/db", "blog/db-0"),
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
    assert (node_named("node/n1", OBJECTS), node_named("n", OBJECTS)) == ("n1", None)
    with pytest.raises(InputError, match="no node has this name"):
        node_named("node/x", OBJECTS)


class TestExactNames:
    """An exact name goes before a part of one, whatever kind it is of."""

    PODS = (Pod("agent-n1", "kube-system", node_name="n1", uid="5"), Pod("n2", "shop", uid="6"))

    def test_a_node_goes_before_pods_that_have_its_name_in_theirs(self) -> None:
        assert node_named("n1", Objects(nodes=OBJECTS.nodes, pods=self.PODS)) == "n1"

    def test_a_pod_of_just_that_name_goes_before_the_node(self) -> None:
        objects = Objects(nodes=OBJECTS.nodes, pods=self.PODS)
        assert node_named("n2", objects) is None
        assert find_subject("n2", objects, self.PODS).name == "pod/shop/n2"


def test_the_pods_of_a_cron_job_are_those_of_its_jobs() -> None:
    pods = (Pod("nightly-280-x", "shop", owner=Owner("Job", "nightly-280"), uid="7"),)
    objects = Objects(nodes=OBJECTS.nodes, pods=pods, cron_jobs=(CronJob("nightly", "shop"),))
    for text in ("cronjob/nightly", "cronjob.batch/nightly", "cj/shop/nightly"):
        found = find_subject(text, objects, pods)
        assert (found.name, found.pods) == ("cronjob/shop/nightly", pods)
