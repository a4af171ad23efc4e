"""Each checker finds what it is there for."""

from collections.abc import Callable

import pytest

from gnomon.api import NEVER, InvariantError, Kind
from gnomon.control.invariants import INVARIANTS, Parts, check
from gnomon.engine.world import FROZEN, ROWS, TASKS_INSIDE
from gnomon.model.fault import Fault
from gnomon.model.operation import Budget, Eviction, Operation
from tests.builders import S, task
from tests.control.machine import History
from tests.control.reading import again, crash, fault, part, plot

Break = Callable[[Parts], object]


class Scene(History):
    """A world in the middle of what goes wrong: t0 runs on n0, which is cut off; t1 waits in its place on n1 for a
    retry; t2 runs on n2, which is gone."""

    def __init__(self) -> None:
        recovery = again(3, "killed", first=500, in_place=True)
        tasks = [task(f"t{i}", 4, 300, recovery=recovery) for i in range(3)]
        faults = [part(10, NEVER, "n0"), fault(Fault.KILL, 10, 0, "task/t1"), crash(10, NEVER, "n2")]
        operation = Operation(eviction=Eviction(after_ns=NEVER), budgets=(Budget("*", 0),))
        super().__init__(plot(tasks, faults, operation))
        self.now = 20 * S
        self.settle()
        self.parts_of_control = self.control._parts


def _withhold(p: Parts) -> None:
    p.w.withheld[1, 0] -= 1


def _lose_a_delay(p: Parts) -> None:
    p.timers.cancel(p.again.waiting.pop(1))


def _count_wrong(p: Parts) -> None:
    p.w.at[TASKS_INSIDE] += 1


def _count_a_dead_attempt(p: Parts) -> None:
    attempt = p.machines.of(0)
    assert attempt is not None
    attempt.node = 1


def _do_too_much(p: Parts) -> None:
    attempt = p.machines.of(2)
    assert attempt is not None
    attempt.done_ns = attempt.plan_ns + 1


def _save_too_much(p: Parts) -> None:
    p.plans.saved_ns[0] = 10**15


def _work_when_dead(p: Parts) -> None:
    attempt = p.machines.of(2)
    assert attempt is not None
    attempt.begun_ns = 0
    attempt.done_ns = 0


def _forget_an_end(p: Parts) -> None:
    attempt = p.machines.of(0)
    assert attempt is not None
    p.timers.cancel(attempt.timer)


def _know_an_end(p: Parts) -> None:
    p.board.retime(0, 100 * S)


def _hear(p: Parts) -> None:
    p.machines.cut.clear()


def _freeze(p: Parts) -> None:
    p.w.at[FROZEN] = 1


def _retry_too_often(p: Parts) -> None:
    p.again.ladders[1].rows[0].count = 4


def _decide_frozen(p: Parts) -> None:
    p.board.row(Kind.LEAD, value=-1)
    p.board.row(Kind.NOTICE, node=0)


def _cause_later(p: Parts) -> None:
    p.board.row(Kind.WAKE, cause=int(p.w.at[ROWS]) + 5)


def _drain_too_many(p: Parts) -> None:
    p.sent_away.add(2)


def _detail_of_no_row(p: Parts) -> None:
    p.board.details[10**6] = {}


def _double(p: Parts) -> None:
    attempt = p.machines.of(0)
    assert attempt is not None
    row = p.board.row(Kind.FAIL, task=0, node=0, reason=77)
    attempt.copy_row = p.board.row(Kind.COPY, task=0, node=0, cause=row)
    attempt.counts = False
    del p.machines._of_task[0]


@pytest.mark.parametrize(
    ("break_it", "found"),
    [
        (_withhold, "withheld_is_accounted_for"),
        (_lose_a_delay, "everybody_is_somewhere"),
        (_count_wrong, "everybody_is_somewhere"),
        (_count_a_dead_attempt, "attempts_are_those_of_tasks"),
        (_do_too_much, "nobody_is_done_twice"),
        (_save_too_much, "nobody_is_done_twice"),
        (_work_when_dead, "the_dead_do_nothing"),
        (_forget_an_end, "ends_are_entered"),
        (_know_an_end, "ends_are_entered"),
        (_hear, "silence_is_one"),
        (_freeze, "silence_is_one"),
        (_double, "copies_do_not_overlap"),
        (_retry_too_often, "retries_are_limited"),
        (_decide_frozen, "rows_make_sense"),
        (_cause_later, "rows_make_sense"),
        (_drain_too_many, "rows_make_sense"),
        (_detail_of_no_row, "rows_make_sense"),
    ],
)
def test_what_is_broken_is_found(break_it: Break, found: str) -> None:
    parts = Scene().parts_of_control
    if break_it is _double:
        object.__setattr__(parts.scenario.operation, "orphans", "wait")
    break_it(parts)
    broken = {invariant.__name__ for invariant in INVARIANTS for _ in invariant(parts)}
    assert found in broken


def test_the_scene_itself_is_whole() -> None:
    check(Scene().parts_of_control)


def test_the_error_tells_the_story_and_the_seed() -> None:
    parts = Scene().parts_of_control
    _do_too_much(parts)
    with pytest.raises(InvariantError, match=r"an attempt of task 2 has done .* \(seed 0\)") as error:
        check(parts)
    assert any("START task 2" in line for line in error.value.story)
