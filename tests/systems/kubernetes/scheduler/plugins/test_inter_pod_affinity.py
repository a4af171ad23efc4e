"""InterPodAffinity: near to some, apart from others (sheet §4.3, §4.5)."""

from typing import Any

from gnomon.systems.kubernetes.api.constraints import ZONE, Affinity, LabelSelector, PodAffinityTerm, Requirement
from gnomon.systems.kubernetes.api.constraints import WeightedPodAffinityTerm as Weighted
from gnomon.systems.kubernetes.api.objects import Node, Pod
from gnomon.systems.kubernetes.api.profile import AffinityArgs
from gnomon.systems.kubernetes.scheduler.cycle import Scheduler
from gnomon.systems.kubernetes.scheduler.state import Surroundings
from tests.systems.kubernetes.build import app, node, pod, points, refusals, scheduler

PLUGIN = "InterPodAffinity"
NEAR, FAR = PodAffinityTerm(ZONE, app("db")), PodAffinityTerm(ZONE, app("db"))


def zoned(*zones: str) -> list[Node]:
    return [node(f"n{i}", labels={ZONE: zone} if zone else {}) for i, zone in enumerate(zones)]


def with_db(**more: Any) -> Scheduler:
    asked = scheduler(zoned("a", "a", "b", ""), **more)
    asked.state.place(pod("db", labels={"app": "db"}), "n0")
    return asked


def test_required_affinity_wants_a_match_in_the_domain() -> None:
    found = refusals(with_db(), pod("p", affinity=Affinity(pod_required=(NEAR,))))
    assert found == {
        name: (PLUGIN, "UnschedulableAndUnresolvable", ["node(s) didn't match pod affinity rules"])
        for name in ("n2", "n3")
    }


def test_several_terms_want_pods_that_match_all_at_once() -> None:
    asked = with_db()
    asked.state.place(pod("cache", labels={"tier": "x"}), "n0")
    tier = PodAffinityTerm(ZONE, LabelSelector((Requirement("tier", "In", ("x",)),)))
    both = pod("p", affinity=Affinity(pod_required=(NEAR, tier)))
    assert set(refusals(asked, both)) == {"n0", "n1", "n2", "n3"}
    asked.state.place(pod("one", labels={"app": "db", "tier": "x"}), "n2")
    assert set(refusals(asked, both)) == {"n0", "n1", "n3"}


def test_the_first_of_a_group_is_let_in_where_the_label_is() -> None:
    asked = scheduler(zoned("a", ""))
    own = pod("p", labels={"app": "db"}, affinity=Affinity(pod_required=(NEAR,)))
    assert list(refusals(asked, own)) == ["n1"]
    assert set(refusals(asked, pod("q", affinity=Affinity(pod_required=(NEAR,))))) == {"n0", "n1"}


def test_required_anti_affinity_and_that_of_others() -> None:
    asked = with_db()
    assert refusals(asked, pod("p", affinity=Affinity(anti_required=(FAR,)))) == {
        name: (PLUGIN, "Unschedulable", ["node(s) didn't match pod anti-affinity rules"]) for name in ("n0", "n1")
    }
    asked.state.place(pod("hermit", affinity=Affinity(anti_required=(PodAffinityTerm(ZONE, app("web")),))), "n2")
    assert refusals(asked, pod("q", labels={"app": "web"})) == {
        "n2": (PLUGIN, "Unschedulable", ["node(s) didn't satisfy existing pods anti-affinity rules"])
    }
    asked.state.remove("default/hermit")
    assert refusals(asked, pod("q", labels={"app": "web"})) == {}


def test_namespaces_of_a_term() -> None:
    around = Surroundings(namespaces={"default": {}, "data": {"team": "x"}})
    asked = scheduler(zoned("a", "b"), around)
    asked.state.place(pod("db", labels={"app": "db"}, namespace="data"), "n0")

    def refused(**where: Any) -> list[str]:
        term = PodAffinityTerm(ZONE, app("db"), **where)
        return list(refusals(asked, pod("p", affinity=Affinity(anti_required=(term,)))))

    assert refused() == []
    assert refused(namespaces=("data",)) == ["n0"]
    assert refused(namespace_selector=LabelSelector()) == ["n0"]
    assert refused(namespace_selector=LabelSelector((Requirement("team", "In", ("y",)),))) == []


def preferring(weight: int, *, apart: bool = False) -> Pod:
    terms = (Weighted(weight, NEAR),)
    return pod("p", affinity=Affinity(anti_preferred=terms) if apart else Affinity(pod_preferred=terms))


def test_preferences_score_between_the_lowest_and_the_highest() -> None:
    assert points(with_db(), preferring(7), PLUGIN) == {"n0": 200, "n1": 200, "n2": 0, "n3": 0}
    assert points(with_db(), preferring(7, apart=True), PLUGIN) == {"n0": 0, "n1": 0, "n2": 200, "n3": 200}


def test_without_a_match_the_plugin_skips() -> None:
    asked = scheduler(zoned("a", "b"))
    assert points(asked, preferring(7), PLUGIN) == {"n0": None, "n1": None}


def test_required_terms_of_others_count_with_the_hard_weight() -> None:
    def scored(**more: Any) -> object:
        asked = with_db(**more)
        follower = pod("f", labels={"app": "db"}, affinity=Affinity(pod_required=(PodAffinityTerm(ZONE, app("web")),)))
        asked.state.place(follower, "n2")
        return points(asked, pod("p", labels={"app": "web"}), PLUGIN)["n2"]

    assert scored() == 200
    assert scored(affinity=AffinityArgs(hard_weight=0)) is None


def test_preferences_of_others_may_be_ignored_by_pods_without_their_own() -> None:
    asked = with_db(affinity=AffinityArgs(ignore_preferred_of_existing=True))
    term = Weighted(50, PodAffinityTerm(ZONE, app("web")))
    asked.state.place(pod("fan", affinity=Affinity(pod_preferred=(term,))), "n2")
    assert points(asked, pod("p", labels={"app": "web"}), PLUGIN)["n2"] is None
    own = pod("q", labels={"app": "web"}, affinity=Affinity(pod_preferred=(Weighted(50, NEAR),)))
    assert points(asked, own, PLUGIN)["n2"] == 200  # as much as n0: both count


def test_the_quotient_is_taken_first() -> None:
    asked = scheduler(zoned("a", "b", "c"))
    for name, weight in (("n0", 100), ("n1", 29)):
        asked.state.place(
            pod(f"f-{name}", affinity=Affinity(pod_preferred=(Weighted(weight, PodAffinityTerm(ZONE, app("web"))),))),
            name,
        )
    assert points(asked, pod("p", labels={"app": "web"}), PLUGIN) == {"n0": 200, "n1": 2 * 28, "n2": 0}
