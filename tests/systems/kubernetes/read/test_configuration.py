"""KubeSchedulerConfiguration: what it makes of the default profile."""

from typing import Any

import pytest

from gnomon.model.errors import InputError
from gnomon.systems.kubernetes.api.constraints import NodeSelectorTerm, Requirement
from gnomon.systems.kubernetes.api.profile import FitArgs, Profile, SpreadConstraint
from gnomon.systems.kubernetes.read.configuration import read_configuration


def profile(**entry: Any) -> Profile:
    return read_configuration({"profiles": [entry]}).profiles["default-scheduler"]


def args(name: str, **values: Any) -> dict[str, Any]:
    return {"pluginConfig": [{"name": name, "args": values}]}


def test_nothing_said_is_the_default_profile() -> None:
    assert profile() == Profile()
    assert read_configuration(None).profiles == {"default-scheduler": Profile()}
    assert sum(weight * 100 for name, weight in Profile().scores if name != "VolumeBinding") == 1200


def test_what_multi_point_disables_is_gone_everywhere() -> None:
    found = profile(plugins={"multiPoint": {"disabled": [{"name": "TaintToleration"}]}})
    assert "TaintToleration" not in found.filters
    assert "TaintToleration" not in dict(found.scores)
    assert profile(
        plugins={"multiPoint": {"disabled": [{"name": "*"}], "enabled": [{"name": "NodeName"}]}}
    ).filters == ("NodeName",)


def test_a_point_of_its_own_clears_reweighs_and_comes_first() -> None:
    point = {"disabled": [{"name": "*"}], "enabled": [{"name": "ImageLocality", "weight": 5}]}
    found = profile(plugins={"score": point})
    assert found.scores == (("ImageLocality", 5),)
    assert found.filters == Profile().filters
    found = profile(plugins={"score": {"enabled": [{"name": "ImageLocality"}]}})
    assert found.scores[:2] == (("ImageLocality", 1), ("TaintToleration", 3))


def test_multi_point_enabled_again_keeps_its_place_with_the_new_weight() -> None:
    found = profile(plugins={"multiPoint": {"enabled": [{"name": "NodeAffinity", "weight": 9}]}})
    assert found.scores[1] == ("NodeAffinity", 9)


def test_arguments() -> None:
    strategy = {"type": "RequestedToCapacityRatio", "resources": [{"name": "cpu", "weight": 3}]}
    shape = {"requestedToCapacityRatio": {"shape": [{"utilization": 0, "score": 10}, {"utilization": 100, "score": 0}]}}
    fit = profile(**args("NodeResourcesFit", scoringStrategy={**strategy, **shape}, ignoredResources=["x.io/a"])).fit
    assert fit == FitArgs("RequestedToCapacityRatio", (("cpu", 3),), ((0, 10), (100, 0)), frozenset(["x.io/a"]))
    assert profile(**args("InterPodAffinity", hardPodAffinityWeight=0)).affinity.hard_weight == 0
    constraint = {"maxSkew": 2, "topologyKey": "z", "whenUnsatisfiable": "DoNotSchedule"}
    spread = profile(**args("PodTopologySpread", defaultingType="List", defaultConstraints=[constraint])).spread
    assert (spread.system, spread.defaults) == (False, (SpreadConstraint("z", 2, True),))
    term = {"matchExpressions": [{"key": "pool", "operator": "In", "values": ["x"]}]}
    added = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    found = profile(**args("NodeAffinity", addedAffinity=added)).added_required
    assert found == (NodeSelectorTerm((Requirement("pool", "In", ("x",)),)),)
    assert profile(**args("DefaultPreemption", minCandidateNodesAbsolute=7)).preemption.min_absolute == 7


@pytest.mark.parametrize(
    ("written", "where"),
    [
        ({"profiles": "none"}, "profiles"),
        ({"profiles": [{"plugins": {"scores": {}}}]}, "profiles\\[0\\].plugins"),
        ({"profiles": [{"plugins": {"score": {"enabled": [{"name": "NodeAfinity"}]}}}]}, "did you mean 'NodeAffinity'"),
        ({"profiles": [{}, {}]}, "two profiles of one name"),
        ({"percentageOfNodesToScore": 101}, "percentageOfNodesToScore"),
        ({"profiles": [args("NodeResourcesFit", scoringStrategy={"type": "Best"})]}, "scoringStrategy.type"),
        ({"profiles": [args("NodeResourcesFit", scoringStrategy={"type": "RequestedToCapacityRatio"})]}, "shape"),
    ],
)
def test_what_is_wrong_is_named(written: dict[str, Any], where: str) -> None:
    with pytest.raises(InputError, match=where):
        read_configuration(written)
