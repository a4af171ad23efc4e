"""From a scenario to a world: the columns, and the policy as numbers. Everything static is worked out here, once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gnomon.engine.log import Kind, Reason, State
from gnomon.engine.run import Advance
from gnomon.engine.world import AT_SIZE, BLOCKED, CHOSEN, DECIDED, I64, NOW, PROMISED, TIMER, World
from gnomon.model.errors import InputError, unknown_name
from gnomon.model.resources import NEVER
from gnomon.model.scenario import PYTHON_ORDER, PYTHON_PLACEMENT, Scenario
from gnomon.scheduling import codes
from gnomon.scheduling.custom import Order, Placement, View, is_dynamic, keys_of
from gnomon.scheduling.events import next_time
from gnomon.scheduling.layout import (
    Columns,
    Layout,
    lay_out,
    node_columns,
    shape_columns,
    shape_verdicts,
    window_columns,
)
from gnomon.scheduling.ordering import KEYS, Units, ranks
from gnomon.scheduling.pipeline import advance
from gnomon.scheduling.placing import ASK_PYTHON
from gnomon.scheduling.seats import seat_all
from gnomon.scheduling.tables import score_columns

_FAIR = {"drf": codes.BY_DOMINANT_SHARE, "fair-share": codes.BY_DECAYED_USE, "round-robin": codes.BY_TURN}
_WEEK_NS = 7 * 86_400 * 10**9
_BACKFILL = {"": codes.NO_BACKFILL, "easy": codes.EASY, "conservative": codes.CONSERVATIVE}


@dataclass(frozen=True)
class Composition:
    """A world ready to run, the transition that moves it, and the parts of its policy that are Python functions.

    ``node_of``: for each node of the world its index in the scenario's cluster (another order with ``ties=shuffled``).
    """

    world: World
    advance: Advance
    next_time: Callable[[World], int]
    view: View
    order: Order | None
    placement: Placement | None
    node_of: I64


def compose(scenario: Scenario) -> Composition:
    """Lay out the world of a scenario. Raises InputError where policy, cluster and work do not go together."""
    policy, work = scenario.policy, scenario.work
    layout = lay_out(scenario)
    opt, rate = _options(scenario)
    columns = {**node_columns(layout), **shape_columns(layout, work.shapes)}
    columns |= window_columns(layout, scenario.cluster, work.users)
    columns |= score_columns(scenario, layout, columns, int(opt[codes.PLACEMENT]))
    columns |= _task_columns(scenario)
    columns |= _unit_columns(scenario, columns)
    columns |= _tenant_columns(scenario, layout, columns)
    columns |= _space(len(work), columns, conservative=opt[codes.BACKFILL] == codes.CONSERVATIVE)
    opt[codes.USES_LINE] = bool(policy.backfill or scenario.preempt or len(columns["window_node"]))
    opt[codes.LIMITED] = (columns["limit"] < NEVER).any() or (columns["most_running"] < NEVER).any()
    opt[codes.SETTLED] = _is_settled(opt, columns)
    world = World(**columns, at=_scalars(), opt=opt, rate=rate)
    _judge(world, layout, columns, work.usable)
    view = View(world, layout.names)
    order = policy.order if callable(policy.order) else None
    units = _units(world, layout, work.deadline_ns)
    if order is None:
        keys = KEYS[str(policy.order)](units, policy)
    elif is_dynamic(order):
        keys = np.zeros(len(world.first), np.int64)
    else:
        keys = keys_of(order, view, world.member[world.first].astype(np.int64))
    world.rank[:] = ranks(keys, units.submit_ns, world.member[world.first])
    placement = policy.placement if callable(policy.placement) else None
    return Composition(world, advance, next_time, view, order if is_dynamic(order) else None, placement, layout.node_of)


def _options(scenario: Scenario) -> tuple[I64, np.ndarray]:
    """The policy as numbers."""
    policy = scenario.policy
    if policy.backfill not in _BACKFILL:
        raise unknown_name("backfill", policy.backfill, [name for name in _BACKFILL if name])
    if not callable(policy.order) and policy.order not in KEYS:
        raise unknown_name("order", policy.order, KEYS)
    if not callable(policy.placement) and policy.placement not in codes.PLACEMENT_CODES:
        raise unknown_name("placement", policy.placement, codes.PLACEMENT_CODES)
    order = policy.order if isinstance(policy.order, str) else PYTHON_ORDER
    place = policy.placement if isinstance(policy.placement, str) else PYTHON_PLACEMENT
    for part, _ in policy.options:
        if part not in (order, policy.backfill, place):
            raise unknown_name("part with options", part, [name for name in (order, policy.backfill, place) if name])

    def easy(name: str, default: bool = False) -> bool:
        return bool(policy.option("easy", name, default))

    opt, rate = np.zeros(codes.OPT_SIZE, np.int64), np.zeros(codes.RATE_SIZE, np.float64)
    opt[codes.TENANTS] = _FAIR.get(order, codes.BY_RANK)
    opt[codes.BLOCKS_ALL] = bool(policy.option(order, "blocks", order not in _FAIR))
    opt[codes.BACKFILL] = _BACKFILL[policy.backfill]
    opt[codes.KEEP] = easy("reservation")
    opt[codes.EXTRA] = easy("extra", True)
    opt[codes.REAL_ENDS] = bool(policy.option(policy.backfill, "ends", False))
    opt[codes.REAL_CANDIDATES] = easy("candidates")
    opt[codes.STRICT] = easy("boundary")
    opt[codes.SCAN_SUBMIT] = easy("scan")
    opt[codes.FILL] = easy("after-start")
    opt[codes.COMMITTED] = bool(policy.option(order, "head", False))
    opt[codes.SINGLE] = bool(policy.option(order, "instants", False))
    opt[codes.DROP] = bool(policy.option(order, "full", False))
    opt[codes.PLACEMENT] = codes.PYTHON if callable(policy.placement) else codes.PLACEMENT_CODES[place]
    opt[codes.PERCENT] = bool(policy.option(place, "scores", False))
    opt[codes.PREFER_LOW] = bool(policy.option("dot-product", "prefer", True))
    opt[codes.PREEMPT] = scenario.preempt
    opt[codes.ORDER_PYTHON] = is_dynamic(policy.order)
    rate[codes.HALF_LIFE_NS] = float(policy.option("fair-share", "half-life", _WEEK_NS))
    _refuse_combinations(scenario, opt)
    return opt, rate


def _is_settled(opt: I64, columns: Columns) -> bool:
    """Whether refusals hold until something is given back: one queue in a fixed order, decisions that depend on what is
    free and on promises alone, and every pass with the same rules. A gang may find its places when less is free, as
    its tasks take theirs one after the other, each the best for itself."""
    alone = columns["size"].max(initial=1) == 1
    plain = alone and len(columns["head"]) == 1 and not len(columns["window_node"])
    unlimited = bool((columns["limit"] >= NEVER).all() and (columns["most_running"] >= NEVER).all())
    changing = opt[[codes.COMMITTED, codes.SINGLE, codes.DROP, codes.PREEMPT, codes.ORDER_PYTHON, codes.FILL]]
    fixed_choice = opt[codes.PLACEMENT] != codes.PYTHON and opt[codes.BACKFILL] != codes.CONSERVATIVE
    return bool(plain and unlimited and not changing.any() and opt[codes.KEEP] == 0 and fixed_choice)


def _refuse_combinations(scenario: Scenario, opt: I64) -> None:
    """Say so where two parts of a policy have no common meaning, rather than doing something else."""
    conservative = opt[codes.BACKFILL] == codes.CONSERVATIVE
    clashes = {
        "conservative backfill places by its own profile: first-fit only": conservative
        and opt[codes.PLACEMENT] != codes.FIRST_FIT,
        "conservative backfill and preemption": conservative and opt[codes.PREEMPT],
        "conservative backfill and head=committed or full=drop": conservative
        and (opt[codes.COMMITTED] or opt[codes.DROP]),
        "easy backfill and full=drop": opt[codes.BACKFILL] == codes.EASY and opt[codes.DROP],
        "half-life of zero": scenario.policy.option("fair-share", "half-life", 1) == 0,
        "an order asked at each pass, and limits of tenants": opt[codes.ORDER_PYTHON]
        and any(t.limit or t.max_running is not None for t in scenario.tenants),
    }
    for what, clash in clashes.items():
        if clash:
            raise InputError(f"not modelled together: {what}", field="policy", found=scenario.policy.text)


def _task_columns(scenario: Scenario) -> Columns:
    """The tasks as they come, none of them born."""
    work, n = scenario.work, len(scenario.work)
    killed = (work.duration_ns > work.estimate_ns) & scenario.kill_at_limit
    duration = np.where(killed, work.estimate_ns, np.maximum(work.duration_ns, 0))
    return {
        "submit": work.submit_ns.astype(np.int64),
        "duration": duration,
        "estimate": np.maximum(work.estimate_ns, 0),
        "fate": np.where(killed, int(Kind.KILL), int(Kind.END)).astype(np.int8),
        "shape": work.shape.astype(np.int32),
        "job": work.job.astype(np.int32),
        "user": work.user.astype(np.int32),
        "priority": work.priority.astype(np.int64),
        "state": np.full(n, int(State.UNBORN), np.int8),
        "why": np.zeros(n, np.int8),
        "start": np.full(n, NEVER, np.int64),
        "due": np.full(n, NEVER, np.int64),
        "node": np.full(n, -1, np.int32),
        "devices": np.zeros(n, np.int64),
        "ticket": np.full(n, -1, np.int64),
        "arrive_row": np.full(n, -1, np.int32),
        "start_row": np.full(n, -1, np.int32),
        "watch": np.zeros(n, np.int8),
    }


def _unit_columns(scenario: Scenario, columns: Columns) -> Columns:
    """Units and jobs: members side by side, a gang as one unit, the tasks of other jobs as units of their own."""
    job, n = columns["job"], len(columns["job"])
    member = np.argsort(job, kind="stable").astype(np.int32)
    jobs = int(job.max(initial=-1)) + 1
    size = np.bincount(job, minlength=jobs).astype(np.int32)
    job_first = (np.cumsum(size) - size).astype(np.int32)
    if scenario.gang:
        first, count, unit = job_first, size, job.astype(np.int32)
        latest = np.zeros(jobs, np.int64)
        np.maximum.at(latest, job, columns["submit"])
        columns["submit"] = latest[job]  # a gang has arrived when its last task has
        most = np.full(jobs, -NEVER, np.int64)
        np.maximum.at(most, job, columns["priority"])
        columns["priority"] = most[job]  # and is as urgent as its most urgent task
    else:
        first, count = np.arange(n, dtype=np.int32), np.ones(n, np.int32)
        unit = np.empty(n, np.int32)
        unit[member] = first
    head = member[first]
    return {
        "unit": unit,
        "first": first,
        "size": count,
        "member": member,
        "rank": np.zeros(len(first), np.int64),
        "verdict": np.zeros(len(first), np.int8),
        "after": np.full(len(first), -1, np.int32),
        "before": np.full(len(first), -1, np.int32),
        "arrivals": np.lexsort((head, columns["submit"][head])).astype(np.int32),
        "slot": np.full(len(first), NEVER, np.int64),
        "missing": size.copy(),
        "job_first": job_first,
        "job_count": size,
        "avoids": np.full(jobs, -1, np.int32),
        "avoid": np.zeros((0, len(columns["capacity"])), np.int8),
    }


def _tenant_columns(scenario: Scenario, layout: Layout, columns: Columns) -> Columns:
    """Tenants with their shares and limits; one for all where nothing tells them apart."""
    work, policy = scenario.work, scenario.policy
    if scenario.tenants_by not in ("user", "queue"):
        raise unknown_name("tenants_by", scenario.tenants_by, ("user", "queue"))
    names, index = (work.users, work.user) if scenario.tenants_by == "user" else (work.queues, work.queue)
    limited = any(t.limit is not None or t.max_running is not None for t in scenario.tenants)
    apart = policy.order in _FAIR or limited
    if not apart:
        names, index = ("",), np.zeros(len(work), np.int64)
    known = {t.name: t for t in scenario.tenants}
    count = max(len(names), 1)
    weight, limit = np.ones(count), np.full((count, len(layout.names)), NEVER, np.int64)
    most = np.full(count, NEVER, np.int64)
    for i, tenant in ((i, known[name]) for i, name in enumerate(names) if name in known and apart):
        if not 0 < tenant.weight < float("inf"):
            raise InputError("a weight is above 0", field=f"tenant {tenant.name}", found=tenant.weight)
        weight[i] = tenant.weight
        if tenant.limit is not None:
            named = tenant.limit.names()
            limit[i] = [tenant.limit.amount(name) if name in named else NEVER for name in layout.names]
        if tenant.max_running is not None:
            most[i] = tenant.max_running
    return {
        "tenant": index[columns["member"][columns["first"]]].astype(np.int32),
        "head": np.full(count, -1, np.int32),
        "tail": np.full(count, -1, np.int32),
        "cursor": np.full(count, -1, np.int32),
        "weight": weight,
        "used": np.zeros((count, len(layout.names)), np.int64),
        "limit": limit,
        "running": np.zeros(count, np.int64),
        "most_running": most,
        "usage": np.zeros(count, np.float64),
        "usage_at": np.zeros(count, np.int64),
        "tenant_row": np.full(count, -1, np.int32),
    }


def _space(n: int, columns: Columns, *, conservative: bool) -> Columns:
    """Room for what grows: agenda, line, decisions, log, profile (the last two grow on demand)."""
    rows = 4 * n + 4096  # an arrival, a wait, a start and an end each; it grows where there are more
    steps = 256 if conservative else 0
    return {
        "end_time": np.empty(n + 1, np.int64),
        "end_ticket": np.empty(n + 1, np.int64),
        "end_task": np.empty(n + 1, np.int32),
        "line": np.empty(n + 1, np.int32),
        "line_due": np.empty(n + 1, np.int64),
        "row": np.zeros((2, columns["capacity"].shape[1]), np.int64),
        "victims": np.empty(n + 1, np.int32),
        "decided": np.full(int(columns["size"].max(initial=1)) + 1, ASK_PYTHON, np.int32),
        "step_time": np.empty(steps, np.int64),
        "step_free": np.empty((steps, *columns["capacity"].shape), np.int64),
        "log_t": np.empty(rows, np.int64),
        "log_instant": np.empty(rows, np.int32),
        "log_kind": np.empty(rows, np.int8),
        "log_subject": np.empty(rows, np.int32),
        "log_node": np.empty(rows, np.int32),
        "log_cause": np.empty(rows, np.int32),
        "log_reason": np.empty(rows, np.int8),
        "log_value": np.empty(rows, np.int64),
    }


def _scalars() -> I64:
    at = np.zeros(AT_SIZE, np.int64)
    at[[CHOSEN, PROMISED, BLOCKED]] = -1
    at[NOW] = -1
    at[TIMER] = NEVER
    at[DECIDED] = 0
    return at


def _judge(world: World, layout: Layout, columns: Columns, usable: np.ndarray) -> None:
    """Find the units that can never run, and why: the first reason that holds for one of their tasks."""
    shape_says = shape_verdicts(layout, columns)
    says = np.where(usable, shape_says[world.shape] if len(shape_says) else 0, int(Reason.UNUSABLE))
    by_member = says[world.member]
    worst = np.maximum.reduceat(by_member, world.first) if len(world.first) else by_member
    world.verdict[:] = worst
    single = (world.size == 1) & (worst == 0)
    over = (world.need[world.shape[world.member[world.first]]] > world.limit[world.tenant]).any(axis=1)
    world.verdict[single & over] = Reason.OVER_LIMIT
    fitting: dict[bytes, bool] = {}
    for u in np.flatnonzero((world.size > 1) & (worst == 0)).tolist():
        world.verdict[u] = _judge_gang(world, u, fitting)


def _judge_gang(world: World, u: int, fitting: dict[bytes, bool]) -> int:
    """``fitting``: whether gangs of these shapes, in their order, fit the empty cluster, as far as that is known."""
    tasks = world.member[world.first[u] : world.first[u] + world.size[u]]
    shapes = world.shape[tasks]
    needs = world.need[shapes].sum(axis=0)
    if (needs > world.limit[world.tenant[u]]).any() or len(tasks) > world.most_running[world.tenant[u]]:
        return int(Reason.OVER_LIMIT)
    kind = shapes.tobytes()
    if kind not in fitting:
        world.rest[:] = world.capacity
        fitting[kind] = bool(seat_all(world, u, -1))
        world.node[tasks] = -1
        world.devices[tasks] = 0
    return 0 if fitting[kind] else int(Reason.GANG_TOO_LARGE)


def _units(world: World, layout: Layout, deadline_ns: I64) -> Units:
    """Facts of the units: largest estimate, sum of amounts, highest priority, earliest deadline."""
    first, tasks = world.first, world.member
    if not len(first):
        empty = np.zeros(0, np.int64)
        return Units(empty, empty, empty, empty, {})
    needs = np.add.reduceat(world.need[world.shape[tasks]], first, axis=0)
    return Units(
        submit_ns=world.submit[tasks[first]],
        estimate_ns=np.maximum.reduceat(world.estimate[tasks], first),
        priority=np.maximum.reduceat(world.priority[tasks], first),
        deadline_ns=np.minimum.reduceat(deadline_ns[tasks], first),
        amounts={name: needs[:, i] for i, name in enumerate(layout.names)},
    )
