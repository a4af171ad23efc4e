"""StatefulSets in time: one after the other, from the first up and from the last down."""

from __future__ import annotations

from typing import Any

from gnomon.engine.log import Kind
from gnomon.model.fault import Failure, Fault
from tests.systems.kubernetes.play import S, deletions, node, play, rows, spec, starts, workload

SLOW = {"gnomon.dev/ready-after": "20s", "gnomon.dev/stops-after": "10s"}


def db(version: int, replicas: int = 3, **more: Any) -> dict[str, Any]:
    template = spec(image=f"db:{version}", requests={"cpu": "1"})
    return workload("StatefulSet", "db", replicas, template, SLOW, serviceName="db", **more)


def test_each_pod_waits_until_the_one_before_is_ready() -> None:
    assert starts(play([node("n1"), db(1)], until_s=600)) == [(0, "db-0"), (20, "db-1"), (40, "db-2")]


def test_parallel_ones_do_not_wait() -> None:
    run = play([node("n1"), db(1, podManagementPolicy="Parallel")], until_s=600)
    assert starts(run) == [(0, "db-0"), (0, "db-1"), (0, "db-2")]


def test_an_update_goes_from_the_last_down_each_when_the_one_before_is_there_again() -> None:
    run = play([node("n1"), db(1)], until_s=1200, changes=[(600, [db(2)])])
    assert deletions(run) == [(600, "db-2"), (630, "db-1"), (660, "db-0")]
    assert starts(run)[3:] == [(610, "db-2@2"), (640, "db-1@2"), (670, "db-0@2")]


def test_a_partition_keeps_the_lower_ordinals() -> None:
    held: dict[str, Any] = {"updateStrategy": {"rollingUpdate": {"partition": 2}}}
    run = play([node("n1"), db(1)], until_s=1200, changes=[(600, [db(2, **held)])])
    assert deletions(run) == [(600, "db-2")]


def test_on_delete_nothing_is_done() -> None:
    run = play([node("n1"), db(1)], until_s=1200, changes=[(600, [db(2, updateStrategy={"type": "OnDelete"})])])
    assert deletions(run) == []


def test_scaling_down_goes_from_the_last() -> None:
    run = play([node("n1"), db(1)], until_s=1200, changes=[(600, [db(1, 1)])])
    assert deletions(run) == [(600, "db-2"), (610, "db-1")]


def test_a_pod_that_does_not_fit_keeps_the_others_from_coming() -> None:
    run = play([node("n1", cpu="1500m"), db(1)], until_s=1200)
    assert starts(run) == [(0, "db-0")]
    assert {task for _, _, task, _, _ in rows(run, Kind.ARRIVE)} == {"db-0", "db-1"}


def test_a_pod_on_a_lost_node_is_made_again_when_the_node_is_back_and_not_before() -> None:
    crash = Failure(Fault.CRASH, 600 * S, 3600 * S, ("node/n1",))
    run = play([node("n1", cpu="1500m"), node("n2", cpu="1500m"), db(1, 1)], until_s=7200, faults=[crash])
    where = rows(run, Kind.START)[0][3]
    if where == "n1":
        assert [when for when, _ in starts(run)] == [0, 4200]


def test_back_to_the_version_before_only_what_was_updated_is_made_again() -> None:
    """The update is at db-1 when it is taken back: db-0 is of the right version, and stays."""
    run = play([node("n1"), db(1)], until_s=1200, changes=[(600, [db(2)]), (635, [db(1)])])
    assert [task for _, task in deletions(run)] == ["db-2", "db-1", "db-2@2"]
    assert [task for _, task in starts(run)] == ["db-0", "db-1", "db-2", "db-2@2", "db-1@3", "db-2@3"]


def test_below_a_partition_the_version_comes_that_was_rolled_out_whole() -> None:
    """completeRollingUpdate: after version 2 is everywhere, a pod below the partition is made anew as version 2."""
    held: dict[str, Any] = {"updateStrategy": {"rollingUpdate": {"partition": 2}}}
    down, up = db(3, 1, **held), db(3, 3, **held)
    changes = [(600, [db(2)]), (1000, [db(3, **held)]), (1200, [down]), (1400, [up])]
    run = play([node("n1"), db(1)], until_s=1600, changes=changes)
    assert [task for _, task in starts(run)][-3:] == ["db-2@3", "db-1@2", "db-2@3"]


def test_scaled_down_and_up_again_the_pods_of_the_same_ordinals_come_back() -> None:
    run = play([node("n1"), db(1)], until_s=1200, changes=[(600, [db(1, 1)]), (800, [db(1, 3)])])
    assert starts(run)[3:] == [(800, "db-1"), (820, "db-2")]
