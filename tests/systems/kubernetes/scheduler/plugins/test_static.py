"""Plugins that look at a node alone: cordons, taints, node affinity, images; and host ports (sheet §4.3, §4.5)."""

from typing import Any

import pytest

from gnomon.systems.kubernetes.api.constraints import (
    Affinity,
    NodeSelectorTerm,
    PreferredNodeTerm,
    Requirement,
    Taint,
    Toleration,
)
from gnomon.systems.kubernetes.api.objects import Container, ContainerPort, Image
from gnomon.systems.kubernetes.scheduler.plugins.node_affinity import narrowed
from tests.systems.kubernetes.build import MIB, node, pod, points, refusals, scheduler

RESOLVED, UNRESOLVABLE = "Unschedulable", "UnschedulableAndUnresolvable"


def test_a_cordon_keeps_out_all_but_those_who_tolerate_it() -> None:
    asked = scheduler([node("a", unschedulable=True)])
    assert refusals(asked, pod("p"))["a"] == ("NodeUnschedulable", UNRESOLVABLE, ["node(s) were unschedulable"])
    tolerant = pod("q", tolerations=(Toleration("node.kubernetes.io/unschedulable", "Exists"),))
    assert refusals(asked, tolerant) == {}


def test_the_first_untolerated_taint_is_named_and_nodes_with_one_text_are_one_group() -> None:
    first, second = Taint("a", "x", "PreferNoSchedule"), Taint("b", "", "NoExecute")
    asked = scheduler([node("n", taints=(first, second)), node("m", taints=(second,))])
    text = "node(s) had untolerated taint {b: }"
    assert refusals(asked, pod("p")) == {name: ("TaintToleration", UNRESOLVABLE, [text]) for name in "nm"}
    assert asked.statuses(pod("p")).histogram() == {text: 2}


def test_untolerated_preferences_score_in_reverse_times_three() -> None:
    soft = [Taint(key, "", "PreferNoSchedule") for key in "abc"]
    asked = scheduler([node("n", taints=tuple(soft)), node("m", taints=(soft[0],)), node("o")])
    assert points(asked, pod("p"), "TaintToleration") == {"n": 0, "m": 3 * (100 - 33), "o": 300}
    tolerant = pod("q", tolerations=(Toleration("a", "Exists"), Toleration("b", "Exists")))
    assert points(asked, tolerant, "TaintToleration") == {"n": 0, "m": 300, "o": 300}


def required(*terms: NodeSelectorTerm) -> Affinity:
    return Affinity(node_required=terms)


def by_name(*names: str) -> NodeSelectorTerm:
    return NodeSelectorTerm(match_fields=(Requirement("metadata.name", "In", names),))


def test_node_selector_and_terms_are_both_needed() -> None:
    asked = scheduler([node("a", labels={"disk": "ssd", "zone": "1"}), node("b", labels={"disk": "ssd"})])
    term = NodeSelectorTerm((Requirement("zone", "Exists"),))
    assert list(refusals(asked, pod("p", node_selector={"disk": "ssd"}, affinity=required(term)))) == ["b"]
    assert list(refusals(asked, pod("q", affinity=required(NodeSelectorTerm())))) == ["a", "b"]


def test_the_profiles_own_affinity_comes_first_and_has_its_own_words() -> None:
    asked = scheduler(
        [node("a"), node("b", labels={"pool": "x"})],
        added_required=(NodeSelectorTerm((Requirement("pool", "Exists"),)),),
    )
    found = refusals(asked, pod("p", node_selector={"none": "such"}))
    assert found["a"][2] == ["node(s) didn't match scheduler-enforced node affinity"]
    assert found["b"][2] == ["node(s) didn't match Pod's node affinity/selector"]


@pytest.mark.parametrize(
    ("terms", "names"),
    [
        ((by_name("a"), by_name("b", "c")), {"a", "b", "c"}),
        ((by_name("a"), NodeSelectorTerm((Requirement("x", "Exists"),))), None),
        ((NodeSelectorTerm(match_fields=(*by_name("a", "b").match_fields, *by_name("b").match_fields)),), {"b"}),
        ((NodeSelectorTerm(match_fields=(*by_name("a").match_fields, *by_name("b").match_fields)),), set()),
    ],
)
def test_names_in_match_fields_narrow_the_nodes(terms: tuple[NodeSelectorTerm, ...], names: set[str] | None) -> None:
    shape = scheduler([node("a")]).state.shape(pod("p", affinity=required(*terms)))
    assert narrowed(shape) == names


def test_preferred_terms_add_their_weights() -> None:
    preferred = (
        PreferredNodeTerm(30, NodeSelectorTerm((Requirement("disk", "In", ("ssd",)),))),
        PreferredNodeTerm(10, NodeSelectorTerm((Requirement("zone", "Exists"),))),
        PreferredNodeTerm(99, NodeSelectorTerm()),
    )
    asked = scheduler([node("a", labels={"disk": "ssd", "zone": ""}), node("b", labels={"zone": ""}), node("c")])
    found = points(asked, pod("p", affinity=Affinity(node_preferred=preferred)), "NodeAffinity")
    assert found == {"a": 200, "b": 2 * 25, "c": 0}
    assert points(asked, pod("q"), "NodeAffinity") == {"a": None, "b": None, "c": None}


def on_port(
    port: int, *, ip: str = "", protocol: str = "TCP", sidecar: bool = False, init: bool = False
) -> dict[str, Any]:
    container = Container(
        "c", "app:1", ports=(ContainerPort(80, port, protocol, ip),), restart_policy="Always" if sidecar else ""
    )
    if sidecar or init:
        return {"init_containers": (container,)}
    return {"containers": (container,)}


@pytest.mark.parametrize(
    ("there", "new", "conflict"),
    [
        (on_port(80), on_port(80), True),
        (on_port(80), on_port(81), False),
        (on_port(80), on_port(80, protocol="UDP"), False),
        (on_port(80, ip="10.0.0.1"), on_port(80, ip="10.0.0.2"), False),
        (on_port(80, ip="10.0.0.1"), on_port(80), True),
        (on_port(80), on_port(80, ip="10.0.0.2"), True),
        (on_port(80, sidecar=True), on_port(80), True),
        (on_port(80, init=True), on_port(80), False),
    ],
)
def test_host_ports(there: dict[str, Any], new: dict[str, Any], conflict: bool) -> None:
    asked = scheduler([node("a")])
    asked.state.place(pod("there", **there), "a")
    text = "node(s) didn't have free ports for the requested pod ports"
    assert refusals(asked, pod("p", **new)) == ({"a": ("NodePorts", RESOLVED, [text])} if conflict else {})


def test_e5_an_image_of_500_mib_on_three_of_ten_nodes_scores_12() -> None:
    image = Image(("app:latest", "app@sha256:0"), 500 * MIB)
    nodes = [node(f"n{i}", images=(image,) if i < 3 else ()) for i in range(10)]
    found = points(scheduler(nodes), pod("p", containers=(Container("c", "app"),)), "ImageLocality")
    assert found["n0"] == 12
    assert found["n9"] == 0
