"""What stands around pods, read from manifests as the API's reference has them (v1.34)."""

from __future__ import annotations

from typing import Any

import pytest

from gnomon.formats.yaml import parse_yaml
from gnomon.model.errors import InputError
from gnomon.systems.kubernetes.api.constraints import NodeSelectorTerm, Requirement, Taint
from gnomon.systems.kubernetes.api.objects import Condition, PodDisruptionBudget, PriorityClass, Service
from gnomon.systems.kubernetes.api.policies import ScopeRequirement
from gnomon.systems.kubernetes.api.snapshot import Objects
from gnomon.systems.kubernetes.api.storage import CSINode, ResourceClaim
from gnomon.systems.kubernetes.read.files import objects_of

GI = 2**30


def made(api: str, kind: str, rest: str, *, metadata: str = "name: x") -> Objects:
    value: dict[str, Any] = parse_yaml(f"apiVersion: {api}\nkind: {kind}\nmetadata: {{{metadata}}}\n{rest}")[0].value
    return objects_of([value])


def test_a_node() -> None:
    (node,) = made(
        "v1",
        "Node",
        """
spec:
  podCIDR: 10.0.0.0/24
  taints: [{key: a, value: b, effect: NoExecute, timeAdded: '1970-01-01T00:00:01Z'}]
status:
  capacity: {cpu: '8', memory: 32Gi, nvidia.com/gpu: 4, pods: 110}
  allocatable: {cpu: 7900m, memory: 30Gi, nvidia.com/gpu: 4, pods: 110}
  conditions: [{type: Ready, status: 'False', reason: Gone, lastTransitionTime: '1970-01-01T00:00:02.5Z'}]
""",
    ).nodes
    assert node.taints == (Taint("a", "b", "NoExecute", 10**9),)
    assert node.allocatable == {"cpu": 7900, "memory": 30 * GI, "nvidia.com/gpu": 4, "pods": 110}
    assert node.capacity["cpu"] == 8000
    assert node.conditions == (Condition("Ready", "False", "Gone", "", 2_500_000_000),)


def test_a_budget() -> None:
    found = made(
        "policy/v1",
        "PodDisruptionBudget",
        "spec: {minAvailable: 50%, selector: {}}\n"
        "status: {disruptionsAllowed: 2, disruptedPods: {p: '2025-01-01T00:00:00Z'}}",
    ).disruption_budgets[0]
    assert (found.min_available, found.max_unavailable, found.disruptions_allowed) == ("50%", None, 2)
    assert found.disrupted_pods == ("p",)
    bare = made("policy/v1", "PodDisruptionBudget", "spec: {maxUnavailable: 1}").disruption_budgets
    assert bare == (PodDisruptionBudget("x", max_unavailable=1),)


def test_classes_and_services() -> None:
    gold = "value: 1000\nglobalDefault: true\npreemptionPolicy: Never\ndescription: d"
    assert made("scheduling.k8s.io/v1", "PriorityClass", gold).priority_classes == (
        PriorityClass("x", 1000, global_default=True, preemption_policy="Never"),
    )
    assert made("v1", "Service", "spec: {selector: {a: b}, ports: [{port: 80}]}").services == (
        Service("x", selector={"a": "b"}),
    )


def test_a_quota() -> None:
    (quota,) = made(
        "v1",
        "ResourceQuota",
        """
spec:
  hard: {requests.cpu: '4', limits.memory: 8Gi, pods: 10, requests.nvidia.com/gpu: 2}
  scopes: [NotTerminating]
  scopeSelector: {matchExpressions: [{scopeName: PriorityClass, operator: In, values: [gold]}]}
""",
    ).resource_quotas
    assert quota.hard == {"requests.cpu": 4000, "limits.memory": 8 * GI, "pods": 10, "requests.nvidia.com/gpu": 2}
    assert quota.scopes == (ScopeRequirement("NotTerminating"), ScopeRequirement("PriorityClass", "In", ("gold",)))
    assert quota.used is None


def test_a_limit_range() -> None:
    (limits,) = made(
        "v1",
        "LimitRange",
        "spec: {limits: [{type: Container, max: {cpu: 2}, "
        "defaultRequest: {memory: 1Gi}, maxLimitRequestRatio: {memory: 1.5}}]}",
    ).limit_ranges
    (item,) = limits.items
    assert (item.type, item.max, item.default_request) == ("Container", {"cpu": 2000}, {"memory": GI})
    assert item.max_ratio_milli == {"memory": 1500}


def test_volumes_and_claims() -> None:
    (volume,) = made(
        "v1",
        "PersistentVolume",
        """
spec:
  capacity: {storage: 10Gi}
  accessModes: [ReadWriteOnce]
  storageClassName: zonal
  claimRef: {namespace: team, name: data}
  csi: {driver: disk.example.com, volumeHandle: v1}
  nodeAffinity:
    required: {nodeSelectorTerms: [{matchExpressions: [{key: zone, operator: In, values: [a]}]}]}
""",
    ).volumes
    assert (volume.capacity_bytes, volume.claim, volume.kind) == (10 * GI, "team/data", "csi")
    assert (volume.driver, volume.handle) == ("disk.example.com", "v1")
    assert volume.node_required == (NodeSelectorTerm((Requirement("zone", "In", ("a",)),)),)
    spec = "spec: {accessModes: [ReadWriteOncePod], storageClassName: '', resources: {requests: {storage: 5Gi}}}"
    (claim,) = made("v1", "PersistentVolumeClaim", spec).claims
    assert (claim.request_bytes, claim.storage_class, claim.access_modes) == (5 * GI, "", ("ReadWriteOncePod",))


def test_how_volumes_are_made_and_attached() -> None:
    (kind,) = made(
        "storage.k8s.io/v1",
        "StorageClass",
        """
provisioner: disk.example.com
volumeBindingMode: WaitForFirstConsumer
allowedTopologies: [{matchLabelExpressions: [{key: zone, values: [a, b]}]}]
""",
        metadata="name: x, annotations: {storageclass.kubernetes.io/is-default-class: 'true'}",
    ).storage_classes
    assert (kind.provisioner, kind.binding_mode, kind.is_default) == ("disk.example.com", "WaitForFirstConsumer", True)
    assert kind.allowed_topologies == (NodeSelectorTerm((Requirement("zone", "In", ("a", "b")),)),)
    drivers = "spec: {drivers: [{name: d, nodeID: x, allocatable: {count: 25}}, {name: e, nodeID: x}]}"
    assert made("storage.k8s.io/v1", "CSINode", drivers).csi_nodes == (CSINode("x", ("d", "e"), {"d": 25}),)


@pytest.mark.parametrize("request_", ["{name: r, exactly: {deviceClassName: gpu}}", "{name: r, deviceClassName: gpu}"])
def test_claims_of_devices(request_: str) -> None:
    """v1 and v1beta2 say ``exactly``, v1beta1 does not."""
    found = made("resource.k8s.io/v1", "ResourceClaim", f"spec: {{devices: {{requests: [{request_}]}}}}")
    assert found.resource_claims == (ResourceClaim("x", device_classes=("gpu",)),)


@pytest.mark.parametrize(
    ("api", "kind", "rest", "problem"),
    [
        ("v1", "Node", "spec: {taints: [{key: a}]}", "spec.taints[0].effect: this is missing"),
        ("v1", "Node", "status: {capacity: {cpu: four}}", "status.capacity.cpu: not a quantity"),
        ("scheduling.k8s.io/v1", "PriorityClass", "", "value: this is missing"),
        ("policy/v1", "PodDisruptionBudget", "spec: {minAvailable: half}", "spec.minAvailable: a number or"),
        ("v1", "ResourceQuota", "spec: {scopes: [Best]}", "spec.scopes: unknown scope, found 'Best'"),
        ("storage.k8s.io/v1", "StorageClass", "volumeBindingMode: Later", "volumeBindingMode: not one of the values"),
    ],
)
def test_mistakes(api: str, kind: str, rest: str, problem: str) -> None:
    with pytest.raises(InputError) as caught:
        made(api, kind, rest)
    assert f"{kind} x, {problem}" in str(caught.value)
