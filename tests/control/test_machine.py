"""Whatever happens, in whatever order: the invariants hold at every step, and in the end everybody is done, or waits
for a stated reason."""

from random import Random

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from tests.control.machine import RULES, History, tell
from tests.control.plots import plot

_NUMBERS = st.integers(0, 1_023)
_RULES = st.sampled_from([name for name, often in RULES for _ in range(often)])

EXAMPLES, STEPS = 105, 200
"""Together more than 20,000 steps."""


class Anything(RuleBasedStateMachine):
    """One history, step by step."""

    history: History
    steps = 0

    @initialize(seed=st.integers(0, 2**20))
    def begin(self, seed: int) -> None:
        """Choose how the cluster is run."""
        self.history = History(plot(seed))

    @rule(which=_RULES, a=_NUMBERS, b=_NUMBERS, c=_NUMBERS)
    def happen(self, which: str, a: int, b: int, c: int) -> None:
        """Something happens; half of the time something else does in the same instant, before anybody reacts."""
        getattr(self.history, which)(a, b, c)
        if c % 2:
            self.history.settle()
        Anything.steps += 1

    def teardown(self) -> None:
        """Long after."""
        if hasattr(self, "history"):
            self.history.quiet()


def test_anything_may_happen_at_any_time() -> None:
    Anything.steps = 0
    run_state_machine_as_test(
        Anything,
        settings=settings(
            max_examples=EXAMPLES,
            stateful_step_count=STEPS,
            derandomize=True,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
    assert Anything.steps >= 20_000


@pytest.mark.parametrize("seed", range(20))
def test_long_histories_chosen_at_random(seed: int) -> None:
    tell(History(plot(seed)), Random(seed), 200)


@pytest.mark.parametrize("seed", range(100, 105))
def test_compiled_moves_write_the_same_log(seed: int) -> None:
    plain, fast = History(plot(seed)), History(plot(seed), compiled=True)
    for history in (plain, fast):
        tell(history, Random(seed), 200)
    assert plain.digest() == fast.digest()
    assert plain.control.details == fast.control.details
