"""Jobs through slurmctld's two schedulers, multifactor priority and backfill at their defaults: jobs per CPU second.

``HPC2N``: the first jobs of that log, or all of it, on its 120 nodes, where ../shared is there. ``year``: made-up jobs,
one each 31.5 s (a million a year), powers of two up to 1,024 CPUs, load 0.85 on 5,000 nodes of 64 CPUs. Each row runs
in a process of its own; reading and compiling are not counted, the causal log is; the peak memory is the process's.
"""

from __future__ import annotations

import json
import resource
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

import numpy as np

from benchmarks.results import Row, own_process

HPC2N = Path(__file__).parents[2] / "shared" / "traces" / "pwa" / "HPC2N-2002-2.2-cln.swf.gz"
ROWS = [("HPC2N", 20_000), ("HPC2N", 202_871), ("year", 20_000), ("year", 200_000), ("year", 1_000_000)]
COLUMNS = {
    "log": ("log", "{}"),
    "nodes": ("nodes", "{:,}"),
    "jobs": ("jobs", "{:,}"),
    "rate": ("jobs per CPU s", "{:,}"),
    "peak_mb": ("peak MB", "{:,}"),
}
CONF = """ClusterName=bench
SlurmctldHost=head
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
PriorityType=priority/multifactor
PriorityWeightAge=1000
PriorityWeightJobSize=1000
PriorityWeightFairshare=10000
NodeName={nodes}
PartitionName=batch Nodes=ALL Default=YES MaxTime=INFINITE
"""
NODES = {
    "HPC2N": "n[001-120] CPUs=2 Sockets=2 CoresPerSocket=1 RealMemory=1000",
    "year": "n[0001-5000] CPUs=64 Sockets=2 CoresPerSocket=32 RealMemory=256000",
}


def rows() -> Iterator[Row]:
    return (own_process("benchmarks.slurm", *row) for row in ROWS if row[0] == "year" or HPC2N.is_file())


def measure(log: str, jobs: int) -> Row:
    from gnomon.api import simulate
    from gnomon.api.parts import load_work
    from gnomon.systems.slurm.scenario import read_scenario

    work = year(jobs) if log == "year" else load_work(str(HPC2N))
    work = work.select(np.arange(min(jobs, len(work))))
    work = replace(work, submit_ns=work.submit_ns - work.submit_ns.min())
    with TemporaryDirectory() as folder:
        conf = Path(folder) / "slurm.conf"
        conf.write_text(CONF.format(nodes=NODES[log]))
        simulate(read_scenario([str(conf)], work=work.select(np.arange(3))), compiled=True)  # loads the kernels
        scenario = read_scenario([str(conf)], work=work)
    begun = process_time()
    run = simulate(scenario, compiled=True)
    taken = process_time() - begun
    wait = run.metrics()["wait_s"]["mean"]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    return {
        "log": log,
        "nodes": len(scenario.cluster.nodes),
        "jobs": len(work),
        "rate": round(len(work) / taken),
        "wait_s": round(wait),
        "peak_mb": peak,
    }


def year(jobs: int) -> Any:
    """The first jobs of a made-up year."""
    from gnomon.model.resources import Resources
    from gnomon.model.work import Shape, Task, Work

    rng = np.random.default_rng(1)
    gap_s, cpus = 31.536, 5_000 * 64
    size = 2 ** rng.integers(0, 11, jobs)
    length = np.minimum(rng.lognormal(8, 1.5, jobs), 2 * 86_400)
    length = np.clip(length * 0.85 * cpus * gap_s / (size * length).mean(), 60, 4 * 86_400).astype(int)
    submit = np.cumsum(rng.exponential(gap_s, jobs)).astype(int)
    limit = (np.ceil(length * rng.uniform(1, 4, jobs) / 60) * 60).astype(int)
    shapes = {int(one): Shape(Resources(cpu_milli=int(one) * 1000)) for one in np.unique(size)}
    second = 10**9
    return Work.from_tasks(
        [
            Task(
                f"j{i}",
                duration_ns=int(length[i]) * second,
                submit_ns=int(submit[i]) * second,
                estimate_ns=int(limit[i]) * second,
                user=f"u{i % 97}",
                shape=shapes[int(size[i])],
            )
            for i in range(jobs)
        ]
    )


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], int(sys.argv[2]))))
