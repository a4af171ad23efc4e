"""What all controllers share: which pods there are, which of them count, when they are ready, who looks again."""

from __future__ import annotations

from typing import Any, cast

import pytest

from gnomon.engine.log import Kind
from gnomon.systems.kubernetes.api.objects import Pod
from gnomon.systems.kubernetes.api.policies import ResourceQuota
from gnomon.systems.kubernetes.read.annotations import READY_AFTER, STOPS_AFTER
from tests.systems.kubernetes.desks import Place, Watcher

ONE = ResourceQuota("q", hard={"pods": 1})
FULL = 'pods "b" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1'


class TestCreating:
    def test_a_pod_that_is_created_is_there_and_waits_for_the_scheduler(self) -> None:
        place = Place(Pod("a"))
        place.at(3)
        assert place.desk.create(0, -1) is None
        assert (place.desk.created, place.queue) == ({0: 3 * 10**9}, [0])

    def test_one_beyond_a_quota_is_not_created(self) -> None:
        place = Place(Pod("a"), Pod("b"), quotas=[ONE])
        assert [place.desk.create(task, -1) for task in (0, 1)] == [None, FULL]
        assert (list(place.desk.created), place.queue) == ([0], [0])

    def test_one_that_the_api_server_never_takes_is_refused_each_time(self) -> None:
        place = Place(Pod("a"))
        place.desk.refused[0] = "no"
        assert [place.desk.create(0, -1) for _ in range(2)] == ["no", "no"]

    def test_those_that_are_there_are_kept_count_of(self) -> None:
        place = Place(Pod("a"), Pod("b"), Pod("c"))
        alive = place.desk.alive_of([0, 1])
        for task in range(3):
            place.desk.create(task, -1)
        assert alive == {0, 1}
        place.desk.gone(0, -1)
        assert alive == {1}


class TestRefusals:
    def test_the_same_words_are_said_once(self) -> None:
        place = Place(Pod("a"))
        rows = [place.desk.refusal(0, text) for text in ("full", "full", "fuller")]
        assert rows[0] == rows[1] != rows[2]
        assert [details["message"] for _, _, details in place.world.said] == [
            "Error creating: full",
            "Error creating: fuller",
        ]

    def test_who_is_not_even_tried_says_why_once(self) -> None:
        place = Place(Pod("a"))
        for text in ("full", "fuller"):
            place.desk.refusal(0, text, again=False)
        assert [details["message"] for _, _, details in place.world.said] == ["Error creating: full"]


class TestStopping:
    """A pod that was deleted does not count for its controller, and counts with the quota until it is gone."""

    @pytest.fixture
    def place(self) -> Place:
        place = Place(Pod("a"), Pod("b"), quotas=[ONE])
        place.desk.create(0, -1)
        place.run(0, node=7)
        row = place.world.row(Kind.CANCEL, task=0, node=7)
        place.world.row(Kind.COPY, task=0, node=7)
        place.desk.gone(0, row)
        return place

    def test_it_is_stopping(self, place: Place) -> None:
        assert place.desk.created == {}
        assert place.desk.is_stopping(0)

    def test_it_holds_its_quota(self, place: Place) -> None:
        assert place.desk.create(1, -1) == FULL

    def test_when_it_has_stopped_there_is_room_for_another(self, place: Place) -> None:
        place.desk.copy_gone(0, 7)
        assert not place.desk.is_stopping(0)
        assert place.desk.create(1, -1) is None


class TestLostNodes:
    """Nobody knows what became of a pod that was deleted on a node that is silent."""

    @pytest.fixture
    def place(self) -> Place:
        place = Place(Pod("a"), Pod("b"), quotas=[ONE])
        place.desk.create(0, -1)
        place.run(0, node=7)
        place.desk.lost_nodes.add(7)
        return place

    def test_its_pods_are_not_ready(self, place: Place) -> None:
        assert not place.desk.is_ready(0)
        place.at(60)
        place.desk.node_back(7)
        assert place.desk.is_ready(0)
        assert place.desk.ready_from[0] == 60 * 10**9

    def test_a_pod_that_is_deleted_there_stays_until_the_node_is_heard_of(self, place: Place) -> None:
        place.desk.gone(0, place.world.row(Kind.FAIL, task=0, node=7))
        assert place.desk.is_stopping(0)
        assert place.desk.create(1, -1) == FULL
        place.desk.node_back(7)
        assert not place.desk.is_stopping(0)
        assert place.desk.create(1, -1) is None


class TestDeleting:
    def test_one_that_runs_has_its_grace_period(self) -> None:
        place = Place(Pod("a"), Pod("b", annotations={STOPS_AFTER: "4s"}), Pod("c"))
        for task in range(3):
            place.desk.create(task, -1)
        for task in range(2):
            place.run(task, node=0)
        for task in range(3):
            place.desk.delete(task, -1)
        assert place.hands.asked == [("withdraw", 0, 30), ("withdraw", 1, 4), ("withdraw", 2, 0)]
        assert (place.desk.created, 2 in place.queue) == ({}, False)


class TestReadiness:
    def test_a_pod_is_ready_when_it_says_and_its_controller_is_told_both_times(self) -> None:
        place, one = Place(Pod("a", annotations={READY_AFTER: "20s"})), Watcher()
        place.desk.create(0, -1)
        place.run(0, 0, one)
        assert (place.desk.is_ready(0), one.woken) == (False, 1)
        place.at(20)
        assert (place.desk.is_ready(0), one.woken) == (True, 2)

    def test_it_is_available_when_it_was_ready_for_long_enough_and_is_looked_at_then(self) -> None:
        place, one = Place(Pod("a")), cast(Any, Watcher())
        place.run(0, 0)
        place.at(5)
        assert not place.desk.is_available(0, 10, one)
        assert place.desk.take_dirty() == []
        place.at(10)
        assert place.desk.take_dirty() == [one]
        assert place.desk.is_available(0, 10, one)


class TestMoments:
    def test_whoever_is_touched_often_looks_once(self) -> None:
        place, one = Place(), cast(Any, Watcher())
        place.desk.touch(one)
        place.desk.touch(one)
        assert place.desk.take_dirty() == [one]
        assert place.desk.take_dirty() == []

    def test_a_moment_that_is_over_is_now(self) -> None:
        place, one = Place(), cast(Any, Watcher())
        place.at(9)
        place.desk.at(4, one)
        place.at(9)
        assert place.desk.take_dirty() == [one]
