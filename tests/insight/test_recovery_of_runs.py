"""Recovery as it is told of real runs: the folds fit the rows that the control of a run writes."""

from typing import Any

import pytest

from gnomon.api import Run
from gnomon.insight.chaos.facts import Facts
from gnomon.insight.chaos.properties import parse_property
from gnomon.model.fault import Failure, Fault
from gnomon.model.operation import Eviction, Heartbeat, Operation
from gnomon.model.recovery import Backoff, Checkpoint, Recovery, Retry
from tests.builders import S, nodes, run, task

pytestmark = pytest.mark.unit

HEARTBEAT = Heartbeat(beat_ns=S, grace_ns=4 * S)


def one_task(*faults: Failure, operation: Operation | None = None, **facts: Any) -> tuple[Run, dict[str, Any]]:
    """A task of 2 CPUs and 30 s on two nodes of 4 CPUs; it starts on n0."""
    done = run([task("t", 2, 30, **facts)], nodes(4, 4), faults=faults, operation=operation or Operation())
    return done, done.metrics()["recovery"]


def test_a_crash_costs_the_work_and_the_time_to_notice() -> None:
    done, told = one_task(Failure(Fault.CRASH, 20 * S, 10 * S, ("node/n0",)), operation=Operation(detection=HEARTBEAT))
    assert told["faults"] == {"crash": 1}
    assert told["time_to_detect_s"]["max"] == told["time_to_isolate_s"]["max"] == 4
    assert (told["attempts_failed"], told["retries"], told["survival"]) == ({"node": 1}, 1, 1)
    assert (told["work_lost_s"], told["work_redone_s"]) == (20, 20)
    assert done.metrics()["makespan_s"] == 20 + 4 + 30
    assert told["availability"]["nodes"] == pytest.approx(1 - 10 / (2 * 54))
    assert told["throughput_cpus"] == pytest.approx(2 * (20 + 30) / 54)
    assert told["goodput_cpus"] == pytest.approx(2 * 30 / 54)


def test_checkpoints_leave_only_what_came_after_the_last_to_be_done_again() -> None:
    done, told = one_task(
        Failure(Fault.CRASH, 20 * S, 10 * S, ("node/n0",)), recovery=Recovery(checkpoint=Checkpoint(8 * S))
    )
    assert (told["work_lost_s"], told["work_redone_s"]) == (4, 4)
    assert done.metrics()["makespan_s"] == 30 + 4
    assert done.metrics()["goodput"] == 30 / 34


def test_behind_a_partition_a_task_runs_on_and_so_twice() -> None:
    _, told = one_task(
        Failure(Fault.PARTITION, 10 * S, 100 * S, ("node/n0",)), operation=Operation(detection=HEARTBEAT)
    )
    assert told["faults"] == {"partition": 1}
    assert told["copies"]["orphaned"] == told["copies"]["finished_twice"] == 1
    assert told["ran_twice"] == {"tasks": 1, "unplanned": 1, "overlap_s": 30 - 14}
    assert told["availability"]["nodes"] == pytest.approx(1 - (44 - 10) / (2 * 44))


def test_retries_run_out() -> None:
    recovery = Recovery((Retry(limit=3, backoff=Backoff(first_ns=2 * S)),))
    done, told = one_task(Failure(Fault.FAIL, targets=("task/t",), amount=10_000), recovery=recovery)
    assert (told["attempts_failed"], told["retries"], told["gave_up"]) == ({"exit": 4}, 3, 1)
    assert (told["survival"], told["time_to_recover_s"]["mean"]) == (0, 2)
    assert done.metrics()["goodput"] == 0


def test_the_outage_of_the_control_plane_makes_a_backlog() -> None:
    """One task a second of 1 s on a node that could run two at once; nobody decides for 10 s."""
    tasks = [task(f"t{i}", 1, 1, at=i) for i in range(60)]
    told = run(tasks, nodes(2), faults=(Failure(Fault.LEADER, 20 * S, 10 * S),)).metrics()["recovery"]
    assert told["availability"]["control"] == pytest.approx(1 - 10 / 60, abs=0.01)
    assert told["backlog"]["peak"] == pytest.approx(10, abs=1)
    assert told["backlog"]["catch_up_s"] == pytest.approx(10 * 1 / (2 - 1), abs=1)


PARTITION = Failure(Fault.PARTITION, 10 * S, 100 * S, ("node/n0",))
CRASH = Failure(Fault.CRASH, 20 * S, 10 * S, ("node/n0",))


@pytest.mark.parametrize(
    ("failure", "operation", "away_s"),
    [
        (CRASH, Operation(detection=HEARTBEAT), 4),  # it stops with the crash, which is noticed 4 s later
        (CRASH, Operation(detection=HEARTBEAT, orphans="wait"), 10),  # it is replaced when the node is back
        (CRASH, Operation(detection=HEARTBEAT, eviction=Eviction(5 * S)), 4 + 5),
        (PARTITION, Operation(detection=HEARTBEAT), 0),  # its copy runs on until after it has started again
        (PARTITION, Operation(detection=HEARTBEAT, fence_ns=3 * S), 1),  # stopped at 13, given up at 14
        (PARTITION, Operation(detection=HEARTBEAT, eviction=Eviction(5 * S), fence_ns=3 * S), 1 + 5),
    ],
)
def test_a_task_is_away_from_when_it_stopped_until_it_runs_again(
    failure: Failure, operation: Operation, away_s: int
) -> None:
    done, told = one_task(failure, operation=operation)
    assert (told["time_to_recover_s"]["mean"], told["time_to_recover_s"]["max"]) == (away_s, away_s)
    verdict = parse_property(f"every lost task starts again within {away_s}s").judge(Facts(done.past))
    assert (verdict.holds, verdict.found) == (True, f"max recovery {away_s}s")
