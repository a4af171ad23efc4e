"""The disk of a node in use, and the store that spills to it: each rule by an example worked out by hand."""

from __future__ import annotations

import pytest

from gnomon.model.cluster import Machine
from gnomon.model.operation import Enforcement, Pressure
from gnomon.model.usage import Profile
from gnomon.resources.node_use import NodeUse, Running
from tests.resources.nodes import S, cpu, deaths, flat, memory, ramp, run, uses

pytestmark = pytest.mark.unit


def test_who_writes_to_a_full_disk_fails() -> None:
    node = NodeUse(cpu(1_000), Machine(disk_bytes=100), Enforcement())
    node.enter(Running(1, usage=uses(disk=flat(60))), 0)
    node.enter(Running(2, usage=uses(disk=ramp(100, 100))), 0)
    node.enter(Running(3, usage=uses(disk=ramp(100, 50))), 0)
    # 60 + 1.5 t > 100 from 28 ns on (102): the larger of the two that grow goes; the third alone has 40 to go.
    assert deaths(run(node)) == [(28, 2, "disk"), (82, 3, "disk")]


def test_something_fills_the_disk() -> None:
    node = NodeUse(cpu(1_000), Machine(), Enforcement())
    node.enter(Running(1, usage=uses(disk=flat(60))), 0)
    node.enter(Running(2, usage=uses(disk=ramp(1_000, 1_000))), 0)
    assert node.is_idle()
    node.fill_disk(5, 100)
    assert deaths(run(node, 200)) == [(106, 2, "disk")]
    node.fill_disk(None, 300)
    assert node.is_idle()


def test_pressure_on_the_disk_comes_before_it_is_full() -> None:
    rule = Pressure("disk", below=20, order="largest", grace_ns=30)
    node = NodeUse(cpu(1_000), Machine(disk_bytes=100), Enforcement(pressures=(rule,)))
    node.enter(Running(1, usage=uses(disk=flat(50))), 0)
    node.enter(Running(2, usage=uses(disk=ramp(100, 100))), 0)
    # At 31 ns 81 are used; the largest has until 61 to end, but the writer has 50 left only.
    assert deaths(run(node)) == [(31, 1, "evicted"), (51, 2, "disk")]


def test_disk_throughput_is_shared_alike() -> None:
    node = NodeUse(cpu(9_000), Machine(disk_rate=100), Enforcement())
    for task, rate in enumerate((80, 80, 20)):
        node.enter(Running(task, usage=uses(disk_io=flat(rate)), plan_ns=S), 0)
    told = {one.task: (one.cause, one.number("speed_e4")) for one in node.happen(0)}
    assert told == {0: ("disk-io", 5_000), 1: ("disk-io", 5_000)}


def test_a_burst_of_writing_slows_the_others_while_it_lasts() -> None:
    node = NodeUse(cpu(9_000), Machine(disk_rate=100), Enforcement())
    node.enter(Running(1, usage=uses(disk_io=flat(60)), plan_ns=4 * S), 0)
    node.enter(Running(2, usage=uses(disk_io=Profile(((0, 0), (S, 0), (S, 90), (2 * S, 90), (2 * S, 0))))), 0)
    found = [(t, one.task, one.number("speed_e4")) for t, one in run(node, 3 * S)]
    assert found == [(S, 1, 8_333), (S, 2, 5_555), (2 * S, 1, 10_000), (2 * S, 2, 10_000)]


def test_too_slow_a_disk_fails_the_worst_off_until_the_rest_have_enough() -> None:
    node = NodeUse(cpu(9_000), Machine(disk_rate=100), Enforcement(disk_fails_below_e4=6_000))
    for task, rate in enumerate((80, 100, 20)):
        node.enter(Running(task, usage=uses(disk_io=flat(rate))), 0)
    found = run(node, 10)
    assert deaths(found) == [(0, 1, "disk")]
    assert found[0][1].numbers == (("share", 40), ("demand", 100), ("part_e4", 4_000), ("least_e4", 6_000))


@pytest.mark.parametrize(
    ("tasks", "failed"),
    [pytest.param(3, [], id="240 of 295 GB"), pytest.param(5, [(4, "store")], id="105 GB to a disk of 95")],
)
def test_a_store_that_spills_to_a_disk_that_is_full(tasks: int, failed: list[tuple[int, str]]) -> None:
    """User problem U50."""
    gb = 10**9
    machine = Machine(store_bytes=295 * gb, disk_bytes=95 * gb)
    node = NodeUse(memory(984 * gb), machine, Enforcement(spill_rate=gb))
    for task in range(tasks):
        node.enter(Running(task, usage=uses(store=flat(80 * gb)), plan_ns=5_300 * S), task)
        found = run(node, task)
    assert [(task, cause) for _, task, cause in deaths(found)] == failed
    if failed:
        died = next(one for _, one in found if one.kind == "kill")
        assert (died.number("spilled"), died.number("capacity")) == (105 * gb, 95 * gb)


def test_a_store_that_cannot_spill() -> None:
    node = NodeUse(cpu(1_000), Machine(store_bytes=100), Enforcement())
    node.enter(Running(1, usage=uses(store=flat(70))), 0)
    node.enter(Running(2, usage=uses(store=ramp(100, 100))), 10)
    assert deaths(run(node)) == [(41, 2, "store")]


def test_making_room_takes_time() -> None:
    """A jump of 30 bytes too many at 10 bytes/s: three seconds; growth at twice the rate: half the speed."""
    node = NodeUse(cpu(1_000), Machine(store_bytes=100), Enforcement(spill_rate=10))
    node.enter(Running(1, usage=uses(store=flat(80)), plan_ns=10 * S), 0)
    node.enter(Running(2, usage=uses(store=flat(50)), plan_ns=10 * S), 0)
    found = run(node, 9 * S)
    assert [(t, one.kind, one.task, one.number("speed_e4")) for t, one in found] == [
        (0, "spill", -1, None),
        (0, "speed", 1, 0),
        (0, "speed", 2, 0),
        (3 * S, "speed", 1, 10_000),
        (3 * S, "speed", 2, 10_000),
    ]
    assert node.ends() == {1: 13 * S, 2: 13 * S}
    later = NodeUse(cpu(1_000), Machine(store_bytes=100), Enforcement(spill_rate=10))
    later.enter(Running(1, usage=uses(store=Profile(((0, 80), (S, 80), (S, 120)))), plan_ns=10 * S), 5 * S)
    assert [(t, one.kind, one.number("speed_e4")) for t, one in run(later, 14 * S)] == [
        (6 * S, "spill", None),
        (6 * S, "speed", 0),
        (8 * S, "speed", 10_000),
    ]
    grows = NodeUse(cpu(1_000), Machine(store_bytes=100), Enforcement(spill_rate=10))
    grows.enter(Running(1, usage=uses(store=ramp(10 * S, 200)), plan_ns=10 * S), 0)
    told = [(t, one.cause, one.number("speed_e4")) for t, one in run(grows, 12 * S)]
    # 20 bytes/s fill the store in 5 s (the first byte too much: 50 ms later) and go on for 5 s.
    assert told == [(5 * S + S // 20, "spilling", 5_000), (10 * S, "full", 10_000)]


def test_a_disk_that_fills_while_the_store_has_spilled_to_it() -> None:
    """20 of the store's 120 bytes and 10 others lie on the disk; 5 more are left to the one who writes."""
    node = NodeUse(cpu(1_000), Machine(store_bytes=100), Enforcement(spill_rate=S))
    node.enter(Running(1, usage=uses(store=flat(120))), 0)
    node.enter(Running(2, usage=uses(disk=ramp(100, 100))), 50)
    node.fill_disk(5, 60)
    assert deaths(run(node)) == [(66, 2, "disk")]


def test_the_order_of_the_disks_pressure_chooses_who_fails_to_write() -> None:
    """Both grow; 2 is the larger, 1 has the lower priority. Who came later but does not grow is left alone."""
    for order, victim in (("largest", 2), ("lowest-priority", 1)):
        rule = Pressure("disk", below=0, check_ns=1_000, order=order)
        node = NodeUse(cpu(1_000), Machine(disk_bytes=100), Enforcement(pressures=(rule,)))
        node.enter(Running(1, priority=1, usage=uses(disk=ramp(100, 60))), 3)
        node.enter(Running(2, priority=2, usage=uses(disk=ramp(100, 90))), 4)
        node.enter(Running(3, priority=0, usage=uses(disk=flat(1))), 5)
        assert deaths(run(node, 90))[0][1:] == (victim, "disk")
