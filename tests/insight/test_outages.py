"""Faults and closed nodes as stretches of time."""

import pytest

from gnomon.engine.log import Kind, Reason
from gnomon.insight.outages import DOWN, by_node, closed, outages
from gnomon.model.cluster import Cluster
from gnomon.model.operation import ControlPlane, Operation
from gnomon.model.resources import NEVER
from tests.insight.faulty import Tale, machines
from tests.insight.stories import S, task

pytestmark = pytest.mark.unit


def spans(found: dict[int, list[tuple[int, int]]]) -> dict[int, list[tuple[int, int]]]:
    return {node: [(b // S, e if e == NEVER else e // S) for b, e in some] for node, some in found.items()}


def test_a_heal_row_of_a_node_ends_the_fault_there_and_one_of_none_ends_it_everywhere() -> None:
    tale = Tale(machines(1, 1, 1), [])
    for node in range(3):
        tale.fault(1, "crash", node, number=7)
    tale.fault(2, "slow", 0, number=8)
    tale.heal(3, 1, number=7)
    tale.heal(5, number=7)
    tale.fault(6, "crash", 1, number=7)
    found = outages(tale.past)
    assert [(o.node, o.begin_ns // S, min(o.end_ns, 9 * S) // S) for o in found] == [
        (0, 1, 5),
        (1, 1, 3),
        (2, 1, 5),
        (0, 2, 9),
        (1, 6, 9),
    ]
    assert spans(by_node(tale.past, found, DOWN)) == {0: [(1, 5)], 1: [(1, 3), (6, NEVER)], 2: [(1, 5)]}


def test_a_pool_is_one_node() -> None:
    tale = Tale(Cluster.of_processors(4), [task("a")])
    tale.fault(1, "crash", number=0)
    tale.heal(2, number=0)
    assert spans(by_node(tale.past, outages(tale.past), DOWN)) == {0: [(1, 2)]}


def test_a_node_is_closed_until_the_last_reason_is_gone() -> None:
    tale = Tale(machines(1, 1), [])
    tale.row(1, Kind.CLOSE, node=0, reason=Reason.LOST)
    tale.row(2, Kind.CLOSE, node=0, reason=Reason.CORDONED)
    tale.row(3, Kind.OPEN, node=0, reason=Reason.LOST)
    tale.row(6, Kind.OPEN, node=0, reason=Reason.CORDONED)
    tale.row(7, Kind.CLOSE, node=1, reason=Reason.LOST)
    tale.row(8, Kind.OPEN, node=1)
    tale.row(9, Kind.CLOSE, node=1, reason=Reason.LOST)
    assert spans(closed(tale.log)) == {0: [(1, 6)], 1: [(7, 8), (9, NEVER)]}


def test_a_node_that_crashes_while_it_is_down_is_back_with_the_first_fault() -> None:
    tale = Tale(machines(1), [])
    tale.fault(1, "crash", 0, number=0)
    tale.fault(2, "reboot", 0, number=1)
    tale.heal(4, 0, number=0)
    assert spans(by_node(tale.past, outages(tale.past), DOWN)) == {0: [(1, 4)]}


@pytest.mark.parametrize(
    ("targets", "others", "cut"),
    [
        ("node/n0 node/n1", "", [0, 1]),  # the control plane is with the rest
        ("node/n0 control/0", "", [0]),  # with the minority of its members
        ("node/n0 control/0 control/1", "", [1, 2]),  # with the majority
        ("node/n0", "node/n1", []),  # they do not hear of each other, the control plane hears of both
        ("node/n0", "control/*", [0]),
    ],
)
def test_a_partition_cuts_off_the_nodes_on_the_side_without_the_control_plane(
    targets: str, others: str, cut: list[int]
) -> None:
    tale = Tale(machines(1, 1, 1), [], Operation(control=ControlPlane(members=3)))
    row = tale.fault(1, "partition")
    tale.details[row] |= {"targets": targets, **({"others": others} if others else {})}
    tale.heal(5)
    assert spans(by_node(tale.past, outages(tale.past), DOWN)) == {node: [(1, 5)] for node in cut}
