"""Tasks wait for slots near their input, and not for ever."""

from collections.abc import Mapping, Sequence

from gnomon.control.batch.locality import NODE, PROCESS
from gnomon.control.batch.plan import Course
from gnomon.control.batch.rules import LocalityRule, Rules

from .scripted import Ran, Script, one_job, ran

S = 1_000_000_000
WAITS = LocalityRule(3 * S, 3 * S, 3 * S)


def run(
    near: Mapping[tuple[int, int], Sequence[tuple[int, int]]],
    lengths: Sequence[int],
    nodes: Sequence[int],
    *,
    rule: LocalityRule = WAITS,
    labels: Sequence[tuple[tuple[str, str], ...]] = (),
) -> Ran:
    script = Script(lambda where: Course(lengths[where.partition]), near=near)
    plan = one_job({"tasks": len(lengths)})
    return ran(plan, 0, script=script, nodes=nodes, rules=Rules(locality=rule), labels=labels)


def test_a_task_goes_where_its_input_is() -> None:
    found = run({(0, 0): [(2, NODE)], (0, 1): [(0, PROCESS)]}, [S, S], [1, 1, 1])
    assert {(partition, node) for _, _, partition, node in found.starts} == {(0, 2), (1, 0)}


def test_it_waits_three_seconds_a_level_for_a_busy_place_and_then_goes_elsewhere() -> None:
    """Both want node 0; for the second a slot of any node is right after the wait of its only level that is valid."""
    found = run({(0, 0): [(0, NODE)], (0, 1): [(0, NODE)]}, [100 * S, S], [1, 1])
    (first, second) = found.starts
    assert first[2:] == (0, 0)
    assert (second[0], second[3]) == (3 * S, 1)


def test_a_place_that_becomes_free_in_time_is_taken() -> None:
    found = run({(0, 0): [(0, NODE)], (0, 1): [(0, NODE)]}, [2 * S, S], [1, 1])
    assert [(t, node) for t, _, _, node in found.starts] == [(0, 0), (2 * S, 0)]


def test_on_the_way_the_rack_counts() -> None:
    racks = [(("rack", "r1"),), (("rack", "r2"),), (("rack", "r1"),)]
    near = {(0, partition): [(0, NODE)] for partition in range(3)}
    found = run(near, [100 * S] * 3, [1, 1, 1], labels=racks)
    assert [(t, node) for t, _, _, node in found.starts] == [(0, 0), (3 * S, 2), (6 * S, 1)]


def test_without_a_wait_nobody_waits() -> None:
    found = run({(0, 0): [(0, NODE)], (0, 1): [(0, NODE)]}, [100 * S, S], [1, 1], rule=LocalityRule())
    assert [t for t, _, _, _ in found.starts] == [0, 0]


def test_tasks_without_a_preference_do_not_wait() -> None:
    found = run({(0, 0): [(0, NODE)]}, [S, S, S], [1, 1])
    assert [t for t, _, _, _ in found.starts][:2] == [0, 0]
    assert found.ended == {0: 2 * S}
