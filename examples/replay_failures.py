"""Replay a year of real node failures over made-up work: what they cost, with and without checkpoints.

    python examples/replay_failures.py

512 nodes fail as those of a machine at Los Alamos did in 2003 (examples/data/README.md). The work is synthetic, with a
fixed seed: jobs of 1 to 256 whole nodes that run from one to 96 hours, about as much of it as keeps 60 % of the nodes
busy, first come first served with EASY backfilling. A job that loses a node starts again, from its beginning or from
its last checkpoint; the three runs see the same failures and the same jobs.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from gnomon.api import (
    Checkpoint,
    Cluster,
    Limits,
    Node,
    Recovery,
    Resources,
    Scenario,
    Shape,
    Task,
    Work,
    parse_policy,
    simulate,
)
from gnomon.traces import failures

TRACE = Path(__file__).parent / "data" / "LANL-system20-2003.csv.gz"
HOUR = 3_600 * 10**9
DAY = 24 * HOUR
NODES, DAYS, BUSY = 512, 365, 0.6
BEGIN = 396 * DAY  # 1 January 2003, counted from the day on which the machine went into production

RECOVERIES = {
    "none": Recovery(),
    "every 24 h": Recovery(checkpoint=Checkpoint(24 * HOUR, HOUR // 12, HOUR // 6)),
    "every 6 h": Recovery(checkpoint=Checkpoint(6 * HOUR, HOUR // 12, HOUR // 6)),
    "every 2 h": Recovery(checkpoint=Checkpoint(2 * HOUR, HOUR // 12, HOUR // 6)),
}


def jobs(recovery: Recovery, seed: int = 20) -> Iterator[Task]:
    """One task a node; the tasks of a job start together, and are lost together."""
    draws = np.random.default_rng(seed)
    node = Shape(Resources(cpu_milli=4_000))
    asked, number = 0.0, 0
    while asked < BUSY * NODES * DAYS * 24:
        width, hours = 2 ** int(draws.integers(9)), float(np.exp(draws.uniform(0, np.log(96))))
        submit = int(draws.uniform(0, DAYS * DAY))
        for rank in range(width):
            yield Task(f"j{number}-{rank}", node, submit, int(hours * HOUR), job=f"j{number}", recovery=recovery)
        asked, number = asked + width * hours, number + 1


def scenario(recovery: Recovery) -> Scenario:
    cluster = Cluster(tuple(Node(f"n{i}", Resources(cpu_milli=4_000)) for i in range(NODES)))
    outages = failures.read(TRACE, system=20)
    faults = failures.failures_of(outages, cluster, offset_ns=BEGIN, window_ns=DAYS * DAY)
    until = Limits(until_ns=DAYS * DAY)
    work = Work.from_tasks(jobs(recovery))
    return Scenario(cluster, work, parse_policy("easy"), kill_at_limit=False, limits=until, faults=faults)


def main() -> None:
    print("checkpoint     done  available    busy  goodput  lost node-h  slowdown")
    for name, recovery in RECOVERIES.items():
        run = simulate(scenario(recovery))
        found = run.metrics()
        told = found["recovery"]
        print(
            f"{name:12} {found['done']:6,} {told['availability']['nodes']:10.3%} {found['utilisation']['cpu']:7.2%} "
            f"{found['goodput']:8.3%} {told['work_lost_s'] / 3600:12,.0f} {found['bounded_slowdown']['mean']:9.2f}"
        )


if __name__ == "__main__":
    main()
