"""From a KubeSchedulerConfiguration to the profiles that it means.

The merging with the defaults follows kube-scheduler 1.34 (semantics sheet §4.2;
https://kubernetes.io/docs/reference/scheduling/config/): what ``multiPoint`` enables takes part at every point that the
plugin has; what a point itself enables comes before; ``disabled: [{name: "*"}]`` clears.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Final

from gnomon.model.errors import InputError, unknown_name
from gnomon.systems.kubernetes.api.constraints import DO_NOT_SCHEDULE
from gnomon.systems.kubernetes.api.objects import DEFAULT_SCHEDULER
from gnomon.systems.kubernetes.api.profile import (
    DEFAULT_WEIGHTS,
    FILTERS,
    POST_FILTERS,
    PRE_ENQUEUE,
    PRE_FILTERS,
    SCORES,
    AffinityArgs,
    FitArgs,
    PreemptionArgs,
    Profile,
    Settings,
    SpreadArgs,
    SpreadConstraint,
)
from gnomon.systems.kubernetes.read.fields import Fields, Findings
from gnomon.systems.kubernetes.read.selector_fields import read_node_affinity

KIND: Final = "KubeSchedulerConfiguration"
_POINTS = {
    "preEnqueue": PRE_ENQUEUE,
    "preFilter": PRE_FILTERS,
    "filter": FILTERS,
    "postFilter": POST_FILTERS,
    "score": SCORES,
}
_QUIET: Final = (
    "apiVersion kind parallelism leaderElection clientConnection enableProfiling enableContentionProfiling "
    "delayCacheUntilActive healthzBindAddress metricsBindAddress"
).split()
_BACKOFF_MAX_S: Final = 10**6
_STRATEGIES: Final = ("LeastAllocated", "MostAllocated", "RequestedToCapacityRatio")
_OTHER_POINTS = ("multiPoint", "queueSort", "preScore", "reserve", "permit", "preBind", "bind", "postBind")


def read_configuration(written: Mapping[str, Any] | None) -> Settings:
    """The settings that a configuration means; None is the default one. Raises InputError for the first mistake.

    >>> read_configuration({"profiles": [{"schedulerName": "packer"}]}).profiles["packer"].filters[0]
    'NodeUnschedulable'
    """
    if written is None:
        return Settings()
    findings = Findings()
    settings = settings_of(written, findings)
    for one in findings.problems:
        raise InputError(one.problem, field=one.field, found=one.found, allowed=one.allowed)
    return settings


def settings_of(written: Mapping[str, Any], findings: Findings) -> Settings:
    """The settings that a configuration means; what is wrong with it is among the findings."""
    fields = Fields(written, findings, KIND)
    profiles: dict[str, Profile] = {}
    for entry in fields.items("profiles"):
        profile = _profile(entry)
        if profile.name in profiles:
            entry.wrong("schedulerName", "two profiles of one name", profile.name)
        profiles[profile.name] = profile
    if not profiles:
        profiles[DEFAULT_SCHEDULER] = Profile()
    percentage = fields.integer("percentageOfNodesToScore", 0, high=100)
    initial_s = fields.integer("podInitialBackoffSeconds", 1, low=1, high=_BACKOFF_MAX_S)
    max_s = fields.integer("podMaxBackoffSeconds", 10, low=1, high=_BACKOFF_MAX_S)
    fields.finish(quiet=_QUIET, ignored=("extenders",))
    return Settings(profiles, percentage, initial_s, max_s)


@dataclass(frozen=True)
class _Set:
    """What one extension point enables, with weights, and disables."""

    enabled: Mapping[str, int]
    disabled: frozenset[str]


def _profile(entry: Fields) -> Profile:
    plugins = entry.inside("plugins")
    multi = _merged(_set(plugins, "multiPoint"))
    parts = {point: _at_point(point, multi, _set(plugins, point)) for point in _POINTS}
    for point in _OTHER_POINTS[1:]:
        _set(plugins, point)
    _refuse_other_points(plugins, entry.raw("plugins"))
    profile = Profile(
        name=entry.text("schedulerName", DEFAULT_SCHEDULER),
        pre_enqueue=tuple(parts["preEnqueue"]),
        pre_filters=tuple(parts["preFilter"]),
        filters=tuple(parts["filter"]),
        post_filters=tuple(parts["postFilter"]),
        scores=tuple((name, weight or multi.get(name, 0) or 1) for name, weight in parts["score"].items()),
        percentage=entry.maybe_integer("percentageOfNodesToScore", high=100),
    )
    for plugin in entry.items("pluginConfig"):
        args = plugin.inside("args")
        profile = _with_arguments(profile, _plugin_name(plugin), args)
        args.finish(quiet=("apiVersion", "kind", "bindTimeoutSeconds"))
        plugin.finish()
    entry.finish()
    return profile


def _refuse_other_points(plugins: Fields, written: Any) -> None:
    for point in map(str, written) if isinstance(written, dict) else ():
        if point not in _POINTS and point not in _OTHER_POINTS:
            _refuse(plugins, point, unknown_name("extension point", point, [*_POINTS, *_OTHER_POINTS]))


def _refuse(fields: Fields, key: str, error: InputError) -> None:
    fields.wrong(key, error.problem, error.found, error.allowed)


def _set(plugins: Fields, point: str) -> _Set:
    written = plugins.inside(point)
    enabled = {_plugin_name(entry): entry.integer("weight", 0) for entry in written.items("enabled")}
    gone = frozenset(_plugin_name(entry, "*") for entry in written.items("disabled"))
    written.finish()
    return _Set({name: weight for name, weight in enabled.items() if name}, gone)


def _plugin_name(entry: Fields, *also: str) -> str:
    """The plugin that an entry names; empty for one that there is not."""
    name = entry.required("name")
    if not name or name in DEFAULT_WEIGHTS or name in also:
        return name
    _refuse(entry, "name", unknown_name("plugin", name, [*DEFAULT_WEIGHTS, *also]))
    return ""


def _merged(custom: _Set) -> dict[str, int]:
    """The default plugins less those disabled; one enabled again keeps its place with the new weight."""
    gone = custom.disabled
    kept = {} if "*" in gone else {name: weight for name, weight in DEFAULT_WEIGHTS.items() if name not in gone}
    return {**kept, **custom.enabled}


def _at_point(point: str, multi: Mapping[str, int], own: _Set) -> dict[str, int]:
    """The plugins at one point, in their order, with the weights set there: those that the point names and multiPoint
    has too, then the rest of multiPoint, then what only the point names."""
    able = _POINTS[point]
    gone = own.disabled
    named = {name: weight for name, weight in own.enabled.items() if name in able}
    general = {} if "*" in gone else {name: 0 for name in multi if name in able and name not in gone}
    first = {name: weight for name, weight in named.items() if name in general}
    rest = {name: weight for name, weight in general.items() if name not in first}
    return {**first, **rest, **{name: weight for name, weight in named.items() if name not in first}}


def _with_arguments(profile: Profile, name: str, args: Fields) -> Profile:
    if name == "NodeResourcesFit":
        return replace(profile, fit=_fit(args))
    if name == "NodeResourcesBalancedAllocation":
        named = tuple(one for one, _ in _weighed(args))
        return replace(profile, balanced=named or profile.balanced)
    if name == "PodTopologySpread":
        return replace(profile, spread=_spread(args))
    if name == "InterPodAffinity":
        weight = args.integer("hardPodAffinityWeight", 1, high=100)
        return replace(profile, affinity=AffinityArgs(weight, args.boolean("ignorePreferredTermsOfExistingPods")))
    if name == "NodeAffinity":
        required, preferred = read_node_affinity(args.inside("addedAffinity"))
        return replace(profile, added_required=required, added_preferred=preferred)
    if name == "DefaultPreemption":
        share = args.integer("minCandidateNodesPercentage", 10, high=100)
        return replace(profile, preemption=PreemptionArgs(share, args.integer("minCandidateNodesAbsolute", 100)))
    return profile


def _weighed(fields: Fields) -> Iterable[tuple[str, int]]:
    """Resources with their weights."""
    return tuple((one.required("name"), one.integer("weight", 1, high=100) or 1) for one in fields.items("resources"))


def _fit(args: Fields) -> FitArgs:
    strategy = args.inside("scoringStrategy")
    kind = strategy.text("type", _STRATEGIES[0])
    if kind not in _STRATEGIES:
        _refuse(strategy, "type", unknown_name("scoring strategy", kind, _STRATEGIES))
    resources = tuple(_weighed(strategy))
    ratio = strategy.inside("requestedToCapacityRatio")
    points = tuple(
        (point.integer("utilization", 0, high=100), point.integer("score", 0, high=10))
        for point in ratio.items("shape")
    )
    if kind == _STRATEGIES[-1] and (not points or any(a[0] >= b[0] for a, b in pairwise(points))):
        ratio.wrong("shape", "the shape needs points with rising utilization", points)
    ignored, groups = frozenset(args.texts("ignoredResources")), frozenset(args.texts("ignoredResourceGroups"))
    for fields in (ratio, strategy):
        fields.finish()
    return FitArgs(kind, resources or FitArgs.resources, points, ignored, groups)


def _spread(args: Fields) -> SpreadArgs:
    kind, kinds = args.text("defaultingType", "System"), ("System", "List")
    if kind not in kinds:
        _refuse(args, "defaultingType", unknown_name("defaultingType", kind, kinds))
    constraints = tuple(
        SpreadConstraint(
            one.required("topologyKey"),
            one.integer("maxSkew", 1, low=1),
            one.text("whenUnsatisfiable", of=(DO_NOT_SCHEDULE, "ScheduleAnyway")) == DO_NOT_SCHEDULE,
        )
        for one in args.items("defaultConstraints")
    )
    return SpreadArgs(constraints, False) if kind == "List" else SpreadArgs()
