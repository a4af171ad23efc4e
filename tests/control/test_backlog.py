"""A backlog after an outage: the world, the exact stream simulation and the formula say the same.

10,000 records come a second, and nobody takes them for 10 minutes: 6,000,000 wait. With a capacity of 12,000/s they are
caught up with 50 minutes later, with one of 10,000/s never (capacity arithmetic, b = d r and t = b / (c - r)). In the
world a task stands for 60,000 records, so that one comes every 6 s.
"""

import pytest

from gnomon.api import Cluster, Failure, Fault, Limits, Resources, Scenario, Shape, Task, Work, simulate
from gnomon.recovery import arithmetic

SECOND = 10**9
RECORDS = 60_000
RATE, OUTAGE_S = 10_000, 600


def backlog(capacity: int) -> dict[str, float | None]:
    """What the world says: the metrics of the backlog after the pool was away for ten minutes."""
    one = Shape(Resources(cpu_milli=1_000))
    work = Work.from_tasks(
        Task(f"b{i}", one, i * RECORDS * SECOND // RATE, RECORDS * SECOND // capacity) for i in range(1_500)
    )
    outage = Failure(Fault.CRASH, 600 * SECOND, OUTAGE_S * SECOND, ("pool",))
    scenario = Scenario(Cluster.of_processors(1), work, faults=(outage,), limits=Limits(until_ns=9_000 * SECOND))
    found: dict[str, float | None] = simulate(scenario).metrics()["recovery"]["backlog"]
    return found


@pytest.mark.parametrize(("capacity", "minutes"), [(12_000, 50), (15_000, 20)])
def test_it_is_caught_up_with_when_the_formula_says(capacity: int, minutes: int) -> None:
    assert arithmetic.backlog(RATE, OUTAGE_S) == 6_000_000
    assert arithmetic.catch_up(RATE, capacity, OUTAGE_S) == minutes * 60
    told = backlog(capacity)
    assert told["peak"] is not None
    assert told["catch_up_s"] is not None
    assert told["peak"] * RECORDS == pytest.approx(6_000_000, abs=2 * RECORDS)  # a task more or less at the edges
    step = RECORDS / RATE * capacity / (capacity - RATE)  # what one task more takes to be caught up with
    assert told["catch_up_s"] == pytest.approx(minutes * 60, abs=2 * step)


def test_without_headroom_it_never_is() -> None:
    assert arithmetic.catch_up(RATE, 10_000, OUTAGE_S) is None
    told = backlog(10_000)
    assert told["catch_up_s"] is None
    assert told["peak"] is not None
    assert told["peak"] * RECORDS == pytest.approx(6_000_000, abs=2 * RECORDS)
