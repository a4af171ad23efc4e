"""Priority policies on windows of 1,024 jobs, beside Table V of the RLScheduler paper.

D. Zhang, D. Dai, Y. He, F. S. Bao, B. Xie, "RLScheduler: An Automated HPC Batch Job Scheduler Using Reinforcement
Learning", SC 2020. Its scheduler commits to the best job of the queue and waits for it, whoever arrives meanwhile; its
backfilling fixes a deadline once, when that job begins to wait. Printed is the mean over ten windows of the average
bounded slowdown, and in parentheses the published value.

    python examples/published_rlscheduler.py lublin_256.swf SDSC-SP2-1998-4.2-cln.swf.gz

The first log is in the authors' repository (DIR-LAB/deep-batch-scheduler, data/), the second in the Parallel Workloads
Archive.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from gnomon.api import NEVER, Cluster, Policy, Run, Scenario, View, Work, parse_policy, simulate
from gnomon.traces import swf

WINDOW = 1024
FIRST_JOBS = (1981, 2756, 4299, 8850, 3316, 2714, 5228, 7762, 4022, 7085)
"""Where the windows begin: uniform draws from the first 10,000 jobs, the same for every log."""

COMMIT = "head=committed,instants=single"
BACKFILL = "+easy:reservation=keep,extra=no,boundary=strict,scan=submit"

PUBLISHED = {
    256: {"FCFS": (7273.77, 235.82), "SJF": (277.35, 73.31), "F1": (258.37, 75.07)},
    128: {"FCFS": (1727.54, 1595.12), "SJF": (2680.55, 2167.84), "F1": (1232.06, 1098.22)},
}
"""By the machine's processors (Lublin-1: 256, SDSC-SP2: 128): without and with backfilling."""

S = 10**9


def f1(view: View, tasks: Any) -> Any:
    """The order F1 of D. Carastan-Santos and R. Y. de Camargo, SC 2017; ``tasks`` are indices, times are in ns."""
    estimate_s, submit_s = view.estimate_ns[tasks] / S, view.submit_ns[tasks] / S
    return np.log10(estimate_s) * view.cpu_milli[tasks] / 1000 + 870 * np.log10(submit_s)


def policy(name: str, *, backfill: bool) -> Policy:
    """The scheduler of the paper with one of its orders."""
    order = "sjf" if name == "SJF" else "fcfs"
    chosen = parse_policy(f"{order}:{COMMIT}{BACKFILL if backfill else ''}")
    return chosen.with_order(f1) if name == "F1" else chosen


def jobs(path: str) -> Work:
    """A log's jobs by their number, as the paper takes them: a run time below 0 is 10 s, jobs that ran for 0 s go."""
    work = swf.read(path, size="max")
    run = np.where(work.duration_ns == NEVER, 10 * S, work.duration_ns)
    estimate = np.where(work.estimate_ns == NEVER, run, work.estimate_ns)
    rows = np.argsort(work.ids, kind="stable")
    return replace(work, duration_ns=run, estimate_ns=estimate, usable=run > 0).select(rows[run[rows] > 0])


def windows(work: Work, chosen: Policy) -> Iterator[Run]:
    """The run of each window, alone on the empty machine."""
    machine = Cluster.of_processors(work.processors or 0)
    for first in FIRST_JOBS:
        part = work.select(np.arange(first, first + WINDOW))
        yield simulate(Scenario(machine, part, chosen, kill_at_limit=False), compiled=True)


def main(paths: list[str]) -> None:
    """Print the table."""
    for path in paths:
        work = jobs(path)
        print(f"{path}: {len(work)} jobs, {work.processors} processors")
        for name, published in PUBLISHED[work.processors or 0].items():
            for backfill in (False, True):
                runs = windows(work, policy(name, backfill=backfill))
                mean = np.mean([run.metrics()["bounded_slowdown"]["mean"] for run in runs])
                print(f"  {name:5}{'backfilling' if backfill else '':12}{mean:10.2f} ({published[backfill]:.2f})")


if __name__ == "__main__":
    main(sys.argv[1:])
