"""The log folds into one row a task; its bytes depend on what happened alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gnomon.api import Kind, Reason, State, Waiting
from gnomon.engine.log import Log
from gnomon.engine.outcome import outcome
from gnomon.model.resources import NEVER

pytestmark = pytest.mark.unit

Row = tuple[int, Kind, int, int, Reason]


def log_of(*rows: Row) -> Log:
    t, kind, subject, node, reason = (list(column) for column in zip(*rows, strict=True))
    zeros = [0] * len(rows)
    return Log(
        np.array(t, np.int64),
        np.array(zeros, np.int32),
        np.array(kind, np.int8),
        np.array(subject, np.int32),
        np.array(node, np.int32),
        np.array(zeros, np.int32),
        np.array(reason, np.int8),
        np.array(zeros, np.int64),
    )


def test_a_task_that_lost_its_place_started_twice() -> None:
    log = log_of(
        (1, Kind.ARRIVE, 0, -1, Reason.NONE),
        (2, Kind.START, 0, 4, Reason.NONE),
        (3, Kind.PREEMPT, 0, 4, Reason.PREEMPTED),
        (7, Kind.START, 0, 5, Reason.NONE),
        (9, Kind.END, 0, 5, Reason.NONE),
    )
    found = outcome(log, 1)
    assert (found.first_start_ns[0], found.start_ns[0], found.end_ns[0]) == (2, 7, 9)
    assert (found.attempts[0], found.node[0], State(found.state[0])) == (2, 5, State.DONE)


def test_a_task_that_was_withdrawn_and_submitted_anew_has_waited_since_it_first_arrived() -> None:
    log = log_of(
        (1, Kind.ARRIVE, 0, -1, Reason.NONE),
        (1, Kind.START, 0, 0, Reason.NONE),
        (2, Kind.CANCEL, 0, 0, Reason.NONE),
        (22, Kind.ARRIVE, 0, -1, Reason.NONE),
    )
    found = outcome(log, 1)
    assert (found.arrive_ns[0], found.first_start_ns[0], found.end_ns[0]) == (1, 1, NEVER)


@pytest.mark.parametrize(
    ("last", "state", "label"),
    [
        ((5, Kind.REJECT, 0, -1, Reason.TOO_LARGE), State.REJECTED, "rejected"),
        ((5, Kind.WAIT, 0, -1, Reason.ORDER), State.WAITING, "waiting"),
        ((5, Kind.HOLD, 0, 1, Reason.PEERS), State.HELD, "waiting"),
        ((5, Kind.START, 0, 1, Reason.NONE), State.RUNNING, "running"),
        ((5, Kind.KILL, 0, 1, Reason.AT_ESTIMATE), State.KILLED, "killed"),
        ((5, Kind.CANCEL, 0, -1, Reason.NONE), State.KILLED, "killed"),
    ],
)
def test_the_last_row_says_where_a_task_is(last: Row, state: State, label: str) -> None:
    found = outcome(log_of((1, Kind.ARRIVE, 0, -1, Reason.NONE), last), 2)
    assert State(found.state[0]) is state
    assert State(found.state[0]).label == label
    assert found.reason[0] == last[4]
    assert found.arrive_ns[1] == NEVER, "nothing is known of a task that has no row"


def test_every_reason_of_waiting_is_of_one_kind() -> None:
    kinds = {reason: reason.waiting for reason in Reason}
    assert kinds[Reason.TOO_LARGE] is Waiting.INFEASIBLE
    assert kinds[Reason.RESERVED] is Waiting.EVENT
    assert kinds[Reason.TENANT_LIMIT] is Waiting.LIMIT
    assert kinds[Reason.BACKFILL] is Waiting.BEHIND
    assert kinds[Reason.AT_ESTIMATE] is Waiting.NONE
    assert {kinds[r] for r in Reason if 10 <= r < 50} == set(Waiting) - {Waiting.NONE}


def test_one_other_value_is_another_log() -> None:
    rows: list[Row] = [(1, Kind.ARRIVE, 0, -1, Reason.NONE), (2, Kind.START, 0, 4, Reason.NONE)]
    assert log_of(*rows).digest() == log_of(*rows).digest()
    assert log_of(*rows).digest() != log_of(rows[0], (2, Kind.START, 0, 3, Reason.NONE)).digest()


def test_a_row_is_plain_values_and_leads_back_by_its_causes() -> None:
    log = log_of(
        (1, Kind.ARRIVE, 7, -1, Reason.NONE),
        (2, Kind.WAIT, 7, -1, Reason.RESOURCES),
        (5, Kind.START, 7, 4, Reason.NONE),
    )
    log = replace(log, cause=np.array([-1, 0, 0], np.int32), details={2: {"locality": "ANY"}})
    start = log.row(2)
    assert (start.number, start.t_ns, start.subject, start.node, start.cause) == (2, 5, 7, 4, 0)
    assert start.kind is Kind.START
    assert start.details == {"locality": "ANY"}
    assert log.row(1).reason is Reason.RESOURCES
    assert not log.row(1).details
    assert [one.number for one in log.back(2)] == [2, 0]
    assert not list(log.back(-1))
