"""Lineage: what was lost and is needed runs again, nothing else, and in an order that works."""

from hypothesis import given
from hypothesis import strategies as st

from gnomon.recovery.lineage import LOST, lost


def test_the_outputs_on_the_lost_node_run_again_while_a_reader_still_needs_them() -> None:
    """Six maps done, two of them on node X; of three readers one has all its inputs already (MapReduce's JobImpl)."""
    results = {0: 1, 1: 1, 2: 9, 3: 9, 4: 2, 5: 2}
    needs = dict.fromkeys((10, 11, 12), (0, 1, 2, 3, 4, 5))
    assert lost(results, needs, 9, {11, 12}) == [2, 3]
    assert lost(results, needs, 9, ()) == [], "all readers have what they need"


def test_a_result_elsewhere_ends_the_search() -> None:
    chain = {task: (task - 1,) for task in range(1, 6)}
    results = {0: 9, 1: 9, 2: 1, 3: 9, 4: 9}
    assert lost(results, chain, 9, {5}) == [3, 4]


def test_a_result_that_no_node_holds_is_not_lost() -> None:
    assert lost({1: 9}, {1: (0,), 2: (1,)}, 9, {2}) == [1]


def test_a_result_that_was_lost_before_runs_again_when_it_is_needed_after_all() -> None:
    chain = {1: (0,), 2: (1,)}
    assert lost({0: 7, 1: 8}, chain, 7, {2}) == [], "1 is there, so nobody needs 0"
    assert lost({0: LOST, 1: 8}, chain, 8, {2}) == [0, 1]


def test_a_long_chain() -> None:
    length = 20_000
    results = dict.fromkeys(range(length), 9)
    assert lost(results, {task: (task - 1,) for task in range(1, length + 1)}, 9, {length}) == list(range(length))


@st.composite
def graphs(draw: st.DrawFn) -> tuple[dict[int, int], dict[int, tuple[int, ...]], set[int]]:
    """Results, needs and unfinished tasks of a random graph, in which inputs have any numbers."""
    names = draw(st.permutations(range(draw(st.integers(1, 12)))))
    needs = {}
    for place, task in enumerate(names):
        needs[task] = tuple(draw(st.sets(st.sampled_from(names[:place]), max_size=4))) if place else ()
    done = draw(st.sets(st.sampled_from(names)))
    results = {task: draw(st.integers(LOST, 2)) for task in sorted(done)}
    return results, needs, set(names) - done


@given(graphs())
def test_agrees_with_asking_each_task_until_nothing_changes(
    graph: tuple[dict[int, int], dict[int, tuple[int, ...]], set[int]],
) -> None:
    results, needs, unfinished = graph
    again: set[int] = set()
    while True:
        wanted = {other for task in unfinished | again for other in needs[task]}
        found = {task for task in wanted if results.get(task) in (0, LOST)}
        if found == again:
            break
        again = found
    order = lost(results, needs, 0, unfinished)
    assert sorted(order) == sorted(again)
    for place, task in enumerate(order):
        assert not set(needs[task]) & set(order[place:]), "inputs come first"
