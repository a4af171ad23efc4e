"""Scores of one node by the published formulas, worked out by hand."""

from __future__ import annotations

import math

import pytest

from gnomon.api import InputError, Resources
from tests.builders import amount
from tests.scheduling.grading import grade

pytestmark = pytest.mark.unit

NODE = amount(8, memory=16)
USED = amount(6, memory=4)
TASK = amount(1, memory=2)
GPUS = amount(8, gpus=4)


def test_least_requested() -> None:
    """Of 10 points: (8 - 6)/8 of them with six of eight CPUs in use, all when idle."""
    assert grade("least-allocated", amount(8), used=amount(6)) / 10 == 2.5
    assert grade("least-allocated", amount(8)) / 10 == 10


CASES: dict[str, tuple[str, Resources, Resources, Resources, float]] = {
    "left, as a mean of fractions: 1/8 and 10/16": ("worst-fit", NODE, USED, TASK, 37.5),
    "the less is left the better": ("best-fit", NODE, USED, TASK, 62.5),
    "of one resource only: 7/8": ("best-fit:over=cpu", NODE, USED, TASK, 87.5),
    "cut to whole points": ("best-fit:over=cpu,scores=percent", NODE, USED, TASK, 87),
    "allocated, the task included: 7/8 and 6/16": ("most-allocated", NODE, USED, TASK, 62.5),
    "the less is allocated the better": ("least-allocated", NODE, USED, TASK, 37.5),
    "7/8 and 6/16 deviate by 1/4 from their mean": ("balanced", NODE, USED, TASK, 75),
    "evenly used": ("balanced", NODE, amount(4, memory=8), Resources(), 100),
    "2/8·1/8 and 12/16·2/16, halved, taken from 1": ("dot-product", NODE, USED, TASK, 93.75),
    "and as it is": ("dot-product:prefer=high", NODE, USED, TASK, 6.25),
    "packing: no device is asked for": ("gpu-packing", GPUS, amount(2), amount(1), 0),
    "packing: all four are idle, max(33 - 4, 4)": ("gpu-packing", GPUS, Resources(), amount(1, gpus=1), 29),
    "packing: idle ones of a node in use, max(50 - 2, 33)": (
        "gpu-packing",
        GPUS,
        amount(1, gpus=1),
        amount(1, gpus=2),
        48,
    ),
    "packing: a device in use with half of it left, 100 - 50/10": (
        "gpu-packing",
        GPUS,
        amount(1, gpus=1, share=0.5),
        amount(1, gpus=1, share=0.25),
        95,
    ),
    "clustering: idle, and no task of any kind": ("gpu-clustering", GPUS, Resources(), amount(1, gpus=1), 25),
    "first fit compares nothing": ("first-fit", NODE, USED, TASK, 0),
}


@pytest.mark.parametrize(("placement", "capacity", "used", "request_", "points"), CASES.values(), ids=CASES)
def test_score(placement: str, capacity: Resources, used: Resources, request_: Resources, points: float) -> None:
    assert grade(placement, capacity, used=used, request=request_) == pytest.approx(points)


def test_fragmentation_gradient() -> None:
    """The only class of tasks asks for 0.6 of a device. On two idle devices nothing is lost; after one task 0.4 of the
    first is. So the gradient is -400 of 1,000, and the score 100/(1 + e^0.4)."""
    asked = amount(1, gpus=1, share=0.6)
    assert grade("fgd", amount(8, gpus=2), request=asked) == pytest.approx(100 / (1 + math.exp(0.4)))


@pytest.mark.parametrize(
    ("placement", "used"),
    [("bestfit", amount()), ("easy", amount()), ("best-fit", amount(9)), ("best-fit", amount(gpus=1))],
)
def test_what_makes_no_sense(placement: str, used: Resources) -> None:
    with pytest.raises(InputError):
        grade(placement, NODE, used=used)
