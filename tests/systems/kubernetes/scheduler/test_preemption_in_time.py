"""Preemption in time: victims have their grace period, the preemptor is nominated and tried again (sheet §7, K17)."""

from __future__ import annotations

from typing import Any

from gnomon.engine.log import Kind
from tests.systems.kubernetes.play import Object, node, play, pod, rows, spec, starts, workload


def priority(name: str, value: int, **more: Any) -> Object:
    metadata = {"name": name}
    return {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": metadata, "value": value, **more}


CLASSES = [priority("low", 10), priority("high", 1000), priority("higher", 2000)]


def important(name: str, level: str = "high", cpu: str = "2", **more: Any) -> Object:
    return pod(name, priorityClassName=level, requests={"cpu": cpu}, **more)


def cheap(replicas: int, annotations: Object | None = None, **more: Any) -> Object:
    template = spec(requests={"cpu": "2"}, priorityClassName="low", **more)
    return workload("Deployment", "cheap", replicas, template, annotations)


def test_the_place_is_free_when_the_grace_period_is_over() -> None:
    run = play([*CLASSES, node("n1", cpu="4"), cheap(2)], until_s=900, changes=[(600, [important("vip")])])
    failed = rows(run, Kind.FAIL)
    assert [(row[0], row[4]) for row in failed] == [(600, "PREEMPTED")]
    assert [(row[0], row[4]) for row in rows(run, Kind.COPY, Kind.COPY_END)] == [(600, "STOPPING"), (630, "STOPPING")]
    assert starts(run)[-1] == (630, "vip")


def test_a_victim_that_stops_sooner_gives_it_back_sooner() -> None:
    objects = [*CLASSES, node("n1", cpu="4"), cheap(2, {"gnomon.dev/stops-after": "3s"})]
    assert starts(play(objects, until_s=900, changes=[(600, [important("vip")])]))[-1] == (603, "vip")


def test_a_controllers_pod_is_replaced_at_the_mark_where_there_is_room() -> None:
    objects = [*CLASSES, node("n1", cpu="4", pool="x"), node("n2", cpu="2"), cheap(2, nodeSelector={})]
    vip = important("vip", cpu="4", nodeSelector={"pool": "x"})
    run = play(objects, until_s=900, changes=[(600, [vip])])
    lost = len(rows(run, Kind.FAIL))
    again = [row for row in rows(run, Kind.START) if row[0] == 600]
    assert lost in (1, 2)  # as many as had come to n1
    assert len(again) == lost - 1  # n2 has room for one that is not there already
    assert starts(run)[-1] == (630, "vip")


def test_a_bare_pod_is_gone() -> None:
    run = play(
        [*CLASSES, node("n1", cpu="2"), important("old", "low")], until_s=900, changes=[(600, [important("vip")])]
    )
    assert [task for _, task in starts(run)] == ["old", "vip"]
    assert rows(run, Kind.QUEUE) == []


def test_a_nomination_guarantees_nothing() -> None:
    # A still more important pod comes while the victim stops: it takes the place; the first one waits on.
    objects = [*CLASSES, node("n1", cpu="2"), important("old", "low")]
    changes = [(600, [important("vip")]), (610, [important("king", "higher")])]
    run = play(objects, until_s=900, changes=changes)
    assert starts(run) == [(0, "old"), (630, "king")]


def test_who_never_preempts_waits() -> None:
    never = priority("gentle", 1000, preemptionPolicy="Never")
    objects = [*CLASSES, never, node("n1", cpu="2"), important("old", "low")]
    run = play(objects, until_s=900, changes=[(600, [important("vip", "gentle")])])
    assert starts(run) == [(0, "old")]


def test_two_that_are_nominated_wait_for_each_other_until_there_is_room_for_both() -> None:
    # At 630 the first victim is gone: there is room for one, but each counts the other, which is nominated there too.
    objects = [*CLASSES, node("n1", cpu="4"), cheap(2)]
    changes = [(600, [important("one")]), (605, [important("two")])]
    run = play(objects, until_s=900, changes=changes)
    assert [(row[0], row[4]) for row in rows(run, Kind.FAIL)] == [(600, "PREEMPTED"), (605, "PREEMPTED")]
    assert starts(run)[-2:] == [(635, "one"), (635, "two")]


def test_u05_the_node_with_fewest_budget_violations_whatever_the_priority() -> None:
    def small(name: str, where: str, level: str, labels: Object | None = None) -> Object:
        return pod(name, None, labels, priorityClassName=level, nodeName=where)

    def budget(name: str) -> Object:
        return {
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": {"name": name},
            "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": name}}},
            "status": {"disruptionsAllowed": 0},
        }

    classes = [priority("zero", 0), priority("mid", 100), priority("p1000", 1000), priority("p10000", 10_000)]
    classes.append(priority("sys", 1_000_000))
    objects = [
        *classes,
        node("worker", pods="4"),
        node("worker2", pods="3"),
        *(small(f"sys{k}", "worker" if k < 3 else "worker2", "sys") for k in (1, 2, 3, 4)),
        small("high", "worker", "p1000"),
        small("low", "worker", "zero", {"app": "low"}),
        small("mid", "worker2", "mid", {"app": "mid"}),
        budget("low"),
        budget("mid"),
    ]
    run = play(objects, until_s=900, changes=[(600, [pod("very-high", priorityClassName="p10000")])])
    assert [(row[0], row[2]) for row in rows(run, Kind.FAIL)] == [(600, "high")]
    assert starts(run)[-1] == (630, "very-high")
