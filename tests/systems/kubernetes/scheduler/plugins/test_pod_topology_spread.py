"""PodTopologySpread: hard constraints refuse, soft ones score (sheet §4.3, §4.5, example E6)."""

import math
from typing import Any

from gnomon.systems.kubernetes.api.constraints import (
    DO_NOT_SCHEDULE,
    HOSTNAME,
    SCHEDULE_ANYWAY,
    ZONE,
    LabelSelector,
    Taint,
    TopologySpreadConstraint,
)
from gnomon.systems.kubernetes.api.objects import Node, Owner, Pod, Service
from gnomon.systems.kubernetes.api.profile import SpreadArgs
from gnomon.systems.kubernetes.api.workloads import ReplicaSet
from gnomon.systems.kubernetes.scheduler.cycle import Scheduler
from gnomon.systems.kubernetes.scheduler.state import Surroundings
from tests.systems.kubernetes.build import app, node, pod, points, refusals, scheduler

SPREAD = "PodTopologySpread"
SKEWED = (SPREAD, "Unschedulable", ["node(s) didn't match pod topology spread constraints"])


def zoned(*zones: str) -> list[Node]:
    return [node(f"n{i}", labels={HOSTNAME: f"n{i}", **({ZONE: zone} if zone else {})}) for i, zone in enumerate(zones)]


def filled(nodes: list[Node], *counts: int, **more: Any) -> Scheduler:
    asked = scheduler(nodes, **more)
    for one, count in zip(nodes, counts, strict=True):
        for k in range(count):
            asked.state.place(pod(f"{one.name}-{k}", labels={"app": "web"}), one.name)
    return asked


def hard(skew: int = 1, key: str = ZONE, **more: Any) -> TopologySpreadConstraint:
    return TopologySpreadConstraint(skew, key, DO_NOT_SCHEDULE, **{"label_selector": app("web"), **more})


def soft(skew: int = 1, key: str = ZONE, **more: Any) -> TopologySpreadConstraint:
    return TopologySpreadConstraint(skew, key, SCHEDULE_ANYWAY, **{"label_selector": app("web"), **more})


def web(*constraints: TopologySpreadConstraint, **more: Any) -> Pod:
    return pod("p", labels={"app": "web"}, topology_spread_constraints=constraints, **more)


def test_more_than_max_skew_above_the_emptiest_domain_is_refused() -> None:
    asked = filled(zoned("a", "b", "c"), 1, 2, 3)
    assert list(refusals(asked, web(hard()))) == ["n1", "n2"]
    assert refusals(asked, web(hard()))["n2"] == SKEWED
    assert list(refusals(asked, web(hard(2)))) == ["n2"]


def test_a_pod_that_its_selector_does_not_find_adds_nothing_itself() -> None:
    asked = filled(zoned("a", "b"), 0, 1)
    other = pod("p", labels={"app": "db"}, topology_spread_constraints=(hard(),))
    assert refusals(asked, other) == {}


def test_fewer_domains_than_wanted_make_the_minimum_zero() -> None:
    asked = filled(zoned("a", "b"), 1, 1)
    assert refusals(asked, web(hard())) == {}
    assert list(refusals(asked, web(hard(min_domains=3)))) == ["n0", "n1"]


def test_a_node_without_the_label_is_refused_for_good_and_its_pods_do_not_count() -> None:
    asked = filled(zoned("a", ""), 0, 5)
    text = "node(s) didn't match pod topology spread constraints (missing required label)"
    assert refusals(asked, web(hard())) == {"n1": (SPREAD, "UnschedulableAndUnresolvable", [text])}


def test_an_empty_selector_counts_nobody_but_the_pod_itself() -> None:
    asked = filled(zoned("a", "b"), 3, 0)
    assert refusals(asked, web(hard(label_selector=LabelSelector()))) == {}


def test_tainted_nodes_make_domains_unless_taints_are_honored() -> None:
    nodes = [*zoned("a", "b"), node("t", labels={HOSTNAME: "t", ZONE: "c"}, taints=(Taint("x"),))]
    asked = filled(nodes, 1, 1, 0)
    assert list(refusals(asked, web(hard()))) == ["n0", "n1", "t"]
    assert list(refusals(asked, web(hard(node_taints_policy="Honor")))) == ["t"]


def test_only_nodes_that_the_pod_may_use_make_domains_unless_affinity_is_ignored() -> None:
    nodes = [node(f"n{i}", labels={ZONE: str(i), "pool": pool}) for i, pool in enumerate("xxy")]
    asked = filled(nodes, 1, 1, 0)
    chosen = {"node_selector": {"pool": "x"}}
    assert list(refusals(asked, web(hard(), **chosen))) == ["n2"]
    assert list(refusals(asked, web(hard(node_affinity_policy="Ignore"), **chosen))) == ["n0", "n1", "n2"]


def test_e6_soft_zone_counts_0_1_2_normalise_to_100_33_0() -> None:
    asked = filled(zoned("a", "b", "c"), 0, 1, 2)
    raw = [int(count * math.log(3 + 2) + 0.5) for count in (0, 1, 2)]
    assert raw == [0, 2, 3]
    assert points(asked, web(soft()), SPREAD) == {"n0": 200, "n1": 2 * 33, "n2": 0}


def test_hosts_weigh_with_the_number_of_feasible_nodes_and_skew_waters_down() -> None:
    asked = filled(zoned("a", "a", "a"), 0, 1, 2)
    raw = [int(count * math.log(3 + 2) + 2 + 0.5) for count in (0, 1, 2)]
    expected = [2 * (100 * (max(raw) + min(raw) - s) // max(raw)) for s in raw]
    assert list(points(asked, web(soft(3, HOSTNAME)), SPREAD).values()) == expected


def test_nodes_without_a_soft_key_score_nothing() -> None:
    asked = filled(zoned("a", "b", ""), 1, 0, 0)
    assert points(asked, web(soft()), SPREAD)["n2"] == 0


def test_pods_of_a_service_spread_by_the_systems_defaults_where_a_missing_zone_counts_as_one_more() -> None:
    around = Surroundings(services=(Service("web", selector={"app": "web"}),))
    asked = filled(zoned("a", "b", ""), 2, 0, 0, around=around)
    lone = pod("p", labels={"app": "web"})
    raw = [
        int(2 * math.log(3 + 2) + 2 + 2 * math.log(3 + 2) + 4 + 0.5),
        int(2 + 4 + 0.5),
        int(2 + 0.5),
    ]
    assert list(points(asked, lone, SPREAD).values()) == [2 * (100 * (raw[0] + raw[2] - s) // raw[0]) for s in raw]
    assert points(asked, pod("q", labels={"app": "db"}), SPREAD)["n0"] is None


def test_the_owner_adds_its_selector() -> None:
    around = Surroundings(replica_sets=(ReplicaSet("web", selector=app("web")),))
    asked = filled(zoned("a", "b"), 1, 0, around=around)
    owned = pod("p", labels={"app": "web"}, owner=Owner("ReplicaSet", "web"))
    found = points(asked, owned, SPREAD)
    raw = int(2 * math.log(2 + 2) + 2 + 4 + 0.5), 2 + 4
    assert found == {"n0": 2 * (100 * raw[1] // raw[0]), "n1": 200}
    assert points(asked, pod("q", labels={"app": "web"}), SPREAD)["n0"] is None


def test_an_empty_list_of_defaults_switches_them_off() -> None:
    around = Surroundings(services=(Service("web", selector={"app": "web"}),))
    asked = filled(zoned("a", "b"), 1, 0, around=around, spread=SpreadArgs((), False))
    assert points(asked, pod("p", labels={"app": "web"}), SPREAD)["n0"] is None
