"""What sbatch says when it does not submit a job: its words and its exit code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

WRONG_OPTION: Final = 255
"""``exit(-1)`` of slurm_process_option_or_exit."""
WRONG: Final = 1
"""``exit(error_exit)``, ``fatal``, and refusals of slurmctld."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """``text``: what is printed, without a last line break; ``rc``: the exit code; ``controller``: said by slurmctld
    (which the job would have reached), not by sbatch itself."""

    text: str
    rc: int
    controller: bool = False


class RefusedError(Exception):
    """Ends the reading of a submission with a :class:`Refusal`; never leaves this package."""

    def __init__(self, text: str, rc: int = WRONG_OPTION, *, controller: bool = False) -> None:
        super().__init__(text)
        self.refusal = Refusal(text, rc, controller)


def error(text: str, rc: int = WRONG_OPTION) -> RefusedError:
    """``sbatch: error: …`` and an exit."""
    return RefusedError(f"sbatch: error: {text}", rc)


def fatal(text: str) -> RefusedError:
    """``sbatch: fatal: …``, which always ends with 1."""
    return RefusedError(f"sbatch: fatal: {text}", WRONG)


def invalid(option: str) -> RefusedError:
    """``sbatch: error: Invalid --option specification``."""
    return error(f"Invalid --{option} specification")


def rejected(reason: str) -> RefusedError:
    """What slurmctld answers, as sbatch prints it."""
    return RefusedError(f"sbatch: error: Batch job submission failed: {reason}", WRONG, controller=True)
