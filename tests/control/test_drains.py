"""Drains empty a node as fast as the disruption budgets allow."""

from gnomon.api import NEVER, Kind, State
from gnomon.model.fault import Fault
from gnomon.model.operation import Budget, Eviction, Operation
from tests.builders import nodes, task
from tests.control.reading import crash, fault, part, play, seen, times

DRAIN = fault(Fault.DRAIN, 10, 100, "n0")


def bag(count: int, run: float = 50, cpu: float = 1) -> list[object]:
    """Tasks of one job that hold no places for each other once all run."""
    return [task(f"t{i}", cpu, run, job="bag") for i in range(count)]


def test_without_a_budget_all_go_at_once() -> None:
    run = play(bag(3), [DRAIN], gang=False)  # type: ignore[arg-type]
    assert times(run, Kind.FAIL) == [10, 10, 10]
    assert {line[2][-2:] for line in seen(run, Kind.START)[3:]} == {"n1"}


def test_a_budget_of_one_lets_one_go_when_the_one_before_is_back() -> None:
    """Both nodes are drained; the third is busy until 40, so that t0 is away until then, and t1 until t0 is done."""
    tasks = [task("x", 4, 40), *bag(2, 50, 4)]
    both = fault(Fault.DRAIN, 10, 500, "n1", "n2")
    run = play(tasks, [both], Operation(budgets=(Budget("bag", 1),)), gang=False)  # type: ignore[arg-type]
    assert seen(run, Kind.FAIL, Kind.REFUSE, Kind.START)[3:] == [
        (10, "FAIL", "t0@n1", "DRAINED"),
        (10, "REFUSE", "t1@n2", "DRAINED"),
        (40, "START", "t0@n0"),
        (40, "FAIL", "t1@n2", "DRAINED"),
        (90, "START", "t1@n0"),
    ]


def test_a_budget_of_none_forbids_all_drains() -> None:
    run = play(bag(2), [DRAIN], Operation(budgets=(Budget("*", 0),)), gang=False)  # type: ignore[arg-type]
    assert times(run, Kind.FAIL) == []
    assert times(run, Kind.END) == [50, 50]


def test_a_gang_larger_than_the_budget_stays() -> None:
    run = play(bag(3), [DRAIN], Operation(budgets=(Budget("bag", 2),)))  # type: ignore[arg-type]
    assert times(run, Kind.FAIL) == []
    run = play(bag(3), [DRAIN], Operation(budgets=(Budget("bag", 3),)))  # type: ignore[arg-type]
    assert len(times(run, Kind.FAIL)) == 3


def test_who_is_lost_counts_against_the_budget_too() -> None:
    faults = [crash(5, 100, "n1"), fault(Fault.DRAIN, 6, 80, "n0")]
    run = play(bag(2, 50, 4), faults, Operation(budgets=(Budget("bag", 1),)), gang=False, cluster=nodes(4, 4))  # type: ignore[arg-type]
    assert times(run, Kind.FAIL, "t0") == []


def test_a_drained_node_takes_no_new_work_until_it_is_opened() -> None:
    run = play([task("a", 4, 5, at=20)], [DRAIN], cluster=nodes(4))
    assert times(run, Kind.START) == [110]


def test_two_drains_and_a_cordon_of_a_node_are_over_when_the_last_is() -> None:
    faults = [DRAIN, fault(Fault.DRAIN, 20, 10, "n0"), fault(Fault.CORDON, 50, 100, "n0")]
    run = play([task("a", 4, 5, at=20)], faults, cluster=nodes(4))
    assert times(run, Kind.START) == [150]


def test_tasks_that_hold_places_go_as_well() -> None:
    tasks = [task("a", 4, 10, job="j"), task("b", 4, 10, job="j"), task("x", 4, 50)]
    run = play([tasks[2], *tasks[:2]], [DRAIN], cluster=nodes(4, 4), gang=False)
    assert seen(run, Kind.FAIL)[0] == (10, "FAIL", "x@n0", "DRAINED")
    assert list(run.outcome.state) == [State.DONE] * 3


def test_a_stateful_task_on_a_node_that_is_cut_off_is_not_drained() -> None:
    stay = Operation(orphans="wait", eviction=Eviction(after_ns=NEVER))
    run = play([task("t", 4, 100)], [part(5, 30, "n0"), DRAIN], stay)
    assert seen(run, Kind.FAIL, Kind.COPY) == [(35, "FAIL", "t@n0", "DRAINED")]
