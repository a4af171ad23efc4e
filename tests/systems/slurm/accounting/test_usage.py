"""Usage: decay, charging, resets, and what running jobs may still use."""

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon.systems.slurm.accounting.billing import Billing, weighted
from gnomon.systems.slurm.accounting.usage import Usage, decay_factor, next_reset
from tests.systems.slurm.accounting.recorded import Books, Job, books, cpus


def raw(made: Books, user: str, account: str) -> float:
    entry = made.tree.find(user, account)
    assert entry is not None
    return float(made.usage.raw[entry.number])


def test_example_e1_of_the_decay() -> None:
    factor = decay_factor(7 * 86400)
    assert factor == pytest.approx(0.99999885417, abs=1e-11)
    assert factor**300 == pytest.approx(0.99965631, abs=1e-8)
    assert decay_factor(0) == 1.0


def test_usage_goes_to_the_association_and_all_above_it() -> None:
    made = books(half_life_s=0)
    job = Job(limit_min=2)
    made.usage.period(0)
    made.start(job, cpus(16), at=0)
    made.end(job, 20)
    assert raw(made, "alice", "phys") == raw(made, "", "phys") == raw(made, "", "root") == 320
    assert raw(made, "", "chem") == 0


def test_a_period_decays_what_was_and_adds_what_ran() -> None:
    made = books(half_life_s=1000)
    job = Job(limit_min=100)
    made.usage.period(0)
    made.start(job, cpus(2), at=100)
    made.usage.period(300)
    f = 1 - 0.693 / 1000
    first = 2 * 200 * f**200
    assert raw(made, "alice", "phys") == pytest.approx(first, rel=1e-12)
    made.usage.period(600)
    second = first * f**300 + 2 * 300 * f**300
    assert raw(made, "alice", "phys") == pytest.approx(second, rel=1e-12)
    made.end(job, 650)  # charged at once, decayed by its own stretch only
    assert raw(made, "alice", "phys") == pytest.approx(second + 2 * 50 * f**50, rel=1e-12)


def test_a_qos_weighs_usage_and_may_not_decay() -> None:
    made = books("add qos half UsageFactor=0.5 flags=NoDecay", "modify user alice set qos+=half", half_life_s=1000)
    made.usage.period(0)
    made.start(Job(qos="half", limit_min=100), cpus(4), at=0)
    made.usage.period(500)
    f = 1 - 0.693 / 1000
    assert raw(made, "alice", "phys") == pytest.approx(0.5 * 4 * 500 * f**500)
    assert made.usage.raw[made.usage.row(made.tree.qos["half"])] == 0.5 * 4 * 500
    made.usage.period(1000)
    assert made.usage.raw[made.usage.row(made.tree.qos["half"])] == 0.5 * 4 * 1000
    assert made.usage.wall_minutes(made.tree.qos["half"]) == 500 // 60


@pytest.mark.golden
def test_the_factor_of_a_qos_weighs_what_may_still_be_used_as_recorded() -> None:
    """Two jobs of 2 CPUs and 10 minutes, 26 seconds after they started, one of them in a QOS with UsageFactor=0.5
    (22.05.8): minutes of memory, and raw usage."""
    made = books("add qos half UsageFactor=0.5", "modify user alice set qos+=half", half_life_s=0)
    made.usage.period(0)
    for qos in ("half", "normal"):
        tres = {"cpu": 2, "mem": 200, "node": 1, "billing": 2}
        made.start(Job(qos=qos, limit_min=10), tres, at=20)
    made.usage.period(46)
    shown = {"half": (9, 956, 4, 26), "normal": (19, 1913, 9, 52)}
    for name, (cpu, mem, node, used) in shown.items():
        qos_entry = made.tree.qos[name]
        minutes = [made.usage.run_minutes(qos_entry.used, made.tree.tres_number[one]) for one in ("cpu", "mem", "node")]
        assert minutes == [cpu, mem, node]
        assert made.usage.raw[made.usage.row(qos_entry)] == used


def test_billing_is_cpus_unless_there_are_weights() -> None:
    weights = {"gpu": {"cpu": 1.0, "mem": 0.25 / 1024, "gres/gpu": 8.0}}
    billing = Billing(weights, ("cpu", "mem", "node", "gres/gpu", "license/x"))
    tres = {"cpu": 4, "mem": 4000, "node": 1, "gres/gpu": 1}
    assert billing.charge("batch", tres) == 4
    assert billing.charge("gpu", tres) == 4 + 4000 * (0.25 / 1024) + 8
    assert billing.count("gpu", tres) == 12
    by_most = weighted(
        {**tres, "license/x": 2}, {**weights["gpu"], "license/x": 0.5}, tres | {"license/x": 0}, "MAX_TRES"
    )
    assert by_most == 8 + 1.0  # the largest on the node, and all that is global


@pytest.mark.parametrize(
    ("period", "last", "then"),
    [
        ("DAILY", "2026-03-10T15:00", "2026-03-11T00:00"),
        ("WEEKLY", "2026-03-10T15:00", "2026-03-15T00:00"),  # a Tuesday; weeks begin on Sunday
        ("MONTHLY", "2026-12-10T15:00", "2027-01-01T00:00"),
        ("QUARTERLY", "2026-05-10T15:00", "2026-07-01T00:00"),
        ("QUARTERLY", "2026-11-10T15:00", "2027-01-01T00:00"),
        ("YEARLY", "2026-05-10T15:00", "2027-01-01T00:00"),
    ],
)
def test_usage_is_reset_at_the_turn_of_the_period(period: str, last: str, then: str) -> None:
    seconds = [int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()) for text in (last, then)]
    assert next_reset(period, seconds[0], seconds[0]) == seconds[1]
    assert next_reset("NONE", seconds[0], seconds[0]) is None


def test_a_reset_takes_all_usage_away() -> None:
    made = books()
    usage = Usage(made.tree, Billing(), half_life_s=0, reset="DAILY")
    day = 86400
    usage.period(day // 2)
    job = Job(limit_min=60)
    usage.start(job, cpus(1), start_s=day // 2, limit_min=60)
    usage.end(job, day // 2 + 600)
    usage.period(day - 60)
    assert usage.raw.max() == 600
    usage.period(day)
    assert usage.raw.max() == 0


def test_known_usage_is_summed_up_the_tree() -> None:
    made = books()
    made.usage.set_raw({("phys", "alice", ""): 100.0, ("phys", "bob", ""): 50.0, ("chem", "", ""): 7.0})
    assert [raw(made, *key) for key in (("", "phys"), ("", "chem"), ("", "root"))] == [150, 7, 157]


def test_minutes_of_running_jobs_shrink_with_each_period_down_to_nothing() -> None:
    made = books()
    cpu, phys = made.tree.tres_number["cpu"], made.tree.find("", "phys")
    assert phys is not None
    made.usage.period(0)
    made.start(Job(limit_min=10), cpus(3), at=0)
    seen = []
    for now in (0, 120, 600, 900):
        made.usage.period(now)
        seen.append(made.usage.run_minutes(phys.used, cpu))
        assert made.usage.run_seconds(phys.used)[cpu] // 60 == seen[-1]
    assert seen == [30, 24, 0, 0]


@settings(max_examples=60)
@given(
    st.lists(
        st.tuples(st.integers(0, 2), st.integers(0, 900), st.integers(1, 900), st.integers(1, 20), st.integers(1, 8)),
        max_size=8,
    )
)
def test_jobs_charged_together_are_charged_as_each_alone(jobs: list[tuple[int, int, int, int, int]]) -> None:
    """The naive reference goes over every job in every period, as the source does."""
    made = books("add qos half UsageFactor=0.5", "modify user alice,bob set qos+=half", half_life_s=5000)
    f, period = 1 - 0.693 / 5000, 300
    naive: dict[str, float] = dict.fromkeys(("alice", "bob", "carol"), 0.0)
    facts = []
    for who, start, length, limit, cpu in jobs:
        user = ("alice", "bob", "carol")[who]
        qos = "half" if who < 2 and cpu % 2 else "normal"
        facts.append(
            (Job(user, "chem" if who == 2 else "phys", qos, limit_min=limit), start, start + length, limit, cpu)
        )
    charged = {job: start for job, start, *_ in facts}
    for now in range(2101):
        for job, start, end, _, cpu in facts:
            factor = 0.5 if job.qos == "half" else 1.0
            if end == now:
                seconds = now - charged[job]
                naive[job.user] += seconds * f**seconds * cpu * factor
                made.usage.end(job, now)
            if start == now:
                made.usage.start(job, cpus(cpu), start_s=now, limit_min=job.limit_min)
        if now % period == 0:
            for user in naive:
                naive[user] *= f**period if now else 1.0
            for job, start, end, _, cpu in facts:
                if start <= now < end:
                    seconds = now - charged[job]
                    naive[job.user] += seconds * f**seconds * cpu * (0.5 if job.qos == "half" else 1.0)
                    charged[job] = now
            made.usage.period(now)
            for used in [one.used for one in made.tree.entries] + [one.used for one in made.tree.qos.values()]:
                summed = made.usage.run_seconds(used)
                assert [made.usage.run_minutes(used, n) for n in range(4)] == [s // 60 for s in summed[:4]]
    for user, account in (("alice", "phys"), ("bob", "phys"), ("carol", "chem")):
        assert raw(made, user, account) == pytest.approx(naive[user], rel=1e-9, abs=1e-9)
    assert raw(made, "", "root") == pytest.approx(sum(naive.values()), rel=1e-9, abs=1e-9)
