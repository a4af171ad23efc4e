"""Nodes that a job leaves out after three failures, unless a third of all would be."""

from gnomon.control.batch.plan import Course, Where
from gnomon.control.batch.rules import NodeRule, Rules

from .scripted import Ran, one_job, ran


def failing_on(*nodes: int, tasks: int, of: int, rule: NodeRule | None) -> Ran:
    """Every attempt on some nodes fails, at once; elsewhere they take longer."""

    def course(where: Where) -> Course:
        return Course(1, fails="bad disk") if where.node in nodes else Course(10)

    return ran(one_job({"tasks": tasks}), course, nodes=[1] * of, rules=Rules(exclusion=rule, max_failures=20))


def starts(found: Ran, node: int) -> int:
    return sum(at == node for _, _, _, at in found.starts)


def test_three_failures_on_one_node_of_four_exclude_it() -> None:
    found = failing_on(0, tasks=12, of=4, rule=NodeRule())
    assert starts(found, 0) == 3
    assert found.ended
    assert found.said("NodeExcluded")[0]["message"] == "3 attempts of job 0 failed there"


def test_one_node_of_three_is_a_third_and_is_used_on() -> None:
    """100 * 1 / 3 = 33 per cent, which is the threshold."""
    found = failing_on(0, tasks=12, of=3, rule=NodeRule())
    assert starts(found, 0) > 3
    assert "not heeded" in found.said("NodeExcluded")[0]["message"]
    assert starts(failing_on(0, tasks=12, of=3, rule=NodeRule(ignored_e4=10_000)), 0) == 3


def test_a_second_excluded_node_of_five_makes_that_both_are_used_again() -> None:
    found = failing_on(0, 1, tasks=20, of=5, rule=NodeRule())
    assert starts(found, 0) + starts(found, 1) > 6


def test_without_the_rule_the_node_is_used_on() -> None:
    assert starts(failing_on(0, tasks=12, of=4, rule=None), 0) > 3
