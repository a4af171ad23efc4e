"""Reading a DeschedulerPolicy: what it says, what is noted as not modelled, what is wrong with file, line and field."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gnomon.model.errors import InputError
from gnomon.systems.kubernetes.api.constraints import LabelSelector, Requirement
from gnomon.systems.kubernetes.api.descheduling import (
    LOCAL_STORAGE,
    NO_BUDGET,
    PERCENT,
    DeschedulerPolicy,
    Duplicates,
    Namespaces,
    Restarts,
    SpreadViolations,
    Utilization,
)
from gnomon.systems.kubernetes.read.files import objects_of, read


def read_policy(
    plugins: dict[str, Any], point: str = "balance", *, enabled: list[str] | None = None, **top: Any
) -> DeschedulerPolicy:
    profile = {
        "name": "p",
        "pluginConfig": [{"name": name, "args": args} for name, args in plugins.items()],
        "plugins": {point: {"enabled": [*plugins] if enabled is None else enabled}},
    }
    value = {"apiVersion": "descheduler/v1alpha2", "kind": "DeschedulerPolicy", "profiles": [profile], **top}
    found = objects_of([value]).descheduler
    assert found is not None
    return found


LOW = {"thresholds": {"cpu": 20, "memory": 33.5}, "targetThresholds": {"cpu": 50, "memory": 60}}


def test_low_node_utilization() -> None:
    (found,) = read_policy({"LowNodeUtilization": {**LOW, "evictionLimits": {"node": 3}, "numberOfNodes": 2}}).plugins
    assert isinstance(found, Utilization)
    assert found.thresholds == {"cpu": 20 * PERCENT, "memory": 335_000}
    assert (found.targets["cpu"], found.node_limit, found.number_of_nodes) == (50 * PERCENT, 3, 2)
    assert not found.deviation


def test_the_other_plugins() -> None:
    found = read_policy(
        {
            "HighNodeUtilization": {"thresholds": {"cpu": 20}, "evictableNamespaces": {"exclude": ["kube-system"]}},
            "RemoveDuplicates": {"excludeOwnerKinds": ["Job"], "namespaces": {"include": ["a"]}},
            "RemovePodsViolatingTopologySpreadConstraint": {"constraints": ["DoNotSchedule", "ScheduleAnyway"]},
        }
    ).plugins
    high, duplicates, spread = found
    assert isinstance(high, Utilization)
    assert "kube-system" not in high.namespaces
    assert duplicates == Duplicates(("Job",), Namespaces(("a",)))
    assert spread == SpreadViolations(("DoNotSchedule", "ScheduleAnyway"), node_fit=True)
    (restarts,) = read_policy(
        {"RemovePodsHavingTooManyRestarts": {"podRestartThreshold": 100, "includingInitContainers": True}}, "deschedule"
    ).plugins
    assert restarts == Restarts(100)


def test_the_evictor_and_the_top() -> None:
    found = read_policy(
        {
            "DefaultEvictor": {
                "nodeFit": True,
                "minReplicas": 2,
                "minPodAge": "5m",
                "priorityThreshold": {"name": "gold"},
                "labelSelector": {"matchLabels": {"app": "a"}},
                "evictLocalStoragePods": True,
                "ignorePodsWithoutPDB": True,
            }
        },
        enabled=[],
        nodeSelector="pool=a,zone!=b,!gpu,disk",
        maxNoOfPodsToEvictPerNode=1,
        maxNoOfPodsToEvictTotal=9,
        gracePeriodSeconds=0,
    )
    evictor = found.profiles[0].evictor
    assert (evictor.node_fit, evictor.min_replicas, evictor.min_pod_age_ns) == (True, 2, 300 * 10**9)
    assert evictor.priority_class == "gold"
    assert LOCAL_STORAGE not in evictor.protections
    assert NO_BUDGET in evictor.protections
    assert (found.per_node, found.per_namespace, found.total, found.grace_s) == (1, None, 9, 0)
    assert found.node_selector == LabelSelector(
        (
            Requirement("pool", "In", ("a",)),
            Requirement("zone", "NotIn", ("b",)),
            Requirement("gpu", "DoesNotExist"),
            Requirement("disk", "Exists"),
        )
    )


def test_protections_of_the_newer_form() -> None:
    protections = {"podProtections": {"defaultDisabled": [LOCAL_STORAGE], "extraEnabled": [NO_BUDGET]}}
    kept = read_policy({"DefaultEvictor": protections}, enabled=[]).profiles[0].evictor.protections
    assert kept == {"DaemonSetPods", "SystemCriticalPods", "FailedBarePods", NO_BUDGET}


def test_the_interval_is_five_minutes_or_what_the_annotation_says() -> None:
    assert read_policy({}).interval_ns == 300 * 10**9
    said = {"annotations": {"gnomon.dev/descheduling-interval": "2m"}}
    assert read_policy({}, metadata=said).interval_ns == 120 * 10**9


def test_plugins_that_are_not_modelled_are_noted() -> None:
    profile = {"name": "p", "plugins": {"deschedule": {"enabled": ["PodLifeTime"]}}}
    value = {"apiVersion": "descheduler/v1alpha2", "kind": "DeschedulerPolicy", "profiles": [profile]}
    (note,) = objects_of([value]).notes
    assert (note.what, note.field) == ("not modelled", "DeschedulerPolicy.profiles.plugins.PodLifeTime")


@pytest.mark.parametrize(
    ("plugins", "problem"),
    [
        ({"LowNodeUtilisation": {}}, "unknown plugin"),
        ({"LowNodeUtilization": {**LOW, "thresholds": {"cpu": 20}}}, "must name the same resources"),
        ({"LowNodeUtilization": {"thresholds": {"cpu": 60}, "targetThresholds": {"cpu": 50}}}, "above its target"),
        ({"LowNodeUtilization": {"thresholds": {"cpu": 120}, "targetThresholds": {"cpu": 130}}}, "percentage"),
        ({"LowNodeUtilization": {**LOW, "numberOfNode": 1}}, "did you mean 'numberOfNodes'"),
        ({"HighNodeUtilization": {}}, "this is missing"),
        ({"RemoveDuplicates": {"namespaces": {"include": ["a"], "exclude": ["b"]}}}, "only one of"),
        ({"RemovePodsHavingTooManyRestarts": {}}, "out of bounds"),
        ({"DefaultEvictor": {"priorityThreshold": {"name": "a", "value": 1}}}, "only one of name and value"),
        ({"DefaultEvictor": {"nodeSelector": "zone in (a, b)"}}, "not modelled"),
    ],
)
def test_what_is_wrong_is_told(plugins: dict[str, Any], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        read_policy(plugins, enabled=[name for name in plugins if name != "DefaultEvictor"])


def test_errors_have_file_and_line(tmp_path: Path) -> None:
    path = tmp_path / "policy.yaml"
    path.write_text("apiVersion: descheduler/v1alpha1\nkind: DeschedulerPolicy\nstrategies: {}\n")
    with pytest.raises(InputError) as error:
        read(path)
    assert (error.value.file, error.value.line, error.value.allowed) == (str(path), 1, "descheduler/v1alpha2")


def test_a_second_policy_is_one_too_many() -> None:
    value = {"apiVersion": "descheduler/v1alpha2", "kind": "DeschedulerPolicy"}
    with pytest.raises(InputError, match="a second policy"):
        objects_of([value, value])
