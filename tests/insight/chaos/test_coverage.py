"""What a run hit: edges between events and their causes, faults at one time, attempts, how near a property was."""

from __future__ import annotations

import pytest

from gnomon.engine.log import Kind, Reason
from gnomon.insight.chaos.coverage import features
from gnomon.insight.chaos.facts import Facts
from gnomon.insight.chaos.rules import Verdict
from tests.insight.faulty import Tale, crash, split
from tests.insight.stories import task

pytestmark = pytest.mark.unit


def hit(tale: Tale, *verdicts: Verdict) -> frozenset[int]:
    return features(Facts(tale.past), verdicts)


def test_the_same_story_hits_the_same() -> None:
    assert hit(crash()) == hit(crash())


def test_numbers_and_times_are_no_features_but_causes_are() -> None:
    assert hit(crash(lost=5)) == hit(crash(lost=1))
    other = crash()
    other.rows[5] = (*other.rows[5][:4], -1, *other.rows[5][5:])  # a failure that comes out of nowhere
    assert hit(other) != hit(crash())


def test_another_kind_of_fault_is_another_feature() -> None:
    other = crash()
    fault = next(row for row, values in enumerate(other.rows) if values[1] == Kind.FAULT)
    other.details[fault] = {"kind": "reboot"}
    assert hit(other) - hit(crash())


def test_a_copy_that_is_fenced_and_one_that_ends_differ() -> None:
    assert hit(split(Reason.FENCED)) != hit(split(Reason.FINISHED))


def test_faults_at_one_time_are_more_than_one_after_the_other() -> None:
    def faults(second: int) -> frozenset[int]:
        tale = Tale(crash().cluster, [task("t")])
        tale.row(0, Kind.ARRIVE, 0)
        tale.fault(1, "crash", 0, number=0)
        if second < 5:
            tale.fault(second, "partition", 1, number=1)
        tale.heal(5, 0, number=0)
        if second >= 5:
            tale.fault(second, "partition", 1, number=1)
        tale.heal(9, 1, number=1)
        return hit(tale)

    assert faults(3) > faults(6)


def test_coming_nearer_to_a_bound_is_something_new() -> None:
    near, nearer = (hit(crash(), Verdict(True, "", near_e4=e4)) for e4 in (5_100, 6_100))
    assert near != nearer
    assert near == hit(crash(), Verdict(True, "", near_e4=5_900))
