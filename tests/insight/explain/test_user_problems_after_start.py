"""Problems of real users with work that has started: evictions, lost nodes, full disks, stragglers, checkpoints.

As in `test_user_problems.py`, each names its source, and each change is made to the document by hand and run again.
"""

from __future__ import annotations

import math

import pytest

from gnomon.api import Kind
from tests.insight.explain.documents import (
    change,
    changed,
    document,
    ends_with,
    explain,
    happened,
    run,
    scenario,
    starts_with,
)

pytestmark = pytest.mark.story


def test_eviction_goes_by_use_beyond_the_request_and_not_by_class() -> None:
    """kubernetes/kubernetes #105270: of 32 GiB less than 100 MiB are left; the burstable one goes before the one that
    asked for nothing."""
    text = """
    cluster: {nodes: [{name: n, cpu: 8, memory: 32Gi}, {name: m, cpu: 8, memory: 32Gi}]}
    work:
      - id: g
        cpu: 1
        memory: 13Gi
        limits: {memory: 13Gi}
        duration: 1h
        usage: {memory: {from: 6Gi, to: 12Gi, over: 30m}}
      - {id: b, cpu: 1, memory: 10Mi, duration: 1h, usage: {memory: {from: 6Gi, to: 12800Mi, over: 30m}}}
      - {id: e, cpu: 1, duration: 1h, usage: {memory: {from: 6Gi, to: 8Gi, over: 30m}}}
    operation: {enforcement: {pressures: [{below: 100Mi, check: 10s, order: over-request, calm: 5m}]}}
    """
    done = run(text)
    assert [time is not None for time in happened(done, Kind.FAIL, "g", "b", "e")] == [False, True, False]
    found = explain("b", text)
    assert "it came first by over-request, using 12.2Gi where it had asked for 10Mi" in found.summary
    assert {"priority", "memory"} <= {one.field for one in found.changes if one.cost < 2}
    for field in ("priority", "memory"):
        own = (
            change(found, field)
            if field == "priority"
            else next(one.as_dict() for one in found.changes if one.field == field and one.object == "task/b")
        )
        assert ends_with(text, own, "b") == 3600


POWER_OFF = """
    cluster: {nodes: [{name: n, cpu: 2, memory: 4Gi, count: 2}]}
    work: [{id: x, cpu: 2, memory: 1Gi, duration: 1m}, {id: d, cpu: 1, memory: 1Gi, duration: 2h}]
    operation:
      detection: {beat: 10s, check: 5s, grace: 40s, since: seen}
      eviction: {after: 300s, every: 10s}
      orphans: ORPHANS
    faults: [{at: 10m, crash: node/n-1}]
    until: 4h
    """


def test_after_a_power_off_one_is_replaced_after_minutes() -> None:
    """rancher/rke2 #3913: taken for lost some 40 s after, given up 300 s later."""
    text = POWER_OFF.replace("ORPHANS", "replace")
    found = explain("d", text)
    events = {link.event: link.t_ns / 10**9 for link in found.chain}
    assert 640 <= events["notice"] <= 650
    assert events["fail"] == events["notice"] + 300
    assert found.summary.startswith("d started at 0s, on its arrival; it was lost with n-1, which crashed at 10m")


def test_after_a_power_off_one_that_may_run_once_only_is_never_replaced() -> None:
    """The same: nothing is created until it is known that the first one has stopped."""
    text = POWER_OFF.replace("ORPHANS", "wait")
    found = explain("d", text)
    assert found.state == "running"
    assert "it is not replaced before it is known that it has stopped" in found.summary
    assert [(one.field, one.after) for one in found.changes] == [("operation.orphans", "replace")]
    assert ends_with(text, found.changes[0].as_dict(), "d") is not None


def test_those_that_depend_on_a_failed_one_never_run() -> None:
    """desihub/desispec #2682: A fails, B needs A, C needs B: both wait for ever, and for A."""
    text = """
    cluster: {nodes: [{name: n, cpu: 4}]}
    work:
      - {id: A, cpu: 1, duration: 10m, recovery: {retries: 0}}
      - {id: B, cpu: 1, duration: 10m, needs: [A]}
      - {id: C, cpu: 1, duration: 10m, needs: [B]}
    faults: [{at: 5m, kill: task/A}]
    """
    for task in "BC":
        found = explain(task, text)
        assert [(one.rule, one.object) for one in found.waiting] == [("needs", "task/A")]
        assert "A, which failed for good: its process was killed from outside at 5m" in found.summary
        (retry,) = found.as_dict()["changes"]
        assert (retry["object"], retry["field"], retry["to"]) == ("task/A", "recovery.retries.killed", 1)
    assert starts_with(text, retry, "B", "C") == [15 * 60, 25 * 60]


def test_one_nodes_disk_is_full_while_the_others_are_empty() -> None:
    """ray-project/ray #49173: 5 x 80 GB of objects, a store of 295 GB, 95 GB of disk; spread, nothing is spilled."""
    text = """
    cluster: {nodes: [{name: n, cpu: 8, memory: 984G, machine: {store: 295G, disk: 95G}, count: 5}]}
    work:
      - {id: t, count: 5, cpu: 1, memory: 10G, duration: 5300s, usage: {store: {from: 0, to: 80G, over: 1000s}}}
    operation: {enforcement: {spill_rate: 1G}}
    """
    done = run(text)
    failed = [f"t-{i}" for i in range(5) if happened(done, Kind.FAIL, f"t-{i}")[0] is not None]
    found = explain(failed[0], text)
    assert "more than its object store of 295G has room for had to lie on a disk of 95G" in found.summary
    spread = change(found, "policy")
    assert spread["to"] == "fcfs+worst-fit"
    assert not any(happened(run(changed(document(text), spread)), Kind.FAIL, *(f"t-{i}" for i in range(5))))


def test_four_lost_attempts_in_a_row_end_a_stage() -> None:
    """apache/spark PR #37924: each removal costs an attempt; the fourth, after 12 minutes, is the last."""
    text = """
    cluster: {nodes: [{name: e, cpu: 4, memory: 8Gi, count: 10}]}
    work: [{id: stage, cpu: 4, duration: 15m, recovery: {retries: [{on: [node], limit: 3}]}}]
    faults:
      - {at: 3m, crash: node/e-0}
      - {at: 6m, crash: node/e-1}
      - {at: 9m, crash: node/e-2}
      - {at: 12m, crash: node/e-3}
    """
    found = explain("stage", text)
    assert found.state == "failed"
    assert "it failed for good at 12m: its 3 retries are used up" in found.summary
    assert "4 attempts and 12m of work were lost" in found.summary
    retry = change(found, "recovery.retries.node")
    assert (retry["from"], retry["to"]) == (3, 4)
    assert ends_with(text, retry, "stage") == 27 * 60


def test_one_task_is_the_stage() -> None:
    """A skewed stage (jonroosevelt.com): 249 tasks of 12 s and one of 3000 s. Neither cores nor copies help; salting
    the key into 20 parts does."""
    text = """
    cluster: {nodes: [{name: n, cpu: 10, count: NODES}]}
    work:
      - {id: hot, cpu: 1, duration: 3000s}
      - {id: part, count: 249, cpu: 1, duration: 12s}
    OPERATION
    """
    for nodes in (5, 10):
        plain = text.replace("NODES", str(nodes)).replace("OPERATION", "")
        assert run(plain).metrics()["makespan_s"] == 3000
        assert explain("hot", plain).changes == ()
        assert explain("hot", plain).summary == "hot started at 0s, on its arrival, and was done at 50m."
    copies = text.replace("NODES", "26").replace("id: hot", "id: hot, job: stage")
    copies = copies.replace("id: part", "id: part, job: stage")
    copies = copies.replace("OPERATION", "operation: {speculation: {check: 10s}}")
    assert run(copies).metrics()["makespan_s"] == 3000
    assert "a second copy started" in explain("hot", copies).summary
    salted = text.replace("NODES", "5").replace("OPERATION", "")
    salted = salted.replace("id: hot, cpu: 1, duration: 3000s", "id: hot, count: 20, cpu: 1, duration: 150s")
    assert run(salted).metrics()["makespan_s"] == 150


def test_easy_needs_eight_rounds_where_seven_are_possible() -> None:
    """flux-framework/flux-sched #572: no delay of the head is paid for with an empty place."""
    widths = (1, 1, 2, 1, 1, 1, 1, 1, 1, 1, 4, 3, 2, 2, 2, 3)
    jobs = "".join(f"\n      - {{id: j{i}, cpu: {width}, duration: 1m}}" for i, width in enumerate(widths))
    text = f"""
    cluster: 4
    policy: easy
    work:{jobs}
    """
    starts = happened(run(text), Kind.START, *(f"j{i}" for i in range(16)))
    assert [start / 60 for start in starts if start is not None] == [0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 3, 4, 5, 5, 6, 7]
    assert math.ceil(sum(widths) / 4) == 7
    strict = run(text.replace("policy: easy", "policy: fcfs"))
    assert strict.metrics()["makespan_s"] == run(text).metrics()["makespan_s"] == 8 * 60
    found = explain("j10", text)  # the one of four: a place is empty for its sake
    assert found.waiting[-1].rule in ("resources", "order")
    assert found.waiting[-1].end_ns == 3 * 60 * 10**9


def test_checkpoints_that_are_further_apart_than_failures() -> None:
    """drpranayjha.com: a failure every 8.4 minutes, and a checkpoint every 15: most intervals never complete."""
    text = """
    cluster: {nodes: [{name: n, cpu: 4, memory: 8Gi}]}
    work:
      - {id: train, cpu: 4, duration: 2h, recovery: {checkpoint: {every: 15m, cost: 2m, restart: 5m}}}
    faults: [{reboot: node/n, mtbf: 506.25s, mttr: 1s}]
    seed: 1
    until: 60h
    """
    found = explain("train", text)
    every = change(found, "recovery.checkpoint.every")
    assert every == found.changes[0].as_dict()
    assert every["from"] == "15m"
    minutes = int(every["to"].removesuffix("m"))
    assert minutes < 15
    before = happened(run(scenario(text)), Kind.END, "train")[0]
    after = ends_with(text, every, "train")
    assert before is not None
    assert after is not None
    assert after < before
