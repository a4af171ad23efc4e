"""Allocation and queue over time, against counting second by second."""

import numpy as np
import pytest
from hypothesis import given

from gnomon.engine.log import Kind, Reason
from gnomon.insight.usage import Steps, allocated, queue_length
from gnomon.model.cluster import Cluster, Node
from gnomon.model.resources import MAX_AMOUNT, Resources
from gnomon.model.work import Shape
from tests.insight.faulty import Tale, machines, split
from tests.insight.stories import S, Story, cpus, stories, task

POOL = Cluster.of_processors(4)


def at(steps: Steps, second: int) -> float:
    index = int(np.searchsorted(steps.t_ns, second * S, side="right")) - 1
    return float(steps.value[index]) if index >= 0 else 0.0


@pytest.mark.unit
def test_allocation_goes_up_with_a_start_and_down_with_its_end() -> None:
    story = Story(POOL, [task("a", cpus(1)), task("b", cpus(3))]).arrive(0, 1).run(0, 0, 4).run(1, 2, 6)
    assert [at(allocated(story.past, "cpu"), second) for second in range(7)] == [0.25, 0.25, 1, 1, 0.75, 0.75, 0]


@pytest.mark.unit
def test_what_happens_at_one_instant_is_one_step() -> None:
    story = Story(POOL, [task("a", cpus(4)), task("b", cpus(4))]).arrive(0, 1).run(0, 0, 4).run(1, 4, 6)
    assert allocated(story.past, "cpu").t_ns.tolist() == [0, 6 * S]
    assert queue_length(story.past).value.tolist() == [1, 0]


@pytest.mark.unit
def test_sums_beyond_64_bits_are_right() -> None:
    huge = Resources(memory_bytes=MAX_AMOUNT)
    nodes = tuple(Node(f"n{i}", huge) for i in range(2048))
    story = Story(Cluster(nodes), [task(str(i), Shape(huge)) for i in range(2048)]).arrive(*range(2048))
    for index in range(2048):
        story.tell(1, Kind.START, index, node=index)
    assert at(allocated(story.past, "memory"), 1) == 1.0


@pytest.mark.unit
def test_a_preempted_task_waits_again_and_a_cancelled_one_no_more() -> None:
    story = Story(POOL, [task("a"), task("b")]).arrive(0, 1).tell(1, Kind.START, 0).tell(2, Kind.CANCEL, 1)
    story.tell(3, Kind.PREEMPT, 0).run(0, 5, 7)
    assert [at(queue_length(story.past), second) for second in range(7)] == [2, 1, 0, 1, 1, 0, 0]


@pytest.mark.unit
def test_a_rejected_task_never_waits() -> None:
    story = Story(POOL, [task("a"), task("b")]).tell(0, Kind.REJECT, 0, reason=Reason.TOO_LARGE).arrive(1).run(1, 1, 2)
    assert queue_length(story.past).peak(0, 2 * S) == 1


@pytest.mark.property
@given(stories())
def test_allocation_is_the_sum_over_those_who_hold_a_place(story: Story) -> None:
    for name in story.cluster.resource_names():
        total, steps = story.cluster.total(name), allocated(story.past, name)
        for second in range(story.past.end_ns // S):
            held = sum(
                story.tasks[stay.task].shape.request.amount(name) for stay in story.stays if stay.holds_at(second)
            )
            assert at(steps, second) == pytest.approx(held / total)


@pytest.mark.property
@given(stories())
def test_the_queue_is_who_arrived_and_neither_runs_nor_is_over(story: Story) -> None:
    over = {row[2]: row[0] // S for row in story.rows if row[1] in (Kind.END, Kind.KILL, Kind.CANCEL)}
    refused = {row[2] for row in story.rows if row[1] == Kind.REJECT}
    came = {row[2]: row[0] // S for row in story.rows if row[1] == Kind.ARRIVE and row[2] not in refused}
    queue = queue_length(story.past)
    for second in range(story.past.end_ns // S):
        running = {stay.task for stay in story.stays if stay.runs_at(second)}
        here = {one for one, since in came.items() if since <= second < over.get(one, second + 1)}
        assert at(queue, second) == len(here - running)


@pytest.mark.property
@given(stories())
def test_the_mean_of_bins_is_the_mean_of_the_whole(story: Story) -> None:
    past = story.past
    if past.span_ns:
        queue = queue_length(past)
        edges = np.linspace(past.begin_ns, past.end_ns, 9).astype(np.int64)
        means = queue.binned(edges)
        assert (means * np.diff(edges)).sum() / past.span_ns == pytest.approx(queue.mean(past.begin_ns, past.end_ns))
        assert means.max() <= queue.peak(past.begin_ns, past.end_ns) + 1e-9


@pytest.mark.unit
def test_a_copy_holds_what_its_task_asks_for() -> None:
    past = split(Reason.FENCED).past  # on n0 to 4, then as a copy to 9; on n1 from 5 to 15; 8 CPUs
    assert allocated(past, "cpu").binned(np.arange(0, 17) * S).tolist() == [1 / 8] * 5 + [2 / 8] * 4 + [1 / 8] * 6 + [0]


@pytest.mark.unit
def test_a_task_that_failed_waits_until_it_starts_again_or_not_at_all() -> None:
    tale = Tale(machines(4), [task("a"), task("b")])
    for one in (0, 1):
        tale.row(0, Kind.ARRIVE, one)
        tale.row(0, Kind.START, one, 0)
        failed = tale.fail(2, one, 0, lost=2)
    tale.row(2, Kind.RETRY, 0, cause=failed, reason=Reason.BACKOFF, value=5 * S)
    tale.row(5, Kind.QUEUE, 0)
    tale.row(6, Kind.START, 0, 0)
    tale.row(8, Kind.END, 0, 0)
    undone = tale.row(9, Kind.UNDO, 0)
    tale.row(9, Kind.WAIT, 0, cause=undone, reason=Reason.RESOURCES)
    tale.row(11, Kind.STOP)
    assert queue_length(tale.past).binned(np.arange(12) * S).tolist() == [0, 0, 1, 1, 1, 1, 0, 0, 0, 1, 1]


@pytest.mark.unit
def test_one_that_reads_results_of_others_waits_only_when_they_are_there() -> None:
    """b and c need a, which runs for 4 s; then b has the processors, and c waits for them."""
    tasks = [task("a", cpus(4)), task("b", cpus(4), needs=("a",)), task("c", cpus(4), needs=("a",))]
    tale = Tale(machines(4), tasks)
    for one in range(3):
        tale.row(0, Kind.ARRIVE, one)
    for one in (1, 2):
        tale.row(0, Kind.WAIT, one, reason=Reason.NEEDS)
    tale.row(0, Kind.START, 0, 0)
    ended = tale.row(4, Kind.END, 0, 0)
    for one in (1, 2):
        tale.row(4, Kind.QUEUE, one, cause=ended)
    tale.row(4, Kind.START, 1, 0)
    tale.row(4, Kind.WAIT, 2, reason=Reason.RESOURCES)
    tale.row(6, Kind.END, 1, 0)
    tale.row(6, Kind.START, 2, 0)
    tale.row(8, Kind.END, 2, 0)
    assert [at(queue_length(tale.past), second) for second in range(8)] == [0, 0, 0, 0, 1, 1, 0, 0]
