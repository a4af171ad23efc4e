"""The choice of nodes and cores: what the controller asks.

Everything is worked out in kernels over columns, plain or compiled with equal results; this hands them over.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gnomon.systems.slurm.config.conf import Conf, PartitionConf
from gnomon.systems.slurm.sbatch.request import JobRequest
from gnomon.systems.slurm.select import ask, at, rule
from gnomon.systems.slurm.select.allocation import Allocation
from gnomon.systems.slurm.select.columns import BITS, Demands, Hardware
from gnomon.systems.slurm.select.counting import Node, capacity_of, per_node_of, requested_of, tres_of
from gnomon.systems.slurm.select.demand import Demand, demand_of, with_most_nodes, with_switches_waited
from gnomon.systems.slurm.select.future import NEVER, plan
from gnomon.systems.slurm.select.hardware import hardware_of, holders_of, names_of
from gnomon.systems.slurm.select.occupancy import Occupancy, Store
from gnomon.systems.slurm.select.rows import Rows, trial_for
from gnomon.systems.slurm.select.shortfall import Shortfall, shortfall_of
from gnomon.systems.slurm.select.speed import Columns, Speed
from gnomon.systems.slurm.select.testing import EVER, NOW, SOON, test

Mask = npt.NDArray[Any]
REMEMBERED: Final = 4096
"""So many answers about empty nodes are remembered."""


class Selector:
    """Chooses nodes and cores of a cluster for jobs.

    Nodes are numbers, in the order of the configuration; a mask says of each whether it may be used.

    >>> from gnomon.systems.slurm.config.conf import Conf, NodeConf, PartitionConf
    >>> node = NodeConf("n1", cpus=8, sockets=2, cores=4, memory_mb=16000)
    >>> conf = Conf((node,), (PartitionConf("batch", ("n1",)),), {"defmempercpu": "1000"})
    >>> selector, all_nodes, none = Selector(conf), np.array([True]), np.array([False])
    >>> occupancy, demand = selector.occupancy(), selector.demand_of(JobRequest(tasks=4), conf.partitions[0])
    >>> found = selector.select(occupancy, demand, all_nodes, none)
    >>> found.nodes, found.cores, found.memory_mb
    ((0,), ((0, 1, 4, 5),), (4000,))
    """

    def __init__(self, conf: Conf, compiled: bool = False) -> None:
        self.conf = conf
        self.names = names_of(conf)
        self._speed = Speed(compiled=compiled)
        hardware = hardware_of(conf, self.names)
        self._hardware: dict[tuple[int, bool], Columns[Hardware]] = {}
        self._main = Columns(hardware)
        self._hardware[int(hardware.rule[rule.UNIT]), bool(hardware.rule[rule.MEMORY])] = self._main
        self._nodes = [Node(node.name, holders_of(node)) for node in conf.nodes]
        self.store = Store(hardware)
        self.rows = Rows()
        self.trial = Columns(trial_for(hardware))
        self._nothing = self.occupancy()
        self._future = self._nothing.copy()
        main = self._main.columns
        self.counts_in_full = bool(len(main.row_part)) or bool(main.rule[rule.UNIT] == rule.NOTHING)
        self._ever: dict[tuple[Demand, bytes, bytes], bool] = {}

    @property
    def hardware(self) -> Hardware:
        """The nodes as the kernels see them."""
        return self._main.columns

    @property
    def gres_names(self) -> frozenset[str]:
        """The kinds of generic resources that there are."""
        return frozenset(self.names.kinds)

    def occupancy(self) -> Occupancy:
        """Nodes without jobs."""
        return Occupancy(self._main, self.store, self._speed)

    def demand_of(self, request: JobRequest, partition: PartitionConf) -> Demand:
        """What a job asks in a partition: to be worked out once for each."""
        return demand_of(request, partition, self.conf, self.names)

    def after_waiting(self, demand: Demand) -> Demand:
        """The same once the wait for few switches (``--switches=n@time``) is over."""
        return with_switches_waited(demand)

    def within(self, demand: Demand, nodes: int) -> Demand:
        """The same with so many nodes at most, as a limit says."""
        return with_most_nodes(demand, nodes)

    def select(
        self, occupancy: Occupancy, demand: Demand, usable: Mask, required: Mask, *, extra: Mask | None = None
    ) -> Allocation | None:
        """What the job gets now, None: it does not get what it asks. ``usable``: nodes that may be taken, ``required``:
        nodes that have to be among them; ``extra``: what nodes weigh more for this job."""
        if demand.unit[0] != rule.NOTHING and self.least_cpus(demand) > self.free_cpus(occupancy, usable):
            return None
        if extra is not None:
            self.trial.columns.extra[:] = extra
        found = self._test(occupancy, demand, usable, required, NOW)
        if extra is not None:
            self.trial.columns.extra[:] = 0
        return self._answer(demand) if found else None

    def _soon(self, occupancy: Occupancy, demand: Demand, usable: Mask, required: Mask) -> Allocation | None:
        return self._answer(demand) if self._test(occupancy, demand, usable, required, SOON) else None

    def fits_ever(self, demand: Demand, usable: Mask, required: Mask) -> bool:
        """Whether it would get what it asks if the nodes were empty. What was found once is remembered."""
        if demand.too_much_memory:
            return False
        question = demand, usable.tobytes(), required.tobytes()
        known = self._ever.get(question)
        if known is None:
            if len(self._ever) >= REMEMBERED:
                self._ever.clear()
            known = self._ever[question] = self._test(self._nothing, demand, usable, required, EVER)
        return known

    def will_run(
        self,
        occupancy: Occupancy,
        demand: Demand,
        usable: Mask,
        required: Mask,
        running: Sequence[tuple[int, Allocation]],
        *,
        now: int,
        gone: Iterable[Allocation] = (),
        standing: Iterable[Allocation] = (),
    ) -> tuple[int, Allocation] | None:
        """When the job could start if all that runs ended as expected, and with what; None: never.

        ``running``: (expected end, allocation) of each job, ends and ``now`` in seconds. ``gone``: who would give way
        to the job now, ``standing``: who would be suspended for it; they are not among ``running``.
        """
        found = self._soon(occupancy, demand, usable, required)
        if found is not None:
            return now, found
        future = self._future
        occupancy.copy_into(future)
        gone, standing = list(gone), list(standing)
        for allocation in gone:
            future.give(allocation)
        for allocation in standing:
            future.suspend(allocation)
        if gone or standing:
            found = self._soon(future, demand, usable, required)
            if found is not None:
                return now, found
        return self._later(future, demand, usable, required, running, now)

    def least_cpus(self, demand: Demand) -> int:
        """CPUs that it asks for in all."""
        return max(demand[ask.MIN_CPUS], demand[ask.GRES_CPUS])

    def shortfall(self, demand: Demand, nodes: Mask) -> Shortfall | None:
        """What none of some nodes has enough of for a job, None: nothing of what is told."""
        return shortfall_of(demand, [self.conf.nodes[n] for n in np.flatnonzero(nodes).tolist()])

    def tres(self, allocation: Allocation, partition: PartitionConf) -> dict[str, int]:
        """The trackable resources of an allocation: cpu, mem (MiB), node, billing, gres/…"""
        return tres_of(allocation, self._nodes, partition, self.conf)

    def requested(self, demand: Demand, partition: PartitionConf) -> dict[str, int]:
        """The trackable resources that a job asks for, before it has nodes."""
        return requested_of(demand, self.names, partition, self.conf)

    def capacity(self, nodes: Mask) -> dict[str, int]:
        """The trackable resources that some nodes have."""
        return capacity_of(np.flatnonzero(nodes).tolist(), self._main.columns, self._nodes)

    def per_node(self, allocation: Allocation) -> list[dict[str, Any]]:
        """Nodes, CPU ids, memory and devices as ``scontrol show job -d`` tells them: equal neighbours together."""
        return per_node_of(allocation, self._main.columns, self._nodes)

    def cores(self, node: int) -> int:
        """How many cores a node has."""
        return self.conf.nodes[node].sockets * self.conf.nodes[node].cores

    # -------------------------------------------------------------- for kernels over many jobs

    @property
    def speed(self) -> Speed:
        """How kernels are called."""
        return self._speed

    @property
    def hardware_columns(self) -> Columns[Hardware]:
        """The nodes, as they are handed to kernels."""
        return self._main

    def is_usual(self, demand: Demand) -> bool:
        """Whether what is chosen for it are cores (or what else) as for most of the cluster."""
        return self._of(demand) is self._main

    def gives_cores_to_one(self, demand: Demand) -> bool:
        """Whether what it gets is its own alone, counted in cores or what else a core has (not select/linear)."""
        rules = self._main.columns.rule
        return demand[ask.SHARE] == rule.ONE_ROW and not rules[rule.LINEAR] and not rules[rule.GANG]

    def free_cpus(self, occupancy: Occupancy, usable: Mask) -> int:
        """CPUs that are free on some nodes, or more: nobody who asks for more gets them there now. Nodes of partitions
        that share count in full."""
        h, o = self._main.columns, occupancy.columns.columns
        cpus = h.cpus if self.counts_in_full else o.idle * h.tpc
        return int(np.dot(cpus, usable))

    # -------------------------------------------------------------- kernels

    def _of(self, demand: Demand) -> Columns[Hardware]:
        """The hardware with the unit of the job's partition."""
        found = self._hardware.get(demand.unit)
        if found is None or self._main.columns.rule[rule.LINEAR]:
            if self._main.columns.rule[rule.LINEAR]:
                return self._main
            rules = self._main.columns.rule.copy()
            rules[rule.UNIT], rules[rule.MEMORY] = demand.unit
            found = self._hardware[demand.unit] = Columns(self._main.columns._replace(rule=rules))
        return found

    def _ask(self, usable: Mask, required: Mask) -> None:
        t = self.trial.columns
        t.usable[:] = usable
        t.required[:] = required

    def _test(self, occupancy: Occupancy, demand: Demand, usable: Mask, required: Mask, mode: int) -> bool:
        self._ask(usable, required)
        row, speed = self.rows.of(demand), self._speed
        demands: Columns[Demands] = self.rows.columns
        call = speed.form(test)
        found = call(
            speed.of(self._of(demand)), speed.of(occupancy.columns), speed.of(demands), speed.of(self.trial), row, mode
        )
        return bool(found)

    def _later(
        self,
        future: Occupancy,
        demand: Demand,
        usable: Mask,
        required: Mask,
        running: Sequence[tuple[int, Allocation]],
        now: int,
    ) -> tuple[int, Allocation] | None:
        self._ask(usable, required)
        self.store.line_up(running)
        row, speed = self.rows.of(demand), self._speed
        call = speed.form(plan)
        start = call(
            speed.of(self._of(demand)),
            speed.of(future.columns),
            speed.of(self.rows.columns),
            speed.of(self.trial),
            speed.of(self.store.columns),
            row,
            now,
        )
        return None if start == NEVER else (int(start), self._answer(demand))

    def _answer(self, demand: Demand) -> Allocation:
        t = self.trial.columns
        count = int(t.at[at.COUNT_NODES])
        words = t.words[:count].copy()
        assert words.shape[1] * BITS >= self._main.columns.barred.shape[1]
        return Allocation(
            nodes=tuple(t.node[:count].tolist()),
            cpus=tuple(t.cpus[:count].tolist()),
            tasks=tuple(t.tasks[:count].tolist()),
            memory_mb=tuple(t.memory[:count].tolist()),
            words=words,
            devices=t.devices[:count].copy(),
            total_cpus=int(t.at[at.TOTAL_CPUS]),
            partition=demand[ask.PARTITION],
            whole=bool(demand[ask.ALONE]),
            share=demand[ask.SHARE],
        )
