"""The tutorials: every command prints what is on file, the pages show it, and what they say beside it is so.

``python -m tests.examples.tutorials`` writes the golden texts and the pages anew.
"""

from dataclasses import replace
from math import exp, sqrt
from pathlib import Path

import numpy as np
import pytest

from examples.checkpoints import interval, two_users
from gnomon.api import Checkpoint, Kind, Reason, Recovery, Retry, Run, Scenario, State, simulate
from gnomon.insight.history import history
from gnomon.recovery.checkpoint import expected_factor
from gnomon.systems.slurm.scenario import read_scenario as read_slurm
from tests.examples.tutorials import CURVE, GOLDEN, PAGES, folded, output, shown, transcript, workplace
from tests.shared import EXAMPLES

pytestmark = pytest.mark.story

HOUR, MINUTE = 3600 * 10**9, 60 * 10**9


def run(path: str) -> Run:
    return simulate(Scenario.load(EXAMPLES / path))


def golden(page: Path) -> str:
    return (GOLDEN / f"{page.stem}.txt").read_text(encoding="utf-8")


# ------------------------------------------------------------------ the pages


def test_there_are_six() -> None:
    found = [page.stem for page in PAGES]
    assert found == ["checkpoints", "first-steps", "overcommit", "overload", "partition", "shuffle"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_commands_print_what_is_on_file(page: Path) -> None:
    with workplace() as folder:
        printed = [(command, output(command)) for command, _ in shown(page)]
        curve = folder / "curve.svg"
        assert not curve.exists() or curve.read_text(encoding="utf-8") == CURVE.read_text(encoding="utf-8")
    assert transcript(printed).splitlines() == golden(page).splitlines()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_page_shows_what_is_on_file(page: Path) -> None:
    rest = golden(page)
    for command, text in shown(page):
        assert rest.startswith(command)
        following, _, _ = rest.removeprefix(command).partition("\n$ ")
        assert text.splitlines() == folded(following).splitlines()
        rest = rest.removeprefix(command).removeprefix(following).removeprefix("\n")
    assert not rest


# ------------------------------------------------------------------ overload


def ends_s(found: Run) -> dict[str, int]:
    what = history(found.scenario, found.log).outcome
    return {found.scenario.work.id(task): round(int(what.end_ns[task]) / 10**9) for task in range(len(what.end_ns))}


@pytest.mark.parametrize(
    ("system", "greedy", "others"),
    [
        ("pinned", 8 * 3600, {3600}),  # 8 h of one core
        ("shares", 3600 + 3150, {3600}),  # 1/8 of an hour's work in the first, the rest at full speed
        ("nothing", 6752, {6752, 6753}),  # 15 threads on 8 cores
    ],
)
def test_who_pays_for_eight_threads_on_one_core(system: str, greedy: int, others: set[int]) -> None:
    ends = ends_s(run(f"overload/{system}.yaml"))
    assert ends.pop("greedy") == greedy
    assert set(ends.values()) == others


def test_a_time_limit_frees_the_sweep_and_costs_the_wide_jobs_nothing() -> None:
    starts = {}
    for session in ("jobs", "honest"):
        files = [
            EXAMPLES / "overload" / name for name in ("slurm.conf", "accounts.dump", "qos.txt", f"{session}.session")
        ]
        found = simulate(read_slurm([str(path) for path in files]))
        what = history(found.scenario, found.log).outcome
        wide = [task for task in range(len(what.state)) if found.scenario.work.id(task).startswith("3_")]
        starts[session] = [int(t) for t in what.first_start_ns], wide
    (before, sweep), (after, _) = starts["jobs"], starts["honest"]
    assert {before[task] // HOUR for task in sweep} == {11}
    assert {after[task] // MINUTE for task in sweep} == {2}
    assert all(before[task] == after[task] for task in range(len(before)) if task not in sweep)


# ------------------------------------------------------------------ overcommit


def fails(found: Run) -> list[tuple[str, Reason]]:
    """Who lost an attempt, and why, in order."""
    rows = np.flatnonzero(found.log.kind == Kind.FAIL)
    ids = found.scenario.work.ids
    return [(str(ids[found.log.subject[row]]), Reason(found.log.reason[row])) for row in rows]


def test_above_the_request_nothing_happens_and_above_the_limit_it_is_killed() -> None:
    assert fails(run("overcommit/own-limit.yaml")) == 4 * [("greedy", Reason.MEMORY)]


def test_the_burstable_one_is_evicted_before_the_best_effort_one() -> None:
    """The right answer to kubernetes/kubernetes#105270."""
    assert fails(run("overcommit/not-by-class.yaml")) == [("b", Reason.EVICTED)]


def test_fast_growth_meets_the_kernel_first(tmp_path: Path) -> None:
    text = (EXAMPLES / "overcommit" / "not-by-class.yaml").read_text(encoding="utf-8")
    fast = tmp_path / "fast.yaml"
    fast.write_text(text.replace("over: 3h", "over: 10m"), encoding="utf-8")
    assert fails(simulate(Scenario.load(fast)))[0] == ("b", Reason.NODE_MEMORY)


@pytest.mark.parametrize(
    ("system", "first"),
    [
        ("kubernetes", ("sweep-0", Reason.EVICTED)),  # the lower priority of those above their request
        ("kernel", ("cache", Reason.NODE_MEMORY)),  # 1000 + (11.7 - 8) / 32 of 1000 is the highest score
        ("ray", ("sweep-0", Reason.EVICTED)),  # the newest of the larger group
        ("yarn", ("sweep-0", Reason.MEMORY)),  # the first above what it asked for
        ("slurm", ("server", Reason.NODE_MEMORY)),  # the largest
    ],
)
def test_five_systems_choose_by_their_own_rule(system: str, first: tuple[str, Reason]) -> None:
    assert fails(run(f"overcommit/{system}.yaml"))[0] == first


def test_honest_requests_lose_nothing() -> None:
    assert not fails(run("overcommit/honest-requests.yaml"))


# ------------------------------------------------------------------ partition


def after(found: Run, kind: Kind) -> float:
    """Seconds from the fault to the last row of a kind."""
    log = found.log
    return float(log.t_ns[log.kind == kind][-1] - log.t_ns[log.kind == Kind.FAULT][0]) / 1e9


@pytest.mark.parametrize(
    ("system", "noticed", "anew", "twice"),
    [
        ("kubernetes-1.31", (40, 50), (340, 350), True),
        ("kubernetes-1.32", (50, 60), (350, 360), True),
        ("stateful-set", (50, 60), (2_400, 2_400), False),
        ("fenced", (50, 60), (350, 360), False),
        ("slurm", (400, 500), (521, 621), True),
        ("ray", (65, 65), (65, 65), False),
        ("yarn", (600, 800), (600, 800), True),
    ],
)
def test_silence_is_noticed_when_the_constants_say(
    system: str, noticed: tuple[int, int], anew: tuple[int, int], twice: bool
) -> None:
    found = run(f"partition/{system}.yaml")
    assert noticed[0] <= after(found, Kind.NOTICE) <= noticed[1]
    assert anew[0] <= after(found, Kind.START) <= anew[1]
    assert bool(found.metrics()["recovery"]["ran_twice"]["tasks"]) == twice


@pytest.mark.parametrize(("split", "starts"), [("majority", 615), ("even-split", 50 * 60)])
def test_a_majority_goes_on_and_a_half_waits(split: str, starts: int) -> None:
    found = run(f"partition/{split}.yaml")
    late = list(found.scenario.work.ids).index("late")
    assert found.outcome.start_ns[late] == starts * 10**9
    assert (found.outcome.state == State.DONE).all()


# ------------------------------------------------------------------ checkpoints, retries


@pytest.fixture(scope="module")
def curve() -> list[interval.Point]:
    """The curve of the page, as it is on file (and as its command prints it)."""
    (text,) = (one.partition("\n$ ")[0] for one in golden(PAGES[0]).split("$ python ") if "train.yaml" in one)
    rows = [line.split() for line in text.splitlines()[3:] if line]
    return [
        interval.Point(
            round(float(minutes) * MINUTE),
            int(failures.replace(",", "")),
            *(float(one[:-1]) / 100 for one in parts[:2]),
        )
        for minutes, failures, *parts in rows
    ]


def test_daly_is_within_one_percent_of_the_best_of_the_grid(curve: list[interval.Point]) -> None:
    daly = curve[interval.TIMES_DALY.index(1.0)]
    assert daly.every_ns == pytest.approx(7001.4e9, rel=1e-3)
    assert daly.simulated <= 1.01 * min(one.simulated for one in curve)


def test_simulated_waste_is_the_expected_one(curve: list[interval.Point]) -> None:
    """A failure wastes a part of an interval, evenly spread, and failures are a Poisson process."""
    for one in curve:
        deviation = sqrt(1 / 12 + 1 / 4) * (one.every_ns + 5 * MINUTE) * sqrt(one.failures) / (4_000 * 24 * HOUR)
        assert one.simulated == pytest.approx(one.expected, abs=4 * deviation)


def test_retries_alone_take_as_long_as_the_formula_says() -> None:
    """M (e^(T/M) - 1), and its deviation, from the second moment of the time that a renewal needs."""
    found = run("checkpoints/again-and-again.yaml")
    hours = found.outcome.end_ns / HOUR
    error = float(np.std(hours)) / sqrt(len(hours))
    assert float(np.mean(hours)) == pytest.approx(3 * (exp(2) - 1), abs=4 * error)


def test_with_checkpoints_it_takes_as_long_as_the_formula_says() -> None:
    found = run("checkpoints/saved.yaml")
    hours = found.outcome.end_ns / HOUR
    expected = 6 * expected_factor(every=1_138, cost=60, restart=300, mtbf=3 * 3_600)
    assert float(np.mean(hours)) == pytest.approx(expected, rel=0.02)  # the first start needs no restart


@pytest.mark.parametrize(("every", "efficiency"), [(15, 0.15), (4.6, 0.25)])
def test_fifteen_minutes_are_too_long_for_an_mtbf_of_eight(every: float, efficiency: float) -> None:
    case = interval.Case.load(EXAMPLES / "checkpoints" / "short-mtbf.yaml")
    found = case.at(round(every * MINUTE))
    assert 1 - found.expected == pytest.approx(efficiency, abs=0.005)
    assert found.simulated == pytest.approx(found.expected, abs=0.01)


@pytest.mark.parametrize(
    ("cost", "mtbf_h", "every", "efficiency"), [(1 / 6, 72, 1.6, 0.45), (2, 5_000, 47, 0.91)], ids=str
)
def test_what_would_help_is_cheaper_or_rarer(cost: float, mtbf_h: float, every: float, efficiency: float) -> None:
    assert 1 / expected_factor(every, cost, 5, mtbf_h * 60 / 512) == pytest.approx(efficiency, abs=0.006)


@pytest.mark.parametrize(("file", "chance"), [("four-attempts", 0.9999), ("coin-toss", 0.9375)])
def test_retries_survive_as_often_as_the_formula_says(file: str, chance: float) -> None:
    found = run(f"checkpoints/{file}.yaml")
    tasks = len(found.scenario.work)
    assert (found.outcome.state == State.DONE).sum() == pytest.approx(
        tasks * chance, abs=4 * sqrt(tasks * chance * (1 - chance))
    )


NOT_COUNTED = (Retry(("drained",)), Retry(limit=3))


@pytest.mark.parametrize(
    ("recovery", "state", "minutes"),
    [
        (Recovery((Retry(limit=3),)), State.FAILED, 12),
        (Recovery((Retry(limit=3),), Checkpoint(MINUTE)), State.FAILED, 12),
        (Recovery(NOT_COUNTED), State.DONE, 27),
        (Recovery(NOT_COUNTED, Checkpoint(MINUTE)), State.DONE, 15),
    ],
)
def test_retries_that_drains_use_up(recovery: Recovery, state: State, minutes: int) -> None:
    scenario = Scenario.load(EXAMPLES / "checkpoints" / "drained.yaml")
    work = replace(scenario.work, recoveries=tuple(recovery for _ in scenario.work.recoveries))
    found = simulate(replace(scenario, work=work))
    assert (found.outcome.state[0], found.outcome.end_ns[0]) == (state, minutes * MINUTE)


# ------------------------------------------------------------------ quotas, fair share


def test_a_quota_holds_on_an_empty_cluster_and_fair_share_does_not() -> None:
    quota, fair = run("checkpoints/quota.yaml"), run("checkpoints/fair-share.yaml")
    assert (quota.outcome.first_start_ns == 0).sum() == 25
    assert (fair.outcome.first_start_ns == 0).sum() == 100


def test_fair_share_lets_who_used_less_go_first() -> None:
    fair = two_users.waits(run("checkpoints/fair-share.yaml"))
    assert fair["ben"] == 5.0
    assert fair["ana"] == pytest.approx((20 * 10 + 40 * 20) / 160)


def test_drivers_without_executors_wait_for_each_other_and_a_quota_solves_it() -> None:
    """The right answer to kubeflow/spark-operator#594: 12 drivers take 12 processors, and nobody ever ends."""
    stuck = run("checkpoints/drivers.yaml")
    assert stuck.stopped == Reason.DEADLOCK
    assert (stuck.log.kind == Kind.HOLD).sum() == 12
    assert (run("checkpoints/drivers-quota.yaml").outcome.state == State.DONE).all()
