"""The longest wait of each task: before its first start, and whenever it stood in a queue again."""

from __future__ import annotations

from gnomon.engine.log import Kind
from gnomon.insight.history import history
from gnomon.insight.metrics import metrics
from gnomon.insight.waiting import longest_waits
from gnomon.model.cluster import Cluster
from tests.insight.stories import S, Story, cpus, task

ARRIVE, START, FAIL, RETRY, QUEUE, PREEMPT, END = (
    Kind.ARRIVE, Kind.START, Kind.FAIL, Kind.RETRY, Kind.QUEUE, Kind.PREEMPT, Kind.END
)  # fmt: skip


def told(*rows: tuple[int, Kind, int]) -> Story:
    """Rows (seconds, kind, task) of two tasks."""
    story = Story(Cluster.of_processors(8), [task("a", cpus(1)), task("b", cpus(1))])
    for t, kind, subject in rows:
        story.tell(t, kind, subject)
    return story


def waits(*rows: tuple[int, Kind, int]) -> list[tuple[int, int]]:
    """Of each task: its longest wait, in seconds, and the row of its end."""
    story = told(*rows)
    found = longest_waits(history(story.scenario, story.log))
    return [(ns // S, row) for ns, row in zip(found.ns.tolist(), found.row.tolist(), strict=True)]


BEFORE = ((0, ARRIVE, 0), (0, ARRIVE, 1), (5, START, 0), (9, START, 1))


def test_before_the_first_start() -> None:
    assert waits(*BEFORE) == [(5, 2), (9, 3)]


def test_one_that_is_made_anew_waits_from_when_it_is_in_the_queue() -> None:
    """It failed at 20 s and was delayed by 10 s: that is no wait for a place."""
    again = ((20, FAIL, 0), (20, RETRY, 0), (30, QUEUE, 0), (50, START, 0), (60, END, 0))
    assert waits(*BEFORE, *again) == [(20, 7), (9, 3)]


def test_the_longest_counts() -> None:
    again = ((20, FAIL, 1), (20, QUEUE, 1), (22, START, 1))
    assert waits(*BEFORE, *again) == [(5, 2), (9, 3)]


def test_one_that_gave_way_waits_from_then() -> None:
    assert waits(*BEFORE, (20, PREEMPT, 0), (45, START, 0)) == [(25, 5), (9, 3)]


def test_a_restart_in_its_place_is_no_wait() -> None:
    assert waits(*BEFORE, (20, FAIL, 0), (20, RETRY, 0), (320, START, 0)) == [(5, 2), (9, 3)]


def test_who_waits_still_has_waited_until_the_end() -> None:
    assert waits(*BEFORE, (20, FAIL, 0), (20, QUEUE, 0), (100, END, 1)) == [(80, -1), (9, 3)]


def test_the_metrics_go_by_it() -> None:
    story = told(*BEFORE, (20, FAIL, 0), (20, QUEUE, 0), (50, START, 0))
    found = metrics(story.scenario, story.log)
    assert (found.wait_s.mean, found.wait_s.max, found.longest_wait_s) == ((30 + 9) / 2, 30, 30)
