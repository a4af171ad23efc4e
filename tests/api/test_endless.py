"""Functions that never end: found between two looks, and told with the operator and the record. The looks are the
test's own, so that no time passes."""

import signal
from collections.abc import Iterator

import pytest

from gnomon.api.endless import functions_end
from gnomon.dataflow import Dataflow
from gnomon.dataflow.checks import check_plan
from gnomon.dataflow.execute import run_plan
from gnomon.dataflow.failing import EndlessError
from gnomon.dataflow.plan import Plan, cut

HOUR_S = 3_600

pytestmark = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no signals here")


def look() -> None:
    signal.raise_signal(signal.SIGALRM)


def never(record: str) -> str:
    while record == "b":
        look()
    return record


def plan_of(flow: Dataflow) -> Plan:
    return cut(flow.graph())


def job() -> Plan:
    flow = Dataflow()
    flow.source([["a", "b", "c"]]).map(never, name="clean").collect()
    return plan_of(flow)


def test_a_function_that_never_ends_is_told_with_its_operator_and_record() -> None:
    with functions_end(HOUR_S), pytest.raises(EndlessError) as raised:
        run_plan(job())
    told = "clean: never has worked for more than 3600 s on the record 'b', and does not seem to end"
    assert str(raised.value).startswith(told)
    assert raised.value.exit_code == 2


def test_a_check_of_the_job_ends_with_it_too() -> None:
    with functions_end(HOUR_S), pytest.raises(EndlessError, match="'b'"):
        check_plan(job())


def test_one_that_goes_on_from_record_to_record_may_take_its_time() -> None:
    flow = Dataflow()

    def slow(record: int) -> int:
        look()
        return record

    def sums(records: Iterator[int]) -> Iterator[int]:
        for record in records:
            look()
            yield record

    pairs = flow.source([[7] * 5]).map(slow).map_partitions(sums).map(lambda record: (record, record))
    pairs.reduce_by_key(lambda one, other: slow(one + other)).collect()
    with functions_end(HOUR_S):
        assert run_plan(plan_of(flow)).records() == [(7, 35)]


def test_no_alarm_is_left_and_that_of_others_is_not_touched() -> None:
    with functions_end(HOUR_S):
        assert signal.getitimer(signal.ITIMER_REAL)[1] == HOUR_S
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    signal.setitimer(signal.ITIMER_REAL, HOUR_S)
    try:
        with functions_end(1):
            assert signal.getitimer(signal.ITIMER_REAL)[1] == 0.0
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
