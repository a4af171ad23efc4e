"""Stored files: where replicas go, what a pipeline does at a loss, and which reads survive which losses."""

from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.dataflow.storage import (
    COPIES,
    RS_6_3,
    RS_10_4,
    Pipeline,
    Redundancy,
    copies,
    lost_blocks,
    most_per_rack,
    place_replicas,
    read_order,
    repair_order,
    wants_replacement,
)


@given(st.integers(1, 12), st.integers(1, 5), st.integers(1, 6), st.randoms(use_true_random=False))
def test_replicas_are_on_as_many_nodes_and_on_two_racks(nodes: int, racks: int, wanted: int, random: object) -> None:
    where = {f"n{number}": f"r{number % racks}" for number in range(nodes)}
    chosen = place_replicas(where, "n0", random.randrange, replicas=wanted)  # type: ignore[attr-defined]
    assert len(set(chosen)) == len(chosen) == min(wanted, nodes)
    assert chosen[0] == "n0"
    used = {where[node] for node in chosen}
    if len(chosen) >= 2 and len(set(where.values())) >= 2:
        assert where[chosen[1]] != where[chosen[0]], "the second on another rack"
        assert len(used) >= 2


def test_the_third_is_on_the_seconds_rack_on_another_node() -> None:
    racks = {f"{rack}{number}": rack for rack in "abc" for number in range(4)}
    for pick in range(4):
        first, second, third = place_replicas(racks, "a0", lambda n, pick=pick: pick % n)  # type: ignore[misc]
        assert first == "a0"
        assert racks[second] == racks[third] != "a"
        assert second != third


def test_a_writer_outside_gets_a_drawn_first_node() -> None:
    assert place_replicas({"a1": "a", "b1": "b"}, None, lambda n: n - 1) == ("b1", "a1")


def test_more_replicas_than_nodes_are_as_many_as_nodes() -> None:
    assert len(place_replicas({"a": "r", "b": "r"}, "a", lambda n: 0, replicas=5)) == 2
    assert place_replicas({}, "a", lambda n: 0) == ()


def test_a_rack_has_not_more_than_its_part() -> None:
    assert most_per_rack(10, 4) == (10 - 1) // 4 + 2
    racks = {f"{rack}{number}": rack for rack in "ab" for number in range(10)}
    chosen = place_replicas(racks, "a0", lambda n: 0, replicas=8)
    assert max(sum(node.startswith(rack) for node in chosen) for rack in "ab") <= most_per_rack(8, 2) == 5


@pytest.mark.parametrize(
    ("replicas", "left", "flushed", "wanted"),
    [
        (3, 2, False, False),  # two of three go on
        (3, 1, False, True),  # floor(3/2) >= 1
        (3, 2, True, True),  # what was flushed must not get fewer
        (2, 1, True, False),  # never below three replicas
        (1, 0, False, False),
        (4, 2, False, True),
        (5, 3, False, False),
        (10, 5, False, True),
    ],
)
def test_the_rule_of_replacement(replicas: int, left: int, flushed: bool, wanted: bool) -> None:
    assert wants_replacement(replicas, left, flushed=flushed) is wanted


def test_a_pipeline_through_two_losses() -> None:
    after_one = Pipeline(("a", "b", "c")).lose("b", spare=["d"])
    assert after_one == Pipeline(("a", "c"), stamp=1), "goes on with two; the old replica on b has an old stamp"
    assert after_one.lose("a", spare=["a", "d"]) == Pipeline(("c", "d"), stamp=2)
    assert after_one.lose("a") is None, "a wanted replacement is missing: the write fails"
    assert after_one.lose("a", best_effort=True) == Pipeline(("c",), stamp=2)
    assert Pipeline(("a",), replicas=1).lose("a", spare=["b"]) is None


def test_a_packet_needs_every_node_not_a_majority() -> None:
    pipeline = Pipeline(("a", "b", "c"))
    assert not pipeline.acknowledged({"a", "b"})
    assert pipeline.acknowledged({"a", "b", "c"})


def test_a_block_is_lost_only_with_all_its_replicas() -> None:
    blocks = [("a", "b", "c"), ("b", "c", "d"), ("d", "e", "f")]
    assert lost_blocks(blocks, {"a", "b"}) == []
    assert lost_blocks(blocks, {"b", "c", "d"}) == [1]


def test_the_loss_of_any_rack_loses_nothing_by_placement() -> None:
    racks = {f"{rack}{number}": rack for rack in "ab" for number in range(3)}
    block = place_replicas(racks, "a0", lambda n: 0)
    for rack in "ab":
        assert lost_blocks([block], {node for node in racks if racks[node] == rack}) == []


@pytest.mark.parametrize("kept", [RS_6_3, RS_10_4, copies(3)])
def test_coded_blocks_survive_as_many_losses_as_they_have_parity(kept: Redundancy) -> None:
    nodes = tuple(f"n{number}" for number in range(kept.parts))
    for gone in combinations(nodes, kept.parity):
        assert lost_blocks([nodes], gone, kept) == []
    assert lost_blocks([nodes], nodes[: kept.parity + 1], kept) == [0]


def test_three_copies_are_lost_with_the_cube_of_the_chance() -> None:
    chance = Fraction(7, 1_000)
    assert COPIES.loss_chance(chance) == chance**3
    assert RS_6_3.loss_chance(Fraction(0)) == 0
    assert RS_6_3.overhead == Fraction(3, 2)
    assert RS_6_3.loss_chance(chance) < 126 * chance**4, "C(9, 4) ways to lose four of nine"


def test_reads_fall_over_to_another_replica() -> None:
    racks = {"a1": "a", "a2": "a", "b1": "b"}
    assert read_order(("b1", "a2", "a1"), racks, "a1") == ["a1", "a2", "b1"]
    assert read_order(("b1", "a2", "a1"), racks, "a1", corrupt={"a1"}) == ["a2", "b1"]
    assert read_order(("b1", "x", "y"), racks, "a1") == ["b1"], "x and y are dead"
    assert read_order(("x",), racks, "a1") == [], "the block is missing"
    assert read_order(("a1", "b1"), racks, None) == ["a1", "b1"]


def test_a_block_with_one_replica_is_copied_first() -> None:
    assert repair_order({1: 2, 2: 1, 3: 3, 4: 0}) == [2, 1]
    assert repair_order({1: 5, 2: 3, 3: 1}, wanted=10) == [3, 2, 1]
