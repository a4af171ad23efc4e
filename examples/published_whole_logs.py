"""FIFO and backfilling over whole logs, beside the figures of HPC-workload-optimizer (2026).

Source: README and docs/validation/batsim-agreement.md of ErenAri/HPC-workload-optimizer, which checked its FIFO against
Batsim. Its backfilling is not textbook EASY: a job counts as ending when it really does, there are no extra processors,
and in (A) a pass whose first job starts lets everything in that fits. Printed are mean wait (s), 95th percentiles of
wait (s) and bounded slowdown, utilisation (%) and makespan (s), each with the published value in parentheses.

    python examples/published_whole_logs.py SDSC-SP2-1998-4.2-cln.swf.gz HPC2N-2002-2.2-cln.swf.gz

Both logs are in the Parallel Workloads Archive.
"""

from __future__ import annotations

import sys

import numpy as np

from gnomon.api import Cluster, Run, Scenario, Work, parse_policy, simulate
from gnomon.traces import swf

A = "easy:extra=no,ends=actual,after-start=fill"
B = "easy:extra=no,ends=actual,candidates=actual"

POLICIES = {
    "FIFO": "fcfs",
    "EASY (A)": A,
    "EASY (B)": B,
    "Conservative": "conservative:ends=actual",
    "SJF (A)": f"sjf+{A}",
    "LJF (A)": f"ljf+{A}",
}

PUBLISHED = {
    128: {
        "FIFO": ("1552128", "5103921", "56784.93", "76.8", "68440542"),
        "EASY (A)": ("34010", "176154", "585.27", "83.3", ""),
        "EASY (B)": ("22882", "", "275.73", "83.3", ""),
        "Conservative": ("28708", "133802", "550.82", "83.4", ""),
        "SJF (A)": ("61673", "57386", "144.14", "80.1", ""),
        "LJF (A)": ("78385", "170704", "466.27", "83.3", ""),
    },
    240: {"FIFO": ("16189", "68219", "286.98", "59.6", "109256855")},
}
"""By the machine's processors (SDSC-SP2: 128, HPC2N: 240) and policy, as :func:`figures`; empty: not published."""

S = 10**9


def jobs(path: str) -> Work:
    """The jobs of a log whose wait, run time and processors are known."""
    work = swf.read(path)
    return work.select(np.flatnonzero(work.usable & (work.recorded_wait_ns >= 0)))


def replay(work: Work, name: str) -> Run:
    """The whole log on its machine under one of the policies; jobs run on beyond their estimates."""
    machine = Cluster.of_processors(work.processors or 0)
    return simulate(Scenario(machine, work, parse_policy(POLICIES[name]), kill_at_limit=False), compiled=True)


def figures(run: Run) -> tuple[str, ...]:
    """What was published, with as many digits. The bounded slowdown here has a bound of 60 s and no floor of 1."""
    work, start_ns = run.scenario.work, run.outcome.start_ns
    wait, ran = (start_ns - work.submit_ns) / S, work.duration_ns / S
    metrics = run.metrics()
    return (
        f"{wait.mean():.0f}",
        f"{np.percentile(wait, 95):.0f}",
        f"{np.percentile((wait + ran) / np.maximum(ran, 60), 95):.2f}",
        f"{100 * metrics['utilisation']['cpu']:.1f}",
        f"{metrics['makespan_s']:.0f}",
    )


def main(paths: list[str]) -> None:
    """Print the table."""
    for path in paths:
        work = jobs(path)
        print(f"{path}: {len(work)} jobs, {work.processors} processors")
        for name, published in PUBLISHED[work.processors or 0].items():
            pairs = zip(figures(replay(work, name)), published, strict=True)
            print(f"  {name:14}", *(f"{f'{own} ({theirs})':>24}" for own, theirs in pairs))


if __name__ == "__main__":
    main(sys.argv[1:])
