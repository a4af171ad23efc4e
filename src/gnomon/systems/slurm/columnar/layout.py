"""Which runs are done in columns, and how their columns are laid out.

What becomes of a submission (refused, or which demand, which priority) is asked of the controller's own code, once for
each kind of job that the work has; the rest of a job is numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gnomon.model.recovery import Recovery
from gnomon.model.resources import NEVER as NO_TIME
from gnomon.model.scenario import Limits, Scenario
from gnomon.model.work import Work
from gnomon.systems.slurm.accounting.accounts import Accounts
from gnomon.systems.slurm.cluster import preempting
from gnomon.systems.slurm.cluster.state import State
from gnomon.systems.slurm.columnar import books as places
from gnomon.systems.slurm.columnar.books import MINUTE, NEVER, SECOND, Books
from gnomon.systems.slurm.columnar.kinds import Kinds, Nobody
from gnomon.systems.slurm.config.bf_settings import BY_JOB, Settings
from gnomon.systems.slurm.controller.books import books
from gnomon.systems.slurm.controller.power import power_of
from gnomon.systems.slurm.controller.slurmctld import CHECK_EVERY, overrun_min
from gnomon.systems.slurm.inputs.native import Native
from gnomon.systems.slurm.priority.formula import FIRST_BASIC
from gnomon.systems.slurm.priority.ranking import MultifactorRanking
from gnomon.systems.slurm.schedulers import planning
from gnomon.systems.slurm.schedulers.gang import Gang
from gnomon.systems.slurm.schedulers.main_scheduler import DEPTH
from gnomon.systems.slurm.select.columns import Running
from gnomon.systems.slurm.select.occupancy import Store
from gnomon.systems.slurm.select.speed import Columns


@dataclass(frozen=True)
class Layout:
    """The columns that the kernels take, in their order; ``texts``: what the numbers of ``Books.log_text`` say, from
    :data:`books.TEXTS` on."""

    state: State
    chart: Columns[planning.Chart]
    line: Columns[planning.Lined]
    future: Any
    books: Books
    texts: tuple[str, ...]


def lay_out(scenario: Scenario, *, compiled: bool = True) -> Layout | None:
    """The columns of a run, None if something in it is for the controller alone."""
    native = scenario.native
    if not isinstance(native, Native) or native.traced is None or not _is_plain(scenario, native):
        return None
    state = books(native.conf, native.accounts, Nobody(), compiled=compiled)
    if not _is_plain_cluster(state) or any(name in state.tree.users for name in native.traced.users):
        return None
    kinds = Kinds(state, native.traced)
    return _Laying(state, native.traced, kinds).layout() if kinds.are_plain else None


def _is_plain(scenario: Scenario, native: Native) -> bool:
    """Whether jobs come, run and end, and nothing else happens."""
    work = scenario.work
    others = native.groups or native.commands or native.history or native.present or native.reservations
    after = scenario.faults or work.usages or work.needs or work.recoveries != (Recovery(),)
    whole = scenario.limits == Limits() and bool((work.submit_ns < NO_TIME).all())
    return not others and not after and whole and native.accounts == Accounts()


def _is_plain_cluster(state: State) -> bool:
    """Whether what is free, and the order of the queue, decide alone."""
    conf = state.conf
    flags = {word.upper() for word in conf.words("priorityflags")}
    special = (
        state.down,
        state.drained,
        state.limits is not None,
        state.enforces("associations"),
        power_of(state, lambda: None) is not None,
        Gang(state).on,
        preempting.is_on(state),
        state.selector.counts_in_full,
        flags & {"INCR_ONLY", "SMALL_RELATIVE_TO_TIME"},
        [name for name in BY_JOB if name in conf.scheduler],
    )
    return not any(special)


class _Laying:
    """The columns of one run, worked out."""

    def __init__(self, state: State, work: Work, kinds: Kinds) -> None:
        self.state, self.work = state, work
        self.jobs, self.order, self.lasting = kinds.jobs, kinds.order, kinds.lasting
        self.parts, self.texts = kinds.parts, kinds.texts

    def layout(self) -> Layout:
        """All of them."""
        state, n = self.state, len(self.work)
        masks = np.zeros((len(self.parts) + 1, len(state.conf.nodes)), np.int8)
        for i, name in enumerate(self.parts):
            masks[i] = state.partitions[name].nodes
        laid = self._books()
        value = np.zeros((n, planning.FIELDS), np.int64)
        value[:, planning.DEMAND], value[:, planning.CPUS] = self.jobs["demand"], self.jobs["cpus"]
        value[:, planning.USABLE], value[:, planning.REQUIRED] = self.jobs["partition"], len(self.parts)
        value[:, planning.MINUTES] = self._planned_minutes(laid.limit)
        value[:, planning.NODES], value[:, planning.PLANNED] = 1, -1
        settings = Settings.of(state.conf.scheduler)
        slots = min(settings.most_slots, 4 * settings.most_tests) + 4
        chart = Columns(planning.chart_for(len(state.conf.nodes), slots))
        words = np.array([planning.packed(one) for one in masks])
        line = Columns(planning.Lined(np.zeros(n, np.int32), value, masks, words))
        future = state.occupancy.copy()
        state.selector.store.columns = Columns(self._running())
        return Layout(state, chart, line, future, laid, tuple(self.texts))

    def _limits(self) -> Any:
        """The time limit of each job, minutes, -1: none."""
        estimate = self.work.estimate_ns[self.order]
        own = np.maximum(1, -(-estimate // MINUTE))
        confs = [self.state.partitions[name].conf for name in self.parts]
        default = [one.default_time_min if one.default_time_min is not None else one.max_time_min for one in confs]
        of_part = np.array([-1 if one is None else one for one in default] or [-1])
        return np.where(estimate >= NO_TIME, of_part[self.jobs["partition"]], own)

    def _planned_minutes(self, limit: Any) -> Any:
        """How long backfill takes each to run (:meth:`State.planned_min`)."""
        from gnomon.systems.slurm.cluster.state import YEAR_MIN

        confs = [self.state.partitions[name].conf for name in self.parts]
        most = np.array([NEVER if one.max_time_min is None else one.max_time_min for one in confs] or [NEVER])
        most = most[self.jobs["partition"]]
        return np.where(limit < 0, np.where(most >= NEVER, YEAR_MIN, most), np.minimum(limit, most))

    def _books(self) -> Books:
        work, n, order = self.work, len(self.work), self.order
        state, cores = self.state, self._most_shares()
        confs = [state.partitions[name].conf for name in self.parts]
        most = min(n, cores) + 1
        limit = self._limits().astype(np.int64)
        over = np.array([overrun_min(state.conf, one) * MINUTE for one in confs] or [0], np.int64)
        zero, small = np.zeros(n, np.int64), np.zeros(n, np.int32)
        rows = 6 * n + 8192
        return Books(
            task=order.astype(np.int32),
            submit=work.submit_ns[order].astype(np.int64),
            run=work.duration_ns[order].astype(np.int64),
            limit=limit,
            over=over[self.jobs["partition"]],
            partition=self.jobs["partition"].astype(np.int32),
            kind=self.jobs["lasting"].astype(np.int32),
            fate=self.jobs["fate"].astype(np.int8),
            text=self.jobs["text"].astype(np.int32),
            then=self.jobs["then"].astype(np.int32),
            priority=zero.copy(),
            reason=np.zeros(n, np.int8),
            row=small.copy(),
            start_row=small.copy(),
            slot=small.copy(),
            planned=np.full(n, -1, np.int64),
            killed=np.zeros(n, np.int8),
            first=zero.copy(),
            width=small.copy(),
            tier=np.array([one.priority_tier for one in confs], np.int64),
            failed=np.zeros(len(confs), np.int8),
            lasting=np.array(self.lasting, np.float64).reshape(-1, places.LASTING),
            weight=self._weights(),
            line=np.zeros(n + 1, np.int32),
            aside=np.zeros(n + 1, np.int32),
            end_time=np.zeros(most, np.int64),
            end_number=np.zeros(most, np.int64),
            end_job=np.zeros(most, np.int32),
            free_slot=np.arange(most, dtype=np.int32),
            free_share=np.arange(cores, dtype=np.int32),
            nodes=np.zeros(2 * cores + n, np.int32),
            log_t=np.zeros(rows, np.int64),
            log_instant=np.zeros(rows, np.int32),
            log_kind=np.zeros(rows, np.int8),
            log_subject=np.zeros(rows, np.int32),
            log_node=np.zeros(rows, np.int32),
            log_cause=np.zeros(rows, np.int32),
            log_reason=np.zeros(rows, np.int8),
            log_value=np.zeros(rows, np.int64),
            log_text=np.zeros(rows, np.int32),
            at=self._at(most, cores),
        )

    def _most_shares(self) -> int:
        """No more shares are held at a time than there are cores."""
        return int(self.state.selector.hardware.every.sum())

    def _weights(self) -> Any:
        priorities = self.state.priorities
        if not isinstance(priorities, MultifactorRanking):
            return np.zeros(3)
        weights = priorities.weights
        return np.array([weights.age, weights.fairshare, weights.max_age_s], np.float64)

    def _running(self) -> Running:
        """Room for who runs."""
        shares = self._most_shares()
        store: Store = self.state.selector.store
        return store.empty(min(len(self.work), shares) + 1, shares)

    def _at(self, most: int, shares: int) -> Any:
        state, scheduler = self.state, self.state.conf.scheduler
        settings = Settings.of(scheduler)
        interval = int(scheduler.get("sched_interval", 60) or 60)
        multifactor = isinstance(state.priorities, MultifactorRanking)
        plugin = state.conf.text("schedulertype").rpartition("/")[2]
        at = np.zeros(places.AT_SIZE, np.int64)
        at[[places.LAST, places.LAST_FULL, places.LAST_BACKFILL]] = -NEVER
        at[[places.MAIN_AT, places.BACKFILL_AT, places.NEEDED]] = NEVER
        at[places.TIMERS : places.TIMERS + 3] = NEVER
        at[places.NOW] = -1
        at[places.CHANGED] = at[places.SOMEBODY_FITS] = 1
        at[places.FREE_SLOTS], at[places.FREE_SHARES], at[places.MOST_SHARES] = most, shares, shares
        at[places.DELAY] = int(scheduler.get("batch_sched_delay", 3)) * SECOND
        at[places.INTERVAL] = interval * SECOND if interval > 0 else NEVER
        at[places.DEPTH] = int(scheduler.get("default_queue_depth", DEPTH))
        at[places.PERIOD] = state.priorities.period_ns
        at[places.BASIC] = 0 if multifactor else FIRST_BASIC
        at[places.BACKFILLS] = plugin == "backfill" and settings.interval_s >= 0
        at[places.BF_INTERVAL] = settings.interval_s * SECOND
        at[places.BF_STEP], at[places.BF_WINDOW] = settings.resolution_s, settings.window_s
        at[places.BF_UP] = settings.resolution_s - 1 if state.conf.version > (22, 5) else 0
        at[places.BF_TESTS], at[places.BF_SLOTS] = settings.most_tests, settings.most_slots
        at[places.BF_STARTS] = settings.most_starts
        at[places.WHOLE] = not state.selector.speed.compiled
        at[places.CHECK] = CHECK_EVERY
        return at
