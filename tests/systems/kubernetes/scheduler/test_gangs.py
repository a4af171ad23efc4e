"""Gangs by PodGroups of the coscheduling plugin, and what happens without (sheet §6, user problem U18)."""

from __future__ import annotations

import pytest

from gnomon.engine.log import Kind
from gnomon.model.errors import InputError
from tests.systems.kubernetes.play import Object, events, node, play, pod, rows, starts

LABEL = "scheduling.x-k8s.io/pod-group"


def group(name: str, least: int, timeout: int | None = None) -> Object:
    spec = {"minMember": least} | ({"scheduleTimeoutSeconds": timeout} if timeout is not None else {})
    return {"apiVersion": "scheduling.x-k8s.io/v1alpha1", "kind": "PodGroup", "metadata": {"name": name}, "spec": spec}


def member(gang: str, number: int, *, cpu: str = "1", **more: object) -> Object:
    return pod(f"{gang}{number}", None, {LABEL: gang}, requests={"cpu": cpu}, **more)


def interleaved(count: int) -> list[Object]:
    """Members of two gangs as they come, one of each in turn."""
    return [member(gang, number) for number in range(count) for gang in ("a", "b")]


def test_all_start_when_the_last_has_its_node() -> None:
    objects = [node("n1", cpu="4"), group("a", 3), member("a", 0), member("a", 1)]
    run = play(objects, until_s=100, changes=[(30, [member("a", 2)])])
    assert {when for when, _ in starts(run)} == {30}
    assert len(starts(run)) == 3


def test_they_do_not_hold_nodes_while_there_are_too_few_of_them() -> None:
    run = play([node("n1"), group("a", 3), member("a", 0), member("a", 1)], until_s=100)
    assert rows(run, Kind.HOLD) == []
    messages = [str(one["message"]) for one in run.log.details.values() if "message" in one]
    assert messages[0] == (
        "0/1 nodes are available: pre-filter pod a0 cannot find enough sibling pods, current pods number: 2, "
        "minMember of group: 3. not found"
    )


def test_without_groups_two_jobs_hold_half_of_the_cluster_each() -> None:
    run = play([node("n1", cpu="4"), *interleaved(3)], until_s=7200)
    assert sorted(task for _, task in starts(run)) == ["a0", "a1", "b0", "b1"]  # and nobody ever gets his third


def test_with_groups_one_of_them_runs_whole() -> None:
    run = play([node("n1", cpu="4"), group("a", 3), group("b", 3), *interleaved(3)], until_s=7200)
    began = {task[0] for _, task in starts(run)}
    assert len(began) == 1
    assert len(starts(run)) == 3
    assert {row[4] for row in rows(run, Kind.FAIL)} <= {"PEER"}


def test_who_waits_too_long_gives_his_place_back() -> None:
    gated = member("a", 2, schedulingGates=[{"name": "example.com/hold"}])
    objects = [node("n1", cpu="4"), group("a", 3), member("a", 0), member("a", 1), gated]
    run = play(objects, until_s=61)
    assert [row[0] for row in rows(run, Kind.HOLD)][:2] == [0, 0]
    assert [(row[0], row[4]) for row in rows(run, Kind.FAIL)] == [(60, "PEER"), (60, "PEER")]
    run = play([node("n1", cpu="4"), group("a", 3, 10), member("a", 0), member("a", 1), gated], until_s=11)
    assert [row[0] for row in rows(run, Kind.FAIL)] == [10, 10]


def test_u18_a_quota_takes_the_pods_one_by_one_and_no_gang_is_ever_whole() -> None:
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "gpus"},
        "spec": {"hard": {"requests.nvidia.com/gpu": "4"}},
    }
    whole = node("n1")
    for amounts in whole["status"].values():
        amounts["nvidia.com/gpu"] = "8"
    pods = [
        pod(f"{gang}{number}", None, {LABEL: gang}, limits={"nvidia.com/gpu": "1"})
        for number in range(4)
        for gang in ("a", "b")
    ]
    groups = [group("a", 4), group("b", 4)]
    run = play([whole, quota, *groups, *pods], until_s=7200)
    assert starts(run) == []  # eight GPUs are idle
    assert [row[2] for row in rows(run, Kind.REJECT)] == ["a2", "b2", "a3", "b3"]
    assert "exceeded quota: gpus" in events(run)[0][2]
    first_a = sorted(pods, key=lambda one: one["metadata"]["name"])
    assert len(starts(play([whole, quota, *groups, *first_a], until_s=7200))) == 4  # the order decides


def test_a_group_that_is_not_there() -> None:
    with pytest.raises(InputError, match="no PodGroup of this name"):
        play([node("n1"), group("b", 2), member("a", 0)], until_s=10)
