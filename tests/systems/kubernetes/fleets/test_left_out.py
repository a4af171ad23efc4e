"""What a run leaves out is listed, once a field."""

from __future__ import annotations

import pytest

from gnomon.systems.kubernetes.read.files import objects_of
from gnomon.systems.kubernetes.scenario import scenario_of
from tests.systems.kubernetes.play import Object, job, node, pod, spec, workload


def noted(*objects: Object) -> list[str]:
    scenario = scenario_of(objects_of([node("n1"), *objects]))
    return [note.field for note in scenario.work.notes if note.what == "not modelled"]


INIT: Object = {"name": "first", "image": "i:1"}
CLAIMING: Object = {"name": "scratch", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}}


@pytest.mark.parametrize(
    ("one", "field"),
    [
        (pod("p", initContainers=[INIT]), "initContainers"),
        (pod("p", initContainers=[{**INIT, "restartPolicy": "Always", "livenessProbe": {}}]), "initContainers probes"),
        (pod("p", limits={"ephemeral-storage": "1Gi"}), "limits.ephemeral-storage"),
        (pod("p", volumes=[CLAIMING]), "Pod spec.volumes.ephemeral"),
        (pod("p", requests={"cpu": "9"}, nodeName="n1"), "Pod spec.nodeName"),
        (workload("StatefulSet", "s", 1, spec(), updateStrategy={"rollingUpdate": {"maxUnavailable": 2}}), "maxUnav"),
        (
            workload("StatefulSet", "s", 1, spec(), persistentVolumeClaimRetentionPolicy={"whenScaled": "Delete"}),
            "persistentVolumeClaimRetentionPolicy.whenScaled",
        ),
        (job("j", spec(), managedBy="another.example.com/x"), "managedBy"),
    ],
)
def test_what_makes_no_difference_is_noted(one: Object, field: str) -> None:
    assert any(field in found for found in noted(one)), noted(one)


def test_what_is_modelled_is_not() -> None:
    probes: Object = {"livenessProbe": {}, "readinessProbe": {}, "startupProbe": {}}
    one = pod("p", activeDeadlineSeconds=60)
    one["spec"]["containers"][0] |= probes
    claims = {"metadata": {"name": "d"}, "spec": {"accessModes": ["ReadWriteOnce"]}}
    stateful = workload("StatefulSet", "s", 1, spec(), volumeClaimTemplates=[claims])
    assert noted(one, stateful, job("j", spec(), ttlSecondsAfterFinished=10)) == []


def test_nodes_whose_pods_ask_for_too_much_are_named() -> None:
    """Pods that are bound ask for 9 + 1 of the node's 8 cpu."""
    bound = [pod("p", requests={"cpu": "9"}, nodeName="n1"), pod("q", requests={"cpu": "1"}, nodeName="n1")]
    scenario = scenario_of(objects_of([node("n1"), *bound]))
    (text,) = [note.text for note in scenario.work.notes if note.field == "Pod spec.nodeName"]
    assert "(n1: 10 cpu of 8)" in text


def test_a_part_of_a_byte_is_warned_of_in_the_api_servers_words() -> None:
    """``pkg/api/pod/warnings.go`` of v1.34; 128m is a slip for 128Mi."""
    made = workload("Deployment", "web", 1, spec(requests={"memory": "1500m", "cpu": "1500m"}))
    found = objects_of([node("n1"), pod("p", limits={"memory": "128m"}), pod("q", limits={"memory": "128Mi"}), made])
    assert [(note.field, note.text, note.count) for note in found.notes if note.what == "warning"] == [
        (
            "Pod",
            'spec.containers[0].resources.limits[memory]: fractional byte value "128m" is invalid, must be an integer',
            1,
        ),
        (
            "Deployment",
            "spec.template.spec.containers[0].resources.requests[memory]: "
            'fractional byte value "1500m" is invalid, must be an integer',
            1,
        ),
    ]
