"""Shares, Jain's index and overtaking, against published examples and obvious counting."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.engine.log import Kind
from gnomon.insight.fairness import dominant_shares, jain_index, overtaken_max, served
from gnomon.model.cluster import Cluster, Node
from gnomon.model.resources import Resources
from gnomon.model.work import Shape
from tests.insight.stories import S, Story, cpus, stories, task

POOL = Cluster.of_processors(4)


@pytest.mark.unit
def test_the_example_of_drf_gives_both_users_two_thirds() -> None:
    # Ghodsi et al., NSDI 2011, section 4.1: 9 CPUs, 18 GB; A's tasks (1 CPU, 4 GB), three of them; B's (3, 1), two.
    giga = 10**9
    a, b = Shape(Resources(1000, 4 * giga)), Shape(Resources(3000, 1 * giga))
    tasks = [task(f"a{i}", a, user="A") for i in range(3)] + [task(f"b{i}", b, user="B") for i in range(2)]
    story = Story(Cluster((Node("n", Resources(9000, 18 * giga)),)), tasks).arrive(*range(5))
    for index in range(5):
        story.tell(0, Kind.START, index, node=0)
    for index in range(5):
        story.tell(10, Kind.END, index, node=0)
    shares = dominant_shares(story.past, "user")
    assert shares.tenants == ("A", "B")
    assert shares.peak == pytest.approx([2 / 3, 2 / 3])
    assert shares.mean == pytest.approx([2 / 3, 2 / 3])
    assert shares.series("B").value[-2:] == pytest.approx([1 / 3, 0])


@pytest.mark.property
@given(stories(), st.sampled_from(("user", "queue")))
def test_a_dominant_share_is_the_largest_share_of_any_resource(story: Story, by: str) -> None:
    past, shares = story.past, dominant_shares(story.past, by)
    assert set(shares.tenants) == {getattr(story.tasks[stay.task], by) for stay in story.stays}
    for index, tenant in enumerate(shares.tenants):
        seconds = range(past.begin_ns // S, past.end_ns // S)
        share = [0.0]
        for second in seconds:
            held = [
                story.tasks[stay.task].shape.request
                for stay in story.stays
                if getattr(story.tasks[stay.task], by) == tenant
                if stay.holds_at(second)
            ]
            names = story.cluster.resource_names()
            share.append(max(sum(one.amount(name) for one in held) / story.cluster.total(name) for name in names))
        assert shares.peak[index] == pytest.approx(max(share))
        assert shares.mean[index] == pytest.approx(sum(share) / max(len(seconds), 1))


@pytest.mark.unit
@pytest.mark.parametrize(
    ("amounts", "index"),
    [
        # Jain, Chiu, Hawe 1984: if k of n users share equally and the others get nothing, the index is k/n.
        ([1, 1, 1, 1, 0, 0, 0, 0, 0, 0], 0.4),
        ([7.5] * 3, 1.0),
        ([1, 0, 0, 0], 0.25),
        ([0, 0], 1.0),
        ([], None),
    ],
)
def test_jain_index(amounts: list[float], index: float | None) -> None:
    assert jain_index(np.array(amounts, float)) == (None if index is None else pytest.approx(index))


@pytest.mark.unit
def test_demand_is_served_by_half_when_one_waits_as_long_as_one_runs() -> None:
    tasks = [task("a", cpus(4), user="u"), task("b", cpus(4), user="v")]
    story = Story(POOL, tasks).arrive(0, 1).run(0, 0, 5).run(1, 5, 10)
    assert served(story.past, "user").tolist() == [1.0, 0.5]


@pytest.mark.unit
def test_a_place_that_is_held_is_used() -> None:
    story = Story(POOL, [task("a")]).arrive(0).tell(0, Kind.HOLD, 0).tell(3, Kind.START, 0).tell(5, Kind.END, 0)
    assert served(story.past, "user").tolist() == [1.0]


@pytest.mark.unit
def test_who_still_waits_is_not_served() -> None:
    tasks = [task("a", user="u"), task("b", user="v"), task("c", user="w")]
    story = Story(POOL, tasks).arrive(0, 1, 2).tell(0, Kind.REJECT, 2).run(0, 0, 5)
    assert served(story.past, "user").tolist() == [1.0, 0.0]


@pytest.mark.property
@given(stories(), st.sampled_from(("user", "queue")))
def test_what_is_served_is_a_part_of_the_demand(story: Story, by: str) -> None:
    found = served(story.past, by)
    assert ((found >= 0) & (found <= 1 + 1e-12)).all()


@pytest.mark.unit
def test_first_come_first_served_overtakes_nobody() -> None:
    story = (
        Story(POOL, [task("a", cpus(4)), task("b"), task("c")]).arrive(0, 1, 2).run(0, 0, 1).run(1, 1, 2).run(2, 1, 2)
    )
    assert overtaken_max(story.past) == 0


@pytest.mark.unit
def test_a_wide_task_is_overtaken_by_the_narrow_ones_behind_it() -> None:
    tasks = [task("a"), task("wide", cpus(4), submit=1), task("b", submit=2), task("c", submit=2), task("d", submit=4)]
    story = Story(POOL, tasks).arrive(0).run(0, 0, 4).arrive(1, 2, 3).run(2, 2, 3).run(3, 2, 3).run(1, 4, 6)
    assert overtaken_max(story.arrive(4).run(4, 6, 7).past) == 2


@pytest.mark.property
@given(stories())
def test_overtaking_is_counted_pair_by_pair(story: Story) -> None:
    past = story.past
    first, end, submit = past.outcome.first_start_ns, past.outcome.end_ns, past.scenario.work.submit_ns
    counted = np.flatnonzero(past.accepted).tolist()
    overtaken = [
        sum((submit[j], j) > (submit[i], i) and first[j] < min(first[i], end[i]) for j in counted if first[j] < 2**62)
        for i in counted
    ]
    assert overtaken_max(past) == max(overtaken, default=0)
