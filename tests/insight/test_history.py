"""The log folded into attempts and the time observed."""

import numpy as np
import pytest
from hypothesis import given

from gnomon.engine.log import Kind, Reason
from gnomon.insight.history import attempts
from gnomon.model.cluster import Cluster
from gnomon.model.resources import NEVER
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
