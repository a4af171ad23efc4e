"""Problems of real users that need no reader of a system: the binding reason, its object and numbers, and the smallest
change, which is confirmed by running the scenario with it.

The cases are collected from public issue trackers and documentation; each names the project and issue, or the page.
Each change that is asserted here is also made to the document by hand and run again.
"""

from __future__ import annotations

import math

import pytest

from gnomon.api import Kind
from tests.insight.explain.documents import (
    change,
    document,
    explain,
    happened,
    run,
    starts_with,
)

pytestmark = pytest.mark.story


# ------------------------------------------------------------------ it can never run


def test_a_misspelt_label_and_not_the_processors_that_are_short() -> None:
    """kubernetes/kubernetes #49896: ten nodes do not have the label, four of them are short of processors as well."""
    text = """
    cluster:
      nodes:
        - {name: a, cpu: 3, labels: {pool: general}, count: 6}
        - {name: b, cpu: 0.2, labels: {pool: general}, count: 4}
    work: [{id: p, cpu: 0.5, duration: 1h, labels: {pool: genral}}]
    """
    found = explain("p", text)
    assert [(one.rule, one.object, one.numbers["nodes"]) for one in found.waiting] == [
        ("no-node-kind", "label/pool=genral", 10)
    ]
    assert found.changes[0].what == "want the label pool=general instead of pool=genral: it starts at 0s"
    assert all(one.field != "cpu" for one in found.changes)
    assert starts_with(text, found.changes[0].as_dict(), "p") == [0]


def test_a_disk_in_a_zone_without_a_node() -> None:
    """kubernetes/autoscaler #6000: the disk is in zone b, the nodes are in a and c."""
    text = """
    cluster: {nodes: [{name: a, cpu: 4, labels: {zone: a}}, {name: c, cpu: 4, labels: {zone: c}}]}
    work: [{id: s, cpu: 1, duration: 1h, labels: {zone: b}}]
    """
    found = explain("s", text)
    assert (found.waiting[0].rule, found.waiting[0].object) == ("no-node-kind", "label/zone=b")
    added = change(found, "count")
    assert added["what"] == "add 1 node labelled zone=b with 4 cpu: it starts at 0s"
    assert starts_with(text, added, "s") == [0]


@pytest.mark.parametrize(
    ("task", "field", "asked", "most", "to"),
    [("j1", "cpu", 56, 54, 54), ("j3", "memory", 16_384_000_000, 15_867_000_000, "15G")],
)
def test_more_than_a_node_may_give(task: str, field: str, asked: int, most: int, to: object) -> None:
    """ArjunaCluster/ArjunaUsers #112: of 56 cores two are the system's own; 16384 MB of 15867."""
    text = """
    cluster: {nodes: [{name: c, cpu: 54, memory: 15867M, count: 8}]}
    work:
      - {id: j1, cpu: 56, duration: 1h}
      - {id: j2, cpu: 54, duration: 1h}
      - {id: j3, cpu: 8, memory: 16384M, duration: 1h}
      - {id: j4, cpu: 8, memory: 15000M, duration: 1h}
    """
    found = explain(task, text)
    assert (found.state, found.waiting[0].rule) == ("rejected", "too-large")
    numbers = found.waiting[0].numbers
    assert (numbers[f"asked_{field}"], numbers[f"largest_{field}"]) == (asked, most)
    assert found.changes[0].field == field
    assert happened(run(text), Kind.START, "j2", "j4") == [0, 0]
    assert starts_with(text, found.changes[0].as_dict(), task)[0] is not None


def test_what_the_system_takes_of_a_machine_of_sixteen_processors() -> None:
    """kubernetes/autoscaler #2085: 16000 - 110 - 1000 millicores are left of the machine for a task of 16."""
    text = """
    cluster: {nodes: [{name: n, cpu: 14.89, count: 3}]}
    work: [{id: pod, cpu: 16, duration: 1h}]
    """
    found = explain("pod", text)
    assert found.waiting[0].rule == "too-large"
    assert found.waiting[0].numbers == {"asked_cpu": 16, "largest_cpu": 14.89, "short_cpu": 1.11}
    assert change(found, "cpu")["to"] == 14
    assert starts_with(text, change(found, "cpu"), "pod") == [0]


def test_tasks_of_three_processors_on_nodes_of_four_need_a_node_each() -> None:
    """aws/aws-parallelcluster-node PR #147: five tasks of three processors need five nodes of four, and not 15/4."""
    text = "cluster: {nodes: [{name: c, cpu: 4, count: 4}]}\nwork: [{job: job, count: 5, cpu: 3, duration: 1h}]"
    found = explain("job", text)
    assert found.waiting[0].rule == "gang-too-large"
    assert (found.waiting[0].numbers["tasks"], found.waiting[0].numbers["room_for"]) == (5, 4)
    added = change(found, "count")
    assert (added["from"], added["to"]) == (4, 5)
    assert starts_with(text, added, "job-4") == [0]
    seven = "cluster: {nodes: [{name: c, cpu: 4, count: 3}]}\nwork: [{job: job, count: 7, cpu: 2, duration: 1h}]"
    assert change(explain("job", seven), "count")["to"] == math.ceil(7 / 2)
    five = "cluster: {nodes: [{name: c, cpu: 4, count: 9}]}\nwork: [{job: job, count: 3, cpu: 5, duration: 1h}]"
    assert explain("job", five).waiting[0].rule == "too-large"


def test_an_impossible_group_does_not_stop_a_possible_one() -> None:
    """ray-project/ray PR #50959: three of two nodes are wanted first, then two."""
    text = """
    cluster: {nodes: [{name: w, cpu: 2, count: 2}]}
    work: [{job: pg1, count: 3, cpu: 2, duration: 1h}, {job: pg2, count: 2, cpu: 2, duration: 1h}]
    """
    found = explain("pg1", text)
    assert (found.state, found.waiting[0].rule) == ("rejected", "gang-too-large")
    assert happened(run(text), Kind.START, "pg2-0", "pg2-1") == [0, 0]
    assert starts_with(text, change(found, "count"), "pg1-2") == [0]


def test_one_slot_for_a_job_of_parallelism_twenty() -> None:
    """Intel-bigdata/HiBench #427: a task manager with one slot, and twenty are needed at once."""
    text = """
    cluster: {nodes: [{name: tm, cpu: 4, resources: {slot: 1}}]}
    work: [{job: flink, count: 20, cpu: 0.1, resources: {slot: 1}, duration: 1h}]
    """
    found = explain("flink", text)
    numbers = found.waiting[0].numbers
    assert (found.waiting[0].rule, numbers["asked_slot"], numbers["largest_slot"]) == ("gang-too-large", 20, 1)
    assert change(found, "count")["to"] == 20


# ------------------------------------------------------------------ it waits


def test_a_head_that_wants_one_kind_holds_up_those_that_want_an_idle_one() -> None:
    """kubernetes-sigs/kueue #8309: strict order blocks on the head, whatever kind of device it needs."""
    text = """
    cluster:
      nodes:
        - {name: b300, kind: B300, cpu: 64, gpus: 8, count: 2}
        - {name: b200, kind: B200, cpu: 64, gpus: 8, count: 5}
    work:
      - {id: busy, count: 2, kinds: [B300], gpus: 8, duration: 10h}
      - {id: job1, kinds: [B300], gpus: 8, submit: 1m, duration: 1h}
      - {id: job2, kinds: [B200], gpus: 8, submit: 2m, duration: 1h}
      - {id: job3, kinds: [B200], gpus: 8, submit: 3m, duration: 1h}
      - {id: job4, kinds: [B200], gpus: 2, submit: 4m, duration: 1h}
    until: 1h
    """
    for task in ("job2", "job3", "job4"):
        found = explain(task, text)
        assert [(one.kind, one.rule, one.object) for one in found.waiting] == [("behind", "order", "task/job1")]
        policy = change(found, "policy")
        assert policy["to"] == "fcfs+easy"
        assert starts_with(text, policy, "job2", "job3", "job4") == [120, 180, 240]


def test_memory_that_nobody_asked_for_is_what_is_short() -> None:
    """SchedMD/slurm #111: a job that says nothing of memory gets all of the node's; eleven cores stay idle."""
    text = """
    cluster: {nodes: [{name: comp01, cpu: 12, memory: 48000M}, {name: comp56, cpu: 16, memory: 64000M}]}
    work: [{id: array, count: 21, cpu: 1, memory: 48000M, duration: 1h}]
    until: 30m
    """
    done = run(text)
    assert sum(time is not None for time in happened(done, Kind.START, *(f"array-{i}" for i in range(21)))) == 2
    found = explain("array-2", text)
    assert found.waiting[0].rule == "resources"
    assert "short_memory" in found.waiting[0].numbers
    assert "short_cpu" not in found.waiting[0].numbers
    assert change(found, "memory")["to"] == "16G"
    enough = document(text)
    for task in enough["work"]:
        task["memory"] = "4000M"
    assert None not in happened(run(enough), Kind.START, *(f"array-{i}" for i in range(21)))


def test_a_maintenance_window_that_the_limit_reaches_into() -> None:
    """BIH cluster guide, slurm/reservations: idle nodes, a window in 72 h, and a limit of 96 h."""
    text = """
    cluster: {nodes: [{name: c, cpu: 8, count: 100}]}
    reservations: [{name: root_13, start: 72h, for: 48h}]
    work:
      - {id: job1, cpu: 8, duration: 70h, estimate: 96h}
      - {id: job2, cpu: 8, duration: 70h, estimate: 71h}
      - {id: job3, cpu: 8, duration: 70h, estimate: 168h}
    policy: easy
    """
    assert happened(run(text), Kind.START, "job1", "job2", "job3") == [120 * 3600, 0, 120 * 3600]
    first = explain("job1", text).waiting[0]
    assert (first.rule, first.object) == ("reserved", "reservation/root_13")
    for task in ("job1", "job3"):
        found = explain(task, text)
        assert found.changes[0].field == "estimate"
        assert found.changes[0].after == "3d"
        assert starts_with(text, found.changes[0].as_dict(), task) == [0]


def test_tasks_of_an_array_beyond_its_limit_are_no_demand() -> None:
    """oracle-quickstart/oci-hpc #23: two of 190 run, and room for a third is idle."""
    text = """
    cluster: 30
    work: [{id: a, count: 190, cpu: 10, duration: 4h, user: u}]
    users: [{name: u, max_running: 2}]
    until: 1h
    """
    found = explain("a-2", text)
    assert (found.waiting[0].kind, found.waiting[0].rule, found.waiting[0].object) == (
        *("limit", "tenant-running"),
        "user/u",
    )
    assert all(one.field != "count" for one in found.changes)
    assert found.changes[0].field == "max_running"
    assert found.changes[0].after == 3
    assert starts_with(text, found.changes[0].as_dict(), "a-2") == [0]


def test_parts_of_devices_are_never_summed_up() -> None:
    """ray-project/ray #20933: tenths of a device are left on each of sixteen; ten tasks of 0.6 fit, a 17th does not."""
    text = """
    cluster: {nodes: [{name: n, cpu: 32, gpus: 8, count: 2}]}
    work: [{id: a, count: 17, gpu_share: 0.6, duration: 1h}]
    until: 30m
    """
    assert happened(run(text), Kind.START, *(f"a-{i}" for i in range(16))) == [0] * 16
    found = explain("a-16", text)
    assert found.waiting[0].numbers == {"asked_gpu": 0.6, "free_gpu": 0.4, "short_gpu": 0.2}
    assert "3.2 free, but spread over 8 gpus, at most 0.4 on one" in found.classes[0].reasons[0]
    assert found.changes[0].after == 0.4
    assert starts_with(text, found.changes[0].as_dict(), "a-16") == [0]


def test_a_queue_that_holds_as_much_memory_as_it_may() -> None:
    """microsoft/azure-tools-for-java #2552: 10240 MB are held of 11264, and 2560 more are asked; cores do not count."""
    text = """
    cluster: {nodes: [{name: n, cpu: 64, memory: 200000Mi}]}
    work: [{id: am, count: 5, cpu: 1, memory: 2560Mi, duration: 1h, queue: ams}]
    queues: [{name: ams, limit: {memory: 11264Mi}}]
    until: 30m
    """
    found = explain("am-4", text)
    numbers = found.waiting[0].numbers
    assert (found.waiting[0].rule, found.waiting[0].object) == ("tenant-limit", "queue/ams")
    mib = 2**20
    assert (numbers["used_memory"], numbers["limit_memory"]) == (10240 * mib, 11264 * mib)
    assert change(found, "memory")["to"] == "1Gi"
    assert change(found, "limit.memory")["to"] == "12800Mi"
    for field in ("memory", "limit.memory"):
        assert starts_with(text, change(found, field), "am-4") == [0]


@pytest.mark.parametrize(("limit", "running"), [(25, 25), (100, 80)])
def test_one_user_of_an_idle_cluster_is_held_by_the_limit_of_users(limit: int, running: int) -> None:
    """Hortonworks, Setting User Limits: capacity 25 x factor 1 of 100 containers; with factor 4 it is 100."""
    text = f"""
    cluster: 100
    work: [{{id: c, count: 80, cpu: 1, duration: 1h, user: u1}}]
    users: [{{name: u1, limit: {{cpu: {limit}}}}}]
    until: 30m
    """
    starts = happened(run(text), Kind.START, *(f"c-{i}" for i in range(80)))
    assert sum(time is not None for time in starts) == running
    if running < 80:
        found = explain("c-25", text)
        assert (found.waiting[0].rule, found.waiting[0].object) == ("tenant-limit", "user/u1")
        assert change(found, "limit.cpu")["to"] == 26


# ------------------------------------------------------------------ deadlocks


def test_two_jobs_that_each_hold_half_of_the_quota() -> None:
    """volcano-sh/volcano #1387: the quota is charged task by task, and a job starts only as a whole."""
    turns = "".join(
        f"\n      - {{id: j{j}-{i}, job: j{j}, gpus: 1, duration: 1h, user: ns}}" for i in range(4) for j in "12"
    )
    text = f"""
    cluster: {{nodes: [{{name: n, cpu: 16, gpus: 8}}]}}
    gang: false
    users: [{{name: ns, limit: {{gpus: 4}}}}]
    work:{turns}
    """
    found = explain("j1", text)
    assert [one.rule for one in found.waiting] == ["tenant-limit", "deadlock"]
    assert found.waiting[-1].numbers == {"jobs": 2, "placed": 2, "missing": 2}
    assert "j1 holds 2 gpu for 2 of its 4 tasks and waits for j2" in found.summary
    whole = change(found, "gang")
    assert (whole["object"], whole["to"]) == ("scenario", True)
    assert starts_with(text, whole, "j1-3", "j2-3") == [0, 3600]


def test_twelve_drivers_and_no_executor() -> None:
    """kubeflow/spark-operator #594: the drivers take all twelve cores, and none of them gets its first executor."""
    apps = "".join(
        f"\n      - {{id: {kind}-{i}, job: app-{i}, cpu: 1, duration: 10m}}"
        for kind in ("driver", "exec")
        for i in range(100)
    )
    text = f"""
    cluster: {{nodes: [{{name: n, cpu: 12}}]}}
    gang: false
    work:{apps}
    """
    found = explain("app-0", text)
    assert found.waiting[-1].rule == "deadlock"
    assert "and 9 more hold it" in found.classes[0].reasons[0]  # the drivers of all twelve cores
    assert [one.field for one in found.changes] == ["gang"]
    assert starts_with(text, found.changes[0].as_dict(), "exec-0", "exec-5", "exec-6") == [0, 0, 600]


def test_reducers_that_hold_every_place_that_a_lost_map_needs() -> None:
    """Apache MAPREDUCE-5844: ten reducers wait for four maps, which wait for a place."""
    text = """
    cluster: {nodes: [{name: n, cpu: 10}]}
    work:
      - {id: reduce, job: mr, count: 10, cpu: 1, duration: 10s}
      - {id: lost-map, job: mr, count: 4, cpu: 1, duration: 60s, submit: 1s}
    gang: false
    """
    found = explain("mr", text)
    assert found.waiting[-1].rule == "deadlock"
    assert "mr holds 10 cpu for 10 of its 14 tasks and waits for itself to make room for the other 4" in found.summary
    assert starts_with(text, change(found, "count"), "lost-map-3", "reduce-9") == [1, 1]
