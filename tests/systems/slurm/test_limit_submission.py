"""Limits at submission."""

import pytest

from gnomon.systems.slurm.limit_submission import Submission, refusal_text
from gnomon.systems.slurm.limits import Times
from tests.systems.slurm.accounting import Books, Job, books, cpus, recorded


def reason(made: Books, job: Job, tres: dict[str, int], tasks: int = 1) -> str:
    found = Submission(made.limits, job, tres, tasks=tasks).finding
    return found.reason if found else ""


@pytest.mark.golden
def test_the_recorded_refusal_of_one_job_too_many() -> None:
    (reply,) = recorded("assoc-jobs-limits")["replies"]
    made = books("modify user carol set MaxSubmitJobs=2")
    for _ in range(2):
        job = Job("carol", "chem")
        assert reason(made, job, cpus(1)) == ""
        made.tree.submit(job)
    assert refusal_text(reason(made, Job("carol", "chem"), cpus(1))) == reply["text"]


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("modify user alice set MaxSubmit=3", "AssocMaxSubmitJobLimit"),
        ("modify account phys set GrpSubmit=3", "AssocGrpSubmitJobsLimit"),
        ("modify qos normal set GrpSubmit=3", "QOSGrpSubmitJobsLimit"),
        ("modify qos normal set MaxSubmitPU=3", "QOSMaxSubmitJobPerUserLimit"),
        ("modify qos normal set MaxSubmitJobsPerAccount=3", "MaxSubmitJobsPerAccount"),
    ],
)
def test_tasks_of_an_array_count_one_by_one(command: str, expected: str) -> None:
    made = books(command)
    assert reason(made, Job(), cpus(1), tasks=3) == ""
    assert reason(made, Job(), cpus(1), tasks=4) == expected
    made.tree.submit(Job(), 2)
    assert reason(made, Job(), cpus(1), tasks=2) == expected


def test_sizes_are_refused_only_by_a_qos_that_denies() -> None:
    base = (
        "add qos q MaxTRESPJ=cpu=4 GrpTRES=cpu=6 MaxTRESPU=cpu=5 MinTRES=cpu=2 MaxWall=60",
        "modify user alice set qos+=q",
    )
    lenient, strict = books(*base), books(*base, "modify qos q set flags=DenyOnLimit")
    for made, expected in ((lenient, ["", "", "", "", ""]), (strict, None)):
        got = [
            reason(made, Job(qos="q", limit_min=30), cpus(7)),
            reason(made, Job(qos="q", limit_min=30), cpus(6)),
            reason(made, Job(qos="q", limit_min=30), cpus(5)),
            reason(made, Job(qos="q", limit_min=30), cpus(1)),
            reason(made, Job(qos="q", limit_min=90), cpus(3)),
        ]
        assert got == (
            expected
            or [
                "QOSMaxCpuPerUserLimit",
                "QOSMaxCpuPerUserLimit",
                "QOSMaxCpuPerJobLimit",
                "QOSMinCpuNotSatisfied",
                "QOSMaxWallDurationPerJobLimit",
            ]
        )


def test_limits_of_associations_deny_too_under_such_a_qos() -> None:
    made = books(
        "modify qos normal set flags=DenyOnLimit",
        "modify user alice set MaxTRES=cpu=4 MaxWall=60",
        "modify account phys set GrpTRES=mem=5000 GrpTRESMins=cpu=100",
    )
    assert reason(made, Job(limit_min=10), cpus(5)) == "AssocMaxCpuPerJobLimit"
    assert reason(made, Job(limit_min=10), {"cpu": 1, "mem": 6000, "node": 1}) == "AssocGrpMemLimit"
    assert reason(made, Job(limit_min=90), cpus(1)) == "AssocMaxWallDurationPerJobLimit"
    assert reason(made, Job(limit_min=50), cpus(3)) == "AssocGrpCPUMinutesLimit"


def test_a_job_without_a_time_limit_gets_that_of_the_policy() -> None:
    times = {"batch": Times(most=600, default=30)}
    made = books("add qos q MaxWall=120", "modify user alice set qos+=q MaxWall=60", times=times)
    assert Submission(made.limits, Job(), cpus(1)).limit_min == 60
    assert Submission(made.limits, Job(qos="q"), cpus(1)).limit_min == 120  # the QOS overrides
    assert Submission(made.limits, Job("bob"), cpus(1)).limit_min is None  # the partition's, when it starts
    assert Submission(made.limits, Job(limit_min=5), cpus(1)).limit_min == 5
    assert Submission(made.limits, Job(limit_min=-1), cpus(1)).limit_min == -1


def test_every_partition_is_asked() -> None:
    made = books("add qos small GrpSubmit=0", partition_qos={"p": "small"})
    assert reason(made, Job(partitions=("batch",)), cpus(1)) == ""
    assert reason(made, Job(partitions=("batch", "p")), cpus(1)) == "QOSGrpSubmitJobsLimit"


def test_without_enforcement_all_is_taken() -> None:
    made = books("modify user alice set MaxSubmit=0", enforce="associations")
    assert reason(made, Job(), cpus(1)) == ""
