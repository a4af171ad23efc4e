"""Admission, as the sheet on Kubernetes has it (sections 1 and 5)."""

from __future__ import annotations

import pytest

from gnomon.model.work import Note
from gnomon.systems.kubernetes.api.constraints import (
    Affinity,
    LabelSelector,
    PodAffinityTerm,
    Requirement,
    TopologySpreadConstraint,
    WeightedPodAffinityTerm,
)
from gnomon.systems.kubernetes.api.objects import Container, ContainerPort, Namespace, Node, Pod, PodSpec, PriorityClass
from gnomon.systems.kubernetes.api.requests import pod_requests
from gnomon.systems.kubernetes.api.snapshot import Objects, Rejection
from gnomon.systems.kubernetes.apiserver.admission import (
    AdmissionError,
    as_created,
    defaulted,
    invalid,
    with_priority,
)

GPU = "nvidia.com/gpu"


def one(requests: dict[str, int], limits: dict[str, int]) -> PodSpec:
    return PodSpec((Container("c", requests=requests, limits=limits),))


def test_a_missing_request_is_the_limit() -> None:
    spec = PodSpec(
        (Container("c", requests={"cpu": 1}, limits={"cpu": 2, "memory": 3}),), (Container("i", limits={GPU: 1}),)
    )
    made = defaulted(spec)
    assert made.containers[0].requests == {"cpu": 1, "memory": 3}
    assert made.init_containers[0].requests == {GPU: 1}
    assert defaulted(made) is made


def test_ports_of_the_host_network_are_host_ports() -> None:
    ports = (ContainerPort(80), ContainerPort(90, 91))
    on_host = defaulted(PodSpec((Container("c", ports=ports),), host_network=True))
    assert [port.host_port for port in on_host.containers[0].ports] == [80, 91]
    apart = defaulted(PodSpec((Container("c", ports=ports),)))
    assert [port.host_port for port in apart.containers[0].ports] == [0, 91]


def test_requests_of_the_pod_level() -> None:
    """What is not said is what the containers ask for, else the limit of the pod."""
    spec = PodSpec((Container("c", requests={"cpu": 100}),), limits={"cpu": 500, "memory": 64})
    assert defaulted(spec).requests == {"cpu": 100, "memory": 64}
    assert pod_requests(defaulted(spec)) == {"cpu": 100, "memory": 64}


CLASSES = {
    "gold": PriorityClass("gold", 1000, preemption_policy="Never"),
    "base": PriorityClass("base", 7, global_default=True),
    "other": PriorityClass("other", 9, global_default=True),
}


@pytest.mark.parametrize(
    ("spec", "classes", "name", "priority", "policy"),
    [
        (PodSpec(), {}, "", 0, "PreemptLowerPriority"),
        (PodSpec(), CLASSES, "base", 7, "PreemptLowerPriority"),
        (PodSpec(priority_class="gold"), CLASSES, "gold", 1000, "Never"),
        (PodSpec(priority_class="system-cluster-critical"), {}, "system-cluster-critical", 2 * 10**9, None),
        (PodSpec(priority_class="system-node-critical"), {}, "system-node-critical", 2 * 10**9 + 1000, None),
        (PodSpec(priority=5, priority_class="gone"), {}, "gone", 5, "PreemptLowerPriority"),
        (PodSpec(priority=5), CLASSES, "", 5, "PreemptLowerPriority"),
        (PodSpec(priority_class="other", preemption_policy="Never"), CLASSES, "other", 9, "Never"),
    ],
)
def test_priorities(
    spec: PodSpec, classes: dict[str, PriorityClass], name: str, priority: int, policy: str | None
) -> None:
    made = with_priority(spec, classes)
    assert (made.priority_class, made.priority) == (name, priority)
    assert made.preemption_policy == (policy or "PreemptLowerPriority")


def test_an_unknown_class_is_refused() -> None:
    with pytest.raises(AdmissionError, match=r"^no PriorityClass with name gold was found$"):
        with_priority(PodSpec(priority_class="gold"), {})
    made = as_created(Objects(pods=(Pod("p", spec=PodSpec(priority_class="gold")), Pod("q"))))
    assert made.rejections == (
        Rejection("default/p", 'pods "p" is forbidden: no PriorityClass with name gold was found'),
    )
    assert [pod.name for pod in made.pods] == ["p", "q"]


def test_of_pods_that_are_there_the_priority_was_resolved_by_their_class() -> None:
    """The class need not be among the files: what the API server made of it counts (plugin ``priority``)."""
    resolved = Pod("a", uid="1", spec=PodSpec(priority_class="gold", priority=7))
    cut_down = PodSpec(priority_class="gold")
    made = as_created(
        Objects(pods=(resolved, Pod("b", node_name="n", spec=cut_down), Pod("c", uid="2", spec=cut_down)))
    )
    assert made.rejections == ()
    assert [pod.priority for pod in made.pods] == [7, 0, 0]
    text = "the PriorityClass gold is not among the objects: pods that do not say their priority have 0"
    assert Note("guess", "Pod spec.priority", text, 2) in made.notes


def test_label_keys_are_merged_into_selectors() -> None:
    app = LabelSelector((Requirement("app", "In", ("x",)),))
    term = PodAffinityTerm("zone", app, match_label_keys=("hash",), mismatch_label_keys=("tenant", "absent"))
    spec = PodSpec(
        affinity=Affinity(pod_required=(term,), anti_preferred=(WeightedPodAffinityTerm(5, term),)),
        topology_spread_constraints=(
            TopologySpreadConstraint(1, "zone", label_selector=app, match_label_keys=("hash",)),
        ),
    )
    labels = {"hash": "7f", "tenant": "t"}
    made = as_created(
        Objects(pods=(Pod("a", labels=labels, spec=spec), Pod("b", labels={**labels, "hash": "8"}, spec=spec)))
    )
    mine = (Requirement("hash", "In", ("7f",)), Requirement("tenant", "NotIn", ("t",)))
    first, second = (pod.spec for pod in made.pods)
    for merged in (first.affinity.pod_required[0], first.affinity.anti_preferred[0].term):
        assert merged.label_selector == LabelSelector(app.requirements + mine)
    assert first.topology_spread_constraints[0].label_selector == LabelSelector(app.requirements + mine[:1])
    assert second.topology_spread_constraints[0].label_selector == LabelSelector(
        (*app.requirements, Requirement("hash", "In", ("8",)))
    )


def test_pods_that_shared_a_spec_still_do() -> None:
    spec = one({}, {"cpu": 1})
    made = as_created(Objects(pods=tuple(Pod(f"p{i}", spec=spec) for i in range(3))))
    assert len({id(pod.spec) for pod in made.pods}) == 1
    assert as_created(made).pods == made.pods


def test_namespaces_are_made_and_labelled() -> None:
    given = Objects(namespaces=(Namespace("team", {"a": "b"}),), pods=(Pod("p", "lab"), Pod("q", "team"), Pod("r")))
    made = as_created(given)
    assert {one.name: one.labels for one in made.namespaces} == {
        "team": {"a": "b", "kubernetes.io/metadata.name": "team"},
        "lab": {"kubernetes.io/metadata.name": "lab"},
        "default": {"kubernetes.io/metadata.name": "default"},
    }
    assert made.notes == (Note("default", "Namespace", "namespaces that are not among the objects are made: lab", 1),)
    assert as_created(made) == made


@pytest.mark.parametrize(
    ("spec", "texts"),
    [
        (one({"cpu": 500}, {}), []),
        (one({"cpu": 500}, {"cpu": 500}), []),
        (
            one({"memory": 2**31}, {"memory": 2**30}),
            ['requests: Invalid value: "2Gi": must be less than or equal to memory limit of 1Gi'],
        ),
        (one({GPU: 1}, {}), ["limits: Required value: Limit must be set for non overcommitable resources"]),
        (one({GPU: 1}, {GPU: 2}), [f'requests: Invalid value: "1": must be equal to {GPU} limit of 2']),
        (one({GPU: 2}, {GPU: 2}), []),
        (
            one({"hugepages-2Mi": 2**21}, {}),
            ["limits: Required value: Limit must be set for non overcommitable resources"],
        ),
    ],
)
def test_validation_of_resources(spec: PodSpec, texts: list[str]) -> None:
    assert list(invalid(spec)) == [f"spec.containers[0].resources.{text}" for text in texts]


def test_nothing_is_lost_on_the_way() -> None:
    made = as_created(Objects(nodes=(Node("n"),), pods=(Pod("p", node_name="n", order=3),)))
    assert (made.nodes, made.pods[0].node_name, made.pods[0].order) == ((Node("n"),), "n", 3)
