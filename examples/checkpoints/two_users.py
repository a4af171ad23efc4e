"""A quota, fair share, and first come, first served: how long each user waits, and how much of the cluster is used.

python examples/checkpoints/two_users.py
"""

from dataclasses import replace
from pathlib import Path

import numpy as np

from gnomon.api import Run, Scenario, parse_policy, simulate

HERE = Path(__file__).parent


def waits(run: Run) -> dict[str, float]:
    """The mean wait of each user, in minutes."""
    work = run.scenario.work
    wait = (run.outcome.first_start_ns - run.outcome.arrive_ns) / 60e9
    return {name: float(np.mean(wait[work.user == number])) for number, name in enumerate(work.users) if name}


def main() -> None:
    """Simulate each and print the table."""
    fair = Scenario.load(HERE / "fair-share.yaml")
    scenarios = {
        "quota of 25": Scenario.load(HERE / "quota.yaml"),
        "fair share": fair,
        "first come": replace(fair, policy=parse_policy("fcfs")),
    }
    print(f"{'':12}  {'ANA WAITS':>9}  {'BEN WAITS':>9}  {'ALL DONE':>8}  {'CPU USED':>8}")
    for name, scenario in scenarios.items():
        run = simulate(scenario)
        facts, wait = run.metrics(), waits(run)
        used, done = facts["utilisation"]["cpu"], facts["makespan_s"] / 60
        print(f"{name:12}  {wait['ana']:7.1f} m  {wait['ben']:7.1f} m  {done:6.0f} m  {used:8.1%}")


if __name__ == "__main__":
    main()
