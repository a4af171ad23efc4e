"""Declared properties: which texts are understood, which never can be judged, and verdicts against hand arithmetic."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.api import simulate
from gnomon.engine.log import Kind, Log, Reason
from gnomon.insight.chaos.bounds import LittleLost, Makespan, ShareBound, SlowdownBound, TimeBound, statistic
from gnomon.insight.chaos.facts import Facts
from gnomon.insight.chaos.properties import FORMS, parse_property, properties_of
from gnomon.insight.chaos.rules import Ends, FewFail, OneLeader, Rule, RunsOnce, TakesEffectOnce, Verdict
from gnomon.insight.history import history
from gnomon.model.cluster import Cluster
from gnomon.model.errors import InputError
from gnomon.model.fault import Failure, Fault
from gnomon.model.operation import ControlPlane, Operation
from gnomon.model.resources import NEVER
from gnomon.model.scenario import Limits, Scenario
from gnomon.model.work import Work
from tests.insight.faulty import Seconds, Tale, crash, crashes, machines, split
from tests.insight.stories import S, cpus, task

pytestmark = pytest.mark.unit

MINUTE = 60 * S


def judge(text: str, tale: Tale, *, until: int = NEVER) -> Verdict:
    """The verdict on a tale; ``until``: the horizon of its scenario, in seconds."""
    limits = Limits(until_ns=min(until * S, NEVER))
    scenario = Scenario(tale.cluster, Work.from_tasks(tale.tasks), operation=tale.operation, limits=limits)
    return parse_property(text).judge(Facts(history(scenario, tale.log)))


# ------------------------------------------------------------------ reading


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("every job ends", Ends()),
        ("  EACH   Task  Ends. ", Ends()),
        ("all jobs end", Ends()),
        ("every job ends within 2 hours", TimeBound("max", "turnaround", 120 * MINUTE)),
        ("No task runs twice at once", RunsOnce()),
        ("no task takes effect twice", TakesEffectOnce()),
        ("at most one leader", OneLeader()),
        ("no task waits longer than 1h", TimeBound("max", "wait", 60 * MINUTE)),
        ("every lost task starts again within 5m", TimeBound("max", "recovery", 5 * MINUTE)),
        ("at most 3 tasks fail", FewFail(3)),
        ("no task fails", FewFail(0)),
        ("at most 2 % of the tasks fail", FewFail(Fraction(1, 50))),
        ("at most 5 % work lost", LittleLost(Fraction(1, 20))),
        ("at most 5 percent of the work is lost", LittleLost(Fraction(1, 20))),
        ("p95 wait < 10 min", TimeBound("95", "wait", 10 * MINUTE, strict=True)),
        ("P99.9 turnaround ≤ 90 s", TimeBound("99.9", "turnaround", 90 * S)),
        ("the mean wait is at most 1h30m", TimeBound("mean", "wait", 90 * MINUTE)),
        ("median wait below 1m", TimeBound("50", "wait", MINUTE, strict=True)),
        ("max detect<=50s", TimeBound("max", "detection", 50 * S)),
        ("p90 slowdown < 2.5", SlowdownBound("90", Fraction(5, 2), strict=True)),
        ("makespan < 2h", Makespan(120 * MINUTE, strict=True)),
        ("availability >= 99.99 %", ShareBound("availability", Fraction(9999, 10_000))),
        ("goodput > 0.5", ShareBound("goodput", Fraction(1, 2), strict=True)),
    ],
)
def test_texts_that_are_understood(text: str, rule: Rule) -> None:
    assert parse_property(text).rule == rule


@pytest.mark.parametrize("text", FORMS)
def test_every_form_that_errors_list_is_understood(text: str) -> None:
    assert parse_property(text).text == text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("nothing ever goes wrong", "not a property that is understood"),
        ("p95 wiat < 10 min", "unknown measure (did you mean 'wait'?)"),
        ("p100 wait < 10 min", "unknown measure (did you mean 'wait'?)"),
        ("p95 wait < soon", "not a duration"),
        ("p95 wait > 10 min", "only a largest value"),
        ("wait < 10 min", "of the mean, the max, or a percentile"),
        ("mean makespan < 1h", "one number of the whole run"),
        ("availability < 99 %", "a least value is demanded"),
        ("availability >= 101 %", "more than all"),
        ("at most many tasks fail", "not a whole number"),
        ("", "not a property that is understood"),
    ],
)
def test_texts_that_are_not(text: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_property(text, field="properties[0]")
    assert caught.value.field == "properties[0]"
    assert said in str(caught.value)
    assert caught.value.allowed


def test_what_is_declared_twice_is_judged_once() -> None:
    assert len(properties_of(["every job ends"] * 2, _one_task())) == 1


def _one_task(**facts: object) -> Scenario:
    made = Scenario(machines(4, 4), Work.from_tasks([task("t", duration_ns=10 * S)]))
    return replace(made, **facts)  # type: ignore[arg-type]


HOUR = Limits(until_ns=60 * MINUTE)


@pytest.mark.parametrize(
    ("text", "scenario", "said"),
    [
        ("no task waits longer than 2h", _one_task(limits=HOUR), "the run is cut off at 1h"),
        ("no task waits longer than 1h", _one_task(limits=HOUR), "the run is cut off at 1h"),
        ("makespan < 2h", _one_task(limits=HOUR), "the run is cut off at 1h"),
        ("at most one leader", _one_task(), "the control plane has one member"),
        ("p95 wait < 1m", _one_task(work=Work.from_tasks([])), "no task that could run"),
        ("at most 1 tasks fail", _one_task(), "only 1 task"),
        ("at most 100 % work lost", _one_task(), "more than all cannot be lost"),
        ("availability >= 0 %", _one_task(), "no share is below 0"),
        ("availability > 100 %", _one_task(), "no share is above 1"),
        ("availability >= 99 %", _one_task(cluster=Cluster.of_processors(4)), "the cluster is a pool"),
        ("max detection < 1m", _one_task(cluster=Cluster.of_processors(4)), "the cluster is a pool"),
        ("max slowdown < 1", _one_task(), "no slowdown is below 1"),
        ("every job ends", _one_task(work=Work.from_tasks([task("t", duration_ns=NEVER)])), "t runs without an end"),
    ],
)
def test_properties_that_can_never_be_evaluated(text: str, scenario: Scenario, said: str) -> None:
    with pytest.raises(InputError, match="can never be evaluated in this scenario") as caught:
        properties_of([text], scenario)
    assert said in caught.value.problem
    assert caught.value.found == text


def test_a_bound_just_below_the_horizon_can_be_exceeded() -> None:
    assert properties_of(["no task waits longer than 59m59s", "p95 wait < 1h"], _one_task(limits=HOUR))


def test_three_members_may_have_two_leaders() -> None:
    assert properties_of(["at most one leader"], _one_task(operation=Operation(control=ControlPlane(members=3))))


# ------------------------------------------------------------------ verdicts


@pytest.mark.parametrize(
    ("text", "holds", "found"),
    [
        ("every job ends", True, "1 task done"),
        ("no task runs twice at once", True, "never"),
        ("no task takes effect twice", True, "never"),
        ("no task fails", True, "0 tasks failed"),
        ("makespan <= 20s", True, "makespan 20s"),
        ("makespan < 20s", False, "makespan 20s"),
        # The fault was at 5; it is given up at 8 and starts again at 10.
        ("every lost task starts again within 5s", True, "max recovery 5s"),
        ("every lost task starts again within 4s", False, "max recovery 5s (t0)"),
        ("max detection < 3s", False, "max detection 3s (n0)"),
        # Down from 5 to 15: 10 of 2 x 20 seconds of nodes.
        ("availability >= 75 %", True, "availability 75% of node time"),
        ("availability > 75 %", False, "availability 75% of node time"),
        # It ran for 5 s on n0, all of it lost, and for 10 s on n1.
        ("at most 33.4 % work lost", True, "33.33% of the work lost"),
        ("at most 33.3 % work lost", False, "33.33% of the work lost (most: 5s of t0)"),
        ("goodput >= 66.6 %", True, "goodput 66.67%"),
        ("goodput >= 66.7 %", False, "goodput 66.67%"),
    ],
)
def test_a_crash_by_hand(text: str, holds: bool, found: str) -> None:
    verdict = judge(text, crash())
    assert (verdict.holds, verdict.found) == (holds, found)
    assert bool(verdict.rows) != holds


def test_a_partition_by_hand() -> None:
    """The copy on n0 runs to 9, the attempt on n1 from 5."""
    verdict = judge("no task runs twice at once", split(Reason.FENCED))
    assert verdict.found == "t0 runs on n0 and n1 at once from 5s to 9s"
    log = split(Reason.FENCED).log
    assert [Kind(int(log.kind[row])) for row in verdict.rows] == [Kind.COPY, Kind.START]
    assert verdict.task == 0


@pytest.mark.parametrize(("end", "holds"), [(Reason.FENCED, True), (Reason.FINISHED, False)])
def test_a_copy_that_runs_to_its_end_takes_effect_besides(end: Reason, holds: bool) -> None:
    verdict = judge("no task takes effect twice", split(end))
    assert verdict.holds == holds
    assert holds or verdict.found == "t0 runs to its end at 9s and at 15s"


def test_copies_that_are_made_on_purpose_are_no_violation() -> None:
    tale = Tale(machines(4, 4), [task("t")])
    for t, kind, node, reason in (
        (0, Kind.ARRIVE, -1, 0),
        (0, Kind.START, 0, 0),
        (5, Kind.COPY, 1, Reason.SPECULATIVE),
    ):
        tale.row(t, kind, 0, node, reason=reason)
    tale.row(9, Kind.END, 0, 0)
    tale.row(9, Kind.COPY_END, 0, 1, reason=Reason.BEATEN)
    assert judge("no task runs twice at once", tale).holds


def test_one_that_ends_when_the_other_begins_is_no_overlap() -> None:
    tale = Tale(machines(4, 4), [task("t")])
    for t, kind, node in ((0, Kind.ARRIVE, -1), (0, Kind.START, 0), (5, Kind.FAIL, 0), (5, Kind.COPY, 0)):
        tale.row(t, kind, 0, node)
    tale.row(8, Kind.COPY_END, 0, 0, reason=Reason.FENCED)
    tale.row(8, Kind.START, 0, 1)
    assert judge("no task runs twice at once", tale).holds


def _stuck(*, cut_off: bool) -> Tale:
    """t0 is done after 10 s; t1 waits for ever, or is cut off at 60 s."""
    tale = Tale(machines(4), [task("t0"), task("t1")])
    tale.row(0, Kind.ARRIVE, 0)
    tale.row(0, Kind.ARRIVE, 1)
    tale.row(0, Kind.START, 0, 0)
    tale.row(0, Kind.WAIT, 1, reason=Reason.RESOURCES)
    tale.row(10, Kind.END, 0, 0)
    if cut_off:
        tale.row(60, Kind.STOP, reason=Reason.LIMIT_TIME)
    return tale


def test_what_has_not_come_has_waited_so_far_or_for_ever() -> None:
    assert judge("no task waits longer than 60s", _stuck(cut_off=True)).holds
    assert not judge("no task waits longer than 59s", _stuck(cut_off=True)).holds
    verdict = judge("no task waits longer than 20d", _stuck(cut_off=False))
    assert (verdict.holds, verdict.found, verdict.task) == (False, "max wait never (t1)", 1)
    assert judge("p50 wait < 1d", _stuck(cut_off=False)).found == "p50 wait never; t1: never"
    assert judge("makespan < 1d", _stuck(cut_off=False)).found == "makespan never"


def test_tasks_that_are_not_done_are_named_with_their_states() -> None:
    verdict = judge("every job ends", _stuck(cut_off=True))
    assert verdict.found == "1 of 2 tasks not done: t1 (waiting, resources)"
    assert verdict.rows == (3,)


def test_a_task_that_its_user_withdraws_is_not_expected_to_end() -> None:
    tale = _stuck(cut_off=False)
    tale.row(12, Kind.CANCEL, 1)
    assert judge("every job ends", tale).found == "1 task done"
    assert judge("no task waits longer than 1s", tale).holds


def test_a_task_that_is_given_up_never_starts_again() -> None:
    tale = Tale(machines(4), [task("t0", cpus(1))])
    for t, kind in ((0, Kind.ARRIVE), (0, Kind.START)):
        tale.row(t, kind, 0, 0)
    tale.fail(5, 0, 0, lost=5, reason=Reason.EXIT)
    assert judge("every lost task starts again within 1d", tale).found == "max recovery never (t0)"
    assert judge("no task fails", tale).found == "1 of 1 task failed: t0 (exit)"
    assert judge("max slowdown < 1000000", tale).found == "max slowdown endless (most: t0)"


@pytest.mark.parametrize(
    ("members", "cut_off", "quorum", "found"),
    [
        (3, ("control/0",), False, "members 0 and 1 of the control plane lead at 1m15s"),
        (4, ("control/0", "control/2"), False, "members 0 and 1 of the control plane lead at 1m15s"),
        (3, ("control/1", "control/2"), False, "members 0 and 1 of the control plane lead at 1m15s"),
        (3, ("control/0",), True, "always"),
        (4, ("control/0", "control/2"), True, "always"),
        (3, ("node/n0",), False, "always"),
    ],
)
def test_without_a_quorum_each_side_has_its_leader(
    members: int, cut_off: tuple[str, ...], quorum: bool, found: str
) -> None:
    """Cut off at 60 s; a member that hears no leader for 15 s leads."""
    control = ControlPlane(members=members, lease_ns=15 * S, step_down_ns=10 * S, quorum=quorum)
    fault = Failure(Fault.PARTITION, 60 * S, 60 * S, cut_off)
    work = Work.from_tasks([task("t", duration_ns=300 * S)])
    scenario = Scenario(machines(4, 4), work, operation=Operation(control=control), faults=(fault,))
    log = simulate(scenario).log
    verdict = parse_property("at most one leader").judge(Facts(history(scenario, log)))
    assert (verdict.holds, verdict.found) == (found == "always", found)
    assert [Kind(int(log.kind[row])) for row in verdict.rows] == [Kind.FAULT] * (not verdict.holds)


def test_a_side_that_is_cut_off_for_less_than_the_lease_elects_nobody() -> None:
    control = ControlPlane(members=3, lease_ns=15 * S, quorum=False)
    fault = Failure(Fault.PARTITION, 60 * S, 14 * S, ("control/0",))
    work = Work.from_tasks([task("t", duration_ns=300 * S)])
    scenario = Scenario(machines(4, 4), work, operation=Operation(control=control), faults=(fault,))
    assert parse_property("at most one leader").judge(Facts(simulate(scenario).past)).holds


@given(crashes())
def test_running_twice_agrees_with_a_run_second_by_second(made: tuple[Tale, Seconds]) -> None:
    tale, seconds = made
    twice = {task for (_, task), runs in Counter((t, task) for t, task, _ in seconds.runs).items() if runs > 1}
    facts = Facts(history(Scenario(tale.cluster, Work.from_tasks(tale.tasks)), tale.log))
    assert {pair[0].task for pair in facts.doubled} == twice
    first = min((t for (t, _), runs in Counter((t, k) for t, k, _ in seconds.runs).items() if runs > 1), default=None)
    assert first is None or facts.doubled[0][1].begin_ns == first * S


@given(crashes())
def test_work_lost_agrees_with_a_run_second_by_second(made: tuple[Tale, Seconds]) -> None:
    tale, seconds = made
    facts = Facts(history(Scenario(tale.cluster, Work.from_tasks(tale.tasks)), tale.log))
    assert facts.lost == seconds.lost * S * 1000  # tasks of one CPU


@given(crashes())
def test_every_property_can_be_judged_in_every_run(made: tuple[Tale, Seconds]) -> None:
    for text in FORMS:
        verdict = judge(text, made[0])
        assert all(0 <= row < len(made[0].rows) for row in verdict.rows)
        assert 0 <= verdict.near_e4 <= 10_000


def test_nothing_happened_so_nothing_is_wrong() -> None:
    log = Log(*(np.zeros(0, np.int64) for _ in range(8)))  # type: ignore[arg-type]
    scenario = Scenario(machines(4), Work.from_tasks([]))
    assert all(parse_property(text).judge(Facts(history(scenario, log))).holds for text in FORMS)


@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=30), st.sampled_from((0, 25, 50, 90, 95, 99, 99.9)))
def test_percentiles_agree_with_numpy(values: list[int], percentile: float) -> None:
    found = statistic(f"{percentile:g}", sorted(values))
    assert float(found) == pytest.approx(float(np.percentile(values, percentile)), rel=1e-9, abs=1e-6)
