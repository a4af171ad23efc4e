"""A recorded cluster again: what was submitted is asked of the selector, what was given is taken from the nodes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon.systems.slurm.config.conf import Conf, PartitionConf
from gnomon.systems.slurm.config.slurm_conf import conf_of
from gnomon.systems.slurm.notation.hostlist import expand
from gnomon.systems.slurm.sbatch.request import JobRequest
from gnomon.systems.slurm.sbatch.submission import Submission, submission
from gnomon.systems.slurm.select import Allocation, Demand, Selector, ask
from gnomon.systems.slurm.select.columns import BITS

VERSION = (22, 5)
Place = tuple[str, str, int, str]
"""A node, its CPU ids, memory in MiB and devices, as ``scontrol show job -d`` told them."""


def conf_in(case: dict[str, Any]) -> Conf:
    text = case["slurm_conf"]
    if "ClusterName" not in text:
        text = "ClusterName=c\nSlurmctldHost=h\n" + text
    return conf_of(text, case.get("gres_conf"), case.get("topology_conf"), version=VERSION)


def requests_of(args: Sequence[str], script: str | None = None) -> tuple[JobRequest, ...]:
    """What an sbatch line asks for."""
    found = submission(list(args), script or "#!/bin/sh\nsleep 1\n", user="root")
    assert isinstance(found, Submission), found
    return tuple(found.requests)


def request_of(line: str) -> JobRequest:
    return requests_of(line.split())[0]


def numbers(text: str) -> list[int]:
    """``0-2,5`` as numbers."""
    found: list[int] = []
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    return found


class Cluster:
    """A selector, what is taken of its nodes, and masks by name."""

    def __init__(self, conf: Conf, *, compiled: bool = False) -> None:
        self.conf = conf
        self.selector = Selector(conf, compiled=compiled)
        self.occupancy = self.selector.occupancy()
        self.number = {node.name: i for i, node in enumerate(conf.nodes)}
        self.everywhere = np.ones(len(conf.nodes), np.bool_)
        self.nowhere = np.zeros(len(conf.nodes), np.bool_)

    @property
    def partition(self) -> PartitionConf:
        return next((one for one in self.conf.partitions if one.default), self.conf.partitions[0])

    def mask(self, names: Iterable[str]) -> npt.NDArray[np.bool_]:
        mask = self.nowhere.copy()
        mask[[self.number[name] for name in names]] = True
        return mask

    def demand(self, line: str) -> Demand:
        return self.selector.demand_of(request_of(line), self.partition)

    def ask(self, line: str) -> Allocation | None:
        """What an sbatch line would get now."""
        required = self.mask(request_of(line).node_list)
        return self.selector.select(self.occupancy, self.demand(line), self.everywhere, required)

    def run(self, line: str) -> Allocation:
        """Let it start; it has to."""
        found = self.ask(line)
        assert found is not None, line
        self.occupancy.take(found)
        return found

    def places(self, allocation: Allocation | None) -> list[Place] | None:
        """What was given, as recorded."""
        if allocation is None:
            return None
        return [
            (node, one["cpu_ids"], one["mem_mb"], one["gres"])
            for one in self.selector.per_node(allocation)
            for node in one["nodes"]
        ]

    def recorded(self, places: Sequence[Place], demand: Demand, total_cpus: int) -> Allocation:
        """What a recording says was given."""
        trial, hardware = self.selector.trial.columns, self.selector.hardware
        words = np.zeros((len(places), trial.words.shape[1]), np.int64)
        devices = np.zeros((len(places), hardware.kind.shape[1]), np.int32)
        for i, (node, cpus, _, gres) in enumerate(places):
            n = self.number[node]
            for core in {cpu // int(hardware.tpc[n]) for cpu in numbers(cpus)}:
                words[i, core // BITS] |= 1 << (core % BITS)
            for listed in re.findall(r"gpu[^(]*\(IDX:([\d,-]+)\)", gres):
                for index in numbers(listed):
                    devices[i, np.flatnonzero(hardware.number[n] == index)[0]] = 1
        ones = (1,) * len(places)
        return Allocation(
            nodes=tuple(self.number[place[0]] for place in places),
            cpus=ones,
            tasks=ones,
            memory_mb=tuple(place[2] for place in places),
            words=words,
            devices=devices,
            total_cpus=total_cpus,
            partition=demand[ask.PARTITION],
            whole=bool(demand[ask.ALONE]),
            share=demand[ask.SHARE],
        )


def with_devices(gres: str) -> str:
    """Devices without the types of which there are none (``gpu:b:0(IDX:)``)."""
    return ",".join(re.findall(r"gpu[^(]*\(IDX:\d[^)]*\)", gres))


def places_of(rows: Iterable[Sequence[Any]]) -> list[Place]:
    """The rows of a recording, one for each node."""
    return [(node, cpus, memory, with_devices(gres)) for names, cpus, memory, gres in rows for node in expand(names)]


def is_of_placement(event: Mapping[str, Any]) -> bool:
    """A submission, not refused for how it was written, and not waiting for slurmctld to come to it."""
    if "cancel" in event:
        return False
    return "node configuration" in event.get("refused", "node configuration") and event.get("pending") != "None"
