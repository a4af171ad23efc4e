"""Why not on one node: closed, of another kind, full, avoided, set aside, or another was preferred."""

from __future__ import annotations

import pytest

from gnomon.api import explain as explain_run
from gnomon.api import simulate
from gnomon.insight.explain.ground import Ground
from gnomon.insight.explain.situation import Situation
from gnomon.insight.explain.why_not import WhyNot, scores
from gnomon.insight.history import history
from gnomon.model.errors import InputError
from tests.insight.explain.documents import scenario

pytestmark = pytest.mark.unit


def why_not(task: str, node: str, text: str) -> WhyNot:
    found = explain_run(task, simulate(scenario(text), compiled=False), why_not=node).why_not
    assert found is not None
    assert found.as_dict()["reasons"] == list(found.reasons)
    return found


MIXED = """
    cluster:
      nodes:
        - {name: full, cpu: 4, kind: A, labels: {zone: east}}
        - {name: small, cpu: 1, kind: A, labels: {zone: east}}
        - {name: other, cpu: 8, kind: B, labels: {zone: east}}
        - {name: west, cpu: 8, kind: A, labels: {zone: west}}
        - {name: kept, cpu: 4, kind: A, labels: {zone: east}}
    reservations: [{name: works, for: 10h, nodes: [kept]}]
    work:
      - {id: first, cpu: 3, kinds: [A], labels: {zone: east}, duration: 5h}
      - {id: task, cpu: 2, kinds: [A], labels: {zone: east}, submit: 1m, duration: 1h}
    until: 1h
    """


@pytest.mark.parametrize(
    ("node", "reason"),
    [
        ("full", "2 cpu asked, 1 of 4 free (first holds it)"),
        ("small", "2 cpu asked, 1 in all"),
        ("other", "of kind B, not A"),
        ("west", "without the label zone=east"),
        ("kept", "set aside for works until 10h"),
        ("node/kept", "set aside for works until 10h"),
    ],
)
def test_what_is_against_a_node_for_one_that_waits(node: str, reason: str) -> None:
    found = why_not("task", node, MIXED)
    assert not found.fits
    assert found.reasons == (reason,)
    assert found.text == f"at 1h, {node.removeprefix('node/')} did not take task: {reason}"


def test_a_node_that_was_closed_and_by_which_fault() -> None:
    text = """
    cluster: {nodes: [{name: n, cpu: 4, count: 2}]}
    work: [{id: t, cpu: 2, submit: 10m, duration: 1h}]
    operation: {detection: {beat: 10s, grace: 50s}}
    faults: [{at: 5m, crash: node/n-0, for: 1h}]
    """
    found = why_not("t", "n-0", text)
    assert not found.fits
    assert found.reasons == (
        "takes no new work since 5m50s: it is taken for lost",
        "at 5m n-0 crashes, and is back after 1h",
    )


def test_a_node_that_it_was_on_and_lost() -> None:
    text = """
    cluster: {nodes: [{name: n, cpu: 4, count: 2}]}
    work: [{id: t, cpu: 2, duration: 1h}]
    faults: [{at: 5m, crash: node/n-0, for: 10m}]
    """
    found = why_not("t", "n-0", text)
    assert found.text.startswith(
        "t was on it from 0s to 5m; when it was placed at 5m, n-0 did not take t: takes no new"
    )
    found = why_not("t", "n-1", text)
    assert (found.fits, found.text) == (True, "t was on it from 5m to 1h5m")


def test_a_node_that_its_job_avoids() -> None:
    text = """
    cluster: {nodes: [{name: n, cpu: 4, count: 2}]}
    work: [{id: t, cpu: 2, duration: 1h, recovery: {exclude: 1}}]
    faults: [{at: 5m, kill: task/t}]
    """
    found = why_not("t", "n-0", text)
    assert not found.fits
    assert found.reasons == ("avoided, for 1 attempt of the job failed there",)


def test_one_that_was_refused_is_seen_against_empty_nodes() -> None:
    found = why_not("t", "n", "cluster: {nodes: [{name: n, cpu: 4}]}\nwork: [{id: t, cpu: 8, duration: 1h}]")
    assert found.text == "on its arrival at 0s, n did not take t: 8 cpu asked, 4 in all"


PLACED = """
    cluster: {nodes: [{name: n, cpu: 8, count: 3}]}
    work: [{id: a, cpu: 2, duration: 1h}, {id: b, cpu: 2, submit: 1m, duration: 1h}]
    policy: fcfs+PLACEMENT
    """


def test_the_first_node_with_room_comes_first() -> None:
    found = why_not("b", "n-1", PLACED.replace("+PLACEMENT", ""))
    assert found.fits
    assert found.reasons == ("n-0 stands before n-1 in the order of the nodes, of which the first with room is taken",)


def test_another_node_scored_higher() -> None:
    """Best fit: 100 (1 - what is left / what the largest has) = 100 (1 - 4/8) and 100 (1 - 6/8)."""
    found = why_not("b", "n-1", PLACED.replace("PLACEMENT", "best-fit"))
    assert found.fits
    assert found.reasons == ("n-1 scores 25 by best-fit where n-0 scores 50: it is number 2 of 3 that had room",)


def test_at_a_tie_the_first_is_taken() -> None:
    found = why_not("b", "n-2", PLACED.replace("PLACEMENT", "worst-fit"))
    assert found.reasons == (
        "n-2 scores 75 by worst-fit where n-1 scores 75, and at a tie the first in the order of the nodes is taken",
    )


@pytest.mark.parametrize("placement", ["best-fit", "worst-fit", "least-allocated", "most-allocated", "balanced", "fgd"])
def test_the_node_that_was_chosen_has_the_highest_score(placement: str) -> None:
    text = """
    cluster: {nodes: [{name: a, cpu: 8, memory: 8Gi, gpus: 2}, {name: b, cpu: 4, memory: 16Gi, gpus: 4}]}
    work:
      - {id: t, count: 6, cpu: 1, memory: 1Gi, gpus: 1, duration: 1h}
      - {id: half, gpu_share: 0.5, submit: 2h, duration: 1h}
    policy: fcfs+PLACEMENT
    """
    done = simulate(scenario(text.replace("PLACEMENT", placement)), compiled=False)
    ground = Ground(history(done.scenario, done.log))
    for i, task in enumerate(ground.past.attempts.task.tolist()):
        row = int(ground.past.attempts.open_row[i])
        values = scores(Situation(ground, row, int(done.log.t_ns[row])), task)
        assert values[int(ground.past.attempts.node[i])] == max(values.values())


def test_a_node_with_room_while_another_stands_in_front() -> None:
    text = """
    cluster: {nodes: [{name: n, cpu: 4}, {name: m, cpu: 8}]}
    work:
      - {id: busy, cpu: 6, duration: 5h}
      - {id: wide, cpu: 8, submit: 1m, duration: 1h}
      - {id: t, cpu: 2, submit: 2m, duration: 1h}
    until: 1h
    """
    found = why_not("t", "n", text)
    assert found.fits
    assert "wide stands in front" in found.text


def test_an_unknown_node_and_a_pool_are_mistakes_of_the_user() -> None:
    with pytest.raises(InputError, match="unknown node"):
        why_not("t", "m", "cluster: {nodes: [{name: n, cpu: 4}]}\nwork: [{id: t, cpu: 1, duration: 1h}]")
    with pytest.raises(InputError, match="a pool of processors has no nodes"):
        why_not("t", "n", "cluster: 4\nwork: [{id: t, cpu: 1, duration: 1h}]")
    with pytest.raises(InputError, match="a node is on no node"):
        explain_run(
            "node/n",
            simulate(scenario("cluster: {nodes: [{name: n, cpu: 4}]}\nwork: [{id: t, cpu: 1, duration: 1h}]")),
            why_not="n",
        )
