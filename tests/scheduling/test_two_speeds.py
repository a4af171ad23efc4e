"""One transition, two speeds, any batch: the same log to the byte, with the invariants on after every instant."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon.api import POLICY_NAMES, Scenario, simulate
from tests.builders import policies, scenarios

pytestmark = [pytest.mark.property, pytest.mark.slow]


def assert_one_meaning(scenario: Scenario) -> None:
    plain = simulate(scenario, compiled=False)
    logs = {"plain": plain.log.canonical_bytes()}
    for compiled in (False, True):  # with the invariants on, each call takes one instant
        done = simulate(scenario, compiled=compiled, invariants=True)
        assert done.stopped is plain.stopped
        logs[f"invariants, {compiled=}"] = done.log.canonical_bytes()
    logs["compiled"] = simulate(scenario, compiled=True).log.canonical_bytes()
    differing = [name for name, log in logs.items() if log != logs["plain"]]
    assert not differing


@settings(max_examples=250)
@given(scenario=scenarios())
def test_of_every_scenario(scenario: Scenario) -> None:
    assert_one_meaning(scenario)


@pytest.mark.parametrize("name", POLICY_NAMES)
@settings(max_examples=25)
@given(data=st.data())
def test_of_every_policy(name: str, data: st.DataObject) -> None:
    assert_one_meaning(data.draw(scenarios(policy=policies(name=name))))
