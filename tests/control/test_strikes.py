"""What each kind of fault does, when it begins and when it is over, and in the very instant of something else."""

import pytest

from gnomon.api import NEVER, Kind, Reservation, State
from gnomon.model.fault import Fault
from gnomon.model.operation import Eviction, Heartbeat, Operation
from gnomon.model.recovery import Backoff, Recovery, Retry
from tests.builders import S, amount, nodes, task
from tests.control.reading import again, crash, fault, part, play, seen, times, values

DEVICES = nodes(amount(4, gpus=2), amount(4, gpus=2))
LATE = Operation(eviction=Eviction(after_ns=30 * S))


# ------------------------------------------------------------------ nodes that stop


def test_a_crash_names_itself() -> None:
    run = play([task("t", 1, 50)], [crash(10, 5, "n0")])
    row = int((run.log.kind == Kind.FAULT).nonzero()[0][0])
    assert run.log.details[row] == {"kind": "crash", "targets": "n0", "for_ns": 5 * S}
    assert seen(run, Kind.FAULT, Kind.HEAL) == [(10, "FAULT", "@n0"), (15, "HEAL", "@n0")]


def test_a_crash_that_is_over_at_once_loses_what_ran_there() -> None:
    run = play([task("t", 1, 50)], [crash(10, 0, "n0")], LATE)
    assert seen(run, Kind.FAIL) == [(10, "FAIL", "t@n0", "NODE")]
    assert times(run, Kind.END) == [60]


def test_a_task_that_ends_in_the_instant_of_the_crash_is_done() -> None:
    run = play([task("t", 1, 10)], [crash(10, 5, "n0")])
    assert seen(run, Kind.FAIL, Kind.END) == [(10, "END", "t@n0")]


def test_a_task_that_comes_in_the_instant_of_the_crash_goes_elsewhere() -> None:
    run = play([task("t", 1, 10, at=10)], [crash(10, 5, "n0")])
    assert seen(run, Kind.START) == [(10, "START", "t@n1")]


def test_a_task_that_starts_on_a_node_that_is_gone_is_lost_when_that_is_noticed() -> None:
    run = play([task("t", 1, 10, at=20)], [crash(10, 500, "n0")], Operation(detection=Heartbeat(grace_ns=40 * S)))
    assert seen(run, Kind.START, Kind.FAIL, Kind.END) == [
        (20, "START", "t@n0"),
        (50, "FAIL", "t@n0", "NODE"),
        (50, "START", "t@n1"),
        (60, "END", "t@n1"),
    ]


def test_a_node_that_dies_while_it_is_cut_off_is_lost_once() -> None:
    run = play([task("t", 1, 100)], [part(10, 50, "n0"), crash(20, 10, "n0")], LATE)
    assert seen(run, Kind.FAIL, Kind.COPY) == [(40, "FAIL", "t@n0", "NODE")]
    assert values(run, Kind.FAIL) == [20 * S]


def test_a_node_is_cut_off_until_the_last_partition_is_over() -> None:
    faults = [part(10, 30, "n0"), part(20, 40, "n0", others=("control/0",))]
    run = play([task("t", 1, 30)], faults, Operation(eviction=Eviction(after_ns=NEVER)))
    assert times(run, Kind.END) == [60]


# ------------------------------------------------------------------ speed


def test_a_slow_node_runs_at_a_part_of_its_speed() -> None:
    run = play([task("t", 1, 50)], [fault(Fault.SLOW, 10, 20, "n0", amount=5_000)])
    assert times(run, Kind.END) == [60]


def test_of_two_slow_faults_the_worse_counts() -> None:
    faults = [fault(Fault.SLOW, 10, 40, "n0", amount=5_000), fault(Fault.SLOW, 20, 10, "n0", amount=1_000)]
    run = play([task("t", 1, 100)], faults)
    assert times(run, Kind.END) == [100 + 30 * 0.5 + 10 * 0.9]


def test_a_node_that_stands_still_goes_on_afterwards() -> None:
    run = play([task("t", 1, 50)], [fault(Fault.SLOW, 10, 20, "n0", amount=0)])
    assert times(run, Kind.END) == [70]


def test_a_slow_task_is_killed_at_its_limit() -> None:
    run = play([task("t", 1, 50, estimate=60)], [fault(Fault.SLOW, 10, 200, "n0", amount=1_000)])
    assert times(run, Kind.KILL) == [60]


@pytest.mark.parametrize("kind", [Fault.SLOW, Fault.PARTITION, Fault.CORDON])
def test_a_task_that_reaches_its_limit_is_killed_there_whatever_was_looked_at(kind: Fault) -> None:
    """Its node was looked at for a while, in which nothing became of it."""
    amount_of = {"amount": 10_000} if kind is Fault.SLOW else {}
    stay = Operation(eviction=Eviction(after_ns=NEVER))
    run = play([task("t", 1, 100, estimate=50)], [fault(kind, 10, 5, "n0", **amount_of)], stay)
    assert seen(run, Kind.KILL, Kind.END) == [(50, "KILL", "t@n0", "AT_ESTIMATE")]


def test_a_slow_fault_that_is_over_at_once_changes_nothing() -> None:
    run = play([task("t", 1, 50)], [fault(Fault.SLOW, 10, 0, "n0", amount=1)])
    assert times(run, Kind.END) == [50]


# ------------------------------------------------------------------ devices


def test_a_lost_device_kills_its_user_and_nobody_else() -> None:
    tasks = [task("a", 1, 50, gpus=1), task("b", 1, 50, gpus=1), task("c", 1, 50)]
    run = play(tasks, [fault(Fault.DEVICE, 10, 100, "n0", amount=0)], cluster=DEVICES)
    assert seen(run, Kind.FAIL) == [(10, "FAIL", "a@n0", "DEVICE")]


def test_nobody_gets_a_lost_device_until_it_is_back() -> None:
    tasks = [task("a", 1, 50, gpus=2), task("b", 1, 50, gpus=2)]
    run = play(tasks, [fault(Fault.DEVICE, 10, 100, "n0", amount=1)], cluster=DEVICES)
    assert times(run, Kind.START, "a") == [0, 50]  # on the other node
    (only,) = nodes(amount(4, gpus=2)).nodes
    run = play(tasks[:1], [fault(Fault.DEVICE, 10, 100, "n0", amount=1)], cluster=nodes(only))
    assert times(run, Kind.START, "a") == [0, 110]


def test_a_device_that_is_lost_twice_is_back_when_both_are_over() -> None:
    faults = [fault(Fault.DEVICE, 10, 20, "n0", amount=0), fault(Fault.DEVICE, 20, 80, "n0", amount=0)]
    run = play([task("a", 1, 50, gpus=2)], faults, cluster=nodes(amount(4, gpus=2)))
    assert times(run, Kind.START) == [0, 100]


def test_room_that_is_kept_on_a_lost_device_is_given_up() -> None:
    in_place = Recovery((Retry(("killed",), 5, Backoff(20 * S), in_place=True),))
    faults = [fault(Fault.KILL, 10, 0, "task/a"), fault(Fault.DEVICE, 15, 100, "n0", amount=0)]
    run = play([task("a", 1, 50, gpus=1, recovery=in_place)], faults, cluster=DEVICES)
    assert seen(run, Kind.START) == [(0, "START", "a@n0"), (30, "START", "a@n0")]
    assert values(run, Kind.START) == [0b01, 0b10]


def test_a_device_that_is_lost_behind_a_partition_is_heard_of_later() -> None:
    faults = [part(10, 50, "n0"), fault(Fault.DEVICE, 20, 100, "n0", amount=0)]
    run = play([task("a", 1, 100, gpus=1)], faults, Operation(eviction=Eviction(after_ns=NEVER)), cluster=DEVICES)
    assert times(run, Kind.FAIL) == [60]
    assert values(run, Kind.FAIL) == [20 * S]


# ------------------------------------------------------------------ processes


def test_a_process_that_is_killed_is_not_the_tasks_own_doing() -> None:
    run = play([task("t", 1, 50)], [fault(Fault.KILL, 10, 0, "task/t")])
    assert times(run, Kind.END) == [60]


def test_who_waits_has_no_process_to_kill() -> None:
    run = play([task("a", 4, 50), task("b", 4, 50)], [fault(Fault.KILL, 10, 0, "task/b")], cluster=nodes(4))
    assert times(run, Kind.FAULT) == []


def test_a_kill_on_a_node_that_is_gone_kills_nobody() -> None:
    run = play([task("t", 1, 100)], [crash(10, 500, "n0"), fault(Fault.KILL, 20, 0, "task/t")], LATE)
    assert seen(run, Kind.FAIL) == [(40, "FAIL", "t@n0", "NODE")]


def test_a_kill_behind_a_partition_is_heard_of_later() -> None:
    stay = Operation(eviction=Eviction(after_ns=NEVER))
    run = play([task("t", 1, 100)], [part(10, 50, "n0"), fault(Fault.KILL, 20, 0, "task/t")], stay)
    assert times(run, Kind.FAIL) == [60]
    assert values(run, Kind.FAIL) == [20 * S]


# ------------------------------------------------------------------ cancel, in every state


def cancelled(second: float, *tasks: object, **facts: object) -> list[State]:
    """What becomes of tasks of which the first is cancelled then."""
    run = play(tasks, [fault(Fault.CANCEL, second, 0, "task/t")], **facts)  # type: ignore[arg-type]
    return [State(int(state)) for state in run.outcome.state]


def test_who_runs_is_cancelled_now() -> None:
    run = play([task("t", 4, 50), task("u", 4, 5)], [fault(Fault.CANCEL, 10, 0, "task/t")], cluster=nodes(4))
    assert seen(run, Kind.CANCEL) == [(10, "CANCEL", "t@n0")]
    assert times(run, Kind.START, "u") == [10]
    cause = run.log.cause[run.log.kind == Kind.CANCEL]
    assert run.log.kind[cause[0]] == Kind.FAULT


def test_who_waits_is_cancelled() -> None:
    assert cancelled(10, task("t", 9, 50), task("u", 4, 20), cluster=nodes(4))[0] is State.REJECTED
    assert cancelled(10, task("t", 4, 50, at=1), task("u", 4, 20), cluster=nodes(4))[0] is State.KILLED


def test_who_holds_a_place_is_cancelled_and_gives_it_back() -> None:
    tasks = [task("t", 4, 50, job="j"), task("x", 4, 20), task("p", 4, 50, job="j")]
    run = play(tasks, [fault(Fault.CANCEL, 10, 0, "task/t")], cluster=nodes(4, 4), gang=False)
    assert run.outcome.state[0] == State.KILLED
    assert seen(run, Kind.START)[1:] == [(10, "START", "p@n0")]


def test_who_waits_for_another_attempt_is_cancelled() -> None:
    t = task("t", 1, 50, recovery=again(5, "killed", first=100))
    run = play([t], [fault(Fault.KILL, 5, 0, "task/t"), fault(Fault.CANCEL, 10, 0, "task/t")])
    assert seen(run, Kind.CANCEL, Kind.QUEUE) == [(10, "CANCEL", "t")]


def test_who_waits_in_his_place_is_cancelled_and_gives_it_back() -> None:
    t = task("t", 4, 50, recovery=again(5, "killed", first=100, in_place=True))
    faults = [fault(Fault.KILL, 5, 0, "task/t"), fault(Fault.CANCEL, 10, 0, "task/t")]
    run = play([t, task("u", 4, 5, at=6)], faults, cluster=nodes(4))
    assert times(run, Kind.START, "u") == [10]


def test_who_has_not_come_yet_is_cancelled_when_he_comes() -> None:
    assert cancelled(10, task("t", 1, 50, at=20)) == [State.KILLED]


def test_who_is_done_is_not_cancelled() -> None:
    assert cancelled(60, task("t", 1, 50), task("u", 1, 100)) == [State.DONE, State.DONE]


def test_who_is_cancelled_in_the_instant_of_his_end_is_done() -> None:
    assert cancelled(50, task("t", 1, 50)) == [State.DONE]


def test_a_cancelled_task_does_not_come_back_with_what_happens_in_the_same_instant() -> None:
    faults = [fault(Fault.CANCEL, 10, 0, "task/t"), crash(10, 5, "n0"), fault(Fault.SLOW, 10, 5, "n0", amount=1)]
    run = play([task("t", 1, 50)], faults)
    assert run.outcome.state[0] == State.KILLED
    assert times(run, Kind.FAIL) == []


def test_a_job_whose_last_task_is_cancelled_goes_on_without_it() -> None:
    tasks = [task("a", 4, 10, job="j"), task("t", 4, 10, job="j"), task("x", 4, 50, priority=1)]
    run = play(tasks, [fault(Fault.CANCEL, 5, 0, "task/t")], cluster=nodes(4, 4), gang=False, policy="priority")
    assert times(run, Kind.START, "a") == [5]


# ------------------------------------------------------------------ windows


def test_a_window_in_which_the_node_is_down() -> None:
    cluster = nodes(4, reservations=(Reservation("w", 20 * S, 40 * S, "n0"),))
    run = play([task("t", 4, 10, at=15)], [crash(30, 20, "n0")], cluster=cluster)
    assert times(run, Kind.START) == [50]
