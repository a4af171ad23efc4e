"""Random faults over a job of five stages, as ``benchmarks/dataflow_chaos.py`` has them a thousand times."""

from collections import Counter
from dataclasses import replace
from functools import cache
from random import Random

import pytest

from benchmarks.dataflow_chaos import SYSTEMS, Outcome, five_stages, outcome, reason, scenario, schedule
from gnomon.dataflow.execute import collect
from gnomon.dataflow.plan import cut


@cache
def calm(system: str) -> Outcome:
    return outcome(scenario(system, 0))


def test_it_has_five_stages_beside_the_sample() -> None:
    assert len([stage for stage in cut(five_stages().graph()).run if stage.samples is None]) == 5


def test_undisturbed_it_gives_what_it_means() -> None:
    expected = collect(five_stages())
    assert calm("spark").output == repr(expected).encode()
    assert calm("mapreduce").output == repr([[expected[0]], expected[1:]]).encode()


@pytest.mark.parametrize("block", range(4))
def test_what_completes_has_the_same_bytes_and_what_fails_says_why(block: int) -> None:
    found: Counter[str] = Counter()
    for seed in range(20 * block, 20 * block + 20):
        system = SYSTEMS[seed % 2]
        faults = schedule(Random(seed), calm(system).end_ns)
        what = outcome(replace(scenario(system, seed), faults=faults))
        if what.output is None:
            assert reason(what.why) != "says nothing", (seed, faults)
            found["failed"] += 1
        else:
            assert what.output == calm(system).output, (seed, faults)
            found["completed"] += 1
    assert found["failed"]
    assert found["completed"] >= 10


def test_a_master_that_took_over_hears_of_reports_on_outputs_of_before() -> None:
    """A schedule that once broke the model: the outputs fail that were made for the master before this one."""
    faults = schedule(Random(1921), calm("mapreduce").end_ns)
    assert outcome(replace(scenario("mapreduce", 1921), faults=faults)).output == calm("mapreduce").output
