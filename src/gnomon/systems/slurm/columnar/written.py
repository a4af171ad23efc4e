"""Rows of the log, and what jobs wait for."""

from __future__ import annotations

from gnomon.engine.compiling import kernel
from gnomon.engine.log import Kind, Reason
from gnomon.systems.slurm.columnar.books import (
    INSTANT,
    NOTHING,
    NOW,
    PRIORITY,
    RESOURCES,
    ROWS,
    SECOND,
    TOLD_MORE,
    Books,
)

WAIT = int(Kind.WAIT)
R_RESOURCES, R_ORDER, R_LIMIT = (int(one) for one in (Reason.RESOURCES, Reason.ORDER, Reason.OVER_LIMIT))


@kernel
def emit(b: Books, kind: int, job: int, node: int, cause: int, reason: int, value: int, text: int) -> int:
    """Append a row about a job at the present time, and return its number."""
    row = int(b.at[ROWS])
    b.log_t[row] = b.at[NOW]
    b.log_instant[row] = b.at[INSTANT]
    b.log_kind[row] = kind
    b.log_subject[row] = b.task[job]
    b.log_node[row] = node
    b.log_cause[row] = cause
    b.log_reason[row] = reason
    b.log_value[row] = value
    b.log_text[row] = text
    b.at[ROWS] = row + 1
    return row


@kernel
def say(b: Books, job: int, text: int) -> None:
    """A pending job waits for something; the same is not said twice in a row."""
    if b.reason[job] == text:
        return
    b.reason[job] = text
    if text == NOTHING:
        return
    value = b.planned[job] * SECOND if b.planned[job] >= 0 else -1
    reason = R_RESOURCES if text == RESOURCES else R_ORDER if text == PRIORITY else R_LIMIT
    b.row[job] = emit(b, WAIT, job, -1, int(b.row[job]), reason, value, text)


@kernel
def look_at_aside(b: Books) -> None:
    """Somebody goes along the queue: who stands aside is told why."""
    for i in range(int(b.at[TOLD_MORE])):
        say(b, int(b.aside[i]), int(b.then[b.aside[i]]))
    b.at[TOLD_MORE] = 0
