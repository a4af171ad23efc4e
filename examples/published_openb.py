"""Six placement policies under rising load on the "openb" GPU cluster, beside what their authors published.

Q. Weng et al., "Beware of Fragmentation: Scheduling GPU-Sharing Workloads with Fragmentation Gradient Descent", USENIX
ATC 2023. Tasks arrive in random order until they ask for 130 % of the cluster's GPUs, and none ever ends; one that fits
nowhere is dropped. Printed is what is allocated, and what is free but fragmented, at loads of so many per cent, in % of
all GPUs: means over the seeds, and in parentheses how far they are from the published ones.

    python examples/published_openb.py FOLDER [--lists default,cpu050] [--policies FGD,BestFit] [--seeds 10]

FOLDER holds openb_node_list_gpu_node.csv and openb_pod_list_*.csv (also .csv.gz) of Alibaba's cluster-trace-gpu-v2023.
"""

from __future__ import annotations

import argparse
import csv
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import cache
from itertools import product
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import numpy.typing as npt

from gnomon.api import Cluster, Scenario, Work, parse_policy, simulate
from gnomon.insight.fragmentation import fragmented
from gnomon.insight.usage import allocated
from gnomon.traces import openb

POLICIES = {
    "Random": "random",
    "DotProd": "dot-product:over=cpu/gpu,scores=percent,ties=shuffled",
    "GpuClustering": "gpu-clustering:ties=shuffled",
    "GpuPacking": "gpu-packing:ties=shuffled",
    "BestFit": "best-fit:over=cpu/gpu,scores=percent,ties=shuffled",
    "FGD": "fgd:scores=percent,ties=shuffled",
}
ALLOCATED_AT, FRAGMENTED_AT = (90, 100, 110, 130), (60, 80, 100)
FIRST_SEED = 1
S = 10**9


def measure(folder: Path, name: str, policy: str, seed: int) -> list[float]:
    """One run: what is allocated at the loads of ALLOCATED_AT, and fragmented at those of FRAGMENTED_AT, in %.

    The value at a load is the mean over the tasks after which the load, rounded, is that.
    """
    cluster, tasks = inputs(folder, name)
    work = arrivals(tasks, 13 * cluster.total("gpu") // 10, seed)
    chosen = parse_policy(f"fcfs:full=drop+{POLICIES[policy]}")
    past = simulate(Scenario(cluster, work, chosen, seed=seed), compiled=True).past
    after_each = np.arange(len(work) + 1) * S
    load = np.rint(100 * np.cumsum(gpus(work)) / cluster.total("gpu"))
    curves = (allocated(past, "gpu"), ALLOCATED_AT), (fragmented(past, tasks), FRAGMENTED_AT)
    return [100 * curve.binned(after_each)[load == at].mean() for curve, loads in curves for at in loads]


@cache
def inputs(folder: Path, name: str) -> tuple[Cluster, Work]:
    """The cluster and one list of tasks."""
    nodes, tasks = (next(folder.glob(f"openb_{kind}.csv*")) for kind in ("node_list_gpu_node", f"pod_list_{name}"))
    return openb.read_nodes(nodes), openb.read_tasks(tasks, arrivals_only=True)


def arrivals(tasks: Work, goal: int, seed: int) -> Work:
    """All tasks in random order, one a second, and copies of some after them, or without some, so that they ask for
    ``goal`` (1/10,000 of a GPU)."""
    random = np.random.default_rng(seed)
    asked = gpus(tasks)
    rows = random.permutation(np.argsort(tasks.ids)).tolist()
    total = int(asked.sum())
    if total > goal:
        while total > goal:
            total -= asked[rows.pop(random.integers(len(rows)))]
    else:
        while total + min(asked[copy := random.integers(len(tasks))], 10_000) <= goal:
            total += asked[copy]
            rows.append(copy)
    return replace(tasks.select(np.array(rows)), submit_ns=np.arange(len(rows)) * S)


def gpus(work: Work) -> npt.NDArray[np.int64]:
    """What each task asks for, over all its GPUs, in 1/10,000."""
    return np.array([shape.request.amount("gpu") for shape in work.shapes])[work.shape]


def published() -> dict[tuple[str, str], list[float]]:
    """By list and policy, the authors' means over ten seeds."""
    with (Path(__file__).parent / "data" / "openb-published.csv").open(encoding="utf-8") as lines:
        return {(name, policy): [float(cell) for cell in cells] for name, policy, *cells in list(csv.reader(lines))[1:]}


def main() -> None:
    """Print the table."""
    expected = published()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--lists", default=",".join(dict.fromkeys(name for name, _ in expected)))
    parser.add_argument("--policies", default=",".join(POLICIES))
    parser.add_argument("--seeds", type=int, default=10)
    chosen = parser.parse_args()

    rows = list(product(chosen.lists.split(","), chosen.policies.split(",")))
    seeds = range(FIRST_SEED, FIRST_SEED + chosen.seeds)
    columns = [*(f"allocated @{at}" for at in ALLOCATED_AT), *(f"fragmented @{at}" for at in FRAGMENTED_AT)]
    print(f"{'list':12}{'policy':14}", *(f"{column:>16}" for column in columns))
    worst = 0.0
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        runs = [[pool.submit(measure, chosen.folder, *row, seed) for seed in seeds] for row in rows]
        for row, some in zip(rows, runs, strict=True):
            ours = np.mean([run.result() for run in some], axis=0)
            apart = ours - expected[row]
            worst = max(worst, float(np.abs(apart).max()))
            cells = (f"{value:8.2f} ({off:+.2f})" for value, off in zip(ours, apart, strict=True))
            print("{:12}{:14}".format(*row), *cells, flush=True)
    print(f"largest difference: {worst:.2f} points")


if __name__ == "__main__":
    main()
