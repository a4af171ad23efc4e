"""Stages, task sets and offers of bounded jobs in the shared world."""

from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon.control.batch.plan import BatchPlan, Course, JobPlan, Where
from gnomon.control.batch.rules import Rules
from gnomon.scheduling.pools import FAIR, Pool

from .scripted import one_job, ran, stages

TWO = ({"tasks": 4}, {"tasks": 2, "parents": (0,)})


def test_a_stage_starts_when_all_its_parents_are_done() -> None:
    found = ran(one_job(*TWO), {0: [10, 20, 30, 40], 1: [5, 5]}, nodes=[4])
    assert found.starts[4:] == [(40, 1, 0, 0), (40, 1, 1, 0)]
    assert found.ended == {0: 45}


def test_tasks_of_a_set_start_in_the_order_of_their_partitions() -> None:
    found = ran(one_job({"tasks": 5}), 10, nodes=[2])
    assert found.launched == [(0, 0), (0, 1), (0, 2), (0, 3), (0, 4)]
    assert found.ended == {0: 30}


def test_a_diamond_runs_each_stage_once() -> None:
    plan = one_job(
        {"tasks": 2}, {"tasks": 2, "parents": (0,)}, {"tasks": 2, "parents": (0,)}, {"tasks": 1, "parents": (1, 2)}
    )
    found = ran(plan, 10, nodes=[2])
    assert found.launched == [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1), (3, 0)]
    assert found.ended == {0: 40}


def test_a_slot_is_offered_again_before_it_is_known_what_came_of_the_task() -> None:
    """On one slot, so the first task of a later stage comes between a stage and its child."""
    plan = one_job(
        {"tasks": 1},
        {"tasks": 1, "parents": (0,)},
        {"tasks": 1},
        {"tasks": 1, "parents": (2,)},
        {"tasks": 1, "parents": (1, 3)},
    )
    found = ran(plan, 10, rules=Rules(result_ns=1))
    assert [stage for stage, _ in found.launched] == [0, 2, 1, 3, 4]


def test_delays_of_the_driver_come_between_stages_and_around_jobs() -> None:
    plan = one_job(*TWO)
    jobs = {0: JobPlan(0, "job", result=1, setup_ns=7, teardown_ns=3)}
    found = ran(BatchPlan(jobs, plan.stages), 10, nodes=[4], rules=Rules(result_ns=2, stage_ns=5))
    assert found.starts[0][0] == 7
    assert found.starts[4][0] == 7 + 10 + 2 + 5
    assert found.ended == {0: 7 + 10 + 2 + 5 + 10 + 2 + 3}


def test_a_later_job_finds_what_an_earlier_one_computed() -> None:
    known = stages({"tasks": 4}, {"tasks": 2, "parents": (0,)}, {"tasks": 2, "parents": (0,)})
    jobs = {0: JobPlan(0, "first", result=1), 1: JobPlan(1, "second", result=2, after=0, at_ns=100)}
    found = ran(BatchPlan(jobs, known), 10, nodes=[4])
    assert [stage for stage, _ in found.launched] == [0] * 4 + [1] * 2 + [2] * 2
    assert found.ended == {0: 20, 1: 130}


def test_jobs_side_by_side_are_served_in_the_order_of_their_numbers() -> None:
    known = stages({"tasks": 3}, {"tasks": 3})
    jobs = {0: JobPlan(0, "a", result=0), 1: JobPlan(1, "b", result=1, at_ns=5)}
    found = ran(BatchPlan(jobs, known), 10, nodes=[2])
    assert found.launched == [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]


def test_a_fair_pool_gets_slots_as_they_become_free() -> None:
    """P holds all eight slots when Q comes; each task of P that ends goes to Q until P has its two and Q its six."""
    known = stages({"tasks": 40}, {"tasks": 40})
    jobs = {0: JobPlan(0, "a", result=0, pool="P"), 1: JobPlan(1, "b", result=1, at_ns=1, pool="Q")}
    rules = Rules(mode=FAIR, pools={"P": Pool("P", 1, 2), "Q": Pool("Q", 3)})
    lengths = {0: [100 + i for i in range(40)], 1: [100 + i for i in range(40)]}
    found = ran(BatchPlan(jobs, known), lengths, nodes=[8], rules=rules)
    assert [stage for stage, _ in found.launched[:16]] == [0] * 8 + [1] * 6 + [0] * 2


def test_a_failed_task_is_tried_again_before_those_never_tried() -> None:
    def course(where: Where) -> Course:
        return Course(10, fails="no luck" if where.partition == 0 and where.number == 0 else "")

    found = ran(one_job({"tasks": 3}), course)
    assert found.launched == [(0, 0), (0, 0), (0, 1), (0, 2)]
    assert found.ended == {0: 40}


def test_four_failures_of_one_task_fail_the_job_and_stop_the_others() -> None:
    def course(where: Where) -> Course:
        return Course(10, fails="always") if where.partition == 0 else Course(1000)

    found = ran(one_job({"tasks": 3}), course, nodes=[2])
    assert [where.number for where in found.script.begun if where.partition == 0] == [0, 1, 2, 3]
    assert found.ended == {}
    (failed,) = found.said("JobFailed")
    assert failed["t"] == 40
    assert "task 0 failed 4 times: always" in failed["message"]
    assert found.ends == []


def test_failures_of_different_tasks_are_not_added_up() -> None:
    def course(where: Where) -> Course:
        return Course(10, fails="often" if where.number < 3 else "")

    found = ran(one_job({"tasks": 3}), course, nodes=[3])
    assert found.ended == {0: 40}


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_no_slot_is_idle_while_a_task_waits(data: st.DataObject) -> None:
    """The end of one stage without delays is that of a list schedule, worked out by hand."""
    lengths = data.draw(st.lists(st.integers(1, 50), min_size=1, max_size=12))
    slots = data.draw(st.integers(1, 5))
    free = [0] * slots
    for length in lengths:
        first = free.index(min(free))
        free[first] += length
    found = ran(one_job({"tasks": len(lengths)}), {0: lengths}, nodes=[slots])
    assert found.ended == {0: max(free)}
