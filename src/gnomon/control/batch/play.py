"""One run of bounded jobs in the shared world, without what the facade adds (progress, compiled kernels)."""

from __future__ import annotations

from dataclasses import replace

from gnomon.control.batch.driver import Driver
from gnomon.control.batch.placer import BatchPlacer
from gnomon.control.control import controlled
from gnomon.engine.log import Log
from gnomon.engine.run import Ports, log_of, run
from gnomon.model.scenario import Scenario


def play(scenario: Scenario) -> Log:
    """The log of a run. Raises InputError for a scenario that makes no sense."""
    return played(scenario)[0]


def played(scenario: Scenario) -> tuple[Log, Driver]:
    """The log of a run, and what the driver of its jobs knows at the end. Raises InputError as :func:`play` does."""
    parts, control = controlled(scenario, BatchPlacer)
    assert control is not None
    ports = Ports(next_time=parts.next_time, events=control.events, stuck=control.is_stuck)
    world, _ = run(parts.world, parts.advance, scenario.limits, ports)
    driver = control.native_state
    assert isinstance(driver, Driver)
    return replace(log_of(world).renumbered(parts.node_of), details=control.details), driver
