"""Outputs on disks: they stay while somebody may read them, and who finds no room fails."""

from collections.abc import Callable
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon.control.batch.plan import BatchPlan, Course, JobPlan, Where
from gnomon.control.batch.rules import Rules
from gnomon.engine.log import Kind, Log, Reason
from gnomon.model.fault import Failure, Fault

from .scripted import one_job, ran, stages

RULES = Rules(disk_full="no room", max_failures=3, fetch_fails_ns=5, absent_ns=1, resubmit_ns=200)
S = 1_000_000_000


def writing(size: int, length: int = 10, last: int = 2) -> Callable[[Where], Course]:
    """Tasks that write so much in their last ns, if anybody is to read it."""

    def course(where: Where) -> Course:
        written = size if where.stage.writes else 0
        return Course(length, writes=written, writes_ns=last, keeps=written)

    return course


def full(log: Log) -> list[tuple[int, dict[str, Any]]]:
    """When attempts failed for a full disk, and the numbers."""
    rows = [row for row in range(len(log)) if log.kind[row] == Kind.FAIL and log.reason[row] == Reason.DISK]
    return [(int(log.t_ns[row]), dict(log.details[row])) for row in rows]


def two_jobs() -> BatchPlan:
    """A shuffle each, one job after the other."""
    known = stages({"tasks": 2}, {"tasks": 1, "parents": (0,)}, {"tasks": 2}, {"tasks": 1, "parents": (2,)})
    return BatchPlan({0: JobPlan(0, "first", result=1), 1: JobPlan(1, "second", result=3, after=0)}, known)


def test_what_fits_to_the_byte_fits() -> None:
    found = ran(one_job({"tasks": 2}, {"tasks": 1, "parents": (0,)}), writing(50), rules=RULES, disk_bytes=100)
    assert not full(found.log)
    assert found.ended


def test_one_byte_too_much_fails_when_it_is_written_and_after_three_times_the_job_does() -> None:
    found = ran(one_job({"tasks": 2}, {"tasks": 1, "parents": (0,)}), writing(51), rules=RULES, disk_bytes=101)
    times = [at for at, _ in full(found.log)]
    assert times == [18, 26, 34], "8 ns into each attempt, the first of which starts at 10"
    assert {key: full(found.log)[0][1][key] for key in ("message", "capacity", "used", "task_used")} == {
        "message": "no room",
        "capacity": 101,
        "used": 51,
        "task_used": 51,
    }
    assert found.said("JobFailed")[0]["message"] == "stage 0 (stage 0): task 1 failed 3 times: no room"


def test_files_of_a_job_that_is_over_stay_unless_the_rules_remove_them() -> None:
    stays = ran(two_jobs(), writing(50), rules=RULES, disk_bytes=150)
    assert len(stays.said("JobFailed")) == 1
    goes = ran(
        two_jobs(), writing(50), rules=Rules(frees_disks=True, disk_full="no room", max_failures=3), disk_bytes=150
    )
    assert not goes.said("JobFailed")
    assert set(goes.ended) == {0, 1}


def test_scratch_is_free_again_when_its_attempt_is_over() -> None:
    def course(where: Where) -> Course:
        return Course(10, writes=90, writes_ns=5, keeps=5) if where.stage.writes else Course(10)

    found = ran(one_job({"tasks": 3}, {"tasks": 1, "parents": (0,)}), course, rules=RULES, disk_bytes=100)
    assert found.ended
    assert not full(found.log)
    side_by_side = ran(
        one_job({"tasks": 2}, {"tasks": 1, "parents": (0,)}), course, nodes=[2], rules=RULES, disk_bytes=100
    )
    assert [at for at, _ in full(side_by_side.log)] == [5]
    assert side_by_side.ended, "the second attempt finds room"


def test_a_node_that_starts_anew_has_an_empty_disk() -> None:
    """All runs again on it; with the files of before there would be no room."""
    restart = Failure(Fault.REBOOT, at_ns=25, for_ns=2, targets=("node/n0",))
    found = ran(
        one_job({"tasks": 2}, {"tasks": 1, "parents": (0,)}), writing(50), rules=RULES, disk_bytes=100, faults=[restart]
    )
    assert found.ended
    assert not full(found.log)


def test_something_else_may_fill_the_disk_for_a_while() -> None:
    filled = Failure(Fault.DISK_FULL, at_ns=5, for_ns=10, targets=("node/n0",), amount=20)
    found = ran(
        one_job({"tasks": 1}, {"tasks": 1, "parents": (0,)}), writing(50), rules=RULES, disk_bytes=100, faults=[filled]
    )
    assert [(at, facts["capacity"]) for at, facts in full(found.log)] == [(8, 20)]
    assert found.ended, "tried again when there is room"


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.integers(1, 60), min_size=1, max_size=8),
    st.integers(20, 200),
    st.integers(1, 3),
    st.integers(0, 3),
)
def test_no_disk_ever_holds_more_than_it_has(sizes: list[int], disk: int, nodes: int, seed: int) -> None:
    def course(where: Where) -> Course:
        size = sizes[where.partition] if where.stage.writes else 0
        return Course(10, writes=size, writes_ns=1, keeps=size)

    plan = one_job({"tasks": len(sizes)}, {"tasks": 1, "parents": (0,)})
    found = ran(plan, course, nodes=[2] * nodes, rules=RULES, disk_bytes=disk, seed=seed)
    held = [0] * nodes
    for _, stage, partition, node in found.ends:
        held[node] += sizes[partition] if stage == 0 else 0
    assert max(held) <= disk
    if max(sizes) > disk or sum(sizes) > disk * nodes:
        assert found.said("JobFailed")
