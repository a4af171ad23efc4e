"""LowNodeUtilization and HighNodeUtilization: pods of nodes above, or below, a share of what nodes offer are sent away.

Source: kubernetes-sigs/descheduler ``pkg/framework/plugins/nodeutilization`` (nodeutilization.go at 0a53baf6,
lownodeutilization.go at 020c9e77, highnodeutilization.go): what counts is what pods ask for, not what they use. A node
is below when it is at most at the threshold in *every* resource, above when it is over the target in *any*. Shares are
exact here, and floating point there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from gnomon.systems.kubernetes.api.descheduling import LOW, PERCENT, Thresholds, Utilization
from gnomon.systems.kubernetes.api.objects import Node, Pod
from gnomon.systems.kubernetes.api.requests import pod_requests, qos_class
from gnomon.systems.kubernetes.descheduler.evictor import Done, Facts, Filter, Limits
from gnomon.systems.kubernetes.descheduler.view import BASIC, Seen, View, tolerates_some

_ALL: Final = Fraction(100)

Percentages = Mapping[str, Fraction]
_QOS: Final = ("BestEffort", "Burstable", "Guaranteed")

Goes = Callable[["_Source", Mapping[str, int]], bool]
"""Whether evicting from a node goes on, by what there is room for elsewhere."""


@dataclass
class _Source:
    """A node, what is asked for on it (it goes down with each eviction), and what may be, by resource."""

    node: Node
    used: dict[str, int]
    bound: Mapping[str, int]

    def over(self) -> list[str]:
        """The resources in which it is above its bound."""
        return [name for name, amount in self.used.items() if amount > self.bound[name]]


def balance(args: Utilization, view: View, rule: Filter, limits: Limits) -> None:
    """One run of the plugin."""
    names = [*dict.fromkeys([*args.thresholds, *BASIC])]
    if args.name == LOW:
        low, high = _spans(args, view)
        below = [node for node in view.nodes if not node.unschedulable and _is_below(view, node, low)]
        above = [node for node in _others(view, below) if _is_above(view, node, high)]
        if not above or not _worth(args, view, below):
            return
        sources = sorted((_source(view, node, high, names) for node in above), key=lambda one: -sum(one.used.values()))
        targets = [_source(view, node, high, names) for node in below]
        _empty(args, view, rule, limits, (sources, targets, _while_above))
        return
    thresholds = {**dict.fromkeys(BASIC, _ALL), **_percent(args.thresholds)}
    below = [node for node in view.nodes if _is_below(view, node, thresholds)]
    others = [node for node in _others(view, below) if not node.unschedulable]
    if not others or not _worth(args, view, below):
        return
    sources = sorted((_source(view, node, {}, names) for node in below), key=lambda one: sum(one.used.values()))
    _empty(args, view, rule, limits, (sources, [_source(view, node, {}, names) for node in others], _while_room))


def _others(view: View, nodes: Sequence[Node]) -> list[Node]:
    names = {node.name for node in nodes}
    return [node for node in view.nodes if node.name not in names]


def _worth(args: Utilization, view: View, below: Sequence[Node]) -> bool:
    return args.number_of_nodes < len(below) < len(view.nodes)


def _while_room(source: _Source, room: Mapping[str, int]) -> bool:
    return all(amount > 0 for amount in room.values())


def _while_above(source: _Source, room: Mapping[str, int]) -> bool:
    return bool(source.over()) and _while_room(source, room)


def _percent(thresholds: Thresholds) -> dict[str, Fraction]:
    return {name: Fraction(threshold, PERCENT) for name, threshold in thresholds.items()}


def _spans(args: Utilization, view: View) -> tuple[Percentages, Percentages]:
    """The thresholds, from the mean of all nodes on where they are deviations from it."""
    below, above = _percent(args.thresholds), _percent(args.targets)
    if not args.deviation:
        return below, above
    mean = {
        name: sum((share(view, node, name) for node in view.nodes), Fraction(0)) / max(len(view.nodes), 1)
        for name in below
    }
    low = {name: max(Fraction(0), mean[name] - span) for name, span in below.items()}
    return low, {name: min(_ALL, mean[name] + span) for name, span in above.items()}


def share(view: View, node: Node, name: str) -> Fraction:
    """What is asked for of a resource of a node, in percent of what it offers; 0 where it offers none."""
    offered = node.allocatable.get(name, 0)
    return Fraction(100 * view.used(node.name, (name,))[name], offered) if offered else Fraction(0)


def _is_below(view: View, node: Node, thresholds: Percentages) -> bool:
    return all(share(view, node, name) <= threshold for name, threshold in thresholds.items())


def _is_above(view: View, node: Node, targets: Percentages) -> bool:
    return any(share(view, node, name) > target for name, target in targets.items())


def _source(view: View, node: Node, targets: Percentages, names: Sequence[str]) -> _Source:
    bound = {name: node.allocatable.get(name, 0) for name in names}
    for name, target in targets.items():
        bound[name] = int(bound[name] * target / 100)
    return _Source(node, view.used(node.name, names), bound)


def _empty(
    args: Utilization,
    view: View,
    rule: Filter,
    limits: Limits,
    what: tuple[Sequence[_Source], Sequence[_Source], Goes],
) -> None:
    """Evict pods of the sources as long as the targets have room for them (evictPodsFromSourceNodes)."""
    sources, targets, goes_on = what
    names = sources[0].used.keys()
    room = {name: sum(one.bound[name] - one.used[name] for one in targets) for name in names}
    nodes = [one.node for one in targets]
    for source in sources:
        going = sorted((one for one in view.pods.get(source.node.name, ()) if rule.may_go(one)), key=_least_first)
        if going and goes_on(source, room) and not _evict(args, rule, limits, (source, going, nodes, room, goes_on)):
            return


def _evict(
    args: Utilization,
    rule: Filter,
    limits: Limits,
    what: tuple[_Source, Iterable[Seen], Sequence[Node], dict[str, int], Goes],
) -> bool:
    """Evict pods of one node; whether there may be more evictions after that (evictPods)."""
    source, going, nodes, room, goes_on = what
    count = 0
    for one in going:
        if args.node_limit is not None and count >= args.node_limit:
            break
        if not tolerates_some(one.pod, nodes) or one.pod.namespace not in args.namespaces or not rule.fits(one):
            continue
        done = limits.evict(one, args.name, _facts(source))
        if done in (Done.TOTAL_LIMIT, Done.NODE_LIMIT):
            return done is Done.NODE_LIMIT
        if done is Done.REFUSED:
            continue
        count += 1
        asked = {**pod_requests(one.pod.spec), "pods": 1}
        for name in room:
            source.used[name] -= asked.get(name, 0)
            room[name] -= asked.get(name, 0)
        if not goes_on(source, room):
            break
    return True


def _facts(source: _Source) -> Facts:
    """In which resource a node is over its bound the most, by share."""
    over = source.over()
    if not over:
        return {}
    name = max(over, key=lambda one: Fraction(source.used[one], max(source.bound[one], 1)))
    offered = source.node.allocatable.get(name, 0)
    return {"resource": name, "used": source.used[name], "bound": source.bound[name], "offered": offered}


def _least_first(one: Seen) -> tuple[bool, int, int]:
    """Lowest priority first, then by class (SortPodsBasedOnPriorityLowToHigh)."""
    pod: Pod = one.pod
    return pod.spec.priority is not None, pod.priority, _QOS.index(qos_class(pod.spec))
