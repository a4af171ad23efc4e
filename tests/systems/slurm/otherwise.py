"""What the model does otherwise than a recording of Slurm, and why: docs/fidelity.md tells it."""

from typing import Final

WORKLOADS: Final[dict[str, str]] = {
    "operators-104": "jobs that end just when a promise begins, after one was suspended",
    "refusals-100": "in which of its partitions a job that starts at once is looked at first",
    "sharing-102": "which jobs share a row of cores when others have left it",
}
"""Random workloads (``test_golden.py``) that the model plays otherwise, and what it does not have."""

PLACES: Final[dict[str, set[str]]] = {
    "allmem": {"50", "69"},
    "block": {"18", "58", "65"},
    "core-nomem": {"59", "76"},
    "gpu": {"34", "--gpus=7 -n1 -c2"},
    "linear": {"69"},
    "lln": {"19", "41", "73"},
    "maxmem": {"2"},
    "threads-cpu": {"43"},
    "tree": {"25", "70"},
}
"""Jobs (``select/test_recorded.py``) that the model places otherwise. Nearly all ask for --ntasks-per-socket, or for
several CPUs a task on nodes of different sizes, with cores left over that belong to no task."""

COMMAND_LINES: Final[dict[str, str]] = {
    "--begin=TODAY": "sbatch wants it in small letters",
}
"""Command lines (``sbatch/test_submission.py``) that the model answers otherwise, by their first argument, and why."""
