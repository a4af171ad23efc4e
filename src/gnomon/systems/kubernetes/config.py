"""KubeSchedulerConfiguration: which plugins take part in each profile, with what weights and arguments.

The merging of a profile with the defaults follows kube-scheduler 1.34 (semantics sheet §4.2;
https://kubernetes.io/docs/reference/scheduling/config/): what ``multiPoint`` enables takes part at every point that the
plugin has; what a point itself enables comes before; ``disabled: [{name: "*"}]`` clears.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gnomon.model.errors import InputError, unknown_name

DEFAULT_SCHEDULER = "default-scheduler"

DEFAULT_WEIGHTS: dict[str, int] = {
    "SchedulingGates": 0,
    "PrioritySort": 0,
    "NodeUnschedulable": 0,
    "NodeName": 0,
    "TaintToleration": 3,
    "NodeAffinity": 2,
    "NodePorts": 0,
    "NodeResourcesFit": 1,
    "VolumeRestrictions": 0,
    "NodeVolumeLimits": 0,
    "VolumeBinding": 0,
    "VolumeZone": 0,
    "PodTopologySpread": 2,
    "InterPodAffinity": 2,
    "DynamicResources": 0,
    "DefaultPreemption": 0,
    "NodeResourcesBalancedAllocation": 1,
    "ImageLocality": 1,
    "DefaultBinder": 0,
}
"""The default plugins in their order, with their weights (0: none set, which counts as 1 where it scores)."""

FILTERS = frozenset(
    """NodeUnschedulable NodeName TaintToleration NodeAffinity NodePorts NodeResourcesFit VolumeRestrictions
    NodeVolumeLimits VolumeBinding VolumeZone PodTopologySpread InterPodAffinity DynamicResources""".split()
)
SCORES = frozenset(
    """TaintToleration NodeAffinity NodeResourcesFit VolumeBinding PodTopologySpread InterPodAffinity
    NodeResourcesBalancedAllocation ImageLocality DynamicResources""".split()
)
POST_FILTERS = frozenset(["DynamicResources", "DefaultPreemption"])
PRE_FILTERS = frozenset(
    """NodeAffinity NodePorts NodeResourcesFit VolumeRestrictions NodeVolumeLimits VolumeBinding VolumeZone
    PodTopologySpread InterPodAffinity DynamicResources""".split()
)
PRE_ENQUEUE = frozenset(["SchedulingGates", "DynamicResources", "DefaultPreemption"])

_POINTS = {
    "preEnqueue": PRE_ENQUEUE,
    "preFilter": PRE_FILTERS,
    "filter": FILTERS,
    "postFilter": POST_FILTERS,
    "score": SCORES,
}
_OTHER_POINTS = frozenset(["queueSort", "preScore", "reserve", "permit", "preBind", "bind", "postBind"])


@dataclass(frozen=True)
class FitArgs:
    """NodeResourcesFitArgs: how free resources are scored, and which extended resources the filter leaves out."""

    strategy: str = "LeastAllocated"
    resources: tuple[tuple[str, int], ...] = (("cpu", 1), ("memory", 1))
    shape: tuple[tuple[int, int], ...] = ()
    """Of RequestedToCapacityRatio: (utilisation in percent, score 0..10)."""
    ignored: frozenset[str] = frozenset()
    ignored_groups: frozenset[str] = frozenset()


@dataclass(frozen=True)
class SpreadConstraint:
    """A default constraint of PodTopologySpreadArgs."""

    key: str
    max_skew: int
    hard: bool


SYSTEM_DEFAULTS = (
    SpreadConstraint("kubernetes.io/hostname", 3, False),
    SpreadConstraint("topology.kubernetes.io/zone", 5, False),
)
"""Sheet §4.5: what pods of a Service or a controller get when they declare no constraint."""


@dataclass(frozen=True)
class SpreadArgs:
    """PodTopologySpreadArgs. ``defaults`` apply to pods without constraints; ``system``: they are the built-in ones."""

    defaults: tuple[SpreadConstraint, ...] = SYSTEM_DEFAULTS
    system: bool = True


@dataclass(frozen=True)
class AffinityArgs:
    """InterPodAffinityArgs."""

    hard_weight: int = 1
    ignore_preferred_of_existing: bool = False


@dataclass(frozen=True)
class PreemptionArgs:
    """DefaultPreemptionArgs: how many nodes are tried at most."""

    min_percentage: int = 10
    min_absolute: int = 100


@dataclass(frozen=True)
class Profile:
    """One scheduler by name.

    >>> Profile().scores[:2]
    (('TaintToleration', 3), ('NodeAffinity', 2))
    """

    name: str = DEFAULT_SCHEDULER
    pre_enqueue: tuple[str, ...] = tuple(name for name in DEFAULT_WEIGHTS if name in PRE_ENQUEUE)
    pre_filters: tuple[str, ...] = tuple(name for name in DEFAULT_WEIGHTS if name in PRE_FILTERS)
    filters: tuple[str, ...] = tuple(name for name in DEFAULT_WEIGHTS if name in FILTERS)
    post_filters: tuple[str, ...] = tuple(name for name in DEFAULT_WEIGHTS if name in POST_FILTERS)
    scores: tuple[tuple[str, int], ...] = tuple((k, w or 1) for k, w in DEFAULT_WEIGHTS.items() if k in SCORES)
    fit: FitArgs = FitArgs()
    balanced: tuple[str, ...] = ("cpu", "memory")
    spread: SpreadArgs = SpreadArgs()
    affinity: AffinityArgs = AffinityArgs()
    preemption: PreemptionArgs = PreemptionArgs()
    added_affinity: Mapping[str, Any] | None = None
    """NodeAffinityArgs: a ``nodeAffinity`` that every pod of the profile has besides its own."""
    percentage: int | None = None
    """percentageOfNodesToScore of the profile."""


@dataclass(frozen=True)
class Configuration:
    """The scheduler's configuration. ``percentage``: percentageOfNodesToScore, 0 is adaptive. Back-offs in seconds."""

    profiles: Mapping[str, Profile] = field(default_factory=lambda: {DEFAULT_SCHEDULER: Profile()})
    percentage: int = 0
    initial_backoff_s: int = 1
    max_backoff_s: int = 10


def read_configuration(written: Mapping[str, Any] | None) -> Configuration:
    """The configuration that a KubeSchedulerConfiguration means; None is the default one. Raises InputError.

    >>> read_configuration({"profiles": [{"schedulerName": "packer"}]}).profiles["packer"].filters[0]
    'NodeUnschedulable'
    """
    if written is None:
        return Configuration()
    profiles: dict[str, Profile] = {}
    for i, entry in enumerate(_list(written, "profiles", "") or [{}]):
        place = f"profiles[{i}]"
        profile = _profile(_mapping(entry, place), place)
        if profile.name in profiles:
            raise InputError("two profiles of one name", field=f"{place}.schedulerName", found=profile.name)
        profiles[profile.name] = profile
    return Configuration(
        profiles,
        _integer(written, "percentageOfNodesToScore", 0, within=(0, 100)),
        _integer(written, "podInitialBackoffSeconds", 1, within=(1, 10**6)),
        _integer(written, "podMaxBackoffSeconds", 10, within=(1, 10**6)),
    )


def _profile(entry: Mapping[str, Any], place: str) -> Profile:
    plugins = _mapping(entry.get("plugins") or {}, f"{place}.plugins")
    for point in plugins:
        if point not in _POINTS and point not in _OTHER_POINTS and point != "multiPoint":
            raise unknown_name("extension point", point, [*_POINTS, *_OTHER_POINTS, "multiPoint"]).at(
                field=f"{place}.plugins"
            )
    multi = _merged(_set(plugins, "multiPoint", place))
    parts = {point: _at_point(point, multi, _set(plugins, point, place)) for point in _POINTS}
    scores = tuple((name, weight or multi.get(name, 0) or 1) for name, weight in parts["score"].items())
    named = {point: tuple(parts[point]) for point in _POINTS}
    percentage = entry.get("percentageOfNodesToScore")
    return _with_arguments(
        Profile(
            entry.get("schedulerName") or DEFAULT_SCHEDULER,
            named["preEnqueue"],
            named["preFilter"],
            named["filter"],
            named["postFilter"],
            scores,
            percentage=None if percentage is None else _integer(entry, "percentageOfNodesToScore", 0, within=(0, 100)),
        ),
        _list(entry, "pluginConfig", place),
        f"{place}.pluginConfig",
    )


@dataclass(frozen=True)
class _Set:
    enabled: dict[str, int]
    disabled: frozenset[str]


def _set(plugins: Mapping[str, Any], point: str, place: str) -> _Set:
    place = f"{place}.plugins.{point}"
    written = _mapping(plugins.get(point) or {}, place)
    enabled = {}
    for i, entry in enumerate(_list(written, "enabled", place)):
        name = _plugin_name(entry, f"{place}.enabled[{i}]", ())
        enabled[name] = _integer(entry, "weight", 0, within=(0, 2**31 - 1))
    disabled = [_plugin_name(entry, f"{place}.disabled", ("*",)) for entry in _list(written, "disabled", place)]
    return _Set(enabled, frozenset(disabled))


def _plugin_name(entry: Any, place: str, also: Sequence[str]) -> str:
    name = _mapping(entry, place).get("name")
    if name not in DEFAULT_WEIGHTS and name not in also:
        raise unknown_name("plugin", str(name), [*DEFAULT_WEIGHTS, *also]).at(field=f"{place}.name")
    return str(name)


def _merged(custom: _Set) -> dict[str, int]:
    """The default plugins less those disabled; one enabled again keeps its place with the new weight."""
    kept = {} if "*" in custom.disabled else {k: w for k, w in DEFAULT_WEIGHTS.items() if k not in custom.disabled}
    return {**kept, **custom.enabled}


def _at_point(point: str, multi: Mapping[str, int], own: _Set) -> dict[str, int]:
    """The plugins at one point, in their order, with the weights set there: those that the point names and multiPoint
    has too, then the rest of multiPoint, then what only the point names."""
    able = _POINTS[point]
    general = {} if "*" in own.disabled else {n: 0 for n in multi if n in able and n not in own.disabled}
    first = {name: weight for name, weight in own.enabled.items() if name in general}
    rest = {name: weight for name, weight in general.items() if name not in first}
    return {**first, **rest, **{n: w for n, w in own.enabled.items() if n in able and n not in first}}


def _with_arguments(profile: Profile, entries: Sequence[Any], place: str) -> Profile:
    from dataclasses import replace

    for i, entry in enumerate(entries):
        here = f"{place}[{i}]"
        name = _plugin_name(entry, here, ())
        args = _mapping(entry.get("args") or {}, f"{here}.args")
        here += ".args"
        if name == "NodeResourcesFit":
            profile = replace(profile, fit=_fit(args, here))
        elif name == "NodeResourcesBalancedAllocation":
            named = [str(r.get("name")) for r in _list(args, "resources", here)]
            profile = replace(profile, balanced=tuple(named) or profile.balanced)
        elif name == "PodTopologySpread":
            profile = replace(profile, spread=_spread(args, here))
        elif name == "InterPodAffinity":
            weight = _integer(args, "hardPodAffinityWeight", 1, within=(0, 100))
            ignore = bool(args.get("ignorePreferredTermsOfExistingPods", False))
            profile = replace(profile, affinity=AffinityArgs(weight, ignore))
        elif name == "NodeAffinity":
            profile = replace(profile, added_affinity=args.get("addedAffinity"))
        elif name == "DefaultPreemption":
            share = _integer(args, "minCandidateNodesPercentage", 10, within=(0, 100))
            count = _integer(args, "minCandidateNodesAbsolute", 100, within=(0, 2**31 - 1))
            profile = replace(profile, preemption=PreemptionArgs(share, count))
    return profile


def _fit(args: Mapping[str, Any], place: str) -> FitArgs:
    strategy = _mapping(args.get("scoringStrategy") or {}, f"{place}.scoringStrategy")
    kind = strategy.get("type") or "LeastAllocated"
    kinds = ("LeastAllocated", "MostAllocated", "RequestedToCapacityRatio")
    if kind not in kinds:
        raise unknown_name("scoring strategy", str(kind), kinds).at(field=f"{place}.scoringStrategy.type")
    resources = []
    for i, entry in enumerate(_list(strategy, "resources", place)):
        here = f"{place}.scoringStrategy.resources[{i}]"
        resources.append((str(_mapping(entry, here).get("name")), _integer(entry, "weight", 1, within=(0, 100)) or 1))
    ratio = _mapping(strategy.get("requestedToCapacityRatio") or {}, f"{place}.scoringStrategy")
    points = tuple(
        (_integer(point, "utilization", 0, within=(0, 100)), _integer(point, "score", 0, within=(0, 10)))
        for point in _list(ratio, "shape", place)
    )
    if kind == "RequestedToCapacityRatio" and (not points or sorted(points) != list(points)):
        field_ = f"{place}.scoringStrategy.requestedToCapacityRatio.shape"
        raise InputError("the shape needs points with rising utilization", field=field_, found=points)
    return FitArgs(
        kind,
        tuple(resources) or FitArgs.resources,
        points,
        frozenset(map(str, _list(args, "ignoredResources", place))),
        frozenset(map(str, _list(args, "ignoredResourceGroups", place))),
    )


def _spread(args: Mapping[str, Any], place: str) -> SpreadArgs:
    kind = args.get("defaultingType") or "System"
    if kind not in ("System", "List"):
        raise unknown_name("defaultingType", str(kind), ["System", "List"]).at(field=f"{place}.defaultingType")
    if kind == "System":
        return SpreadArgs()
    constraints = []
    for i, entry in enumerate(_list(args, "defaultConstraints", place)):
        here = f"{place}.defaultConstraints[{i}]"
        hard = _mapping(entry, here).get("whenUnsatisfiable") == "DoNotSchedule"
        skew = _integer(entry, "maxSkew", 1, within=(1, 2**31 - 1))
        constraints.append(SpreadConstraint(str(entry.get("topologyKey")), skew, hard))
    return SpreadArgs(tuple(constraints), False)


def _mapping(value: Any, place: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise InputError("not a mapping", field=place, found=value)
    return value


def _list(written: Mapping[str, Any], name: str, place: str) -> Sequence[Any]:
    value = written.get(name) or []
    if not isinstance(value, list | tuple):
        raise InputError("not a list", field=f"{place}.{name}".lstrip("."), found=value)
    return value


def _integer(written: Mapping[str, Any], name: str, default: int, *, within: tuple[int, int]) -> int:
    value = written.get(name, default)
    if value is None:
        return default
    low, high = within
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise InputError("not such a number", field=name, found=value, allowed=f"whole numbers from {low} to {high}")
    return value
