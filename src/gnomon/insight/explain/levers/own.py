"""Levers that are the subject's own business: its request, priority and estimate, and its wishes about nodes."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from gnomon.insight.explain import variations as vary
from gnomon.insight.explain.case import Case
from gnomon.insight.explain.changes import CONSTRAINT, OWN, Lever
from gnomon.insight.explain.levers.policy import switched
from gnomon.insight.explain.phrases import amount, amounts_of, listed, span, written
from gnomon.model.quantity import NS_PER_S
from gnomon.model.resources import E4, NEVER
from gnomon.model.work import IntArray, Shape

KINDS_MAX = 4
"""How many other kinds of node are tried, those with most nodes first."""

STEPS_MAX = 10**6
"""How many values a lever has at most."""

# ------------------------------------------------------------------ the request


def requests(case: Case) -> Iterator[Lever]:
    """Ask for less of one resource, or for what some node has of all of them."""
    for name, asked in case.ground.asked((case.task,)).items():
        if values := smaller(name, asked, whole=case.ground.scenario.cluster.pool)[:STEPS_MAX]:
            yield _request(case, name, asked, values)
    yield from _whole_request(case)


def _request(case: Case, name: str, asked: int, values: Sequence[int]) -> Lever:
    each = "" if len(case.tasks) == 1 else " each"
    return Lever(
        kind=OWN,
        object=case.label,
        field=name,
        before=written(name, asked),
        values=values,
        scenario=lambda value: vary.with_request(case.ground.scenario, case.tasks, name, value),
        size=lambda value: (asked - value) / asked,
        phrase=lambda value: f"ask for {amount(name, value)}{each} instead of {written(name, asked)}",
        shown=lambda value: written(name, value),
        guess=_what_a_node_has(case, name, values),
    )


def smaller(name: str, asked: int, *, whole: bool = False) -> Sequence[int]:
    """Smaller amounts than the one that is asked, in steps that a person would take, the largest first.

    ``whole``: in a pool, whole processors only.

    >>> list(smaller("cpu", 3_000)), list(smaller("gpu", 20_000))[:4], len(smaller("memory", 24 * 2**30))
    ([2000, 1000], [10000, 9000, 8000, 7000], 23)
    """
    if name == "gpu":
        parts = range(min(asked, E4) - 1_000, 0, -1_000) if asked >= E4 else range(asked - 500, 0, -500)
        return [*range(asked - E4, 0, -E4), *parts]
    if name == "cpu":
        step = 1_000 if whole or asked >= 2_000 else 100
    elif name == "memory":
        sizes = [2**k for k in (40, 30, 20, 10, 0)] + [10**k for k in (12, 9, 6, 3)]
        step = max((size for size in sizes if asked % size == 0 and asked // size >= 8), default=1)
    else:
        step = E4 if asked >= 2 * E4 else 1_000
    return range((asked - 1) // step * step, 0, -step)


def _what_a_node_has(case: Case, name: str, values: Sequence[int]) -> int | None:
    """The position of the largest amount that some node has of a resource, beside all else that is asked."""
    if len(case.tasks) > 1:
        return None
    offers = [case.ground.offer(row, case.task) for row in _rows(case)]
    most = max(
        (offer[name][1] for offer in offers if all(free >= asked for n, (asked, free) in offer.items() if n != name)),
        default=0,
    )
    position = bisect_left(values, -most, key=lambda value: -value)
    return position if position < len(values) else None


def _rows(case: Case) -> IntArray:
    """What the nodes that it accepts have: free, or in all if it was refused for ever."""
    ground = case.ground
    rows = ground.capacity if case.infeasible else case.here.free
    return rows[ground.accepting(ground.shape(case.task))]


def _whole_request(case: Case) -> Iterator[Lever]:
    """Ask for what the node has that lacks least, where it lacks more than one resource."""
    ground, asked = case.ground, case.ground.asked((case.task,))
    rows = sorted(_rows(case), key=lambda row: ground.shortage(row, case.task))
    offer = ground.offer(rows[0], case.task) if rows else {}
    short = {name: free for name, (wanted, free) in offer.items() if free < wanted}
    fitting = {name: next((v for v in smaller(name, asked[name]) if v <= free), 0) for name, free in short.items()}
    if len(fitting) < 2 or not all(fitting.values()):
        return
    before = {name: asked[name] for name in fitting}

    def reduced(shape: Shape) -> Shape:
        request = shape.request
        for name, value in fitting.items():
            request = vary.with_amount(request, name, value)
        return replace(shape, request=request)

    yield Lever(
        kind=OWN,
        object=case.label,
        field="request",
        before=amounts_of(before),
        values=[fitting],
        scenario=lambda _: vary.with_shapes(ground.scenario, case.tasks, reduced),
        size=lambda _: sum((asked[name] - value) / asked[name] for name, value in fitting.items()),
        phrase=lambda _: f"ask for {amounts_of(fitting)} instead of {amounts_of(before)}",
        shown=amounts_of,
        fallback=True,
    )


# ------------------------------------------------------------------ estimate and priority


def estimates(case: Case) -> Iterator[Lever]:
    """Say a shorter estimate, though not less than it really runs."""
    work = case.ground.work
    estimate = max(case.ground.estimate_ns(task) for task in case.tasks)
    really = max(int(work.duration_ns[task]) for task in case.tasks)
    if really < estimate < NEVER:
        step = 60 * NS_PER_S if estimate - really >= 600 * NS_PER_S else NS_PER_S
        yield _estimate(case, estimate, [*range((estimate - 1) // step * step, really, -step)[:STEPS_MAX], really])


def longer_estimate(case: Case) -> Iterator[Lever]:
    """Say an estimate that is as long as it really runs."""
    estimate = case.ground.estimate_ns(case.task)
    really = max(int(case.ground.work.duration_ns[task]) for task in case.tasks)
    if estimate < really < NEVER:
        yield _estimate(case, estimate, [really])


def _estimate(case: Case, estimate: int, values: Sequence[int]) -> Lever:
    return Lever(
        kind=OWN,
        object=case.label,
        field="estimate",
        before=span(estimate),
        values=values,
        scenario=lambda value: vary.with_column(case.ground.scenario, "estimate_ns", case.tasks, value),
        size=lambda value: abs(value - estimate) / max(estimate, 1),
        phrase=lambda value: f"say that it takes {span(value)} instead of {span(estimate)}",
        shown=span,
    )


def priorities(case: Case) -> Iterator[Lever]:
    """Raise its priority to that of others, or one above."""
    work = case.ground.work
    own = max(int(work.priority[task]) for task in case.tasks)
    others = np.unique(work.priority[(work.submit_ns <= case.wanted.until_ns) & (work.priority >= own)])
    if values := sorted({int(priority) + more for priority in others for more in (0, 1)} - {own}):
        yield raised_priority(case, own, values)


def raised_priority(case: Case, own: int, values: Sequence[int]) -> Lever:
    """A higher priority than its own."""
    return Lever(
        kind=OWN,
        object=case.label,
        field="priority",
        before=own,
        values=values,
        scenario=lambda value: vary.with_column(case.ground.scenario, "priority", case.tasks, value),
        size=lambda value: (value - own) / max(abs(own), 1),
        phrase=lambda value: f"raise its priority from {own} to {value}",
    )


# ------------------------------------------------------------------ wishes about nodes and peers


def node_wishes(case: Case) -> Iterator[Lever]:
    """Accept nodes of one more kind, or of any, or without a label."""
    shape = case.ground.work.shapes[case.ground.shape(case.task)]
    names = [node.kind for node in case.ground.scenario.cluster.nodes]
    if shape.node_kinds:
        others = sorted(set(names) - set(shape.node_kinds), key=lambda kind: (-names.count(kind), kind))
        for kind in others[:KINDS_MAX]:
            more = replace(shape, node_kinds=(*shape.node_kinds, kind))
            after = listed([*shape.node_kinds, kind or "no kind"])
            phrase = f"accept nodes of {f'kind {kind}' if kind else 'no kind'} too"
            yield _wish(case, "kinds", (listed(shape.node_kinds), after), more, phrase, size=1 / len(shape.node_kinds))
        if len(others) > KINDS_MAX:
            anything = replace(shape, node_kinds=())
            shown, size = (listed(shape.node_kinds), "any"), len(others) / len(shape.node_kinds)
            yield replace(_wish(case, "kinds", shown, anything, "accept nodes of any kind", size=size), fallback=True)
    yield from _other_labels(case, shape)
    for pair in shape.node_labels:
        kept = tuple(one for one in shape.node_labels if one != pair)
        shown = (_labels(shape.node_labels), _labels(kept))
        phrase = f"do not insist on the label {_labels([pair])}"
        yield _wish(case, "labels", shown, replace(shape, node_labels=kept), phrase, size=1 / len(shape.node_labels))


def _other_labels(case: Case, shape: Shape) -> Iterator[Lever]:
    """Want another value of a label: one that nodes have."""
    on_nodes = [dict(node.labels) for node in case.ground.scenario.cluster.nodes]
    for name, value in shape.node_labels:
        there = Counter(labels[name] for labels in on_nodes if labels.get(name, value) != value)
        for other, _ in there.most_common(KINDS_MAX):
            wanted = tuple(sorted({**dict(shape.node_labels), name: other}.items()))
            shown = (_labels(shape.node_labels), _labels(wanted))
            phrase = f"want the label {name}={other} instead of {name}={value}"
            size = 0.5 / len(shape.node_labels)
            yield _wish(case, "labels", shown, replace(shape, node_labels=wanted), phrase, size=size)


def _labels(pairs: Sequence[tuple[str, str]]) -> str:
    return listed([f"{name}={value}" for name, value in pairs]) or "none"


def _wish(case: Case, field: str, shown: tuple[str, str], wish: Shape, phrase: str, *, size: float) -> Lever:
    def wishing(shape: Shape) -> Shape:
        return replace(shape, node_kinds=wish.node_kinds, node_labels=wish.node_labels)

    return Lever(
        kind=CONSTRAINT,
        object=case.label,
        field=field,
        before=shown[0],
        values=[shown[1]],
        scenario=lambda _: vary.with_shapes(case.ground.scenario, case.tasks, wishing),
        size=lambda _: size,
        phrase=lambda _: phrase,
    )


def gangs(case: Case) -> Iterator[Lever]:
    """Let the tasks of a job start one by one; or all together, where they hold places without running."""
    scenario, unit = case.ground.scenario, case.ground.unit(case.task)
    if len(unit) > 1:
        yield Lever(
            kind=CONSTRAINT,
            object=case.label,
            field="gang",
            before=True,
            values=[False],
            scenario=lambda _: vary.on_their_own(scenario, unit),
            phrase=lambda _: "let its tasks start one by one",
        )
    elif not scenario.gang and scenario.work.jobs is not None:
        phrase = "start the tasks of a job all together or not at all"
        yield switched(case, "gang", to=True, kind=CONSTRAINT, phrase=phrase)
