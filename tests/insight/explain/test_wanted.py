"""What counts as the wanted result: for tasks without an end, and where the run is over before one can tell."""

import pytest

from gnomon.engine.log import State
from tests.insight.explain.documents import explain, run

pytestmark = pytest.mark.unit

SERVICE = """
    cluster: {nodes: [{name: n, cpu: 4, count: 2, labels: {rack: r}}]}
    work: [{id: web, cpu: 4}]
    operation:
      detection: {beat: 10s, check: 5s, grace: 40s}
      eviction: {after: 5m}
    faults: [{at: 1h, partition: node/n-0, for: 20m}]
    until: 4h
    """


def test_a_service_that_ran_twice_would_not_have_with_a_fence() -> None:
    """It has no end, so it is enough that it runs at the end of the run; nothing is told of when it is done."""
    found = explain("web", SERVICE)
    fences = [one for one in found.changes if one.field == "operation.fence"]
    assert [one.after for one in fences] == ["5m45s"]
    assert fences[0].what.endswith(": it runs nowhere twice")
    fenced = SERVICE.replace("eviction:", "fence: 5m45s\n      eviction:")
    assert len(run(SERVICE).past.copies) == 1
    assert len(run(fenced).past.copies) == 0


def test_one_that_could_be_done_has_to_be() -> None:
    """Where it is done as it is, a change with which it still runs in the end is none."""
    found = explain("web", SERVICE.replace("cpu: 4}]", "cpu: 4, duration: 2h}]"))
    assert all("runs nowhere twice, and is done at" in one.what for one in found.changes)
    assert found.changes


GROWS = """
    cluster: {nodes: [{name: n, cpu: 4, memory: 8Gi}]}
    work:
      - {id: grows, cpu: 1, memory: 1Gi, duration: 3h, limits: {memory: 2Gi},
         usage: {memory: {from: 1Gi, to: 3Gi, over: 1h}}}
    recovery: {retries: [{on: [memory], limit: 9, backoff: {first: 10s, factor: 2, most: 5m}}]}
    until: UNTIL
    """


@pytest.mark.parametrize(("until", "attempts"), [("30m5s", 1), ("60m20s", 2)])
def test_a_limit_that_is_only_not_reached_before_the_run_ends_is_no_remedy(until: str, attempts: int) -> None:
    """With 2560Mi it fails at 45m instead of 30m: that it runs when the run ends is not to be told as a remedy."""
    text = GROWS.replace("UNTIL", until)
    half = run(text.replace("limits: {memory: 2Gi}", "limits: {memory: 2560Mi}"))
    assert half.outcome.state.tolist() == [State.RUNNING]
    assert half.outcome.attempts.tolist() == [attempts]
    found = explain("grows", text)
    assert found.state == "waiting"
    assert [one.after for one in found.changes if one.field == "limits.memory"] == ["3Gi"]
    assert found.changes[0].what.startswith("raise its limit of memory from 2Gi to 3Gi: ")
    assert "it used just over 2Gi, limit 2Gi" in found.summary


def test_a_service_whose_node_crashed_starts_anew_sooner_if_that_is_noticed_and_answered_sooner() -> None:
    """It is away for 45 s until that is noticed, and 5 min more: from 1h to 1h5m45s."""
    text = SERVICE.replace("partition:", "crash:")
    found = explain("web", text)
    changes = {one.field: one for one in found.changes}
    assert set(changes) == {"operation.eviction.after"}
    assert changes["operation.eviction.after"].what.startswith("give lost nodes up 2m after they are noticed")
    assert changes["operation.eviction.after"].what.endswith(": it starts anew at 1h2m45s instead of 1h5m45s")
    assert run(text.replace("after: 5m", "after: 2m")).outcome.start_ns.tolist() == [(3600 + 165) * 10**9]
    assert found.notes == ("listed is what at least halves the delay: it starts anew by 1h2m53s",)


def test_a_service_that_only_its_lost_node_takes_needs_another_such_node() -> None:
    """Given up at once, it waits for the only node that it may run on, which is the one that it lost."""
    text = """
        cluster: {nodes: [{name: n, cpu: 4, labels: {disk: own}}, {name: m, cpu: 4, count: 3}]}
        work: [{id: web, cpu: 4, labels: {disk: own}}]
        faults: [{at: 1h, reboot: node/n, for: 20m}]
        until: 4h
        """
    found = explain("web", text)
    assert [one.what for one in found.changes] == [
        "add 1 node labelled disk=own with 4 cpu: it starts anew at 1h instead of 1h20m"
    ]
