"""Reading what makes pods out of its fields: ReplicaSets, Deployments, StatefulSets, DaemonSets, Jobs, CronJobs."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final, TypedDict

from gnomon.systems.kubernetes.api.constraints import LabelSelector
from gnomon.systems.kubernetes.api.cron import parse
from gnomon.systems.kubernetes.api.names import invalid
from gnomon.systems.kubernetes.api.objects import Labels, Owner, PodSpec
from gnomon.systems.kubernetes.api.selectors import selects
from gnomon.systems.kubernetes.api.workloads import (
    CronJob,
    DaemonSet,
    Deployment,
    Job,
    PodFailureRule,
    PodGroup,
    PodTemplate,
    ReplicaSet,
    StatefulSet,
    SuccessRule,
)
from gnomon.systems.kubernetes.read.annotations import read_annotations
from gnomon.systems.kubernetes.read.cluster_fields import read_claim
from gnomon.systems.kubernetes.read.fields import Fields
from gnomon.systems.kubernetes.read.pod_fields import read_conditions, read_owner
from gnomon.systems.kubernetes.read.selector_fields import read_label_selector, read_value_selector

ReadSpec = Callable[[Fields], PodSpec]
"""Reads the spec below the fields of a template."""

QUIET_METADATA: Final = frozenset(
    """annotations clusterName creationTimestamp deletionGracePeriodSeconds deletionTimestamp finalizers generateName
    generation labels managedFields name namespace ownerReferences resourceVersion selfLink uid""".split()
)


_INDEXES: Final = re.compile("([0-9]{1,6})(?:-([0-9]{1,6}))?", re.ASCII)
"""An index or several in a row, of as many pods as a Job may have here."""


class _Common(TypedDict):
    name: str
    namespace: str
    labels: Labels
    annotations: Labels
    owner: Owner | None
    uid: str
    creation_ns: int | None
    order: int


def read_replica_set(body: Fields, metadata: Fields, order: int, read_spec: ReadSpec) -> ReplicaSet:
    """A ReplicaSet."""
    spec = body.inside("spec")
    selector = read_label_selector(spec, "selector")
    return _replica_set(_common(metadata, order), spec, selector, read_spec, kind="ReplicaSet")


def read_replication_controller(body: Fields, metadata: Fields, order: int, read_spec: ReadSpec) -> ReplicaSet:
    """A ReplicationController: its selector is one of values, by default the template's labels."""
    spec = body.inside("spec")
    selector = read_value_selector(spec, "selector")
    return _replica_set(_common(metadata, order), spec, selector, read_spec, kind="ReplicationController")


def read_deployment(body: Fields, metadata: Fields, order: int, read_spec: ReadSpec) -> Deployment:
    """A Deployment."""
    spec = body.inside("spec")
    strategy = spec.inside("strategy")
    rolling = strategy.inside("rollingUpdate")
    found = Deployment(
        **_common(metadata, order),
        replicas=spec.integer("replicas", 1),
        selector=read_label_selector(spec, "selector"),
        template=_template(spec, read_spec),
        strategy=strategy.text("type", "RollingUpdate", of=("RollingUpdate", "Recreate")),
        max_surge=rolling.number_or_percentage("maxSurge", "25%"),
        max_unavailable=rolling.number_or_percentage("maxUnavailable", "25%", whole=True),
        min_ready_s=spec.integer("minReadySeconds"),
        progress_deadline_s=spec.integer("progressDeadlineSeconds", 600),
        paused=spec.boolean("paused"),
        revision_history_limit=spec.integer("revisionHistoryLimit", 10),
    )
    _check_selector(spec, found.selector, found.template, "deployment")
    _check_template(spec, found.template, "ReplicaSet")
    if found.strategy == "Recreate" and "rollingUpdate" in strategy:
        text = "Forbidden: may not be specified when strategy `type` is 'Recreate'"
        strategy.wrong("rollingUpdate", text)
    elif _is_zero(found.max_unavailable) and _is_zero(found.max_surge):
        rolling.wrong("maxUnavailable", invalid(found.max_unavailable, "may not be 0 when `maxSurge` is 0"))
    if found.progress_deadline_s <= found.min_ready_s:
        text = "must be greater than minReadySeconds"
        spec.wrong("progressDeadlineSeconds", invalid(found.progress_deadline_s, text))
    for fields in (rolling, strategy, spec):
        fields.finish()
    return found


def read_stateful_set(body: Fields, metadata: Fields, order: int, read_spec: ReadSpec) -> StatefulSet:
    """A StatefulSet."""
    spec = body.inside("spec")
    strategy = spec.inside("updateStrategy")
    rolling = strategy.inside("rollingUpdate")
    found = StatefulSet(
        **_common(metadata, order),
        replicas=spec.integer("replicas", 1),
        selector=read_label_selector(spec, "selector"),
        template=_template(spec, read_spec),
        pod_management=spec.text("podManagementPolicy", "OrderedReady", of=("OrderedReady", "Parallel")),
        strategy=strategy.text("type", "RollingUpdate", of=("RollingUpdate", "OnDelete")),
        partition=rolling.integer("partition"),
        max_unavailable=rolling.number_or_percentage("maxUnavailable", 1),
        min_ready_s=spec.integer("minReadySeconds"),
        first_ordinal=spec.inside("ordinals").integer("start"),
        claim_templates=tuple(read_claim(one, one.inside("metadata")) for one in spec.items("volumeClaimTemplates")),
    )
    _check_selector(spec, found.selector, found.template, "statefulset")
    _check_template(spec, found.template, "StatefulSet")
    for fields in (rolling, strategy):
        fields.finish()
    kept = spec.inside("persistentVolumeClaimRetentionPolicy")
    if kept.text("whenScaled", of=("Retain", "Delete")) == "Delete":
        kept = spec.inside("persistentVolumeClaimRetentionPolicy")
    kept.finish(quiet=("whenDeleted",), ignored=("whenScaled",))
    spec.finish(quiet=("serviceName", "revisionHistoryLimit", "ordinals"))
    return found


def read_daemon_set(body: Fields, metadata: Fields, order: int, read_spec: ReadSpec) -> DaemonSet:
    """A DaemonSet."""
    spec = body.inside("spec")
    strategy = spec.inside("updateStrategy")
    rolling = strategy.inside("rollingUpdate")
    found = DaemonSet(
        **_common(metadata, order),
        selector=read_label_selector(spec, "selector"),
        template=_template(spec, read_spec),
        strategy=strategy.text("type", "RollingUpdate", of=("RollingUpdate", "OnDelete")),
        max_surge=rolling.number_or_percentage("maxSurge", 0, whole=True),
        max_unavailable=rolling.number_or_percentage("maxUnavailable", 1, whole=True),
        min_ready_s=spec.integer("minReadySeconds"),
    )
    _check_selector(spec, found.selector, found.template, "daemonset")
    _check_template(spec, found.template, "DaemonSet")
    if _is_zero(found.max_unavailable) and _is_zero(found.max_surge):
        rolling.wrong("maxUnavailable", "Required value: cannot be 0 when maxSurge is 0")
    elif not _is_zero(found.max_unavailable) and not _is_zero(found.max_surge):
        rolling.wrong("maxSurge", invalid(found.max_surge, "may not be set when maxUnavailable is non-zero"))
    for fields in (rolling, strategy):
        fields.finish()
    spec.finish(quiet=("revisionHistoryLimit",))
    return found


def read_job(body: Fields, metadata: Fields, order: int, read_spec: ReadSpec) -> Job:
    """A Job. ``completions`` defaults to 1 if neither it nor ``parallelism`` is said, else to what one success means.

    Source: ``SetDefaults_Job`` of v1.34.
    """
    spec = body.inside("spec")
    parallelism, completions = spec.maybe_integer("parallelism"), spec.maybe_integer("completions")
    if completions is None and parallelism is None:
        completions = 1
    failure, success = spec.inside("podFailurePolicy"), spec.inside("successPolicy")
    status = body.inside("status")
    job = Job(
        **_common(metadata, order),
        is_over=any(one.type in ("Complete", "Failed") and one.status == "True" for one in read_conditions(status)),
        succeeded=status.integer("succeeded"),
        failed=status.integer("failed"),
        done_indexes=_indexes(status, "completedIndexes"),
        failed_indexes=_indexes(status, "failedIndexes"),
        parallelism=1 if parallelism is None else parallelism,
        completions=completions,
        completion_mode=spec.text("completionMode", "NonIndexed", of=("NonIndexed", "Indexed")),
        backoff_limit=spec.maybe_integer("backoffLimit"),
        backoff_limit_per_index=spec.maybe_integer("backoffLimitPerIndex"),
        max_failed_indexes=spec.maybe_integer("maxFailedIndexes"),
        active_deadline_s=spec.maybe_integer("activeDeadlineSeconds"),
        ttl_after_finished_s=spec.maybe_integer("ttlSecondsAfterFinished"),
        suspend=spec.boolean("suspend"),
        pod_replacement_policy=spec.text("podReplacementPolicy", of=("TerminatingOrFailed", "Failed")),
        failure_rules=tuple(_failure_rule(rule) for rule in failure.items("rules")),
        success_rules=tuple(
            SuccessRule(_indexes(rule, "succeededIndexes"), rule.maybe_integer("succeededCount"))
            for rule in success.items("rules")
        ),
        selector=read_label_selector(spec, "selector"),
        template=_template(spec, read_spec),
    )
    if job.completion_mode == "Indexed" and job.completions is None:
        spec.wrong("completions", "this is missing: an Indexed job needs it")
    if job.template.spec.restart_policy == "Always" and "template" in spec:
        found = spec.inside("template").inside("spec")
        found.wrong("restartPolicy", "a Job's pods need OnFailure or Never", found.raw("restartPolicy") or "Always")
    for fields in (failure, success):
        fields.finish()
    spec.finish(quiet=("manualSelector",), ignored=("managedBy",))
    return job


def _indexes(status: Fields, key: str) -> str:
    """Indexes as a Job's status, and the rules of its success, have them."""
    found = status.text(key)
    parts = [_INDEXES.fullmatch(part) for part in found.split(",")] if found else []
    if any(part is None or int(part[1]) > int(part[2] or part[1]) for part in parts):
        status.wrong(key, "not a list of indexes", found, "for instance 0,2-4")
        return ""
    return found


def read_cron_job(body: Fields, metadata: Fields, order: int, read_spec: ReadSpec) -> CronJob:
    """A CronJob."""
    spec = body.inside("spec")
    template = spec.inside("jobTemplate")
    found = CronJob(
        **_common(metadata, order),
        schedule=spec.required("schedule"),
        time_zone=spec.text("timeZone"),
        concurrency_policy=spec.text("concurrencyPolicy", "Allow", of=("Allow", "Forbid", "Replace")),
        starting_deadline_s=spec.maybe_integer("startingDeadlineSeconds"),
        suspend=spec.boolean("suspend"),
        successful_history=spec.integer("successfulJobsHistoryLimit", 3),
        failed_history=spec.integer("failedJobsHistoryLimit", 1),
        job=read_job(template, template.inside("metadata"), order, read_spec),
    )
    if found.schedule:
        try:
            parse(found.schedule)
        except ValueError as error:
            spec.wrong("schedule", str(error), found.schedule)
    template.finish()
    spec.finish()
    return found


def read_pod_group(body: Fields, metadata: Fields, order: int) -> PodGroup:
    """A gang of the coscheduling plugin."""
    spec = body.inside("spec")
    found = PodGroup(
        **_common(metadata, order),
        min_member=spec.integer("minMember", 1, low=1),
        min_resources=spec.amounts("minResources"),
        schedule_timeout_s=spec.maybe_integer("scheduleTimeoutSeconds"),
    )
    spec.finish()
    return found


def _common(metadata: Fields, order: int) -> _Common:
    return _Common(
        name=metadata.text("name"),
        namespace=metadata.text("namespace", "default"),
        labels=metadata.checked_labels("labels"),
        annotations=read_annotations(metadata),
        owner=read_owner(metadata),
        uid=metadata.text("uid"),
        creation_ns=metadata.time_ns("creationTimestamp"),
        order=order,
    )


def _template(spec: Fields, read_spec: ReadSpec) -> PodTemplate:
    if "template" not in spec:
        spec.wrong("template", "this is missing")
        return PodTemplate()
    template = spec.inside("template")
    metadata = template.inside("metadata")
    found = PodTemplate(metadata.checked_labels("labels"), read_annotations(metadata), read_spec(template))
    metadata.finish(quiet=QUIET_METADATA)
    template.finish()
    return found


def _replica_set(
    common: _Common, spec: Fields, selector: LabelSelector | None, read_spec: ReadSpec, *, kind: str
) -> ReplicaSet:
    found = ReplicaSet(
        **common,
        kind=kind,
        replicas=spec.integer("replicas", 1),
        selector=selector,
        template=_template(spec, read_spec) if "template" in spec else None,
        min_ready_s=spec.integer("minReadySeconds"),
    )
    if kind == "ReplicaSet" or (found.template is not None and selector is not None):
        _check_selector(spec, selector, found.template or PodTemplate(), "deployment")  # so it is also said of these
    if found.template is not None:
        _check_template(spec, found.template, kind)
    spec.finish()
    return found


def _is_zero(amount: int | str) -> bool:
    return not int(str(amount).removesuffix("%"))


def _check_template(spec: Fields, template: PodTemplate, kind: str) -> None:
    """Pods that are to stay start again and have no deadline (``ValidatePodTemplateSpecForReplicaSet``)."""
    pod = spec.inside("template").inside("spec")
    if template.spec.restart_policy != "Always":
        text = f'Unsupported value: "{template.spec.restart_policy}": supported values: "Always"'
        pod.wrong("restartPolicy", text)
    if template.spec.active_deadline_s is not None:
        pod.wrong("activeDeadlineSeconds", f"Forbidden: activeDeadlineSeconds in {kind} is not Supported")


def _check_selector(spec: Fields, selector: LabelSelector | None, template: PodTemplate, named: str) -> None:
    if selector is None:
        spec.wrong("selector", "this is missing")
    elif not selector.requirements and isinstance(spec.raw("selector"), dict):
        spec.wrong("selector", invalid("{}", f"empty selector is invalid for {named}").replace('"', ""))
    elif "template" in spec and not selects(selector, template.labels):
        spec.inside("template").inside("metadata").wrong("labels", "`selector` does not match template `labels`")


def _failure_rule(rule: Fields) -> PodFailureRule:
    codes = rule.inside("onExitCodes")
    values: Any = codes.raw("values") or []
    found = PodFailureRule(
        action=rule.text("action", of=("FailJob", "FailIndex", "Ignore", "Count")),
        exit_operator=codes.text("operator", of=("In", "NotIn")),
        exit_codes=tuple(value for value in values if isinstance(value, int)) if isinstance(values, list) else (),
        container=codes.text("containerName"),
        conditions=tuple((one.text("type"), one.text("status", "True")) for one in rule.items("onPodConditions")),
    )
    codes.finish()
    rule.finish()
    return found
