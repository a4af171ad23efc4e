"""The model of costs by hand-worked sums."""

from hypothesis import given
from hypothesis import strategies as st

from gnomon.dataflow.cost import Amounts, Cost, calibrated

S = 1_000_000_000


def test_each_phase_is_what_it_does_over_its_speed() -> None:
    cost = Cost(start_ns=7, record_ns=10, byte_ns_e3=1_000, disk=100, network=50)
    amounts = Amounts(calls=3, input=200, local=100, remote=100, written=50)
    assert cost.phases(amounts) == {
        "start": 7,
        "fetch": 2 * S + S,
        "read": 2 * S,
        "compute": 30 + 450,
        "write": S // 2,
    }
    assert cost.length_ns(amounts) == 7 + 3 * S + 2 * S + 480 + S // 2


def test_nothing_to_do_takes_the_start() -> None:
    assert Cost().length_ns(Amounts()) == Cost().start_ns


@given(st.integers(0, 10_000), st.lists(st.integers(1, 10**6), min_size=1, max_size=20))
def test_calibration_finds_the_cost_of_a_record_that_made_the_times(record_ns: int, calls: list[int]) -> None:
    true = Cost(record_ns=record_ns)
    measured = [
        (Amounts(calls=count, input=count), true.length_ns(Amounts(calls=count, input=count))) for count in calls
    ]
    assert calibrated(Cost(), measured).record_ns == record_ns
