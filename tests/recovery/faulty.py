"""A small scenario for faults to strike."""

from typing import Any

from gnomon.model.cluster import Cluster, Node
from gnomon.model.fault import Failure, FailureProcess, Fault
from gnomon.model.operation import ControlPlane, Operation
from gnomon.model.resources import NEVER, Resources
from gnomon.model.scenario import Scenario
from gnomon.model.work import Task, Work

ZONE = "topology.example.org/zone"


def scenario(*faults: Failure | FailureProcess, nodes: int = 4, **facts: Any) -> Scenario:
    """Nodes n0, n1, ... with 2 devices, two a rack, all in zone z; tasks a, b of job j, task c; three members."""
    cluster = Cluster(
        tuple(
            Node(f"n{i}", Resources(1000, gpus=2), labels=(("rack", f"r{i // 2}"), (ZONE, "z"), ("topology", "t")))
            for i in range(nodes)
        )
    )
    work = Work.from_tasks([Task("a", job="j"), Task("b", job="j"), Task("c")])
    return Scenario(cluster, work, operation=Operation(control=ControlPlane(members=3)), faults=faults, **facts)


def crash(at: int = 0, length: int = NEVER, *targets: str, **facts: Any) -> Failure:
    return Failure(Fault.CRASH, at, length, targets or ("n0",), **facts)
