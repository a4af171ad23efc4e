"""NodeResourcesBalancedAllocation (sheet §4.5, examples E1 to E3)."""

from statistics import pstdev

from tests.systems.kubernetes.build import GIB, node, pod, points, scheduler

BALANCED = "NodeResourcesBalancedAllocation"


def test_e1_even_use_scores_100() -> None:
    asked = scheduler([node("a"), node("b")])
    asked.state.place(pod("there", {"cpu": 1000, "memory": 2 * GIB}), "a")
    assert points(asked, pod("p", {"cpu": 500, "memory": GIB}), BALANCED)["a"] == 100


def test_e2_a_pod_without_requests_is_not_scored() -> None:
    assert points(scheduler([node("a"), node("b")]), pod("p"), BALANCED) == {"a": None, "b": None}


def test_e3_half_the_difference_of_two_shares() -> None:
    asked = scheduler([node("a"), node("b")])
    assert points(asked, pod("p", {"cpu": 1500, "memory": 5 * GIB}), BALANCED)["a"] == 87


def test_a_share_is_one_at_most_and_a_missing_resource_is_left_out() -> None:
    asked = scheduler([node("a", memory=0), node("b")])
    assert points(asked, pod("p", {"cpu": 1000}), BALANCED) == {"a": 100, "b": int((1 - 0.25 / 2) * 100)}


def test_of_three_resources_the_standard_deviation() -> None:
    asked = scheduler([node("a", also={"x.io/gpu": 4}), node("b")], balanced=("cpu", "memory", "x.io/gpu"))
    found = points(asked, pod("p", {"cpu": 1000, "memory": 4 * GIB}), BALANCED)
    assert found["a"] == found["b"] == 87  # without a request for it the third does not count
    asked = scheduler(
        [node("a", also={"x.io/gpu": 4}), node("b", also={"x.io/gpu": 1})], balanced=("cpu", "memory", "x.io/gpu")
    )
    found = points(asked, pod("q", {"cpu": 1000, "memory": 4 * GIB, "x.io/gpu": 1}), BALANCED)
    assert found == {"a": int((1 - pstdev([0.25, 0.5, 0.25])) * 100), "b": int((1 - pstdev([0.25, 0.5, 1.0])) * 100)}
