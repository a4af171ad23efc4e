"""Second copies of slow tasks: the first to be done wins."""

from collections.abc import Callable
from typing import Any

from gnomon.control.batch.plan import Course, Where
from gnomon.control.batch.rules import Rules
from gnomon.engine.log import Kind
from gnomon.model.fault import Failure, Fault
from gnomon.recovery.speculation import SlowTasks

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
