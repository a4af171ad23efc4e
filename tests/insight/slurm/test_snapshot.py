"""Jobs of a real cluster, as scontrol shows them: the model comes to the reasons that its squeue shows."""

from __future__ import annotations

import pytest

from gnomon.api import explain
from gnomon.insight.explain import Explanation
from gnomon.systems.slurm.scenario import read_scenario
from tests.insight.slurm.desk import fields
from tests.shared import ROOT

SHOWN = ROOT / "tests" / "data" / "slurm"
FILES = [
    *(
        f"printed/live/scontrol-show-{name}"
        for name in ("job.txt.gz", "nodes.txt", "partition.txt", "reservation.txt", "config.txt")
    ),
    "accounting/sacctmgr-show-assoc.txt",
    "accounting/sacctmgr-show-qos.txt",
]


def explained(job: str) -> Explanation:
    return explain(job, read_scenario([str(SHOWN / name) for name in FILES]))


@pytest.mark.parametrize(
    ("job", "reason", "change"),
    [
        ("82", "QOSMaxJobsPerUserLimit", "MaxJobsPerUser"),
        ("85", "BeginTime", "--begin"),
        ("94", "Priority", "--licenses"),
    ],
)
def test_the_reason_is_that_of_squeue(job: str, reason: str, change: str) -> None:
    found = explained(job)
    assert (found.state, found.native) == ("waiting", reason)
    assert change in fields(found)
    assert not any("squeue shows" in note for note in found.notes)
    assert "has waited" in found.summary
