"""Pods on nodes that are lost, from the NoExecute taint on (sheet section 9, user problem U14)."""

from __future__ import annotations

import pytest

from gnomon.engine.log import Kind, Reason
from gnomon.systems.kubernetes.api.constraints import Toleration
from gnomon.systems.kubernetes.api.objects import Owner, Pod, PodSpec
from gnomon.systems.kubernetes.controllers.loss import Loss
from tests.systems.kubernetes.desks import Place

KEY = "node.kubernetes.io/unreachable"
FAILED = ("fail", 0, Reason.NODE)


def lost(pod: Pod, *, at_s: int = 100) -> tuple[Place, Loss]:
    """A pod on node 7, which gets its taint at a time."""
    place = Place(pod)
    place.desk.create(0, -1)
    place.run(0, node=7)
    place.at(at_s)
    loss = Loss(place.desk)
    loss.turn(7, -1)
    return place, loss


def when_deleted(place: Place, loss: Loss, *, until_s: int = 1_000) -> int | None:
    """The second at which the pod is deleted."""
    for second in range(100, until_s):
        place.at(second)
        loss.sync()
        if place.hands.asked or loss.deleted:
            return second
    return None


def tolerating(seconds: int | None, key: str = KEY) -> Pod:
    return Pod("p", spec=PodSpec(tolerations=(Toleration(key, "Exists", "", "NoExecute", seconds),)))


@pytest.mark.parametrize(
    ("pod", "second"),
    [
        (Pod("p"), 400),  # DefaultTolerationSeconds: 300 s
        (tolerating(20), 120),
        (tolerating(20, key=""), 120),
        (tolerating(0), 100),
        (tolerating(None), None),
        (tolerating(20, key="another"), 400),
    ],
)
def test_a_pod_is_deleted_when_its_toleration_is_over(pod: Pod, second: int | None) -> None:
    assert when_deleted(*lost(pod)) == second


def test_it_is_lost_and_may_be_replaced() -> None:
    place, loss = lost(Pod("p", owner=Owner("ReplicaSet", "r")))
    when_deleted(place, loss)
    assert (place.hands.asked, loss.deleted) == ([FAILED], set())


def test_of_a_stateful_set_it_is_marked_and_stays() -> None:
    place, loss = lost(Pod("s-0", owner=Owner("StatefulSet", "s")))
    assert when_deleted(place, loss) == 400
    assert (place.hands.asked, loss.deleted) == ([], {0})
    details = {"reason": "TaintManagerEviction", "message": "Marking for deletion Pod default/s-0"}
    assert place.world.said == [(Kind.EVENT, 0, {**details, "about": "Pod default/s-0"})]


def test_the_mark_is_gone_when_the_node_is_heard_of() -> None:
    place, loss = lost(Pod("s-0", owner=Owner("StatefulSet", "s")))
    when_deleted(place, loss)
    loss.back(7)
    assert loss.deleted == set()


@pytest.mark.parametrize("act", ["spare", "back"])
def test_a_node_that_is_spared_or_back_in_time_loses_no_pod(act: str) -> None:
    place, loss = lost(Pod("p"))
    place.at(399)
    getattr(loss, act)(7)
    assert when_deleted(place, loss) is None


def test_other_nodes_keep_theirs() -> None:
    place, loss = lost(Pod("p"))
    loss.back(3)
    assert when_deleted(place, loss) == 400


def test_a_pod_that_went_meanwhile_is_not_deleted() -> None:
    place, loss = lost(Pod("p"))
    place.desk.gone(0, -1)
    assert when_deleted(place, loss) is None
