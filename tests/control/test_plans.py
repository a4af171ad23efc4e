"""What the next attempt of a task will be."""

import numpy as np
import pytest

from gnomon.api import NEVER, Kind, Task
from gnomon.control.board import Board
from gnomon.control.plans import TOGETHER_MAX, Plans
from gnomon.model.fault import Fault
from gnomon.model.recovery import Checkpoint, Recovery
from gnomon.recovery.checkpoint import plan_ns
from gnomon.scheduling.compose import compose
from tests.builders import S, task
from tests.control.reading import fault, plot

EVERY_30_S = Checkpoint(30 * S, cost_ns=2 * S, restart_ns=5 * S)


def plans(*tasks: Task, chance: int = 0) -> tuple[Plans, Board]:
    """The plans of these tasks, which fail with this chance."""
    faults = [fault(Fault.FAIL, 0, NEVER, "task/*", amount=chance)] if chance else []
    scenario = plot(tasks, faults)
    board = Board(compose(scenario).world)
    made = Plans(scenario, board)
    made.first()
    return made, board


def test_an_attempt_takes_its_work_and_what_saving_costs() -> None:
    made, board = plans(task("t", 1, 100, recovery=Recovery(checkpoint=EVERY_30_S)))
    assert board.w.duration[0] == plan_ns(100 * S, EVERY_30_S, resumed=False) == 106 * S
    assert made.left_ns(0) == 100 * S


def test_what_is_saved_and_what_is_left_make_up_the_work() -> None:
    made, board = plans(task("t", 1, 100, recovery=Recovery(checkpoint=EVERY_30_S)))
    lost = made.save(0, 70 * S)  # two are complete, at 32 and 64
    assert (made.saved_ns[0], made.left_ns(0), lost) == (60 * S, 40 * S, 10 * S)
    made.next(0)
    assert board.w.duration[0] == (5 + 30 + 2 + 10) * S


def test_an_attempt_of_which_nobody_heard_saved_no_more_than_its_checkpoints() -> None:
    made, _ = plans(task("t", 1, 100, recovery=Recovery(checkpoint=EVERY_30_S)), task("u", 1, 100))
    made.save(0, 106 * S)
    assert made.left_ns(0) == 10 * S
    made.save(1, 100 * S)
    assert made.left_ns(1) == 100 * S


@pytest.mark.parametrize(
    ("estimate", "fate", "length"), [(60, Kind.KILL, 60), (100, Kind.END, 100), (150, Kind.END, 100)]
)
def test_an_attempt_longer_than_its_limit_is_killed(estimate: float, fate: Kind, length: float) -> None:
    made, board = plans(task("t", 1, 100, estimate=estimate))
    made.next(0)
    assert (board.w.fate[0], board.w.duration[0]) == (fate, length * S)


def test_a_task_without_an_end_has_no_plan_and_does_not_fail() -> None:
    made, board = plans(task("t", 1, NEVER), chance=10_000)
    assert (made.plan_ns(0), board.w.fate[0]) == (NEVER, Kind.END)


def test_each_attempt_has_a_chance_of_its_own() -> None:
    made, board = plans(*(task(f"t{i}", 1, 100) for i in range(1_000)), chance=3_000)
    for attempt in range(1, 4):
        failing = (board.w.fate == Kind.FAIL).sum()
        assert abs(failing - 300) < 4 * (1_000 * 0.3 * 0.7) ** 0.5
        for number in range(1_000):
            made.attempt[number] = attempt
            made.next(number)


def test_many_attempts_of_one_task_have_the_same_chance() -> None:
    made, board = plans(task("t", 1, 100), chance=3_000)
    fates = []
    for attempt in range(TOGETHER_MAX, TOGETHER_MAX + 1_000):
        made.attempt[0] = attempt
        made.next(0)
        fates.append(board.w.fate[0] == Kind.FAIL)
    assert abs(np.sum(fates) - 300) < 4 * (1_000 * 0.3 * 0.7) ** 0.5
