"""What makes pods, read from manifests; defaults are the API's (v1.34)."""

from __future__ import annotations

from typing import Any

import pytest

from gnomon.formats.yaml import parse_yaml
from gnomon.model.errors import InputError
from gnomon.systems.kubernetes.api.constraints import LabelSelector, Requirement
from gnomon.systems.kubernetes.api.objects import Owner
from gnomon.systems.kubernetes.api.snapshot import Objects
from gnomon.systems.kubernetes.api.workloads import PodFailureRule, SuccessRule
from gnomon.systems.kubernetes.read.files import objects_of
from tests.systems.kubernetes.play import job, pod, spec, workload

TEMPLATE = "template: {metadata: {labels: {app: x}}, spec: {containers: [{name: c}]}}"
SELECTED = f"selector: {{matchLabels: {{app: x}}}}, {TEMPLATE}"
RUN_ONCE = "template: {spec: {restartPolicy: Never, containers: [{name: c}]}}"


def made(api: str, kind: str, spec: str) -> Objects:
    text = f"{{apiVersion: {api}, kind: {kind}, metadata: {{name: w, namespace: team}}, spec: {{{spec}}}}}"
    value: dict[str, Any] = parse_yaml(text)[0].value
    return objects_of([value])


def test_a_deployment() -> None:
    (one,) = made("apps/v1", "Deployment", SELECTED).deployments
    assert (one.name, one.namespace, one.replicas, one.strategy) == ("w", "team", 1, "RollingUpdate")
    assert (one.max_surge, one.max_unavailable, one.progress_deadline_s) == ("25%", "25%", 600)
    assert one.selector == LabelSelector((Requirement("app", "In", ("x",)),))
    assert one.template.labels == {"app": "x"}
    rolling = f"{SELECTED}, replicas: 0, strategy: {{rollingUpdate: {{maxSurge: 2, maxUnavailable: 0}}}}"
    (one,) = made("apps/v1", "Deployment", rolling).deployments
    assert (one.replicas, one.max_surge, one.max_unavailable) == (0, 2, 0)


def test_a_stateful_set_with_claims() -> None:
    claims = "volumeClaimTemplates: [{metadata: {name: data}, spec: {resources: {requests: {storage: 1Gi}}}}]"
    (one,) = made("apps/v1", "StatefulSet", f"{SELECTED}, {claims}, ordinals: {{start: 3}}").stateful_sets
    assert (one.pod_management, one.first_ordinal) == ("OrderedReady", 3)
    (claim,) = one.claim_templates
    assert (claim.name, claim.request_bytes, claim.storage_class) == ("data", 2**30, None)


def test_a_daemon_set() -> None:
    (one,) = made("apps/v1", "DaemonSet", SELECTED).daemon_sets
    assert (one.strategy, one.max_unavailable, one.max_surge) == ("RollingUpdate", 1, 0)


@pytest.mark.parametrize(
    ("spec", "parallelism", "completions"),
    [("", 1, 1), ("parallelism: 3", 3, None), ("completions: 5", 1, 5), ("parallelism: 2, completions: 4", 2, 4)],
)
def test_how_many_successes_a_job_needs(spec: str, parallelism: int, completions: int | None) -> None:
    (one,) = made("batch/v1", "Job", f"{RUN_ONCE}, {spec}").jobs
    assert (one.parallelism, one.completions, one.backoff_limit) == (parallelism, completions, None)


def test_the_policies_of_a_job() -> None:
    failure = "podFailurePolicy: {rules: [{action: FailJob, onExitCodes: {operator: In, values: [1, 2]}}, \
{action: Ignore, onPodConditions: [{type: DisruptionTarget}]}]}"
    success = "successPolicy: {rules: [{succeededIndexes: '0,2-4', succeededCount: 2}]}"
    indexed = "completionMode: Indexed, completions: 5"
    (one,) = made("batch/v1", "Job", f"{RUN_ONCE}, {failure}, {success}, {indexed}").jobs
    assert one.failure_rules == (
        PodFailureRule("FailJob", "In", (1, 2)),
        PodFailureRule("Ignore", conditions=(("DisruptionTarget", "True"),)),
    )
    assert one.success_rules == (SuccessRule("0,2-4", 2),)


def test_a_cron_job() -> None:
    (one,) = made("batch/v1", "CronJob", f"schedule: '*/5 * * * *', jobTemplate: {{spec: {{{RUN_ONCE}}}}}").cron_jobs
    assert (one.schedule, one.concurrency_policy, one.successful_history) == ("*/5 * * * *", "Allow", 3)
    assert one.job.template.spec.restart_policy == "Never"


def test_a_replication_controller_selects_by_values() -> None:
    (one,) = made("v1", "ReplicationController", f"selector: {{app: x}}, {TEMPLATE}").replica_sets
    assert (one.kind, one.selector) == ("ReplicationController", LabelSelector((Requirement("app", "In", ("x",)),)))


def test_only_the_controlling_owner_counts() -> None:
    owners = [{"kind": "Node", "name": "n"}, {"kind": "ReplicaSet", "name": "r", "uid": "u", "controller": True}]
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "ownerReferences": owners},
        "spec": {"containers": [{"name": "c"}]},
    }
    assert objects_of([pod]).pods[0].owner == Owner("ReplicaSet", "r", "u")


@pytest.mark.parametrize(
    ("kind", "spec", "problem"),
    [
        ("Job", RUN_ONCE.replace("Never", "Always"), "spec.template.spec.restartPolicy: a Job's pods need OnFailure"),
        ("Job", f"{RUN_ONCE}, completionMode: Indexed, parallelism: 2", "spec.completions: this is missing"),
        ("CronJob", f"jobTemplate: {{spec: {{{RUN_ONCE}}}}}", "spec.schedule: this is missing"),
        ("Job", f"{RUN_ONCE}, backofLimit: 3", "spec.backofLimit: unknown field (did you mean 'backoffLimit'?)"),
        ("Job", f"{RUN_ONCE}, parallelism: -1", "spec.parallelism: out of bounds, found -1"),
    ],
)
def test_mistakes(kind: str, spec: str, problem: str) -> None:
    with pytest.raises(InputError) as caught:
        made("batch/v1", kind, spec)
    assert f"{kind} team/w, {problem}" in str(caught.value)


class TestWhatStandsForItself:
    """What is wrong is told where it stands, before anything is run."""

    @staticmethod
    def wrong(value: Any) -> str:
        with pytest.raises(InputError) as caught:
            objects_of([value])
        return str(caught.value)

    @pytest.mark.parametrize("said", ["-5", "5-3", "1,,2", "0-9999999", "a", "²", "1-"])
    def test_indexes(self, said: str) -> None:
        rules = {"rules": [{"succeededIndexes": said}]}
        found = job("j", spec(), completions=3, completionMode="Indexed", successPolicy=rules)
        field = "Job j, spec.successPolicy.rules[0].succeededIndexes"
        assert self.wrong(found) == f"{field}: not a list of indexes, found {said!r}; allowed: for instance 0,2-4"

    @pytest.mark.parametrize(
        ("schedule", "problem"),
        [
            ("Always", "a schedule has five fields, this one 1"),
            ("² * * * *", "not a minute: ²"),
            ("61 * * * *", "not a"),
        ],
    )
    def test_schedules(self, schedule: str, problem: str) -> None:
        made = {"spec": job("j", spec())["spec"]}
        body = {"schedule": schedule, "jobTemplate": made}
        found = {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "c"}, "spec": body}
        assert self.wrong(found).startswith(f"CronJob c, spec.schedule: {problem}")

    @pytest.mark.parametrize(
        ("name", "said", "problem"),
        [
            ("duration", "soon", "not a duration"),
            ("durations", "5m", "unknown annotation (did you mean 'gnomon.dev/duration'?)"),
            ("exit-code", "²", "not an exit code; allowed: 1 to 255"),
            ("exit-code", "9" * 5000, "not an exit code; allowed: 1 to 255"),
            ("usage-memory", "1Gi 2Gi 3Gi", "an amount, or times with amounts are wanted"),
        ],
    )
    def test_annotations(self, name: str, said: str, problem: str) -> None:
        annotations = {f"gnomon.dev/{name}": said}
        assert self.wrong(pod("p", annotations)).startswith(f"Pod p, metadata.annotations.gnomon.dev/{name}: {problem}")
        found = job("j", spec())
        found["spec"]["template"]["metadata"] = {"annotations": annotations}
        field = f"Job j, spec.template.metadata.annotations.gnomon.dev/{name}"
        assert self.wrong(found).startswith(f"{field}: {problem}")

    def test_a_percentage_of_thousands_of_digits(self) -> None:
        rolling = {"strategy": {"rollingUpdate": {"maxSurge": "0" * 5000 + "1%"}}}
        found = self.wrong(workload("Deployment", "d", 1, spec(), **rolling))
        field = "Deployment d, spec.strategy.rollingUpdate.maxSurge"
        assert found.startswith(f"{field}: a number or a percentage is wanted, found '000")
