"""Why another node was chosen: the points of each score plugin, side by side."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from gnomon.insight.explain.phrases import counted
from gnomon.insight.explain.why_not import WhyNot
from gnomon.insight.kubernetes.classes import classes
from gnomon.insight.kubernetes.levers.bench import Bench
from gnomon.insight.kubernetes.moment import Moment
from gnomon.insight.kubernetes.summary import refusals
from gnomon.model.errors import unknown_name
from gnomon.systems.kubernetes.scheduler.cycle import Attempt, Scheduler


@dataclass(frozen=True, slots=True)
class Scored:
    """The points of one node, weights included, by plugin."""

    node: str
    points: dict[str, int]
    total: int

    def as_dict(self) -> dict[str, Any]:
        """In the form of ``explain -o json``."""
        return {"node": self.node, "total": self.total, "scores": self.points}


@dataclass(frozen=True, slots=True)
class PodWhyNot(WhyNot):
    """Why not on a node, with the points of that node and of the chosen one where both would do."""

    plugin: str = ""
    scores: tuple[Scored, ...] = field(default=())

    def as_dict(self) -> dict[str, Any]:
        """In the form of ``explain -o json``."""
        return {
            **WhyNot.as_dict(self),
            "plugin": self.plugin,
            "scores": [one.as_dict() for one in self.scores],
        }


def find_node(name: str, moment: Moment) -> int:
    """The number of a node, ``node/`` before its name or not. Raises InputError where there is none."""
    wanted = name.removeprefix("node/")
    if wanted in moment.state.index:
        return moment.state.index[wanted]
    raise unknown_name("node", wanted, moment.state.names).at(field="--why-not")


def scored(attempt: Attempt, names: list[str], node: int) -> Scored | None:
    """The points of one node; None where it was not scored."""
    at = np.flatnonzero(attempt.feasible == node)
    if not len(at) or attempt.total is None:
        return None
    points = {
        name: int(value if isinstance(value, int) else np.broadcast_to(value, attempt.feasible.shape)[at[0]])
        for name, value in attempt.scores
    }
    return Scored(names[node], points, int(attempt.total[at[0]]))


def why_not(moment: Moment, bench: Bench, node: int) -> PodWhyNot:
    """Why the pod is not on a node: what refuses it there, or how its points compare."""
    pod, names = moment.pod, moment.state.names
    name = names[node]
    if pod.node_name == name:
        return PodWhyNot(name, True, f"{pod.key} is on {name}", ("it is there",))
    for one in classes(bench.found):
        if node in one.members and one.plugin:
            alone = replace(one, nodes=1, example=name, members=(node,))
            clauses = [wait.text for wait in refusals(bench, [alone])]
            text = f"{name} does not take {pod.key}: {'; '.join((*one.reasons, *clauses))}"
            return PodWhyNot(name, False, text, (*one.reasons, *clauses), one.plugin)
    if moment.refused:
        return PodWhyNot(name, True, f"{name} would take {pod.key}, but it is not created", (moment.refused,))
    if moment.idle and not pod.node_name:
        return PodWhyNot(name, True, f"{name} would take {pod.key}, but it is not tried", (moment.idle,))
    attempt = Scheduler(moment.state, moment.settings, percentage=100).attempt(bench.pod)
    chosen = moment.state.index.get(pod.node_name or moment.went_to, attempt.chosen)
    both = tuple(found for found in (scored(attempt, names, node), scored(attempt, names, chosen)) if found)
    return _compared(moment, attempt, node, chosen, both)


def _compared(moment: Moment, attempt: Attempt, node: int, chosen: int, both: tuple[Scored, ...]) -> PodWhyNot:
    names, pod = moment.state.names, moment.pod
    name = names[node]
    if node in attempt.best.tolist() and (chosen == node or chosen in attempt.best.tolist()):
        equal = len(attempt.best)
        more = f", as well as {counted(equal - 1, 'other')}: one is drawn at random" if equal > 1 else ""
        text = f"{name} takes {pod.key}{more}"
        return PodWhyNot(name, True, text, ("it has the highest score",), "", both[:1])
    if len(both) < 2:
        where = f"; it is on {names[chosen]}" if pod.node_name and chosen >= 0 else ""
        return PodWhyNot(name, True, f"{name} would take {pod.key}{where}", ("it fits",), "", both)
    mine, other = both
    gaps = {key: other.points.get(key, 0) - mine.points.get(key, 0) for key in {**mine.points, **other.points}}
    most = max(gaps, key=lambda key: gaps[key])
    reason = f"{mine.total} points where {other.node} has {other.total}"
    differing = sorted((key for key in gaps if gaps[key]), key=lambda key: -gaps[key])
    if differing:
        parts = [f"{key} {mine.points.get(key, 0)} to {other.points.get(key, 0)}" for key in differing]
        reason += f" ({', '.join(parts)})"
    return PodWhyNot(name, True, f"{name} would take {pod.key} too, but has {reason}", (reason,), most, both)
