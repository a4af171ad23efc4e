"""Levers that are not the subject's own business: limits and shares of its tenant, and the work of others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from gnomon.insight.explain import variations as vary
from gnomon.insight.explain.case import Case
from gnomon.insight.explain.changes import LIMIT, OTHERS, Lever
from gnomon.insight.explain.outlook import seated
from gnomon.insight.explain.phrases import amount, counted, listed, span, written
from gnomon.insight.explain.queues import place_in_queue
from gnomon.model.cluster import Reservation
from gnomon.model.resources import E4, Resources

ALONE_MAX = 3
"""How many single tasks are tried that make room if they end."""

TOGETHER_MAX = 64
"""How many tasks may have to end together to make room."""

STEPS_MAX = 64
"""By how many tasks like it a limit is raised at most."""

SHARES = (1.25, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 16.0, 64.0, 1024.0)
"""By what a tenant's share is multiplied."""

# ------------------------------------------------------------------ limits and shares


def limits(case: Case) -> Iterator[Lever]:
    """Raise the limits of its tenant: one of them, or all for so many more tasks like it."""
    rules = case.ground.tenant_rules(case.task)
    if rules is None:
        return
    asked = case.ground.asked(case.ground.unit(case.task))
    if rules.limit is not None:
        for name in rules.limit.names():
            if asked.get(name):
                yield _limit(case, rules.limit, name, max(asked[name], E4 if name == "gpu" else 1))
    if rules.max_running is not None:
        yield _running_limit(case, rules.max_running)
    if rules.limit is not None and (rules.max_running is not None or len(rules.limit.names()) > 1):
        yield _all_limits(case, rules.limit, rules.max_running)


def _limit(case: Case, limit: Resources, name: str, step: int) -> Lever:
    """One resource: to what the tenant holds and a whole number of such tasks."""
    ground, label = case.ground, case.ground.tenant_label(case.task)
    used = ground.asked(case.here.holders[case.here.of_tenant(case.task)].tolist()).get(name, 0)
    bound = limit.amount(name)
    lowest = bound + 1 + (used - bound - 1) % step
    who = label.replace("/", " ", 1)
    return Lever(
        kind=LIMIT,
        object=label,
        field=f"limit.{name}",
        before=written(name, bound),
        values=range(lowest, lowest + STEPS_MAX * step, step),
        scenario=lambda value: vary.with_tenant(
            ground.scenario, ground.tenant_name(case.task), limit=vary.with_amount(limit, name, value)
        ),
        size=lambda value: (value - bound) / bound,
        phrase=lambda value: f"let {who} hold {amount(name, value)} instead of {written(name, bound)}",
        shown=lambda value: written(name, value),
    )


def _running_limit(case: Case, most: int) -> Lever:
    label = case.ground.tenant_label(case.task)
    who = label.replace("/", " ", 1)
    name = case.ground.tenant_name(case.task)
    return Lever(
        kind=LIMIT,
        object=label,
        field="max_running",
        before=most,
        values=range(most + 1, most + 4 * STEPS_MAX),
        scenario=lambda value: vary.with_tenant(case.ground.scenario, name, max_running=value),
        size=lambda value: (value - most) / most,
        phrase=lambda value: f"let {who} run {counted(value, 'task')} at a time instead of {most:,}",
    )


def _all_limits(case: Case, limit: Resources, most: int | None) -> Lever:
    ground, unit = case.ground, case.ground.unit(case.task)
    label, asked = ground.tenant_label(case.task), ground.asked(unit)
    who = label.replace("/", " ", 1)

    def raised(times: int) -> Resources:
        larger = limit
        for name in limit.names():
            larger = vary.with_amount(larger, name, limit.amount(name) + times * asked.get(name, 0))
        return larger

    def running(times: int) -> int | None:
        return None if most is None else most + times * len(unit)

    def shown(times: int) -> str:
        larger, tasks = raised(times), running(times)
        parts = [amount(name, larger.amount(name)) for name in larger.names()]
        return listed(parts if tasks is None else [*parts, counted(tasks, "task")])

    return Lever(
        kind=LIMIT,
        object=label,
        field="limit",
        before=shown(0),
        values=range(1, STEPS_MAX + 1),
        scenario=lambda times: vary.with_tenant(
            ground.scenario, ground.tenant_name(case.task), limit=raised(times), max_running=running(times)
        ),
        size=lambda times: max(times * asked.get(name, 0) / limit.amount(name) for name in limit.names()),
        phrase=lambda times: f"let {who} hold {shown(times)} instead of {shown(0)}",
        shown=shown,
        fallback=True,
    )


def shares(case: Case) -> Iterator[Lever]:
    """Give its tenant a larger share, under an order that looks at shares."""
    ground, name = case.ground, case.ground.tenant_name(case.task)
    if ground.scenario.policy.order not in ("fair-share", "drf") or not name:
        return
    rules, label = ground.tenant_rules(case.task), ground.tenant_label(case.task)
    weight = 1.0 if rules is None else rules.weight
    yield Lever(
        kind=LIMIT,
        object=label,
        field="share",
        before=weight,
        values=[round(weight * times, 6) for times in SHARES],
        scenario=lambda value: vary.with_tenant(ground.scenario, name, weight=value),
        size=lambda value: value / weight - 1,
        phrase=lambda value: f"give {label.replace('/', ' ', 1)} the share {value:g} instead of {weight:g}",
    )


# ------------------------------------------------------------------ the work of others


def reservations(case: Case) -> Iterator[Lever]:
    """Let a reservation that is in the way end earlier."""
    for window in dict.fromkeys(case.here.reserved(case.task, case.here.now_ns).values()):
        times = dict.fromkeys((case.wanted.until_ns, case.since_ns))
        if values := [t_ns for t_ns in times if t_ns < window.end_ns]:
            yield _reservation(case, window, values)


def _reservation(case: Case, window: Reservation, values: Sequence[int]) -> Lever:
    return Lever(
        kind=OTHERS,
        object=f"reservation/{window.name}",
        field="end",
        before=span(window.end_ns),
        values=values,
        scenario=lambda value: vary.with_window_until(case.ground.scenario, window.name, value),
        size=lambda value: (window.end_ns - value) / (window.end_ns - window.start_ns),
        phrase=lambda value: f"end the reservation {window.name} at {span(value)} instead of {span(window.end_ns)}",
        shown=span,
    )


def running_tasks(case: Case) -> Iterator[Lever]:
    """End others that run: one task or job that makes room alone, or the fewest that do together."""
    for units in _in_the_way(case):
        yield _end(case, units)


def _end(case: Case, units: Sequence[Sequence[int]]) -> Lever:
    work, here, opened = case.ground.work, case.here, case.ground.past.places.open_ns
    tasks = [task for unit in units for task in unit]
    began = [int(opened[here.stays[here.holders == task][0]]) for task in tasks]
    lengths = [int(work.duration_ns[task]) for task in tasks]
    labels = [_label(case, unit) for unit in units]

    def ended(t_ns: int) -> list[int]:
        return [min(length, max(t_ns - begin, 0)) for begin, length in zip(began, lengths, strict=True)]

    def shown(spans: Sequence[int]) -> str:
        return listed(dict.fromkeys(span(length) for length in spans))

    def size(t_ns: int) -> float:
        return sum((n - e) / max(n, 1) for n, e in zip(lengths, ended(t_ns), strict=True))

    return Lever(
        kind=OTHERS,
        object=", ".join(labels),
        field="duration",
        before=shown(lengths),
        values=list(dict.fromkeys((min(case.wanted.until_ns, here.now_ns), case.since_ns))),
        scenario=lambda t_ns: vary.with_column(case.ground.scenario, "duration_ns", tasks, ended(t_ns)),
        size=size,
        phrase=lambda t_ns: f"end {listed(one.partition('/')[2] for one in labels)} at {span(max(t_ns, *began))}",
        shown=lambda t_ns: shown(ended(t_ns)),
    )


def _label(case: Case, unit: Sequence[int]) -> str:
    work = case.ground.work
    return f"task/{work.id(unit[0])}" if len(unit) == 1 else f"job/{work.job_name(unit[0])}"


def _in_the_way(case: Case) -> list[list[list[int]]]:
    """Sets of running units whose end would make room, or bring the tenant below its limit; the smallest first."""
    ground, here, unit = case.ground, case.here, case.ground.unit(case.task)
    units = _units_by_size(case)
    if "limit" in case.kinds:
        tenant = ground.tenant[case.task]
        return [
            [[int(here.holders[i]) for i in one]] for one in units if ground.tenant[here.holders[one[0]]] == tenant
        ][:ALONE_MAX]

    def is_enough(ended: Sequence[Sequence[int]]) -> bool:
        gone = [index for one in ended for index in one]
        rows = here.free.copy()
        np.add.at(rows, here.node[gone], here.taken[gone])
        return bool(seated(here, unit, rows, here.now_ns))

    accepting = np.logical_or.reduce([ground.accepting(ground.shape(task)) for task in unit])
    units = [one for one in units if accepting[here.node[one]].any()]
    found = [[one] for one in units if is_enough([one])][:ALONE_MAX] or _together(units[::-1][:TOGETHER_MAX], is_enough)
    return [[[int(here.holders[i]) for i in one] for one in each] for each in found]


def _units_by_size(case: Case) -> list[list[int]]:
    """The units that hold places, as positions among the holders, those that hold little first."""
    here, ground = case.here, case.ground
    gangs = ground.scenario.gang and ground.work.jobs is not None
    owner = ground.work.job[here.holders] if gangs else here.holders
    units: dict[int, list[int]] = {}
    for position, one in enumerate(owner.tolist()):
        units.setdefault(one, []).append(position)
    return sorted(units.values(), key=lambda positions: float(here.share[positions].sum()))


def _together(
    largest_first: Sequence[list[int]], is_enough: Callable[[Sequence[list[int]]], bool]
) -> list[list[list[int]]]:
    """The largest ones until that is enough, then without those that turn out not to be in the way."""
    chosen: list[list[int]] = []
    for one in largest_first:
        chosen.append(one)
        if is_enough(chosen):
            break
    else:
        return []
    for one in list(chosen):
        rest = [other for other in chosen if other is not one]
        if rest and is_enough(rest):
            chosen = rest
    return [chosen]


def those_in_front(case: Case) -> Iterator[Lever]:
    """Withdraw the one in front that is held up itself."""
    work, first = case.ground.work, place_in_queue(case.here, case.task).first
    if first is None:
        return
    unit = case.ground.unit(first)
    name = work.id(first) if len(unit) == 1 else work.job_name(first)
    yield Lever(
        kind=OTHERS,
        object=f"{'task' if len(unit) == 1 else 'job'}/{name}",
        field="submit",
        before=span(int(work.submit_ns[first])),
        values=["never"],
        scenario=lambda _: vary.without(case.ground.scenario, unit),
        phrase=lambda _: f"withdraw {name}, which stands in front",
    )


def preemptor(case: Case, by: int) -> Iterator[Lever]:
    """Lower the priority of the one that took its place."""
    work, unit = case.ground.work, case.ground.unit(by)
    own, other = int(work.priority[case.task]), int(work.priority[by])
    yield Lever(
        kind=OTHERS,
        object=f"task/{work.id(by)}",
        field="priority",
        before=other,
        values=[own],
        scenario=lambda value: vary.with_column(case.ground.scenario, "priority", unit, value),
        size=lambda value: (other - value) / max(abs(other), 1),
        phrase=lambda value: f"lower the priority of {work.id(by)} from {other} to {value}",
    )
