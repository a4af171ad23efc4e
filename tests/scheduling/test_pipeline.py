"""The pass: what is left out of it would change nothing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon.api import Scenario, Work, parse_policy
from gnomon.engine.run import Ports, log_of
from gnomon.engine.run import run as drive
from gnomon.scheduling import codes
from gnomon.scheduling.compose import compose
from tests.builders import nodes, scenario, scenarios, task

pytestmark = pytest.mark.unit

PLACES = ("best-fit", "easy+first-fit", "easy:extra=no+worst-fit", "easy+random")
PLAIN = [parse_policy(f"{order}+{rest}") for order in ("fcfs", "sjf") for rest in PLACES]


def digest(made: Scenario, *, settled: bool) -> str:
    parts = compose(made)
    if not settled:
        parts.world.opt[codes.SETTLED] = 0
    world, _ = drive(parts.world, parts.advance, made.limits, Ports(next_time=parts.next_time))
    return log_of(world).digest()


@pytest.mark.property
@settings(max_examples=200)
@given(made=scenarios(policy=st.sampled_from(PLAIN)))
def test_a_quiet_pass_does_what_a_whole_one_would(made: Scenario) -> None:
    """While nothing is given back only newcomers are looked at; whoever was refused would be refused again."""
    made = replace(made, cluster=replace(made.cluster, reservations=()), preempt=False, tenants=())
    assert digest(made, settled=True) == digest(made, settled=False)


@pytest.mark.slow
def test_on_a_crowded_machine_too() -> None:
    made = Scenario(nodes(*[4] * 8), work_of_many(), parse_policy("easy+best-fit"), kill_at_limit=False)
    parts = compose(made)
    assert parts.world.opt[codes.SETTLED] == 1
    assert digest(made, settled=True) == digest(made, settled=False)


def work_of_many() -> Work:
    random = np.random.default_rng(1)
    sizes, lengths, errors = random.integers(1, 5, 400), random.integers(1, 60, 400), random.integers(-5, 40, 400)
    rows = zip(sizes.tolist(), lengths.tolist(), errors.tolist(), strict=True)
    tasks = [task(str(i), c, run, at=2 * i, estimate=max(run + e, 1)) for i, (c, run, e) in enumerate(rows)]
    return scenario(tasks).work
