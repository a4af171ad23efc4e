"""Tasks that read results of others, and what is made again when results are lost with a node."""

from gnomon.api import Kind, State
from gnomon.model.fault import Fault
from gnomon.model.resources import NEVER
from tests.builders import nodes, task
from tests.control.reading import crash, fault, play, seen, times

STORY = (Kind.START, Kind.UNDO, Kind.END, Kind.FAIL)


def test_a_reader_is_queued_when_all_that_it_reads_is_there() -> None:
    run = play([task("a", 1, 10), task("b", 1, 20), task("c", 1, 5, needs=("a", "b"))])
    assert seen(run, Kind.WAIT) == [(0, "WAIT", "c", "NEEDS")]
    assert times(run, Kind.START, "c") == [20]


def test_a_reader_that_comes_late_does_not_wait() -> None:
    run = play([task("a", 1, 10), task("c", 1, 5, at=30, needs=("a",))])
    assert seen(run, Kind.WAIT) == []
    assert times(run, Kind.START, "c") == [30]


def test_readers_of_a_task_that_is_never_done_wait_for_ever() -> None:
    doomed = fault(Fault.FAIL, 0, NEVER, "task/a", amount=10_000)
    run = play([task("a", 1, 10), task("c", 1, 5, needs=("a",))], [doomed])
    assert run.outcome.state[1] == State.WAITING


def test_a_lost_result_that_somebody_reads_is_made_again() -> None:
    tasks = [task("a", 4, 10), task("b", 4, 50), task("c", 1, 5, needs=("a", "b"))]
    run = play(tasks, [crash(20, 100, "n0")])
    assert seen(run, *STORY)[2:] == [
        (10, "END", "a@n0"),
        (20, "UNDO", "a@n0", "NODE"),
        (20, "START", "a@n2"),
        (30, "END", "a@n2"),
        (50, "END", "b@n1"),
        (50, "START", "c@n1"),
        (55, "END", "c@n1"),
    ]


def test_a_lost_result_that_nobody_reads_any_more_is_not() -> None:
    tasks = [task("a", 4, 10), task("c", 1, 5, needs=("a",)), task("x", 1, 60)]
    assert times(play(tasks, [crash(20, 100, "n0")]), Kind.UNDO) == []


def test_a_chain_is_made_again_from_its_first_lost_result() -> None:
    tasks = [task("a", 1, 10), task("b", 1, 10, needs=("a",)), task("x", 4, 40), task("c", 1, 5, needs=("b", "x"))]
    run = play(tasks, [crash(25, 100, "n0")])  # a and b are there
    assert [line[2] for line in seen(run, Kind.UNDO)] == ["a@n0", "b@n0"]
    assert times(run, Kind.END, "c") == [50]


def test_what_was_lost_when_nobody_needed_it_is_made_again_when_somebody_does() -> None:
    """b reads a. a's node goes when b is done, and nobody needs a; then b's goes, whose reader c is still to come."""
    tasks = [task("a", 4, 10), task("b", 1, 10, needs=("a",)), task("c", 1, 5, needs=("b",), at=100)]
    faults = [fault(Fault.CORDON, 5, 14, "n0"), crash(30, 1_000, "n0"), crash(40, 1_000, "n1")]
    run = play(tasks, faults)
    assert [line[:3] for line in seen(run, Kind.UNDO)] == [(40, "UNDO", "a@n0"), (40, "UNDO", "b@n1")]
    assert times(run, Kind.END, "c") == [105]


def test_a_reader_that_starts_again_finds_its_inputs_or_has_them_made() -> None:
    """c runs on n1 when a, which it has read, is lost with n0; when c itself is lost, a has to be made again."""
    tasks = [task("a", 4, 10), task("c", 4, 100, needs=("a",))]
    faults = [fault(Fault.CORDON, 5, 15, "n0"), crash(30, 1_000, "n0"), fault(Fault.KILL, 50, 0, "task/c")]
    run = play(tasks, faults)
    assert seen(run, Kind.UNDO) == [(50, "UNDO", "a@n0", "NODE")]
    assert times(run, Kind.START, "c") == [10, 60]


def test_a_gang_waits_for_all_that_its_tasks_read() -> None:
    tasks = [task("a", 1, 10), task("b", 1, 20)]
    tasks += [
        task("g0", 1, 5, job="g", needs=("a",)),
        task("g1", 1, 5, job="g", needs=("b",)),
        task("g2", 1, 5, job="g"),
    ]
    run = play(tasks)
    assert times(run, Kind.START)[2:] == [20, 20, 20]


def test_a_gang_makes_a_lost_result_again_as_a_whole() -> None:
    tasks = [
        task("g0", 4, 10, job="g"),
        task("g1", 4, 10, job="g"),
        task("x", 4, 50),
        task("c", 1, 5, needs=("g0", "x")),
    ]
    run = play(tasks, [crash(20, 15, "n0")])
    assert [line[1:3] for line in seen(run, Kind.UNDO)] == [("UNDO", "g0@n0"), ("UNDO", "g1")]
    assert times(run, Kind.START, "g1") == [0, 35]


def test_a_reader_that_is_too_large_is_refused() -> None:
    run = play([task("a", 1, 10), task("c", 9, 5, needs=("a",))])
    assert seen(run, Kind.REJECT) == [(0, "REJECT", "c", "TOO_LARGE")]


def test_a_reader_that_was_cancelled_does_not_come_back() -> None:
    run = play([task("a", 1, 10), task("c", 1, 5, needs=("a",))], [fault(Fault.CANCEL, 5, 0, "task/c")])
    assert times(run, Kind.START, "c") == []
    assert run.outcome.state[1] == State.KILLED


def test_a_node_that_reboots_keeps_its_results() -> None:
    tasks = [task("a", 4, 10), task("b", 4, 50), task("c", 1, 5, needs=("a", "b"))]
    run = play(tasks, [fault(Fault.REBOOT, 20, 5, "n0")], cluster=nodes(4, 4))
    assert times(run, Kind.END, "c") == [55]
