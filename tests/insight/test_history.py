"""The log folded into attempts and the time observed."""

import numpy as np
import pytest
from hypothesis import given

from gnomon.engine.log import Kind, Reason
from gnomon.insight.history import attempts
from gnomon.model.cluster import Cluster
from gnomon.model.resources import NEVER
from tests.insight.faulty import Tale, machines
from tests.insight.stories import S, Stay, Story, stories, task

POOL = Cluster.of_processors(4)


def told(story: Story) -> list[Stay]:
    found = attempts(story.log)
    return [
        Stay(
            task=int(found.task[i]),
            node=int(found.node[i]),
            devices=int(found.devices[i]),
            opened=int(found.open_ns[i]) // S,
            started=None if found.start_ns[i] == NEVER else int(found.start_ns[i]) // S,
            closed=None if found.close_ns[i] == NEVER else int(found.close_ns[i]) // S,
            by=Kind(int(found.closed_by[i])) if found.closed_by[i] else None,
        )
        for i in range(len(found))
    ]


@pytest.mark.unit
def test_a_preempted_task_has_an_attempt_for_each_start() -> None:
    story = Story(POOL, [task("a")]).arrive(0)
    story.tell(1, Kind.START, 0).tell(3, Kind.PREEMPT, 0).tell(3, Kind.WAIT, 0, reason=Reason.ORDER).run(0, 5, 9)
    assert told(story) == [Stay(0, -1, 0, 1, 1, 3, Kind.PREEMPT), Stay(0, -1, 0, 5, 5, 9, Kind.END)]
    assert story.past.run_ns.tolist() == [2 * S, 4 * S]


@pytest.mark.unit
def test_holding_is_not_running() -> None:
    story = Story(POOL, [task("a")]).arrive(0).tell(1, Kind.HOLD, 0)
    story.tell(1, Kind.WAIT, 0, reason=Reason.PEERS).tell(4, Kind.START, 0).tell(6, Kind.END, 0)
    assert told(story) == [Stay(0, -1, 0, 1, 4, 6, Kind.END)]
    assert story.past.held_ns.tolist() == [5 * S]
    assert story.past.run_ns.tolist() == [2 * S]


@pytest.mark.unit
def test_waiting_for_another_reason_gives_a_held_place_back() -> None:
    story = Story(POOL, [task("a")]).arrive(0).tell(1, Kind.HOLD, 0)
    story.tell(4, Kind.WAIT, 0, reason=Reason.RESOURCES).run(0, 7, 8)
    assert story.past.held_ns.tolist() == [3 * S, 1 * S]


@pytest.mark.unit
def test_a_failed_attempt_is_one_and_what_runs_on_is_a_copy() -> None:
    tale = Tale(machines(4, 4), [task("a")])
    tale.row(0, Kind.ARRIVE, 0)
    tale.row(1, Kind.START, 0, 0, value=3)
    failed = tale.fail(4, 0, 0, lost=3)
    tale.row(4, Kind.COPY, 0, 0, cause=failed, reason=Reason.ORPHANED, value=3)
    tale.row(6, Kind.START, 0, 1)
    tale.row(7, Kind.COPY_END, 0, 0, reason=Reason.FENCED)
    tale.row(8, Kind.COPY, 0, 0, reason=Reason.SPECULATIVE)
    tale.row(9, Kind.END, 0, 1)
    past = tale.past
    assert [Kind(by) for by in past.attempts.closed_by.tolist()] == [Kind.FAIL, Kind.END]
    copies = past.copies
    assert (copies.open_row.tolist(), copies.close_row.tolist()) == ([3, 6], [5, -1])
    assert (copies.open_ns.tolist(), copies.close_ns.tolist()) == ([4 * S, 8 * S], [7 * S, NEVER])
    assert copies.devices.tolist() == [3, 0]
    assert copies.opened_why.tolist() == [Reason.ORPHANED, Reason.SPECULATIVE]
    assert copies.closed_why.tolist() == [Reason.FENCED, Reason.NONE]
    assert past.places.closed_by.tolist() == [Kind.FAIL, Kind.END, Kind.COPY_END, 0]


@pytest.mark.unit
def test_copies_of_several_tasks_on_several_nodes_are_kept_apart() -> None:
    tale = Tale(machines(4, 4), [task("a"), task("b")])
    for one, node in ((1, 1), (0, 1), (0, 0), (1, 0)):
        tale.row(1, Kind.COPY, one, node)
    tale.row(2, Kind.COPY_END, 0, 1)
    tale.row(3, Kind.COPY_END, 1, 0)
    copies = tale.past.copies
    assert list(zip(copies.task.tolist(), copies.node.tolist(), strict=True)) == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert copies.close_row.tolist() == [-1, 4, 5, -1]


@pytest.mark.unit
def test_what_still_runs_counts_up_to_the_last_row() -> None:
    story = Story(POOL, [task("a"), task("b", submit=2)]).arrive(0).tell(1, Kind.START, 0).arrive(1)
    story.tell(9, Kind.STOP, reason=Reason.LIMIT_TIME)
    assert (story.past.begin_ns, story.past.end_ns) == (0, 9 * S)
    assert story.past.run_ns.tolist() == [8 * S]


@pytest.mark.unit
def test_the_time_observed_begins_with_the_first_task_that_was_not_rejected() -> None:
    story = Story(POOL, [task("a"), task("b", submit=5)]).arrive(0).tell(0, Kind.REJECT, 0).arrive(1).run(1, 6, 8)
    assert (story.past.begin_ns, story.past.end_ns) == (5 * S, 8 * S)


@pytest.mark.unit
def test_an_empty_log_has_no_attempts_and_no_time() -> None:
    story = Story(POOL, [task("a")])
    assert told(story) == []
    assert (story.past.begin_ns, story.past.end_ns) == (0, 0)
    assert not story.past.accepted.any()


@pytest.mark.property
@given(stories())
def test_attempts_are_those_that_were_told(story: Story) -> None:
    assert told(story) == sorted(story.stays, key=lambda stay: stay.task)


@pytest.mark.property
@given(stories())
def test_rows_of_attempts_point_into_the_log(story: Story) -> None:
    log, found = story.log, attempts(story.log)
    assert (log.subject[found.open_row] == found.task).all()
    closed = found.close_row >= 0
    assert (log.subject[found.close_row[closed]] == found.task[closed]).all()
    assert np.array_equal(log.kind[found.close_row[closed]], found.closed_by[closed])
