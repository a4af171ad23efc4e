"""Exploring: what is tried hangs on the seed and on results alone; what hits something new is changed further."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from gnomon.insight.chaos import explore as module
from gnomon.insight.chaos.explore import Bounds, Exploration, Result, explore
from gnomon.insight.chaos.rules import Verdict
from gnomon.insight.chaos.schedules import Schedule
from gnomon.model.fault import Fault
from tests.insight.chaos.test_generate import rich, space

pytestmark = pytest.mark.unit

S = 10**9


class Lock:
    """A run that goes wrong when three faults have three lengths; each that is right can be seen in what is hit."""

    wanted = ((Fault.CRASH, 45), (Fault.DRAIN, 5), (Fault.SLOW, 300))

    def __init__(self, *, rows: int = 10) -> None:
        self.rows = rows
        self.tried: list[Schedule] = []

    def __call__(self, schedules: Sequence[Schedule]) -> list[Result]:
        self.tried += schedules
        return [self.result(schedule) for schedule in schedules]

    def result(self, schedule: Schedule) -> Result:
        right = {i for i, one in enumerate(self.wanted) if one in {(f.kind, f.for_ns // S) for f in schedule}}
        hit = frozenset({0, *(1 + i for i in right), 10 + len(right), *(20 + len(f.targets) for f in schedule)})
        return Result((Verdict(len(right) < 3, ""), Verdict(True, "")), hit, self.rows)


def tried(seed: int, runs: int, evaluate: Lock | None = None) -> Exploration:
    kinds = (Fault.CRASH, Fault.SLOW, Fault.DRAIN, Fault.PARTITION)
    return explore(space(rich(), kinds=kinds, most=4), evaluate or Lock(), Bounds(runs), seed)


def test_the_first_run_has_no_faults() -> None:
    assert tried(1, 5).schedules[0] == ()


def test_as_many_runs_as_were_asked_for() -> None:
    assert [len(tried(1, runs).results) for runs in (1, 2, 17, 18, 40)] == [1, 2, 17, 18, 40]


def test_the_same_seed_tries_the_same_and_another_seed_does_not() -> None:
    assert tried(3, 60).schedules == tried(3, 60).schedules
    assert tried(3, 60).schedules != tried(4, 60).schedules


def test_more_runs_begin_with_the_same() -> None:
    assert tried(3, 90).schedules[:49] == tried(3, 49).schedules


def test_it_stops_after_the_generation_in_which_something_broke() -> None:
    found = next(one for one in (tried(seed, 2_000) for seed in range(10)) if one.violated)
    first = found.violations(0)[0]
    assert len(found.results) - first <= module.GENERATION
    assert found.violations(1) == []


def test_to_the_end_it_goes_on() -> None:
    kinds = (Fault.CRASH,)
    lock = Lock()
    lock.wanted = ((Fault.CRASH, 1),) * 3
    found = explore(space(rich(), kinds=kinds), lock, Bounds(200, to_the_end=True), 1)
    assert len(found.results) == 200
    assert len(found.violations(0)) > 1


def test_it_stops_when_there_were_so_many_events() -> None:
    found = explore(space(rich()), Lock(rows=100), Bounds(10_000, events=5_000), 1)
    assert 5_000 <= found.events < 5_000 + 100 * module.GENERATION


def test_guided_it_finds_what_chance_alone_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three of three right by chance: of about 14 lengths and 4 kinds each, once in many thousand runs."""
    guided = [tried(seed, 1_000).violated for seed in range(6)]
    monkeypatch.setattr(module, "RANDOM_GENERATIONS", 10**9)
    random = [tried(seed, 1_000).violated for seed in range(6)]
    assert sum(guided) > sum(random)
    assert sum(guided) >= 4
