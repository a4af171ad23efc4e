"""Backfill: who may go ahead, and that looking at plain jobs in the kernel is looking at each."""

import random
from pathlib import Path

import pytest

from gnomon.systems.slurm.schedulers.backfill import Backfill
from tests.systems.slurm.played import conf, starts

pytestmark = pytest.mark.unit


def test_a_short_job_goes_ahead_where_it_delays_nobody(tmp_path: Path) -> None:
    """Eight of nine CPUs' worth are taken for ten minutes; the wide job waits for them; a short one fits beside."""
    session = [
        "@0s a sbatch -N1 -n6 -t 10 --wrap 'sleep 600'",
        "@1s b sbatch -N1 -n8 -t 10 --wrap 'sleep 600'",
        "@2s c sbatch -N1 -n2 -t 5 --wrap 'sleep 300'",
        "@3s d sbatch -N1 -n2 -t 60 --wrap 'sleep 3600'",
    ]
    began = starts(tmp_path, conf(nodes=1), session)
    assert began[2][0] < 60  # ends before the wide one may begin
    assert began[1][0] == pytest.approx(600, abs=60)
    assert began[3][0] >= began[1][0] + 600  # would have delayed it


def test_without_backfill_nobody_goes_ahead(tmp_path: Path) -> None:
    session = [
        "@0s a sbatch -N1 -n6 -t 10 --wrap 'sleep 600'",
        "@1s b sbatch -N1 -n8 -t 10 --wrap 'sleep 600'",
        "@2s c sbatch -N1 -n2 -t 5 --wrap 'sleep 300'",
    ]
    began = starts(tmp_path, conf("SchedulerType=sched/builtin", nodes=1), session)
    assert began[2][0] > began[1][0]


def test_a_job_is_promised_a_start_within_the_window_only(tmp_path: Path) -> None:
    """With a window of ten minutes the wide job is promised nothing after an hour: the long one goes first."""
    session = [
        "@0s a sbatch -N1 -n6 -t 60 --wrap 'sleep 3600'",
        "@1s b sbatch -N1 -n8 -t 10 --wrap 'sleep 600'",
        "@2s c sbatch -N1 -n2 -t 300 --wrap 'sleep 18000'",
    ]
    assert starts(tmp_path, conf(nodes=1), session)[2][0] >= 3600
    short = starts(tmp_path, conf("SchedulerParameters=bf_window=10", nodes=1), session)
    assert short[2][0] < 120


@pytest.mark.parametrize("seed", range(12))
def test_the_kernel_starts_whom_a_look_at_each_starts(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same sessions with everything looked at job by job, and with the kernel for plain jobs."""
    draw = random.Random(seed)
    session = []
    for i in range(18):
        wide = draw.choice((f"-n{draw.randint(1, 16)}", f"-N{draw.randint(1, 4)} -n{4 * draw.randint(1, 6)}"))
        limit, part = draw.choice((1, 2, 5, 10, 30)), draw.random()
        more = draw.choice(("", "", "", "--exclusive", "--mem-per-cpu=1000", "-x n2", "-w n3"))
        seconds = max(1, int(limit * 60 * part))
        session.append(f"@{7 * i}s u{i % 3} sbatch {wide} -t {limit} {more} --wrap 'sleep {seconds}'")
    lines = draw.choice(((), ("PriorityType=priority/multifactor", "PriorityWeightJobSize=1000")))
    text = conf(*lines, nodes=4)
    quick = starts(tmp_path, text, session)
    assert len(quick) > 10
    before = Backfill.__init__

    def in_detail(self: Backfill, *args: object) -> None:
        before(self, *args)  # type: ignore[arg-type]
        self.look_in_detail()

    monkeypatch.setattr(Backfill, "__init__", in_detail)
    assert starts(tmp_path, text, session) == quick
