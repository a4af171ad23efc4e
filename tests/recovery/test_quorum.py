"""Quorum: majorities through partitions, and leaders that give way and follow in time."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.model.operation import ControlPlane
from gnomon.model.resources import NEVER
from gnomon.recovery.quorum import Cut, Election, hears, leader, majority, name

LEASE = 15
STEP_DOWN = 10


def cut(left: Sequence[int], right: Sequence[int]) -> Cut:
    return frozenset(map(name, left)), frozenset(map(name, right))


# ------------------------------------------------------------------ who hears whom


def test_a_partition_is_pairwise_and_is_not_passed_on() -> None:
    between = [(frozenset({"a"}), frozenset({"b"}))]
    assert not hears("a", "b", between)
    assert not hears("b", "a", between)
    assert hears("a", "c", between)
    assert hears("b", "c", between)


# ------------------------------------------------------------------ who leads


@pytest.mark.parametrize(("members", "tolerated"), [(1, 0), (2, 0), (3, 1), (4, 1), (5, 2), (6, 2), (7, 3)])
def test_a_majority_outlives_the_loss_of_less_than_half(members: int, tolerated: int) -> None:
    assert members - majority(members) == tolerated
    assert leader(members, range(tolerated, members), []) == tolerated
    assert leader(members, range(tolerated + 1, members), []) is None


def test_an_even_split_elects_nobody() -> None:
    assert leader(4, range(4), [cut([0, 1], [2, 3])], present=0) is None


def test_the_side_with_the_majority_leads_and_its_leader_stays() -> None:
    assert leader(5, range(5), [cut([0, 1], [2, 3, 4])], present=0) == 2
    assert leader(5, range(5), [cut([0, 1], [2, 3, 4])], present=4) == 4


def test_a_member_between_two_others_that_do_not_hear_each_other_can_lead() -> None:
    assert leader(3, range(3), [cut([0], [1])], present=0) == 0, "0 and 2 are a majority"
    assert leader(3, range(3), [cut([0], [1, 2])], present=0) == 1


# ------------------------------------------------------------------ in time


def three(**changes: bool) -> Election:
    return Election(ControlPlane(members=3, lease_ns=LEASE, step_down_ns=STEP_DOWN, **changes))


def test_a_stopped_leader_is_followed_after_the_lease() -> None:
    election = three()
    assert (election.due(0), election.next_ns(), election.term) == (0, NEVER, 1)
    election.change({1, 2}, [], 100)
    assert [election.due(now) for now in (100, 114, 115)] == [-1, -1, 1]
    election.change({0, 1, 2}, [], 200)
    assert (election.due(200), election.next_ns(), election.term) == (1, NEVER, 2), "who comes back does not take over"


def test_a_leader_cut_off_goes_on_for_a_while_and_the_other_side_waits_for_its_lease() -> None:
    election = three()
    election.change({0, 1, 2}, [cut([0], [1, 2])], 100)
    assert [election.leaders(now) for now in (100, 109, 110, 114, 115)] == [[0], [0], [], [], [1]]


def test_a_short_partition_changes_nothing() -> None:
    election = three()
    election.change({0, 1, 2}, [cut([0], [1, 2])], 100)
    election.change({0, 1, 2}, [], 109)
    assert (election.due(1_000), election.term) == (0, 1)


def test_the_next_leader_waits_until_one_that_goes_on_has_stepped_down() -> None:
    election = Election(ControlPlane(members=3, lease_ns=5, step_down_ns=10))
    election.change({0, 1, 2}, [cut([0], [1, 2])], 100)
    assert [election.leaders(now) for now in (105, 109, 110)] == [[0], [0], [1]]


def test_without_a_majority_nobody_leads_until_there_is_one() -> None:
    election = three()
    election.change({2}, [], 100)
    assert (election.due(1_000), election.next_ns()) == (-1, NEVER)
    election.change({1, 2}, [], 1_000)
    assert (election.due(1_000), election.next_ns()) == (1, NEVER), "the lease ran out long ago"


def test_a_leader_that_stops_after_it_was_cut_off_was_lost_when_it_was_cut_off() -> None:
    election = three()
    partition = [cut([0], [1, 2])]
    election.change({0, 1, 2}, partition, 100)
    election.change({1, 2}, partition, 105)
    assert [election.due(now) for now in (105, 114, 115)] == [-1, -1, 1]


def test_a_single_member_leads_again_when_it_is_back() -> None:
    election = Election(ControlPlane())
    election.change((), [], 10)
    assert election.due(10) == -1
    election.change({0}, [], 50)
    assert election.due(50) == 0


def test_without_a_quorum_each_side_has_a_leader() -> None:
    election = three(quorum=False)
    election.change({0, 1, 2}, [cut([0], [1, 2])], 100)
    assert [election.leaders(now) for now in (100, 114, 115, 500)] == [[0], [0], [0, 1], [0, 1]]
    election.change({0, 1, 2}, [], 600)
    assert election.leaders(600) == [0], "when they hear each other again the one that led first stays"


def test_without_a_quorum_a_minority_goes_on() -> None:
    election = three(quorum=False)
    election.change({2}, [], 100)
    assert [election.due(now) for now in (100, 115)] == [-1, 2]


# ------------------------------------------------------------------ always

steps = st.lists(
    st.tuples(
        st.integers(0, 30),
        st.sets(st.integers(0, 4)),
        st.lists(
            st.builds(cut, st.lists(st.integers(0, 4), max_size=4), st.lists(st.integers(0, 4), max_size=4)), max_size=2
        ),
    ),
    max_size=12,
)


@given(steps, st.integers(0, 20), st.integers(0, 20))
def test_with_a_quorum_one_leader_at_most_and_none_without_a_majority_for_long(
    changes: list[tuple[int, set[int], list[Cut]]], lease: int, step_down: int
) -> None:
    election = Election(ControlPlane(members=5, lease_ns=lease, step_down_ns=step_down))
    now, alive, partitions = 0, set(range(5)), list[Cut]()
    in_majority = dict.fromkeys(range(5), 0)  # when each member last was in one
    led, electable = 0, 0  # when there last was a leader, and last was nobody who could be one
    for wait, next_alive, next_partitions in [*changes, (60, set[int](), list[Cut]())]:
        for instant in range(now, now + wait):
            able = {member for member in alive if leader(5, alive, partitions, member) == member}
            in_majority |= dict.fromkeys(able, instant)
            leaders = election.leaders(instant)
            assert len(leaders) <= 1
            for member in leaders:
                assert member in alive
                assert instant - in_majority[member] <= step_down
            led = instant if leaders and leaders[0] in able else led
            electable = electable if able else instant
            if not leaders:
                assert instant - max(led, electable) <= max(lease, step_down) + 1, "whoever can lead does so in time"
                assert instant < election.next_ns()
        now += wait
        alive, partitions = next_alive, next_partitions
        election.change(alive, partitions, now)


@given(steps)
def test_without_a_quorum_no_two_leaders_hear_each_other(changes: list[tuple[int, set[int], list[Cut]]]) -> None:
    election, now = Election(ControlPlane(members=5, lease_ns=LEASE, quorum=False)), 0
    for wait, alive, partitions in changes:
        now += wait
        election.change(alive, partitions, now)
        leaders = election.leaders(now)
        assert set(leaders) <= alive
        assert not any(hears(name(a), name(b), partitions) for a in leaders for b in leaders if a < b)
    if changes:
        leaders = election.leaders(now + LEASE)
        for member in alive:
            assert any(member == other or hears(name(member), name(other), partitions) for other in leaders)
