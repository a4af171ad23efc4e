"""The physical side of one node: who runs there, what each uses, how fast each goes, and what happens next.

Nobody is asked to place anything here: requests were granted elsewhere (corrections R1, X4). Time only moves forward.
After every change :meth:`NodeUse.next_ns` says when :meth:`NodeUse.happen` has to be called, which may turn out to be
for nothing; it is NEVER as long as nobody can come to use more than there is.
"""

from __future__ import annotations

from gnomon.model.cluster import Machine
from gnomon.model.operation import Enforcement
from gnomon.model.resources import E4, NEVER, Resources
from gnomon.resources.attempt import Running, begin
from gnomon.resources.incident import Incident
from gnomon.resources.memory import kill_over_limit, kill_used_up, next_over_limit, next_used_up
from gnomon.resources.node_state import NO_LEAK, NodeState
from gnomon.resources.pressure import PressureWatch
from gnomon.resources.space import fail_full, next_full, wait_for_room
from gnomon.resources.speeds import announce, fail_starved, next_change, set_speeds
from gnomon.resources.usage import Curve

__all__ = ["Incident", "NodeUse", "Running"]

LONGEST_LEAK_S = 2**32
"""How long something leaks at most, in seconds: longer than any run (73 years)."""


class NodeUse:
    """A node in use.

    >>> from gnomon.model.usage import Profile, Usage
    >>> leak = Usage((("memory", Profile(((0, 0), (100, 1000)))),))
    >>> node = NodeUse(Resources(memory_bytes=4096), Machine(), Enforcement())
    >>> node.enter(Running(7, limit=Resources(memory_bytes=500), usage=leak, plan_ns=80), 0)
    >>> node.next_ns(), node.ends()
    (51, {7: 80})
    >>> node.happen(51)[0].numbers
    (('used', 510), ('limit', 500), ('request', 0))
    >>> node.leave(7, 51), node.is_idle()
    (51, True)
    """

    def __init__(self, capacity: Resources, machine: Machine, enforcement: Enforcement) -> None:
        self._state = NodeState(capacity, machine, enforcement)
        self._watches = [PressureWatch(rule) for rule in enforcement.pressures]
        self._now = 0
        self._judged = -1
        self._next: int | None = NEVER
        self._untold = False

    def enter(self, one: Running, now: int) -> None:
        """An attempt begins. Raises ValueError if one of that key is there."""
        self._forward(now)
        if one.task in self:
            raise ValueError(f"an attempt {one.task} runs on the node already")
        quiet = self.is_idle()
        attempt = begin(one, self._state.enforcement, now)
        self._state.attempts[one.task] = attempt
        self._state.add(attempt)
        if not (quiet and self.is_idle()):
            self._changed(now)

    def __contains__(self, task: int) -> bool:
        """Whether an attempt of that key is there, dead or alive."""
        return task in self._state.attempts

    def leave(self, task: int, now: int) -> int:
        """An attempt is gone (it ended, died, was taken away): how many ns of its plan are done."""
        self._forward(now)
        quiet = self.is_idle()
        one = self._state.attempts.pop(task)
        done = one.done_ns(now)
        if one.dead:
            self._state.dead -= 1
        else:
            self._state.add(one, -1)
            if not quiet:
                self._changed(now)
        return done

    def done_ns(self, task: int, now: int) -> int:
        """How many ns of an attempt's plan are done."""
        self._forward(now)
        return self._state.attempts[task].done_ns(now)

    def slow(self, speed_e4: int, now: int) -> None:
        """From now on the node runs at this part of its speed: 10,000 healthy, 0 it stands still."""
        self._forward(now)
        self._state.slow_e4 = speed_e4
        self._changed(now)

    def leak(self, bytes_per_s: int, now: int) -> None:
        """Something beside the tasks takes memory at this rate from now on, on top of what it has; with 0 it is gone
        and gives back everything."""
        self._forward(now)
        had = self._state.leak[0].amount(now - self._state.leak[1])
        if bytes_per_s:
            end, most = LONGEST_LEAK_S * 10**9, had + LONGEST_LEAK_S * bytes_per_s
            self._state.leak = Curve((0, end), ((0, end, had, most), (end, NEVER, most, most)), 0, most), now
        else:
            self._state.leak = NO_LEAK
        self._changed(now)

    def fill_disk(self, left: int | None, now: int) -> None:
        """Something fills the disk so that only so many bytes are left now; None: it is gone."""
        self._forward(now)
        state = self._state
        state.filled_to = NEVER
        if left is not None:
            used = sum(one.use("disk", now) for one in state.present())
            spilled = max(0, -state.left("store", now)) if state.spills() else 0
            state.filled_to = used + spilled + left
        self._changed(now)

    def ends(self) -> dict[int, int]:
        """When each attempt ends at its present speed; NEVER for one that stands still, has no end or is dead."""
        return {task: one.end_ns() for task, one in self._state.attempts.items()}

    def next_ns(self) -> int:
        """When :meth:`happen` has to be called next, NEVER if nothing will happen by itself. The ends are not in it."""
        if self._next is None:
            state, now = self._state, self._now
            fresh = now if self._judged < now else now + 1
            times = [watch.next_ns(state, fresh) for watch in self._watches]
            times += [next_over_limit(state, fresh), next_used_up(state, fresh), next_full(state, fresh)]
            starving = state.enforcement.disk_fails_below_e4 > 0 and state.peaks["disk-io"] > state.disk_rate
            at_once = self._untold or (starving and self._judged < now)
            self._next = min(*times, now if at_once else next_change(state, now))
        return self._next

    def happen(self, now: int) -> list[Incident]:
        """What happens now, in its order. Whoever dies, or is sent away without grace, uses nothing any more; the
        caller lets him :meth:`leave`."""
        self._forward(now)
        state = self._state
        found = kill_over_limit(state, now)
        found += [one for watch in self._watches if watch.is_immediate for one in watch.happen(state, now)]
        found += kill_used_up(state, now)
        found += fail_full(state, now)
        found += [one for watch in self._watches if not watch.is_immediate for one in watch.happen(state, now)]
        found += fail_starved(state, now)
        found += wait_for_room(state, now)
        set_speeds(state, now)
        found += announce(state)
        self._judged, self._untold, self._next = now, False, None
        return found

    def is_idle(self) -> bool:
        """Whether nobody can ever come to use more than there is, and no fault is on: all run at full speed."""
        state = self._state
        return (
            state.slow_e4 == E4
            and state.leak is NO_LEAK
            and state.filled_to == NEVER
            and not (self._untold or state.capped or state.limited or state.pausing)
            and state.peaks["cpu"] <= state.cpu_milli
            and state.peaks["disk-io"] <= state.disk_rate
            and all(state.least_left(resource) >= 0 for resource in ("memory", "store", "disk"))
            and all(watch.is_safe(state) for watch in self._watches)
        )

    def _forward(self, now: int) -> None:
        if now < self._now:
            raise ValueError(f"time only moves forward: {now} is before {self._now}")
        self._now = now

    def _changed(self, now: int) -> None:
        """Who runs, or what there is, has changed: speeds are others from now on, all has to be looked at again."""
        set_speeds(self._state, now)
        self._untold = any((one.speed_e4, one.cause) != one.told for one in self._state.present())
        self._judged, self._next = -1, None
