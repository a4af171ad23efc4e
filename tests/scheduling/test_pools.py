"""Task sets between pools, by the worked example of Spark's rules and by the rules themselves."""

from dataclasses import dataclass
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from gnomon.scheduling.pools import FAIR, FIFO, Pool, fair_key, order


@dataclass
class Set:
    job: int
    stage: int
    pool: str = "default"
    running: int = 0
    attempt: int = 0


def filled(pools: dict[str, Pool], sets: list[Set], slots: int) -> None:
    """Slots are given out one by one, each in a round of its own."""
    for _ in range(slots):
        order(sets, FAIR, pools)[0].running += 1


def test_first_come_first_served_is_by_job_and_then_by_stage() -> None:
    sets = [Set(1, 2), Set(0, 5), Set(0, 3), Set(1, 1)]
    assert [(one.job, one.stage) for one in order(sets)] == [(0, 3), (0, 5), (1, 1), (1, 2)]


def test_weights_and_minimum_shares_divide_eight_slots_as_two_and_six() -> None:
    pools = {"P": Pool("P", weight=1, min_share=2), "Q": Pool("Q", weight=3)}
    p, q = Set(0, 0, "P"), Set(1, 1, "Q")
    filled(pools, [p, q], 8)
    assert (p.running, q.running) == (2, 6)


def test_a_pool_that_fell_below_its_minimum_is_served_first() -> None:
    pools = {"P": Pool("P", weight=1, min_share=2), "Q": Pool("Q", weight=3)}
    sets = [Set(0, 0, "P", running=1), Set(1, 1, "Q", running=0)]
    assert order(sets, FAIR, pools)[0].pool == "P"


def test_who_was_alone_gives_back_slot_by_slot_until_the_shares_are_right() -> None:
    pools = {"P": Pool("P", weight=1, min_share=2), "Q": Pool("Q", weight=3)}
    p, q = Set(0, 0, "P", running=8), Set(1, 1, "Q")
    for _ in range(20):  # a task of P ends, while it has more than its share; then one of each in turn
        (p if p.running > 2 else q).running -= 1
        filled(pools, [p, q], 1)
    assert (p.running, q.running) == (2, 6)


def test_ties_go_by_name_and_a_pool_that_nobody_declared_weighs_one() -> None:
    sets = [Set(1, 1, "b"), Set(0, 0, "a")]
    assert [one.pool for one in order(sets, FAIR)] == ["a", "b"]


def test_inside_a_fair_pool_the_task_set_with_fewest_running_is_first() -> None:
    sets = [Set(0, 0, "a", running=2), Set(1, 1, "a", running=1)]
    assert [one.stage for one in order(sets, FAIR, {"a": Pool("a", mode=FAIR)})] == [1, 0]
    assert [one.stage for one in order(sets, FAIR, {"a": Pool("a", mode=FIFO)})] == [0, 1]


def test_inside_a_fair_pool_names_are_compared_as_text() -> None:
    sets = [Set(0, 2, "a"), Set(1, 10, "a")]
    assert [one.stage for one in order(sets, FAIR, {"a": Pool("a", mode=FAIR)})] == [10, 2]


@given(st.integers(0, 9), st.integers(0, 9), st.integers(1, 5), st.integers(1, 5))
def test_of_two_pools_without_minimum_the_one_with_less_for_its_weight_is_first(a: int, b: int, x: int, y: int) -> None:
    first = fair_key("a", a, weight=x) < fair_key("b", b, weight=y)
    assert first == (Fraction(a, x) <= Fraction(b, y))
