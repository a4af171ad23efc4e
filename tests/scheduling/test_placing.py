"""Placement: which node and which devices a task gets."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings

from gnomon.api import Cluster, Kind, Node, Scenario, Task, simulate
from gnomon.scheduling.codes import PLACEMENT_CODES
from tests.builders import amount, by_id, nodes, policies, run, scenarios, task

pytestmark = pytest.mark.unit


def chosen(policy: str, cluster: Cluster, *tasks: Task, seed: int = 0) -> list[int]:
    """The nodes that the tasks get, in order."""
    done = run(tasks, cluster, policy, seed=seed)
    return [int(node or 0) for node in by_id(done, "node").values()]


def devices(policy: str, cluster: Cluster, *tasks: Task, seed: int = 0) -> list[int]:
    """The devices of each start, as bits."""
    log = run(tasks, cluster, policy, seed=seed).log
    return [int(value) for value in log.value[log.kind == Kind.START]]


@pytest.mark.parametrize(
    ("policy", "node"),
    [
        ("first-fit", 0),
        ("best-fit", 1),  # leaves 0 of 2 CPUs
        ("worst-fit", 2),  # leaves 6 of 8
        ("least-allocated", 2),  # then 2/8 are allocated; 3/4 of n0, 2/2 of n1
        ("most-allocated", 1),
        ("balanced", 0),  # one resource is always balanced: the first
        ("dot-product", 1),  # the least is free there
        ("dot-product:prefer=high", 2),
    ],
)
def test_which_node(policy: str, node: int) -> None:
    """n0 has 3 of 4 CPUs free, n1 2 of 2, n2 8 of 8; the task wants two."""
    there = task("there", 1, 100, kinds=["n0"])
    cluster = Cluster(tuple(Node(f"n{i}", amount(cpu), f"n{i}") for i, cpu in enumerate((4, 2, 8))))
    assert chosen(policy, cluster, there, task("a", 2, at=1)) == [0, node]


def test_balance() -> None:
    """n0 would be used to 3/4 and 1/4, n1 to 1/2 and 1/2."""
    cluster = nodes(amount(4, memory=8), amount(4, memory=8))
    there = [task("x", 2, 100), task("y", 1, 100, memory=2)]
    assert chosen("balanced", cluster, *there, task("a", 1, memory=2, at=1))[2] == 1


@pytest.mark.parametrize("policy", sorted(set(PLACEMENT_CODES) - {"random"}))
def test_the_first_node_wins_a_tie(policy: str) -> None:
    assert chosen(policy, nodes(4, 4, 4), task("a", 1)) == [0]


def test_shuffled_ties_follow_one_order_for_the_whole_run() -> None:
    cluster, tasks = nodes(*[1] * 6), [task(f"t{i}", 1, 9) for i in range(6)]
    orders = {tuple(chosen("best-fit:ties=shuffled", cluster, *tasks, seed=seed)) for seed in range(8)}
    assert len(orders) > 4
    assert {tuple(sorted(order)) for order in orders} == {tuple(range(6))}


def test_random_takes_every_node_that_will_do_and_depends_on_the_seed() -> None:
    cluster, tasks = nodes(1, 8, 8, 8), [task(f"t{i}", 2, 0.5, at=i) for i in range(40)]
    found = [chosen("random", cluster, *tasks, seed=seed) for seed in (1, 1, 2)]
    assert found[0] == found[1] != found[2]
    assert set(found[0]) == {1, 2, 3}


class TestFilters:
    cluster = Cluster(
        (
            Node("plain", amount(8)),
            Node("old", amount(8, gpus=2), "k80"),
            Node("new", amount(8, gpus=2), "a100", (("zone", "a"), ("disk", "fast"))),
        )
    )

    @pytest.mark.parametrize(
        ("rules", "node"),
        [
            ({}, 0),
            ({"gpus": 1}, 1),
            ({"kinds": ["a100"]}, 2),
            ({"kinds": ["a100", "k80"]}, 1),
            ({"labels": [("zone", "a")]}, 2),
            ({"labels": [("zone", "a"), ("disk", "fast")]}, 2),
        ],
    )
    def test_a_node_has_to_be_of_a_kind_and_to_have_all_labels(self, rules: dict[str, Any], node: int) -> None:
        assert chosen("first-fit", self.cluster, task("a", 1, **rules)) == [node]

    def test_each_device_for_itself(self) -> None:
        """Both nodes have half a device left, in one piece and in two."""
        cluster = nodes(amount(8, gpus=2), amount(8, gpus=1))
        there = [task("x", 1, 100, gpus=1, share=0.75), task("y", 1, 100, gpus=1, share=0.75)]
        tasks = [*there, task("z", 1, 100, gpus=1, share=0.5, at=1), task("a", 1, gpus=1, share=0.5, at=2)]
        assert chosen("first-fit", cluster, *tasks) == [0, 0, 1, 1]


class TestDevices:
    cluster = nodes(amount(8, gpus=4))

    def test_whole_ones_are_those_of_lowest_index(self) -> None:
        tasks = [task("a", 1, 9, gpus=1), task("b", 1, 9, gpus=2), task("c", 1, 9, gpus=1)]
        assert devices("first-fit", self.cluster, *tasks) == [0b0001, 0b0110, 0b1000]

    def test_a_share_goes_where_least_is_left(self) -> None:
        shares = [0.5, 0.75, 0.25, 0.25]
        tasks = [task(f"s{i}", 1, 9, gpus=1, share=share) for i, share in enumerate(shares)]
        assert devices("first-fit", self.cluster, *tasks) == [0b01, 0b10, 0b10, 0b01]

    def test_at_random_to_any_with_room(self) -> None:
        tasks = [task(f"s{i}", 0, 0.5, gpus=1, share=0.5, at=i) for i in range(40)]
        assert set(devices("random", self.cluster, *tasks)) == {1, 2, 4, 8}

    def test_gpu_packing_prefers_devices_in_use(self) -> None:
        cluster = nodes(amount(8, gpus=2), amount(8, gpus=2))
        there = task("x", 1, 100, gpus=1, share=0.5, kinds=[])
        second = Cluster((cluster.nodes[0], Node("n1", amount(8, gpus=2), "b")))
        tasks = [task("x", 1, 100, gpus=1, share=0.5, kinds=["b"]), task("a", 1, gpus=1, share=0.5, at=1)]
        assert chosen("gpu-packing", second, *tasks) == [1, 1]
        assert chosen("gpu-packing", cluster, there, task("a", 1, gpus=2, at=1)) == [0, 1]

    def test_gpu_clustering_prefers_nodes_with_tasks_of_the_same_kind(self) -> None:
        """A node that runs shares gets the next share, one that runs whole devices the next whole one."""
        cluster = Cluster((Node("n0", amount(8, gpus=4), "a"), Node("n1", amount(8, gpus=4), "b")))
        there = [task("w", 1, 100, gpus=1, kinds=["a"]), task("s", 1, 100, gpus=1, share=0.5, kinds=["b"])]
        tasks = [*there, task("share", 1, 9, gpus=1, share=0.5, at=1), task("whole", 1, 9, gpus=1, at=1)]
        assert chosen("gpu-clustering", cluster, *tasks) == [0, 1, 1, 0]

    def test_fgd_keeps_what_the_others_can_use(self) -> None:
        """All other tasks want whole devices: a share goes where one is broken already."""
        cluster = Cluster((Node("n0", amount(8, gpus=2), "a"), Node("n1", amount(8, gpus=2), "b")))
        broken = task("x", 1, 100, gpus=1, share=0.5, kinds=["b"])
        whole = [task(f"w{i}", 1, 1, gpus=2, at=50) for i in range(20)]
        assert chosen("fgd", cluster, broken, task("a", 1, gpus=1, share=0.5, at=1), *whole)[:2] == [1, 1]


@pytest.mark.property
@settings(max_examples=150)
@given(scenario=scenarios(policy=policies()))
def test_every_start_is_on_a_node_that_will_do(scenario: Scenario) -> None:
    """From the log: the node is of a kind and has the labels that the task accepts, and the devices are its own."""
    log = simulate(scenario, compiled=False).log
    for kind, subject, where, value in zip(log.kind, log.subject, log.node, log.value, strict=True):
        if kind in (Kind.START, Kind.HOLD):
            node, shape = scenario.cluster.nodes[where], scenario.work.task(int(subject)).shape
            assert not shape.node_kinds or node.kind in shape.node_kinds
            assert set(shape.node_labels) <= set(node.labels)
            assert int(value).bit_count() == shape.request.gpus
            assert int(value) < 1 << node.capacity.gpus
