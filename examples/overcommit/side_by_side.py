"""Who goes when a node runs out of memory, under the rules of five systems: one row a scenario.

    python examples/overcommit/side_by_side.py

Other scenario files of the same kind may be named instead.
"""

import sys
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from gnomon.api import Kind, Reason, Run, Scenario, simulate

HERE = Path(__file__).parent
SCENARIOS = ("kubernetes", "kernel", "ray", "yarn", "slurm", "honest-requests")
COLUMNS = ("SCENARIO", "FIRST TO GO", "AT", "WHY", "ATTEMPTS LOST", "WORK LOST", "FAILED FOR GOOD")


def clock(ns: int) -> str:
    """A time as hours, minutes, seconds."""
    minutes, seconds = divmod(round(ns / 10**9), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{seconds:02}"


def cells(name: str, run: Run) -> tuple[str, ...]:
    """The row of one run."""
    log, ids = run.log, run.scenario.work.ids
    lost = np.flatnonzero(log.kind == Kind.FAIL)
    final = [str(ids[log.subject[row]]) for row in lost if log.details.get(int(row), {}).get("final")]
    work = clock(int(log.value[lost].sum()))
    if not len(lost):
        return name, "nobody", "-", "-", "0", work, "nobody"
    first = lost[0]
    why = Reason(log.reason[first]).name.replace("_", " ").lower()
    who, at = str(ids[log.subject[first]]), clock(int(log.t_ns[first]))
    return name, who, at, why, str(len(lost)), work, ", ".join(final) or "nobody"


def table(rows: Iterable[tuple[str, ...]]) -> str:
    """Columns side by side, as wide as they have to be."""
    lines = [COLUMNS, *rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines)


def main(paths: list[str]) -> None:
    """Simulate each scenario and print the table."""
    files = [Path(path) for path in paths] or [HERE / f"{name}.yaml" for name in SCENARIOS]
    print(table(cells(file.stem, simulate(Scenario.load(file))) for file in files))


if __name__ == "__main__":
    main(sys.argv[1:])
