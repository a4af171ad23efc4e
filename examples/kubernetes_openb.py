"""The GPU cluster of the "openb" data set as Kubernetes objects: its tasks as pods, GPUs as an extended resource.

    python examples/kubernetes_openb.py NODES.csv.gz TASKS.csv.gz

An extended resource is a whole number without a place on the node: a part of a GPU is asked for in thousandths
(``gpu-milli``), and a node with four GPUs offers 4,000, as device plugins that share GPUs do. So halves of two GPUs
count as one, which the real cluster does not allow: what fits here is an upper bound. Data: Alibaba, "openb" of
clusterdata (Weng et al., "Beware of Fragmentation", USENIX ATC'23); not part of this package.
"""

from __future__ import annotations

import sys
from collections import Counter
from time import process_time

from gnomon.api import Kind, Run, State, simulate
from gnomon.model.quantity import format_seconds
from gnomon.systems.kubernetes.api.objects import Container, Node, Pod, PodSpec
from gnomon.systems.kubernetes.api.snapshot import Objects
from gnomon.systems.kubernetes.read.annotations import DURATION
from gnomon.systems.kubernetes.scenario import scenario_of
from gnomon.traces import openb

GPU = "example.com/gpu-milli"
MODEL = "example.com/gpu-model"


def objects(nodes: str, tasks: str) -> Objects:
    """Nodes and pods; a task that accepts certain models of GPU selects one of them, the first."""
    cluster, work = openb.read_nodes(nodes), openb.read_tasks(tasks)
    made = [
        Node(
            node.name,
            {"kubernetes.io/hostname": node.name, MODEL: node.kind},
            allocatable={
                "cpu": node.capacity.cpu_milli,
                "memory": node.capacity.memory_bytes,
                "pods": 110,
                GPU: node.capacity.gpus * 1_000,
            },
        )
        for node in cluster.nodes
    ]
    pods = []
    for task in map(work.task, range(len(work))):
        asked = task.shape.request
        requests = {"cpu": asked.cpu_milli, "memory": asked.memory_bytes, GPU: asked.amount("gpu") // 10}
        requests = {name: amount for name, amount in requests.items() if amount}
        limits = {GPU: requests[GPU]} if GPU in requests else {}  # the API server wants both to be equal
        spec = PodSpec(
            (Container("main", requests=requests, limits=limits),),
            node_selector={MODEL: task.shape.node_kinds[0]} if task.shape.node_kinds else {},
        )
        pods.append(Pod(task.id, annotations={DURATION: f"{format_seconds(task.duration_ns)}s"}, spec=spec))
    return Objects(nodes=tuple(made), pods=tuple(pods))


def pending(run: Run) -> Counter[str]:
    """How many pods wait at the end, by the words of their last event."""
    last = {}
    for row, facts in run.log.details.items():
        if "message" in facts and run.log.kind[row] == Kind.WAIT:
            last[int(run.log.subject[row])] = str(facts["message"])
    return Counter(text for task, text in last.items() if run.outcome.state[task] == State.WAITING)


def main(nodes: str, tasks: str) -> None:
    begun = process_time()
    run = simulate(scenario_of(objects(nodes, tasks)))
    found = run.metrics()
    print(f"{found['jobs']:,} pods on {len(run.scenario.cluster.nodes):,} nodes: {found['done']:,} done")
    print(f"{process_time() - begun:.1f} CPU s, reading included")
    for name, share in found["utilisation"].items():
        print(f"{name:24} {share:6.1%} used, {1 - found['headroom'][name]:6.1%} at the peak")
    for text, pods in pending(run).most_common(5):
        print(f"{pods:5,} wait: {text}")
    others = [int(state) for state in run.outcome.state if state not in (State.DONE, State.WAITING)]
    if others:
        print(f"{len(others):5,} never run, or do not end: the API server refuses them, or they are killed")


if __name__ == "__main__":
    main(*sys.argv[1:])
