"""Reading a DeschedulerPolicy (``descheduler/v1alpha2``) out of its fields.

Checks are those of the plugins' ``validation.go``. Plugins that are not modelled are noted; a name that is none is
wrong, as it is for the descheduler.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, Final

from gnomon.model.errors import unknown_name
from gnomon.model.quantity import parse_duration
from gnomon.systems.kubernetes.api import descheduling as policy
from gnomon.systems.kubernetes.api.constraints import DO_NOT_SCHEDULE, SCHEDULE_ANYWAY, LabelSelector, Requirement
from gnomon.systems.kubernetes.api.descheduling import DeschedulerPolicy, Evictor, Namespaces, Plugin, Profile
from gnomon.systems.kubernetes.read.fields import INT64_MAX, Fields, Findings
from gnomon.systems.kubernetes.read.selector_fields import read_label_selector

_OTHERS: Final = (
    "PodLifeTime",
    "RemoveFailedPods",
    "RemovePodsViolatingInterPodAntiAffinity",
    "RemovePodsViolatingNodeAffinity",
    "RemovePodsViolatingNodeTaints",
)
"""Plugins that are not modelled."""

_POINTS: Final = ("deschedule", "balance")
_QUIET_POINTS: Final = ("filter", "preEvictionFilter", "preevictionfilter", "presort", "preSort", "sort")
_QUIET_ARGS: Final = ("apiVersion", "kind")
_FLAGS: Final = (
    ("evictLocalStoragePods", policy.LOCAL_STORAGE),
    ("evictDaemonSetPods", policy.DAEMONS),
    ("evictSystemCriticalPods", policy.CRITICAL),
    ("evictFailedBarePods", policy.FAILED_BARE),
)


def read_policy(value: Mapping[str, Any], findings: Findings) -> DeschedulerPolicy:
    """The policy; where ``findings`` has problems afterwards, it is not to be used."""
    body = Fields(value, findings, policy.POLICY)
    body.raw("kind")
    if body.text("apiVersion") != "descheduler/v1alpha2":
        body.wrong("apiVersion", "not modelled", body.raw("apiVersion"), "descheduler/v1alpha2")
    metadata = body.inside("metadata")
    said = metadata.labels("annotations").get(policy.INTERVAL)
    interval = policy.INTERVAL_NS
    if said is not None:
        interval = _duration(metadata.inside("annotations"), policy.INTERVAL)
        if interval <= 0:
            metadata.inside("annotations").wrong(policy.INTERVAL, "out of bounds", said, "more than 0s")
    found = DeschedulerPolicy(
        profiles=tuple(_profile(one, findings) for one in body.items("profiles")),
        node_selector=_selector_text(body, "nodeSelector"),
        per_node=body.maybe_integer("maxNoOfPodsToEvictPerNode"),
        per_namespace=body.maybe_integer("maxNoOfPodsToEvictPerNamespace"),
        total=body.maybe_integer("maxNoOfPodsToEvictTotal"),
        grace_s=body.maybe_integer("gracePeriodSeconds", high=INT64_MAX),
        interval_ns=interval,
    )
    body.finish(
        quiet=("metadata", "evictionFailureEventNotification"),
        ignored=("metricsCollector", "metricsProviders", "featureGates"),
    )
    return found


def _profile(fields: Fields, findings: Findings) -> Profile:
    given: dict[str, Fields] = {}
    for one in fields.items("pluginConfig"):
        name = one.required("name")
        if name and name not in (policy.EVICTOR, *_READERS, *_OTHERS):
            one.wrong("name", str(unknown_name("plugin", name, (policy.EVICTOR, *_READERS, *_OTHERS)).problem), name)
        given[name] = one.inside("args")
        one.finish()
    plugins = fields.inside("plugins")
    enabled = {point: tuple(_enabled(plugins.inside(point), given, findings)) for point in _POINTS}
    plugins.finish(quiet=_QUIET_POINTS)
    evictor = _evictor(given[policy.EVICTOR]) if policy.EVICTOR in given else Evictor()
    profile = Profile(fields.text("name"), evictor, enabled["deschedule"], enabled["balance"])
    fields.finish()
    return profile


def _enabled(point: Fields, given: Mapping[str, Fields], findings: Findings) -> list[Plugin]:
    found: list[Plugin] = []
    for name in point.texts("enabled"):
        if name in _READERS:
            found.append(_READERS[name](given.get(name, Fields({}, findings, policy.POLICY, point.steps))))
        elif name in _OTHERS:
            findings.ignored[f"{policy.POLICY}.profiles.plugins.{name}"] += 1
        else:
            point.wrong("enabled", unknown_name("plugin", name, (*_READERS, *_OTHERS)).problem, name)
    point.finish(quiet=("disabled",))
    return found


def _evictor(args: Fields) -> Evictor:
    threshold = args.inside("priorityThreshold")
    value, name = threshold.maybe_integer("value", low=-(2**31)), threshold.text("name")
    if value is not None and name:
        threshold.wrong("name", "only one of name and value can be set", name)
    threshold.finish()
    protections = args.inside("podProtections")
    disabled, extra = protections.texts("defaultDisabled"), protections.texts("extraEnabled")
    _known(protections, "defaultDisabled", disabled, policy.DEFAULT_PROTECTIONS)
    _known(protections, "extraEnabled", extra, policy.EXTRA_PROTECTIONS)
    protections.finish(ignored=("config",))
    kept = {one for one in policy.DEFAULT_PROTECTIONS if one not in disabled} | {*extra}
    flags = {name: args.boolean(name) for name, _ in _FLAGS}
    claims, budget = args.boolean("ignorePvcPods"), args.boolean("ignorePodsWithoutPDB")
    if not disabled and not extra:  # the older flags count only then
        kept = {kind for name, kind in _FLAGS if not flags[name]}
        kept |= ({policy.CLAIMS} if claims else set()) | ({policy.NO_BUDGET} if budget else set())
    age = _duration(args, "minPodAge") if "minPodAge" in args else 0
    found = Evictor(
        node_selector=_selector_text(args, "nodeSelector"),
        label_selector=read_label_selector(args, "labelSelector"),
        priority_threshold=value,
        priority_class=name,
        node_fit=args.boolean("nodeFit"),
        min_replicas=args.integer("minReplicas"),
        min_pod_age_ns=age,
        mandatory=args.text("noEvictionPolicy", of=("Preferred", "Mandatory")) == "Mandatory",
        protections=frozenset(kept),
    )
    args.finish(quiet=_QUIET_ARGS, ignored=("namespaceLabelSelector",))
    return found


def _known(fields: Fields, key: str, names: tuple[str, ...], allowed: tuple[str, ...]) -> None:
    for name in names:
        if name not in allowed:
            fields.wrong(key, unknown_name("protection", name, allowed).problem, name, ", ".join(allowed))


def _low(args: Fields) -> Plugin:
    low, high = _thresholds(args, "thresholds"), _thresholds(args, "targetThresholds")
    deviation = args.boolean("useDeviationThresholds")
    if not low or low.keys() != high.keys():
        args.wrong("targetThresholds", "thresholds and targetThresholds must name the same resources")
    elif not deviation and any(low[name] > high[name] for name in low):
        args.wrong("thresholds", "a threshold is above its target")
    limits = args.inside("evictionLimits")
    node_limit = limits.maybe_integer("node")
    limits.finish()
    found = policy.Utilization(
        policy.LOW,
        low,
        high,
        deviation,
        args.integer("numberOfNodes"),
        _namespaces(args, "evictableNamespaces"),
        node_limit,
    )
    args.finish(quiet=_QUIET_ARGS, ignored=("metricsUtilization",))
    return found


def _high(args: Fields) -> Plugin:
    low = _thresholds(args, "thresholds")
    if not low:
        args.wrong("thresholds", "this is missing")
    number, namespaces = args.integer("numberOfNodes"), _namespaces(args, "evictableNamespaces")
    args.finish(quiet=_QUIET_ARGS, ignored=("metricsUtilization", "evictionModes"))
    return policy.Utilization(policy.HIGH, low, number_of_nodes=number, namespaces=namespaces)


def _duplicates(args: Fields) -> Plugin:
    found = policy.Duplicates(args.texts("excludeOwnerKinds"), _namespaces(args, "namespaces"))
    args.finish(quiet=_QUIET_ARGS)
    return found


def _spread(args: Fields) -> Plugin:
    constraints = args.texts("constraints") or (DO_NOT_SCHEDULE,)
    _known(args, "constraints", constraints, (DO_NOT_SCHEDULE, SCHEDULE_ANYWAY))
    fits = args.boolean("topologyBalanceNodeFit") if "topologyBalanceNodeFit" in args else True
    selector, namespaces = read_label_selector(args, "labelSelector"), _namespaces(args, "namespaces")
    args.finish(quiet=_QUIET_ARGS)
    return policy.SpreadViolations(constraints, fits, selector, namespaces)


def _restarts(args: Fields) -> Plugin:
    threshold = args.integer("podRestartThreshold")
    if threshold < 1:
        args.wrong("podRestartThreshold", "out of bounds", args.raw("podRestartThreshold"), "1 or more")
    found = policy.Restarts(
        threshold,
        args.texts("states"),
        read_label_selector(args, "labelSelector"),
        _namespaces(args, "namespaces"),
    )
    args.finish(quiet=(*_QUIET_ARGS, "includingInitContainers"))
    return found


_READERS: Final[Mapping[str, Callable[[Fields], Plugin]]] = {
    policy.LOW: _low,
    policy.HIGH: _high,
    policy.DUPLICATES: _duplicates,
    policy.SPREAD: _spread,
    policy.RESTARTS: _restarts,
}


def _namespaces(args: Fields, key: str) -> Namespaces:
    fields = args.inside(key)
    found = Namespaces(fields.texts("include"), fields.texts("exclude"))
    if found.include and found.exclude:
        fields.wrong("exclude", "only one of include and exclude can be set")
    fields.finish()
    return found


def _thresholds(args: Fields, key: str) -> dict[str, int]:
    fields, found = args.inside(key), dict[str, int]()
    written = args.raw(key)
    for name in written if isinstance(written, dict) else ():
        value = fields.raw(name)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 100:
            fields.wrong(name, "a percentage is wanted", value, "0 to 100")
        else:
            found[str(name)] = round(Fraction(str(value)) * policy.PERCENT)
    return found


def _duration(fields: Fields, key: str) -> int:
    try:
        return parse_duration(fields.text(key))
    except ValueError as error:
        fields.wrong(key, str(error), fields.raw(key), "for instance 5m")
        return 0


def _selector_text(fields: Fields, key: str) -> LabelSelector | None:
    """A label selector as one writes it for kubectl: ``key=value``, ``key!=value``, ``key`` and ``!key``, by commas."""
    text = fields.text(key)
    requirements = []
    for part in filter(None, (one.strip() for one in text.split(","))):
        name, bare = part.lstrip("!").strip(), "=" not in part
        if (" " in name and bare) or "(" in part:
            fields.wrong(key, "this form of a selector is not modelled", part, "key=value, key!=value, key, !key")
        elif bare:
            requirements.append(Requirement(name, "DoesNotExist" if part.startswith("!") else "Exists"))
        elif "!=" in part:
            name, _, wanted = part.partition("!=")
            requirements.append(Requirement(name.strip(), "NotIn", (wanted.strip(),)))
        else:
            name, _, wanted = part.partition("=")
            requirements.append(Requirement(name.strip(), "In", (wanted.removeprefix("=").strip(),)))
    return LabelSelector(tuple(requirements)) if requirements else None
