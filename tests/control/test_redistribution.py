"""What follows a failed attempt: retries, delays, in place or elsewhere, whole gangs."""

import pytest

from gnomon.api import NEVER, Kind, State, Task, Tenant
from gnomon.model.fault import Fault
from gnomon.model.operation import Eviction, Operation
from gnomon.model.recovery import CAUSES, Backoff, Checkpoint, Recovery, Retry
from tests.builders import S, amount, nodes, task
from tests.control.reading import again, crash, fault, part, play, seen, times, values

ALL_FAIL = fault(Fault.FAIL, 0, NEVER, "task/*", amount=10_000)


def killed(*seconds: float, name: str = "t") -> list[object]:
    """The process of a task is killed at these times."""
    return [fault(Fault.KILL, second, 0, f"task/{name}") for second in seconds]


# ------------------------------------------------------------------ how often


def test_by_default_what_is_its_own_doing_is_not_tried_again() -> None:
    run = play([task("t", 1, 10)], [ALL_FAIL])
    assert [line[1:] for line in seen(run, Kind.FAIL, Kind.QUEUE)] == [("FAIL", "t@n0", "EXIT")]
    (row,) = run.log.details
    assert run.log.details[row] == {"attempt": 1, "retries": 0, "final": 1}
    assert run.outcome.state[0] == State.FAILED


@pytest.mark.parametrize("limit", [0, 1, 3])
def test_there_are_as_many_retries_as_the_limit_says(limit: int) -> None:
    run = play([task("t", 1, 10, recovery=again(limit))], [ALL_FAIL])
    assert len(times(run, Kind.START)) == limit + 1
    assert [facts.get("final", 0) for facts in run.log.details.values() if "attempt" in facts] == [0] * limit + [1]


def test_causes_are_counted_apart() -> None:
    recovery = Recovery((Retry(("killed",), 1), Retry(("node",), 1)))
    faults = [*killed(10, 30), crash(20, 1, "n0")]
    run = play([task("t", 1, 100, recovery=recovery)], faults)
    assert seen(run, Kind.FAIL) == [
        (10, "FAIL", "t@n0", "KILLED"),
        (20, "FAIL", "t@n0", "NODE"),
        (30, "FAIL", "t@n1", "KILLED"),
    ]
    assert run.outcome.state[0] == State.FAILED


def test_a_task_that_is_not_to_be_repeated_fails_with_its_node() -> None:
    run = play([task("t", 1, 100, recovery=Recovery(()))], [crash(20, 1, "n0")])
    assert run.outcome.state[0] == State.FAILED


# ------------------------------------------------------------------ when and where


def test_restarts_in_place_wait_0_10_20_40_s_and_so_on() -> None:
    recovery = again(9, "killed", first=10, factor=2, free=1, in_place=True)
    begun = [0, 10, 30, 60, 110]  # each killed 10 s after it began
    run = play([task("t", 1, 1_000, recovery=recovery)], killed(10, 20, 40, 70, 120))
    assert times(run, Kind.START) == [0, 10, 30, 60, 110, 200]
    assert [after - before for before, after in zip([10, 20, 40, 70, 120], [*begun[1:], 200], strict=True)] == [
        *(0, 10, 20, 40, 80),
    ]
    assert {line[2] for line in seen(run, Kind.START)} == {"t@n0"}


def test_its_room_is_kept_for_who_starts_again_in_place() -> None:
    recovery = again(9, "killed", first=50, in_place=True)
    run = play([task("t", 4, 100, recovery=recovery), task("u", 4, 10, at=20)], killed(10), cluster=nodes(4))
    assert times(run, Kind.START, "u") == [160]


def test_whoever_is_queued_again_keeps_no_room() -> None:
    recovery = again(9, "killed", first=50)
    run = play([task("t", 4, 100, recovery=recovery), task("u", 4, 10, at=20)], killed(10), cluster=nodes(4))
    assert times(run, Kind.START) == [0, 20, 60]


def test_a_requeue_after_121_s() -> None:
    recovery = again(9, "node", first=121)
    run = play([task("t", 4, 100, recovery=recovery)], [crash(10, 5, "n0")])
    assert values(run, Kind.RETRY) == [131 * S]
    assert times(run, Kind.START) == [0, 131]


def test_a_node_that_is_lost_meanwhile_has_no_room_for_a_restart() -> None:
    recovery = again(9, "killed", first=50, in_place=True)
    run = play([task("t", 4, 100, recovery=recovery)], [*killed(10), crash(20, 500, "n0")])
    assert seen(run, Kind.START) == [(0, "START", "t@n0"), (60, "START", "t@n1")]


@pytest.mark.parametrize("kind", [Fault.DRAIN, Fault.DEVICE])
def test_after_a_drain_or_with_a_lost_device_there_is_no_place_to_stay(kind: Fault) -> None:
    everything = Recovery((Retry(CAUSES, 5, in_place=True),))
    cluster = nodes(amount(4, gpus=1), amount(4, gpus=1))
    run = play([task("t", 1, 100, gpus=1, recovery=everything)], [fault(kind, 10, 500, "n0")], cluster=cluster)
    assert seen(run, Kind.START) == [(0, "START", "t@n0"), (10, "START", "t@n1")]


def test_a_job_avoids_nodes_on_which_it_failed_too_often() -> None:
    recovery = again(9, "killed", exclude=2)
    run = play([task("t", 1, 100, recovery=recovery)], killed(10, 20, 30, 40))
    assert [line[2] for line in seen(run, Kind.START)] == ["t@n0", "t@n0", "t@n1", "t@n1", "t@n2"]


def test_nowhere_left_to_go() -> None:
    recovery = again(9, "killed", exclude=1)
    run = play([task("t", 1, 100, recovery=recovery)], killed(10), cluster=nodes(4))
    assert seen(run, Kind.WAIT) == [(10, "WAIT", "t", "RESOURCES")]


def test_who_comes_back_stands_at_his_old_place_in_the_queue() -> None:
    tasks = [task("a", 4, 100), task("b", 4, 10, at=5), task("c", 4, 10, at=6)]
    run = play(tasks, [fault(Fault.KILL, 20, 0, "task/a")], cluster=nodes(4))
    assert [line[2] for line in seen(run, Kind.START)] == ["a@n0", "a@n0", "b@n0", "c@n0"]


# ------------------------------------------------------------------ what is saved


def test_no_more_is_lost_than_since_the_last_checkpoint() -> None:
    recovery = again(9, "killed", checkpoint=Checkpoint(30 * S))
    run = play([task("t", 1, 100, recovery=recovery)], killed(70))
    assert values(run, Kind.FAIL) == [10 * S]
    assert times(run, Kind.END) == [110]


def test_checkpoints_and_restarts_cost_time() -> None:
    recovery = again(9, "killed", checkpoint=Checkpoint(30 * S, cost_ns=2 * S, restart_ns=5 * S))
    run = play([task("t", 1, 100, recovery=recovery)], killed(70))
    assert times(run, Kind.END) == [70 + 5 + 40 + 2]  # 60 are saved, at 64


def test_without_checkpoints_all_is_lost() -> None:
    run = play([task("t", 1, 100)], killed(70))
    assert values(run, Kind.FAIL) == [70 * S]
    assert times(run, Kind.END) == [170]


def test_a_task_that_gives_way_keeps_its_checkpoint() -> None:
    recovery = again(0, checkpoint=Checkpoint(30 * S))
    tasks = [task("low", 4, 100, recovery=recovery), task("high", 4, 10, at=70, priority=1)]
    run = play(tasks, cluster=nodes(4), policy="priority", preempt=True)
    assert times(run, Kind.PREEMPT) == [70]
    assert times(run, Kind.END, "low") == [70 + 10 + 40]


# ------------------------------------------------------------------ gangs


def test_a_gang_goes_as_a_whole() -> None:
    tasks = [task(f"g{i}", 4, 100, job="g") for i in range(2)]
    run = play(tasks, [crash(10, 500, "n0")])
    assert seen(run, Kind.FAIL, Kind.START)[2:] == [
        (10, "FAIL", "g0@n0", "NODE"),
        (10, "FAIL", "g1@n1", "PEER"),
        (10, "START", "g0@n1"),
        (10, "START", "g1@n2"),
    ]


def test_what_a_task_of_a_gang_had_done_is_void_when_another_is_lost() -> None:
    tasks = [task("g0", 4, 100, job="g"), task("g1", 4, 5, job="g")]
    run = play(tasks, [crash(10, 500, "n0")])
    assert seen(run, Kind.UNDO) == [(10, "UNDO", "g1", "PEER")]
    assert times(run, Kind.END) == [5, 15, 110]


def test_two_of_a_gang_that_fail_in_one_instant_come_back_once() -> None:
    run = play([task(f"g{i}", 1, 1e-9, job="g", recovery=again(2)) for i in range(2)], [ALL_FAIL])
    assert [len(times(run, Kind.START, name)) for name in ("g0", "g1")] == [3, 3]
    assert list(run.outcome.state) == [State.FAILED, State.FAILED]


def test_a_gang_of_which_one_was_cancelled_does_not_start_again() -> None:
    tasks = [task(f"g{i}", 4, 100, job="g") for i in range(2)]
    run = play(tasks, [fault(Fault.CANCEL, 10, 0, "task/g0"), fault(Fault.KILL, 20, 0, "task/g1")])
    assert list(run.outcome.state) == [State.KILLED, State.FAILED]


# ------------------------------------------------------------------ orphans


def test_a_node_that_is_cut_off_too_long_has_its_tasks_replaced() -> None:
    run = play([task("t", 4, 100)], [part(10, 50, "n0")])
    assert seen(run, Kind.START, Kind.COPY, Kind.COPY_END, Kind.END) == [
        (0, "START", "t@n0"),
        (10, "COPY", "t@n0", "ORPHANED"),
        (10, "START", "t@n1"),
        (60, "COPY_END", "t@n0", "FENCED"),
        (110, "END", "t@n1"),
    ]


def test_work_that_a_silent_node_finished_is_not_counted_for_another_attempt() -> None:
    later = Operation(eviction=Eviction(after_ns=50 * S))
    run = play([task("t", 4, 30)], [part(10, 100, "n0")], later)
    assert times(run, Kind.START) == [0, 60]
    assert times(run, Kind.END) == [90]


def test_a_tenant_is_charged_for_whom_he_runs_and_not_for_whom_he_lost() -> None:
    tenants = (Tenant("ann", max_running=1),)
    tasks: list[Task] = [task("a", 1, 100, user="ann"), task("b", 1, 10, at=1, user="ann")]
    run = play(tasks, [fault(Fault.KILL, 20, 0, "task/a")], tenants=tenants)
    assert times(run, Kind.START, "b") == [120]


def test_a_delay_grows_anew_after_a_long_run() -> None:
    recovery = Recovery((Retry(("killed",), 9, Backoff(10 * S, 20_000, reset_ns=100 * S)),))
    run = play([task("t", 1, 1_000, recovery=recovery)], killed(10, 30, 250))
    assert times(run, Kind.START) == [0, 20, 50, 260]


def test_who_starts_again_in_place_keeps_to_the_limit_of_his_tenant() -> None:
    tenants = (Tenant("ann", max_running=1),)
    recovery = again(9, "killed", first=20, in_place=True)
    tasks = [task("a", 1, 50, user="ann", recovery=recovery), task("b", 1, 50, at=1, user="ann")]
    run = play(tasks, killed(10, name="a"), tenants=tenants)
    assert times(run, Kind.START) == [0, 10, 60]
