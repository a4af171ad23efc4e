"""What the API server refuses in pods and templates, in its words (kubernetes, ``validation.go`` of v1.34)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gnomon.model.errors import InputError
from gnomon.systems.kubernetes.read.files import InputListError, objects_of


def container(name: str = "c", **more: Any) -> dict[str, Any]:
    return {"name": name, "image": "a:1", **more}


def pod(*containers: dict[str, Any], **spec: Any) -> dict[str, Any]:
    value = {"containers": list(containers) or [container()], **spec}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": value}


def amounts(requests: dict[str, Any], limits: dict[str, Any] | None = None) -> dict[str, Any]:
    return pod(container(resources={"requests": requests, "limits": limits or {}}))


def ports(*found: dict[str, Any], **spec: Any) -> dict[str, Any]:
    return pod(container(ports=list(found)), **spec)


def spread(**more: Any) -> dict[str, Any]:
    return {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", **more}


def node_affinity(*terms: dict[str, Any]) -> dict[str, Any]:
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": list(terms)}}
    return pod(affinity={"nodeAffinity": required})


def workload(kind: str, labels: dict[str, str] | None = None, pod_spec: Any = None, **spec: Any) -> dict[str, Any]:
    template = {"metadata": {"labels": labels or {"a": "b"}}, "spec": {"containers": [container()], **(pod_spec or {})}}
    whole = {"selector": {"matchLabels": {"a": "b"}}, "template": template, **spec}
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": "w"}, "spec": whole}


def rolling(kind: str, **rolling_update: Any) -> dict[str, Any]:
    key = "strategy" if kind == "Deployment" else "updateStrategy"
    value = workload(kind)
    value["spec"][key] = {"type": "RollingUpdate", "rollingUpdate": rolling_update}
    return value


def budget(**spec: Any) -> dict[str, Any]:
    return {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "B_1"}, "spec": spec}


def node(**spec: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "spec": spec}


def renamed(value: dict[str, Any], **metadata: Any) -> dict[str, Any]:
    return {**value, "metadata": {**value["metadata"], **metadata}}


RESOURCES = "spec.containers[0].resources"
AFFINITY = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
NO_EXECUTE = "effect must be 'NoExecute' when `tolerationSeconds` is set"
WORD = "must consist of lower case alphanumeric characters"

REFUSED = [
    (
        amounts({"cpu": "2"}, {"cpu": "1"}),
        f'{RESOURCES}.requests: Invalid value: "2": must be less than or equal to cpu limit of 1',
    ),
    (
        amounts({"memory": "1Gi"}, {"memory": "512Mi"}),
        f'{RESOURCES}.requests: Invalid value: "1Gi": must be less than or equal to memory limit of 512Mi',
    ),
    (
        amounts({"nvidia.com/gpu": 1}, {"nvidia.com/gpu": 2}),
        f'{RESOURCES}.requests: Invalid value: "1": must be equal to nvidia.com/gpu limit of 2',
    ),
    (
        amounts({"memroy": "1Gi"}),
        f'{RESOURCES}.requests.memroy: Invalid value: "memroy": must be a standard resource for containers',
    ),
    (amounts({"cpu": "-1"}), f"{RESOURCES}.requests.cpu: a quantity below zero"),
    (
        workload("Deployment", pod_spec=amounts({"x.io/a": 1})["spec"]),
        f"spec.template.{RESOURCES}.limits: Required value: Limit must be set for non overcommitable resources",
    ),
    (
        pod(resources={"requests": {"cpu": 2}, "limits": {"cpu": 1}}),
        'spec.resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1',
    ),
    (pod(container(), container()), 'spec.containers[1].name: Duplicate value: "c"'),
    (pod(initContainers=[container()]), 'spec.initContainers[0].name: Duplicate value: "c"'),
    (pod(container("C")), f'spec.containers[0].name: Invalid value: "C": a lowercase RFC 1123 label {WORD}'),
    (ports({}), "spec.containers[0].ports[0].containerPort: this is missing"),
    (
        ports({"containerPort": 70000}),
        "spec.containers[0].ports[0].containerPort: Invalid value: 70000: must be between 1 and 65535, inclusive",
    ),
    (
        ports({"containerPort": 1, "hostPort": 65536}),
        "spec.containers[0].ports[0].hostPort: Invalid value: 65536: must be between 1 and 65535, inclusive",
    ),
    (
        ports({"containerPort": 1, "name": "a"}, {"containerPort": 2, "name": "a"}),
        'spec.containers[0].ports[1].name: Duplicate value: "a"',
    ),
    (
        ports({"containerPort": 1, "hostPort": 9}, {"containerPort": 2, "hostPort": 9}),
        'spec.containers[0].ports[1].hostPort: Duplicate value: "TCP//9"',
    ),
    (
        ports({"containerPort": 1, "hostPort": 9}, hostNetwork=True),
        "spec.containers[0].ports[0].hostPort: Invalid value: 9: must match `containerPort` when `hostNetwork` is true",
    ),
    (
        pod(
            container("a", ports=[{"containerPort": 9}]), container("b", ports=[{"containerPort": 9}]), hostNetwork=True
        ),
        'spec.containers[1].ports[0].hostPort: Duplicate value: "TCP//9"',
    ),
    (node_affinity(), f"{AFFINITY}: Required value: must have at least one node selector term"),
    (
        node_affinity({"matchFields": [{"key": "spec.x", "operator": "In", "values": ["a"]}]}),
        f'{AFFINITY}[0].matchFields[0].key: Invalid value: "spec.x": not a valid field selector key',
    ),
    (
        node_affinity({"matchExpressions": [{"key": "a b", "operator": "Exists"}]}),
        f'{AFFINITY}[0].matchExpressions[0].key: Invalid value: "a b": name part must consist of',
    ),
    (
        pod(nodeSelector={"a": "b c"}),
        'spec.nodeSelector.a: Invalid value: "b c": a valid label must be an empty string',
    ),
    (pod(tolerations=[{"key": "a", "operator": "Is"}]), "spec.tolerations[0].operator: not one of the values"),
    (pod(tolerations=[{"key": "a", "effect": "No"}]), "spec.tolerations[0].effect: not one of the values"),
    (
        pod(tolerations=[{"effect": "NoSchedule"}]),
        'spec.tolerations[0].operator: Invalid value: "": operator must be Exists when `key` is empty, which means '
        '"match all values and all keys"',
    ),
    (
        pod(tolerations=[{"key": "a", "operator": "Exists", "tolerationSeconds": 5}]),
        f'spec.tolerations[0].effect: Invalid value: "": {NO_EXECUTE}',
    ),
    (
        pod(tolerations=[{"key": "a", "operator": "Exists", "value": "x"}]),
        "spec.tolerations[0].operator: Invalid value: \"x\": value must be empty when `operator` is 'Exists'",
    ),
    (
        pod(topologySpreadConstraints=[spread(maxSkew=0)]),
        "spec.topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than zero",
    ),
    (
        pod(topologySpreadConstraints=[{"maxSkew": 1, "topologyKey": "zone"}]),
        "spec.topologySpreadConstraints[0].whenUnsatisfiable: this is missing",
    ),
    (
        pod(topologySpreadConstraints=[spread(), spread(maxSkew=2)]),
        'spec.topologySpreadConstraints[1].topologyKey: Duplicate value: "{zone, DoNotSchedule}"',
    ),
    (
        pod(topologySpreadConstraints=[spread(whenUnsatisfiable="ScheduleAnyway", minDomains=2)]),
        "spec.topologySpreadConstraints[0].minDomains: Invalid value: 2: can only use minDomains if "
        "whenUnsatisfiable=DoNotSchedule, not ScheduleAnyway",
    ),
    (renamed(pod(), name="My_Pod"), 'metadata.name: Invalid value: "My_Pod": a lowercase RFC 1123 subdomain must'),
    (renamed(pod(), namespace="a.b"), 'metadata.namespace: Invalid value: "a.b": must not contain dots'),
    (renamed(pod(), labels={"a/b/c": "d"}), 'metadata.labels.a/b/c: Invalid value: "a/b/c": a qualified name must'),
    (renamed(pod(), labels={"a": "-"}), 'metadata.labels.a: Invalid value: "-": a valid label must be'),
    (budget(minAvailable="150%"), 'spec.minAvailable: Invalid value: "150%": must not be greater than 100%'),
    (budget(maxUnavailable="101%"), 'spec.maxUnavailable: Invalid value: "101%": must not be greater than 100%'),
    (budget(minAvailable="5"), "spec.minAvailable: a number or a percentage is wanted, found '5'"),
    (budget(minAvailable="٣%"), "spec.minAvailable: a number or a percentage is wanted"),
    (
        node(taints=[{"key": "a", "effect": "NoSchedule"}, {"key": "a", "value": "b", "effect": "NoSchedule"}]),
        'spec.taints[1]: Duplicate value: "a=b:NoSchedule": taints must be unique by key and effect pair',
    ),
    (
        {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": "x"},
            "value": 1_000_000_001,
        },
        "value: Forbidden: maximum allowed value of a user defined priority is 1000000000",
    ),
    (workload("Deployment", selector=None), "spec.selector: this is missing"),
    (workload("ReplicaSet", selector=None), "spec.selector: this is missing"),
    (
        workload("StatefulSet", selector={}),
        "spec.selector: Invalid value: {}: empty selector is invalid for statefulset",
    ),
    (
        workload("DaemonSet", labels={"a": "x"}),
        "spec.template.metadata.labels: `selector` does not match template `labels`",
    ),
    (
        workload("Deployment", pod_spec={"restartPolicy": "Never"}),
        'spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"',
    ),
    (
        workload("StatefulSet", pod_spec={"activeDeadlineSeconds": 5}),
        "spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in StatefulSet is not Supported",
    ),
    (
        rolling("Deployment", maxSurge=0, maxUnavailable="0%"),
        'spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "0%": may not be 0 when `maxSurge` is 0',
    ),
    (
        rolling("Deployment", maxUnavailable="110%"),
        'spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "110%": must not be greater than 100%',
    ),
    (
        workload("Deployment", strategy={"type": "Recreate", "rollingUpdate": {"maxSurge": 1}}),
        "spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'",
    ),
    (
        workload("Deployment", progressDeadlineSeconds=30, minReadySeconds=30),
        "spec.progressDeadlineSeconds: Invalid value: 30: must be greater than minReadySeconds",
    ),
    (
        rolling("DaemonSet", maxSurge=1, maxUnavailable=1),
        "spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: 1: may not be set when maxUnavailable is non-zero",
    ),
    (
        rolling("DaemonSet", maxUnavailable=0),
        "spec.updateStrategy.rollingUpdate.maxUnavailable: Required value: cannot be 0 when maxSurge is 0",
    ),
]

TAKEN = [
    amounts({"cpu": "1"}, {"cpu": "1"}),
    amounts({}, {"nvidia.com/gpu": 1}),
    amounts({"nvidia.com/gpu": 1}),  # a LimitRange may give the limit of a bare pod
    amounts({"cpu": "500m", "ephemeral-storage": "1Gi", "hugepages-2Mi": "4Mi"}, {"hugepages-2Mi": "4Mi"}),
    pod(initContainers=[container("i"), container("j", restartPolicy="Always")]),
    ports({"containerPort": 80}, {"containerPort": 80, "protocol": "UDP"}),  # a warning, no error
    ports({"containerPort": 1, "hostPort": 9}, {"containerPort": 2, "hostPort": 9, "protocol": "UDP"}),
    ports({"containerPort": 1, "hostPort": 9, "hostIP": "10.0.0.1"}, {"containerPort": 2, "hostPort": 9}),
    node_affinity({}),  # a term that matches nothing
    node_affinity({"matchExpressions": [{"key": "a", "operator": "Gt", "values": ["x"]}]}),  # found by the scheduler
    node_affinity({"matchExpressions": [{"key": "a", "operator": "In", "values": ["no label!"]}]}),
    pod(tolerations=[{"operator": "Exists"}, {"key": "a", "operator": "Exists", "effect": "NoExecute"}]),
    pod(topologySpreadConstraints=[spread(), spread(whenUnsatisfiable="ScheduleAnyway"), spread(topologyKey="host")]),
    renamed(pod(), name="a.b-c", namespace="x", labels={"example.com/A_b": "", "1": "2"}),
    budget(minAvailable="100%"),
    budget(minAvailable=10**6),
    rolling("Deployment", maxSurge="300%", maxUnavailable=0),
    rolling("DaemonSet", maxSurge="10%", maxUnavailable=0),
    workload("Deployment", replicas=0),
]


@pytest.mark.parametrize(("value", "problem"), REFUSED, ids=[problem[:70] for _, problem in REFUSED])
def test_what_the_api_server_refuses(value: dict[str, Any], problem: str) -> None:
    with pytest.raises(InputError) as caught:
        objects_of([value])
    name = value["metadata"]["name"]
    space = value["metadata"].get("namespace")
    assert str(caught.value).startswith(f"{value['kind']} {f'{space}/' if space else ''}{name}, {problem}")
    assert not isinstance(caught.value, InputListError)


@pytest.mark.parametrize("value", TAKEN, ids=[json.dumps(value["spec"])[:70] for value in TAKEN])
def test_what_a_cluster_can_hold(value: dict[str, Any]) -> None:
    objects_of([value])
