"""Objects as a scenario: what the ledger offers for what is there already."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from gnomon.api import explain
from gnomon.api.load import load_scenario
from gnomon.engine.log import Kind
from gnomon.model.errors import InputError
from gnomon.model.fault import Failure, Fault
from gnomon.systems.kubernetes.fleets.native import Native
from gnomon.systems.kubernetes.operation import operation_of
from tests.systems.kubernetes.play import Object, S, node, play, pod, rows, spec, workload

GPU = {"example.com/gpu": "2"}


def refused(*objects: Object) -> dict[int, str]:
    """Whom the API server refuses, and what it says."""
    native = play(objects, until_s=60).scenario.native
    assert isinstance(native, Native)
    return dict(native.refused)


def limit_range(default: Object) -> Object:
    limits = [{"type": "Container", "default": default}]
    return {"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "r"}, "spec": {"limits": limits}}


def bound(name: str, where: str, amounts: Object) -> Object:
    return pod(name, nodeName=where, requests=amounts, limits=amounts)


@pytest.mark.parametrize("amounts", [{"cpu": "9"}, GPU, {"cpu": "9", **GPU}])
def test_a_pod_that_is_bound_runs_though_its_node_has_not_what_it_asks_for(amounts: Object) -> None:
    run = play([node("n1"), node("n2"), bound("static", "n1", amounts)], until_s=60)
    assert rows(run, Kind.START) == [(0, "START", "static", "n1", "NONE")]


@pytest.mark.parametrize("kind", [Fault.DRAIN, Fault.CRASH, Fault.PARTITION])
def test_nodes_without_pods_may_be_lost(kind: Fault) -> None:
    run = play([node("n1"), node("n2")], until_s=600, faults=[Failure(kind, 10 * S, 60 * S, ("node/n1",))])
    assert rows(run, Kind.START) == []


def test_a_pod_of_a_scheduler_that_is_not_there_waits() -> None:
    run = play([node("n1"), pod("theirs", schedulerName="volcano"), pod("ours")], until_s=600)
    assert rows(run, Kind.START) == [(0, "START", "ours", "n1", "NONE")]
    assert run.scenario.work.id(0) == "default/theirs"


def test_an_operation_leaves_the_zones_of_the_system_where_no_node_has_one(tmp_path: Path) -> None:
    objects = {"apiVersion": "v1", "kind": "List", "items": [node("n1"), pod("p")]}
    (tmp_path / "all.json").write_text(json.dumps(objects))
    (tmp_path / "s.yaml").write_text("system: kubernetes\nwork: all.json\noperation: {}\n")
    assert load_scenario(tmp_path / "s.yaml")[0].operation.eviction.zone == "topology.kubernetes.io/zone"


def test_a_pod_of_a_priority_class_that_is_not_there_is_refused_in_the_servers_words() -> None:
    gold = pod("p", priorityClassName="gold")
    text = 'pods "p" is forbidden: no PriorityClass with name gold was found'
    assert refused(node("n1"), gold) == {0: text}
    run = play([node("n1"), gold], until_s=60)
    assert explain("p", run.scenario).native == text
    assert explain("p", run).state == "rejected"


def test_what_a_limit_range_gives_a_bare_pod_makes_it_valid_or_not() -> None:
    """Defaults come first, then validation: of a device it asks for, a pod needs a limit; above one it must not ask."""
    one = pod("p", requests={"x.io/gpu": "1", "cpu": "2"})
    limit = "Required value: Limit must be set for non overcommitable resources"
    said = {0: f'Pod "p" is invalid: spec.containers[0].resources.limits: {limit}'}
    assert refused(node("n1"), one) == said
    assert refused(node("n1"), limit_range({"x.io/gpu": "1"}), one) == {}
    words = 'Invalid value: "2": must be less than or equal to cpu limit of 1'
    said = {0: f'Pod "p" is invalid: spec.containers[0].resources.requests: {words}'}
    assert refused(node("n1"), limit_range({"x.io/gpu": "1", "cpu": "1"}), one) == said


def test_what_an_operation_does_not_name_stays_the_system_s_own(tmp_path: Path) -> None:
    (tmp_path / "all.json").write_text(json.dumps(node("n1")))
    path = tmp_path / "scenario.yaml"
    path.write_text("system: kubernetes\nwork: all.json\nuntil: 1h\noperation: {eviction: {after: 1m}, fence: 2m}\n")
    (scenario,) = load_scenario(path)
    own = operation_of()
    assert scenario.operation == replace(own, eviction=replace(own.eviction, after_ns=60 * S), fence_ns=120 * S)


def test_a_policy_of_the_plain_loop_is_noted_as_not_modelled(tmp_path: Path) -> None:
    (tmp_path / "all.json").write_text(json.dumps(node("n1")))
    path = tmp_path / "scenario.yaml"
    path.write_text("system: kubernetes\nwork: all.json\nuntil: 1h\npolicy: easy\n")
    (scenario,) = load_scenario(path)
    assert ("not modelled", "policy") in [(note.what, note.field) for note in scenario.work.notes]


def test_more_pods_than_can_be_simulated_are_refused() -> None:
    with pytest.raises(InputError, match=r"Deployment default/shop: too many pods, found 2147483647"):
        play([node("n1"), workload("Deployment", "shop", 2_147_483_647, spec())], until_s=60)


def test_a_pod_that_is_too_large_waits_as_in_a_cluster() -> None:
    run = play([node("n1", cpu="4"), pod("huge", requests={"cpu": "64"})], until_s=60)
    assert rows(run, Kind.REJECT) == []
    (said,) = [facts["message"] for facts in run.log.details.values() if "message" in facts]
    assert str(said).startswith("0/1 nodes are available: 1 Insufficient cpu.")


def test_what_no_node_can_have_waits_and_what_no_ledger_can_count_is_refused() -> None:
    """10^15 cpus are 10^18 millicores, beyond 2^53; 16Pi are 2^54 bytes."""
    run = play([node("n1", cpu="4"), pod("huge", requests={"cpu": "1e15", "memory": "4Ei"})], until_s=60)
    (said,) = [facts["message"] for facts in run.log.details.values() if "message" in facts]
    assert str(said).startswith("0/1 nodes are available: 1 Insufficient cpu, 1 Insufficient memory.")
    with pytest.raises(InputError, match=r"Node n1, memory .*: more than can be counted, found 18014398509481984"):
        play([node("n1", memory="16Pi")], until_s=60)
