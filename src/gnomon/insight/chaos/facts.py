"""What a log says about lost, doubled and late work: the folds of a run that properties are judged by.

Times in ns. What has not come by the end of the log counts as the time up to there when the run was cut off by a limit
(it is at least that), and as NEVER when nothing was left to happen (it will not come any more).
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gnomon.engine.log import Kind, Log, Outcome, Reason, State, outcome
from gnomon.model.fault import Failure, Fault
from gnomon.model.resources import NEVER
from gnomon.model.scenario import Scenario
from gnomon.model.work import BoolArray

CLOSES = (Kind.END, Kind.KILL, Kind.PREEMPT, Kind.CANCEL, Kind.FAIL)
"""The rows that end the attempt that counts."""

AWAY = (Fault.CRASH, Fault.REBOOT)
"""The faults during which a node is not there at all."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """A time during which one copy of a task runs on a node (-1: the pool), and the rows that begin and end it (-1: it
    still runs). ``asked_for``: it is a second copy that was started on purpose."""

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
    """How long something took for a task or node, and the row that ended it (-1: nothing did)."""

    ns: int
    row: int
    task: int = -1
    node: int = -1


class Facts:
    """A run as properties see it."""

    def __init__(self, scenario: Scenario, log: Log) -> None:
        self.scenario, self.log, self.work = scenario, log, scenario.work

    @cached_property
    def outcome(self) -> Outcome:
        """What became of every task."""
        return outcome(self.log, len(self.work))

    @cached_property
    def cut_off(self) -> bool:
        """Whether a limit ended the run, so that more could have happened."""
        log = self.log
        return bool(len(log)) and log.kind[-1] == Kind.STOP and log.reason[-1] != Reason.DEADLOCK

    @cached_property
    def end_ns(self) -> int:
        """The time of the last row."""
        return int(self.log.t_ns[-1]) if len(self.log) else 0

    @cached_property
    def withdrawn(self) -> BoolArray:
        """Tasks that their users cancelled: nobody expects anything of them."""
        gone = np.zeros(len(self.work), np.bool_)
        gone[self.log.subject[(self.log.kind == Kind.CANCEL) & (self.log.subject >= 0)]] = True
        return gone

    @cached_property
    def expected(self) -> BoolArray:
        """Tasks that arrived, were accepted and not withdrawn."""
        state = self.outcome.state
        found: BoolArray = (state != State.UNBORN) & (state != State.REJECTED) & ~self.withdrawn
        return found

    @cached_property
    def begin_ns(self) -> int:
        """The first submission of a task that was accepted."""
        return int(self.work.submit_ns[self.expected].min()) if self.expected.any() else 0

    @cached_property
    def open_ns(self) -> int:
        """The time of what has not come: see the module's docstring."""
        return self.end_ns if self.cut_off else NEVER

    def since(self, ns: int) -> int:
        """How long something has lasted that began at ``ns`` and is not over."""
        return max(self.open_ns - ns, 0) if self.open_ns < NEVER else NEVER

    # ------------------------------------------------------------------ what ran when

    @cached_property
    def stretches(self) -> list[Stretch]:
        """Every copy of every task that ran, in the order in which they ended (those that run on last)."""
        log = self.log
        wanted = np.isin(log.kind, (Kind.START, Kind.COPY, Kind.COPY_END, *CLOSES)) & (log.subject >= 0)
        counting: dict[int, int] = {}
        copies: defaultdict[tuple[int, int], deque[int]] = defaultdict(deque)
        found = []
        for row in np.flatnonzero(wanted).tolist():
            task, kind = int(log.subject[row]), int(log.kind[row])
            if kind == Kind.START:
                counting[task] = row
            elif kind == Kind.COPY:
                copies[task, int(log.node[row])].append(row)
            elif kind == Kind.COPY_END:
                if waiting := copies[task, int(log.node[row])]:
                    found.append(self._stretch(waiting.popleft(), row))
            elif task in counting:
                found.append(self._stretch(counting.pop(task), row))
        still = [*counting.values(), *(row for rows in copies.values() for row in rows)]
        return [*found, *(self._stretch(row, -1) for row in sorted(still))]

    def _stretch(self, begin: int, end: int) -> Stretch:
        log = self.log
        return Stretch(
            task=int(log.subject[begin]),
            node=int(log.node[begin]),
            begin_ns=int(log.t_ns[begin]),
            end_ns=int(log.t_ns[end]) if end >= 0 else self.end_ns,
            begin_row=begin,
            end_row=end,
            counts=bool(log.kind[begin] == Kind.START),
            asked_for=bool(log.kind[begin] == Kind.COPY and log.reason[begin] == Reason.SPECULATIVE),
        )

    @cached_property
    def doubled(self) -> list[tuple[Stretch, Stretch]]:
        """Pairs of stretches of one task that overlap, by when that begins; copies on purpose do not count."""
        by_task: defaultdict[int, list[Stretch]] = defaultdict(list)
        for one in self.stretches:
            if not one.asked_for and one.end_ns > one.begin_ns:
                by_task[one.task].append(one)
        pairs = []
        for stays in by_task.values():
            stays.sort(key=lambda one: (one.begin_ns, one.begin_row))
            longest = stays[0]
            for one in stays[1:]:
                if one.begin_ns < longest.end_ns:
                    pairs.append((longest, one))
                longest = max(longest, one, key=lambda stay: stay.end_ns)
        return sorted(pairs, key=lambda pair: (pair[1].begin_ns, pair[1].begin_row))

    @cached_property
    def repeated(self) -> list[tuple[int, int]]:
        """Rows at which a task took effect, and took effect once more: it ended, or a copy that did not count ran to
        its end."""
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
        """Processor time of all attempts that count, in millicores x ns."""
        return sum((one.end_ns - one.begin_ns) * self.cpu(one.task) for one in self.stretches if one.counts)

    @cached_property
    def lost_rows(self) -> list[int]:
        """The rows with which work was lost, that of the largest loss first."""
        log = self.log
        rows = np.flatnonzero((log.kind == Kind.FAIL) & (log.subject >= 0)).tolist()
        return sorted(rows, key=lambda row: -int(log.value[row]) * self.cpu(int(log.subject[row])))

    @cached_property
    def lost(self) -> int:
        """Processor time of work that was lost with attempts, in millicores x ns."""
        return sum(int(self.log.value[row]) * self.cpu(int(self.log.subject[row])) for row in self.lost_rows)

    # ------------------------------------------------------------------ how long it took

    @cached_property
    def waits(self) -> list[Span]:
        """From submission to the first start, of every task that is expected to run."""
        what = self.outcome
        starts = self._first_rows(Kind.START)
        return [
            Span(int(what.first_start_ns[task]) - self._submitted(task), starts[task], task)
            if task in starts
            else Span(self.since(self._submitted(task)), -1, task)
            for task in np.flatnonzero(self.expected).tolist()
        ]

    @cached_property
    def turnarounds(self) -> list[Span]:
        """From submission to being done, of every task that is expected to run; of one that is given up: never."""
        what, ends = self.outcome, self._last_rows(Kind.END)
        found = []
        for task in np.flatnonzero(self.expected).tolist():
            state = State(int(what.state[task]))
            if state is State.DONE:
                found.append(Span(int(what.end_ns[task]) - self._submitted(task), ends[task], task))
            elif state in (State.FAILED, State.KILLED):
                found.append(Span(NEVER, -1, task))
            else:
                found.append(Span(self.since(self._submitted(task)), -1, task))
        return found

    @cached_property
    def recoveries(self) -> list[Span]:
        """From the fault (where the log names none: the loss) to the next start or end, of each attempt that was lost;
        of one that was the last: never. ``row`` is the loss."""
        log, found = self.log, []
        losses: dict[int, tuple[int, int]] = {}
        wanted = np.isin(log.kind, (Kind.FAIL, Kind.START, Kind.END, Kind.CANCEL)) & (log.subject >= 0)
        for row in np.flatnonzero(wanted).tolist():
            task, kind = int(log.subject[row]), int(log.kind[row])
            if kind == Kind.FAIL:
                losses.setdefault(task, (row, self._struck_ns(row)))
            elif task in losses:
                loss, since = losses.pop(task)
                if kind != Kind.CANCEL:
                    found.append(Span(int(log.t_ns[row]) - since, loss, task))
        state = self.outcome.state
        for task, (row, since) in losses.items():
            found.append(Span(NEVER if state[task] == State.FAILED else self.since(since), row, task))
        return found

    @cached_property
    def detections(self) -> list[Span]:
        """From a fault to its notice, of each node that was taken for lost."""
        log = self.log
        rows = np.flatnonzero(log.kind == Kind.NOTICE).tolist()
        return [Span(int(log.value[row]), row, node=int(log.node[row])) for row in rows]

    @cached_property
    def downtimes(self) -> list[Span]:
        """For how long each node (those that ever were) was away or taken for lost; ``row``: the longest time began."""
        found = []
        for node, rows in sorted(self._node_rows().items()):
            total, longest, best, since, reasons = 0, -1, -1, -1, set[int]()
            for row in rows:
                begins, mark = self._away(row)
                t_ns = int(self.log.t_ns[row])
                if begins and not reasons:
                    since, first = t_ns, row
                (reasons.add if begins else reasons.discard)(mark)
                if not begins and not reasons and since >= 0:
                    total, since, lasted = total + t_ns - since, -1, t_ns - since
                    longest, best = (lasted, first) if lasted > longest else (longest, best)
            if since >= 0:
                lasted = max(self.end_ns - since, 0)
                total, best = total + lasted, first if lasted > longest else best
            if total:
                found.append(Span(total, best, node=node))
        return found

    def _node_rows(self) -> dict[int, list[int]]:
        log = self.log
        wanted = np.isin(log.kind, (Kind.FAULT, Kind.HEAL, Kind.CLOSE, Kind.OPEN)) & (log.node >= 0)
        found: defaultdict[int, list[int]] = defaultdict(list)
        for row in np.flatnonzero(wanted).tolist():
            kind = int(log.kind[row])
            lost = kind == Kind.CLOSE and log.reason[row] in (Reason.LOST, Reason.REMOVED)
            if lost or kind == Kind.OPEN or self.fault_kind(row) in AWAY:
                found[int(log.node[row])].append(row)
        return found

    def _away(self, row: int) -> tuple[bool, int]:
        """Whether a row makes its node unavailable or available again, and by which of several reasons."""
        log, kind = self.log, int(self.log.kind[row])
        if kind in (Kind.FAULT, Kind.HEAL):
            return kind == Kind.FAULT, int(log.value[row])
        return kind == Kind.CLOSE, -1

    # ------------------------------------------------------------------ causes

    def causes(self, row: int) -> Iterator[int]:
        """The rows that made a row happen, the nearest first."""
        while (row := int(self.log.cause[row])) >= 0:
            yield row

    def fault_kind(self, row: int) -> Fault | None:
        """The kind of fault that a row of FAULT or HEAL is about."""
        log = self.log
        if log.kind[row] not in (Kind.FAULT, Kind.HEAL):
            return None
        said = log.details.get(row, {}).get("kind")
        if said is not None:
            return Fault(said)
        number, faults = int(log.value[row]), self.scenario.faults
        if 0 <= number < len(faults) and all(isinstance(one, Failure) for one in faults):
            return faults[number].kind
        return None

    def _struck_ns(self, row: int) -> int:
        """When the fault came that a loss goes back to; the time of the loss itself where the log names none."""
        log = self.log
        for cause in self.causes(row):
            if log.kind[cause] == Kind.FAULT:
                return int(log.t_ns[cause])
            if log.kind[cause] not in (Kind.CLOSE, Kind.NOTICE, Kind.FAIL, Kind.PRESSURE, Kind.HEAL):
                break
        return int(log.t_ns[row])

    def _submitted(self, task: int) -> int:
        return int(self.work.submit_ns[task])

    def _first_rows(self, kind: Kind) -> dict[int, int]:
        rows = np.flatnonzero((self.log.kind == kind) & (self.log.subject >= 0))[::-1].tolist()
        return {int(self.log.subject[row]): row for row in rows}

    def _last_rows(self, kind: Kind) -> dict[int, int]:
        rows = np.flatnonzero((self.log.kind == kind) & (self.log.subject >= 0)).tolist()
        return {int(self.log.subject[row]): row for row in rows}
