"""Readers that wait inside for a silent node: what they report, and when the outputs there are taken for failed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from gnomon.control.batch.plan import Course, Where
from gnomon.control.batch.rules import ReportRule, Rules
from gnomon.model.fault import Failure, Fault
from gnomon.model.operation import Heartbeat, Operation
from gnomon.model.resources import NEVER

from .scripted import Ran, Script, one_job, ran

S = 10**9
RULES = Rules(eager=True, by_beat=True, reports=ReportRule())
EXPIRY = Operation(detection=Heartbeat(S, 0, 600 * S))


@dataclass
class Slow(Script):
    """Maps of 10 s, and readers that have read nothing for the first 100 s."""

    made: dict[int, int] = field(default_factory=dict)
    down: set[int] = field(default_factory=set)

    def done(self, where: Where) -> Mapping[str, int | str]:
        if where.stage.number == 0:
            self.made[where.partition] = where.node
        return {}

    def lost(self, stage: Any, partition: int) -> None:
        self.made.pop(partition, None)

    def reach(self, node: int, up: bool) -> None:
        (self.down.discard if up else self.down.add)(node)

    def lacks(self, where: Where) -> Sequence[tuple[int, int]] | None:
        if where.stage.number == 0:
            return []
        return [(0, map_) for map_ in range(4) if self.made.get(map_, -1) in {-1, *self.down}]

    def resume(self, where: Where, ran_ns: int) -> Course:
        return Course(100 * S, reads_ns=100 * S)


def lost_worker(readers: int, *, back_s: int | None = None, node: int | None = None) -> Ran:
    """Four maps; at 20 s a node that made one, without a reader if there is one, falls silent; so many readers copy."""
    if node is None:
        calm = lost_worker(readers, node=-1)
        busy = set(nodes_of(calm, 1))
        made = nodes_of(calm, 0)
        node = next((node for node in made if node not in busy), made[0])
    script = Slow(lambda where: Course(10 * S) if where.stage.number == 0 else Course(100 * S, reads_ns=100 * S))
    plan = one_job({"tasks": 4}, {"tasks": readers, "parents": (0,), "overlaps_e4": 5_000})
    crash = Failure(Fault.CRASH, 20 * S, NEVER if back_s is None else back_s * S, (f"node/n{node}",))
    faults = [crash] if node >= 0 else []
    return ran(plan, 0, nodes=[1] * 20, rules=RULES, faults=faults, operation=EXPIRY, script=script)


def nodes_of(found: Ran, stage: int) -> list[int]:
    """Where the tasks of a stage ended."""
    return [where.node for where in found.script.begun if where.stage.number == stage]


def redone(found: Ran) -> list[int]:
    """When maps started again [s]."""
    return [t // S for t, stage, _, _ in found.starts if stage == 0][4:]


@pytest.mark.parametrize(
    ("readers", "at"),
    [
        (1, 20 + 180 + 13 + 180 + 16 + 180),  # three reports of one reader, 16.9 s before the last
        (2, 20 + 180 + 13 + 180),  # the third report is the second of one of two
        (3, 20 + 180),  # one of each of three
        (6, 20 + 180),  # three of six are half
        (7, 20 + 180),  # four of seven are more
    ],
)
def test_three_reports_and_half_of_those_that_copy(readers: int, at: int) -> None:
    found = lost_worker(readers)
    assert redone(found) == [at]
    assert [facts["message"] for facts in found.said("OutputFailed")] == ["too many fetch failures"]
    assert found.ended[0] > at * S


def test_a_node_that_comes_back_before_has_lost_what_it_made_and_it_is_made_again_at_once() -> None:
    found = lost_worker(3, back_s=60)
    assert redone(found) == [80]
    assert found.said("FetchFailed") == []
    assert found.ended[0] == (20 + 60 + 10 + 100) * S


def test_a_reader_on_the_silent_node_tells_nothing() -> None:
    calm = lost_worker(1, node=-1)
    both = lost_worker(1, node=nodes_of(calm, 1)[0])
    assert both.said("FetchFailed") == []
