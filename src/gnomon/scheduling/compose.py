"""From a scenario to a world: its columns, its policy as numbers, its units in their order; all of it once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gnomon.engine.run import Advance
from gnomon.engine.world import AT_SIZE, BLOCKED, CHOSEN, I64, NOW, PROMISED, TIMER, World
from gnomon.model.errors import InputError, unknown_name
from gnomon.model.resources import NEVER
from gnomon.model.scenario import PYTHON_ORDER, PYTHON_PLACEMENT, Scenario
from gnomon.scheduling import codes
from gnomon.scheduling.columns import (
    Columns,
    node_columns,
    shape_columns,
    spare_columns,
    task_columns,
    tenant_columns,
    unit_columns,
    window_columns,
)
from gnomon.scheduling.custom import Order, Placement, View, ask_order, is_dynamic
from gnomon.scheduling.events import next_time
from gnomon.scheduling.layout import Layout, lay_out
from gnomon.scheduling.ordering import ORDERS, Units, ranks
from gnomon.scheduling.pipeline import advance
from gnomon.scheduling.tables import score_columns
from gnomon.scheduling.verdicts import judge

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
    columns |= task_columns(scenario)
    columns |= unit_columns(scenario, columns)
    columns |= tenant_columns(scenario, layout, columns, fair=opt[codes.TENANTS] != codes.BY_RANK)
    columns |= spare_columns(len(work), columns, conservative=opt[codes.BACKFILL] == codes.CONSERVATIVE)
    opt[codes.USES_LINE] = bool(policy.backfill or scenario.preempt or len(columns["window_node"]))
    opt[codes.LIMITED] = (columns["limit"] < NEVER).any() or (columns["most_running"] < NEVER).any()
    opt[codes.SETTLED] = _is_settled(opt, columns)
    world = World(**columns, at=_scalars(), opt=opt, rate=rate)
    judge(world, work.usable)
    view = View(world, layout.names)
    order = policy.order if callable(policy.order) else None
    units = _units(world, layout, work.deadline_ns)
    if order is None:
        keys = ORDERS[str(policy.order)].keys(units, policy)
    elif is_dynamic(order):
        keys = np.zeros(len(world.first), np.int64)
    else:
        keys = ask_order(order, view, world.member[world.first].astype(np.int64))
    world.rank[:] = ranks(keys, units.submit_ns, world.member[world.first])
    placement = policy.placement if callable(policy.placement) else None
    return Composition(world, advance, next_time, view, order if is_dynamic(order) else None, placement, layout.node_of)


def _options(scenario: Scenario) -> tuple[I64, np.ndarray]:
    """The policy as numbers."""
    policy = scenario.policy
    if policy.backfill not in _BACKFILL:
        raise unknown_name("backfill", policy.backfill, [name for name in _BACKFILL if name])
    if not callable(policy.order) and policy.order not in ORDERS:
        raise unknown_name("order", policy.order, ORDERS)
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
    opt[codes.TENANTS] = tenants = _tenants(policy.order)
    opt[codes.BLOCKS_ALL] = bool(policy.option(order, "blocks", tenants == codes.BY_RANK))
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


def _tenants(order: object) -> int:
    """How the next tenant is found; an order in Python has one queue."""
    return ORDERS[order].tenants if isinstance(order, str) else codes.BY_RANK


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


def _scalars() -> I64:
    """``World.at`` before anything has happened."""
    at = np.zeros(AT_SIZE, np.int64)
    at[[CHOSEN, PROMISED, BLOCKED]] = -1
    at[NOW] = -1
    at[TIMER] = NEVER
    return at


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
