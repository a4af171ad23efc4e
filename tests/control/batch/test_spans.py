"""Counting slots says what the shared world says."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon.control.batch.plan import BatchPlan, JobPlan, StagePlan
from gnomon.control.batch.play import play
from gnomon.control.batch.rules import Rules
from gnomon.control.batch.spans import counts_only, span_ns
from gnomon.model.cluster import Cluster, Node
from gnomon.model.resources import Resources
from gnomon.recovery.speculation import SlowTasks
from gnomon.scheduling.pools import FAIR
from gnomon.systems.spark.replay import Recorded
from gnomon.systems.spark.scenario import scenario_of, work_of

MS = 1_000_000
Lengths = dict[int, tuple[int, ...]]


@st.composite
def plans(draw: st.DrawFn) -> tuple[BatchPlan, Lengths]:
    """Some jobs that share stages, and how many ms their tasks take: few values, so that much happens at once."""
    lengths = dict(
        enumerate(draw(st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=6), min_size=1, max_size=6)))
    )
    parents = {
        number: tuple(sorted(draw(st.sets(st.integers(0, number - 1), max_size=2)))) if number else ()
        for number in lengths
    }
    jobs = {}
    for number in range(draw(st.integers(1, 4))):
        after = draw(st.sampled_from([None, *range(number)]))
        at, setup, teardown = (draw(st.integers(0, 3)) * MS for _ in range(3))
        result = draw(st.sampled_from(sorted(lengths)))
        jobs[number] = JobPlan(number, f"job {number}", result, at, after, setup_ns=setup, teardown_ns=teardown)
    needed = {job.result for job in jobs.values()}
    for number in sorted(lengths, reverse=True):
        needed.update(parents[number] if number in needed else ())
    stages: dict[int, StagePlan] = {}
    first = 0
    for number in sorted(needed):
        tasks = len(lengths[number])
        stages[number] = StagePlan(number, f"stage {number}", first, tasks, parents[number], writes=True)
        first += tasks
    return BatchPlan(jobs, stages), {number: tuple(lengths[number]) for number in stages}


@given(plans(), st.lists(st.integers(1, 3), min_size=1, max_size=3), st.integers(0, 2), st.integers(0, 2))
@settings(max_examples=60, deadline=None)
def test_it_is_the_span_of_the_shared_world(
    planned: tuple[BatchPlan, Lengths], executors: list[int], result: int, stage: int
) -> None:
    plan, lengths = planned
    rules = Rules(result_ns=result * MS, stage_ns=stage * MS)
    assert counts_only(plan, rules)
    cluster = Cluster(tuple(Node(f"e{at}", Resources(cpu_milli=1000 * each)) for at, each in enumerate(executors)))
    log = play(scenario_of(plan, rules, Recorded(lengths), cluster, work=work_of(plan, task_cpus=1)))
    told = [row for row, facts in log.details.items() if facts.get("reason") in ("JobSubmitted", "JobEnded")]
    times = [int(log.t_ns[row]) for row in told]
    in_ns = {number: [one * MS for one in own] for number, own in lengths.items()}
    assert span_ns(plan, rules, in_ns, sum(executors)) == max(times) - min(times)


def test_what_counting_cannot_say_is_left_to_the_world() -> None:
    plan = BatchPlan({0: JobPlan(0, "count", result=0)}, {0: StagePlan(0, "map", 0, 2)})
    assert counts_only(plan, Rules())
    assert not counts_only(plan, Rules(mode=FAIR))
    assert not counts_only(plan, Rules(copies=SlowTasks()))
    early = BatchPlan(plan.jobs, {0: StagePlan(0, "map", 0, 2, overlaps_e4=500)})
    assert not counts_only(early, Rules())
