"""Quotas: what counts, whom they hold, and their refusals letter for letter (sheet on Kubernetes, section 5)."""

from __future__ import annotations

import pytest

from gnomon.systems.kubernetes.api.constraints import Affinity, PodAffinityTerm
from gnomon.systems.kubernetes.api.objects import Container, Pod, PodSpec
from gnomon.systems.kubernetes.api.policies import ResourceQuota, ScopeRequirement
from gnomon.systems.kubernetes.apiserver.quotas import applies, pod_usage, quota_rejection, used

GPU = "nvidia.com/gpu"


def pod(requests: dict[str, int], limits: dict[str, int] | None = None, **spec: object) -> Pod:
    containers = (Container("c1", requests=requests, limits=limits or {}),)
    return Pod("p", spec=PodSpec(containers, **spec))  # type: ignore[arg-type]


def test_what_a_pod_counts_with() -> None:
    assert pod_usage(pod({"cpu": 500, "memory": 8, GPU: 1}, {"memory": 9, GPU: 1})) == {
        "count/pods": 1,
        "pods": 1,
        "cpu": 500,
        "requests.cpu": 500,
        "memory": 8,
        "requests.memory": 8,
        "limits.memory": 9,
        f"requests.{GPU}": 1,
    }


def test_a_pod_that_has_ended_is_an_object_only() -> None:
    assert pod_usage(Pod("p", phase="Succeeded")) == {"count/pods": 1}


def test_more_than_the_quota() -> None:
    quota = ResourceQuota("q", hard={"requests.cpu": 2000, "pods": 5}, used={"requests.cpu": 1800, "pods": 1})
    assert quota_rejection(pod({"cpu": 500}), [quota]) == (
        'pods "p" is forbidden: exceeded quota: q, requested: requests.cpu=500m, used: requests.cpu=1800m, '
        "limited: requests.cpu=2"
    )
    assert quota_rejection(pod({"cpu": 200}), [quota]) is None
    assert quota_rejection(pod({"cpu": 500}), [quota], {"q": {"requests.cpu": 0}}) is None


def test_all_that_is_exceeded_is_listed_by_name() -> None:
    quota = ResourceQuota("q", hard={"requests.memory": 2**30, "pods": 0, "limits.cpu": 9000}, used={})
    found = quota_rejection(pod({"memory": 2**31}, {"cpu": 1000}), [quota])
    assert found is not None
    assert found.endswith("requested: pods=1,requests.memory=2Gi, used: pods=0,requests.memory=0, "
                          "limited: pods=0,requests.memory=1Gi")  # fmt: skip


def test_what_a_quota_limits_must_be_said() -> None:
    quota = ResourceQuota("q", hard={"limits.cpu": 1, "requests.memory": 1, "requests.nvidia.com/gpu": 1})
    assert quota_rejection(pod({"cpu": 500}), [quota]) == (
        'pods "p" is forbidden: failed quota: q: must specify limits.cpu for: c1; requests.memory for: c1'
    )
    level = Pod("p", spec=PodSpec((Container("c"),), requests={"memory": 1}, limits={"cpu": 1}))
    assert quota_rejection(level, [quota]) is None


BURSTABLE, NOTHING = {"cpu": 1}, dict[str, int]()
ELSEWHERE = Affinity(pod_required=(PodAffinityTerm("zone", namespaces=("other",)),))


@pytest.mark.parametrize(
    ("scope", "given", "held"),
    [
        (ScopeRequirement("BestEffort"), pod(NOTHING), True),
        (ScopeRequirement("BestEffort"), pod(BURSTABLE), False),
        (ScopeRequirement("NotBestEffort"), pod(BURSTABLE), True),
        (ScopeRequirement("Terminating"), pod(BURSTABLE, active_deadline_s=5), True),
        (ScopeRequirement("Terminating"), pod(BURSTABLE), False),
        (ScopeRequirement("NotTerminating"), pod(BURSTABLE), True),
        (ScopeRequirement("PriorityClass"), pod(BURSTABLE), False),
        (ScopeRequirement("PriorityClass", "In", ("gold",)), pod(BURSTABLE, priority_class="gold"), True),
        (ScopeRequirement("PriorityClass", "NotIn", ("gold",)), pod(BURSTABLE, priority_class="gold"), False),
        (ScopeRequirement("PriorityClass", "DoesNotExist"), pod(BURSTABLE), True),
        (ScopeRequirement("CrossNamespacePodAffinity"), pod(BURSTABLE, affinity=ELSEWHERE), True),
        (ScopeRequirement("CrossNamespacePodAffinity"), pod(BURSTABLE), False),
    ],
)
def test_scopes(scope: ScopeRequirement, given: Pod, held: bool) -> None:
    assert applies(ResourceQuota("q", scopes=(scope,)), given) is held


def test_a_quota_holds_its_namespace_only() -> None:
    assert not applies(ResourceQuota("q", "other"), pod(BURSTABLE))


def test_what_pods_use() -> None:
    quota = ResourceQuota("q", hard={"requests.cpu": 9, "pods": 9, "services": 3})
    assert used(quota, [pod({"cpu": 2}), pod({"cpu": 3}), Pod("x", "other")]) == {"requests.cpu": 5, "pods": 2}
