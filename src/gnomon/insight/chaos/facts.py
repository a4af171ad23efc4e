"""What a log says about lost, doubled and late work: the folds of a run that properties are judged by.

Times in ns. What has not come by the end of the log counts as the time up to there when the run was cut off by a limit
(it is at least that), and as NEVER when nothing was left to happen (it will not come any more).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gnomon.engine.log import Kind, Reason, State
from gnomon.insight.accounting import stop_ns
from gnomon.insight.history import History
from gnomon.insight.interruptions import interrupted_ns
from gnomon.insight.outages import DOWN, Outage, by_node, length, outages
from gnomon.insight.recovery import PLANNED
from gnomon.insight.waiting import longest_waits
from gnomon.model.resources import NEVER
from gnomon.model.work import BoolArray


@dataclass(frozen=True, slots=True)
class Stretch:
    """A time during which one copy of a task runs on a node (-1: the pool), and the rows that begin and end it (-1: it
    still runs). ``counts``: it is the attempt that counts, no copy; ``asked_for``: it is a copy that was started on
    purpose."""

    task: int
    node: int
    begin_ns: int
    end_ns: int
    begin_row: int
    end_row: int
    counts: bool
    asked_for: bool = False


@dataclass(frozen=True, slots=True)
class Span:
    """How long something took for a task or node, and the row that shows it (-1: none does)."""

    ns: int
    row: int
    task: int = -1
    node: int = -1


class Facts:
    """A run as properties see it."""

    def __init__(self, past: History) -> None:
        self.past, self.scenario, self.log = past, past.scenario, past.log
        self.work, self.outcome = past.scenario.work, past.outcome

    @cached_property
    def faults(self) -> list[Outage]:
        """The faults, as they struck."""
        return outages(self.past)

    @cached_property
    def cut_off(self) -> bool:
        """Whether a limit ended the run, so that more could have happened."""
        log = self.log
        return bool(len(log)) and bool(log.kind[-1] == Kind.STOP and log.reason[-1] != Reason.DEADLOCK)

    @cached_property
    def end_ns(self) -> int:
        """The time of the last row."""
        return int(self.log.t_ns[-1]) if len(self.log) else 0

    @cached_property
    def expected(self) -> BoolArray:
        """Tasks that arrived, were accepted, and were not withdrawn by their users: of those nobody expects
        anything."""
        gone = np.zeros(len(self.work), np.bool_)
        gone[self.log.subject[(self.log.kind == Kind.CANCEL) & (self.log.subject >= 0)]] = True
        found: BoolArray = self.past.accepted & ~gone
        return found

    def since(self, ns: int) -> int:
        """How long something has lasted that began at ``ns`` and is not over."""
        return max(self.end_ns - ns, 0) if self.cut_off else NEVER

    # ------------------------------------------------------------------ what ran when

    @cached_property
    def stretches(self) -> list[Stretch]:
        """Every attempt and every copy that ran, each up to where its node stopped, in the order in which they began;
        what still runs, up to the last row."""
        places, first = self.past.places, len(self.past.attempts)
        asked_for = self.past.copies.opened_why == Reason.SPECULATIVE
        until = np.minimum(np.minimum(places.close_ns, stop_ns(self.past)), self.end_ns).tolist()
        found = []
        for i in np.flatnonzero(places.start_ns < NEVER).tolist():
            found.append(
                Stretch(
                    task=int(places.task[i]),
                    node=int(places.node[i]),
                    begin_ns=int(places.start_ns[i]),
                    end_ns=until[i],
                    begin_row=int(places.open_row[i]),
                    end_row=int(places.close_row[i]),
                    counts=i < first,
                    asked_for=bool(i >= first and asked_for[i - first]),
                )
            )
        return sorted(found, key=lambda one: (one.begin_ns, one.begin_row))

    @cached_property
    def doubled(self) -> list[tuple[Stretch, Stretch]]:
        """Pairs of stretches of one task that overlap, by when that begins; copies on purpose do not count."""
        longest: dict[int, Stretch] = {}
        pairs = []
        for one in self.stretches:
            if one.asked_for or one.end_ns <= one.begin_ns:
                continue
            before = longest.setdefault(one.task, one)
            if before is not one and one.begin_ns < before.end_ns:
                pairs.append((before, one))
            if one.end_ns > before.end_ns:
                longest[one.task] = one
        return pairs

    @cached_property
    def repeated(self) -> list[tuple[int, int]]:
        """Rows at which a task took effect, and took effect once more: it ended, or a copy that did not count ran to
        its end. What is done again because its result was lost does not count."""
        log = self.log
        effects = (log.kind == Kind.END) | ((log.kind == Kind.COPY_END) & (log.reason == Reason.FINISHED))
        first: dict[int, int] = {}
        found = []
        for row in np.flatnonzero((effects | (log.kind == Kind.UNDO)) & (log.subject >= 0)).tolist():
            task = int(log.subject[row])
            if log.kind[row] == Kind.UNDO:
                first.pop(task, None)
            elif task in first:
                found.append((first[task], row))
            else:
                first[task] = row
        return found

    def cpu(self, task: int) -> int:
        """The processors of a task, in millicores; 1 if it asks for none, so that its time counts."""
        return self.work.shapes[int(self.work.shape[task])].request.cpu_milli or 1

    @cached_property
    def worked(self) -> int:
        """Processor time of all attempts, without copies, in millicores x ns."""
        return sum((one.end_ns - one.begin_ns) * self.cpu(one.task) for one in self.stretches if one.counts)

    @cached_property
    def losses(self) -> list[Span]:
        """The run time whose work was lost with each failed attempt and with each result that was lost, as in
        :func:`gnomon.insight.rework.rework`."""
        log, ran = self.log, {one.end_row: one.end_ns - one.begin_ns for one in self.stretches if one.counts}
        stands_at: defaultdict[int, int] = defaultdict(int)  # how far each task has come, in ns of its work
        found = []
        wanted = np.isin(log.kind, (Kind.FAIL, Kind.UNDO, Kind.END)) & (log.subject >= 0)
        for row in np.flatnonzero(wanted).tolist():
            task = int(log.subject[row])
            stands_at[task] += ran.get(row, 0)
            if log.kind[row] != Kind.END:
                lost = int(log.value[row]) if log.kind[row] == Kind.FAIL else stands_at[task]
                stands_at[task] = max(stands_at[task] - lost, 0)
                found.append(Span(lost, row, task))
        return found

    @cached_property
    def lost(self) -> int:
        """Processor time of work that was lost, in millicores x ns."""
        return sum(one.ns * self.cpu(one.task) for one in self.losses)

    # ------------------------------------------------------------------ how long it took

    @cached_property
    def waits(self) -> list[Span]:
        """The longest wait of every task that is expected to run; of one that waits for ever: never."""
        waits, found = longest_waits(self.past), []
        lacks = np.isin(self.outcome.state, (State.WAITING, State.HELD)) | (self.outcome.first_start_ns >= NEVER)
        for task in np.flatnonzero(self.expected).tolist():
            row, for_ever = int(waits.row[task]), lacks[task] and not self.cut_off
            found.append(Span(NEVER if for_ever else int(waits.ns[task]), row, task))
        return found

    @cached_property
    def turnarounds(self) -> list[Span]:
        """From submission to being done, of every task that is expected to run; of one that is given up: never."""
        log, what = self.log, self.outcome
        rows = np.flatnonzero((log.kind == Kind.END) & (log.subject >= 0)).tolist()
        ends = {int(log.subject[row]): row for row in rows}
        found = []
        for task in np.flatnonzero(self.expected).tolist():
            state, submitted = State(int(what.state[task])), int(self.past.submit_ns[task])
            if state is State.DONE:
                found.append(Span(int(what.end_ns[task]) - submitted, ends[task], task))
            else:
                given_up = state in (State.FAILED, State.KILLED)
                found.append(Span(NEVER if given_up else self.since(submitted), -1, task))
        return found

    @cached_property
    def recoveries(self) -> list[Span]:
        """The time without any attempt or copy of a task that ran, from when the failed attempt of it stopped
        (:func:`gnomon.insight.interruptions.interrupted_ns`) to its next start or end; of the one that was its last:
        never. ``row`` is the failure."""
        log, found, stopped = self.log, [], interrupted_ns(self.past)
        open_rows: dict[int, int] = {}
        wanted = np.isin(log.kind, (Kind.FAIL, Kind.START, Kind.END, Kind.CANCEL)) & (log.subject >= 0)
        for row in np.flatnonzero(wanted).tolist():
            task, kind = int(log.subject[row]), int(log.kind[row])
            if kind == Kind.FAIL:
                open_rows.setdefault(task, row)
            elif (loss := open_rows.pop(task, -1)) >= 0 and kind != Kind.CANCEL:
                found.append(Span(max(int(log.t_ns[row]) - stopped[loss], 0), loss, task))
        state = self.outcome.state
        for task, loss in open_rows.items():
            ns = NEVER if state[task] == State.FAILED else self.since(stopped[loss])
            found.append(Span(ns, loss, task))
        return found

    @cached_property
    def detections(self) -> list[Span]:
        """From a fault to its notice, of each node that was taken for lost; faults that someone wants do not count."""
        log, found = self.log, []
        planned = {one.row for one in self.faults if one.kind in PLANNED}
        for row in np.flatnonzero(log.kind == Kind.NOTICE).tolist():
            root = next((cause for cause in self.causes(row) if log.kind[cause] == Kind.FAULT), -1)
            if root not in planned:
                ns = int(log.t_ns[row] - log.t_ns[root]) if root >= 0 else int(log.value[row])
                found.append(Span(ns, row, node=int(log.node[row])))
        return found

    @cached_property
    def downtimes(self) -> list[Span]:
        """For how long, within the time observed, each node (those that ever were) was crashed, rebooting or cut off;
        ``row``: when it first was."""
        first: defaultdict[int, list[int]] = defaultdict(list)
        for one in self.faults:
            if one.kind in DOWN:
                first[max(one.node, 0)].append(one.row)
        spans = by_node(self.past, self.faults, DOWN)
        begin, end = self.past.begin_ns, self.past.end_ns
        return [Span(length(times, begin, end), first[node][0], node=node) for node, times in sorted(spans.items())]

    # ------------------------------------------------------------------ causes

    def causes(self, row: int) -> Iterator[int]:
        """The rows that made a row happen, the nearest first."""
        while (row := int(self.log.cause[row])) >= 0:
            yield row
