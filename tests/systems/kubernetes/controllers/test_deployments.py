"""Rollouts of Deployments in time: user problems U01, U09 and U11, maxSurge and maxUnavailable, Recreate, deadlines."""

from __future__ import annotations

from typing import Any

import pytest

from gnomon.engine.log import Kind
from tests.systems.kubernetes.play import (
    deletions,
    events,
    node,
    play,
    pod,
    refusals,
    rows,
    spec,
    starts,
    workload,
)

READY_20_STOPS_10 = {"gnomon.dev/ready-after": "20s", "gnomon.dev/stops-after": "10s"}


def shop(version: int, replicas: int = 4, annotations: dict[str, str] | None = None, **more: Any) -> dict[str, Any]:
    template = spec(image=f"shop:{version}", requests={"cpu": "100m"})
    return workload("Deployment", "shop", replicas, template, annotations or READY_20_STOPS_10, **more)


def stem(task: str) -> str:
    return "old" if task in {f"shop-{k}" for k in range(10)} else "new"


def levels(run: Any) -> dict[float, int]:
    """By seconds, how many pods run and are not terminating after each instant at which that changes."""
    here: set[str] = set()
    found: dict[float, int] = {}
    for when, kind, task, _, _ in rows(run, Kind.START, Kind.CANCEL):
        here = here | {task} if kind == "START" else here - {task}
        found[when] = len(here)
    return found


class TestRollingUpdate:
    def test_goes_one_by_one_within_surge_and_unavailable(self) -> None:
        # 25 % of 4: one more (rounded up), one fewer (rounded down). Pods are ready after 20 s.
        run = play([node("n1"), shop(1)], until_s=3600, changes=[(600, [shop(2)])])
        new = [(when, stem(task)) for when, task in starts(run) if when >= 600]
        gone = [when for when, _ in deletions(run)]
        assert new == [(600, "new"), (600, "new"), (620, "new"), (620, "new")]
        assert gone == [600, 620, 620, 640]
        assert events(run)[-1][:2] == (640, "NewReplicaSetAvailable")

    def test_never_leaves_the_bounds(self) -> None:
        run = play([node("n1"), shop(1, 10)], until_s=3600, changes=[(600, [shop(2, 10)])])
        assert all(8 <= active <= 13 for when, active in levels(run).items() if when >= 600)

    def test_pods_that_are_ready_at_once_are_replaced_in_one_instant(self) -> None:
        run = play(
            [node("n1"), shop(1, annotations={"a": "b"})],
            until_s=900,
            changes=[(600, [shop(2, annotations={"a": "b"})])],
        )
        assert {when for when, _ in deletions(run)} == {600}

    def test_recreate_waits_until_the_old_have_stopped(self) -> None:
        strategy: dict[str, Any] = {"strategy": {"type": "Recreate"}}
        run = play([node("n1"), shop(1, **strategy)], until_s=3600, changes=[(600, [shop(2, **strategy)])])
        assert {when for when, _ in deletions(run)} == {600}
        assert {when for when, task in starts(run) if stem(task) == "new"} == {610}

    def test_a_pod_that_is_never_ready_stops_it_and_the_deadline_is_told(self) -> None:
        bad = shop(2, annotations={"gnomon.dev/ready-after": "1000h"})
        run = play([node("n1"), shop(1)], until_s=3600, changes=[(600, [bad])])
        assert len(deletions(run)) == 1
        assert [(when, reason) for when, reason, _ in events(run)][-1] == (1200, "ProgressDeadlineExceeded")

    def test_scaling_alone_makes_no_new_version(self) -> None:
        run = play([node("n1"), shop(1, 2)], until_s=900, changes=[(600, [shop(1, 3)])])
        assert [when for when, _ in starts(run)] == [0, 0, 600]
        run = play([node("n1"), shop(1, 3)], until_s=900, changes=[(300, [shop(1, 1)]), (600, [shop(1, 2)])])
        assert [when for when, _ in deletions(run)] == [300, 300]
        assert [when for when, _ in starts(run)] == [0, 0, 0, 600]


def spread(version: int, *, by_hash: bool = False) -> dict[str, Any]:
    rule: dict[str, Any] = {
        "maxSkew": 1,
        "topologyKey": "kubernetes.io/hostname",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "app1"}},
    }
    if by_hash:
        rule["matchLabelKeys"] = ["pod-template-hash"]
    template = spec(image=f"app:{version}", topologySpreadConstraints=[rule])
    rolling = {"strategy": {"rollingUpdate": {"maxSurge": 2, "maxUnavailable": 0}}}
    return workload("Deployment", "app1", 5, template, {"gnomon.dev/ready-after": "5s"}, **rolling)


class TestU01SkewAfterARollout:
    nodes = (node("n1"), node("n2"), node("n3"))

    def layouts(self, seed: int, *, by_hash: bool) -> tuple[list[str], list[str]]:
        """The nodes of the old pods and of the new ones, in the order of their starts."""
        changes = [(600, [spread(2, by_hash=by_hash)])]
        run = play([*self.nodes, spread(1, by_hash=by_hash)], until_s=3600, changes=changes, seed=seed)
        started = rows(run, Kind.START)
        old, new = ([one[3] for one in started if bool(one[0] >= 600) == late] for late in (False, True))
        assert (len(old), len(new)) == (5, 5)
        return old, new

    def counts(self, where: list[str]) -> list[int]:
        return sorted(where.count(one) for one in ("n1", "n2", "n3"))

    def test_the_first_new_pod_has_to_go_where_one_old_pod_is(self) -> None:
        for seed in range(8):
            old, new = self.layouts(seed, by_hash=False)
            assert self.counts(old) == [1, 2, 2]
            assert old.count(new[0]) == 1

    def test_counted_by_version_the_new_layout_is_even(self) -> None:
        for seed in range(8):
            assert self.counts(self.layouts(seed, by_hash=True)[1]) == [1, 2, 2]


def renderer(version: int, unavailable: str | int) -> dict[str, Any]:
    template = spec(image=f"r:{version}", limits={"cpu": "3"}, terminationGracePeriodSeconds=30)
    rolling = {"strategy": {"rollingUpdate": {"maxSurge": "25%", "maxUnavailable": unavailable}}}
    return workload("Deployment", "renderer", 4, template, **rolling)


QUOTA = {
    "apiVersion": "v1",
    "kind": "ResourceQuota",
    "metadata": {"name": "compute"},
    "spec": {"hard": {"limits.cpu": "24"}},
}


class TestU09RolloutAndQuota:
    others = pod("others", limits={"cpu": "9500m"})

    def play(self, unavailable: str | int) -> Any:
        first = [node("n1", cpu="64"), QUOTA, self.others, renderer(1, unavailable)]
        return play(first, until_s=7200, changes=[(600, [renderer(2, unavailable)])])

    def test_without_an_unavailable_pod_it_stalls_for_ever(self) -> None:
        run = self.play(0)
        assert refusals(run)[0][0] == 600
        assert refusals(run)[0][1].endswith(
            "exceeded quota: compute, requested: limits.cpu=3, used: limits.cpu=21500m, limited: limits.cpu=24"
        )
        assert deletions(run) == []
        assert [one[:2] for one in events(run)] == [(600, "ScalingReplicaSet"), (1200, "ProgressDeadlineExceeded")]

    def test_with_one_it_goes_through_with_delays(self) -> None:
        run = self.play("25%")
        assert deletions(run)[0][0] == 600
        # Room at 630, when the old pod has stopped; the retries are at 0.005 * (2^n - 1): 20.475, 40.955.
        assert starts(run)[5][0] == pytest.approx(640.955)
        assert events(run)[-1][1] == "NewReplicaSetAvailable"


class TestU11RetriesDoubleBeyondTheNeed:
    def full(self, version: int, grace: int) -> dict[str, Any]:
        template = spec(image=f"f:{version}", requests={"memory": "64Mi"}, terminationGracePeriodSeconds=grace)
        rolling = {"strategy": {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}}
        return workload("Deployment", "full", 2, template, **rolling)

    @pytest.mark.parametrize(("grace", "seconds"), [(90, 163.835), (700, 1310.715)])
    def test_the_first_new_pod_comes_late(self, grace: int, seconds: float) -> None:
        quota = {**QUOTA, "spec": {"hard": {"requests.memory": "150Mi"}}}
        objects = [node("n1"), quota, self.full(1, grace)]
        run = play(objects, until_s=7200, changes=[(600, [self.full(2, grace)])])
        assert starts(run)[2][0] - 600 == pytest.approx(seconds)


class TestAdmission:
    def test_a_bare_pod_is_refused_once(self) -> None:
        quota = {**QUOTA, "spec": {"hard": {"pods": "1"}}}
        run = play([node("n1"), quota, pod("a"), pod("b")], until_s=60)
        assert [row[:3] for row in rows(run, Kind.REJECT)] == [(0, "REJECT", "b")]
        assert events(run)[0][2] == (
            'Error from server (Forbidden): pods "b" is forbidden: exceeded quota: compute, '
            "requested: pods=1, used: pods=1, limited: pods=1"
        )

    def test_a_limit_range_fills_in_and_refuses(self) -> None:
        items = [{"type": "Container", "max": {"cpu": "2"}, "default": {"cpu": "1"}}]
        limits = {"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "r"}, "spec": {"limits": items}}
        run = play([node("n1"), limits, pod("a"), pod("b", limits={"cpu": "3"})], until_s=60)
        assert [row[2] for row in rows(run, Kind.START)] == ["a"]
        assert run.scenario.work.shapes[0].request.cpu_milli == 1000
        assert "maximum cpu usage per Container is 2, but limit is 3" in events(run)[0][2]

    def test_a_class_that_is_not_there(self) -> None:
        run = play([node("n1"), workload("Deployment", "web", 1, spec(priorityClassName="gold"))], until_s=60)
        assert refusals(run) == [
            (0, 'Error creating: pods "web-0" is forbidden: no PriorityClass with name gold was found')
        ]
