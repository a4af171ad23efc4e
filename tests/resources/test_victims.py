"""Orders of victims: what the sheets and the users' problems say."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.resources.victims import ORDERS, Candidate, adjustment, last_of_group, score_e4

pytestmark = pytest.mark.unit

GI, MI = 2**30, 2**20


def order(name: str, *candidates: Candidate) -> list[int]:
    return [one.task for one in ORDERS[name](candidates)]


def test_eviction_does_not_follow_the_class_of_service() -> None:
    """User problem U12 (kubernetes/kubernetes #105270)."""
    node = 32 * GI
    guaranteed = Candidate(0, 13 * GI, 13 * GI, used=12 * GI, capacity=node)
    burstable = Candidate(1, 10 * MI, used=12_800 * MI, capacity=node)
    best_effort = Candidate(2, used=8 * GI, capacity=node)
    assert order("over-request", guaranteed, burstable, best_effort) == [1, 2, 0]
    # Only the kernel's own choice follows the class, and there the larger use still counts.
    assert order("oom-score", guaranteed, burstable, best_effort) == [1, 2, 0]
    assert [round(score_e4(one) / 10_000) for one in (guaranteed, burstable, best_effort)] == [-622, 1390, 1250]


def test_priority_counts_only_among_those_over_their_request() -> None:
    over_high, over_low = Candidate(0, 5, used=90, priority=9), Candidate(1, 5, used=6, priority=1)
    within = Candidate(2, 50, used=50, priority=-9)
    assert order("over-request", within, over_high, over_low) == [1, 0, 2]


@pytest.mark.parametrize(
    ("asked", "limit", "points"),
    [
        pytest.param(4 * GI, 4 * GI, -997, id="guaranteed"),
        pytest.param(0, 0, 1000, id="best effort"),
        pytest.param(0, 4 * GI, 1000, id="a limit alone is no request"),
        pytest.param(4 * GI, 0, 500, id="half the node"),
        pytest.param(1, 0, 999, id="at most 999"),
        pytest.param(8 * GI, 0, 3, id="at least 3"),
    ],
)
def test_adjustments_are_those_of_the_sheet(asked: int, limit: int, points: int) -> None:
    assert adjustment(Candidate(0, asked, limit, capacity=8 * GI)) == points


def test_groups_of_an_owner() -> None:
    """Ray sheet 4: retriable first, the larger group, the one whose first member is newer; inside it the newest."""
    a1, a2 = Candidate(0, owner="a", start_ns=1), Candidate(1, owner="a", start_ns=5)
    b1, b2 = Candidate(2, owner="b", start_ns=2), Candidate(3, owner="b", start_ns=3)
    fixed = [Candidate(k, owner=str(k), start_ns=9, retriable=False) for k in (4, 5, 6)]
    # b's first began later than a's: 3 goes; a is the larger group then: 1; of two single ones the newer: 2; then 0.
    assert order("newest-retriable", a1, a2, b1, b2, *fixed) == [3, 1, 2, 0, 4, 5, 6]


def test_the_last_of_a_group_has_no_second_chance() -> None:
    """Corrections R9."""
    one, two, other = Candidate(0, owner="a"), Candidate(1, owner="a"), Candidate(2, owner="b")
    assert not last_of_group([one, two, other], one)
    assert last_of_group([one, two, other], other)
    assert last_of_group([one, Candidate(1, owner="a", retriable=False)], one)
    never = [Candidate(3, owner="x", retriable=False), Candidate(4, owner="y", retriable=False)]
    assert not last_of_group(never, never[0])  # all that may not be repeated are one group


def test_simple_orders() -> None:
    one = Candidate(0, limit=10, used=11, priority=3, start_ns=1)
    two = Candidate(1, limit=10, used=15, priority=3, start_ns=2)
    three = Candidate(2, limit=99, used=50, priority=1)
    four = Candidate(3, used=60, priority=7)
    assert order("largest", one, two, three, four) == [3, 2, 1, 0]
    assert order("over-limit", one, two, three, four) == [1, 0]
    assert order("lowest-priority", one, two, three, four) == [2, 1, 0, 3]


some = st.builds(
    Candidate,
    task=st.integers(0, 9),
    request=st.integers(0, 9),
    limit=st.integers(0, 9),
    used=st.integers(0, 9),
    priority=st.integers(-2, 2),
    start_ns=st.integers(0, 3),
    owner=st.sampled_from("abc"),
    retriable=st.booleans(),
    capacity=st.just(20),
)


@given(st.lists(some, max_size=7, unique_by=lambda one: one.task), st.sampled_from(sorted(ORDERS)))
def test_an_order_is_of_the_candidates_and_not_of_how_they_come(candidates: list[Candidate], name: str) -> None:
    victims = ORDERS[name](candidates)
    assert victims == ORDERS[name](candidates[::-1])
    wanted = [one for one in candidates if one.limit and one.used > one.limit] if name == "over-limit" else candidates
    assert sorted(one.task for one in victims) == sorted(one.task for one in wanted)
