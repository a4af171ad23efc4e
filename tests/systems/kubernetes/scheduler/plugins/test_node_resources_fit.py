"""NodeResourcesFit: refusals with all that is short, and the three ways to score (sheet §4.3, §4.5, example E1, E2)."""

from typing import Any

import pytest

from gnomon.systems.kubernetes.api.objects import Container
from gnomon.systems.kubernetes.api.profile import FitArgs
from gnomon.systems.kubernetes.scheduler.cycle import Scheduler
from gnomon.systems.kubernetes.scheduler.plugins.node_resources_fit import shape_table
from tests.systems.kubernetes.build import GIB, MIB, node, pod, points, refusals, scheduler

ONE, OTHER = node("a"), node("b")
FIT = "NodeResourcesFit"


def with_load(**profile: Any) -> Scheduler:
    found = scheduler([ONE, OTHER], **profile)
    found.state.place(pod("there", {"cpu": 1000, "memory": 2 * GIB}), "a")
    return found


def test_everything_that_is_short_is_named() -> None:
    asked = scheduler([node("a", pods=1)])
    asked.state.place(pod("there", {"cpu": 3000}), "a")
    found = refusals(asked, pod("p", {"cpu": 2000, "memory": GIB}))
    assert found == {"a": (FIT, "Unschedulable", ["Insufficient cpu", "Too many pods"])}


def test_more_than_the_node_has_at_all_cannot_be_helped_by_preemption() -> None:
    asked = scheduler([node("a", pods=0)])
    assert refusals(asked, pod("p"))["a"] == (FIT, "Unschedulable", ["Too many pods"])
    code = refusals(asked, pod("p", {"cpu": 4001}))["a"][1]
    assert code == "UnschedulableAndUnresolvable"


def test_what_a_node_lacks_counts_as_none() -> None:
    asked = scheduler([ONE])
    assert refusals(asked, pod("p", {"x.io/gpu": 1}))["a"][2] == ["Insufficient x.io/gpu"]
    assert refusals(asked, pod("p", {"x.io/gpu": 0})) == {}


def test_a_pod_that_asks_for_nothing_fits_where_everything_is_taken() -> None:
    asked = scheduler([ONE])
    asked.state.place(pod("there", {"cpu": 4000, "memory": 8 * GIB}), "a")
    assert refusals(asked, pod("p")) == {}
    assert refusals(asked, pod("q", {"cpu": 1}))["a"][2] == ["Insufficient cpu"]


@pytest.mark.parametrize("ignored", [{"ignored": frozenset(["x.io/gpu"])}, {"ignored_groups": frozenset(["x.io"])}])
def test_ignored_extended_resources_are_not_looked_at(ignored: dict[str, Any]) -> None:
    asked = scheduler([ONE], fit=FitArgs(**ignored))
    assert refusals(asked, pod("p", {"x.io/gpu": 1})) == {}


def test_e1_least_allocated_is_62() -> None:
    assert points(with_load(), pod("p", {"cpu": 500, "memory": GIB}), FIT)["a"] == 62


def test_e2_a_pod_without_requests_counts_as_100m_and_200_mib() -> None:
    assert points(with_load(), pod("p"), FIT)["a"] == 72


def test_asked_beyond_the_node_scores_nothing() -> None:
    asked = scheduler([node("a", cpu=50), OTHER])
    assert points(asked, pod("p"), FIT)["a"] == (0 + (8 * GIB - 200 * MIB) * 100 // (8 * GIB)) // 2


def test_most_allocated_is_the_share_in_use() -> None:
    asked = with_load(fit=FitArgs("MostAllocated"))
    assert points(asked, pod("p", {"cpu": 500, "memory": GIB}), FIT)["a"] == (37 + 37) // 2


def test_weights_and_extended_resources_that_the_pod_asks_for() -> None:
    fit = FitArgs("MostAllocated", (("cpu", 1), ("x.io/gpu", 3)))
    asked = scheduler([node("a", also={"x.io/gpu": 4}), node("b", also={"x.io/gpu": 8})], fit=fit)
    found = points(asked, pod("p", {"cpu": 2000, "x.io/gpu": 1}), FIT)
    assert found == {"a": (50 + 3 * 25) // 4, "b": (50 + 3 * 12) // 4}
    assert points(asked, pod("q", {"cpu": 2000}), FIT) == {"a": 50, "b": 50}


def test_requested_to_capacity_drops_what_scores_nothing_and_rounds() -> None:
    fit = FitArgs("RequestedToCapacityRatio", (("cpu", 1), ("memory", 1)), ((0, 0), (100, 10)))
    asked = scheduler([node("a", memory=10**15), OTHER], fit=fit)
    assert points(asked, pod("p", {"cpu": 1000, "memory": MIB}), FIT)["a"] == 25  # memory: 0 %, left out
    assert points(asked, pod("q", {"cpu": 1000, "memory": 2 * GIB + 2**27}), FIT)["b"] == 26  # (25 + 26) / 2


def test_a_shape_that_falls_is_cut_towards_zero() -> None:
    table = shape_table(((0, 10), (30, 0)))
    assert [table[u] for u in (0, 1, 29, 30, 100)] == [100, 100 - 3, 100 - 96, 0, 0]


def test_init_containers_count_with_their_defaults() -> None:
    asked = scheduler([ONE, OTHER])
    init = pod("p", init_containers=(Container("i"), Container("j", requests={"cpu": 900})))
    assert points(asked, init, FIT)["a"] == ((4000 - 900) * 100 // 4000 + (8 * GIB - 200 * MIB) * 100 // (8 * GIB)) // 2
