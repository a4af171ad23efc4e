"""What really goes on on the nodes: who is looked at, how far he is, and when he ends."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.api import NEVER, Kind, Task
from gnomon.model.fault import Failure, Fault
from gnomon.model.operation import Enforcement, Eviction, Heartbeat, Operation, Pressure
from gnomon.model.recovery import Backoff, Recovery, Retry
from tests.builders import GI, S, amount, nodes, task
from tests.control.machine import History
from tests.control.reading import crash, fault, part, play, plot, times

STAY = Operation(eviction=Eviction(after_ns=NEVER))


def at(second: float, tasks: list[Task], *faults: Failure, operation: Operation = STAY) -> History:
    """The world at a time, at which something happens elsewhere."""
    history = History(plot(tasks, [*faults, fault(Fault.CORDON, second, 0, "n2")], operation))
    history.now = round(second * S)
    history.settle()
    return history


# ------------------------------------------------------------------ who is looked at


def test_nobody_is_looked_at_while_nothing_can_become_of_him() -> None:
    history = at(10, [task("t", 1, 50)], fault(Fault.CORDON, 5, 1, "n1"))
    assert history.control._parts.machines.attempts == {}
    assert not history.world.watch_node.any()


@pytest.mark.parametrize(
    "harm", [fault(Fault.SLOW, 5, 10, "n0", amount=10_000), part(5, 10, "n0"), fault(Fault.LEAK, 5, 10, "n0", amount=1)]
)
def test_a_node_is_looked_at_as_long_as_a_fault_is_on(harm: Failure) -> None:
    assert list(at(10, [task("t", 1, 50)], harm).world.watch_node) == [1, 0, 0]
    after = at(20, [task("t", 1, 50)], harm)
    assert list(after.world.watch_node) == [0, 0, 0]
    assert after.control._parts.machines.attempts == {}


def test_whoever_has_lost_time_is_looked_at_to_his_end() -> None:
    slow = fault(Fault.SLOW, 5, 10, "n0", amount=5_000)
    assert list(at(20, [task("t", 1, 50)], slow).world.watch_node) == [1, 0, 0]
    assert list(at(60, [task("t", 1, 50)], slow).world.watch_node) == [0, 0, 0]


def test_a_node_that_may_come_under_pressure_is_always_looked_at() -> None:
    rule = Enforcement(pressures=(Pressure("memory", GI),))
    history = History(plot([task("t", 1, 50)], (), Operation(enforcement=rule), cluster=nodes(amount(4, memory=8))))
    assert list(history.world.watch_node) == [1]


# ------------------------------------------------------------------ how far they are


@pytest.mark.parametrize(("second", "done"), [(5, 5), (10, 10), (20, 15), (30, 20), (40, 30)])
def test_a_slow_node_gets_less_done(second: float, done: float) -> None:
    history = at(second, [task("t", 1, 50)], fault(Fault.SLOW, 10, 20, "n0", amount=5_000))
    machines = history.control._parts.machines
    attempt = machines.of(0)
    if attempt is None:
        assert second < 10
    else:
        assert machines.elapsed_ns(attempt) == done * S


def test_nothing_is_done_on_a_node_that_is_gone() -> None:
    history = at(100, [task("t", 1, 50)], crash(10, NEVER, "n0"))
    machines = history.control._parts.machines
    attempt = machines.of(0)
    assert attempt is not None
    assert machines.elapsed_ns(attempt) == 10 * S
    assert not attempt.runs


def test_work_goes_on_behind_a_partition() -> None:
    history = at(30, [task("t", 1, 50)], part(10, NEVER, "n0"))
    machines = history.control._parts.machines
    attempt = machines.of(0)
    assert attempt is not None
    assert machines.elapsed_ns(attempt) == 30 * S
    assert attempt.end_ns == 50 * S


@given(
    faults=st.lists(
        st.tuples(st.integers(0, 60), st.integers(0, 40), st.sampled_from([0, 1_000, 2_500, 5_000, 10_000])), max_size=5
    )
)
def test_a_task_ends_when_its_speeds_add_up_to_its_work(faults: list[tuple[int, int, int]]) -> None:
    """Against second after second, each at the speed of the worst fault then."""
    slow = [fault(Fault.SLOW, begin, length, "n0", amount=speed) for begin, length, speed in faults]
    done, second = 0, 0
    while done < 50 * 10_000:
        speeds = [speed for begin, length, speed in faults if begin <= second < begin + length]
        done += min([10_000, *speeds])
        second += 1
    late = (done - 50 * 10_000) / min([10_000, *[s for b, n, s in faults if b <= second - 1 < b + n]])
    (end,) = times(play([task("t", 1, 50)], slow), Kind.END)
    assert end == pytest.approx(second - late, abs=1e-6)


@given(begin=st.integers(1, 60), length=st.integers(0, 60))
def test_an_end_is_heard_of_when_the_partition_is_over(begin: int, length: int) -> None:
    (end,) = times(play([task("t", 1, 50)], [part(begin, length, "n0")], STAY), Kind.END)
    assert end == (begin + length if begin < 50 <= begin + length else 50)


def test_a_start_arrives_with_the_end_of_the_partition() -> None:
    late = Operation(eviction=Eviction(after_ns=NEVER), detection=Heartbeat(grace_ns=100 * S))
    run = play([task("t", 1, 50, at=20)], [part(10, 30, "n0")], late)
    assert times(run, Kind.START) == [20]
    assert times(run, Kind.END) == [90]


def test_whoever_takes_the_place_of_one_that_was_looked_at_need_not_be() -> None:
    """low starts again in its place at 11, on a node that is looked at because of it, and gives way in that instant."""
    in_place = Recovery((Retry(("node",), 5, Backoff(S), in_place=True),))
    tasks = [task("low", 4, 50, recovery=in_place), task("high", 4, 5, at=7, priority=1)]
    run = play(tasks, [crash(5, 5, "n0")], STAY, cluster=nodes(4), policy="priority", preempt=True)
    assert times(run, Kind.START) == [0, 11, 11, 16]
    assert times(run, Kind.END) == [16, 66]


def test_an_attempt_that_would_fail_later_is_killed_at_its_limit_first() -> None:
    doomed = fault(Fault.FAIL, 0, NEVER, "task/t", amount=10_000)
    run = play([task("t", 1, 50, estimate=60)], [doomed, fault(Fault.SLOW, 1, NEVER, "n0", amount=0)])
    assert times(run, Kind.KILL) == [60]
