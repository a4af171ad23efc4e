"""From a configuration and what accounting knows to the state of a controller."""

from __future__ import annotations

import numpy as np

from gnomon.systems.slurm.accounting.accounts import Accounts
from gnomon.systems.slurm.accounting.billing import Billing
from gnomon.systems.slurm.accounting.limits import Limits, Times, enforced
from gnomon.systems.slurm.accounting.tree import Tree
from gnomon.systems.slurm.accounting.usage import Usage
from gnomon.systems.slurm.cluster.state import Licenses, Partition, State, World
from gnomon.systems.slurm.config.conf import Conf
from gnomon.systems.slurm.priority.ranking import BasicRanking, MultifactorRanking
from gnomon.systems.slurm.schedulers.line import Line
from gnomon.systems.slurm.select import Selector


def books(conf: Conf, accounts: Accounts, world: World, *, compiled: bool = False) -> State:
    """The state of a controller that has just started: no jobs, every node as the configuration has it."""
    names = {node.name: i for i, node in enumerate(conf.nodes)}
    partitions = {}
    for one in conf.partitions:
        mask = np.zeros(len(conf.nodes), np.bool_)
        mask[[names[name] for name in one.nodes]] = True
        partitions[one.name] = Partition(one, mask)
    tree = Tree(
        accounts,
        tracked=[word.strip() for word in conf.text("accountingstoragetres").split(",") if word],
        partition_qos={one.name: one.qos for one in conf.partitions if one.qos},
        fair_tree="no_fair_tree" not in conf.words("priorityflags"),
    )
    selector = Selector(conf, compiled=compiled)
    state = State(
        conf,
        world,
        selector,
        selector.occupancy(),
        tree,
        usage_of(conf, accounts, tree),
        None,
        None,
        partitions,
        Licenses(dict(conf.licenses)),
        np.ones(len(conf.nodes), np.bool_),
    )
    for i, node in enumerate(conf.nodes):
        if node.state.startswith(("DOWN", "FUTURE")):
            state.down[i] = node.reason
        elif node.state.startswith(("DRAIN", "FAIL")):
            state.drained[i] = node.reason
    state.available = state.up
    multifactor = conf.text("prioritytype").endswith("multifactor")
    state.priorities = MultifactorRanking(state) if multifactor else BasicRanking(state)
    enforce = enforced(conf.text("accountingstorageenforce"))
    if "limits" in enforce:
        times = {one.name: Times(one.max_time_min, one.default_time_min) for one in conf.partitions}
        state.limits = Limits(tree, state.usage, enforce, times=times, fairshare=state.priorities.fairshare)
    state.line = Line(state)
    return state


def usage_of(conf: Conf, accounts: Accounts, tree: Tree) -> Usage:
    """The usage of associations, as accounting has it so far."""
    flags = {word.upper() for word in conf.words("priorityflags")}
    most = next((flag for flag in ("MAX_TRES_GRES", "MAX_TRES") if flag in flags), "")
    billing = Billing({one.name: one.billing for one in conf.partitions if one.billing}, tree.tres, most)
    half_life = conf.seconds("prioritydecayhalflife")
    usage = Usage(
        tree,
        billing,
        half_life_s=half_life or 0,
        reset=conf.text("priorityusageresetperiod").upper() or "NONE",
    )
    usage.set_raw(accounts.usage)
    return usage
