"""Making schedules small: what is left breaks the property, and without any of it does not."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gnomon.insight.chaos.schedules import Schedule, in_order
from gnomon.insight.chaos.shrink import shrink
from gnomon.model.fault import Failure, Fault

pytestmark = pytest.mark.unit

S = 10**9


def fault(i: int, **facts: object) -> Failure:
    made = Failure(Fault.CRASH, (100 + 7 * i) * S, 90 * S, (f"node/n{i}",))
    return replace(made, **facts)  # type: ignore[arg-type]


def nodes(schedule: Schedule) -> set[str]:
    return {name for one in schedule for name in one.targets}


@given(st.integers(1, 20), st.sets(st.integers(0, 19), min_size=1, max_size=4))
def test_what_is_needed_is_found_among_all(count: int, needed: set[int]) -> None:
    assume(max(needed) < count)
    wanted = {f"node/n{i}" for i in needed}
    found = shrink(in_order(map(fault, range(count))), lambda tried: wanted <= nodes(tried), grain_ns=S)
    assert nodes(found.schedule) == wanted
    assert found.minimal


@given(st.integers(1, 9), st.sets(st.frozensets(st.integers(0, 8), max_size=5), max_size=40))
def test_one_less_breaks_nothing_whatever_it_hangs_on(count: int, harmless: set[frozenset[int]]) -> None:
    """Any property at all, also one that is broken by few faults and kept by more."""

    def breaks(tried: Schedule) -> bool:
        return bool(tried) and frozenset(int(one.targets[0].removeprefix("node/n")) for one in tried) not in harmless

    start = in_order(map(fault, range(count)))
    assume(breaks(start))
    found = shrink(start, breaks, grain_ns=S)
    assert breaks(found.schedule)
    assert found.minimal
    assert not any(breaks(tuple(one for one in found.schedule if one is not left)) for left in found.schedule)


def test_what_breaks_without_faults_needs_none() -> None:
    found = shrink(in_order(map(fault, range(5))), lambda tried: True, grain_ns=S)
    assert (found.schedule, found.trials, found.minimal) == ((), 1, True)


def test_each_fault_becomes_short_round_mild_and_narrow() -> None:
    one = Failure(Fault.SLOW, 3_725 * S, 1_717 * S, ("node/a", "node/b", "node/c"), amount=500)

    def breaks(tried: Schedule) -> bool:
        return any("node/b" in f.targets and f.for_ns >= 61 * S and f.amount <= 6_000 for f in tried)

    found = shrink((one,), breaks, grain_ns=S)
    (left,) = found.schedule
    assert left.targets == ("node/b",)
    assert 61 * S <= left.for_ns <= 120 * S
    assert left.amount == 5_250  # half as slow as 500, of 10,000; half of that again is more than 6,000
    assert left.at_ns == 3_600 * S


def test_the_other_side_of_a_partition_is_all_the_rest_if_that_will_do() -> None:
    one = Failure(Fault.PARTITION, 0, 60 * S, ("node/a", "node/b"), ("control/0", "control/1"))
    found = shrink((one,), lambda tried: "node/a" in nodes(tried), grain_ns=S)
    assert found.schedule == (Failure(Fault.PARTITION, 0, S, ("node/a",)),)


@pytest.mark.parametrize(("kind", "amount", "most"), [(Fault.LOSS, 9_000, 1_200), (Fault.LEAK, 10**9, 2 * 10**6)])
def test_amounts_are_halved_while_it_still_breaks(kind: Fault, amount: int, most: int) -> None:
    one = Failure(kind, 60 * S, S, ("node/a",), amount=amount)
    found = shrink((one,), lambda tried: any(f.amount > most // 2 for f in tried), grain_ns=S)
    assert most // 2 < found.schedule[0].amount <= most


def test_so_many_runs_and_no_more() -> None:
    runs = 0

    def breaks(tried: Schedule) -> bool:
        nonlocal runs
        runs += 1
        return len(tried) >= 3

    found = shrink(in_order(map(fault, range(30))), breaks, grain_ns=S, most=10)
    assert runs == found.trials == 10
    assert not found.minimal
    assert len(found.schedule) >= 3


def test_it_goes_the_same_way_each_time() -> None:
    seen: list[list[Schedule]] = [[], []]
    for log in seen:
        shrink(in_order(map(fault, range(8))), lambda tried, log=log: log.append(tried) or len(tried) > 2, grain_ns=S)  # type: ignore[misc]
    assert seen[0] == seen[1]
