"""Selectors, terms, tolerations and namespaces, case by case as the sheet on Kubernetes has them (section 4.3)."""

from __future__ import annotations

import pytest

from gnomon.systems.kubernetes.api.constraints import (
    LabelSelector,
    NodeSelectorTerm,
    PodAffinityTerm,
    Requirement,
    Taint,
    Toleration,
)
from gnomon.systems.kubernetes.api.objects import PodSpec
from gnomon.systems.kubernetes.api.selectors import (
    any_term_matches,
    meets,
    node_matches,
    selects,
    selects_equal,
    term_matches,
    term_selects,
    tolerates,
    untolerated,
    untolerated_preferences,
    with_label_keys,
)

APP = LabelSelector((Requirement("app", "In", ("web",)),))


@pytest.mark.parametrize(
    ("operator", "values", "label", "holds"),
    [
        ("In", ("a", "b"), "b", True),
        ("In", ("a", "b"), "c", False),
        ("In", ("a",), None, False),
        ("NotIn", ("a",), "b", True),
        ("NotIn", ("a",), "a", False),
        ("NotIn", ("a",), None, True),
        ("Exists", (), "", True),
        ("Exists", (), None, False),
        ("DoesNotExist", (), None, True),
        ("DoesNotExist", (), "a", False),
        ("Gt", ("5",), "6", True),
        ("Gt", ("5",), "5", False),
        ("Gt", ("5",), "many", False),
        ("Gt", ("five",), "6", False),
        ("Gt", ("5",), "5.5", False),
        ("Gt", ("5",), None, False),
        ("Gt", ("-1",), "0", True),
        ("Gt", ("5",), str(2**63), False),
        ("Lt", ("5",), "4", True),
        ("Lt", ("5",), "5", False),
        ("Lt", ("5", "6"), "4", False),
        ("Near", ("5",), "5", False),
    ],
)
def test_requirements(operator: str, values: tuple[str, ...], label: str | None, holds: bool) -> None:
    assert meets(Requirement("key", operator, values), {} if label is None else {"key": label}) is holds


def test_nil_selects_nothing_and_empty_everything() -> None:
    assert not selects(None, {"app": "web"})
    assert selects(LabelSelector(), {})
    assert selects_equal({}, {})
    assert not selects_equal({"app": "web"}, {"app": "db"})


def test_node_terms_are_alternatives_and_their_parts_are_not() -> None:
    big, east = Requirement("size", "Gt", ("8",)), Requirement("zone", "In", ("east",))
    both, either = (NodeSelectorTerm((big, east)),), (NodeSelectorTerm((big,)), NodeSelectorTerm((east,)))
    labels = {"size": "16", "zone": "west"}
    assert not any_term_matches(both, labels, "n")
    assert any_term_matches(either, labels, "n")
    assert not any_term_matches((), labels, "n")


def test_an_empty_term_matches_no_node() -> None:
    assert not term_matches(NodeSelectorTerm(), {}, "n")


def test_fields_are_the_name() -> None:
    term = NodeSelectorTerm(match_fields=(Requirement("metadata.name", "In", ("n1", "n2")),))
    assert [term_matches(term, {"metadata.name": "n1"}, name) for name in ("n1", "n3")] == [True, False]


def test_node_selector_and_affinity_both_count() -> None:
    from gnomon.systems.kubernetes.api.constraints import Affinity

    east = Affinity(node_required=(NodeSelectorTerm((Requirement("zone", "In", ("east",)),)),))
    spec = PodSpec(node_selector={"disk": "ssd"}, affinity=east)
    found = [node_matches(spec, {"disk": "ssd", "zone": zone}, "n") for zone in ("east", "west")]
    assert found == [True, False]
    assert not node_matches(spec, {"zone": "east"}, "n")
    assert not node_matches(PodSpec(affinity=Affinity(node_required=())), {}, "n")


@pytest.mark.parametrize(
    ("toleration", "taint", "holds"),
    [
        (Toleration("gpu", value="a100"), Taint("gpu", "a100"), True),
        (Toleration("gpu", value="a100"), Taint("gpu", "h100"), False),
        (Toleration("gpu"), Taint("gpu"), True),
        (Toleration("gpu", "Exists"), Taint("gpu", "h100"), True),
        (Toleration("gpu", "Exists", effect="NoExecute"), Taint("gpu", "", "NoSchedule"), False),
        (Toleration("gpu", "Exists"), Taint("gpu", "", "NoExecute"), True),
        (Toleration(operator="Exists"), Taint("any", "x", "NoExecute"), True),
        (Toleration(operator="Exists", effect="NoSchedule"), Taint("any", "x", "NoExecute"), False),
        (Toleration("cpu", "Exists"), Taint("gpu"), False),
    ],
)
def test_tolerations(toleration: Toleration, taint: Taint, holds: bool) -> None:
    assert tolerates(toleration, taint) is holds


def test_the_first_taint_that_keeps_a_pod_away() -> None:
    taints = (Taint("soft", "", "PreferNoSchedule"), Taint("a"), Taint("b", "", "NoExecute"))
    assert untolerated(taints, ()) == taints[1]
    assert untolerated(taints, [Toleration("a", "Exists")]) == taints[2]
    assert untolerated(taints, [Toleration(operator="Exists")]) is None


def test_preferences_that_are_not_tolerated_are_counted() -> None:
    taints = (Taint("a", "", "PreferNoSchedule"), Taint("b", "", "PreferNoSchedule"), Taint("c"))
    assert untolerated_preferences(taints, ()) == 2
    assert untolerated_preferences(taints, [Toleration("a", "Exists")]) == 1
    assert untolerated_preferences(taints, [Toleration("a", "Exists", effect="NoSchedule")]) == 2


@pytest.mark.parametrize(
    ("term", "own", "other"),
    [
        (PodAffinityTerm("z", APP), True, False),
        (PodAffinityTerm("z", APP, namespaces=("red",)), False, True),
        (PodAffinityTerm("z", APP, namespace_selector=LabelSelector()), True, True),
        (PodAffinityTerm("z", APP, namespace_selector=LabelSelector((Requirement("team", "Exists"),))), False, True),
        (
            PodAffinityTerm("z", APP, ("blue",), namespace_selector=LabelSelector((Requirement("team", "Exists"),))),
            True,
            True,
        ),
        (PodAffinityTerm("z", None), False, False),
    ],
)
def test_namespaces_of_an_affinity_term(term: PodAffinityTerm, own: bool, other: bool) -> None:
    namespaces = {"blue": {}, "red": {"team": "x"}}
    found = [term_selects(term, "blue", {"app": "web"}, name, namespaces) for name in ("blue", "red")]
    assert found == [own, other]


def test_label_keys_become_requirements_of_the_pods_own_values() -> None:
    merged = with_label_keys(APP, {"hash": "7f", "tier": "x"}, ["hash", "absent"], ["tier"])
    assert merged is not None
    assert merged.requirements[1:] == (Requirement("hash", "In", ("7f",)), Requirement("tier", "NotIn", ("x",)))
    assert with_label_keys(merged, {"hash": "7f", "tier": "x"}, ["hash"], ["tier"]) is merged
    assert with_label_keys(None, {"hash": "7f"}, ["hash"]) is None
