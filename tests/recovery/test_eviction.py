"""Eviction: the zone rules of the sheet, and a queue whose order of calls within an instant does not matter."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.model.operation import Eviction
from gnomon.model.resources import NEVER
from gnomon.recovery.eviction import Queue, ZoneState

LIFECYCLE = Eviction(
    after_ns=300,
    every_ns=10,
    partial_e4=5_500,
    partial_more=2,
    large=50,
    partial_every_ns=100,
    all_stop=True,
)
"""The defaults of the sheet, in seconds: 0.1 and 0.01 nodes/s, 55 %, more than 2, more than 50 nodes, 300 s."""


def given_up(queue: Queue, until: int = 10**6) -> list[tuple[int, int]]:
    """What is given up, as (time, node), when nothing else happens."""
    found = []
    while (now := queue.next_ns()) <= until:
        nodes = queue.due(now)
        assert nodes, "next_ns is the time of something"
        found += [(now, node) for node in nodes]
    return found


def lose(queue: Queue, zone: str, nodes: range, now: int = 0) -> None:
    for node in nodes:
        queue.lost(node, zone, now)


def test_unless_said_a_lost_node_is_given_up_at_once() -> None:
    queue = Queue(Eviction(), {"": 3})
    lose(queue, "", range(3), 7)
    assert (queue.next_ns(), queue.due(7), queue.next_ns()) == (7, [0, 1, 2], NEVER)


def test_one_node_every_ten_seconds_in_each_zone() -> None:
    queue = Queue(LIFECYCLE, {"a": 10, "b": 10})
    lose(queue, "a", range(3))
    lose(queue, "b", range(10, 12))
    assert given_up(queue) == [(300, 0), (300, 10), (310, 1), (310, 11), (320, 2)]


def test_after_a_while_the_first_node_has_its_turn_at_once() -> None:
    queue = Queue(LIFECYCLE, {"a": 10})
    queue.lost(1, "a", 0)
    queue.lost(2, "a", 4)
    queue.lost(3, "a", 1_000)
    assert given_up(queue) == [(300, 1), (310, 2), (1_300, 3)]


@pytest.mark.parametrize(
    ("size", "lost", "state"),
    [
        (10, 0, ZoneState.NORMAL),
        (10, 5, ZoneState.NORMAL),
        (10, 6, ZoneState.PARTIAL),
        (3, 2, ZoneState.NORMAL),
        (2, 2, ZoneState.WHOLE),
        (20, 11, ZoneState.PARTIAL),
    ],
)
def test_a_zone_is_partly_lost_from_55_percent_and_more_than_two_nodes(size: int, lost: int, state: ZoneState) -> None:
    queue = Queue(LIFECYCLE, {"a": size, "b": 100})
    lose(queue, "a", range(lost))
    assert queue.states() == {"a": state, "b": ZoneState.NORMAL}


def test_a_small_zone_that_is_partly_lost_stops() -> None:
    queue = Queue(LIFECYCLE, {"a": 50, "b": 10})
    lose(queue, "a", range(30))
    assert given_up(queue) == []


def test_without_a_rule_for_it_a_zone_that_is_partly_lost_goes_on() -> None:
    queue = Queue(Eviction(every_ns=10), {"a": 10, "b": 1})
    lose(queue, "a", range(4))
    assert queue.states()["a"] is ZoneState.NORMAL
    assert given_up(queue) == [(0, 0), (10, 1), (20, 2), (30, 3)]


def test_a_large_zone_that_is_partly_lost_goes_ten_times_as_slowly() -> None:
    queue = Queue(LIFECYCLE, {"a": 51, "b": 10})
    lose(queue, "a", range(30))
    times = [at for at, _ in given_up(queue)]
    assert times == [300 + 100 * turn for turn in range(30)]


def test_a_zone_that_is_lost_whole_goes_at_the_usual_pace_while_another_is_there() -> None:
    queue = Queue(LIFECYCLE, {"a": 4, "b": 10})
    lose(queue, "a", range(4))
    assert given_up(queue) == [(300, 0), (310, 1), (320, 2), (330, 3)]


def test_with_every_zone_lost_whole_nothing_is_given_up_until_a_node_is_back() -> None:
    queue = Queue(LIFECYCLE, {"a": 2, "b": 2, "empty": 0})
    lose(queue, "a", range(2))
    lose(queue, "b", range(2, 4), 50)
    assert queue.stopped
    assert queue.next_ns() == NEVER
    queue.back(3, 1_000)
    assert given_up(queue) == [(1_300, 0), (1_300, 2), (1_310, 1)], "marks were taken off; turns begin anew"


def test_a_pace_that_changes_counts_from_the_last_turn() -> None:
    queue = Queue(LIFECYCLE, {"a": 60, "b": 10})
    lose(queue, "a", range(30))
    lose(queue, "a", range(30, 33), 95)  # 33 of 60 are 55 %; ten turns have been, the last at 90
    times = [at for at, _ in given_up(queue)]
    assert times == [300 + 10 * turn for turn in range(10)] + [490 + 100 * turn for turn in range(23)]


def test_a_stop_that_ends_in_the_same_instant_takes_no_mark_off() -> None:
    queue = Queue(LIFECYCLE, {"a": 3})
    lose(queue, "a", range(1))
    lose(queue, "a", range(1, 3), 50)
    queue.back(2, 50)
    assert given_up(queue) == [(300, 0), (350, 1)]


def test_a_node_that_is_back_is_not_given_up_and_frees_its_turn_for_nobody() -> None:
    queue = Queue(LIFECYCLE, {"a": 10})
    lose(queue, "a", range(3))
    queue.back(0, 5)  # had its turn at 0
    queue.back(1, 8)  # was to have it at 10
    queue.back(9, 9)  # was never lost
    assert given_up(queue) == [(310, 2)]


def test_a_node_that_was_given_up_can_be_lost_again() -> None:
    queue = Queue(LIFECYCLE, {"a": 10})
    queue.lost(1, "a", 0)
    assert queue.due(300) == [1]
    queue.lost(1, "a", 301)
    assert queue.next_ns() == NEVER, "it is lost already"
    queue.back(1, 302)
    queue.lost(1, "a", 303)
    assert given_up(queue) == [(603, 1)]


SIZES = {"a": 3, "b": 6, "c": 60}
NODES = {node: "a" if node < 3 else "b" if node < 9 else "c" for node in range(69)}
moves = st.lists(st.tuples(st.integers(0, 400), st.booleans(), st.sampled_from(sorted(NODES))), max_size=60)


@given(moves, st.randoms(use_true_random=False), st.booleans())
def test_calls_of_one_instant_commute_and_looking_changes_nothing(
    calls: list[tuple[int, bool, int]], shuffle: object, look: bool
) -> None:
    plain, other = Queue(LIFECYCLE, SIZES), Queue(LIFECYCLE, SIZES)
    results: tuple[list[tuple[int, int]], list[tuple[int, int]]] = ([], [])
    away: set[int] = set()
    by_time: dict[int, list[tuple[bool, int]]] = {}
    for now, gone, node in sorted(calls):
        if gone != (node in away) and node not in {other_node for _, other_node in by_time.get(now, [])}:
            (away.add if gone else away.discard)(node)
            by_time.setdefault(now, []).append((gone, node))
    for now, changes in sorted(by_time.items()):
        for queue, found, order in ((plain, results[0], changes), (other, results[1], changes[::-1])):
            while queue.next_ns() < now:
                at = queue.next_ns()
                found += [(at, node) for node in queue.due(at)]
            for gone, node in order:
                if gone:
                    queue.lost(node, NODES[node], now)
                else:
                    queue.back(node, now)
                if look and queue is other:
                    queue.next_ns()
    ends = [given_up(plain), given_up(other)]
    assert (results[0], ends[0]) == (results[1], ends[1])
    everything = results[0] + ends[0]
    assert len({node for _, node in ends[0]}) == len(ends[0]), "nobody is given up twice without having been back"
    for zone in SIZES:
        times = [at for at, node in everything if NODES[node] == zone]
        assert all(late - early >= LIFECYCLE.every_ns for early, late in pairwise(times))
