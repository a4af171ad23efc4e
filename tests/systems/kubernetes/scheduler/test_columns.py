"""The fast path (columns that are kept and brought up to date) decides as one that works everything out anew, and both
as the sheet's rules applied to one node and one pod at a time."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon.systems.kubernetes.api.objects import Pod
from gnomon.systems.kubernetes.golden import scores_by_node
from gnomon.systems.kubernetes.scheduler.cycle import Attempt, Scheduler
from gnomon.systems.kubernetes.scheduler.state import State
from tests.systems.kubernetes import clusters, naive
from tests.systems.kubernetes.build import node, pod

pytestmark = pytest.mark.property


def facts(scheduler: Scheduler, attempt: Attempt) -> tuple[object, ...]:
    names = scheduler.state.names
    statuses = attempt.statuses or scheduler.statuses(attempt.pod)
    refusals = {names[node]: (one.plugin, list(one.reasons)) for node, one in statuses.refusals().items()}
    scores = scores_by_node(attempt, names)
    for column in scores.values():
        column.pop("total")
    return [names[i] for i in attempt.feasible.tolist()], refusals, scores


def expected(cluster: naive.Cluster, pod: Pod) -> tuple[object, ...]:
    refusals = {node.name: naive.refusal(cluster, pod, node) for node in cluster.nodes}
    feasible = [node for node in cluster.nodes if refusals[node.name] is None]
    scores = naive.scores(cluster, pod, feasible) if len(feasible) > 1 else {}
    return [node.name for node in feasible], {name: one for name, one in refusals.items() if one}, scores


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_every_step_agrees_while_pods_come_and_go_and_nodes_change(data: st.DataObject) -> None:
    listed = [data.draw(clusters.nodes(f"n{i}")) for i in range(data.draw(st.integers(1, 6)))]
    templates = data.draw(st.lists(clusters.specs(), min_size=1, max_size=3))
    state = State(listed)
    cluster = naive.Cluster(list(listed), {node.name: [] for node in listed})
    fast, anew = Scheduler(state, percentage=100), Scheduler(state, percentage=100, remember=False)
    for step in range(data.draw(st.integers(1, 12))):
        kind = data.draw(st.sampled_from(["pod", "pod", "pod", "leave", "edit"]))
        placed = cluster.running()
        if kind == "leave" and placed:
            leaving, where = data.draw(st.sampled_from(placed))
            state.remove(leaving.key)
            cluster.on[where.name].remove(leaving)
        elif kind == "edit":
            i = data.draw(st.integers(0, len(listed) - 1))
            changed = data.draw(clusters.nodes(f"n{i}"))
            state.replace_node(changed)
            cluster.nodes[i] = changed
        new = data.draw(clusters.pods(f"p{step}", templates))
        attempt = fast.attempt(new)
        found = facts(fast, attempt)
        assert found == facts(anew, anew.attempt(new))
        assert found == expected(cluster, new)
        if attempt.chosen >= 0:
            name = state.names[attempt.chosen]
            state.place(new, name)
            cluster.on[name].append(new)


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_a_state_that_changed_is_the_state_that_is_built_anew(data: st.DataObject) -> None:
    listed = [data.draw(clusters.nodes(f"n{i}")) for i in range(3)]
    templates = data.draw(st.lists(clusters.specs(), min_size=1, max_size=3))
    state = State(listed)
    where: dict[str, tuple[Pod, str]] = {}
    for step in range(data.draw(st.integers(1, 15))):
        leaves: bool = data.draw(st.booleans())
        if where and leaves:
            key = data.draw(st.sampled_from(sorted(where)))
            assert state.remove(key).pod == where.pop(key)[0]
        else:
            new, name = data.draw(clusters.pods(f"p{step}", templates)), data.draw(st.sampled_from(state.names))
            state.place(new, name)
            where[new.key] = new, name
    fresh = State(listed)
    for one, name in where.values():
        fresh.place(one, name)
    assert state.where == fresh.where
    for mine, other in (
        (state.count, fresh.count),
        (state.non_zero, fresh.non_zero),
        (state.lowest, fresh.lowest),
        (state.used.sum(axis=0), fresh.used.sum(axis=0)),
    ):
        assert mine.tolist() == other.tolist()


def test_changes_that_are_forgotten_are_not_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gnomon.systems.kubernetes.scheduler.state._REMEMBERED", 3)
    state = State([node(f"n{i}", cpu=1000) for i in range(8)])
    scheduler = Scheduler(state, percentage=100)
    for step in range(8):
        attempt = scheduler.attempt(pod(f"p{step}", {"cpu": 1000}))
        assert len(attempt.feasible) == 8 - step
        scheduler.assume(attempt)


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_preemption_leaves_the_state_as_it_was_and_frees_a_node_that_takes_the_pod(data: st.DataObject) -> None:
    listed = [data.draw(clusters.nodes(f"n{i}")) for i in range(3)]
    templates = data.draw(st.lists(clusters.specs(), min_size=1, max_size=3))
    state = State(listed)
    scheduler = Scheduler(state, percentage=100)
    for step in range(8):
        attempt = scheduler.attempt(data.draw(clusters.pods(f"p{step}", templates)))
        if attempt.chosen >= 0:
            scheduler.assume(attempt)
    spec = replace(data.draw(st.sampled_from(templates)), priority=100)
    urgent = data.draw(clusters.pods("urgent", [spec]))
    before = dict(state.where), state.used.tolist(), state.count.tolist(), state.lowest.tolist()
    attempt = scheduler.attempt(urgent)
    assert before == (dict(state.where), state.used.tolist(), state.count.tolist(), state.lowest.tolist())
    chosen = attempt.preemption.chosen
    if chosen is not None:
        assert chosen.victims
        for victim in chosen.victims:
            assert victim.shape.priority < 100
            state.remove(victim.pod.key)
        assert scheduler.attempt(replace(urgent, nominated_node=state.names[chosen.node])).chosen == chosen.node
