"""One run of bounded jobs in the shared world, without what the facade adds (progress, compiled kernels)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gnomon.control.batch.driver import Driver
from gnomon.control.batch.placer import BatchPlacer
from gnomon.control.control import controlled
from gnomon.engine.log import Log
from gnomon.engine.run import Ports, log_of, run
from gnomon.model.scenario import Scenario
from gnomon.scheduling.compose import compose


def play(scenario: Scenario) -> Log:
    """The log of a run. Raises InputError for a scenario that makes no sense."""
    return played(scenario)[0]


def played(scenario: Scenario) -> tuple[Log, Driver]:
    """The log of a run, and what the driver of its jobs knows at the end. Raises InputError as :func:`play` does."""
    parts, control = controlled(scenario, compose, BatchPlacer)
    assert control is not None
    ports = Ports(next_time=parts.next_time, events=control.events, stuck=control.is_stuck)
    world, _ = run(parts.world, parts.advance, scenario.limits, ports)
    log = log_of(world)
    node = np.where(log.node >= 0, parts.node_of[log.node], -1).astype(np.int32)
    driver = control.native_state
    assert isinstance(driver, Driver)
    return replace(log, node=node, details=control.details), driver
