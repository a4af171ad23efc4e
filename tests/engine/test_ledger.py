"""The ledger: devices are counted each by itself, and what is taken is given back exactly."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.api import Cluster, Node, Resources, Scenario, Shape, Task, Work
from gnomon.engine.ledger import fits, move, pick_devices
from gnomon.engine.world import World
from gnomon.scheduling.compose import compose

pytestmark = pytest.mark.unit


def world_with(node: Resources, *requests: Resources) -> World:
    tasks = [Task(str(i), Shape(request)) for i, request in enumerate(requests)]
    return compose(Scenario(Cluster((Node("n", node),)), Work.from_tasks(tasks))).world


def half(share_e4: int) -> Resources:
    return Resources(gpus=1, gpu_share_e4=share_e4)


@pytest.mark.parametrize(
    ("first", "second", "devices", "together"),
    [
        pytest.param(half(5000), half(5000), 1, True, id="two halves share a device"),
        pytest.param(half(6000), half(6000), 1, False, id="two parts of six tenths do not"),
        pytest.param(half(6000), half(6000), 2, True, id="but each finds one of two devices"),
        pytest.param(half(5000), Resources(gpus=1), 1, False, id="a whole device is not what a half leaves"),
        pytest.param(half(5000), Resources(gpus=2), 2, False, id="nor are a whole and a half two whole ones"),
        pytest.param(Resources(gpus=1), Resources(gpus=1), 2, True, id="two whole ones on two devices"),
    ],
)
def test_devices_are_not_a_sum(first: Resources, second: Resources, devices: int, together: bool) -> None:
    w = world_with(Resources(gpus=devices), first, second)
    move(w, w.free, 0, w.shape[0], pick_devices(w, w.free, 0, w.shape[0]), -1)
    assert fits(w, w.free, 0, w.shape[1]) is together


def test_a_share_goes_where_least_is_left_so_that_whole_devices_stay_whole() -> None:
    w = world_with(Resources(gpus=3), half(3000), half(2000), Resources(gpus=2))
    assert pick_devices(w, w.free, 0, w.shape[0]) == 0b001
    move(w, w.free, 0, w.shape[0], 0b010, -1)  # the second device has 0.7 left
    assert pick_devices(w, w.free, 0, w.shape[1]) == 0b010
    assert pick_devices(w, w.free, 0, w.shape[2]) == 0b101


requests = st.builds(
    lambda cpu, memory, gpus, share: Resources(cpu, memory, gpus, share if gpus == 1 else 10_000),
    st.integers(0, 2000),
    st.integers(0, 2**30),
    st.integers(0, 2),
    st.integers(1, 10_000),
)


@pytest.mark.property
@given(st.lists(requests, min_size=1, max_size=12))
def test_what_is_taken_is_given_back(wanted: list[Resources]) -> None:
    w = world_with(Resources(8000, 2**32, 4), *wanted)
    before, taken = w.free.copy(), list[tuple[int, int]]()
    for task in range(len(wanted)):
        s = int(w.shape[task])
        if fits(w, w.free, 0, s):
            taken.append((s, pick_devices(w, w.free, 0, s)))
            move(w, w.free, 0, *taken[-1], -1)
            assert int(w.free.min()) >= 0
    for s, devices in reversed(taken):
        move(w, w.free, 0, s, devices, 1)
    assert (w.free == before).all()
