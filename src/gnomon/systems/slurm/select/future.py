"""When and where a job could start if all jobs ran to their expected ends.

Source: ``_will_run_test`` (``_future_run_test`` from 23.11) of ``src/plugins/select/cons_tres/job_test.c``: running
jobs are taken out in the order of their ends, in groups whose ends lie within a window of 30 s that doubles from group
to group (with ``bf_window_linear`` it grows by so much), up to 202 jobs a group. What ends at the latest in the group
that made room is when the job starts. The source gives up after two seconds of its own time; this does not.
"""

from __future__ import annotations

from typing import Final

from gnomon.engine.compiling import entry_kernel, kernel
from gnomon.systems.slurm.select import at, rule
from gnomon.systems.slurm.select.ask import load
from gnomon.systems.slurm.select.columns import Demands, Hardware, Occupied, Running, Trial
from gnomon.systems.slurm.select.taking import ALL, shift
from gnomon.systems.slurm.select.testing import PLAN, answer

WINDOW_S: Final = 30
GROUP: Final = 202
YEAR_S: Final = 365 * 24 * 60 * 60
NEVER: Final = -1


@kernel
def overlaps(t: Trial, r: Running, job: int) -> bool:
    """Whether a job is on a usable node."""
    m = r.first[job]
    while m >= 0:
        if t.usable[r.node[m]]:
            return True
        m = r.after[m]
    return False


@kernel
def guessed_end(h: Hardware, end: int, now: int) -> int:
    """When a job that should be over will end (``_guess_job_end``)."""
    if end > now:
        return end
    over = h.rule[rule.OVER_LIMIT_S]
    if over < 0:
        return now + YEAR_S
    return int(max(end + h.rule[rule.KILL_WAIT_S] + over, now + 1))


@kernel
def remove_group(h: Hardware, o: Occupied, t: Trial, r: Running, span: int) -> None:
    """Take the next group (from ``PLACE``) out of the occupancy; ``LAST`` is its last job, -1: there was none."""
    place = int(t.at[at.PLACE])
    first_end, count = 0, 0
    t.at[at.LAST] = -1
    while place < r.listed[0]:
        job = int(r.order[place])
        place += 1
        if not overlaps(t, r, job):
            continue
        if count == 0:
            first_end = int(r.ends[place - 1])
        t.at[at.LAST] = place - 1
        shift(h, o, r, job, -1, ALL)
        r.gone[r.listed[1]] = job
        r.listed[1] += 1
        count += 1
        if count >= GROUP or (place < r.listed[0] and r.ends[place] > first_end + span):
            break
    t.at[at.PLACE] = place


@entry_kernel
def plan(h: Hardware, o: Occupied, d: Demands, t: Trial, r: Running, j: int, now: int) -> int:
    """When demand ``j`` could start, in seconds, NEVER: not by the end of what runs. Takes jobs out of ``o``: see
    :func:`restore`."""
    load(d, j, t)
    r.listed[1] = 0
    span = WINDOW_S
    place = 0
    while place < r.listed[0]:
        t.at[at.PLACE] = place
        remove_group(h, o, t, r, span)
        place, last = int(t.at[at.PLACE]), int(t.at[at.LAST])
        if last < 0:
            break
        step = int(h.rule[rule.WINDOW_STEP_S])
        span = span + step if step > 0 else span * 2
        if answer(h, o, t, PLAN):
            return guessed_end(h, int(r.ends[last]), now)
    return NEVER


@kernel
def restore(h: Hardware, o: Occupied, r: Running) -> None:
    """Put back whom the last plan took out. Where partitions are shared, they might come to be in other rows."""
    for k in range(int(r.listed[1])):
        shift(h, o, r, int(r.gone[k]), 1, ALL)
    r.listed[1] = 0
