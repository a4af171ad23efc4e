"""Reading what stands around pods out of its fields: nodes, budgets, quotas, volumes."""

from __future__ import annotations

from typing import Final

from gnomon.systems.kubernetes.api.constraints import NodeSelectorTerm, Requirement
from gnomon.systems.kubernetes.api.objects import Image, Namespace, Node, PodDisruptionBudget, PriorityClass, Service
from gnomon.systems.kubernetes.api.policies import LimitRange, LimitRangeItem, ResourceQuota, ScopeRequirement
from gnomon.systems.kubernetes.api.storage import (
    IMMEDIATE,
    CSINode,
    PersistentVolume,
    PersistentVolumeClaim,
    ResourceClaim,
    StorageClass,
)
from gnomon.systems.kubernetes.read.fields import INT32_MAX, INT64_MAX, Fields
from gnomon.systems.kubernetes.read.pod_fields import read_conditions
from gnomon.systems.kubernetes.read.selector_fields import (
    read_label_selector,
    read_node_selector,
    read_taints,
)

SCOPES: Final = (
    "Terminating",
    "NotTerminating",
    "BestEffort",
    "NotBestEffort",
    "PriorityClass",
    "CrossNamespacePodAffinity",
    "VolumeAttributesClass",
)

PRIORITY_MAX: Final = 1_000_000_000
"""The highest priority of a class that is not the system's own (``HighestUserDefinablePriority``)."""

_DEFAULT_CLASS: Final = "storageclass.kubernetes.io/is-default-class"
_SELECTED_NODE: Final = "volume.kubernetes.io/selected-node"
_BIND_COMPLETED: Final = "pv.kubernetes.io/bind-completed"
_VOLUME_QUIET: Final = ("persistentVolumeReclaimPolicy", "mountOptions")
_VOLUME_READ: Final = frozenset(
    """capacity accessModes storageClassName volumeMode claimRef nodeAffinity persistentVolumeReclaimPolicy
    mountOptions volumeAttributesClassName""".split()
)


def read_node(body: Fields, metadata: Fields, order: int) -> Node:
    """A node: allocatable is the capacity where it is not said, as the API server fills it in."""
    spec, status = body.inside("spec"), body.inside("status")
    capacity = status.amounts("capacity")
    node = Node(
        name=metadata.text("name"),
        labels=metadata.checked_labels("labels"),
        annotations=metadata.labels("annotations"),
        taints=read_taints(spec),
        unschedulable=spec.boolean("unschedulable"),
        capacity=capacity,
        allocatable=status.amounts("allocatable") if "allocatable" in status else capacity,
        images=tuple(
            Image(one.texts("names"), one.integer("sizeBytes", high=INT64_MAX)) for one in status.items("images")
        ),
        conditions=read_conditions(status),
        creation_ns=metadata.time_ns("creationTimestamp"),
        order=order,
    )
    spec.finish(quiet=("podCIDR", "podCIDRs", "providerID", "externalID"), ignored=("configSource",))
    return node


def read_namespace(body: Fields, metadata: Fields, order: int) -> Namespace:
    """A namespace."""
    return Namespace(metadata.text("name"), metadata.checked_labels("labels"))


def read_priority_class(body: Fields, metadata: Fields, order: int) -> PriorityClass:
    """A priority class."""
    if "value" not in body:
        body.wrong("value", "this is missing")
    value, system = body.integer("value", low=-(2**31), high=INT32_MAX), metadata.text("name").startswith("system-")
    if value > PRIORITY_MAX and not system:
        body.wrong("value", f"Forbidden: maximum allowed value of a user defined priority is {PRIORITY_MAX}")
    return PriorityClass(
        metadata.text("name"),
        value,
        body.boolean("globalDefault"),
        body.text("preemptionPolicy", of=("Never", "PreemptLowerPriority")),
    )


def read_budget(body: Fields, metadata: Fields, order: int) -> PodDisruptionBudget:
    """A PodDisruptionBudget."""
    spec, status = body.inside("spec"), body.inside("status")
    budget = PodDisruptionBudget(
        name=metadata.text("name"),
        namespace=metadata.text("namespace", "default"),
        selector=read_label_selector(spec, "selector"),
        min_available=spec.number_or_percentage("minAvailable", 0, whole=True) if "minAvailable" in spec else None,
        max_unavailable=spec.number_or_percentage("maxUnavailable", 0, whole=True)
        if "maxUnavailable" in spec
        else None,
        disruptions_allowed=status.maybe_integer("disruptionsAllowed", low=-INT32_MAX) if "status" in body else None,
        disrupted_pods=tuple(status.labels("disruptedPods")),
        labels=metadata.checked_labels("labels"),
    )
    if budget.min_available is not None and budget.max_unavailable is not None:
        spec.wrong("maxUnavailable", "minAvailable and maxUnavailable cannot be both set")
    spec.finish(ignored=("unhealthyPodEvictionPolicy",))
    return budget


def read_service(body: Fields, metadata: Fields, order: int) -> Service:
    """A service: of its spec only the selector."""
    selector = body.inside("spec").labels("selector")
    return Service(metadata.text("name"), metadata.text("namespace", "default"), selector)


def read_quota(body: Fields, metadata: Fields, order: int) -> ResourceQuota:
    """A quota; what is used only where the status says it."""
    spec, status = body.inside("spec"), body.inside("status")
    scopes = [ScopeRequirement(name) for name in spec.texts("scopes")]
    selector = spec.inside("scopeSelector")
    for one in selector.items("matchExpressions"):
        operator = one.text("operator", "Exists", of=("In", "NotIn", "Exists", "DoesNotExist"))
        scopes.append(ScopeRequirement(one.text("scopeName", of=SCOPES), operator, one.texts("values")))
    quota = ResourceQuota(
        name=metadata.text("name"),
        namespace=metadata.text("namespace", "default"),
        hard=spec.amounts("hard"),
        used=status.amounts("used") if "used" in status else None,
        scopes=tuple(scopes),
    )
    for scope in quota.scopes:
        if scope.name not in SCOPES:
            spec.wrong("scopes", "unknown scope", scope.name, ", ".join(SCOPES))
    spec.finish()
    return quota


def read_limit_range(body: Fields, metadata: Fields, order: int) -> LimitRange:
    """A limit range."""
    spec = body.inside("spec")
    items = tuple(_limit_item(one) for one in spec.items("limits"))
    spec.finish()
    return LimitRange(metadata.text("name"), metadata.text("namespace", "default"), items)


def read_volume(body: Fields, metadata: Fields, order: int) -> PersistentVolume:
    """A persistent volume."""
    spec = body.inside("spec")
    claim = spec.inside("claimRef")
    written = body.raw("spec")
    kind = next((key for key in written if key not in _VOLUME_READ), "") if isinstance(written, dict) else ""
    source = spec.inside("csi")
    affinity = spec.inside("nodeAffinity")
    volume = PersistentVolume(
        name=metadata.text("name"),
        labels=metadata.checked_labels("labels"),
        capacity_bytes=spec.amounts("capacity").get("storage", 0),
        access_modes=spec.texts("accessModes"),
        storage_class=spec.text("storageClassName"),
        volume_mode=spec.text("volumeMode", "Filesystem"),
        claim=f"{claim.text('namespace', 'default')}/{claim.text('name')}" if "claimRef" in spec else "",
        phase=body.inside("status").text("phase"),
        kind=kind,
        driver=source.text("driver"),
        handle=source.text("volumeHandle"),
        node_required=read_node_selector(affinity, "required"),
        deletion_ns=metadata.time_ns("deletionTimestamp"),
    )
    affinity.finish()
    spec.finish(quiet=(*_VOLUME_QUIET, kind), ignored=("volumeAttributesClassName",))
    return volume


def read_claim(body: Fields, metadata: Fields, order: int = 0) -> PersistentVolumeClaim:
    """A claim, or the template of one."""
    spec = body.inside("spec")
    resources = spec.inside("resources")
    annotations = metadata.labels("annotations")
    claim = PersistentVolumeClaim(
        name=metadata.text("name"),
        namespace=metadata.text("namespace", "default"),
        labels=metadata.checked_labels("labels"),
        request_bytes=resources.amounts("requests").get("storage", 0),
        access_modes=spec.texts("accessModes"),
        storage_class=spec.text("storageClassName") if "storageClassName" in spec else None,
        volume_mode=spec.text("volumeMode", "Filesystem"),
        volume=spec.text("volumeName"),
        selector=read_label_selector(spec, "selector"),
        phase=body.inside("status").text("phase"),
        selected_node=annotations.get(_SELECTED_NODE, ""),
        bind_completed=_BIND_COMPLETED in annotations,
        deletion_ns=metadata.time_ns("deletionTimestamp"),
    )
    resources.finish(quiet=("limits",))
    spec.finish(ignored=("dataSource", "dataSourceRef", "volumeAttributesClassName"))
    return claim


def read_storage_class(body: Fields, metadata: Fields, order: int) -> StorageClass:
    """A storage class."""
    return StorageClass(
        name=metadata.text("name"),
        provisioner=body.text("provisioner"),
        binding_mode=body.text("volumeBindingMode", IMMEDIATE, of=(IMMEDIATE, "WaitForFirstConsumer")),
        is_default=metadata.labels("annotations").get(_DEFAULT_CLASS) == "true",
        allowed_topologies=tuple(_topology(one) for one in body.items("allowedTopologies")),
        parameters=body.labels("parameters"),
    )


def read_csi_node(body: Fields, metadata: Fields, order: int) -> CSINode:
    """The drivers of a node."""
    limits: dict[str, int] = {}
    names = []
    for driver in body.inside("spec").items("drivers"):
        names.append(driver.text("name"))
        count = driver.inside("allocatable").maybe_integer("count")
        if count is not None:
            limits[names[-1]] = count
    return CSINode(metadata.text("name"), tuple(names), limits)


def read_resource_claim(body: Fields, metadata: Fields, order: int) -> ResourceClaim:
    """A claim of devices: which classes, and whether it is allocated."""
    spec, status = body.inside("spec"), body.inside("status")
    devices = spec.inside("devices")
    classes = []
    for request in devices.items("requests"):
        exact = request.inside("exactly") if "exactly" in request else request
        classes.append(exact.text("deviceClassName"))
    return ResourceClaim(
        name=metadata.text("name"),
        namespace=metadata.text("namespace", "default"),
        device_classes=tuple(classes),
        allocated="allocation" in status,
        reserved_for=tuple(one.text("name") for one in status.items("reservedFor")),
    )


def _limit_item(fields: Fields) -> LimitRangeItem:
    item = LimitRangeItem(
        type=fields.required("type"),
        min=fields.amounts("min"),
        max=fields.amounts("max"),
        default=fields.amounts("default"),
        default_request=fields.amounts("defaultRequest"),
        max_ratio_milli=fields.quantities("maxLimitRequestRatio", lambda name: "cpu"),
    )
    fields.finish()
    return item


def _topology(fields: Fields) -> NodeSelectorTerm:
    expressions = tuple(
        Requirement(one.required("key"), "In", one.texts("values")) for one in fields.items("matchLabelExpressions")
    )
    fields.finish()
    return NodeSelectorTerm(expressions)
