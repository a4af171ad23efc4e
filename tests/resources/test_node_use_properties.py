"""A node in use: nothing is missed between two calls, nothing is overrun, no work is lost or won."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon.model.cluster import Machine
from gnomon.model.operation import Enforcement, Pauses, Pressure
from gnomon.model.resources import NEVER, Resources
from gnomon.model.usage import USED, Profile, Usage
from gnomon.resources.node_use import NodeUse, Running
from gnomon.resources.victims import ORDERS

pytestmark = pytest.mark.property

LAST = 60
"""Up to when is looked, in ns."""

Event = tuple[int, str, int, str, tuple[tuple[str, int | str], ...]]
Change = tuple[int, Callable[[NodeUse, int], None]]


@st.composite
def profiles(draw: st.DrawFn, most: int = 40) -> Profile:
    times = sorted(draw(st.lists(st.integers(0, 30), max_size=3)))
    points = tuple((t, draw(st.integers(0, most))) for t in (0, *times))
    every = draw(st.sampled_from([0, 0, 0, 1])) and max(1, points[-1][0] + draw(st.integers(0, 9)))
    return Profile(points, every)


@st.composite
def attempts(draw: st.DrawFn, task: int) -> Running:
    names = draw(st.lists(st.sampled_from(USED), unique=True, max_size=4))
    usage = Usage(tuple((name, draw(profiles())) for name in names))
    request = Resources(draw(st.integers(0, 30)), draw(st.integers(0, 30)))
    limit = Resources(draw(st.sampled_from([0, 10, 40])), draw(st.sampled_from([0, 0, 20, 40])))
    owner = draw(st.sampled_from("ab"))
    usual = draw(st.sampled_from([usage, usage, None]))
    plan = draw(st.sampled_from([5, 30, NEVER]))
    return Running(task, request, limit, usual, plan, draw(st.integers(0, 1)), owner, draw(st.booleans()))


pressures = st.builds(
    Pressure,
    resource=st.sampled_from(["memory", "disk"]),
    below=st.integers(0, 30),
    check_ns=st.sampled_from([0, 0, 1, 7]),
    order=st.sampled_from(sorted(ORDERS)),
    grace_ns=st.sampled_from([0, 0, 5]),
    calm_ns=st.sampled_from([0, 4]),
)
rules = st.builds(
    Enforcement,
    cpu=st.sampled_from(["shares", "pinned", "none"]),
    quota=st.booleans(),
    memory=st.sampled_from(["kill", "none"]),
    memory_check_ns=st.sampled_from([0, 0, 7]),
    pressures=st.lists(pressures, max_size=2).map(tuple),
    out_of_memory=st.sampled_from(sorted(ORDERS)),
    disk_fails_below_e4=st.sampled_from([0, 0, 5_000]),
    spill_rate=st.sampled_from([0, 10**9, 3 * 10**9]),
    pauses=st.sampled_from([None, Pauses(), Pauses(5_000, 10_000)]),
)
some = st.sampled_from([0, 60, 90])
machines = st.builds(
    Machine,
    memory_bytes=some,
    used_bytes=st.sampled_from([0, 10]),
    disk_bytes=some,
    disk_rate=some,
    store_bytes=st.sampled_from([0, 30, 60]),
)


@st.composite
def changes(draw: st.DrawFn) -> list[Change]:
    found: list[Change] = []
    for task in range(draw(st.integers(1, 5))):
        one = draw(attempts(task))
        found.append((draw(st.integers(0, 30)), lambda node, now, one=one: node.enter(one, now)))  # type: ignore[misc]
    if draw(st.booleans()):
        speeds = draw(st.lists(st.sampled_from([0, 3_333, 10_000]), max_size=3))
        found += [
            (draw(st.integers(0, 50)), lambda node, now, speed=speed: node.slow(speed, now))  # type: ignore[misc]
            for speed in speeds
        ]
    if draw(st.booleans()):
        rate = draw(st.sampled_from([10**9, 3 * 10**8]))
        found.append((draw(st.integers(0, 20)), lambda node, now: node.leak(rate, now)))
        found.append((draw(st.integers(20, 50)), lambda node, now: node.leak(0, now)))
    if draw(st.booleans()):
        left = draw(st.integers(0, 20))
        found.append((draw(st.integers(0, 20)), lambda node, now: node.fill_disk(left, now)))
        found.append((draw(st.integers(20, 50)), lambda node, now: node.fill_disk(None, now)))
    return sorted(found, key=lambda pair: pair[0])


@dataclass
class Driver:
    """Runs a node through changes; ``dense``: it looks at every ns, else only when the node says so."""

    node: NodeUse
    changes: list[Change]
    dense: bool
    found: list[Event] = field(default_factory=list)
    done: dict[int, tuple[int, int]] = field(default_factory=dict)
    going: dict[int, int] = field(default_factory=dict)

    def run(self) -> Driver:
        now = 0
        while now <= LAST:
            for task in sorted(task for task, end in self._ends().items() if end <= now):
                self._leave(task, now)
            while self.changes and self.changes[0][0] == now:
                self.changes.pop(0)[1](self.node, now)
            if self.dense:
                self._happen(now)
            while (due := self.node.next_ns()) <= now:
                assert due == now, "it asks for a time that has passed"
                self._happen(now)
            later = [*self._ends().values(), self.node.next_ns(), *(time for time, _ in self.changes)]
            now = now + 1 if self.dense else max(now, min(later))
        for task in self.node.ends():
            self.done[task] = (LAST, self.node.done_ns(task, max(now, LAST) if self.dense else LAST + 1))
        return self

    def _ends(self) -> dict[int, int]:
        ends = self.node.ends()
        return {task: min(end, self.going.get(task, NEVER)) for task, end in ends.items()}

    def _leave(self, task: int, now: int) -> None:
        self.done[task] = (now, self.node.leave(task, now))
        self.going.pop(task, None)

    def _happen(self, now: int) -> None:
        for one in self.node.happen(now):
            self.found.append((now, one.kind, one.task, one.cause, one.numbers))
            if one.kind in ("kill", "evict"):
                self.going[one.task] = now + one.grace_ns
        for task in [task for task, when in self.going.items() if when <= now]:
            self._leave(task, now)


@settings(max_examples=200, deadline=None)
@given(rules, machines, changes())
def test_whoever_calls_only_when_told_misses_nothing(rule: Enforcement, machine: Machine, ops: list[Change]) -> None:
    dense, sparse = (
        Driver(NodeUse(Resources(60, 70), machine, rule), list(ops), looks).run() for looks in (True, False)
    )
    assert sparse.found == dense.found
    assert sparse.done == dense.done


def value(one: Running, name: str, t: int) -> Fraction:
    """What an attempt uses so long after it began, from the definition of a profile."""
    profile = one.usage.profile(name) if one.usage else None
    if profile is None:
        return Fraction({"cpu": one.request.cpu_milli, "memory": one.request.memory_bytes}.get(name, 0))
    t = t % profile.every_ns if profile.every_ns else t
    before = [k for k, (time, _) in enumerate(profile.points) if time <= t][-1]
    (time, amount), after = profile.points[before], profile.points[before + 1 : before + 2]
    return amount + sum((Fraction((then - amount) * (t - time), later - time) for later, then in after), Fraction(0))


@settings(max_examples=60, deadline=None)
@given(rules, machines, st.lists(st.integers(0, 20), min_size=1, max_size=5), st.data())
def test_nothing_is_overrun_for_longer_than_it_may(
    rule: Enforcement, machine: Machine, starts: list[int], data: st.DataObject
) -> None:
    node, living = NodeUse(Resources(60, 70), machine, rule), dict[int, tuple[Running, int]]()
    for now in range(LAST):
        for task in [task for task, start in enumerate(starts) if start == now]:
            living[task] = data.draw(attempts(task)), now
            node.enter(living[task][0], now)
        while node.next_ns() <= now:
            for event in node.happen(now):
                if event.kind in ("kill", "evict"):
                    node.leave(event.task, now)
                    del living[event.task]

        def used(name: str, now: int = now) -> int:
            return int(sum(value(one, name, now - start) for one, start in living.values()))

        known = any(one.usage and one.usage.profile("memory") for one, _ in living.values())
        if known:
            assert used("memory") + machine.used_bytes <= (machine.memory_bytes or 70)
        excess = max(0, used("store") - (machine.store_bytes or NEVER))
        assert excess == 0 or rule.spill_rate
        assert used("disk") + excess <= (machine.disk_bytes or NEVER) + 1  # two sums, each rounded down
        for one, start in living.values():
            limit = one.limit.memory_bytes if one.usage and one.usage.profile("memory") else 0
            if limit and rule.memory == "kill" and not rule.memory_check_ns:
                assert value(one, "memory", now - start) < limit + 1
        immediate = [p.below for p in rule.pressures if p.resource == "memory" and not p.check_ns and not p.grace_ns]
        if immediate and known and not any(p.order == "over-limit" or p.grace_ns for p in rule.pressures):
            left = (machine.memory_bytes or 70) - machine.used_bytes - used("memory")
            assert left >= min(max(immediate), (machine.memory_bytes or 70) - machine.used_bytes)


@settings(max_examples=100, deadline=None)
@given(rules, machines, changes())
def test_work_done_is_the_sum_of_the_speeds_that_were_told(
    rule: Enforcement, machine: Machine, ops: list[Change]
) -> None:
    began: dict[int, int] = {}
    plans: dict[int, int] = {}
    node = NodeUse(Resources(60, 70), machine, rule)
    enter = node.enter

    def entering(one: Running, now: int) -> None:
        began[one.task], plans[one.task] = now, one.plan_ns
        enter(one, now)

    node.enter = entering  # type: ignore[method-assign]
    driver = Driver(node, list(ops), dense=False).run()
    for task, (until, done) in driver.done.items():
        until = LAST + 1 if until == LAST and task in node.ends() else until
        rows = [
            (t, dict(numbers)["speed_e4"])
            for t, kind, one, _, numbers in driver.found
            if kind == "speed" and one == task
        ]
        times = [began[task], *(t for t, _ in rows), until]
        speeds = [10_000, *(int(speed) for _, speed in rows)]
        work = sum(Fraction(s * (b - a), 10_000) for s, (a, b) in zip(speeds, pairwise(times), strict=True))
        assert done == min(plans[task], int(work))
        if done < plans[task] < NEVER:
            continue
        # It left at the first ns at which its plan was done, and not later.
        assert plans[task] == NEVER or work - Fraction(speeds[-1], 10_000) < plans[task] or until == times[-2]
