"""Variants side by side."""

import json

import pytest

from gnomon.insight.compare import Comparison, Estimate, Measured, compare, student_t

pytestmark = pytest.mark.unit


def waits(**variants: list[float | None]) -> Comparison:
    """One seed a wait."""
    return compare(
        [
            Measured(name, seed, {"wait_s": {"mean": wait}, "utilisation": {"example.com/gpu": 0.5}, "jobs": 7})
            for name, waits in variants.items()
            for seed, wait in enumerate(waits)
        ]
    )


WAIT = ("wait_s", "mean")


@pytest.mark.parametrize(
    ("degrees", "t"),
    # Two-sided 95 %, from the table in NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2.
    [(1, 12.706), (2, 4.303), (3, 3.182), (4, 2.776), (5, 2.571), (10, 2.228), (30, 2.042), (60, 2.000), (100, 1.984)],
)
def test_student_t_is_that_of_the_tables(degrees: int, t: float) -> None:
    assert round(student_t(degrees), 3) == t


def test_recovery_is_judged_by_what_each_part_of_it_means() -> None:
    runs = [
        Measured(name, 1, {"recovery": {"survival": 1 - late, "faults": {"crash": 3}, "backlog": {"catch_up_s": late}}})
        for name, late in (("a", 0.5), ("b", 0.25))
    ]
    assert compare(runs).best == {
        ("recovery", "survival"): ("b",),
        ("recovery", "backlog", "catch_up_s"): ("b",),
    }


def test_the_best_is_marked_in_the_direction_of_the_metric() -> None:
    table = waits(fcfs=[30.0], easy=[10.0], sjf=[10.0])
    assert table.best[WAIT] == ("easy", "sjf")
    assert table.best["utilisation", "example.com/gpu"] == ("fcfs", "easy", "sjf")
    assert ("jobs",) not in table.best


def test_one_seed_has_no_interval() -> None:
    row = waits(fcfs=[30.0], easy=[10.0]).rows[1]
    assert row.values[WAIT] == Estimate(10.0, None, 1)
    assert row.difference[WAIT] == Estimate(-20.0, None, 1)
    assert not row.difference[WAIT].differs
    assert (row.seeds, row.spread) == ((0,), {})


def test_several_seeds_have_a_mean_and_an_interval() -> None:
    # 10, 20, 30: mean 20, standard error 10 / sqrt(3), t for 2 degrees 4.303.
    row = waits(fcfs=[10.0, 20.0, 30.0]).rows[0]
    assert row.metrics["wait_s"]["mean"] == 20
    assert row.spread["wait_s.mean"] == pytest.approx(4.3027 * 10 / 3**0.5, rel=1e-4)


def test_differences_are_paired_by_seed() -> None:
    # The seeds differ widely, the variants always by about 2: only the pairs can tell them apart.
    table = waits(fcfs=[100.0, 200.0, 300.0], easy=[98.0, 197.9, 298.1])
    difference = table.rows[1].difference[WAIT]
    assert difference.mean == pytest.approx(-2.0)
    assert difference.differs
    assert table.rows[0].difference == {}


def test_what_a_run_has_no_value_for_is_left_out() -> None:
    table = waits(fcfs=[None, 4.0], easy=[None, None])
    assert table.rows[0].values[WAIT] == Estimate(4.0, None, 1)
    assert WAIT not in table.rows[1].values
    assert table.best[WAIT] == ("fcfs",)


def test_it_is_plain_json() -> None:
    table = waits(fcfs=[30.0, 31.0], easy=[10.0, 12.0]).as_dict()
    assert json.loads(json.dumps(table)) == table
    assert [row["variant"] for row in table] == ["fcfs", "easy"]
    assert "wait_s.mean" in table[1]["best"]


def test_nothing_compares_to_nothing() -> None:
    assert compare([]) == Comparison((), {})


@pytest.mark.unit
def test_busy_with_work_that_is_lost_or_done_twice_is_no_merit() -> None:
    """The one without checkpoints keeps its processors busier, with the same work over and over."""
    none = {"utilisation": {"cpu": 0.9}, "goodput": 0.6, "recovery": {"work_lost_s": 100.0}}
    saves = {"utilisation": {"cpu": 0.7}, "goodput": 0.9, "recovery": {"work_lost_s": 10.0}}
    best = compare([Measured("none", 1, none), Measured("saves", 1, saves)]).best
    assert best == {("goodput",): ("saves",), ("recovery", "work_lost_s"): ("saves",)}


@pytest.mark.unit
def test_an_outage_is_no_smaller_for_a_longer_run() -> None:
    def variant(name: str, observed_s: float, nodes: float) -> Measured:
        measured = {
            "observed_s": observed_s,
            "recovery": {"availability": {"nodes": nodes}, "capacity_available": nodes},
        }
        return Measured(name, 1, measured)

    assert compare([variant("short", 10, 0.9), variant("long", 20, 0.95)]).best == {}
    assert set(compare([variant("a", 10, 0.9), variant("b", 10, 0.95)]).best.values()) == {("b",)}
