"""Run all benchmarks, or those that are named: ``python -m benchmarks batch placement``."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

HERE = Path(__file__).parent
NAMES = sorted(path.stem for path in HERE.glob("*.py") if not path.stem.startswith(("_", "peer")))


def main(names: list[str]) -> int:
    unknown = set(names) - set(NAMES)
    if unknown:
        print(f"unknown benchmark {', '.join(sorted(unknown))}; there are: {', '.join(NAMES)}", file=sys.stderr)
        return 2
    for name in names or NAMES:
        print(f"== {name}", flush=True)
        import_module(f"benchmarks.{name}").main()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
