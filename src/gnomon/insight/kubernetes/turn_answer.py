"""The explanation of one pod at its turn, put together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from gnomon.insight.explain.answer import Explanation
from gnomon.insight.explain.chain import Link
from gnomon.insight.explain.changes import CONSTRAINT, Change
from gnomon.insight.explain.phrases import Numbers, counted, listed
from gnomon.insight.explain.waits import Wait
from gnomon.insight.kubernetes import quota
from gnomon.insight.kubernetes.classes import FIT, PodNodeClass, classes
from gnomon.insight.kubernetes.levers import claims, constraints, denials, others, own, pairs
from gnomon.insight.kubernetes.levers.bench import Bench, Lever, search
from gnomon.insight.kubernetes.levers.quota import quota_levers
from gnomon.insight.kubernetes.moment import Moment, key_of
from gnomon.insight.kubernetes.pod_waits import PodWait
from gnomon.insight.kubernetes.scores import find_node
from gnomon.insight.kubernetes.scores import why_not as tell_why_not
from gnomon.insight.kubernetes.subjects import Subject
from gnomon.insight.kubernetes.summary import refusals, sentence
from gnomon.systems.kubernetes.api.objects import Pod
from gnomon.systems.kubernetes.scheduler.fit_error import event_note
from gnomon.systems.kubernetes.scheduler.plugins.volume_binding import IMMEDIATE

CHANGES_MAX = 10
"""How many changes are told."""

PAIRS_MAX = 4
"""How many pairs of changes are told where no single one helps."""


@dataclass(frozen=True)
class PodExplanation(Explanation):
    """As any explanation; ``preemption``: whom the scheduler sends away for the pod, or why nobody."""

    preemption: dict[str, Any] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """In the form of ``explain -o json``."""
        return {**Explanation.as_dict(self), **({"preemption": self.preemption} if self.preemption else {})}


def of_moment(who: Subject, moment: Moment, *, why_not: str | None = None, native: str = "") -> PodExplanation:
    """The explanation of a pod at its turn. ``native``: what the event said, where that is known."""
    target = None if why_not is None else find_node(why_not, moment)
    bench = Bench(moment)
    rows = classes(bench.found)
    asked = None if target is None else tell_why_not(moment, bench, target)
    changes, notes = _changes(moment, bench, rows, target)
    spells, text, state = _told(moment, bench, rows, changes)
    others = _of_peers(who, moment)
    notes += _as_its_status_says(moment, native)
    return PodExplanation(
        subject=who.name,
        state=state,
        summary=text + others,
        native=native or _native(moment, text),
        waiting=tuple(spells),
        classes=tuple(rows),
        chain=tuple(_chain(moment)),
        changes=tuple(changes),
        notes=tuple(notes),
        why_not=asked,
        preemption=_preemption(moment),
    )


def _of_peers(who: Subject, moment: Moment) -> str:
    """Of a snapshot how many pods of a workload have a node, and how many would get one by now."""
    if len(who.pods) < 2 or moment.row >= 0:
        return ""
    placed = sum(1 for pod in who.pods if pod.node_name)
    keys = {pod.key for pod in who.pods}
    soon = sum(1 for pod, node in moment.before if node and pod.key in keys)
    soon += not moment.is_placed and not moment.refused and not moment.idle and moment.attempt.chosen >= 0
    more = f", {soon} more would be" if soon else ""
    return f" ({placed} of the {counted(len(who.pods), 'pod')} of {who.name} are on nodes{more})"


def _as_its_status_says(moment: Moment, native: str) -> list[str]:
    """What the snapshot itself says of a pod that has no node, where that is not what was found."""
    pod = moment.pod
    said = next((one for one in pod.conditions if one.type == "PodScheduled" and one.status == "False"), None)
    if moment.row >= 0 or said is None or pod.node_name:
        return []
    placed = not moment.refused and not moment.idle and moment.attempt.chosen >= 0
    if not placed and said.message in (native, moment.attempt.message if not moment.idle else moment.idle):
        return []
    return [f"the snapshot says of {pod.key}: {said.reason}: {said.message}"]


# ------------------------------------------------------------------ the parts


def _native(moment: Moment, text: str) -> str:
    """What the pod's event says."""
    if moment.refused:
        return f"Error creating: {moment.refused}" if moment.pod.owner is not None else moment.refused
    if moment.idle and not moment.is_placed:
        return moment.idle
    if moment.is_placed or moment.attempt.chosen >= 0:
        node = moment.pod.node_name or moment.went_to or moment.state.names[moment.attempt.chosen]
        return f"Successfully assigned {moment.pod.key} to {node}"
    return event_note(moment.attempt.message or text)


def _told(
    moment: Moment, bench: Bench, rows: Sequence[PodNodeClass], changes: Sequence[Change]
) -> tuple[list[Wait], str, str]:
    """The waits, the sentence, and the state."""
    pod = moment.pod
    if moment.refused:
        return [quota.quota_wait(moment)], quota.quota_summary(moment), "rejected"
    if pod.node_name:
        return [], _of_placed(moment), "running"
    if moment.idle:
        rule = "schedulerName" if moment.unscheduled else "deletion" if pod.is_terminating else "SchedulingGates"
        text = f"{pod.key} is not tried: {moment.idle}"
        return [PodWait("event", rule, f"pod/{pod.key}", moment.idle)], text, "waiting"
    attempt = moment.attempt
    if attempt.chosen >= 0:
        return [], _of_fitting(moment, bench), "running" if moment.went_to else _would(moment)
    early = attempt.statuses.absent if attempt.statuses is not None else None
    if early is not None and early.plugin:
        why = early.reasons[0]
        if why == IMMEDIATE:
            why += f": {claims.unbound(bench.state.volumes, bench.state.shape(pod).claims)}"
        text = f"{pod.key} cannot be placed on any node: {why}"
        return [PodWait("event", early.plugin, f"pod/{pod.key}", why)], text, "waiting"
    held = refusals(bench, rows, _binding(rows, changes))
    chosen = attempt.preemption.chosen
    if chosen is None:
        return held, sentence(moment, held) + ("" if moment.row >= 0 else _since(pod)), "waiting"
    node = moment.state.names[chosen.node]
    victims = [key_of(victim.pod) for victim in chosen.victims]
    numbers: Numbers = {"victims": len(victims), "pdb_violations": chosen.violations}
    broken = f" against {counted(chosen.violations, 'disruption budget')}" if chosen.violations else ""
    clause = f"it preempts {listed(victims)} on {node}{broken}"
    grace = max((victim.pod.spec.grace_s for victim in chosen.victims), default=0)
    preempts = PodWait("event", "preemption", f"node/{node}", clause, numbers, grace * 10**9)
    return [preempts, *held], f"{sentence(moment, held)}; {clause}, and comes there when they are gone", "waiting"


def _binding(rows: Sequence[PodNodeClass], changes: Sequence[Change]) -> str:
    """The plugin that holds it: of the nodes that are nearest to taking it."""
    refusing = [row for row in rows if row.plugin]
    if not refusing:
        return ""
    field = changes[0].field if changes else ""
    for part, plugin in (
        ("requests", FIT),
        ("nodeSelector", "NodeAffinity"),
        ("nodeAffinity", "NodeAffinity"),
        ("tolerations", "TaintToleration"),
        ("topologySpread", "PodTopologySpread"),
        ("podA", "InterPodAffinity"),
        ("hostPort", "NodePorts"),
        ("unschedulable", "NodeUnschedulable"),
    ):
        if part in field and any(row.plugin == plugin for row in refusing):
            return plugin
    return refusing[0].plugin


def _of_placed(moment: Moment) -> str:
    pod = moment.pod
    known = pod.node_name in moment.state.index
    return f"{pod.key} is on {pod.node_name}" + ("" if known else ", a node that is not among the objects")


def _of_fitting(moment: Moment, bench: Bench) -> str:
    attempt, names = moment.attempt, moment.state.names
    nodes, total = len(bench.found.passing), len(names)
    where = moment.went_to or names[attempt.chosen]
    equal = f", one of {len(attempt.best)} that are as good" if len(attempt.best) > 1 else ""
    does = "the scheduler puts it on" if moment.went_to else f"{_would(moment).replace('scheduled', 'put')} on"
    return (
        f"{moment.pod.key} fits on {nodes} of {counted(total, 'node')}, and {does} {where}{equal}{_since(moment.pod)}"
    )


def _would(moment: Moment) -> str:
    """What would become of a pod of a snapshot that fits: nothing was simulated, and nothing has happened."""
    return "would be scheduled" if moment.pod.is_there else "would be created and scheduled"


def _since(pod: Pod) -> str:
    """That a pod of a snapshot has no node yet, and since when."""
    if not pod.is_there or pod.creation_ns is None:
        return ""
    when = datetime.fromtimestamp(pod.creation_ns // 10**9, tz=UTC)
    return f"; it is pending since {when:%Y-%m-%d %H:%M:%S} UTC"


def _preemption(moment: Moment) -> dict[str, Any]:
    if moment.is_placed or moment.refused or moment.idle or moment.attempt.chosen >= 0:
        return {}
    outcome = moment.attempt.preemption
    if outcome.chosen is None:
        return {"node": None, "victims": [], "message": outcome.message} if outcome.message else {}
    return {
        "node": moment.state.names[outcome.chosen.node],
        "victims": [key_of(victim.pod) for victim in outcome.chosen.victims],
        "pdb_violations": outcome.chosen.violations,
        "as_good": [moment.state.names[node] for node in outcome.best],
        "message": "",
    }


def _chain(moment: Moment) -> Iterator[Link]:
    """How it came to be, of a snapshot: who was tried before it, and what came of its turn."""
    pod = moment.pod
    yield Link(0, 0, "arrive", f"{pod.key} is there" if not moment.refused else f"{pod.key} is to be created")
    row = 1
    if moment.refused:
        yield Link(row, 0, "reject", f"{pod.key} is refused, as above")
        return
    placed = [(one, node) for one, node in moment.before if node]
    for one, node in placed[:5]:
        yield Link(row, 0, "start", f"{one.key}, which stands in front of it, takes its place on {node}")
        row += 1
    if len(placed) > 5:
        rest = counted(len(placed) - 5, "more pod")
        takes = (
            "stands in front of it, takes its place" if len(placed) == 6 else "stand in front of it, take their places"
        )
        yield Link(row, 0, "start", f"{rest}, which {takes}")
        row += 1
    if moment.is_placed:
        yield Link(row, 0, "start", f"{pod.key} is on {pod.node_name}")
    elif not moment.idle and moment.attempt.chosen >= 0:
        yield Link(row, 0, "start", f"{pod.key} would be put on {moment.state.names[moment.attempt.chosen]}")
    else:
        yield Link(row, 0, "wait", f"{pod.key} waits, as above")


# ------------------------------------------------------------------ what would change it


def _changes(
    moment: Moment, bench: Bench, rows: Sequence[PodNodeClass], target: int | None
) -> tuple[list[Change], list[str]]:
    """The smallest changes after which it fits (on the node that was asked for)."""
    if moment.refused:
        levers = quota_levers(bench) if quota.binding(moment) else denials.denial_levers(bench)
        return search(levers, bench, CHANGES_MAX), []
    if moment.idle and not moment.is_placed:
        return search(_to_be_tried(bench), bench, CHANGES_MAX), []
    if target is not None:
        bench = Bench(moment, target)
        if target in bench.found.passing or moment.pod.node_name == moment.state.names[target]:
            return [], []
    elif moment.is_placed or moment.attempt.chosen >= 0 or moment.attempt.preemption.chosen is not None:
        return [], []
    found = search(_options(bench), bench, CHANGES_MAX)
    notes = [] if found else ["no single change that was tried lets it fit"]
    if not found:
        found = pairs.pairs(bench, _options, PAIRS_MAX)
        notes += ["what is listed is two changes together"] if found else []
    if any(row.plugin == FIT and not row.resolvable for row in rows) and (ever := others.largest_ever(bench)):
        notes.append(ever)
    return found, notes


def _to_be_tried(bench: Bench) -> Iterator[Lever]:
    yield from constraints.gates(bench)
    if bench.moment.unscheduled:
        before, after = bench.moment.pod.spec.scheduler_name, bench.pod.spec.scheduler_name
        yield Lever(
            kind=CONSTRAINT,
            size=0.5,
            phrase=f"schedulerName: {before} → {after}",
            object=f"pod/{bench.pod.key}",
            field="spec.schedulerName",
            before=before,
            after=after,
            attempt=lambda: bench.effect(bench.nodes()),
        )


def _options(bench: Bench) -> Iterator[Lever]:
    yield from own.requests(bench)
    yield from own.tolerations(bench)
    yield from own.priorities(bench)
    yield from constraints.selectors(bench)
    yield from constraints.spreads(bench)
    yield from constraints.terms_of_others(bench)
    yield from constraints.ports(bench)
    yield from claims.claims(bench)
    yield from others.uncordon(bench)
    yield from others.ready_again(bench)
    yield from others.pods_in_the_way(bench)
    yield from others.more_nodes(bench)
