"""What was measured: rows kept in ``results.json`` with date, machine and versions, and the tables that pages show.

A benchmark is a module with ``COLUMNS``, how each field of a row is called and written, and ``rows()``, which measures
them one by one. A page shows a table between ``<!-- bench: NAME -->`` and ``<!-- /bench -->``.
"""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping
from datetime import date
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

Row = Mapping[str, Any]
Columns = Mapping[str, tuple[str, str]]
"""By the field of a row its title, and its form as ``str.format`` has it."""

ROOT = Path(__file__).resolve().parent.parent
FILE = Path(__file__).with_name("results.json")
PAGES = [ROOT / "docs" / f"{name}.md" for name in ("performance", "chaos")]
README = ROOT / "README.md"
SPEED = ("speed", "a CPU second", "against")
_TABLE = re.compile(r"(<!-- bench: (\w+) -->\n).*?(<!-- /bench -->)", re.DOTALL)
_SPEED = re.compile(rf"^\| {re.escape(' | '.join(SPEED))} \|\n(?:\|.*\n)+", re.MULTILINE)


def own_process(module: str, *arguments: object) -> Row:
    """What a benchmark measures in a process of its own: the last line that this prints."""
    command = [sys.executable, "-m", module, *map(str, arguments)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    row: Row = json.loads(done.stdout.splitlines()[-1])
    return row


def machine() -> str:
    """Where it is measured."""
    try:
        models = re.findall(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    except OSError:
        models = []
    model = models[0] if models else platform.processor() or platform.machine()
    return f"{model}, {os.cpu_count()} cores, {platform.system()}"


def versions() -> str:
    """What it is measured with."""
    packages = (f"{name} {version(name.lower())}" for name in ("NumPy", "Numba"))
    return ", ".join((f"Python {platform.python_version()}", *packages))


def read() -> dict[str, Any]:
    """All that was measured last, by benchmark."""
    found: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def keep(name: str, rows: Iterable[Row]) -> None:
    """Put the rows of one benchmark in the place of those before."""
    entry = {"date": date.today().isoformat(), "machine": machine(), "with": versions(), "rows": list(rows)}
    results = dict(sorted((read() | {name: entry}).items()))
    FILE.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def line(cells: Iterable[str]) -> str:
    """A line of a table of Markdown."""
    return f"| {' | '.join(cells)} |"


def head(columns: Columns) -> str:
    """The first two lines of a table."""
    return f"{line(title for title, _ in columns.values())}\n|{'---|' * len(columns)}"


def cells(columns: Columns, row: Row) -> list[str]:
    """A row as it is written; what was not measured is empty."""
    return ["" if (value := row.get(name)) is None else form.format(value) for name, (_, form) in columns.items()]


def table(name: str, entry: Mapping[str, Any]) -> str:
    """The table of a benchmark, with what a reader has to know of it."""
    columns: Columns = import_module(f"benchmarks.{name}").COLUMNS
    rows = [line(cells(columns, row)) for row in entry["rows"]]
    return "\n".join((head(columns), *rows, "", f"*{entry['date']}: {entry['machine']}; {entry['with']}.*", ""))


def filled(page: str, results: Mapping[str, Any]) -> str:
    """A page with the tables that it asks for."""
    page = _TABLE.sub(lambda found: f"{found[1]}{table(found[2], results[found[2]])}{found[3]}", page)
    return _SPEED.sub(lambda _: speed(results), page)


def speed(results: Mapping[str, Any]) -> str:
    """The small table of README.md."""

    def one(name: str, **fields: Any) -> Row:
        (found,) = (row for row in results[name]["rows"] if fields.items() <= row.items())
        return dict(found)

    million = 1_000_000
    fcfs, easy = (one("batch", jobs=million, policy=policy) for policy in ("fcfs", "easy"))
    pods, slurm = one("kubernetes", nodes=5_000), one("slurm", log="year", jobs=million)
    spark, mapreduce = (one("dataflow_overhead", case=f"{name}, combined") for name in ("Spark", "MapReduce"))
    peer = "{:.1f} × a plain Python peer"
    rows = [
        (f"{million:,} rigid jobs, FCFS", f"{fcfs['rate']:,} jobs", peer.format(fcfs["peer"])),
        (f"{million:,} rigid jobs, EASY", f"{easy['rate']:,} jobs", peer.format(easy["peer"])),
        ("Kubernetes, 5,000 nodes, all scored", f"{pods['plain']:,} pods", ""),
        (f"Slurm with backfill, 5,000 nodes, {million:,} jobs", f"{slurm['rate']:,} jobs", ""),
        (
            "a record in a simulated word count, Spark / MapReduce",
            "",
            f"{spark['times']:.1f} / {mapreduce['times']:.1f} × the time of a bare loop",
        ),
    ]
    return "\n".join((line(SPEED), "|---|---|---|", *map(line, rows), ""))


def write() -> None:
    """Write the tables into the pages and README.md."""
    results = read()
    for page in (*PAGES, README):
        page.write_text(filled(page.read_text(encoding="utf-8"), results), encoding="utf-8")
