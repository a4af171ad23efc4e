"""What is said of nodes."""

from __future__ import annotations

from gnomon.api import explain
from gnomon.systems.kubernetes.read.files import objects_of
from gnomon.systems.kubernetes.scenario import scenario_of
from tests.systems.kubernetes.play import node, pod


def test_a_node_that_states_no_capacity() -> None:
    """Its kubelet never said what it has: the API server keeps it so, and the scheduler counts no pod as allowed."""
    bare = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}}
    scenario = scenario_of(objects_of([bare, pod("p", requests={"cpu": "1"})]))
    assert explain("node/n1", scenario).summary == "n1 has 0 pods, and states no capacity (status.capacity)"
    found = explain("p", scenario)
    assert found.native.startswith("0/1 nodes are available: 1 Insufficient cpu, 1 Too many pods.")
    assert "n1 states no capacity (status.capacity), nor does a node that offers more" in found.notes
    assert [(note.field, note.text) for note in scenario.work.notes] == [
        ("Node status.capacity", "nodes that state no capacity take no pods: n1")
    ]


def test_a_node_that_has_what_it_says() -> None:
    scenario = scenario_of(objects_of([node("n1", cpu="4", memory="8Gi")]))
    assert explain("node/n1", scenario).summary == "n1 has 0 pods, which ask for 0 of 4 cpu and 0 of 8Gi memory"
