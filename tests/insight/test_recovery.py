"""What a log says about recovery: against arithmetic on runs told by hand, and against a run second by second."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

from gnomon.engine.log import Kind, Reason
from gnomon.insight.distribution import Distribution
from gnomon.insight.metrics import of_history
from gnomon.insight.recovery import Recovery, recovery
from gnomon.insight.usage import queue_length
from gnomon.model.operation import Budget, Operation
from tests.insight.faulty import SAVES, Seconds, Tale, crash, crashes, machines, split
from tests.insight.stories import S, Story, stories, task


def found(tale: Tale) -> Recovery:
    told = recovery(tale.past)
    assert told is not None
    return told


@pytest.mark.unit
def test_a_crash_is_detected_isolated_and_recovered_from() -> None:
    told = found(crash())
    assert told.faults == {"crash": 1}
    assert told.time_to_detect_s == told.time_to_isolate_s == Distribution(3, 3, 3, 3, 3)
    assert told.time_to_recover_s.mean == 5  # from the crash at 5 to the start at 10, its notice at 8 with it
    assert (told.attempts_failed, told.retries, told.gave_up, told.survival) == ({"node": 1}, 1, 0, 1)
    assert (told.work_lost_s, told.work_redone_s) == (5, 5)
    assert told.backlog == {"peak": 1, "at_s": 8, "catch_up_s": 0}


@pytest.mark.unit
def test_availability_counts_nodes_alike_and_capacity_by_their_cpus() -> None:
    told = found(crash())
    assert told.availability == {"nodes": 1 - 10 / 40, "control": 1}
    assert told.capacity_available == 1 - 4 * 10 / (16 * 20)


@pytest.mark.unit
def test_a_task_on_a_dead_node_does_not_run_though_nobody_knows() -> None:
    measured = of_history(crash().past)
    assert measured.utilisation["cpu"] == 2 * (5 + 10) / (16 * 20)
    assert measured.allocated["cpu"] == 2 * (8 + 10) / (16 * 20)
    assert (measured.wasted_cpu_s, measured.goodput) == (2 * 5, 10 / 15)
    told = found(crash())
    assert (told.throughput_cpus, told.goodput_cpus) == (2 * 15 / 20, 2 * 10 / 20)


@pytest.mark.unit
def test_what_a_checkpoint_saved_is_not_wasted() -> None:
    told, measured = found(crash(lost=2)), of_history(crash(lost=2).past)
    assert (told.work_lost_s, told.work_redone_s) == (2, 2)
    assert (measured.wasted_cpu_s, measured.goodput) == (2 * 2, 13 / 15)


@pytest.mark.unit
def test_what_was_saved_for_a_task_that_is_given_up_is_wasted_after_all() -> None:
    tale = Tale(machines(4), [task("t0", recovery=SAVES), task("t1")])
    for one in (0, 1):
        tale.row(0, Kind.ARRIVE, one)
        tale.row(0, Kind.START, one, 0)
    tale.row(4, Kind.END, 1, 0)
    tale.fail(6, 0, 0, lost=1, reason=Reason.EXIT)
    told, measured = found(tale), of_history(tale.past)
    assert (told.gave_up, told.retries, told.survival) == (1, 0, 0.5)
    assert (measured.wasted_cpu_s, measured.goodput) == (6, 4 / 10)
    assert told.time_to_recover_s == told.time_to_detect_s == Distribution()


@pytest.mark.unit
def test_a_lost_result_is_wasted_and_made_again() -> None:
    tale = Tale(machines(4), [task("t0")])
    tale.row(0, Kind.ARRIVE, 0)
    tale.row(0, Kind.START, 0, 0)
    tale.row(4, Kind.END, 0, 0)
    undone = tale.row(7, Kind.UNDO, 0)
    tale.row(7, Kind.QUEUE, 0, cause=undone)
    tale.row(9, Kind.START, 0, 0)
    tale.row(13, Kind.END, 0, 0)
    told, measured = found(tale), of_history(tale.past)
    assert (told.work_lost_s, told.work_redone_s) == (4, 4)
    assert (measured.goodput, measured.done) == (0.5, 1)


@pytest.mark.unit
def test_an_orphan_runs_beside_its_successor_and_is_wasted() -> None:
    told, measured = found(split(Reason.FENCED)), of_history(split(Reason.FENCED).past)
    assert told.copies == {"speculative": 0, "orphaned": 1, "won": 0, "fenced": 1, "finished_twice": 0}
    assert told.ran_twice == {"tasks": 1, "unplanned": 1, "overlap_s": 4}
    assert measured.utilisation["cpu"] == (4 + 5 + 10) / (8 * 15)
    assert (measured.wasted_cpu_s, measured.goodput) == (4 + 5, 10 / 19)
    assert found(split(Reason.FINISHED)).copies["finished_twice"] == 1


@pytest.mark.unit
def test_a_copy_that_wins_is_of_use_and_the_attempt_that_it_beat_is_not() -> None:
    measured = of_history(split(Reason.WON).past)
    assert (measured.wasted_cpu_s, measured.goodput) == (4 + 4, 5 / 13)


@pytest.mark.unit
def test_speculation_runs_a_task_twice_on_purpose() -> None:
    tale = Tale(machines(4, 4), [task("t0")])
    tale.row(0, Kind.ARRIVE, 0)
    tale.row(0, Kind.START, 0, 0)
    tale.row(3, Kind.COPY, 0, 1, reason=Reason.SPECULATIVE)
    tale.row(8, Kind.COPY_END, 0, 1, reason=Reason.BEATEN)
    tale.row(8, Kind.END, 0, 0)
    assert found(tale).ran_twice == {"tasks": 1, "unplanned": 0, "overlap_s": 5}


@pytest.mark.unit
def test_a_slow_attempt_saved_the_part_of_its_time_that_it_saved_of_its_work() -> None:
    tale = Tale(machines(4), [task("t0", recovery=SAVES), task("t1")])
    for one in (0, 1):
        tale.row(0, Kind.ARRIVE, one)
        tale.row(0, Kind.START, one, 0)
    for one in (0, 1):  # at half speed: 10 s for 5 s of work, of which 4 s are lost
        failed = tale.fail(10, one, 0, lost=4)
        tale.details[failed] = {"ran": 5 * S}
        tale.row(10, Kind.QUEUE, one, cause=failed)
        tale.row(10, Kind.START, one, 0)
        tale.row(20, Kind.END, one, 0)
    assert of_history(tale.past).wasted_cpu_s == (10 - 2) + 10


@pytest.mark.unit
def test_a_copy_that_becomes_the_attempt_that_counts_was_of_use_from_its_begin() -> None:
    tale = Tale(machines(4, 4), [task("t0")])
    tale.row(0, Kind.ARRIVE, 0)
    tale.row(0, Kind.START, 0, 0)
    tale.row(3, Kind.COPY, 0, 1, reason=Reason.SPECULATIVE)
    failed = tale.fail(5, 0, 0, lost=5, reason=Reason.EXIT)
    taken = tale.row(5, Kind.COPY_END, 0, 1, cause=failed)
    tale.row(5, Kind.START, 0, 1, cause=taken)
    tale.row(13, Kind.END, 0, 1)
    told, measured = found(tale), of_history(tale.past)
    assert (measured.wasted_cpu_s, measured.goodput) == (5, 10 / 15)
    assert (told.work_lost_s, told.work_redone_s) == (5, 5)


@pytest.mark.unit
def test_catching_up_takes_the_arrivals_of_the_outage_over_the_spare_rate() -> None:
    """r = 1/s, c = 2/s, an outage of d = 10 s: d r / (c - r) = 10 s after it, but for the step of one task."""
    arrivals, outage = 40, 10
    tale = Tale(machines(100), [task(f"t{i}", submit=i) for i in range(arrivals)])
    waiting: list[int] = []
    for second in range(arrivals):
        if second == 5:
            tale.fault(second, "leader")
        if second == 5 + outage:
            tale.heal(second)
        tale.row(second, Kind.ARRIVE, second)
        waiting.append(second)
        if not 5 <= second < 5 + outage:
            for one in waiting[:2]:
                tale.row(second, Kind.START, one, 0)
            del waiting[:2]
    backlog = found(tale).backlog
    assert (backlog["peak"], backlog["at_s"]) == (10, 14)
    assert backlog["catch_up_s"] == pytest.approx(outage * 1 / (2 - 1), abs=1)


@pytest.mark.unit
def test_an_outage_that_is_not_over_is_never_caught_up_with() -> None:
    tale = Tale(machines(4), [task("t0"), task("t1", submit=2)])
    tale.fault(0, "crash", 0)
    tale.row(0, Kind.ARRIVE, 0)
    tale.row(2, Kind.ARRIVE, 1)
    assert found(tale).backlog == {"peak": 2, "at_s": 2, "catch_up_s": None}


@pytest.mark.unit
def test_without_a_leader_the_control_plane_is_not_available() -> None:
    tale = Tale(machines(4), [task("t0")])
    tale.row(0, Kind.ARRIVE, 0)
    tale.row(0, Kind.START, 0, 0)
    fault = tale.fault(2, "leader")
    tale.row(2, Kind.LEAD, value=-1, cause=fault)
    tale.row(6, Kind.LEAD, value=2, reason=Reason.ELECTED)
    tale.row(16, Kind.END, 0, 0)
    assert found(tale).availability == {"nodes": 1, "control": 12 / 16}


@pytest.mark.unit
def test_a_fault_of_several_nodes_is_one_and_an_operators_is_not_to_be_detected() -> None:
    tale = Tale(machines(4, 4, 4), [task("t0")])
    tale.row(0, Kind.ARRIVE, 0)
    for node in (0, 1):
        tale.row(3, Kind.NOTICE, node=node, cause=tale.fault(0, "crash", node, number=0))
    tale.row(2, Kind.CLOSE, node=2, cause=tale.fault(2, "cordon", 2, number=1), reason=Reason.CORDONED)
    tale.row(9, Kind.STOP)
    told = found(tale)
    assert told.faults == {"cordon": 1, "crash": 1}
    assert (told.time_to_detect_s.mean, told.time_to_isolate_s) == (3, Distribution())


@pytest.mark.unit
def test_a_budget_is_breached_by_failures_that_it_cannot_forbid() -> None:
    tasks = [replace(task(f"t{i}"), job="web") for i in range(3)]
    tale = Tale(machines(4), tasks, Operation(budgets=(Budget("*", 1),)))
    for one in range(3):
        tale.row(0, Kind.ARRIVE, one)
        tale.row(0, Kind.START, one, 0)
    for one in (0, 1, 2):  # the second breaches; the third makes it no other breach
        tale.row(1 + one, Kind.QUEUE, one, cause=tale.fail(1 + one, one, 0, lost=1))
    tale.row(6, Kind.START, 0, 0)
    tale.row(6, Kind.START, 1, 0)
    tale.row(7, Kind.QUEUE, 0, cause=tale.fail(7, 0, 0, lost=1))  # again
    tale.row(8, Kind.REFUSE, 1, 0, value=2)
    for one in (0, 2):
        tale.row(9, Kind.START, one, 0)
    told = found(tale)
    assert (told.budget_breaches, told.refusals, told.retries) == (2, 1, 4)


@pytest.mark.unit
def test_the_metrics_have_recovery_only_where_something_went_wrong() -> None:
    assert "recovery" not in of_history(Story(machines(4), [task("a")]).arrive(0).run(0, 0, 5).past).as_dict()
    told = of_history(crash().past).as_dict()["recovery"]
    assert told["time_to_detect_s"] == dict.fromkeys(("mean", "p50", "p90", "p99", "max"), 3.0)


@pytest.mark.property
@given(stories())
def test_a_run_without_faults_has_nothing_to_recover_from(story: Story) -> None:
    assert recovery(story.past) is None


@pytest.mark.property
@given(crashes())
def test_recovery_is_what_counting_seconds_gives(run: tuple[Tale, Seconds]) -> None:
    tale, seconds = run
    past = tale.past
    told = recovery(past)
    if told is None:
        assert not seconds.down
        return
    observed = range(past.begin_ns // S, past.end_ns // S)
    nodes = [node.capacity.cpu_milli // 1000 for node in tale.cluster.nodes]
    down = [(t, node) for t, node in seconds.down if t in observed]
    away = [(t, node) for t, node in seconds.down | seconds.closed if t in observed]
    used = [(one, which) for t, one, which in seconds.runs if t in observed]
    if observed:
        assert told.availability["nodes"] == pytest.approx(1 - len(down) / (len(nodes) * len(observed)))
        lost = sum(nodes[node] for _, node in away)
        assert told.capacity_available == pytest.approx(1 - lost / (sum(nodes) * len(observed)))
        assert told.throughput_cpus == pytest.approx(len(used) / len(observed))
        assert told.goodput_cpus == pytest.approx(sum(one in seconds.useful for one in used) / len(observed))
        queue = queue_length(past).binned(np.arange(past.begin_ns, past.end_ns + S, S))
        assert queue.tolist() == [seconds.waits[t] for t in observed]
    doubled = Counter(Counter((t, one) for t, one, _ in seconds.runs).values())
    assert told.ran_twice["overlap_s"] == sum(count for times, count in doubled.items() if times > 1)
    assert (told.work_lost_s, told.work_redone_s) == (seconds.lost, seconds.redone)
    assert told.time_to_detect_s == Distribution.of_ns(np.array(seconds.detected, np.int64) * S)
    assert told.time_to_recover_s == Distribution.of_ns(np.array(seconds.recovered, np.int64) * S)
