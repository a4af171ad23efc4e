"""Nodes on which too much failed."""

from gnomon.control.batch.plan import Course, Where
from gnomon.control.batch.rules import ExclusionRule, Rules

from .scripted import Ran, one_job, ran

RULES = Rules(exclusion=ExclusionRule())


def failing_on(*nodes: int, tasks: int, spare: tuple[int, ...] = (1, 1, 1)) -> Ran:
    """Every attempt on some nodes fails."""

    def course(where: Where) -> Course:
        return Course(10, fails="bad disk" if where.node in nodes else "")

    return ran(one_job({"tasks": tasks}), course, nodes=spare, rules=RULES)


def test_a_task_is_not_tried_twice_on_a_node() -> None:
    found = failing_on(0, tasks=1)
    nodes = [node for _, _, _, node in found.starts]
    assert nodes.count(0) <= 1
    assert found.ended


def test_a_node_where_two_tasks_failed_is_not_used_for_the_stage() -> None:
    found = failing_on(0, tasks=12)
    assert len([node for _, _, _, node in found.starts if node == 0]) == 2
    assert found.ended


def test_with_nowhere_left_the_task_set_fails_after_two_minutes() -> None:
    found = failing_on(0, 1, tasks=1, spare=(1, 1))
    (failed,) = found.said("JobFailed")
    assert "may not run on any node" in failed["message"]
    assert failed["t"] == 20 + RULES.exclusion.unschedulable_ns  # type: ignore[union-attr]
