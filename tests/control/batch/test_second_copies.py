"""Second copies of slow tasks: the first to be done wins."""

from collections.abc import Callable
from typing import Any

from gnomon.control.batch.plan import Course, Where
from gnomon.control.batch.rules import Rules
from gnomon.engine.log import Kind
from gnomon.model.fault import Failure, Fault
from gnomon.recovery.speculation import Gains, SlowTasks, SpeculationCap

from .scripted import Ran, one_job, ran

S = 1_000_000_000
RULE = SlowTasks()


def straggler(slow_s: int, copy_s: int = 10, *, records: int = 0) -> Callable[[Where], Course]:
    """Ten tasks of 10 s, the last of which takes longer."""

    def course(where: Where) -> Course:
        if where.partition < 9:
            return Course(10 * S, records=records)
        return Course((copy_s if where.copy else slow_s) * S, records=records)

    return course


def copies(found: Ran) -> list[int]:
    """When copies started."""
    return [int(t) for t, kind in zip(found.log.t_ns, found.log.kind, strict=True) if kind == Kind.COPY]


def run(course: Callable[[Where], Course], **more: Any) -> Ran:
    options: dict[str, Any] = {"nodes": [5, 5], "rules": Rules(copies=RULE), **more}
    return ran(one_job({"tasks": 10}), course, **options)


def test_a_task_is_copied_after_sixty_seconds_when_the_median_is_ten() -> None:
    found = run(straggler(100))
    assert copies(found) == [60 * S + RULE.check_ns]
    assert found.ended == {0: 70 * S + RULE.check_ns}


def test_one_that_reads_slowly_is_copied_after_thirty() -> None:
    found = run(straggler(100, records=1000))
    assert copies(found) == [30 * S + RULE.check_ns]


def test_the_first_attempt_wins_when_it_is_done_first() -> None:
    found = run(straggler(65, copy_s=50))
    assert copies(found) == [60 * S + RULE.check_ns]
    assert found.ended == {0: 65 * S}


def test_a_copy_goes_to_another_node_or_nowhere() -> None:
    assert copies(run(straggler(100), nodes=[10])) == []


def test_nobody_is_slow_before_most_are_done() -> None:
    def course(where: Where) -> Course:
        return Course((10 if where.partition < 8 else 200) * S)

    assert copies(run(course)) == []


def test_the_copy_goes_on_alone_when_the_node_of_the_first_is_lost() -> None:
    course = straggler(100, copy_s=30)
    first = run(course)
    node = next(node for _, _, partition, node in first.starts if partition == 9)
    crash = Failure(Fault.CRASH, at_ns=70 * S, targets=(f"node/n{node}",))
    found = run(course, faults=[crash])
    assert found.ended == {0: 90 * S + RULE.check_ns}
    assert [partition for _, _, partition, _ in found.ends].count(9) == 1


# ------------------------------------------------------------------ by what a copy gains


GAINS = Gains(cap=SpeculationCap(least=1))
"""One copy at a time."""


def two_late(first_s: int, second_s: int) -> Callable[[Where], Course]:
    """Eight tasks of 100 s, and two that take longer."""

    def course(where: Where) -> Course:
        late = {8: first_s, 9: second_s}.get(where.partition, 100)
        return Course((100 if where.copy else late) * S)

    return course


def gaining(course: Callable[[Where], Course], rule: Gains) -> Ran:
    return ran(one_job({"tasks": 10}), course, nodes=[1] * 12, rules=Rules(copies=rule))


def copied(found: Ran) -> list[tuple[int, int]]:
    """The copies: when [s], of which task."""
    rows = [row for row, kind in enumerate(found.log.kind) if kind == Kind.COPY]
    return [(int(found.log.t_ns[row]) // S, int(found.log.subject[row])) for row in rows]


def test_the_task_is_copied_that_would_end_latest_as_soon_as_the_mean_says_so() -> None:
    assert copied(gaining(two_late(400, 600), GAINS))[0] == (101, 9), "600 - (101 + 100) is more than 400 - 201"


def test_one_copy_in_a_look_and_the_next_look_fifteen_seconds_later() -> None:
    both = copied(gaining(two_late(400, 600), Gains()))
    assert both == [(101, 9), (116, 8)], "the look at 100 s is before it is known who is done"


def test_not_more_copies_at_once_than_the_cap() -> None:
    first, second = copied(gaining(two_late(400, 600), GAINS))
    assert (first, second[1]) == ((101, 9), 8)
    assert second[0] >= 201, "when the first copy is done"


def test_a_task_that_ends_before_its_copy_would_gets_none() -> None:
    assert copied(gaining(two_late(190, 150), Gains())) == []


def test_while_a_task_waits_for_its_first_place_nobody_is_copied() -> None:
    found = ran(one_job({"tasks": 10}), two_late(600, 100), nodes=[1] * 5, rules=Rules(copies=Gains()))
    assert all(t >= 200 for t, _ in copied(found)), "the second five wait until 100 s"
