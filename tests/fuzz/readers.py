"""The readers of files that are fuzzed: what each is given, and what it is called with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.fuzz import kept, reading


@dataclass(frozen=True)
class Reader:
    """``read`` is called with a folder where ``file`` is, and those of ``beside`` that an input has."""

    read: Callable[[Path], Any]
    file: str
    beside: tuple[str, ...] = ()


READERS: Final = {
    "yaml": Reader(reading.yaml, "any.yaml"),
    "scenario": Reader(
        reading.scenario,
        "scenario.yaml",
        ("nodes.yaml", "tasks.yaml", "work.csv", "objects.yaml", "slurm.conf", "a.session"),
    ),
    "kubernetes": Reader(reading.kubernetes, "objects.yaml", ("usage.csv", "change.yaml", "nodes.yaml")),
    "slurm-conf": Reader(reading.slurm_conf, "slurm.conf", ("gres.conf", "topology.conf", "nodes.conf", "parts.conf")),
    "slurm-accounts": Reader(reading.slurm_accounts, "accounts.txt"),
    "sbatch": Reader(reading.sbatch, "job.sh", ("jobs.session",)),
    "slurm-printed": Reader(reading.slurm_printed, "printed.txt", ("nodes.txt", "partitions.txt")),
    "sacct": Reader(reading.sacct, "sacct.txt"),
    "traces": Reader(reading.trace, "trace"),
    "failures": Reader(reading.failures, "failures.csv"),
    "spark": Reader(reading.spark, "log", ("spark-defaults.conf", "fairscheduler.xml")),
    "settings": Reader(reading.settings, "settings"),
    "words": Reader(reading.words, "words.txt"),
    "recognise": Reader(reading.recognise, "file"),
    "kept": Reader(kept.run, "scenario.yaml", kept.BESIDE),
    "journal": Reader(kept.journal, "journal"),
}
"""By name."""
