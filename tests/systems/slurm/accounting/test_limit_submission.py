"""Limits at submission."""

import pytest

from gnomon.systems.slurm.accounting.limit_submission import POLICY, Submission
from gnomon.systems.slurm.accounting.limits import Times
from tests.systems.slurm.accounting.recorded import Books, Job, books, cpus, recorded


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
    refusal = reason(made, Job("carol", "chem"), cpus(1))
    assert reply["text"] == f"sbatch: error: {refusal}\nsbatch: error: Batch job submission failed: {POLICY}"


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


PARTITIONS = {"batch": Times(most=30, default=7), "nodef": Times(), "nodef20": Times(most=20), "three": Times(20, 3)}


@pytest.mark.golden
@pytest.mark.parametrize(
    ("user", "qos", "partitions", "minutes"),
    [
        ("carol", "normal", ("batch",), 7),  # more than her MaxWall: she waits
        ("alice", "long", ("batch",), 7),
        ("carol", "normal", ("nodef",), 5),
        ("carol", "normal", ("nodef20",), 5),
        ("alice", "long", ("nodef",), 60),
        ("alice", "long", ("nodef20",), 60),  # more than the partition allows: she waits
        ("alice", "normal", ("nodef",), None),
        ("carol", "normal", ("nodef", "batch"), 5),
        ("carol", "normal", ("batch", "nodef"), 7),
        ("carol", "normal", ("three", "batch"), 3),
        ("alice", "minutes", ("nodef",), 10),  # MaxTRESMins=cpu=20 of a QOS that denies, two CPUs
    ],
)
def test_the_time_limit_of_a_job_that_names_none_as_recorded(
    user: str, qos: str, partitions: tuple[str, ...], minutes: int | None
) -> None:
    made = books(
        "add qos long MaxWall=60",
        "add qos minutes MaxTRESMins=cpu=20 GrpTRESMins=cpu=30 flags=DenyOnLimit",
        "modify user alice set qos+=long,minutes",
        "modify user carol set MaxWall=5",
        times=PARTITIONS,
    )
    account = "chem" if user == "carol" else "phys"
    job = Job(user, account, qos, partitions[0], partitions)
    assert Submission(made.limits, job, cpus(2)).limit_min == minutes
    job.limit_min = minutes
    assert made.limits.before(job) == ("AssocMaxWallDurationPerJobLimit" if (user, minutes) == ("carol", 7) else "")


def test_a_limit_that_was_named_stays() -> None:
    limits = books("modify user alice set MaxWall=60", times=PARTITIONS).limits
    assert [Submission(limits, Job(limit_min=given), cpus(1)).limit_min for given in (5, 90, -1)] == [5, 90, -1]


@pytest.mark.golden
@pytest.mark.parametrize(
    ("qos", "count", "minutes", "expected"),
    [
        ("strict", 8, 5, "QOSMaxCpuPerUserLimit"),
        ("strict", 5, 5, "QOSMaxCpuPerUserLimit"),
        ("strict", 1, 5, "QOSMinCpuNotSatisfied"),
        ("strict", 2, 20, "QOSMaxWallDurationPerJobLimit"),
        ("strict", 3, 5, ""),
        ("strict", 4, 5, ""),  # MaxTRES of the QOS overrides that of the user
        ("strict2", 2, 20, "QOSMaxCpuMinutesPerJobLimit"),
        ("strict2", 2, 5, ""),
        ("strict2", 4, 1, "AssocMaxCpuPerJobLimit"),
    ],
)
def test_refusals_of_a_qos_that_denies_as_recorded(qos: str, count: int, minutes: int, expected: str) -> None:
    made = books(
        "add qos strict MaxTRESPU=cpu=4 GrpTRES=cpu=6 MaxTRESPerJob=cpu=5 MaxWall=10 flags=DenyOnLimit MinTRES=cpu=2",
        "add qos strict2 MaxTRESMins=cpu=20 GrpTRESMins=cpu=30 flags=DenyOnLimit",
        "modify user alice set qos+=strict,strict2 MaxTRES=cpu=3",
    )
    assert reason(made, Job(qos=qos, limit_min=minutes), cpus(count)) == expected


def test_every_partition_is_asked() -> None:
    made = books("add qos small GrpSubmit=0", partition_qos={"p": "small"})
    assert reason(made, Job(partitions=("batch",)), cpus(1)) == ""
    assert reason(made, Job(partitions=("batch", "p")), cpus(1)) == "QOSGrpSubmitJobsLimit"


def test_without_enforcement_all_is_taken() -> None:
    made = books("modify user alice set MaxSubmit=0", enforce="associations")
    assert reason(made, Job(), cpus(1)) == ""
