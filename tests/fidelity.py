"""Writes docs/fidelity.md, and the same small table into README.md, from the recorded cases: ``make fidelity``.

The cases of the repository are judged anew. Those that were recorded besides, of which the repository has a choice,
are judged where they are at hand, in ``../shared/golden``.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import median
from typing import Any, Final

from gnomon.api.verify import Case, Verdict, read_case, verify
from gnomon.systems.slurm.golden import APART_S, LATE_S, TOLERANCE_S
from tests.shared import ROOT, SHARED
from tests.systems.slurm.otherwise import COMMAND_LINES, PLACES, WORKLOADS
from tests.systems.slurm.select.replaying import is_of_placement

PAGE: Final = ROOT / "docs" / "fidelity.md"
README: Final = ROOT / "README.md"
HERE: Final = ROOT / "tests" / "golden"
DATA: Final = ROOT / "tests" / "data" / "slurm"
ALL: Final = SHARED / "golden" if SHARED else None

ALL_COLUMN: Final = "all recorded"
"""The column that needs the cases outside the repository. It is the last of its table."""
SUMMARY: Final = ("engine", "the model repeats", "in the repository", ALL_COLUMN)
BESIDE: Final = "## Recorded cases that are not in the repository"
"""The section that needs them. It is the last of the page."""

KUBERNETES: Final[Mapping[str, str]] = {
    "fit": "requests against what nodes have left",
    "taint": "taints and tolerations",
    "nodesel": "node selectors",
    "nodeaff": "node affinity",
    "podaff": "affinity and anti-affinity of pods",
    "spread": "topology spread constraints",
    "score": "points of nodes, by plugin",
    "preempt": "preemption: nodes, victims, disruption budgets",
    "queue": "the order of pods, gates",
    "misc": "ports, images, cordons, node names",
    "mixed": "random clusters and pods with many of these",
}
"""The first word of a case's name, and what it stands for."""

SPARK: Final[Mapping[str, str]] = {
    "log": "facts of an event log, exactly: stages, attempts, quantiles, bytes, failures",
    "pools": "FIFO and FAIR pools: order of launches, ends of jobs within 10 %",
    "predict": "makespans on 2 and 4 slots from the log of one slot, within 10 %",
}
"""The second word of a case's name, and what it stands for."""
ENGINES = {"kubernetes": "kube-scheduler", "slurm": "slurmctld", "spark": "Spark"}
"""What the engine of a system is called, by the page of the system."""


@dataclass(frozen=True)
class Judged:
    """A recorded case and what came of it."""

    stem: str
    case: Case
    verdict: Verdict


@dataclass(frozen=True)
class Recorded:
    """All judged cases. ``everywhere``: with those outside the repository; None where they are not at hand."""

    here: Sequence[Judged]
    random: Sequence[Judged]
    everywhere: Sequence[Judged] | None
    not_modelled: Mapping[str, int]

    @cached_property
    def makespans(self) -> list[tuple[str, Mapping[str, Any], Mapping[str, Any]]]:
        """Of each prediction of Spark the case, and by slots what was recorded and what was foretold."""
        found = [one for one in self.here if one.stem.startswith("spark-predict-")]
        return [
            (one.stem.removeprefix("spark-predict-"), one.case["outcome"]["by_slots"], one.verdict.outcome["by_slots"])
            for one in found
        ]

    @cached_property
    def errors(self) -> list[float]:
        """How far each foretold makespan is from the recorded one, without its sign."""
        return [abs(error(theirs[n], ours[n])) for _, theirs, ours in self.makespans for n in ("2", "4")]


def percent(part: float, sign: str = "-") -> str:
    """A part of one in per cent, as pages write it; ``+``: a sign is wanted always."""
    return f"{100 * part:{sign}z.1f} %"


def error(recorded: Mapping[str, float], foretold: Mapping[str, float]) -> float:
    return foretold["makespan_s"] / recorded["makespan_s"] - 1


def judge() -> Recorded:
    """Let the model play every case once."""
    here = [judged(path) for system in ("kubernetes", "slurm", "spark") for path in cases(HERE / system)]
    random = [judged(path) for path in cases(DATA / "recorded")]
    if ALL is None:
        return Recorded(here, random, None, {})
    known = {one.stem: one for one in here}
    everywhere, not_modelled = [], {}
    for folder in sorted(path for path in ALL.iterdir() if path.is_dir()):
        if (HERE / folder.name).is_dir():
            everywhere += [judged(path, known) for path in cases(folder)]
        else:
            not_modelled[folder.name] = len(cases(folder))
    return Recorded(here, random, everywhere, not_modelled)


def cases(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.json"))


def judged(path: Path, known: Mapping[str, Judged] | None = None) -> Judged:
    """A case judged, unless the same is known."""
    case = read_case(path)
    same = (known or {}).get(path.stem)
    return same if same and same.case == case else Judged(path.stem, case, verify(case, path))


# ------------------------------------------------------------------ tables


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of Markdown."""
    return "".join(f"| {' | '.join(row)} |\n" for row in (head, *rows)).replace("|\n", f"|\n{'|---' * len(head)}|\n", 1)


def count(found: Iterable[Judged] | None) -> str:
    """How many of some cases agree."""
    if found is None:
        return "not at hand"
    answers = [one.verdict.agrees for one in found]
    if not answers:
        return "-"
    none = answers.count(None)
    return f"{answers.count(True)} of {len(answers)}" + (f", {none} not modelled" if none else "")


def counts(recorded: Recorded, system: str, name: str = "") -> tuple[str, str]:
    """How many cases of a system agree, in the repository and of all; ``name``: those of one kind."""

    def those(found: Iterable[Judged]) -> list[Judged]:
        return [one for one in found if one.verdict.system == system and name in ("", kind(one))]

    return count(those(recorded.here)), count(None if recorded.everywhere is None else those(recorded.everywhere))


def by_kind(recorded: Recorded, system: str, words: Mapping[str, str]) -> str:
    """A table of the kinds of a system's cases."""
    every = (*recorded.here, *(recorded.everywhere or ()))
    names = dict.fromkeys((*words, *(kind(one) for one in every if one.verdict.system == system)))
    rows = [(name, words.get(name, ""), *counts(recorded, system, name)) for name in names]
    return table(("kind", "what", "in the repository", ALL_COLUMN), rows)


def kind(one: Judged) -> str:
    """What a case is about, as the names and fields of its system's recordings tell."""
    if one.verdict.system == "slurm":
        return str(one.case["kind"]).removeprefix("random ")
    return one.stem.removeprefix("spark-").partition("-")[0]


def version(recorded: Recorded, system: str) -> str:
    """The versions of the real engine."""
    every = (*recorded.here, *recorded.random, *(recorded.everywhere or ()))
    return ", ".join(sorted({str(one.case["version"]).lstrip("v") for one in every if one.verdict.system == system}))


def summary(recorded: Recorded) -> str:
    """The small table, which README.md has too."""
    scheduler = f"kube-scheduler {version(recorded, 'kubernetes')}"
    controller = f"slurmctld {version(recorded, 'slurm')}"
    driver = f"Spark {version(recorded, 'spark')}"
    random = count(recorded.random)
    foretold = f"error {percent(median(recorded.errors))} in the median, {percent(max(recorded.errors))} at worst"
    every = "every attempt: nodes refused and why, points, node, victims, message"
    sessions = "sessions: order, nodes, times, states, reasons, replies"
    rows = [
        (scheduler, every, *counts(recorded, "kubernetes")),
        (controller, sessions, *counts(recorded, "slurm")),
        (controller, "the same of random workloads", random, random),
        (driver, "facts of event logs", *counts(recorded, "spark", "log")),
        (driver, "order of launches and ends of jobs under pools", *counts(recorded, "spark", "pools")),
        (driver, f"makespans on 2 and 4 slots: {foretold}", *counts(recorded, "spark", "predict")),
    ]
    return table(SUMMARY, rows)


def differing(found: Iterable[Judged]) -> str:
    """The cases that do not agree and those that are not modelled, with the reason and the first difference."""
    rows = []
    for one in found:
        if not one.verdict.agrees:
            why = "not modelled" if one.verdict.agrees is None else WORKLOADS.get(one.stem, "not known")
            rest = len(one.verdict.differences) - 1
            first = one.verdict.differences[0].replace("|", "\\|") + (f" (and {rest} more)" if rest else "")
            rows.append((one.stem, why, first))
    if not rows:
        return "None.\n"
    return table(("case", "what the model does not have", "the first difference"), rows)


# ------------------------------------------------------------------ the page


def page(recorded: Recorded, date: str) -> str:
    """The whole of docs/fidelity.md."""
    sections = (
        head(recorded, date),
        kubernetes(recorded),
        slurm(recorded),
        spark(recorded),
        besides(),
        beside(recorded),
    )
    return "\n".join(sections)


def head(recorded: Recorded, date: str) -> str:
    return f"""# Fidelity: may the model be trusted?

Written by `make fidelity` on {date}. A case is a recording of the real engine: what it was given and what it did. The
model is given the same and compared; there is no tolerance but those stated here. The column *in the repository* can be
had by anyone, case by case: `gnomon verify tests/golden` and `gnomon verify tests/data/slurm/recorded`.

{summary(recorded)}
The cases were known while the model was built: they show that its rules are the engine's where they reach, not how
often a case of yours would agree. Nearest to that are the random workloads, and the makespans, which are foretold
without the recordings that they are compared with. Where Slurm's own programs are installed, `make conformance` gives
the same commands to both.

## What does not agree, or is not modelled

{differing((*recorded.here, *recorded.random))}"""


def kubernetes(recorded: Recorded) -> str:
    return f"""## Kubernetes: kube-scheduler {version(recorded, "kubernetes")}

Compared is all that a recording has of each attempt, without tolerance: the nodes that are left, each plugin's final
points, each refusal with its reasons, the set of best nodes and the node, the text of the event, the nominated node and
the victims. The recorder bound pods and removed victims at once; ties went to the smallest name.

{by_kind(recorded, "kubernetes", KUBERNETES)}
Not recorded, and tested by rules and samples alone: controllers, kubelets and the descheduler in time.
"""


def slurm(recorded: Recorded) -> str:
    sessions = [one for one in recorded.here if one.verdict.system == "slurm"]
    kinds = [(name, count(found)) for name, found in grouped(sessions).items()]
    themes = [
        (name, str(found[0].case["about"]).removesuffix("."), count(found))
        for name, found in grouped(recorded.random).items()
    ]
    return f"""## Slurm: slurmctld {version(recorded, "slurm")}

A real slurmctld and slurmdbd with a slurmd for each node; jobs sleep. Each case ran twice and was kept only if both
runs gave the same. Compared are, exactly, nodes, states, exit codes, runs of requeued jobs and replies of commands; the
order of starts that are more than {APART_S} s apart; pending reasons where both runs saw the same, without Priority and
Resources, which come and go; starts within {TOLERANCE_S} s (or by how much the two runs differed and 1 s more), within
{LATE_S:g} s where jobs ended at a check of limits or a node died; ends within {LATE_S:g} s, Slurm's interval between
such checks. When in a second its schedulers wake is no input: where the usual times do not fit, those that the recorded
starts tell are taken. What squeue and the like printed meanwhile is not compared here.

Sessions, by kind:

{table(("kind", "in the repository"), kinds)}
Random workloads for small clusters, by theme:

{table(("theme", "what", "in the repository"), themes)}"""


def grouped(found: Iterable[Judged]) -> dict[str, list[Judged]]:
    """Cases by kind, in the order of their names."""
    groups: dict[str, list[Judged]] = {}
    for one in found:
        groups.setdefault(kind(one), []).append(one)
    return dict(sorted(groups.items()))


def spark(recorded: Recorded) -> str:
    makespans = [
        (name, *(cell for slots in ("2", "4") for cell in foretold(theirs[slots], ours[slots])))
        for name, theirs, ours in recorded.makespans
    ]
    errors = recorded.errors
    columns = [f"{what}, {slots} slots" for slots in (2, 4) for what in ("recorded", "foretold", "error")]
    return f"""## Spark {version(recorded, "spark")}

{by_kind(recorded, "spark", SPARK)}
Makespans in seconds. The model reads the event log of the run on one slot and nothing else. Recorded is the best of
several runs on a shared machine, in parentheses the longest.
The error of the {len(errors)} makespans is {percent(median(errors))} in the median, {percent(max(errors))} at worst.

{table(("case", *columns), makespans)}
The tasks slept: what this shows are the rules of order and slots. Tasks that compete for disks, memory or network keep
their recorded times on another cluster.
"""


def foretold(theirs: Mapping[str, Any], ours: Mapping[str, Any]) -> tuple[str, str, str]:
    recorded, longest = theirs["makespan_s"], max(theirs["all_makespans_s"])
    return f"{recorded:.2f} ({longest:.2f})", f"{ours['makespan_s']:.2f}", percent(error(theirs, ours), sign="+")


def besides() -> str:
    """What else there is to go by, a line each."""
    jobs = sum(is_of_placement(event) for path in cases(DATA / "select") for event in read(path)["events"])
    lines = len(read(DATA / "sbatch" / "client-22.05.8.json"))
    return f"""## What else there is to go by

- Slurm's placement: of {jobs:,} random jobs on {len(cases(DATA / "select"))} recorded clusters, each asked with what
  the others hold there, {sum(map(len, PLACES.values()))} are placed otherwise, nearly all with --ntasks-per-socket or
  several CPUs a task.
- sbatch's own answers: {len(COMMAND_LINES)} of {lines} recorded command lines is answered otherwise
  ({", ".join(f"`{line}`: {why}" for line, why in COMMAND_LINES.items())}).
- [MapReduce](mapreduce.md): no recordings of this kind. Counters of a word count measured on Hadoop, worked examples
  by hand, and 1,000 random schedules of faults that end with the same bytes or a reason ([chaos.md](chaos.md)).
- FCFS and EASY: equal, job by job, to an independent reference on five archive logs and a million synthetic jobs.
- Published tables, repeated ([published.md](published.md)): six placement policies on a GPU cluster (USENIX ATC 2023),
  priority policies on windows of jobs (SC 2020), FIFO and backfilling over whole logs.
- What centres really did ([calibration.md](calibration.md)): waits under FCFS, EASY and Slurm as installed next to
  the recorded ones of five logs.
- Speed, and the peers that it is measured against ([performance.md](performance.md)), by `make bench`.
- Exact integers in the ledger; the same inputs and seed give the same log, byte for byte, compiled or not.
"""


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def beside(recorded: Recorded) -> str:
    """What only the cases outside the repository tell."""
    if recorded.everywhere is None:
        return f"{BESIDE}\n\nThey were not at hand when this page was written: it tells of `tests/golden` alone.\n"
    known = {one.stem for one in recorded.here}
    others = [one for one in recorded.everywhere if one.stem not in known]
    text = f"""{BESIDE}

The repository has a choice of the recorded cases. This page was written where all of them were at hand
(`../shared/golden`). Of those that the repository lacks {count(others)} agree.
"""
    if not all(one.verdict.agrees for one in others):
        text += f"\n{differing(others)}"
    if recorded.not_modelled:
        systems = ", ".join(f"{name} ({number} cases)" for name, number in recorded.not_modelled.items())
        text += f"\nRecorded, but of systems that are not modelled yet: {systems}.\n"
    return text


# ------------------------------------------------------------------ writing


def small_table(text: str) -> str:
    """The summary in a page."""
    found = re.search(rf"^\| {re.escape(' | '.join(SUMMARY))} \|\n(?:\|.*\n)+", text, re.MULTILINE)
    if found is None:
        raise ValueError(f"no table with the columns {', '.join(SUMMARY)}")
    return found[0]


def with_figures(text: str, table: str) -> str:
    """The page of a system with those lines of the small table that are about its engine."""
    first, rule, *rows = table.splitlines(keepends=True)

    def chosen(found: re.Match[str]) -> str:
        own = [row for row in rows if row.startswith(f"| {ENGINES[found[2]]} ")]
        return "".join((found[1], first, rule, *own, found[3]))

    return re.sub(r"(<!-- fidelity: (\w+) -->\n).*?(<!-- /fidelity -->)", chosen, text, flags=re.DOTALL)


def write(date: str) -> None:
    """Write the page, its first table into README.md, and its lines into the pages of systems."""
    text = page(judge(), date)
    PAGE.write_text(text, encoding="utf-8")
    readme = README.read_text(encoding="utf-8")
    README.write_text(readme.replace(small_table(readme), small_table(text)), encoding="utf-8")
    for name in ENGINES:
        path = PAGE.with_name(f"{name}.md")
        path.write_text(with_figures(path.read_text(encoding="utf-8"), small_table(text)), encoding="utf-8")


if __name__ == "__main__":
    write(sys.argv[1])
