"""When a silent node is noticed and given up, and who decides: against the numbers of the sheets of real systems."""

from collections.abc import Sequence

import pytest

from gnomon.api import NEVER, Kind, Node, Run, Task
from gnomon.model.cluster import Cluster
from gnomon.model.fault import Fault
from gnomon.model.operation import ControlPlane, Eviction, Heartbeat, Operation, Probe
from tests.builders import S, amount, task
from tests.control.reading import crash, fault, part, play, seen, times, values

LEASES = Heartbeat(10 * S, 5 * S, 50 * S, "seen")
TAINTS = Eviction(300 * S, 10 * S, "zone", 5_500, 2, 50, 100 * S, all_stop=True)
KUBERNETES = Operation(detection=LEASES, eviction=TAINTS)
SLURM = Operation(detection=Heartbeat(100 * S, 100 * S, 300 * S, lag=1))
YARN = Operation(detection=Heartbeat(S, 0, 600 * S))
RAY = Operation(detection=Probe(3 * S, 10 * S, 5))


def zones(**sizes: int) -> Cluster:
    """Nodes of 4 CPUs: so many in each zone."""
    return Cluster(
        tuple(
            Node(f"{zone}{number}", amount(4), labels=(("zone", zone),))
            for zone, size in sizes.items()
            for number in range(size)
        )
    )


def full(cluster: Cluster) -> list[Task]:
    """A task on each node, for long."""
    return [task(f"t{number}", 4, 5_000) for number in range(len(cluster.nodes))]


def given_up(cluster: Cluster, lost: Sequence[str], operation: Operation = KUBERNETES) -> list[float]:
    """When nodes are given up that are lost at 100 s."""
    return times(play(full(cluster), [crash(100, 2_000, *lost)], operation, cluster=cluster), Kind.FAIL)[: len(lost)]


# ------------------------------------------------------------------ silence


@pytest.mark.parametrize("second", range(100, 111))
def test_leases_pods_are_deleted_350_to_360_s_after_the_last_renewal(second: int) -> None:
    run = play([task("t", 4, 2_000)], [crash(second, 800, "n0")], KUBERNETES)
    renewal = second // 10 * 10
    (noticed,), (deleted,) = times(run, Kind.NOTICE), times(run, Kind.FAIL)
    assert 50 < noticed - renewal <= 60
    assert 350 < deleted - renewal <= 360


@pytest.mark.parametrize("second", [1_000, 1_001, 1_050, 1_099])
def test_ping_rounds_a_node_is_down_400_to_500_s_after_the_last_contact(second: int) -> None:
    run = play([task("t", 4, 3_000)], [crash(second, 900, "n0")], SLURM)
    (down,) = times(run, Kind.NOTICE)
    assert 400 <= down - second <= 500
    assert times(run, Kind.FAIL) == [down]


def test_liveness_monitor_a_node_is_lost_600_s_after_its_last_heartbeat() -> None:
    assert times(play([task("t", 4, 2_000)], [crash(100, 900, "n0")], YARN), Kind.NOTICE) == [700]


def test_health_checks_a_silent_node_is_dead_after_65_s() -> None:
    run = play([task("t", 4, 2_000)], [crash(99, 900, "n0")], RAY)
    assert times(run, Kind.NOTICE) == [102 + 4 * 13 + 10]


def test_a_node_that_is_back_in_time_is_never_noticed() -> None:
    run = play([task("t", 4, 200)], [crash(100, 54, "n0")], KUBERNETES)
    assert seen(run, Kind.NOTICE, Kind.CLOSE, Kind.FAIL) == [(154, "FAIL", "t@n0", "NODE")]
    assert times(run, Kind.END) == [354]


def test_a_node_that_is_back_before_it_is_given_up_is_not() -> None:
    run = play([task("t", 4, 500)], [part(100, 100, "n0")], KUBERNETES)
    assert seen(run, Kind.CLOSE, Kind.OPEN, Kind.FAIL, Kind.END) == [
        (155, "CLOSE", "@n0", "LOST"),
        (200, "OPEN", "@n0", "LOST"),
        (500, "END", "t@n0"),
    ]


def test_without_a_rule_it_is_noticed_and_given_up_at_once() -> None:
    run = play([task("t", 4, 50)], [crash(10, 5, "n0")])
    assert seen(run, Kind.NOTICE, Kind.FAIL, Kind.START)[1:] == [
        (10, "NOTICE", "@n0", "LOST"),
        (10, "FAIL", "t@n0", "NODE"),
        (10, "START", "t@n1"),
    ]


# ------------------------------------------------------------------ how fast nodes are given up


def test_in_a_zone_one_node_after_the_other_is_given_up() -> None:
    cluster = zones(a=20)
    assert given_up(cluster, [f"a{i}" for i in range(5)]) == [455, 465, 475, 485, 495]


def test_each_zone_has_a_rate_of_its_own() -> None:
    cluster = zones(a=10, b=10)
    assert given_up(cluster, ["a0", "a1", "b0", "b1"]) == [455, 455, 465, 465]


def test_a_small_zone_of_which_most_is_lost_stops() -> None:
    assert given_up(zones(a=10, b=10), [f"a{i}" for i in range(6)]) == [2_100] * 6  # when they are back


def test_more_than_half_is_not_enough_with_two_nodes() -> None:
    assert given_up(zones(a=3, b=10), ["a0", "a1"]) == [455, 465]


def test_a_large_zone_goes_ten_times_slower() -> None:
    cluster = zones(a=60, b=2)
    found = given_up(cluster, [f"a{i}" for i in range(36)], Operation(detection=LEASES, eviction=TAINTS))
    assert found[:4] == [455, 555, 655, 755]


def test_a_zone_that_is_lost_whole_goes_at_full_speed() -> None:
    assert given_up(zones(a=4, b=4), ["a0", "a1", "a2", "a3"]) == [455, 465, 475, 485]


def test_when_all_zones_are_lost_nothing_is_given_up() -> None:
    lost = ["a0", "a1", "b0", "b1"]
    assert given_up(zones(a=2, b=2), lost) == [2_100] * 4


# ------------------------------------------------------------------ who decides


def led(run: Run) -> list[tuple[float, int]]:
    """When leaders changed, and to whom."""
    return list(zip(times(run, Kind.LEAD), values(run, Kind.LEAD), strict=True))


def test_the_next_leader_begins_after_the_lease() -> None:
    operation = Operation(control=ControlPlane(3, lease_ns=15 * S))
    run = play([task("a", 1, 5), task("b", 1, 5, at=62)], [fault(Fault.LEADER, 60, 500)], operation)
    assert led(run) == [(60, -1), (75, 1)]
    assert times(run, Kind.START, "b") == [75]


def test_without_a_second_member_nobody_decides_until_it_is_back() -> None:
    run = play([task("a", 1, 5, at=62)], [fault(Fault.LEADER, 60, 100)])
    assert led(run) == [(60, -1), (160, 0)]
    assert seen(run, Kind.WAIT, Kind.START) == [(62, "WAIT", "a", "NO_LEADER"), (160, "START", "a@n0")]


def test_an_even_split_elects_nobody() -> None:
    operation = Operation(control=ControlPlane(4))
    run = play(
        [task("a", 1, 5, at=20)], [part(10, 50, "control/0", "control/1", others=("control/2", "control/3"))], operation
    )
    assert led(run) == [(10, -1), (60, 0)]
    assert times(run, Kind.START) == [60]


def test_three_of_five_go_on() -> None:
    operation = Operation(control=ControlPlane(5))
    cut = part(10, 50, "control/0", "control/1", others=("control/2", "control/3", "control/4"))
    run = play([task("a", 1, 5, at=20)], [cut], operation)
    assert led(run)[0] == (10, 2)
    assert times(run, Kind.START) == [20]


def test_nobody_is_noticed_or_given_up_while_nobody_leads() -> None:
    faults = [crash(10, 90, "n0"), fault(Fault.LEADER, 5, 50)]
    run = play([task("t", 4, 20)], faults)
    assert seen(run, Kind.NOTICE, Kind.FAIL) == [(55, "NOTICE", "@n0", "LOST"), (55, "FAIL", "t@n0", "NODE")]


def test_a_new_leader_listens_for_the_whole_grace_first() -> None:
    operation = Operation(detection=Heartbeat(0, 0, 30 * S), control=ControlPlane(3, lease_ns=10 * S))
    run = play([task("t", 4, 200)], [crash(10, 90, "n0"), fault(Fault.LEADER, 20, 500)], operation)
    assert led(run)[1] == (30, 1)
    assert times(run, Kind.NOTICE) == [60]


def test_messages_that_come_late_make_a_false_alarm() -> None:
    late = fault(Fault.DELAY, 100, 500, "n0", amount=60 * S)
    run = play([task("t", 4, 400)], [late], Operation(detection=LEASES))
    assert seen(run, Kind.NOTICE, Kind.FAIL, Kind.OPEN) == [
        (155, "NOTICE", "@n0", "LOST"),
        (155, "FAIL", "t@n0", "NODE"),
        (170, "OPEN", "@n0", "LOST"),
    ]


def test_a_short_delay_is_not_noticed() -> None:
    late = fault(Fault.DELAY, 100, 500, "n0", amount=40 * S)
    assert times(play([task("t", 4, 400)], [late], Operation(detection=LEASES)), Kind.NOTICE) == []


@pytest.mark.parametrize("chance", [500, 9_000])
def test_messages_may_be_lost_without_an_end(chance: int) -> None:
    """A run without a horizon is over when its task is done."""
    rule = Operation(detection=Heartbeat(10 * S, 5 * S, 40 * S), eviction=Eviction(after_ns=10**6 * S))
    run = play([task("t", 1, 10_000)], [fault(Fault.LOSS, 0, NEVER, "n0", amount=chance)], rule)
    assert times(run, Kind.END) == [10_000]
    assert (len(times(run, Kind.NOTICE)) > 10) is (chance > 5_000)
