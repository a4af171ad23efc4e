"""slurmctld: when it looks at the queue, and what it does when something happens.

The background loop of ``src/slurmctld/controller.c`` wakes each second: a full pass each ``sched_interval``, a short
one ``batch_sched_delay`` after something happened. Backfill has its own loop, each ``bf_interval``. Passes that can
change nothing are left out: after one that found no room, nobody has room before somebody comes or goes, an expected
end or a promised start is reached, or priorities are worked out anew.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from gnomon.engine.periods import following
from gnomon.model.resources import NEVER
from gnomon.systems.slurm.cluster import preempting
from gnomon.systems.slurm.cluster.job import Job
from gnomon.systems.slurm.cluster.reservations import next_change_ns
from gnomon.systems.slurm.cluster.state import MINUTE, SECOND, State
from gnomon.systems.slurm.config.bf_settings import Settings
from gnomon.systems.slurm.config.conf import Conf, PartitionConf
from gnomon.systems.slurm.controller.power import power_of
from gnomon.systems.slurm.schedulers import main_scheduler
from gnomon.systems.slurm.schedulers.backfill import Backfill
from gnomon.systems.slurm.schedulers.gang import Gang

CHECK_EVERY: Final = 30 * SECOND
"""Time limits are looked at so often (PERIODIC_TIMEOUT of controller.c)."""


class Controller:
    """The loops of one slurmctld over a :class:`State`. ``phase_ns``: when it started, which decides when it looks at
    time limits; ``wakes_ns``: the part of a second at which its background loop and backfill wake."""

    def __init__(self, state: State, *, phase_ns: int = 0, wakes_ns: tuple[int, int] = (0, 0)) -> None:
        self.state, self._phase, self._wakes = state, phase_ns, wakes_ns
        scheduler = state.conf.scheduler
        self._delay = int(scheduler.get("batch_sched_delay", 3)) * SECOND
        interval = int(scheduler.get("sched_interval", 60) or 60)
        self._interval = interval * SECOND if interval > 0 else NEVER
        self._plugin = state.conf.text("schedulertype").rpartition("/")[2]
        self._settings = Settings.of(scheduler)
        self._plan = Backfill(state, self._settings)
        self._last = self._last_full = -NEVER
        self._asked, self._cut = False, False
        self._last_backfill = -NEVER
        self._pass_timer = self._backfill_timer = self._check_timer = self._calc_timer = -1
        self._pass_at = self._backfill_at = NEVER
        self.gang = Gang(state)
        state.power = power_of(state, self.ask)
        self._begin_timers: set[int] = set()

    def look_in_detail(self) -> None:
        """Let backfill tell jobs which nodes they are promised (:attr:`Job.planned_nodes`), which takes longer."""
        self._plan.look_in_detail()

    # ------------------------------------------------------------------ what happens

    def ask(self) -> None:
        """Something has changed: a pass is wanted soon, and backfill has something to look at."""
        self.state.changed = True
        self._asked = True
        self.gang.arm()
        if self.state.power is not None:
            self.state.power.look()
        self._arm()

    def arrived(self, jobs: tuple[Job, ...]) -> None:
        """New jobs are in the queue."""
        for job in jobs:
            if job.pends:
                self.wake_at(job.begin_ns)
                if job.deadline_ns:  # a pass finds it when there is no time left
                    limit = self.state.limit_min(job, self.state.part(job)) or 1
                    self.wake_at(job.deadline_ns - (job.request.time_min_min or limit) * MINUTE + 1)
        self.ask()
        self._arm_calculation()

    def wake_at(self, time_ns: int) -> None:
        """A pass is wanted at a time, if that is to come."""
        if time_ns > self.state.now_ns and time_ns not in self._begin_timers:
            self._begin_timers.add(time_ns)

            def wake() -> None:
                self._begin_timers.discard(time_ns)
                self.ask()

            self.state.world.at(time_ns, wake)

    # ------------------------------------------------------------------ the loops

    def _arm(self) -> None:
        self._arm_main()
        self._arm_backfill()

    def _arm_main(self) -> None:
        """When the background loop runs the main scheduler next."""
        state = self.state
        if not state.pending:
            return
        due = NEVER
        if self._asked:
            due = self._last + self._delay
        if self._asked or self._cut:
            due = min(due, self._last_full + self._interval)
        if due < NEVER:
            armed = self._pass_at, self._pass_timer
            self._pass_at, self._pass_timer = self._set(due, armed, self._wakes[0], self._main)

    def _arm_backfill(self) -> None:
        state = self.state
        if not state.pending or self._plugin != "backfill" or self._settings.interval_s < 0:
            return
        wanted = state.now_ns if state.changed else self._plan.needed_ns
        if wanted >= NEVER:
            return
        due = max(wanted, self._last_backfill + self._settings.interval_s * SECOND)
        armed = self._backfill_at, self._backfill_timer
        self._backfill_at, self._backfill_timer = self._set(due, armed, self._wakes[1], self._backfill)

    def _set(self, due: int, before: tuple[int, int], wakes: int, act: Callable[[], None]) -> tuple[int, int]:
        """Arm a timer for the time that the loop wakes next from ``due`` on, unless it rings before that anyway."""
        state, (armed, timer) = self.state, before
        due = max(due, state.now_ns + 1)
        due = -(-(due - wakes) // SECOND) * SECOND + wakes
        if armed <= due and armed > state.now_ns:
            return armed, timer
        if timer >= 0:
            state.world.cancel(timer)
        return due, state.world.at(due, act)

    def _main(self) -> None:
        """The background loop's turn."""
        state, now = self.state, self.state.now_ns
        self._pass_at = NEVER
        full = now - self._last_full >= self._interval
        self._asked = self._cut = False
        self._last = now
        if full:
            self._last_full = now
        before = state.starts
        state.priorities.catch_up()
        self._cut = main_scheduler.schedule(state, full=full)
        if state.starts != before:
            self._asked = True
        self.settle()

    def _backfill(self) -> None:
        state = self.state
        self._backfill_at = NEVER
        if self._pass_at <= state.now_ns:  # the background loop goes first
            self._main()
        state.changed = False
        self._last_backfill = state.now_ns
        state.priorities.catch_up()
        self._plan.run()
        self.settle()
        self._arm_calculation()

    def settle(self) -> None:
        """After a pass: what has to be looked at later."""
        for job in self.state.line.aside:
            if job.begin_ns > self.state.now_ns:
                self.wake_at(job.begin_ns)
        change = next_change_ns(self.state)
        if change:
            self.wake_at(change)
        if self.state.pending and preempting.is_on(self.state):
            for job in self.state.running:
                self.wake_at(job.start_ns + preempting.exempt_s(self.state, job) * SECOND)
        self.gang.arm()
        self._arm()

    # ------------------------------------------------------------------ time limits, priorities

    def next_check_ns(self, time_ns: int) -> int:
        """When time limits are looked at first, not before a time."""
        return -(-(time_ns - self._phase) // CHECK_EVERY) * CHECK_EVERY + self._phase

    def _arm_calculation(self) -> None:
        """The next PriorityCalcPeriod is waited for if somebody could start out of turn, or waits for usage to decay;
        otherwise whoever looks at priorities catches up."""
        period, several = self.state.priorities.period_ns, len(self.state.line.ready) > 1
        wanted = (several and self._plan.somebody_fits) or self._waits_for_decay
        if period and wanted and self._calc_timer < 0:
            self._calc_timer = self.state.world.at(following(self.state.now_ns, period), self._calculate)

    def _calculate(self) -> None:
        """PriorityCalcPeriod: usage decays, ages grow."""
        self._calc_timer = -1
        if self.state.priorities.catch_up() or self._waits_for_decay:
            self.ask()
        self._arm_calculation()

    @property
    def _waits_for_decay(self) -> bool:
        """Whether minutes that are used up hold somebody who could run when they are forgotten."""
        state = self.state
        return (
            state.limits is not None
            and state.usage.fades
            and any("Minutes" in job.reason or "GrpWall" in job.reason for job in state.pending)
        )


def limit_ns(state: State, job: Job) -> int:
    """When the time limit of a running job is over with what it may overrun (OverTimeLimit), NEVER: it has none."""
    if not job.end_ns:
        return NEVER
    return job.end_ns + overrun_min(state.conf, state.part(job).conf) * MINUTE


def overrun_min(conf: Conf, partition: PartitionConf) -> int:
    """By how many minutes jobs of a partition may overrun their limits."""
    if partition.over_time_limit_min is not None:
        return partition.over_time_limit_min
    text = conf.text("overtimelimit")
    return 365 * 24 * 60 if text.upper() == "UNLIMITED" else int(text or 0)
