"""Charts that are applied again: what is as it was, what is new, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gnomon.model.errors import InputError
from gnomon.systems.kubernetes.fleets.applied import applied
from gnomon.systems.kubernetes.fleets.fleet import Change
from gnomon.systems.kubernetes.read.files import objects_of
from gnomon.systems.kubernetes.scenario import read_scenario
from tests.systems.kubernetes.play import Object, deletions, job, node, play, pod, spec, starts, workload


def named(kind: str, name: str, group: str = "v1", **more: Any) -> Object:
    return {"apiVersion": group, "kind": kind, "metadata": {"name": name}, **more}


def budget(least: int) -> Object:
    selector = {"matchLabels": {"app": "shop"}}
    return named("PodDisruptionBudget", "shop", "policy/v1", spec={"minAvailable": least, "selector": selector})


def cron(schedule: str) -> Object:
    template = {"spec": {"template": {"spec": spec(restartPolicy="Never")}}}
    return named("CronJob", "tick", "batch/v1", spec={"schedule": schedule, "jobTemplate": template})


CRON = """apiVersion: batch/v1
kind: CronJob
metadata: {{name: tick}}
spec:
  schedule: "*/{minutes} * * * *"
  jobTemplate: {{spec: {{template: {{spec: {{restartPolicy: Never, containers: [{{name: c, image: c}}]}}}}}}}}
"""


def chart(image: str) -> list[Object]:
    template = {"metadata": {"labels": {"app": "log"}}, "spec": spec()}
    return [
        named("Service", "shop", spec={"selector": {"app": "shop"}}),
        named("DaemonSet", "log", "apps/v1", spec={"selector": {"matchLabels": {"app": "log"}}, "template": template}),
        budget(1),
        workload("Deployment", "shop", 1, spec(image=image)),
        job("init", spec(), {"gnomon.dev/duration": "10s"}),
        pod("bare"),
    ]


def test_what_is_as_it_was_makes_no_difference() -> None:
    again = play([node("n1"), *chart("v1")], until_s=300, changes=[(100, chart("v1"))])
    assert starts(again) == starts(play([node("n1"), *chart("v1")], until_s=300))
    assert deletions(again) == []


def test_a_cron_job_and_a_job_that_have_run_are_as_they_were() -> None:
    mine = cron("*/5 * * * *")
    over = {**job("init", spec()), "status": {"succeeded": 1, "conditions": [{"type": "Complete", "status": "True"}]}}
    over["spec"] = {
        "selector": {"matchLabels": {"batch.kubernetes.io/controller-uid": "u1"}},
        "template": {"metadata": {"labels": {"batch.kubernetes.io/controller-uid": "u1", "job-name": "init"}}}
        | over["spec"]["template"],
    }
    live = {**mine, "metadata": {**mine["metadata"], "uid": "u0", "creationTimestamp": "2026-01-01T00:00:00Z"}}
    _, (change,) = applied(objects_of([pod("x"), live, over]), [Change(5, objects_of([mine, job("init", spec())]))])
    assert (change.objects.cron_jobs, change.objects.jobs) == ((), ())


def test_what_is_refused_is_refused_where_it_stands(tmp_path: Path) -> None:
    nodes = tmp_path / "nodes.json"
    nodes.write_text(json.dumps(node("n1")))
    (tmp_path / "old.yaml").write_text(CRON.format(minutes=5))
    (tmp_path / "new.yaml").write_text("# a chart\n" + CRON.format(minutes=9))
    with pytest.raises(InputError) as caught:
        read_scenario([nodes, tmp_path / "old.yaml"], changes=[(5, [tmp_path / "new.yaml"])])
    error = caught.value
    assert (error.file, error.line, error.field) == (str(tmp_path / "new.yaml"), 4, "CronJob default/tick")


def test_what_is_new_in_a_chart_is_rolled_out_alone() -> None:
    run = play([node("n1"), *chart("v1")], until_s=300, changes=[(100, chart("v2"))])
    assert [when for when, _ in starts(run)][-1] == 100
    assert len(starts(run)) == len(chart("v1")) - 2 + 1  # but for the service and the budget, and one pod more


def test_what_the_api_server_fills_in_is_no_change() -> None:
    there = {**budget(1), "status": {"disruptionsAllowed": 0}}
    space = named("Namespace", "team")
    labelled = {**space, "metadata": {"name": "team", "labels": {"kubernetes.io/metadata.name": "team"}}}
    found, (change,) = applied(objects_of([there, labelled]), [Change(5, objects_of([budget(1), space]))])
    assert (found.notes, change.objects.disruption_budgets, change.objects.namespaces) == ((), (), ())


def test_what_others_refer_to_is_there_from_the_beginning() -> None:
    claim = named("PersistentVolumeClaim", "data", spec={"resources": {"requests": {"storage": "1Gi"}}})
    found, (change,) = applied(objects_of([]), [Change(5, objects_of([claim]))])
    assert [one.name for one in found.claims] == ["data"]
    assert change.objects.claims == ()
    assert [(note.what, note.field) for note in found.notes] == [("default", "PersistentVolumeClaim")]


@pytest.mark.parametrize(
    ("there", "later", "problem"),
    [
        ([], [node("n2")], "not modelled: a new Node while the cluster runs"),
        ([cron("*/5 * * * *")], [cron("*/9 * * * *")], "a change of a CronJob that is there"),
        ([budget(1)], [budget(2)], "a change of a PodDisruptionBudget that is there"),
        ([pod("bare")], [pod("bare", labels={"app": "x"})], "a change of a Pod that is there"),
        ([job("init", spec())], [job("init", spec(), parallelism=2)], "a change of a Job that is there"),
        ([], [named("KubeSchedulerConfiguration", "", "kubescheduler.config.k8s.io/v1")], "what configures"),
    ],
)
def test_what_a_run_cannot_change_is_refused(there: list[Object], later: list[Object], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        applied(objects_of(there), [Change(5, objects_of(later))])
