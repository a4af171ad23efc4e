"""What will happen: ends in a heap by (time, ticket), and the running tasks in the order of their expected ends.

Order of one instant, total and documented: ends by (time, ticket), where tickets count the starts; then windows that
begin or end; then submissions by (submit time, position in the input); then one scheduling pass. (``instants=single``
takes one event a pass, a submission before an end of the same time.)
"""

from __future__ import annotations

from gnomon.engine.compiling import kernel, small_kernel
from gnomon.engine.heap import pop, push
from gnomon.engine.world import ENDS, LINE, World
from gnomon.model.resources import NEVER


@kernel
def push_end(w: World, time: int, task: int) -> None:
    """Enter the end of a task's present start."""
    if w.at[ENDS] == len(w.end_time):
        drop_void_ends(w)
    enter(w, time, w.ticket[task], task)


@kernel
def enter(w: World, time: int, ticket: int, task: int) -> None:
    """Add an entry to the heap."""
    push(w.end_time, w.end_ticket, w.end_task, w.at[ENDS], time, ticket, task)
    w.at[ENDS] += 1


@kernel
def drop_void_ends(w: World) -> None:
    """Leave only the entries of present starts, of which there are no more than tasks. The heap is built anew in its
    own place: entry k is read before the k entries or fewer that were kept are written."""
    entries = w.at[ENDS]
    w.at[ENDS] = 0
    for k in range(entries):
        time, ticket, task = w.end_time[k], w.end_ticket[k], w.end_task[k]
        if w.ticket[task] == ticket:
            enter(w, time, ticket, task)


@kernel
def pop_end(w: World) -> int:
    """Remove the earliest entry and return its task."""
    entries = w.at[ENDS]
    w.at[ENDS] = entries - 1
    return pop(w.end_time, w.end_ticket, w.end_task, entries)


@small_kernel
def next_end(w: World) -> int:
    """The time of the earliest valid end (NEVER: none). Entries of starts that were undone are dropped here."""
    while w.at[ENDS] > 0:
        if w.ticket[w.end_task[0]] == w.end_ticket[0]:
            return w.end_time[0]
        pop_end(w)
    return NEVER


@small_kernel
def line_position(w: World, due: int, ticket: int) -> int:
    """Where (due, ticket) stands, or would stand, in the line of running tasks."""
    low, high = 0, w.at[LINE]
    while low < high:
        middle = (low + high) >> 1
        there = w.line_due[middle]
        if there < due or (there == due and w.ticket[w.line[middle]] < ticket):
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def enter_line(w: World, task: int) -> None:
    """Put a started task into the line."""
    line, line_due, due = w.line, w.line_due, w.due[task]
    place = line_position(w, due, w.ticket[task])
    last = w.at[LINE]
    for i in range(last, place, -1):
        line[i] = line[i - 1]
        line_due[i] = line_due[i - 1]
    line[place] = task
    line_due[place] = due
    w.at[LINE] = last + 1


@kernel
def leave_line(w: World, task: int) -> None:
    """Take a task out of the line."""
    line, line_due = w.line, w.line_due
    place = line_position(w, w.due[task], w.ticket[task])
    last = w.at[LINE] - 1
    for i in range(place, last):
        line[i] = line[i + 1]
        line_due[i] = line_due[i + 1]
    w.at[LINE] = last
