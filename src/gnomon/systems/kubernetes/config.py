"""From a KubeSchedulerConfiguration to the profiles that it means.

The merging with the defaults follows kube-scheduler 1.34 (semantics sheet §4.2;
https://kubernetes.io/docs/reference/scheduling/config/): what ``multiPoint`` enables takes part at every point that the
plugin has; what a point itself enables comes before; ``disabled: [{name: "*"}]`` clears.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from gnomon.model.errors import InputError, unknown_name
from gnomon.systems.kubernetes.objects import DEFAULT_SCHEDULER, NodeSelectorTerm, PreferredNodeTerm, Requirement
from gnomon.systems.kubernetes.profile import (
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

_POINTS = {
    "preEnqueue": PRE_ENQUEUE,
    "preFilter": PRE_FILTERS,
    "filter": FILTERS,
    "postFilter": POST_FILTERS,
    "score": SCORES,
}
_OTHER_POINTS = ("multiPoint", "queueSort", "preScore", "reserve", "permit", "preBind", "bind", "postBind")


def read_configuration(written: Mapping[str, Any] | None) -> Settings:
    """The settings that a configuration means; None is the default one. Raises InputError.

    >>> read_configuration({"profiles": [{"schedulerName": "packer"}]}).profiles["packer"].filters[0]
    'NodeUnschedulable'
    """
    if written is None:
        return Settings()
    profiles: dict[str, Profile] = {}
    for i, entry in enumerate(_list(written, "profiles", "") or [{}]):
        profile = _profile(_mapping(entry, f"profiles[{i}]"), f"profiles[{i}]")
        if profile.name in profiles:
            raise InputError("two profiles of one name", field=f"profiles[{i}].schedulerName", found=profile.name)
        profiles[profile.name] = profile
    return Settings(
        profiles,
        _integer(written, "percentageOfNodesToScore", 0, within=(0, 100)),
        _integer(written, "podInitialBackoffSeconds", 1, within=(1, 10**6)),
        _integer(written, "podMaxBackoffSeconds", 10, within=(1, 10**6)),
    )


@dataclass(frozen=True)
class _Set:
    """What one extension point enables, with weights, and disables."""

    enabled: Mapping[str, int]
    disabled: frozenset[str]


def _profile(entry: Mapping[str, Any], place: str) -> Profile:
    plugins = _mapping(entry.get("plugins") or {}, f"{place}.plugins")
    for point in plugins:
        if point not in _POINTS and point not in _OTHER_POINTS:
            raise unknown_name("extension point", point, [*_POINTS, *_OTHER_POINTS]).at(field=f"{place}.plugins")
    multi = _merged(_set(plugins, "multiPoint", place))
    parts = {point: _at_point(point, multi, _set(plugins, point, place)) for point in _POINTS}
    percentage = entry.get("percentageOfNodesToScore")
    profile = Profile(
        name=entry.get("schedulerName") or DEFAULT_SCHEDULER,
        pre_enqueue=tuple(parts["preEnqueue"]),
        pre_filters=tuple(parts["preFilter"]),
        filters=tuple(parts["filter"]),
        post_filters=tuple(parts["postFilter"]),
        scores=tuple((name, weight or multi.get(name, 0) or 1) for name, weight in parts["score"].items()),
        percentage=None
        if percentage is None
        else _integer(entry, "percentageOfNodesToScore", 0, within=(0, 100), place=place),
    )
    for i, plugin in enumerate(_list(entry, "pluginConfig", place)):
        here = f"{place}.pluginConfig[{i}]"
        name = _plugin_name(plugin, here)
        profile = _with_arguments(profile, name, _mapping(plugin.get("args") or {}, f"{here}.args"), f"{here}.args")
    return profile


def _set(plugins: Mapping[str, Any], point: str, place: str) -> _Set:
    place = f"{place}.plugins.{point}"
    written = _mapping(plugins.get(point) or {}, place)
    enabled = {}
    for i, entry in enumerate(_list(written, "enabled", place)):
        name = _plugin_name(entry, f"{place}.enabled[{i}]")
        enabled[name] = _integer(entry, "weight", 0, within=(0, 2**31 - 1), place=f"{place}.enabled[{i}]")
    gone = (_plugin_name(entry, f"{place}.disabled", "*") for entry in _list(written, "disabled", place))
    return _Set(enabled, frozenset(gone))


def _plugin_name(entry: Any, place: str, *also: str) -> str:
    name = str(_mapping(entry, place).get("name"))
    if name not in DEFAULT_WEIGHTS and name not in also:
        raise unknown_name("plugin", name, [*DEFAULT_WEIGHTS, *also]).at(field=f"{place}.name")
    return name


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


def _with_arguments(profile: Profile, name: str, args: Mapping[str, Any], place: str) -> Profile:
    if name == "NodeResourcesFit":
        return replace(profile, fit=_fit(args, place))
    if name == "NodeResourcesBalancedAllocation":
        named = tuple(str(_mapping(entry, place).get("name")) for entry in _list(args, "resources", place))
        return replace(profile, balanced=named or profile.balanced)
    if name == "PodTopologySpread":
        return replace(profile, spread=_spread(args, place))
    if name == "InterPodAffinity":
        weight = _integer(args, "hardPodAffinityWeight", 1, within=(0, 100), place=place)
        return replace(profile, affinity=AffinityArgs(weight, bool(args.get("ignorePreferredTermsOfExistingPods"))))
    if name == "NodeAffinity":
        return _with_added(profile, _mapping(args.get("addedAffinity") or {}, place), f"{place}.addedAffinity")
    if name == "DefaultPreemption":
        share = _integer(args, "minCandidateNodesPercentage", 10, within=(0, 100), place=place)
        count = _integer(args, "minCandidateNodesAbsolute", 100, within=(0, 2**31 - 1), place=place)
        return replace(profile, preemption=PreemptionArgs(share, count))
    return profile


def _with_added(profile: Profile, affinity: Mapping[str, Any], place: str) -> Profile:
    """The affinity to nodes that NodeAffinityArgs add to every pod's own."""
    required, terms = affinity.get("requiredDuringSchedulingIgnoredDuringExecution"), None
    if required is not None:
        listed = _list(_mapping(required, place), "nodeSelectorTerms", place)
        terms = tuple(_node_term(term, place) for term in listed)
    preferred = tuple(
        PreferredNodeTerm(
            _integer(_mapping(one, place), "weight", 1, within=(1, 100), place=place),
            _node_term(one.get("preference") or {}, place),
        )
        for one in _list(affinity, "preferredDuringSchedulingIgnoredDuringExecution", place)
    )
    return replace(profile, added_required=terms, added_preferred=preferred)


def _node_term(term: Any, place: str) -> NodeSelectorTerm:
    written_ = _mapping(term, place)
    expressions, fields = (
        tuple(
            Requirement(str(_mapping(r, place).get("key")), str(r.get("operator")), tuple(_list(r, "values", place)))
            for r in _list(written_, name, place)
        )
        for name in ("matchExpressions", "matchFields")
    )
    return NodeSelectorTerm(expressions, fields)


def _fit(args: Mapping[str, Any], place: str) -> FitArgs:
    here = f"{place}.scoringStrategy"
    strategy = _mapping(args.get("scoringStrategy") or {}, here)
    kind = strategy.get("type") or "LeastAllocated"
    kinds = ("LeastAllocated", "MostAllocated", "RequestedToCapacityRatio")
    if kind not in kinds:
        raise unknown_name("scoring strategy", str(kind), kinds).at(field=f"{here}.type")
    resources = tuple(
        (str(_mapping(entry, here).get("name")), _integer(entry, "weight", 1, within=(0, 100), place=here) or 1)
        for entry in _list(strategy, "resources", here)
    )
    ratio = _mapping(strategy.get("requestedToCapacityRatio") or {}, here)
    points = tuple(
        (
            _integer(_mapping(point, here), "utilization", 0, within=(0, 100), place=here),
            _integer(point, "score", 0, within=(0, 10), place=here),
        )
        for point in _list(ratio, "shape", here)
    )
    if kind == "RequestedToCapacityRatio" and (not points or any(a[0] >= b[0] for a, b in pairwise(points))):
        field = f"{here}.requestedToCapacityRatio.shape"
        raise InputError("the shape needs points with rising utilization", field=field, found=points)
    ignored = frozenset(map(str, _list(args, "ignoredResources", place)))
    groups = frozenset(map(str, _list(args, "ignoredResourceGroups", place)))
    return FitArgs(kind, resources or FitArgs.resources, points, ignored, groups)


def _spread(args: Mapping[str, Any], place: str) -> SpreadArgs:
    kind = args.get("defaultingType") or "System"
    if kind not in ("System", "List"):
        raise unknown_name("defaultingType", str(kind), ["System", "List"]).at(field=f"{place}.defaultingType")
    if kind == "System":
        return SpreadArgs()
    here = f"{place}.defaultConstraints"
    return SpreadArgs(
        tuple(
            SpreadConstraint(
                str(_mapping(entry, here).get("topologyKey")),
                _integer(entry, "maxSkew", 1, within=(1, 2**31 - 1), place=here),
                entry.get("whenUnsatisfiable") == "DoNotSchedule",
            )
            for entry in _list(args, "defaultConstraints", place)
        ),
        False,
    )


def _mapping(value: Any, place: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise InputError("not a mapping", field=place, found=value)
    return value


def _list(args: Mapping[str, Any], name: str, place: str) -> Sequence[Any]:
    value = args.get(name) or []
    if not isinstance(value, list | tuple):
        raise InputError("not a list", field=f"{place}.{name}".lstrip("."), found=value)
    return value


def _integer(args: Mapping[str, Any], name: str, default: int, *, within: tuple[int, int], place: str = "") -> int:
    value = args.get(name)
    if value is None:
        return default
    low, high = within
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        allowed = f"whole numbers from {low} to {high}"
        raise InputError("not such a number", field=f"{place}.{name}".lstrip("."), found=value, allowed=allowed)
    return value
