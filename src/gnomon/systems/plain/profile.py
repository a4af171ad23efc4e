"""The plain system: a policy and nothing else. No native files, no words of its own.

It is the composition that traces, plain YAML and Python scenarios run on, and the pattern for those of real systems.
"""

from __future__ import annotations

from gnomon.model.scenario import Scenario
from gnomon.scheduling.compose import Composition, compose


def composition(scenario: Scenario) -> Composition:
    """Order, filters, scores, backfill and preemption as the scenario's policy names them."""
    return compose(scenario)
