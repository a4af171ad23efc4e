"""LowNodeUtilization and HighNodeUtilization: cases of the descheduler's own tests (lownodeutilization_test.go of
kubernetes-sigs/descheduler, "theirs"), and the rules around them."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

from gnomon.systems.kubernetes.api.constraints import Taint, Toleration
from gnomon.systems.kubernetes.api.descheduling import HIGH, LOW, PERCENT, DeschedulerPolicy, Namespaces, Utilization
from gnomon.systems.kubernetes.api.objects import Node, Owner, Volume
from tests.systems.kubernetes.build import node
from tests.systems.kubernetes.descheduled import evicted, placed


def percent(**shares: int) -> dict[str, int]:
    return {name: value * PERCENT for name, value in shares.items()}


THEIRS = Utilization(LOW, percent(cpu=30, pods=30), percent(cpu=50, pods=50))


def three_nodes() -> list[Node]:
    """n1 takes 9 pods, n2 and n3 take 10; n3 is cordoned."""
    small = {"cpu": 4000, "memory": 3000}
    return [node("n1", pods=9, **small), node("n2", pods=10, **small), node("n3", pods=10, unschedulable=True, **small)]


def crowd(**more: Any) -> list[tuple[Any, str]]:
    """Eight pods on n1, of which three may not be evicted, and one on n2."""
    daemon = placed("p6", "n1", owner=Owner("DaemonSet", "daemonset-1"))
    local = placed("p7", "n1", volumes=(Volume("sample", "hostPath", "somePath"),))
    critical = placed("p8", "n1", priority=2 * 10**9)
    return [*(placed(f"p{i}", "n1", **more) for i in range(1, 6)), daemon, local, critical, placed("p9", "n2")]


class TestLowNodeUtilization:
    def test_evicts_until_the_node_is_not_over_its_target(self) -> None:
        # Theirs: "without priorities", 4 evictions: 8 of 9 pods, of which 4 (50 %, rounded down) may be.
        assert evicted(THEIRS, three_nodes(), crowd()) == ["p1", "p2", "p3", "p4"]

    def test_nobody_goes_who_may_not(self) -> None:
        # Theirs: "no evictable pods".
        assert evicted(THEIRS, three_nodes(), crowd()[5:]) == []

    def test_the_lowest_priority_goes_first(self) -> None:
        pods = crowd(priority=10000)
        pods[4] = placed("p5", "n1", priority=0)
        assert evicted(THEIRS, three_nodes(), pods)[0] == "p5"

    def test_namespaces_count_and_are_spared(self) -> None:
        # Theirs: "without priorities, but excluding namespaces", 0 evictions.
        args = replace(THEIRS, namespaces=Namespaces(exclude=("namespace1",)))
        assert evicted(args, three_nodes(), crowd(namespace="namespace1")) == []

    def test_nothing_is_done_without_a_node_below_or_when_all_are(self) -> None:
        only = [node("n1", pods=9, cpu=4000, memory=3000)]
        assert evicted(THEIRS, only, crowd()[:8]) == []
        assert evicted(THEIRS, three_nodes(), [placed("p9", "n2")]) == []

    def test_a_cordoned_node_is_no_target(self) -> None:
        nodes = [three_nodes()[0], three_nodes()[2]]
        assert evicted(THEIRS, nodes, crowd()[:8]) == []

    def test_number_of_nodes_is_how_many_are_too_few(self) -> None:
        assert evicted(replace(THEIRS, number_of_nodes=1), three_nodes(), crowd()) == []

    def test_limits_of_the_plugin_and_of_the_policy(self) -> None:
        assert len(evicted(replace(THEIRS, node_limit=2), three_nodes(), crowd())) == 2
        assert len(evicted(THEIRS, three_nodes(), crowd(), limits=DeschedulerPolicy(per_node=1))) == 1
        assert len(evicted(THEIRS, three_nodes(), crowd(), limits=DeschedulerPolicy(total=3))) == 3

    def test_a_pod_that_tolerates_no_target_stays(self) -> None:
        tainted = replace(three_nodes()[1], taints=(Taint("key", "value"),))
        assert evicted(THEIRS, [three_nodes()[0], tainted], crowd()) == []
        tolerant = crowd(tolerations=(Toleration("key", "Equal", "value"),))
        assert len(evicted(THEIRS, [three_nodes()[0], tainted], tolerant)) == 4

    def test_deviations_count_from_the_mean(self) -> None:
        # 5 pods of 500m on a node of 4 cpu and none on the two others: the mean is 62.5 / 3 %.
        nodes = [node(name, cpu=4000, memory=3000, pods=10) for name in ("n1", "n2", "n3")]
        pods = [placed(f"p{i}", "n1", 500) for i in range(5)]
        args = Utilization(LOW, percent(cpu=5), percent(cpu=5), deviation=True)
        share = Fraction(100 * 2500, 4000)
        bound = int(4000 * (share / 3 + 5) / 100)  # 1033m: two of the five may stay
        assert bound == 1033
        assert evicted(args, nodes, pods) == ["p0", "p1", "p2"]


class TestHighNodeUtilization:
    def test_empties_the_node_below_its_threshold(self) -> None:
        nodes = [node("n1", cpu=4000, pods=10), node("n2", cpu=4000, pods=10), node("n3", cpu=4000, pods=10)]
        pods = [placed("p1", "n1"), *(placed(f"q{i}", "n2", 600) for i in range(4))]
        pods += [placed(f"r{i}", "n3", 600) for i in range(4)]
        args = Utilization(HIGH, percent(cpu=20, pods=20))
        assert evicted(args, nodes, pods) == ["p1"]
        assert evicted(Utilization(HIGH, percent(cpu=9)), nodes, pods) == []

    def test_where_no_other_has_room_all_stay(self) -> None:
        nodes = [node("n1", cpu=4000, pods=10), node("n2", cpu=4000, pods=4)]
        pods = [placed("p1", "n1"), *(placed(f"q{i}", "n2", 900) for i in range(4))]
        assert evicted(Utilization(HIGH, percent(cpu=20)), nodes, pods) == []
