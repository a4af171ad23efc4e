"""A run over time, against levels counted by hand on a small log."""

import numpy as np
import pytest

from gnomon.engine.log import Kind, Log, State
from gnomon.report.series import edges, level, means, spans
from tests.report.runs import log_of

pytestmark = pytest.mark.unit

S = 10**9


@pytest.fixture
def two_tasks() -> Log:
    """Task 0 runs from 1 to 5 s with a break from 2 to 3 s; task 1 arrives at 1 s and runs from 5 s to the end."""
    return log_of(
        (0, Kind.ARRIVE, 0),
        (1 * S, Kind.START, 0),
        (1 * S, Kind.ARRIVE, 1),
        (1 * S, Kind.WAIT, 1),
        (2 * S, Kind.PREEMPT, 0),
        (3 * S, Kind.START, 0),
        (5 * S, Kind.END, 0),
        (5 * S, Kind.START, 1),
        (8 * S, Kind.STOP, -1),
    )


def test_spans_follow_each_task_through_its_states(two_tasks: Log) -> None:
    found = spans(two_tasks)
    rows = list(zip(found.task, found.state, found.start_ns // S, found.end_ns // S, strict=True))
    assert rows == [
        (0, State.WAITING, 0, 1),
        (0, State.RUNNING, 1, 2),
        (0, State.WAITING, 2, 3),
        (0, State.RUNNING, 3, 5),
        (1, State.WAITING, 1, 1),
        (1, State.WAITING, 1, 5),
        (1, State.RUNNING, 5, 8),
    ]


def test_the_level_of_waiting_is_the_queue(two_tasks: Log) -> None:
    waiting = spans(two_tasks).waiting
    instants, height = level(waiting, np.ones(len(waiting)))
    assert dict(zip(instants // S, height, strict=True)) == {0: 1, 1: 1, 2: 2, 3: 1, 5: 0}


def test_means_keep_the_integral_whatever_the_intervals(two_tasks: Log) -> None:
    running = spans(two_tasks).running
    for count in (1, 7, 600):
        cuts = edges(8 * S, count=count)
        total = (means(running, np.full(len(running), 3.0), cuts) * np.diff(cuts)).sum()
        assert total == pytest.approx(3 * (1 + 2 + 3) * S)


def test_means_are_exact_where_intervals_match_the_changes(two_tasks: Log) -> None:
    running = spans(two_tasks).running
    cuts = edges(8 * S, count=8)
    by_task = means(running, np.ones(len(running)), cuts, group=running.task, groups=2)
    assert by_task.tolist() == [[0, 1, 0, 1, 1, 0, 0, 0], [0, 0, 0, 0, 0, 1, 1, 1]]


def test_an_empty_log_has_no_spans() -> None:
    none = spans(log_of())
    assert len(none) == 0
    assert level(none, np.zeros(0))[0].size == 0
    assert means(none, np.zeros(0), edges(0)).sum() == 0
