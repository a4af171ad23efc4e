"""What the log says of pods that the scheduler is not even asked about, or that are not created."""

from __future__ import annotations

import pytest

from gnomon.engine.log import Kind, Reason
from tests.systems.kubernetes.play import Object, node, play, pod, spec, workload

QUOTA: Object = {
    "apiVersion": "v1",
    "kind": "ResourceQuota",
    "metadata": {"name": "q", "namespace": "default"},
    "spec": {"hard": {"pods": "1"}},
}
FULL = 'pods "{}" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1'


def waits(objects: list[Object]) -> list[tuple[str, Reason, str, str]]:
    """(task, reason, the system's word for it, message) of the rows of waiting and refusal."""
    run = play(objects, until_s=600)
    log = run.log
    found = [row for row in range(len(log)) if log.kind[row] in (Kind.WAIT, Kind.REJECT)]
    facts = [(log.details.get(row, {}), row) for row in found]
    return [
        (
            run.scenario.work.id(int(log.subject[row])).partition("/")[2],
            Reason(log.reason[row]),
            str(said.get("reason", "")),
            str(said.get("message", "")),
        )
        for said, row in facts
    ]


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        (
            {"schedulingGates": [{"name": "a/b"}, {"name": "c/d"}]},
            (Reason.GATED, "SchedulingGated", "waiting for scheduling gates: [a/b c/d]"),
        ),
        (
            {"schedulerName": "theirs"},
            (Reason.UNATTENDED, "", "no scheduler of the name theirs is set up, and nobody looks at it"),
        ),
    ],
)
def test_a_pod_that_is_not_tried_says_so(more: Object, expected: tuple[Reason, str, str]) -> None:
    assert waits([node("n1"), pod("p", **more)]) == [("p", *expected)]


def test_a_bare_pod_beyond_a_quota_is_refused_in_the_words_of_the_api_server() -> None:
    assert waits([node("n1"), QUOTA, pod("a"), pod("b")]) == [("b", Reason.OVER_LIMIT, "Forbidden", FULL.format("b"))]


def test_those_behind_a_creation_that_is_refused_wait_for_the_same() -> None:
    """A ReplicaSet stops at the first creation that fails (pkg/controller/replicaset, slowStartBatch)."""
    found = waits([node("n1"), QUOTA, workload("ReplicaSet", "r", 3, spec())])
    refused = Reason.TENANT_LIMIT, "FailedCreate", f"Error creating: {FULL.format('r-1')}"
    assert found == [("r-1", *refused), ("r-2", *refused)]
