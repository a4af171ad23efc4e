"""Tables for the terminal, compared as a whole."""

from textwrap import dedent
from typing import Any

import pytest

from gnomon.insight.metrics import of_history as metrics_of
from gnomon.report.text import Variant, comparison, summary, table
from tests.insight.faulty import crash

pytestmark = pytest.mark.unit


def metrics(**given: Any) -> dict[str, Any]:
    spread = {"mean": 90.0, "p50": 0.0, "p90": 300.0, "p99": 4000.0, "max": 90_000.0}
    base = {
        "jobs": 12,
        "done": 12,
        "rejected": 0,
        "makespan_s": 28.68,
        "wait_s": spread,
        "turnaround_s": spread,
        "bounded_slowdown": {"mean": 1.5, "p50": 1.0, "p90": 2.0, "p99": 10.25, "max": 1234.0},
        "utilisation": {"cpu": 0.4301, "gpu": 0.25},
        "allocated": {"cpu": 0.4301, "gpu": 0.25},
        "throughput_per_s": 0.4184,
        "fragmentation": None,
        "jain_index": 0.9,
        "preemptions": 0,
        "wasted_cpu_s": 0.0,
        "goodput": 1.0,
        "longest_wait_s": 90_000.0,
        "overtaken_max": 3,
    }
    return {**base, **given}


def same(shown: str, wanted: str) -> None:
    assert shown.splitlines() == dedent(wanted).strip("\n").splitlines()


def test_a_comparison_marks_the_best_of_each_column() -> None:
    slow = metrics(makespan_s=30.0, wait_s={"mean": 100.0, "p90": 299.0})
    variants = [
        Variant("fcfs", metrics(), best=("makespan_s", "wait_s.mean", "done")),
        Variant("easy+best-fit", slow, best=("wait_s.p90", "done")),
    ]
    same(
        comparison(variants).plain,
        """
        VARIANT         DONE   MAKESPAN     WAIT    WAIT-P90    SLOWDOWN     CPU     GPU
        fcfs              12     28.68s*   1m30s*         5m         1.5   43.0%   25.0%
        easy+best-fit     12        30s    1m40s       4m59s*        1.5   43.0%   25.0%
        """,
    )


def test_a_comparison_shows_what_is_not_done_where_there_is_any() -> None:
    variants = [
        Variant("fcfs", {"done": 7, "rejected": 0, "killed": 2, "waiting": 3}),
        Variant("sjf", {"done": 10, "rejected": 0, "killed": 2, "waiting": 0}),
    ]
    same(
        comparison(variants).plain,
        """
        VARIANT   DONE   KILLED   WAITING
        fcfs         7        2         3
        sjf         10        2         0
        """,
    )


def test_differences_of_percentages_are_points() -> None:
    def of(share: float) -> dict[str, Any]:
        return {"utilisation": {"cpu": share}}

    variants = [Variant("a", of(0.5)), Variant("b", of(0.6), difference={"utilisation.cpu": (0.1, None)})]
    same(
        comparison(variants, wide=True).plain,
        """
        VARIANT     CPU
        a         50.0%
        b         60.0%

        DIFFERENCE TO a (in parentheses: may be chance; =: none; %: points)
        VARIANT      CPU
        b         +10.0%
        """,
    )


def test_a_comparison_over_seeds_shows_the_confidence_of_values_and_differences() -> None:
    def of(seconds: float) -> dict[str, Any]:
        return {"makespan_s": seconds, "wait_s": {"mean": seconds}}

    variants = [
        Variant("fcfs", of(30.0), {"makespan_s": 1.25, "wait_s.mean": 0.0}),
        Variant(
            "easy", of(20.0), {"makespan_s": 1.5}, difference={"makespan_s": (-10.0, 2.0), "wait_s.mean": (3.0, 4.0)}
        ),
    ]
    same(
        comparison(variants).plain,
        """
        VARIANT     MAKESPAN   WAIT
        fcfs      30s ±1.25s    30s
        easy       20s ±1.5s    20s

        DIFFERENCE TO fcfs (in parentheses: may be chance; =: none)
        VARIANT   MAKESPAN        WAIT
        easy      -10s ±2s   (+3s ±4s)
        """,
    )


def test_a_summary_tells_counts_waits_and_use() -> None:
    same(
        summary(metrics()).plain,
        """
        JOBS   DONE   MAKESPAN
        12     12     28.68s

                      MEAN   P50   P90     P99     MAX
        WAIT         1m30s    0s    5m   1h07m   1d01h
        TURNAROUND   1m30s    0s    5m   1h07m   1d01h
        SLOWDOWN       1.5     1     2   10.25   1,234

        RESOURCE    USED   ALLOCATED
        cpu        43.0%       43.0%
        gpu        25.0%       25.0%
        """,
    )


def test_wide_adds_columns() -> None:
    narrow, wide = (summary(metrics(), wide=w).plain.splitlines()[0].split() for w in (False, True))
    assert set(narrow) < set(wide)
    assert {"JAIN", "GOODPUT", "OVERTAKEN"} <= set(wide)


def test_a_run_without_any_start_has_dashes_not_nonsense() -> None:
    nothing = dict.fromkeys(("mean", "p50", "p90", "p99", "max"))
    shown = summary(metrics(done=0, makespan_s=None, wait_s=nothing, turnaround_s=nothing)).plain
    assert "nan" not in shown.lower()
    assert "WAIT" not in shown


@pytest.mark.parametrize("hostile", ["\x1b[2J", "a\nb", "[bold]x[/bold]", "\u202eabc"])
def test_names_cannot_steer_the_terminal(hostile: str) -> None:
    shown = table(["NAME"], [[hostile]])
    assert not set("\x1b\u202e") & set(shown.plain)
    assert len(shown.plain.splitlines()) == 2


def test_headers_cannot_either() -> None:
    """A query's columns are called as its author, or what was queried, says."""
    assert table(["A\x1b[31m\u202e"], [["x"]]).plain == "A\\x1b[31m\\u202e\nx"


def test_a_summary_tells_what_went_wrong_in_a_few_lines() -> None:
    found = metrics_of(crash().past).as_dict()["recovery"]
    same(
        summary(metrics(recovery=found)).plain.partition("RECOVERY\n")[2],
        """
        faults            1 crash
        time to detect    mean 3s, p50 3s, p99 3s, max 3s
        time to isolate   mean 3s, p50 3s, p99 3s, max 3s
        time to recover   mean 5s, p50 5s, p99 5s, max 5s
        attempts failed   1 node; 1 tried again, 0 tasks given up
        survival          100%
        work lost         5s; 5s done again
        available         75% of node time, 100% of the control plane's, 87.5% of cpus for new work
        cpus at work      1.5 on average; 1 of them for what was done
        backlog           up to 1 waiting, at 8s; caught up with when the outage was over
        """,
    )


def test_a_comparison_shows_recovery_where_a_run_has_any() -> None:
    found = metrics_of(crash().past).as_dict()
    headers = comparison([Variant("a", found), Variant("b", {"done": 1})]).plain.splitlines()[0].split()
    assert {"RETRIES", "SURVIVAL", "RECOVER", "LOST-WORK"} <= set(headers)
    assert not {"RETRIES", "RAN-TWICE"} & set(comparison([Variant("b", {"done": 1})]).plain.split())
