"""Measure, keep and show: ``python -m benchmarks batch placement``, or all without a name.

Each benchmark's rows are printed as they come, kept in ``benchmarks/results.json``, and written into the tables of
docs/performance.md and README.md. ``--write`` alone measures nothing and writes the tables of what is kept.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

from benchmarks import results

HERE = Path(__file__).parent
NAMES = sorted(path.stem for path in HERE.glob("*.py") if not path.stem.startswith(("_", "peer", "results")))


def main(names: list[str]) -> int:
    unknown = set(names) - {*NAMES, "--write"}
    if unknown:
        print(f"unknown benchmark {', '.join(sorted(unknown))}; there are: {', '.join(NAMES)}", file=sys.stderr)
        return 2
    for name in [name for name in names if name != "--write"] if names else NAMES:
        measure(name)
    results.write()
    return 0


def measure(name: str) -> None:
    module = import_module(f"benchmarks.{name}")
    print(f"\n{name}\n\n{results.head(module.COLUMNS)}", flush=True)
    rows = []
    for row in module.rows():
        rows.append(row)
        print(results.line(results.cells(module.COLUMNS, row)), flush=True)
    if rows:
        results.keep(name, rows)
    else:
        print("what it reads is not at hand; nothing is kept")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
