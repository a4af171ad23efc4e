"""Placements per CPU second of the simulation alone on openb's 1,213 nodes, against plain NumPy on the same tasks.

The 8,152 tasks of the default list arrive one by one and stay, as in ``examples/published_openb.py``; who fits nowhere
is dropped. A placement is a task that got its place. The causal log is included, reading and compiling are not. The
peer, ``peer_placement``, scores all nodes at once for each task, for the first tasks only where it is slow; it must
choose the same nodes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from time import process_time
from typing import Any

from benchmarks.results import Row

LISTS = Path(__file__).parents[2] / "shared" / "traces" / "openb"
OPTIONS = {
    "first-fit": "",
    "random": "",
    "best-fit": ":over=cpu/gpu,scores=percent",
    "dot-product": ":over=cpu/gpu,scores=percent",
    "gpu-packing": "",
    "gpu-clustering": "",
    "fgd": ":scores=percent",
}
PEERS = {"best-fit": 8152, "fgd": 400}
REPEATS = 5
COLUMNS = {
    "policy": ("policy", "{}"),
    "placed": ("tasks placed", "{:,}"),
    "rate": ("placements per CPU s", "{:,}"),
    "peer": ("peer", "{:,}"),
    "times": ("× peer", "{:,}"),
}


def rows() -> Iterator[Row]:
    if not LISTS.is_dir():
        return
    from gnomon.traces import openb

    cluster = openb.read_nodes(LISTS / "openb_node_list_gpu_node.csv.gz")
    work = openb.read_tasks(LISTS / "openb_pod_list_default.csv.gz", arrivals_only=True)
    for policy, options in OPTIONS.items():
        nodes, rate = ours(cluster, work, f"fcfs:full=drop+{policy}{options}")
        row = {"policy": policy, "placed": int((nodes >= 0).sum()), "rate": round(rate)}
        if policy in PEERS:
            found, peer = peers(cluster, work, policy)
            assert found == nodes[: len(found)].tolist(), "the peer disagrees"
            row |= {"peer": round(peer), "times": round(rate / peer)}
        yield row


def ours(cluster: Any, work: Any, policy: str) -> tuple[Any, float]:
    """Each task's node, -1 for none, and the median of some repeats' placements per CPU second."""
    import numpy as np

    from gnomon.api import Scenario, parse_policy, simulate

    arriving = replace(work, submit_ns=np.arange(len(work)) * 10**9)
    scenario = Scenario(cluster, arriving, parse_policy(policy))
    runs = [simulate(scenario, compiled=True) for _ in range(1 + REPEATS)][1:]  # the first loads the kernels
    nodes = runs[0].outcome.node
    spent = np.median([run.timings["simulate"] + run.timings["log"] for run in runs])
    return nodes, (nodes >= 0).sum() / spent


def peers(cluster: Any, work: Any, policy: str) -> tuple[list[int], float]:
    from benchmarks.peer_placement import best_fit, fgd, place
    from gnomon.insight.fragmentation import task_classes

    shapes = [work.shapes[shape] for shape in work.shape[: PEERS[policy]].tolist()]
    score = best_fit if policy == "best-fit" else fgd(task_classes(work, "gpu"))
    begun = process_time()
    found = place(cluster, shapes, score)
    return found, sum(node >= 0 for node in found) / (process_time() - begun)
