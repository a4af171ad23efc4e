"""Whatever the cluster: the answer is the scheduler's, all nodes are told of once, and each change was tried."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon.api import explain
from gnomon.insight.explain.changes import NODES, OWN
from gnomon.systems.kubernetes.api.snapshot import Objects
from gnomon.systems.kubernetes.read.configuration import read_configuration
from gnomon.systems.kubernetes.scenario import scenario_of
from gnomon.systems.kubernetes.scheduler.cycle import Scheduler
from gnomon.systems.kubernetes.scheduler.fit_error import event_note
from gnomon.systems.kubernetes.scheduler.state import State, Surroundings
from tests.systems.kubernetes import clusters


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_of_any_cluster(data: st.DataObject) -> None:
    nodes = tuple(data.draw(clusters.nodes(f"n{i}")) for i in range(data.draw(st.integers(1, 5))))
    templates = data.draw(st.lists(clusters.specs(), min_size=1, max_size=3))
    bound = []
    for number in range(data.draw(st.integers(0, 6))):
        on = data.draw(st.sampled_from(nodes)).name
        bound.append(replace(data.draw(clusters.pods(f"p{number}", templates)), node_name=on, uid=f"u{number}"))
    asked = replace(data.draw(clusters.pods("asked", templates)), uid="asked")
    objects = Objects(nodes=nodes, pods=(*bound, asked))

    found = explain(asked.key, scenario_of(objects))

    state = State(nodes, Surroundings.of(objects))
    for pod in bound:
        state.place(pod, pod.node_name)
    attempt = Scheduler(state, read_configuration(None)).attempt(asked)
    if attempt.chosen < 0:
        assert found.native == event_note(str(attempt.message))
        assert found.state == "waiting"
        assert found.waiting
    assert sum(one.nodes for one in found.classes) == len(nodes)
    assert sum(one.nodes for one in found.classes if one.reasons == ("fits",)) == len(attempt.feasible)
    assert all(one.confirmed and OWN < one.cost < NODES + 1 for one in found.changes)
    assert [one.cost for one in found.changes] == sorted(one.cost for one in found.changes)
    for node in nodes:
        told = explain(asked.key, scenario_of(objects), why_not=node.name).why_not
        assert told is not None
        assert told.fits == (state.index[node.name] in attempt.feasible.tolist())
