"""The agenda gives ends by (time, ticket), and the line keeps running tasks by (expected end, ticket)."""

from __future__ import annotations

import heapq

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.api import Cluster, Scenario, Task, Work
from gnomon.engine.agenda import enter_line, leave_line, next_end, pop_end, push_end
from gnomon.engine.world import ENDS, LINE, World
from gnomon.model.resources import NEVER
from gnomon.scheduling.compose import compose

pytestmark = pytest.mark.unit


def world_of(tasks: int) -> World:
    work = Work.from_tasks([Task(str(i)) for i in range(tasks)])
    return compose(Scenario(Cluster.of_processors(1), work)).world


def enter(w: World, task: int, time: int, ticket: int) -> None:
    w.ticket[task] = ticket
    push_end(w, time, task)


@pytest.mark.property
@given(st.lists(st.integers(0, 5), min_size=1, max_size=40), st.data())
def test_ends_come_by_time_and_then_by_ticket(times: list[int], data: st.DataObject) -> None:
    w, expected = world_of(len(times)), list[tuple[int, int, int]]()
    for ticket, time in enumerate(times):
        enter(w, ticket, time, ticket)
        heapq.heappush(expected, (time, ticket, ticket))
        if data.draw(st.booleans()):
            assert next_end(w) == expected[0][0]
            assert pop_end(w) == heapq.heappop(expected)[2]
    while expected:
        assert pop_end(w) == heapq.heappop(expected)[2]
    assert next_end(w) == NEVER


def test_an_end_of_a_start_that_was_undone_is_void() -> None:
    w = world_of(2)
    enter(w, 0, 10, 1)
    enter(w, 1, 20, 2)
    w.ticket[0] = -1  # it lost its place
    assert next_end(w) == 20
    enter(w, 0, 15, 3)  # and started anew
    assert next_end(w) == 15
    assert pop_end(w) == 0


def test_void_ends_make_room_for_new_ones() -> None:
    """Two tasks that start and lose their places again and again: there is room for three entries."""
    w = world_of(2)
    for ticket in range(1, 40):
        enter(w, ticket % 2, 1000 - ticket, ticket)
    assert w.at[ENDS] <= 3
    assert next_end(w) == 1000 - 39
    assert [pop_end(w), next_end(w), pop_end(w)] == [1, 1000 - 38, 0]


@pytest.mark.property
@given(st.lists(st.tuples(st.integers(0, 4), st.booleans()), min_size=1, max_size=30))
def test_the_line_is_sorted_whoever_enters_and_leaves(moves: list[tuple[int, bool]]) -> None:
    w, inside = world_of(len(moves)), list[tuple[int, int]]()
    for task, (due, leaves) in enumerate(moves):
        w.due[task], w.ticket[task] = due, task
        enter_line(w, task)
        inside.append((due, task))
        if leaves:
            gone = inside.pop(len(inside) // 2)
            leave_line(w, gone[1])
        assert w.line[: w.at[LINE]].tolist() == [who for _, who in sorted(inside)]
        assert w.line_due[: w.at[LINE]].tolist() == [when for when, _ in sorted(inside)]
