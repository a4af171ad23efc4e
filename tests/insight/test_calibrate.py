"""Simulated against recorded waits."""

import json
from dataclasses import replace

import numpy as np
import pytest

from gnomon.engine.log import Kind, Reason
from gnomon.insight.calibrate import Calibration, calibrate
from gnomon.model.cluster import Cluster
from tests.insight.stories import S, Story, cpus, task

pytestmark = pytest.mark.unit


def calibrated(starts: list[int | None], recorded: list[int | None], sizes: list[int] | None = None) -> Calibration:
    """Tasks submitted at 0, 1, 2...; ``starts``: None for one that is rejected; ``recorded`` waits, None if unknown."""
    tasks = [task(str(i), cpus((sizes or [1] * len(starts))[i]), submit=i) for i in range(len(starts))]
    story = Story(Cluster.of_processors(1024), tasks).arrive(*range(len(tasks)))
    for i, start in enumerate(starts):
        if start is None:
            story.tell(i, Kind.REJECT, i, reason=Reason.TOO_LARGE)
        else:
            story.run(i, start, start + 5)
    waits = np.array([-1 if wait is None else wait * S for wait in recorded], np.int64)
    return calibrate(replace(story.scenario, work=replace(story.scenario.work, recorded_wait_ns=waits)), story.log)


def test_equal_waits_have_no_error() -> None:
    found = calibrated([0, 6, 12], [0, 5, 10])
    assert (found.compared, found.left_out) == (3, {})
    assert (found.error_s.bias, found.error_s.rmse, found.error_s.log_rmse) == (0, 0, 0)
    assert (found.wait_kendall_tau_b, found.wait_spearman_rho, found.start_kendall_tau_b) == (1, 1, 1)
    assert (found.within_1_min, found.within_10_percent) == (1, 1)


def test_a_positive_bias_means_that_the_model_waits_longer() -> None:
    found = calibrated([100, 101], [0, 200])
    assert found.error_s.bias == 0
    assert (found.error_s.mae, found.error_s.rmse) == (100, 100)
    assert calibrated([100, 301], [0, 200]).error_s.bias == 100
    assert found.error_s.log_bias == pytest.approx((np.log10(101) + np.log10(101 / 201)) / 2)
    assert (found.within_1_min, found.within_10_percent) == (0, 0)


def test_ten_percent_is_of_the_recorded_wait() -> None:
    assert calibrated([110, 112], [100, 100]).within_10_percent == 0.5
    assert calibrated([160, 162], [100, 100]).within_1_min == 0.5


def test_it_says_who_was_left_out_and_why() -> None:
    found = calibrated([0, None, 3, 4], [0, 0, None, 1])
    assert found.left_out == {"without a recorded wait": 1, "rejected by the simulation": 1}
    assert str(found) == "2 of 4 tasks compared; left out: 1 without a recorded wait, 1 rejected by the simulation"


def test_sizes_are_told_apart() -> None:
    found = calibrated([0, 11, 22, 33], [0, 0, 0, 0], [1, 7, 8, 1000])
    assert [(one.processors, one.tasks, one.error_s.bias) for one in found.by_size] == [
        ("1", 1, 0),
        ("2-7", 1, 10),
        ("8-31", 1, 20),
        ("512+", 1, 30),
    ]


def test_nothing_recorded_is_no_error() -> None:
    found = calibrated([0], [None])
    assert (found.compared, found.error_s.bias, found.wait_kendall_tau_b, found.by_size) == (0, None, None, ())
    assert json.loads(json.dumps(found.as_dict())) == found.as_dict()
