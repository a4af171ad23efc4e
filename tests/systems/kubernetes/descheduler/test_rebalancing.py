"""Duplicates, spread constraints and restarts: cases of the descheduler's own tests (removeduplicates_test.go,
topologyspreadconstraint_test.go of kubernetes-sigs/descheduler, "theirs"), and the rules around them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gnomon.systems.kubernetes.api.constraints import LabelSelector, Requirement, Taint, TopologySpreadConstraint
from gnomon.systems.kubernetes.api.descheduling import Duplicates, Evictor, Restarts, SpreadViolations
from gnomon.systems.kubernetes.api.objects import Node, Pod
from tests.systems.kubernetes.build import node
from tests.systems.kubernetes.descheduled import evicted, placed

SELECTOR = LabelSelector((Requirement("foo", "In", ("bar",)),))
CONSTRAINT = TopologySpreadConstraint(1, "zone", label_selector=SELECTOR)


def domains(*sizes: int, constraint: TopologySpreadConstraint = CONSTRAINT) -> tuple[list[Node], list[tuple[Pod, str]]]:
    """A node a zone, and so many pods with the constraint on each."""
    nodes = [node(f"n{i}", cpu=200_000, pods=200, labels={"zone": f"zone{i}"}) for i in range(len(sizes))]
    pods = [
        placed(f"p{i}-{k}", f"n{i}", 100, labels={"foo": "bar"}, topology_spread_constraints=(constraint,))
        for i, size in enumerate(sizes)
        for k in range(size)
    ]
    return nodes, pods


class TestSpread:
    @pytest.mark.parametrize(
        ("sizes", "moved"),
        [
            ((2, 1), 0),
            ((3, 1), 1),
            ((4, 0), 2),
            ((0, 1, 100), 66),  # theirs: 3 domains, sizes [0, 1, 100], maxSkew=1, move 66 pods to get [34, 33, 34]
            ((0, 1, 3, 5), 3),  # theirs: 4 domains, sizes [0, 1, 3, 5], should move 3 to get [2, 2, 3, 2]
            ((8, 7, 0), 5),  # theirs: 3 domains size [8 7 0], maxSkew=1, should move 5 to get [5 5 5]
            ((5, 5, 5), 0),
            ((3, 2, 0), 1),  # the layout of user problem U01
        ],
    )
    def test_as_many_go_as_even_it_out(self, sizes: tuple[int, ...], moved: int) -> None:
        assert len(evicted(SpreadViolations(), *domains(*sizes))) == moved

    def test_soft_constraints_count_when_they_are_to(self) -> None:
        soft = replace(CONSTRAINT, when_unsatisfiable="ScheduleAnyway")
        assert evicted(SpreadViolations(), *domains(3, 1, constraint=soft)) == []
        both = SpreadViolations(constraints=("DoNotSchedule", "ScheduleAnyway"))
        assert len(evicted(both, *domains(3, 1, constraint=soft))) == 1

    def test_a_pod_that_fits_on_no_other_node_stays(self) -> None:
        (first, second), pods = domains(3, 1)
        full = replace(second, allocatable={**second.allocatable, "cpu": 100})
        assert evicted(SpreadViolations(), [first, full], pods) == []
        assert len(evicted(SpreadViolations(node_fit=False), [first, full], pods)) == 1

    def test_generations_are_counted_apart_with_match_label_keys(self) -> None:
        apart = replace(CONSTRAINT, match_label_keys=("generation",))
        nodes, pods = domains(3, 1, constraint=apart)
        pods = [
            (replace(pod, labels={**pod.labels, "generation": "old" if i < 2 else "new"}), where)
            for i, (pod, where) in enumerate(pods)
        ]
        assert len(evicted(SpreadViolations(), nodes, pods)) == 1  # two of the old on n0, none on n1


class TestDuplicates:
    NODES = (node("n1", cpu=2000, pods=10), node("n2", cpu=2000, pods=10), node("n3", cpu=2000, pods=10))

    def twins(self, *sizes: int, image: str = "app:1") -> list[tuple[Pod, str]]:
        pods = [placed(f"p{i}-{k}", f"n{i + 1}", 100) for i, size in enumerate(sizes) for k in range(size)]
        return pods

    def test_three_on_one_of_two_nodes(self) -> None:
        # Theirs: "Three pods in the `dev` Namespace, bound to same ReplicaSet. 1 should be evicted."
        assert evicted(Duplicates(), [*self.NODES[:2]], self.twins(3)) == ["p0-2"]

    def test_evenly(self) -> None:
        # Theirs: "Evict pods uniformly", (5,3,1) -> (3,3,3), 2 evictions.
        assert len(evicted(Duplicates(), [*self.NODES], self.twins(5, 3, 1))) == 2

    def test_kinds_of_owners_are_left_out(self) -> None:
        args = Duplicates(exclude_owner_kinds=("ReplicaSet",))
        assert evicted(args, [*self.NODES[:2]], self.twins(3)) == []

    def test_where_only_one_node_takes_them_all_stay(self) -> None:
        # Theirs: "Only node available has a taint, and nodeFit set to true. 0 should be evicted."
        tainted = replace(self.NODES[1], taints=(Taint("hardware", "gpu"),))
        assert evicted(Duplicates(), [self.NODES[0], tainted], self.twins(3), evictor=Evictor(node_fit=True)) == []

    def test_other_images_are_no_duplicates(self) -> None:
        one, other = placed("p1", "n1"), placed("p2", "n1")
        changed = replace(
            other[0], spec=replace(other[0].spec, containers=(replace(other[0].spec.containers[0], image="x"),))
        )
        assert evicted(Duplicates(), [*self.NODES[:2]], [one, (changed, "n1")]) == []


class TestRestarts:
    def test_pods_from_the_threshold_on_go(self) -> None:
        pods = [placed(f"p{i}", "n1", 100) for i in range(10)]
        counts = {f"p{i}": i * 25 for i in range(10)}
        gone = evicted(Restarts(100), [node("n1"), node("n2")], pods, restarts=counts)
        assert gone == [f"p{i}" for i in range(4, 10)]

    def test_of_other_labels_none_go(self) -> None:
        args = Restarts(1, label_selector=SELECTOR)
        assert evicted(args, [node("n1"), node("n2")], [placed("p", "n1")], restarts={"p": 5}) == []
