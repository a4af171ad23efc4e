"""Constraints: the examples of sbatch(1), the order of operators, and what slurmctld refuses."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.model.errors import InputError
from gnomon.systems.slurm.sbatch.features import Counted, choices, counts, matches, names, parse

NODES = {"n1": {"intel", "ib"}, "n2": {"intel"}, "n3": {"amd", "ib"}, "n4": {"amd"}}


def fitting(text: str) -> list[str]:
    expression = parse(text)
    return [node for node, features in NODES.items() if matches(expression, features)]


@pytest.mark.parametrize(
    ("text", "nodes"),
    [
        ("intel", ["n1", "n2"]),
        ("intel&ib", ["n1"]),
        ("amd|ib", ["n1", "n3", "n4"]),
        ("intel&ib|amd", ["n1", "n3", "n4"]),
        # from left to right: (amd|intel)&ib; job_features.c distributes "&c" over the lists of "a|b"
        ("amd|intel&ib", ["n1", "n3"]),
        ("amd|(intel&ib)", ["n1", "n3", "n4"]),
        ("(amd|intel)&ib", ["n1", "n3"]),
        ("gold", []),
        ("", ["n1", "n2", "n3", "n4"]),
    ],
)
def test_nodes_that_match(text: str, nodes: list[str]) -> None:
    assert fitting(text) == nodes


def test_one_choice_holds_for_all_nodes() -> None:
    # sbatch(1): all nodes on a single rack, but any of those racks
    expression = parse("[rack1|rack2|rack3]&ib")
    assert [list(names(one)) for one in choices(expression)] == [["rack1", "ib"], ["rack2", "ib"], ["rack3", "ib"]]
    assert choices(parse("a|b")) == (parse("a|b"),)
    assert choices(None) == (None,)


def test_counts_of_nodes() -> None:
    # sbatch(1): two nodes with rack1 and four with rack2
    assert [(list(names(part)), count) for part, count in counts(parse("[rack1*2&rack2*4]"))] == [
        (["rack1"], 2),
        (["rack2"], 4),
    ]
    # one node with rack1 or rack2, and two with rack3
    either = parse("[(rack1|rack2)*1&(rack3)*2]")
    assert [count for _, count in counts(either)] == [1, 2]
    assert matches(either, {"rack2"})
    assert not matches(either, {"rack4"})
    # graphics*4 of more nodes says nothing of the others
    assert matches(parse("graphics*4"), set())
    assert parse("graphics*4") == Counted(parse("graphics"), 4)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text",
    [
        "a&",
        "&a",
        "a|",
        "a b",
        "(a",
        "a)",
        "[a",
        "a]",
        "[a]&[b]",
        "[a&b]",
        "[[a|b]]",
        "a*",
        "a*0",
        "a*x",
        "*2",
        "()",
        "a**2",
    ],
)
def test_refuses(text: str) -> None:
    with pytest.raises(InputError, match="Invalid feature specification"):
        parse(text)


@given(st.text(st.sampled_from("ab&|()[]*,1 é"), max_size=12))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        expression = parse(text)
    except InputError:
        return
    assert isinstance(matches(expression, {"a"}), bool)
    assert choices(expression)
    assert all(count > 0 for _, count in counts(expression))
