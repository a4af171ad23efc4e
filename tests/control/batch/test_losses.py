"""Outputs lost with a node, readers that cannot fetch, and stages that are submitted again."""

from gnomon.control.batch.plan import Course, Where
from gnomon.control.batch.rules import Rules
from gnomon.model.fault import Failure, Fault

from .scripted import one_job, ran

MS = 1_000_000
QUICK = Rules(fetch_fails_ns=5, absent_ns=1, resubmit_ns=200)
"""Times of a unit test; how long each really is, profiles say."""


def crash(node: int, at_ns: int, for_ns: int = 2**60) -> Failure:
    return Failure(Fault.CRASH, at_ns=at_ns, for_ns=for_ns, targets=(f"node/n{node}",))


def test_only_lost_maps_and_missing_reduces_run_again() -> None:
    """The sheet's example: A has 4 maps, two of them on X; B.0 and B.1 are done when X is lost, then one cannot fetch.
    A runs the two again, then B what is missing of it."""
    plan = one_job({"tasks": 4}, {"tasks": 4, "parents": (0,)})
    lengths = {0: [10, 10, 10, 10], 1: [5, 5, 100, 100]}
    found = ran(plan, lengths, nodes=[2, 2], faults=[crash(0, 17)], rules=QUICK)
    on_lost = sorted(p for _, stage, p, node in found.ends[:4] if node == 0)
    cut_off = sorted(p for _, stage, p, node in found.starts if stage == 1 and p >= 2 and node == 0)
    assert len(on_lost) == 2
    submitted = [(one["stage"], one["attempt"], one["tasks"]) for one in found.said("StageSubmitted")]
    assert submitted[2] == (0, 1, 2)
    again = [(stage, p) for t, stage, p, _ in found.starts if t > 200]
    assert sorted(p for stage, p in again if stage == 0) == on_lost
    assert sorted({p for stage, p in again if stage == 1}) == cut_off
    assert found.ended


def test_a_reader_that_finds_an_output_gone_fails_at_once_and_both_stages_come_again_200_ms_later() -> None:
    plan = one_job({"tasks": 2}, {"tasks": 1, "parents": (0,)})
    found = ran(
        plan,
        {0: [10 * MS, 10 * MS], 1: [10 * MS]},
        nodes=[1, 1],
        faults=[crash(0, 12 * MS)],
        rules=Rules(stage_ns=5 * MS),
    )
    stages = found.said("StageSubmitted")
    assert [(one["stage"], one["attempt"], one["tasks"]) for one in stages] == [
        (0, 0, 2),
        (1, 0, 1),
        (0, 1, 1),
        (1, 1, 1),
    ]
    assert [one["t"] for one in stages] == [0, 10 * MS, 216 * MS, 226 * MS]  # 15 + 1 + 200, and the map again
    assert found.ended == {0: 241 * MS}


def test_a_node_lost_while_its_stage_runs_has_its_done_tasks_put_back() -> None:
    """Resubmitted: without a new attempt of the stage."""
    plan = one_job({"tasks": 3}, {"tasks": 1, "parents": (0,)})
    found = ran(plan, {0: [10, 50, 10], 1: [5]}, nodes=[1, 1], faults=[crash(0, 15)], rules=QUICK, seed=1)
    first = next(node for _, stage, p, node in found.starts if (stage, p) == (0, 1))
    assert [one["attempt"] for one in found.said("StageSubmitted")] == [0, 0]
    assert found.ended
    if first == 1:  # the long task is on the other node: both short ones were here, and run again after it
        assert [(stage, p) for _, stage, p, _ in found.starts][-3:-1] == [(0, 2), (0, 0)]


def test_a_node_that_restarted_before_anybody_noticed_has_no_output_any_more() -> None:
    plan = one_job({"tasks": 2}, {"tasks": 1, "parents": (0,)})
    restart = Failure(Fault.REBOOT, at_ns=11, for_ns=2, targets=("node/n0",))
    found = ran(plan, 10, nodes=[1, 1], faults=[restart], rules=Rules(stage_ns=5, absent_ns=1, resubmit_ns=200))
    assert [(one["stage"], one["attempt"], one["tasks"]) for one in found.said("StageSubmitted")] == [
        (0, 0, 2),
        (1, 0, 1),
        (0, 1, 1),
        (1, 1, 1),
    ]


def test_outputs_that_somebody_else_serves_are_not_lost() -> None:
    plan = one_job({"tasks": 2}, {"tasks": 2, "parents": (0,)})
    rules = Rules(outputs_survive=True, stage_ns=5)
    found = ran(plan, 10, nodes=[1, 1], faults=[crash(0, 12)], rules=rules)
    assert [stage for stage, _ in found.launched] == [0, 0, 1, 1]


def test_a_reader_that_cannot_fetch_does_not_count_as_a_failure_of_its_task() -> None:
    plan = one_job({"tasks": 1}, {"tasks": 1, "parents": (0,)})
    rules = Rules(max_failures=1, fetch_fails_ns=5, absent_ns=1, stage_ns=5, resubmit_ns=200)
    found = ran(plan, 10, nodes=[1, 1], faults=[crash(node, 11, 1) for node in (0, 1)], rules=rules)
    assert found.ended


def test_after_four_attempts_in_a_row_that_could_not_fetch_the_job_fails() -> None:
    """A node is lost each time just after the map stage is done again."""
    plan = one_job({"tasks": 1}, {"tasks": 1, "parents": (0,)})
    rules = Rules(fetch_fails_ns=5, absent_ns=1, stage_ns=5, resubmit_ns=200)
    faults = []
    for again in range(5):  # maps end at 10, 226, 442 …: 10 + 5 + 1 + 200 + 10
        faults += [crash(node, 11 + 216 * again, 1) for node in (0,)]
    found = ran(plan, 10, nodes=[1], faults=faults, rules=rules)
    attempts = [one["attempt"] for one in found.said("StageSubmitted") if one["stage"] == 1]
    assert attempts == [0, 1, 2, 3]
    (failed,) = found.said("JobFailed")
    assert "4 attempts in a row could not fetch" in failed["message"]


def test_a_success_in_between_begins_the_count_anew() -> None:
    """Of the reading stage: three attempts that could not fetch, and one that could, fail nothing."""
    plan = one_job({"tasks": 1}, {"tasks": 1, "parents": (0,)})
    rules = Rules(fetch_fails_ns=5, absent_ns=1, stage_ns=5, resubmit_ns=200)
    faults = [crash(0, 11 + 216 * again, 1) for again in range(3)]
    assert ran(plan, 10, nodes=[1], faults=faults, rules=rules).ended


def test_lost_output_of_a_stage_that_may_give_other_records_has_all_of_it_made_again() -> None:
    plan = one_job({"tasks": 2, "deterministic": False}, {"tasks": 2, "parents": (0,)}, {"tasks": 1, "parents": (1,)})
    rules = Rules(fetch_fails_ns=5, absent_ns=1, stage_ns=5, resubmit_ns=200)
    found = ran(plan, 10, nodes=[1, 1], faults=[crash(0, 11, 1)], rules=rules)
    submitted = [(one["stage"], one["attempt"], one["tasks"]) for one in found.said("StageSubmitted")]
    assert (0, 1, 2) in submitted
    assert found.ended


def test_it_fails_the_job_when_a_result_of_it_was_given_away() -> None:
    plan = one_job({"tasks": 2, "deterministic": False}, {"tasks": 3, "parents": (0,)})
    lengths = {0: [10, 10], 1: [5, 5, 5]}
    found = ran(plan, lengths, nodes=[1, 1], faults=[crash(0, 16)], rules=QUICK)
    assert [t for t, stage, _, _ in found.ends if stage == 1] == [15, 15] or found.said("JobFailed")
    assert "given away" in found.said("JobFailed")[0]["message"]


def test_whoever_is_still_fetching_from_a_node_that_falls_silent_finds_out_later() -> None:
    def course(where: Where) -> Course:
        return Course(10) if where.stage.number == 0 else Course(100, reads_ns=50)

    plan = one_job({"tasks": 2}, {"tasks": 1, "parents": (0,)})
    found = ran(plan, course, nodes=[1, 2], faults=[crash(0, 20)], rules=QUICK, seed=3)
    lost_here = any(node == 0 for _, stage, _, node in found.ends if stage == 0)
    reader = next(node for _, stage, _, node in found.starts if stage == 1)
    if lost_here and reader == 1:
        assert [one["t"] for one in found.said("StageSubmitted")][2:] == [225, 235]
    assert found.ended


def test_tasks_that_overlap_with_their_parents_get_their_end_when_those_are_done() -> None:
    """Reduce tasks start when half of the maps are done, wait inside, and then need 7 more."""
    plan = one_job({"tasks": 4}, {"tasks": 1, "parents": (0,), "overlaps_e4": 5_000})
    found = ran(plan, {0: [10, 20, 30, 40], 1: [99]}, nodes=[4], rest=7)
    assert found.starts[-1][:3] == (20, 1, 0)
    assert found.ends[-1] == (47, 1, 0, 0)


def test_waiting_readers_make_room_for_those_whom_they_wait_for() -> None:
    plan = one_job({"tasks": 3}, {"tasks": 2, "parents": (0,), "overlaps_e4": 1})
    found = ran(
        plan,
        {0: [10, 10, 10], 1: [99, 99]},
        nodes=[1, 1],
        rest=7,
        rules=Rules(eager=True),
        faults=[crash(0, 15, 5)],
        seed=2,
    )
    assert found.ended


def test_eager_rules_make_lost_output_again_without_waiting_for_a_reader() -> None:
    plan = one_job({"tasks": 2}, {"tasks": 1, "parents": (0,)})

    def course(where: Where) -> Course:
        return Course(10) if where.stage.number == 0 else Course(100, reads_ns=60)

    found = ran(plan, course, nodes=[1, 2], faults=[crash(0, 20)], rules=Rules(eager=True), rest=50, seed=3)
    lost_here = any(node == 0 for _, stage, _, node in found.ends if stage == 0)
    reader = next(node for _, stage, _, node in found.starts if stage == 1)
    if lost_here and reader == 1:
        again = [t for t, stage, _, _ in found.starts if stage == 0][2:]
        assert again == [20]
        assert found.ended == {0: 20 + 10 + 50}
    assert found.ended
