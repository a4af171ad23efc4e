"""Synthetic work: the published distributions, drawn by seed, each part on its own."""

import hashlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from gnomon.model.errors import InputError
from gnomon.model.work import IntArray, Work
from gnomon.traces import swf, synthetic
from gnomon.traces.distributions import (
    Arrivals,
    Estimates,
    HyperGamma,
    LogNormal,
    Model,
    Sizes,
    Users,
    daily_rate,
)
from tests.shared import SHARED, needs_shared

DATA = Path(__file__).parent.parent / "data" / "traces"
S = 10**9


def columns(work: Work) -> dict[str, IntArray]:
    """Submit, run, size, estimate in seconds and processors, and the user's number."""
    processors = np.array([shape.request.cpu_milli // 1000 for shape in work.shapes])
    return {
        "submit": work.submit_ns // S,
        "run": work.duration_ns // S,
        "size": processors[work.shape],
        "estimate": work.estimate_ns // S,
        "user": np.array([int(user or -1) for user in work.users])[work.user],
    }


# ------------------------------------------------------------------ the common workload


def test_common_is_what_its_script_wrote() -> None:
    """The file was written by the script with which the yardstick's workloads were made."""
    work, file = synthetic.common(200), swf.read(DATA / "common-200.swf")
    for name in ("ids", "shape", "submit_ns", "duration_ns", "estimate_ns", "user"):
        np.testing.assert_array_equal(getattr(work, name), getattr(file, name), err_msg=name)
    assert (work.shapes, work.users, work.processors) == (file.shapes, file.users, file.processors)


@pytest.mark.parametrize(
    ("work", "digest"),
    [
        # SHA-256 of the script's five columns, rows of little-endian int64.
        (synthetic.common(1000), "84ec9910af7589a03694e315b6d0670f2a6ec9543e0b246465a9a1bb1c594258"),
        (synthetic.common(10_000), "d8aad558108cebc99e9268ae6d14d00a7ae0d3751465a5ba15b87a6bbaf3d6b3"),
        (
            synthetic.common(500, processors=128, largest=64, load=0.7, seed=3),
            "1dda30afbb511717b33809a672d67dbcdd3fad6cec85790fa4736a794ecfef04",
        ),
    ],
)
def test_common_draws_are_fixed(work: Work, digest: str) -> None:
    rows = np.stack(list(columns(work).values())).astype("<i8")
    assert hashlib.sha256(np.ascontiguousarray(rows).tobytes()).hexdigest() == digest


# ------------------------------------------------------------------ generate


def test_another_part_leaves_the_others_as_they_are() -> None:
    base = columns(synthetic.generate(500, seed=5))
    for changed, model in {
        "submit": Model(arrivals=Arrivals(daily=False)),
        "estimate": Model(estimates=Estimates(exact=1.0)),
        "user": Model(users=Users(count=3)),
    }.items():
        other = columns(synthetic.generate(500, seed=5, model=model))
        assert [name for name in base if not np.array_equal(base[name], other[name])] == [changed]


def test_equal_seeds_give_equal_work_and_others_do_not() -> None:
    first, again, other = (columns(synthetic.generate(100, seed=seed)) for seed in (1, 1, 2))
    assert all(np.array_equal(first[name], again[name]) for name in first)
    assert not any(np.array_equal(first[name], other[name]) for name in first)


@pytest.mark.parametrize("arrivals", synthetic.ARRIVALS)
@pytest.mark.parametrize("load", [0.3, 1.2])
def test_the_load_is_met(arrivals: str, load: float) -> None:
    model = Model(arrivals=synthetic.ARRIVALS[arrivals])
    work = columns(synthetic.generate(2000, processors=128, load=load, model=model))
    span = work["submit"][-1] - work["submit"][0]
    assert (work["run"] * work["size"]).sum() / (128 * span) == pytest.approx(load, rel=1e-4)
    assert np.all(np.diff(work["submit"]) >= 0)
    assert work["submit"][0] == 0


@pytest.mark.parametrize("jobs", [1, 2])
def test_hardly_any_jobs(jobs: int) -> None:
    for work in (synthetic.generate(jobs), synthetic.common(jobs)):
        assert len(work) == jobs
        assert work.submit_ns[0] == 0


@pytest.mark.parametrize("processors", [1, 2, 3, 100, 4096])
def test_sizes_fit_the_machine(processors: int) -> None:
    size = columns(synthetic.generate(500, processors=processors))["size"]
    assert 1 <= size.min() <= size.max() <= processors


def test_sizes_follow_the_two_stage_uniform() -> None:
    size = columns(synthetic.generate(50_000, processors=128))["size"]
    assert np.mean(size == 1) == pytest.approx(0.244, abs=0.01)
    parallel = size[size > 1]
    # P(2**u <= 2**4.5) for the parallel jobs is 0.86, whatever the rounding does at the edge.
    assert np.mean(parallel <= 23) == pytest.approx(0.86, abs=0.06)


def test_lognormal_run_times() -> None:
    run = columns(synthetic.generate(50_000, model=Model(run_times=LogNormal(median_s=600, sigma=1.0))))["run"]
    assert np.median(run) == pytest.approx(600, rel=0.03)
    assert np.log(run).std() == pytest.approx(1.0, abs=0.03)


def test_large_jobs_run_longer_in_lublins_model() -> None:
    work = columns(synthetic.generate(50_000, processors=128))
    large = work["size"] > 32
    # Means of log(run): p a1 b1 + (1 - p) a2 b2, p = 0.78 - 0.0054 size; 3.95 and 9.36 are the two parts.
    assert np.log(work["run"][work["size"] == 1]).mean() == pytest.approx(0.775 * 3.95 + 0.225 * 9.36, abs=0.1)
    assert np.log(work["run"][large]).mean() > np.log(work["run"][~large]).mean() + 0.5
    assert work["run"].max() <= np.exp(12)


def test_estimates_never_fall_short() -> None:
    work = columns(synthetic.generate(5_000))
    assert np.all(work["estimate"] >= work["run"])
    capped = work["estimate"] == np.maximum(48 * 3600, work["run"])
    assert np.all(work["estimate"][~capped] % 300 == 0)
    exact = columns(synthetic.generate(5_000, model=Model(estimates=Estimates(exact=1.0, step_s=1))))
    np.testing.assert_array_equal(exact["estimate"], exact["run"])


def test_arrivals_follow_the_time_of_day() -> None:
    submit = columns(synthetic.generate(100_000, processors=128))["submit"]
    days = submit[submit < submit[-1] // 86_400 * 86_400]
    share = np.bincount(days % 86_400 // 1_800, minlength=48) / len(days) * 48
    np.testing.assert_allclose(share, daily_rate(), atol=0.12)


def test_a_few_users_submit_most() -> None:
    counts = np.bincount(columns(synthetic.generate(50_000))["user"])
    assert counts[1] / counts[2] == pytest.approx(2**1.6, rel=0.1)


@needs_shared
def test_lublins_model_agrees_with_its_authors_program() -> None:
    """10,000 jobs for 256 processors that the program drew itself: the same shares and quantiles."""
    assert SHARED is not None
    theirs = columns(swf.read(SHARED / "traces" / "lublin-model" / "lublin_256.swf.gz"))
    ours = columns(synthetic.generate(10_000, processors=256, load=1.057))
    measures: dict[str, Callable[[dict[str, IntArray]], float]] = {
        "serial": lambda c: float(np.mean(c["size"] == 1)),
        "powers of two": lambda c: float(np.mean((c["size"] & (c["size"] - 1)) == 0)),
        "log of sizes": lambda c: float(np.log2(c["size"]).mean()) / 10,
        "log of run times": lambda c: float(np.log(c["run"]).mean()) / 10,
        "their spread": lambda c: float(np.log(c["run"]).std()) / 10,
        "median": lambda c: float(np.log(np.median(c["run"]))) / 10,
    }
    for name, measure in measures.items():
        assert measure(ours) == pytest.approx(measure(theirs), abs=0.015), name


# ------------------------------------------------------------------ what is refused


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: synthetic.generate(0),
        lambda: synthetic.generate(10, processors=0),
        lambda: synthetic.generate(10, load=0),
        lambda: synthetic.generate(10, load=float("nan")),
        lambda: synthetic.generate(10_000, processors=1, load=1e-6),
        lambda: synthetic.generate(10, seed=-1),
        lambda: synthetic.common(10, largest=0),
        lambda: Sizes(serial=1.5),
        lambda: HyperGamma(a1=0),
        lambda: synthetic.generate(10, model=Model(run_times=HyperGamma(longest=0))),
        lambda: LogNormal(sigma=-1),
        lambda: Estimates(least=0),
        lambda: Users(count=0),
    ],
)
def test_arguments_out_of_bounds(wrong: Callable[[], object]) -> None:
    with pytest.raises(InputError):
        wrong()
