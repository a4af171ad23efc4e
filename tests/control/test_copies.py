"""Attempts that do not count: orphans behind a partition, and second copies of slow tasks."""

from gnomon.api import NEVER, Kind, Run, State
from gnomon.model.fault import Fault
from gnomon.model.operation import Eviction, Heartbeat, Operation, Speculation
from gnomon.model.recovery import Backoff, Recovery, Retry
from tests.builders import S, amount, nodes, task
from tests.control.reading import crash, fault, part, play, seen, times, values

LATE = Eviction(after_ns=20 * S)
STORY = (Kind.START, Kind.FAIL, Kind.COPY, Kind.COPY_END, Kind.END)
SPECULATE = Operation(speculation=Speculation(S, 15_000, 5_000))


# ------------------------------------------------------------------ orphans


def test_without_a_fence_a_task_that_was_replaced_runs_twice() -> None:
    run = play([task("t", 4, 100)], [part(10, 500, "n0")], Operation(eviction=LATE))
    assert seen(run, *STORY) == [
        (0, "START", "t@n0"),
        (30, "FAIL", "t@n0", "NODE"),
        (30, "COPY", "t@n0", "ORPHANED"),
        (30, "START", "t@n1"),
        (100, "COPY_END", "t@n0", "FINISHED"),
        (130, "END", "t@n1"),
    ]
    assert values(run, Kind.COPY_END) == [100 * S]


def test_a_node_that_fences_itself_in_time_leaves_no_copy() -> None:
    operation = Operation(eviction=LATE, fence_ns=15 * S)
    run = play([task("t", 4, 100)], [part(10, 500, "n0")], operation)
    assert seen(run, *STORY) == [
        (0, "START", "t@n0"),
        (30, "FAIL", "t@n0", "NODE"),
        (30, "START", "t@n1"),
        (130, "END", "t@n1"),
    ]
    assert values(run, Kind.FAIL) == [25 * S]  # it had stopped at 25


def test_a_node_that_fences_itself_late_stops_its_copy_then() -> None:
    operation = Operation(eviction=LATE, fence_ns=50 * S)
    run = play([task("t", 4, 100)], [part(10, 500, "n0")], operation)
    assert seen(run, Kind.COPY_END) == [(60, "COPY_END", "t@n0", "FENCED")]


def test_a_fence_that_is_not_reached_does_nothing() -> None:
    run = play([task("t", 4, 100)], [part(10, 10, "n0")], Operation(eviction=LATE, fence_ns=15 * S))
    assert seen(run, *STORY) == [(0, "START", "t@n0"), (100, "END", "t@n0")]


def test_the_command_to_stop_an_orphan_takes_its_time() -> None:
    operation = Operation(message_ns=2 * S)
    run = play([task("t", 4, 100)], [part(10, 30, "n0")], operation)
    assert seen(run, Kind.COPY_END) == [(42, "COPY_END", "t@n0", "FENCED")]


def test_the_place_of_an_orphan_is_not_free() -> None:
    run = play(
        [task("t", 4, 100), task("u", 4, 5, at=45)],
        [part(10, 30, "n0")],
        Operation(message_ns=20 * S),
        cluster=nodes(4, 4),
    )
    assert times(run, Kind.START, "u") == [60]


def test_an_orphan_dies_with_its_node() -> None:
    run = play([task("t", 4, 100)], [part(10, 500, "n0"), crash(40, 10, "n0")])
    assert seen(run, Kind.COPY_END) == [(40, "COPY_END", "t@n0", "NODE")]


def test_a_stateful_task_is_never_doubled() -> None:
    run = play([task("t", 4, 100)], [part(10, 50, "n0")], Operation(eviction=LATE, orphans="wait"))
    stopped_and_replaced = [(60, "FAIL", "t@n0", "NODE"), (60, "START", "t@n0"), (160, "END", "t@n0")]
    assert seen(run, *STORY) == [(0, "START", "t@n0"), *stopped_and_replaced]


def test_a_stateful_task_that_was_not_given_up_goes_on() -> None:
    run = play([task("t", 4, 100)], [part(10, 2, "n0")], Operation(eviction=LATE, orphans="wait"))
    assert seen(run, *STORY) == [(0, "START", "t@n0"), (100, "END", "t@n0")]


def test_a_stateful_task_is_replaced_when_it_is_known_to_have_stopped() -> None:
    run = play([task("t", 4, 100)], [crash(10, 50, "n0")], Operation(orphans="wait"))
    assert seen(run, *STORY)[1:3] == [(60, "FAIL", "t@n0", "NODE"), (60, "START", "t@n0")]


def test_an_end_behind_a_partition_is_heard_of_when_it_is_over() -> None:
    run = play([task("t", 4, 30)], [part(10, 50, "n0")], Operation(eviction=Eviction(after_ns=NEVER)))
    assert times(run, Kind.END) == [60]


def test_what_failed_by_itself_behind_a_partition_failed_now() -> None:
    doomed = fault(Fault.FAIL, 0, NEVER, "task/t", amount=10_000)
    run = play([task("t", 4, 30)], [doomed, part(1, 59, "n0")], Operation(eviction=Eviction(after_ns=NEVER)))
    assert seen(run, Kind.FAIL) == [(60, "FAIL", "t@n0", "EXIT")]


def test_a_start_that_never_reached_its_node_leaves_no_orphan() -> None:
    operation = Operation(eviction=LATE, detection=Heartbeat(grace_ns=5 * S))
    run = play([task("t", 4, 50, at=12)], [part(10, 100, "n0")], operation)
    assert seen(run, *STORY) == [
        (12, "START", "t@n0"),
        (35, "FAIL", "t@n0", "NODE"),
        (35, "START", "t@n1"),
        (85, "END", "t@n1"),
    ]


# ------------------------------------------------------------------ second copies


def slow_bag(*faults: object, operation: Operation = SPECULATE, **facts: object) -> Run:
    """Four tasks of 10 s of one job, one a node; the first node goes at a tenth of its speed from the beginning. A
    fifth node is free."""
    slow = fault(Fault.SLOW, 0, NEVER, "n0", amount=1_000)
    tasks = [task(f"t{i}", 4, 10, job="bag", **facts) for i in range(4)]
    return play(tasks, [slow, *faults], operation, cluster=nodes(4, 4, 4, 4, 4), gang=False)


def test_a_slow_task_gets_a_copy_and_the_first_result_wins() -> None:
    run = slow_bag()  # the others were done at 10: whoever has run for more than 15 s is slow
    assert seen(run, *STORY)[7:] == [
        (16, "COPY", "t0@n1", "SPECULATIVE"),
        (26, "COPY_END", "t0@n1", "WON"),
        (26, "END", "t0@n0"),
    ]
    assert values(run, Kind.COPY_END) == [10 * S]


def test_a_copy_that_is_not_first_is_stopped() -> None:
    run = slow_bag(fault(Fault.SLOW, 16, NEVER, "n1", amount=100))
    assert seen(run, Kind.COPY_END, Kind.END)[3:] == [(100, "END", "t0@n0"), (100, "COPY_END", "t0@n1", "BEATEN")]
    assert values(run, Kind.COPY_END) == [84 * S]


def test_a_copy_takes_over_when_the_first_attempt_fails() -> None:
    run = slow_bag(fault(Fault.KILL, 20, 0, "task/t0"))
    assert seen(run, *STORY)[7:] == [
        (16, "COPY", "t0@n1", "SPECULATIVE"),
        (20, "FAIL", "t0@n0", "KILLED"),
        (20, "COPY_END", "t0@n1"),
        (20, "START", "t0@n1"),
        (26, "END", "t0@n1"),
    ]


def test_one_that_took_over_keeps_to_the_limit_of_time() -> None:
    run = slow_bag(fault(Fault.SLOW, 17, NEVER, "n1", amount=100), fault(Fault.KILL, 20, 0, "task/t0"), estimate=50)
    assert times(run, Kind.KILL, "t0") == [70]


def test_a_copy_on_a_busy_node_ends_too() -> None:
    run = slow_bag(fault(Fault.SLOW, 1, NEVER, "n1", amount=9_000))
    assert seen(run, Kind.COPY_END)[0][3] == "WON"


def test_a_copy_goes_with_its_node() -> None:
    run = slow_bag(crash(20, 500, "n1"))
    assert seen(run, Kind.COPY, Kind.COPY_END)[:2] == [
        (16, "COPY", "t0@n1", "SPECULATIVE"),
        (20, "COPY_END", "t0@n1", "NODE"),
    ]


def test_without_room_elsewhere_there_is_no_copy() -> None:
    slow = fault(Fault.SLOW, 0, NEVER, "n0", amount=1_000)
    tasks = [*(task(f"t{i}", 4, 10, job="bag") for i in range(2)), task("u", 4, 200, at=10)]
    run = play(tasks, [slow], SPECULATE, cluster=nodes(4, 4), gang=False)
    assert times(run, Kind.COPY) == []


def test_a_gang_fails_as_a_whole_whatever_copies_there_are() -> None:
    slow = fault(Fault.SLOW, 0, 30, "n0", amount=1_000)
    tasks = [task(f"t{i}", 4, 10, job="bag") for i in range(2)]
    run = play(tasks, [slow, fault(Fault.KILL, 20, 0, "task/t0")], SPECULATE, cluster=nodes(4, 4, 4))
    assert list(run.outcome.state) == [State.DONE, State.DONE]
    assert seen(run, Kind.UNDO, Kind.COPY_END)[:2] == [
        (20, "UNDO", "t1", "PEER"),
        (20, "COPY_END", "t0@n1", "BEATEN"),
    ]


def test_a_copy_whose_node_is_cut_off_wins_when_it_is_heard_of() -> None:
    stay = Operation(speculation=SPECULATE.speculation, eviction=Eviction(after_ns=NEVER))
    run = slow_bag(part(20, 20, "n1"), operation=stay)
    assert seen(run, Kind.COPY_END, Kind.END)[3:] == [(40, "COPY_END", "t0@n1", "WON"), (40, "END", "t0@n0")]


def test_the_result_of_a_copy_is_on_its_node() -> None:
    slow = fault(Fault.SLOW, 0, NEVER, "n0", amount=1_000)
    tasks = [task(f"t{i}", 4, 10, job="bag") for i in range(2)]
    tasks += [task("long", 1, 100), task("reader", 1, 5, needs=("t0", "long"))]
    run = play(tasks, [slow, crash(50, 10, "n1")], SPECULATE, cluster=nodes(4, 4, 4), gang=False)
    assert seen(run, Kind.UNDO) == [(50, "UNDO", "t0@n1", "NODE")]


def test_room_that_a_retry_keeps_is_not_withheld_twice() -> None:
    in_place = Recovery((Retry(("drained", "killed"), 5, Backoff(5 * S), in_place=True),))
    cluster = nodes(amount(4), amount(4))
    faults = [part(10, 100, "n0"), fault(Fault.DRAIN, 15, 10, "n0")]
    run = play([task("t", 4, 50, recovery=in_place)], faults, Operation(eviction=LATE), cluster=cluster)
    assert run.outcome.state[0] == State.DONE


def test_a_task_that_begins_late_on_a_node_that_stands_still_keeps_to_its_limit() -> None:
    """The command to start it arrives with the end of the partition, and nothing goes on then."""
    stay = Operation(eviction=Eviction(after_ns=NEVER), detection=Heartbeat(grace_ns=100 * S))
    faults = [part(10, 20, "n0"), fault(Fault.SLOW, 11, NEVER, "n0", amount=0)]
    run = play([task("t", 4, 50, at=12, estimate=60)], faults, stay)
    assert times(run, Kind.KILL) == [72]


def test_a_stateful_gang_is_not_doubled_when_another_of_its_tasks_is_lost() -> None:
    tasks = [task(f"g{i}", 4, 100, job="g") for i in range(2)]
    stay = Operation(orphans="wait", eviction=Eviction(after_ns=NEVER), message_ns=2 * S)
    run = play(tasks, [part(10, 50, "n0"), fault(Fault.KILL, 20, 0, "task/g1")], stay)
    assert seen(run, *STORY)[2:] == [
        (20, "FAIL", "g1@n1", "KILLED"),
        (20, "FAIL", "g0@n0", "PEER"),
        (20, "COPY", "g0@n0", "ORPHANED"),
        (62, "COPY_END", "g0@n0", "FENCED"),
        (62, "START", "g0@n0"),
        (62, "START", "g1@n1"),
        (162, "END", "g0@n0"),
        (162, "END", "g1@n1"),
    ]
