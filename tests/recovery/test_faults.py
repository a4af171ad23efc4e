"""Whom faults hit, and when drawn ones begin."""

from dataclasses import replace
from fnmatch import fnmatchcase
from itertools import pairwise
from math import exp, gamma, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.control.faults import KINDS
from gnomon.engine.streams import stream
from gnomon.model.errors import InputError
from gnomon.model.fault import Failure, FailureProcess, Fault, Law
from gnomon.model.resources import NEVER
from gnomon.model.scenario import Limits, Policy
from gnomon.model.work import Task, Work
from gnomon.recovery.faults import Event, Schedule, Targets, resolve
from gnomon.recovery.processes import draw
from tests.recovery.faulty import ZONE, crash, scenario

S = 10**9


SPLIT = Failure(Fault.PARTITION, 5, 10, ("rack/r0",), others=("rack/r1",))


def events(schedule: Schedule, until: int) -> list[Event]:
    found = []
    while (at := schedule.next_ns()) <= until:
        found += schedule.pop(at)
    return found


def times(schedule: Schedule, until: int) -> list[tuple[int, int, Targets]]:
    return [(event.failure.at_ns, event.failure.for_ns, event.targets) for event in events(schedule, until)]


# ------------------------------------------------------------------ targets


@pytest.mark.parametrize(
    ("targets", "kind", "expected"),
    [
        (["node/n2", "n0", "n2"], Fault.CRASH, Targets(nodes=(0, 2))),
        (["rack/r1"], Fault.DRAIN, Targets(nodes=(2, 3))),
        (["rack/*"], Fault.SLOW, Targets(nodes=(0, 1, 2, 3))),
        (["node/n[13]"], Fault.CORDON, Targets(nodes=(1, 3))),
        (["*"], Fault.LOSS, Targets(nodes=(0, 1, 2, 3))),
        ([f"{ZONE}/z"], Fault.DELAY, Targets(nodes=(0, 1, 2, 3))),
        (["topology/t"], Fault.DELAY, Targets(nodes=(0, 1, 2, 3))),
        (["task/c"], Fault.KILL, Targets(tasks=(2,))),
        (["job/j"], Fault.CANCEL, Targets(tasks=(0, 1))),
        (["job/c"], Fault.FAIL, Targets(tasks=(2,))),
        (["task/[ac]"], Fault.FAIL, Targets(tasks=(0, 2))),
        (["control/1"], Fault.LEADER, Targets(control=(1,))),
        (["control/*", "n3"], Fault.PARTITION, Targets(nodes=(3,), control=(0, 1, 2))),
        ([], Fault.LEADER, Targets()),
    ],
)
def test_names_mean(targets: list[str], kind: Fault, expected: Targets) -> None:
    assert resolve(targets, scenario(), kind=kind, field="f", hits=KINDS[kind].hits) == expected


@pytest.mark.parametrize(
    ("target", "kind", "error"),
    [
        ("node/n9", Fault.CRASH, "f: unknown node, found 'n9'; allowed: n0, n1, n2, n3"),
        ("rak/r0", Fault.CRASH, "f: unknown form of target (did you mean 'rack'?), found 'rak'"),
        ("rack/r7", Fault.CRASH, "unknown rack, found 'r7'; allowed: r0, r1"),
        ("rack/x*", Fault.CRASH, "no rack has such a name, found 'rack/x*'; allowed: r0, r1"),
        ("task/d", Fault.KILL, "unknown task, found 'd'; allowed: a, b, c"),
        ("control/3", Fault.LEADER, "unknown member of the control plane, found '3'; allowed: 0, 1, 2"),
        ("control/-1", Fault.PARTITION, "unknown member of the control plane"),
        ("task/a", Fault.CRASH, "a fault of kind crash hits no tasks, found 'task/a'; allowed: node/NAME"),
        ("n0", Fault.KILL, "hits no nodes, found 'n0'; allowed: task/ID, job/NAME"),
        ("n0", Fault.LEADER, "hits no nodes"),
        ("job/j", Fault.PARTITION, "hits no tasks"),
        ("", Fault.CRASH, "unknown node"),
    ],
)
def test_names_that_mean_nothing(target: str, kind: Fault, error: str) -> None:
    with pytest.raises(InputError) as caught:
        resolve([target], scenario(), kind=kind, field="f", hits=KINDS[kind].hits)
    assert error in str(caught.value)


def test_of_a_large_cluster_some_names_are_listed() -> None:
    with pytest.raises(InputError) as caught:
        resolve(["n9999"], scenario(nodes=1_000), kind=Fault.CRASH, field="f")
    assert "did you mean 'n999'" in str(caught.value)
    assert str(caught.value).endswith("n113, n114, n115 and 980 more")


@given(st.text("n012*?[]!-^\\", max_size=6))
def test_globs_are_those_of_file_names(glob: str) -> None:
    names = [f"n{i}" for i in range(30)]
    expected = tuple(i for i, name in enumerate(names) if fnmatchcase(name, glob))
    try:
        found = resolve([f"node/{glob}"], scenario(nodes=30), kind=Fault.CRASH, field="f").nodes
    except InputError:
        found = ()
    assert found == expected


# ------------------------------------------------------------------ single faults in their order


def test_by_time_then_by_place() -> None:
    faults = crash(7, 1), crash(3, 1, "n1"), Failure(Fault.KILL, 7, 0, ("job/j",)), crash(3, 1, "n2")
    schedule = Schedule(scenario(*faults))
    assert schedule.next_ns() == 3
    assert [(event.number, event.failure) for event in schedule.pop(3)] == [(0, faults[1]), (1, faults[3])]
    assert schedule.pop(6) == []
    assert [(event.number, event.failure) for event in schedule.pop(7)] == [(2, faults[0]), (3, faults[2])]
    assert schedule.next_ns() == NEVER


def test_the_other_side_of_a_partition_is_all_the_rest() -> None:
    faults = Failure(Fault.PARTITION, 1, 2, ("rack/r0", "control/2")), SPLIT, crash(2)
    found = {event.failure: event.others for event in events(Schedule(scenario(*faults)), 100)}
    assert found == {
        faults[0]: Targets(nodes=(2, 3), control=(0, 1)),
        SPLIT: Targets(nodes=(2, 3)),
        faults[2]: Targets(),
    }


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3)), max_size=20), st.integers(0, 9))
def test_a_schedule_is_a_stable_sort(faults: list[tuple[int, int]], until: int) -> None:
    failures = [Failure(Fault.SLOW, at, 5, (f"n{node}",)) for at, node in faults]
    found = events(Schedule(scenario(*failures)), until)
    assert [event.failure for event in found] == sorted(
        (failure for failure in failures if failure.at_ns <= until), key=lambda failure: failure.at_ns
    )
    assert [event.number for event in found] == list(range(len(found)))


# ------------------------------------------------------------------ drawn faults

MEAN = 3_600 * S
DEVIATIONS = {  # of the law with mean 1, from its textbook variance
    (Law.EXPONENTIAL, 1.0): 1.0,
    (Law.WEIBULL, 0.7): sqrt(gamma(1 + 2 / 0.7) / gamma(1 + 1 / 0.7) ** 2 - 1),
    (Law.WEIBULL, 2.0): sqrt(gamma(2) / gamma(1.5) ** 2 - 1),
    (Law.LOG_NORMAL, 0.8): sqrt(exp(0.8**2) - 1),
    (Law.FIXED, 1.0): 0.0,
}


@pytest.mark.parametrize(("law", "shape", "deviation"), [(*key, value) for key, value in DEVIATIONS.items()])
def test_means_are_as_given(law: Law, shape: float, deviation: float) -> None:
    """The mean of n draws is within 4 standard errors (a chance of 1 in 16,000, and the seed is fixed), and so is the
    spread roughly what the law's formula says."""
    n, rng = 20_000, stream(1, "test")
    drawn = np.array([draw(law, MEAN, shape, rng) for _ in range(n)]) / MEAN
    assert abs(drawn.mean() - 1) <= 4 * deviation / sqrt(n)
    assert drawn.std() == pytest.approx(deviation, rel=0.1)


def test_a_weibull_of_shape_one_is_exponential() -> None:
    drawn = np.array([draw(Law.WEIBULL, MEAN, 1.0, stream(seed, "test")) for seed in range(2_000)]) / MEAN
    assert abs(np.mean(drawn > 1) - exp(-1)) < 4 * sqrt(exp(-1) * (1 - exp(-1)) / 2_000)


@given(st.sampled_from(list(Law)), st.integers(1, NEVER), st.floats(0.05, 10), st.integers(0, 2**31))
def test_draws_are_times(law: Law, mean: int, shape: float, seed: int) -> None:
    assert 1 <= draw(law, mean, shape, stream(seed, "test")) <= NEVER


def test_up_and_down_in_turn() -> None:
    process = FailureProcess(
        Fault.CRASH, ("n0",), 100, 7, Law.FIXED, repair_law=Law.FIXED, from_ns=50, until_ns=150 + 2 * 107
    )
    assert times(Schedule(scenario(process)), NEVER - 1) == [
        (150, 7, Targets(nodes=(0,))),
        (257, 7, Targets(nodes=(0,))),
    ]
    instant = replace(process, mttr_ns=0, until_ns=351)
    assert [(at, length) for at, length, _ in times(Schedule(scenario(instant)), 1000)] == [
        (150, 0),
        (250, 0),
        (350, 0),
    ]
    unrepaired = replace(process, mttr_ns=NEVER, until_ns=NEVER)
    assert [(at, length) for at, length, _ in times(Schedule(scenario(unrepaired)), NEVER - 1)] == [(150, NEVER)]


def test_availability_is_that_of_a_renewal_process() -> None:
    """In the long run a node is down mttr / (mtbf + mttr) of the time (Trivedi, Probability and Statistics with
    Reliability, Queuing, and Computer Science Applications, 2nd ed., 2002, section 6.6)."""
    process = FailureProcess(
        Fault.CRASH, ("*",), 90 * S, 10 * S, Law.WEIBULL, shape=0.8, repair_law=Law.LOG_NORMAL, repair_shape=0.5
    )
    horizon = 100_000 * S
    found = times(Schedule(scenario(process)), horizon)
    down = sum(min(at + length, horizon) - at for at, length, _ in found)
    assert down / (4 * horizon) == pytest.approx(0.1, rel=0.06)
    assert len(found) == pytest.approx(4 * 1000, rel=0.06)


def test_each_node_of_a_label_has_its_own_process() -> None:
    process = FailureProcess(Fault.CRASH, ("rack/r1", "n0"), 10 * S, S)
    found = times(Schedule(scenario(process)), 1_000 * S)
    assert {targets.nodes for _, _, targets in found} == {(0,), (2,), (3,)}
    begins = [at for at, _, _ in found]
    assert begins == sorted(set(begins))
    node_3 = [row for row in found if row[2].nodes == (3,)]
    alone = Schedule(scenario(replace(process, targets=("n3",))))
    assert times(alone, 1_000 * S) == node_3
    assert events(alone, 2_000 * S)[0].failure.targets == ("node/n3",)


def test_a_rack_fails_together() -> None:
    process = FailureProcess(Fault.CRASH, ("rack/r1",), 10 * S, S, together=True)
    found = times(Schedule(scenario(process)), 1_000 * S)
    assert len(found) > 50
    assert {targets for _, _, targets in found} == {Targets(nodes=(2, 3))}


def test_tasks_of_a_job_members_and_the_leader() -> None:
    def whom(kind: Fault, *targets: str) -> set[Targets]:
        process = FailureProcess(kind, targets, S)
        return {targets for _, _, targets in times(Schedule(scenario(process)), 50 * S)}

    assert whom(Fault.KILL, "job/j") == {Targets(tasks=(0,)), Targets(tasks=(1,))}
    assert whom(Fault.LEADER, "control/[01]") == {Targets(control=(0,)), Targets(control=(1,))}
    assert whom(Fault.LEADER) == {Targets()}


def test_a_drawn_partition_has_another_side() -> None:
    process = FailureProcess(Fault.PARTITION, ("rack/r0",), S, S, others=("control/0",))
    assert {event.others for event in events(Schedule(scenario(process)), 20 * S)} == {Targets(control=(0,))}
    rest = replace(process, targets=("n1",), others=())
    assert {event.others for event in events(Schedule(scenario(rest)), 20 * S)} == {
        Targets(nodes=(0, 2, 3), control=(0, 1, 2))
    }


def test_the_seed_and_nothing_else_makes_the_times() -> None:
    process = FailureProcess(Fault.CRASH, ("rack/r0",), 10 * S, S)
    base = scenario(process, seed=5)
    expected = times(Schedule(base), 500 * S)
    other = replace(base, policy=Policy("sjf", "easy"), work=Work.from_tasks([Task("z")]), limits=Limits(events=9))
    assert times(Schedule(other), 500 * S) == expected
    assert times(Schedule(replace(base, faults=(process, crash(1, 1, "n3")))), 500 * S)[1:] == expected
    assert times(Schedule(replace(base, seed=6)), 500 * S) != expected


def test_repairs_do_not_change_the_first_up_time_nor_the_up_times() -> None:
    process = FailureProcess(Fault.CRASH, ("n0",), 10 * S, S)
    slow = times(Schedule(scenario(replace(process, mttr_ns=5 * S))), 500 * S)
    instant = times(Schedule(scenario(replace(process, mttr_ns=0))), 500 * S)
    ups = [b - a - length for (a, length, _), (b, _, _) in pairwise(slow)]
    begins = [at for at, _, _ in instant]
    assert slow[0][0] == begins[0]
    assert ups == [b - a for a, b in pairwise(begins)][: len(ups)]


def test_an_endless_process_is_drawn_as_far_as_it_is_asked() -> None:
    schedule = Schedule(scenario(FailureProcess(Fault.CRASH, ("*",), 1, 0)))
    for _ in range(100):
        assert schedule.pop(schedule.next_ns())
    assert schedule.next_ns() < 10_000
