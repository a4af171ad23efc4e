"""Claims, budgets and quotas by the names that kubectl has for them."""

from __future__ import annotations

import pytest

from gnomon.api import explain
from gnomon.insight.explain import Explanation
from gnomon.model.errors import InputError
from gnomon.systems.kubernetes.read.files import objects_of
from gnomon.systems.kubernetes.scenario import scenario_of
from tests.systems.kubernetes.play import Object, node, pod, spec, workload


def told(subject: str, *objects: Object) -> Explanation:
    return explain(subject, scenario_of(objects_of([node("n1"), *objects])))


def user(name: str) -> Object:
    volumes = [{"name": "d", "persistentVolumeClaim": {"claimName": "data"}}]
    return pod(name, labels={"app": "db"}, nodeName="n1", volumes=volumes)


CLAIM: Object = {
    "apiVersion": "v1",
    "kind": "PersistentVolumeClaim",
    "metadata": {"name": "data", "namespace": "default"},
    "spec": {"accessModes": ["ReadWriteOnce"], "volumeName": "pv-1", "resources": {"requests": {"storage": "1Gi"}}},
}
BUDGET: Object = {
    "apiVersion": "policy/v1",
    "kind": "PodDisruptionBudget",
    "metadata": {"name": "db", "namespace": "default"},
    "spec": {"minAvailable": 2, "selector": {"matchLabels": {"app": "db"}}},
    "status": {"disruptionsAllowed": 0},
}
QUOTA: Object = {
    "apiVersion": "v1",
    "kind": "ResourceQuota",
    "metadata": {"name": "q", "namespace": "default"},
    "spec": {"hard": {"pods": "2", "requests.cpu": "4"}},
}


@pytest.mark.parametrize("subject", ["pvc/data", "persistentvolumeclaim/data", "pvc/default/data"])
def test_a_claim_and_who_uses_it(subject: str) -> None:
    found = told(subject, CLAIM, user("db-0"))
    assert (found.subject, found.state) == ("persistentvolumeclaim/default/data", "bound")
    assert found.summary == "default/data is bound to pv-1, used by db-0"


def test_a_budget_and_whom_it_selects() -> None:
    found = told("poddisruptionbudget.policy/db", BUDGET, CLAIM, user("db-0"), user("db-1"))
    assert found.state == "closed"
    assert found.summary == (
        "default/db has minAvailable 2 and selects 2 pods (db-0 and db-1), 2 of them on nodes; "
        "its status allows 0 disruptions now"
    )


def test_a_quota_and_what_is_used_of_it() -> None:
    pods = [pod(name, requests={"cpu": "1"}, nodeName="n1") for name in "ab"]
    found = told("resourcequota/q", QUOTA, *pods)
    assert (found.state, found.summary) == ("full", "default/q: 2 of 2 pods and 2 of 4 requests.cpu")


def test_one_that_is_not_there() -> None:
    with pytest.raises(InputError, match="no resourcequota has this name"):
        told("quota/x", QUOTA)


def test_workloads_without_pods() -> None:
    idle = workload("Deployment", "web", 0, spec())
    nightly = {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": {"name": "nightly", "namespace": "default"},
        "spec": {"schedule": "0 3 * * *", "jobTemplate": {"spec": {"template": {"spec": spec(restartPolicy="Never")}}}},
    }
    assert told("deployment.apps/web", idle).summary == "default/web: it wants 0 replicas, and no pod of it is there"
    assert told("cj/nightly", nightly).summary == (
        "default/nightly: it makes a Job by '0 3 * * *', and no pod of one is there"
    )


def test_of_a_workload_that_has_pods_these_are_told() -> None:
    assert told("deployment/web", workload("Deployment", "web", 1, spec())).state == "would be created and scheduled"
