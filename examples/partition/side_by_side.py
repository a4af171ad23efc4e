"""One node is cut off, or loses power, under the constants of several systems: one row a scenario.

    python examples/partition/side_by_side.py
    python examples/partition/side_by_side.py --power-off

Times count from the fault. Other scenario files of the same kind may be named instead.
"""

import argparse
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np

from gnomon.api import Fault, Kind, Run, Scenario, simulate

HERE = Path(__file__).parent
SCENARIOS = ("kubernetes-1.31", "kubernetes-1.32", "stateful-set", "fenced", "slurm", "ray", "yarn")
COLUMNS = ("SCENARIO", "NOTICED", "STARTED ANEW", "RAN TWICE FOR", "WORK LOST", "DONE AT")


def clock(seconds: float | None) -> str:
    """A length of time as minutes and seconds."""
    return "-" if seconds is None else f"{round(seconds) // 60}:{round(seconds) % 60:02}"


def after_fault(run: Run, kind: Kind, task: int = -1) -> float | None:
    """Seconds from the fault to the first row of a kind after it (about a task)."""
    log = run.log
    fault = np.flatnonzero(log.kind == Kind.FAULT)[0]
    found = np.flatnonzero((log.kind == kind) & ((log.subject == task) | (task < 0)))
    found = found[found > fault]
    return float(log.t_ns[found[0]] - log.t_ns[fault]) / 1e9 if len(found) else None


def cells(name: str, run: Run) -> tuple[str, ...]:
    """The row of one run."""
    task = list(run.scenario.work.ids).index("report")
    facts = run.metrics()["recovery"]
    noticed, again = after_fault(run, Kind.NOTICE), after_fault(run, Kind.START, task)
    times = (noticed, again, facts["ran_twice"]["overlap_s"] or None, facts["work_lost_s"])
    return name, *map(clock, times), clock(float(run.outcome.end_ns[task]) / 1e9)


def powered_off(scenario: Scenario) -> Scenario:
    """The scenario with nodes that lose power where they were cut off."""
    return replace(scenario, faults=tuple(replace(fault, kind=Fault.CRASH) for fault in scenario.faults))


def table(rows: Iterable[tuple[str, ...]]) -> str:
    """Columns side by side, as wide as they have to be."""
    lines = [COLUMNS, *rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines)


def main(arguments: list[str] | None = None) -> None:
    """Simulate each scenario and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", type=Path, nargs="*", default=[HERE / f"{name}.yaml" for name in SCENARIOS])
    parser.add_argument("--power-off", action="store_true")
    chosen = parser.parse_args(arguments)
    scenarios = [(file.stem, Scenario.load(file)) for file in chosen.files]
    if chosen.power_off:
        scenarios = [(name, powered_off(scenario)) for name, scenario in scenarios]
    print(table(cells(name, simulate(scenario)) for name, scenario in scenarios))


if __name__ == "__main__":
    main()
