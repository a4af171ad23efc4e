"""Which faults cannot be."""

from dataclasses import replace

import pytest

from gnomon.control.faults.checks import check
from gnomon.model.errors import InputError
from gnomon.model.fault import Failure, FailureProcess, Fault, Law
from gnomon.model.scenario import Limits
from tests.recovery.faulty import crash, scenario


def test_faults_that_make_sense() -> None:
    check(
        scenario(
            crash(0, 10),
            crash(10, 5),  # as the first is over
            crash(3, 10, "n1"),
            Failure(Fault.REBOOT, 20, 5, ("n0",)),
            Failure(Fault.SLOW, 5, 10, ("rack/r0",), amount=0),
            Failure(Fault.SLOW, 5, 10, ("rack/r0",), amount=10_000),
            Failure(Fault.DEVICE, 5, 10, ("n0",), amount=1),
            Failure(Fault.DELAY, 5, 10, ("n0",), amount=0),
            Failure(Fault.KILL, 5, 0, ("job/j",)),
            Failure(Fault.LEADER, 5, 10),
            Failure(Fault.PARTITION, 0, 10, ("rack/r0", "control/0")),
            Failure(Fault.PARTITION, 5, 10, ("rack/r0",)),  # other sets
            Failure(Fault.PARTITION, 10, 10, ("rack/r0", "control/0")),
            Failure(Fault.PARTITION, 0, 10, ("n0",), others=("n1",)),
            FailureProcess(Fault.CRASH, ("rack/r1",), mtbf_ns=5, mttr_ns=0, law=Law.WEIBULL, shape=0.7),
            limits=Limits(until_ns=20),
        )
    )


PROCESS = FailureProcess(Fault.CRASH, ("n0",), mtbf_ns=5)
SPLIT = Failure(Fault.PARTITION, 5, 10, ("rack/r0",), others=("rack/r1",))


@pytest.mark.parametrize(
    ("faults", "error"),
    [
        ([crash(0, 1, "x")], "faults[0].targets: unknown node"),
        ([crash(), replace(SPLIT, others=("task/a",))], "faults[1].others: a fault of kind partition hits no tasks"),
        ([Failure(Fault.CRASH)], "faults[0].targets: a fault of kind crash that hits nobody"),
        ([crash(-1)], "faults[0].at_ns: a time below zero, found -1"),
        ([crash(0, -1)], "faults[0].for_ns: a time below zero"),
        ([crash(101)], "faults[0].at_ns: begins after the end of the run, found 101; allowed: up to 100"),
        ([replace(PROCESS, from_ns=101)], "faults[0].from_ns: begins after the end of the run"),
        ([replace(PROCESS, from_ns=9, until_ns=9)], "faults[0].until_ns: no fault can begin"),
        ([replace(PROCESS, mtbf_ns=0)], "faults[0].mtbf_ns: not a mean time, found 0"),
        ([replace(PROCESS, mtbf_ns=-5)], "faults[0].mtbf_ns: a time below zero"),
        ([replace(PROCESS, mttr_ns=-5)], "faults[0].mttr_ns: a time below zero"),
        ([replace(PROCESS, shape=2.0)], "faults[0].shape: the law exponential has no shape"),
        ([replace(PROCESS, law=Law.WEIBULL, shape=0.0)], "faults[0].shape: not a shape of the law weibull"),
        ([replace(PROCESS, repair_law=Law.LOG_NORMAL, repair_shape=float("nan"))], "faults[0].repair_shape: not a"),
        ([Failure(Fault.SLOW, targets=("n0",), amount=10_001)], "faults[0].amount: out of range, found 10001"),
        ([Failure(Fault.FAIL, targets=("job/j",), amount=10_001)], "faults[0].amount: out of range"),
        ([Failure(Fault.LOSS, targets=("n0",), amount=-1)], "faults[0].amount: out of range"),
        ([Failure(Fault.LEAK, targets=("n0",))], "faults[0].amount: out of range, found 0; allowed: bytes per second"),
        ([Failure(Fault.DELAY, targets=("n0",), amount=-1)], "faults[0].amount: out of range"),
        ([Failure(Fault.DEVICE, targets=("n0",), amount=2)], "node 'n0' has no such device, found 2; allowed: 0 to 1"),
        ([crash(amount=1)], "faults[0].amount: a fault of kind crash has no amount"),
        ([crash(others=("n1",))], "faults[0].others: a fault of kind crash has no other side"),
        ([replace(SPLIT, others=("n1", "n2"))], "faults[0].others: on both sides of the partition, found 'node/n1'"),
        ([replace(SPLIT, targets=("*", "control/*"), others=())], "nobody is left on the other side"),
        ([SPLIT, replace(SPLIT, at_ns=14)], "faults[1].at_ns: overlapping partitions: faults[0]"),
        ([SPLIT, replace(SPLIT, at_ns=0, targets=("rack/r1",), others=("rack/r0",))], "overlapping partitions"),
        ([crash(0, 10), crash(9, 1, "rack/r0")], "faults[1].at_ns: overlapping crashes or reboots of node 'n0'"),
        ([crash(9, 1), Failure(Fault.REBOOT, 0, 10, ("n0",))], "faults[1].at_ns: overlapping crashes or reboots"),
        ([crash(5, 0), crash(5, 0)], "faults[1].at_ns: overlapping"),
        ([Failure(Fault.LEADER, 0, 9, ("control/3",))], "faults[0].targets: unknown member of the control plane"),
        ([Failure(Fault.LEADER, at, 9, ("control/2",)) for at in (0, 8)], "overlapping stops of control member 2"),
    ],
)
def test_faults_that_cannot_be(faults: list[Failure | FailureProcess], error: str) -> None:
    with pytest.raises(InputError) as caught:
        check(scenario(*faults, limits=Limits(until_ns=100)))
    assert error in str(caught.value)
