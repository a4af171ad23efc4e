"""Metrics: textbook cases, the reference simulator's figures, and every sum against counting by hand."""

import importlib.util
import json
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from gnomon.engine.log import Kind, Reason
from gnomon.insight.distribution import Distribution
from gnomon.insight.metrics import Metrics, metrics
from gnomon.model.cluster import Cluster, Node
from gnomon.model.resources import MAX_AMOUNT, Resources
from gnomon.model.work import Shape, Task
from tests.insight.stories import S, Stay, Story, cpus, stories, task
from tests.shared import SHARED, needs_shared

POOL = Cluster.of_processors(8)

CONTRACT = """jobs done rejected makespan_s wait_s turnaround_s bounded_slowdown utilisation allocated throughput_per_s
    fragmentation jain_index preemptions wasted_cpu_s goodput longest_wait_s overtaken_max""".split()


def measured(story: Story) -> Metrics:
    return metrics(story.scenario, story.log)


def one_after_the_other() -> Story:
    """Two jobs of 6 CPUs and 10 s on 8 CPUs."""
    return Story(POOL, [task("a", cpus(6)), task("b", cpus(6))]).arrive(0, 1).run(0, 0, 10).run(1, 10, 20)


@pytest.mark.unit
def test_two_jobs_of_6_cpus_run_one_after_the_other_on_8_at_75_percent() -> None:
    found = measured(one_after_the_other())
    assert (found.jobs, found.done, found.rejected) == (2, 2, 0)
    assert found.makespan_s == 20
    assert found.utilisation == {"cpu": 0.75}
    assert found.wait_s == Distribution(mean=5, p50=5, p90=9, p99=9.9, max=10)
    assert found.turnaround_s.mean == 15
    assert found.bounded_slowdown.mean == 1.5
    assert found.throughput_per_s == 0.1
    assert found.backlog == {"mean": 0.5, "max": 1}
    assert found.headroom == {"cpu": 0.25}
    assert found.goodput == 1
    assert found.longest_wait_s == 10


@pytest.mark.unit
def test_the_dictionary_begins_with_the_keys_of_the_contract_and_is_plain_json() -> None:
    found = measured(one_after_the_other()).as_dict()
    assert list(found)[: len(CONTRACT)] == CONTRACT
    assert list(found["wait_s"]) == ["mean", "p50", "p90", "p99", "max"]
    assert json.loads(json.dumps(found)) == found


@pytest.mark.unit
def test_short_runs_count_as_ten_seconds_in_the_bounded_slowdown() -> None:
    story = Story(POOL, [task("a"), task("b"), task("c")]).arrive(0, 1, 2)
    story.run(0, 4, 5).run(1, 19, 20).run(2, 20, 60)
    assert measured(story).bounded_slowdown == Distribution.of(np.array([1.0, 2.0, 1.5]))


@pytest.mark.unit
def test_what_was_preempted_is_wasted() -> None:
    story = Story(POOL, [task("a", cpus(4))]).arrive(0).tell(1, Kind.START, 0).tell(4, Kind.PREEMPT, 0).run(0, 6, 12)
    found = measured(story)
    assert (found.preemptions, found.wasted_cpu_s, found.goodput) == (1, 12, 24 / 36)
    assert found.wait_s.mean == 2, "the longest wait: 1 s before the first start, 2 s after it gave way"
    assert found.turnaround_s.mean == 12
    assert found.bounded_slowdown.mean == 12 / 10


@pytest.mark.unit
def test_the_slowdown_is_that_of_the_last_attempt() -> None:
    story = Story(POOL, [task("a")]).arrive(0).tell(0, Kind.START, 0).tell(40, Kind.PREEMPT, 0).run(0, 60, 80)
    assert measured(story).bounded_slowdown.mean == 80 / 20


@pytest.mark.unit
def test_a_cancelled_task_waited_until_then() -> None:
    story = Story(POOL, [task("a"), task("b")]).arrive(0, 1).run(0, 0, 3).tell(3, Kind.CANCEL, 1).tell(50, Kind.STOP)
    assert measured(story).longest_wait_s == 3


@pytest.mark.unit
def test_what_was_killed_is_wasted_but_has_a_turnaround() -> None:
    story = Story(POOL, [task("a", cpus(2)), task("b", cpus(1))]).arrive(0, 1)
    story.tell(0, Kind.START, 0).tell(5, Kind.KILL, 0, reason=Reason.AT_ESTIMATE).run(1, 5, 10)
    found = measured(story)
    assert (found.done, found.killed) == (1, 1)
    assert (found.wasted_cpu_s, found.goodput) == (10, 1 / 3)
    assert found.turnaround_s.mean == 7.5


@pytest.mark.unit
def test_holding_is_allocated_and_not_utilised() -> None:
    story = Story(POOL, [task("a", cpus(4))]).arrive(0).tell(0, Kind.HOLD, 0).tell(6, Kind.START, 0)
    found = measured(story.tell(10, Kind.END, 0))
    assert (found.allocated, found.utilisation) == ({"cpu": 0.5}, {"cpu": 0.2})


@pytest.mark.unit
def test_rejected_tasks_count_nowhere_else() -> None:
    story = Story(POOL, [task("x", cpus(9)), task("a", submit=10)]).arrive(0).tell(0, Kind.REJECT, 0).arrive(1)
    found = measured(story.run(1, 12, 22))
    assert (found.jobs, found.done, found.rejected, found.waiting) == (2, 1, 1, 0)
    assert (found.makespan_s, found.longest_wait_s) == (12, 2)


@pytest.mark.unit
def test_a_run_that_stopped_early_is_measured_up_to_there() -> None:
    story = Story(POOL, [task("a", cpus(8)), task("b")]).arrive(0, 1).tell(0, Kind.START, 0)
    found = measured(story.tell(50, Kind.STOP, reason=Reason.LIMIT_TIME))
    assert (found.running, found.waiting, found.makespan_s, found.observed_s) == (1, 1, None, 50)
    assert found.utilisation == {"cpu": 1}
    assert found.longest_wait_s == 50
    assert (found.goodput, found.turnaround_s.mean) == (None, None)


@pytest.mark.unit
def test_nothing_at_all_has_no_means_and_no_errors() -> None:
    found = measured(Story(POOL, []))
    assert (found.jobs, found.makespan_s, found.wait_s, found.jain_index) == (0, None, Distribution(), None)
    assert found.utilisation == {"cpu": None}


@pytest.mark.unit
@pytest.mark.parametrize(
    ("deadline", "misses"),
    [(None, 0), (10, 0), (9, 1), (3, 1), (20, 0)],
)
def test_a_deadline_is_missed_by_ending_later(deadline: int | None, misses: int) -> None:
    story = Story(POOL, [task("a", deadline=deadline)]).arrive(0).run(0, 2, 10)
    assert measured(story).deadline_misses == misses


@pytest.mark.unit
def test_who_still_waits_has_missed_a_deadline_that_has_passed() -> None:
    story = Story(POOL, [task("a", deadline=5), task("b", deadline=15)]).arrive(0, 1).tell(10, Kind.STOP)
    assert measured(story).deadline_misses == 1


@pytest.mark.unit
def test_a_century_of_petabytes_is_summed_exactly() -> None:
    huge = Resources(1, MAX_AMOUNT)
    years = 2 * 10**9  # seconds
    story = Story(Cluster((Node("n", huge),)), [task(str(i), Shape(huge)) for i in range(3)]).arrive(0, 1, 2)
    story.run(0, 0, years, node=0).run(1, years, years + 1, node=0).run(2, years + 1, 2 * years, node=0)
    assert measured(story).utilisation == {"cpu": 1.0, "memory": 1.0}


@pytest.mark.property
@given(stories())
def test_areas_are_sums_over_the_attempts_that_were_told(story: Story) -> None:
    past, found = story.past, measured(story)
    end = past.end_ns // S

    def cpu_s(time: Callable[[Stay, int], int], *kinds: Kind) -> Fraction:
        chosen = [stay for stay in story.stays if not kinds or stay.by in kinds]
        return sum((Fraction(cpu_of(stay), 1000) * time(stay, end) for stay in chosen), Fraction(0))

    def cpu_of(stay: Stay) -> int:
        return story.tasks[stay.task].shape.request.cpu_milli

    whole = Fraction(story.cluster.total("cpu") * past.span_ns, 1000 * S)
    wasted = cpu_s(Stay.ran, Kind.KILL, Kind.PREEMPT, Kind.CANCEL)
    useful = cpu_s(Stay.ran, Kind.END)
    assert found.allocated["cpu"] == (float(cpu_s(Stay.held) / whole) if whole else None)
    assert found.utilisation["cpu"] == (float(cpu_s(Stay.ran) / whole) if whole else None)
    assert found.wasted_cpu_s == float(wasted)
    assert found.goodput == (float(useful / (useful + wasted)) if useful + wasted else None)


@pytest.mark.property
@given(stories())
def test_counts_add_up(story: Story) -> None:
    found = measured(story)
    assert found.jobs == sum((found.done, found.rejected, found.killed, found.failed, found.running, found.waiting))
    assert found.preemptions == sum(stay.by == Kind.PREEMPT for stay in story.stays)
    for name, used in found.utilisation.items():
        held = found.allocated[name]
        assert used is None or (held is not None and 0 <= used <= held)
    assert json.loads(json.dumps(found.as_dict())) == found.as_dict()


def reference() -> Any:
    """The reference simulator that lies beside the repository."""
    assert SHARED is not None
    spec = importlib.util.spec_from_file_location("reference_easy", SHARED / "oracles" / "easy" / "reference_easy.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@needs_shared
@pytest.mark.golden
def test_the_reference_simulators_figures() -> None:
    draw = np.random.default_rng(7)
    n, processors = 2_000, 64
    jobs = [
        (i, int(submit), int(min(run, limit)), int(size), int(limit))
        for i, (submit, run, size, limit) in enumerate(
            zip(
                np.cumsum(draw.integers(0, 60, n)),
                draw.integers(0, 2_000, n),
                2 ** draw.integers(0, 7, n),
                draw.integers(1, 3_000, n),
                strict=True,
            )
        )
    ]
    easy = reference()
    start, end, _ = easy.simulate(jobs, processors, "easy")
    tasks = [Task(str(i), cpus(size), submit_ns=submit * S) for i, submit, _, size, _ in jobs]
    story = Story(Cluster.of_processors(processors), tasks).arrive(*range(n))
    for i in range(n):
        story.run(i, start[i], end[i])
    expected, found = easy.metrics(jobs, start, end, processors), measured(story)
    assert (found.jobs, found.makespan_s) == (expected["jobs"], expected["makespan"])
    assert found.wait_s.mean is not None
    assert round(found.wait_s.mean, 3) == expected["mean_wait"]
    assert found.bounded_slowdown.mean is not None
    assert round(found.bounded_slowdown.mean, 4) == expected["mean_bsld"]
    assert found.utilisation["cpu"] is not None
    assert round(found.utilisation["cpu"], 5) == expected["util"]
