"""The jobs of a dataflow run, as its driver tells of them in the log.

Source: ``say`` of :mod:`gnomon.control.batch.driver`, rows of the kind EVENT.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gnomon.engine.log import Kind, Log


@dataclass(slots=True)
class JobRun:
    """A job by its number in the plan. Times ns, -1: not ended; ``error``: why it failed, empty if it did not."""

    number: int
    name: str
    start_ns: int
    end_ns: int = -1
    error: str = ""

    @property
    def status(self) -> str:
        """RUNNING, SUCCEEDED or FAILED."""
        return "FAILED" if self.error else "SUCCEEDED" if self.end_ns >= 0 else "RUNNING"


def job_runs(log: Log) -> dict[int, JobRun]:
    """The jobs that were submitted, by number, in that order."""
    found: dict[int, JobRun] = {}
    for row in np.flatnonzero(log.kind == Kind.EVENT).tolist():
        facts, t_ns = log.details.get(row, {}), int(log.t_ns[row])
        if facts.get("reason") == "JobSubmitted":
            found[int(facts["job"])] = JobRun(int(facts["job"]), str(facts["message"]), t_ns)
        elif facts.get("reason") in ("JobEnded", "JobFailed"):
            job = found[int(facts["job"])]
            job.end_ns, job.error = t_ns, str(facts.get("message", ""))
    return found
