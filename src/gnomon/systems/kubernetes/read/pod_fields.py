"""Reading pods and pod templates out of their fields.

Pods of one template say the same except for a few words, and most of what they say makes no difference here. So a spec
is first cut down to what may matter; specs that are equal then are read once and shared.
"""

from __future__ import annotations

from collections.abc import Iterator
from sys import intern
from typing import Any, Final

import orjson

from gnomon.systems.kubernetes.api.names import label
from gnomon.systems.kubernetes.api.objects import (
    DEFAULT_SCHEDULER,
    GRACE_DEFAULT_S,
    Condition,
    Container,
    ContainerPort,
    Owner,
    PodResourceClaim,
    PodSpec,
    Probe,
    Volume,
)
from gnomon.systems.kubernetes.read.fields import INT32_MAX, INT64_MAX, Fields, Findings
from gnomon.systems.kubernetes.read.pod_rules import check_container, check_pod, check_ports, refused_amounts
from gnomon.systems.kubernetes.read.selector_fields import read_affinity, read_spread, read_tolerations

QUIET_SPEC: Final = frozenset(
    """automountServiceAccountToken dnsConfig dnsPolicy enableServiceLinks hostAliases hostIPC hostPID hostUsers
    hostname hostnameOverride imagePullSecrets os securityContext serviceAccount serviceAccountName setHostnameAsFQDN
    shareProcessNamespace subdomain nodeName""".split()
)
"""Fields of a pod's spec that decide nothing here (the node's name is read apart)."""

IGNORED_SPEC: Final = ("ephemeralContainers", "readinessGates", "runtimeClassName", "workloadRef")

QUIET_CONTAINER: Final = frozenset(
    """args command env envFrom imagePullPolicy resizePolicy securityContext stdin stdinOnce terminationMessagePath
    terminationMessagePolicy tty volumeDevices volumeMounts workingDir""".split()
)
IGNORED_CONTAINER: Final = ("lifecycle", "restartPolicyRules")

CLAIM: Final = "persistentVolumeClaim"
EPHEMERAL: Final = "ephemeral"

_SOURCES: Final = {
    CLAIM: "claimName",
    EPHEMERAL: "",
    "awsElasticBlockStore": "volumeID",
    "azureDisk": "diskName",
    "csi": "driver",
    "emptyDir": "",
    "gcePersistentDisk": "pdName",
    "hostPath": "path",
    "iscsi": "iqn",
    "rbd": "image",
}
"""The sources of volumes that may keep a pod from a node, or on it, and the field that names each."""


class SpecReader:
    """Reads specs of pods, equal ones once. A spec of the kind Pod is a pod's own, all others are of templates."""

    def __init__(self) -> None:
        self._known: dict[bytes, tuple[PodSpec, Findings]] = {}

    def read(self, parent: Fields, findings: Findings, kind: str) -> PodSpec:
        """The spec of a pod or a template. What is ignored counts under ``kind``."""
        spec = parent.inside("spec")
        written = parent.raw("spec")
        if not isinstance(written, dict):
            return _EMPTY
        short = _short(written)
        try:
            key = kind.encode() + orjson.dumps(short)
        except TypeError:  # a number above 64 bits, which no field takes
            return _spec(Fields(short, findings, kind, spec.steps), bare=kind == "Pod")
        if (known := self._known.get(key)) is not None:
            findings.add(known[1])
            return known[0]
        own = Findings()
        read = _spec(Fields(short, own, kind, spec.steps), bare=kind == "Pod")
        findings.add(own)
        if not own.problems:
            self._known[key] = read, own
        return read


def read_owner(metadata: Fields) -> Owner | None:
    """The controlling owner."""
    for owner in metadata.items("ownerReferences"):
        if owner.boolean("controller"):
            return Owner(owner.text("kind"), owner.text("name"), owner.text("uid"))
    return None


def read_conditions(status: Fields) -> tuple[Condition, ...]:
    """The conditions of a status."""
    return tuple(
        Condition(
            intern(one.text("type")),
            intern(one.text("status")),
            one.text("reason"),
            one.text("message"),
            one.time_ns("lastTransitionTime"),
        )
        for one in status.items("conditions")
    )


_EMPTY: Final = PodSpec()


def _short(spec: dict[str, Any]) -> dict[str, Any]:
    """A spec without what makes no difference; positions in lists stay."""
    short = {key: value for key, value in spec.items() if key not in QUIET_SPEC}
    for place in ("containers", "initContainers"):
        if isinstance(containers := short.get(place), list):
            short[place] = [_short_container(one) for one in containers]
    if isinstance(volumes := short.get("volumes"), list):
        short["volumes"] = [{} if isinstance(one, dict) and _SOURCES.keys().isdisjoint(one) else one for one in volumes]
    return short


def _short_container(container: Any) -> Any:
    if not isinstance(container, dict):
        return container
    return {key: value for key, value in container.items() if key not in QUIET_CONTAINER}


def _spec(fields: Fields, *, bare: bool) -> PodSpec:
    resources = fields.inside("resources")
    containers = tuple(_container(one, bare=bare) for one in fields.items("containers"))
    if not containers and isinstance(fields.raw("containers"), list | None):
        fields.wrong("containers", "a pod needs a container")
    spec = PodSpec(
        containers=containers,
        init_containers=tuple(_container(one, bare=bare) for one in fields.items("initContainers")),
        requests=resources.amounts("requests") if "requests" in resources else None,
        limits=resources.amounts("limits") if "limits" in resources else None,
        overhead=fields.amounts("overhead"),
        scheduler_name=fields.text("schedulerName", DEFAULT_SCHEDULER),
        priority=fields.maybe_integer("priority", low=-(2**31)),
        priority_class=fields.text("priorityClassName"),
        preemption_policy=fields.text("preemptionPolicy", of=("Never", "PreemptLowerPriority")),
        node_selector=fields.checked_labels("nodeSelector"),
        affinity=read_affinity(fields),
        tolerations=read_tolerations(fields),
        topology_spread_constraints=read_spread(fields),
        scheduling_gates=tuple(gate.required("name") for gate in fields.items("schedulingGates")),
        volumes=tuple(volume for one in fields.items("volumes") for volume in _volumes(one)),
        resource_claims=tuple(_claim(one) for one in fields.items("resourceClaims")),
        host_network=fields.boolean("hostNetwork"),
        restart_policy=fields.text("restartPolicy", "Always", of=("Always", "OnFailure", "Never")),
        grace_s=fields.integer("terminationGracePeriodSeconds", GRACE_DEFAULT_S, high=INT64_MAX),
        active_deadline_s=fields.maybe_integer("activeDeadlineSeconds", low=1),
    )
    check_pod(fields, spec, bare=bare)
    for key, text in refused_amounts(spec.requests or {}, spec.limits or {}) if spec.limits else ():
        resources.wrong(key, text)
    resources.finish(quiet=("claims",))
    fields.finish(quiet=QUIET_SPEC, ignored=IGNORED_SPEC)
    return spec


def _container(fields: Fields, *, bare: bool) -> Container:
    resources = fields.inside("resources")
    container = Container(
        name=fields.named("name", label),
        image=fields.text("image"),
        requests=resources.amounts("requests"),
        limits=resources.amounts("limits"),
        ports=tuple(_port(one) for one in fields.items("ports")),
        restart_policy=fields.text("restartPolicy", of=("Always", "OnFailure", "Never")),
        liveness=_probe(fields, "livenessProbe"),
        readiness=_probe(fields, "readinessProbe"),
        startup=_probe(fields, "startupProbe"),
        claims=tuple(one.required("name") for one in resources.items("claims")),
    )
    check_container(resources, container, bare=bare)
    check_ports(fields)
    resources.finish()
    fields.finish(quiet=QUIET_CONTAINER, ignored=IGNORED_CONTAINER)
    return container


def _port(fields: Fields) -> ContainerPort:
    port = ContainerPort(
        fields.integer("containerPort", low=-INT32_MAX),
        fields.integer("hostPort", low=-INT32_MAX),
        fields.text("protocol", "TCP", of=("TCP", "UDP", "SCTP")),
        fields.text("hostIP"),
        fields.text("name"),
    )
    fields.finish()
    return port


def _probe(parent: Fields, key: str) -> Probe | None:
    if key not in parent:
        return None
    fields = parent.inside(key)
    return Probe(
        initial_delay_s=fields.integer("initialDelaySeconds"),
        period_s=fields.integer("periodSeconds", 10) or 10,
        timeout_s=fields.integer("timeoutSeconds", 1) or 1,
        success_threshold=fields.integer("successThreshold", 1) or 1,
        failure_threshold=fields.integer("failureThreshold", 3) or 3,
        grace_s=fields.maybe_integer("terminationGracePeriodSeconds", high=INT64_MAX),
    )


def _volumes(fields: Fields) -> Iterator[Volume]:
    for kind, named in _SOURCES.items():
        if kind in fields:
            source = fields.inside(kind)
            yield Volume(fields.text("name"), kind, source.text(named) if named else "", source.boolean("readOnly"))


def _claim(fields: Fields) -> PodResourceClaim:
    return PodResourceClaim(
        fields.required("name"), fields.text("resourceClaimName"), fields.text("resourceClaimTemplateName")
    )
