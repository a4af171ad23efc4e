"""Limits before and after the choice of nodes: recorded cases, the order of the checks, what overrides what."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.systems.slurm.accounting.accounts import Accounts
from gnomon.systems.slurm.accounting.billing import Billing
from gnomon.systems.slurm.accounting.limit_reasons import tres_reason
from gnomon.systems.slurm.accounting.limits import Limits, Times, enforced
from gnomon.systems.slurm.accounting.sacctmgr import apply_commands
from gnomon.systems.slurm.accounting.tree import Tree
from gnomon.systems.slurm.accounting.usage import Usage
from tests.systems.slurm.accounting.recorded import Books, Job, books, cpus, recorded

CASES = [
    "assoc-grpcpu",
    "assoc-jobs-limits",
    "assoc-wall-and-minutes",
    "limits-queue-order",
    "partition-qos",
    "qos-grptres",
    "qos-maxtres-user",
]


def of_case(case: dict[str, Any]) -> Books:
    tree = Tree(apply_commands(Accounts(), case["accounting"]), partition_qos={"pq": "pqos"}, tracked=["gres/gpu"])
    usage = Usage(tree, Billing(), half_life_s=7 * 86400)
    return Books(tree, usage, Limits(tree, usage, enforced("associations,limits,qos,safe")))


def option(args: list[str], name: str) -> str:
    found = re.search(rf"(?:^| )-{name} ?(\S+)", " ".join(args))
    return found[1] if found else ""


Recorded = tuple[Job, dict[str, int], dict[str, Any]]


def jobs_of(case: dict[str, Any]) -> dict[str, Recorded]:
    """The jobs by name, with what they ask for and what was recorded of them."""
    asked = {step["args"][step["args"].index("-J") + 1]: step["args"] for step in case["steps"]}
    jobs: dict[str, Recorded] = {}
    for row in case["jobs"]:
        args, partition = asked[row["name"]], row["partition"]
        job = Job(row["user"], row["account"], row["qos"], partition, (partition,), int(option(args, "t")))
        count = int(option(args, "n"))
        jobs[row["name"]] = (job, cpus(count, nodes=-(-count // 8)), row)
    return jobs


def events_of(jobs: dict[str, Recorded]) -> list[tuple[float, str, str]]:
    """When which job ends and starts; of what happens at one time the ends come first."""
    found = [(row[f"{what}_s"], what, name) for name, (_, _, row) in jobs.items() for what in ("end", "start")]
    return sorted(one for one in found if one[0] is not None)


def limit_reasons(row: dict[str, Any]) -> list[str]:
    return [reason for reason in row["reasons"] if reason not in ("Priority", "Resources")]


@pytest.mark.golden
@pytest.mark.parametrize("name", CASES)
def test_recorded_starts_are_allowed(name: str) -> None:
    case = recorded(name)
    made, jobs = of_case(case), jobs_of(case)
    for at, what, key in events_of(jobs):
        job, tres, _ = jobs[key]
        if what == "end":
            made.end(job, int(at))
        else:
            assert made.limits.before(job) == made.limits.after(job, tres) == "", key
            made.start(job, tres, at=int(at))


@pytest.mark.golden
@pytest.mark.parametrize("name", CASES)
def test_who_waits_for_a_limit_does_so_for_the_recorded_reason(name: str) -> None:
    case = recorded(name)
    made, jobs = of_case(case), jobs_of(case)
    events = events_of(jobs)
    checked = set()
    for (at, what, key), following in zip(events, [*(one[0] for one in events[1:]), 1e9], strict=True):
        job, tres, _ = jobs[key]
        made.end(job, int(at)) if what == "end" else made.start(job, tres, at=int(at))
        if following - at < 1.0:
            continue  # more happens at this moment
        for other, (waiting, asks, row) in jobs.items():
            waits = row["submit_s"] < following and (row["start_s"] or 1e9) >= following
            if waits and limit_reasons(row):
                assert (made.limits.before(waiting) or made.limits.after(waiting, asks)) == limit_reasons(row)[-1], (
                    other
                )
                checked.add(other)
    assert checked == {key for key, (_, _, row) in jobs.items() if limit_reasons(row)}


def test_nothing_is_checked_that_is_not_enforced() -> None:
    made = books("modify account phys set GrpJobs=0 GrpTRES=cpu=1", enforce="associations")
    assert made.limits.before(Job()) == made.limits.after(Job(), cpus(8)) == ""
    assert made.limits.before(Job("nobody")) == "InvalidAccount"
    assert books(enforce="").limits.before(Job("nobody")) == ""


def test_the_qos_overrides_the_association_and_the_partition_the_qos() -> None:
    commands = (
        "add qos own GrpTRES=cpu=8 MaxWall=60",
        "add qos part MaxWall=30",
        "modify user alice set qos+=own GrpTRES=cpu=2 MaxWall=5 MaxTRES=cpu=4",
    )
    made = books(*commands, partition_qos={"p": "part"})
    job = Job(qos="own", limit_min=60)
    assert made.limits.before(job) == ""  # MaxWall=60 of the QOS, not 5 of the association
    assert made.limits.after(job, cpus(4)) == ""
    assert made.limits.after(job, cpus(8)) == "AssocMaxCpuPerJobLimit"  # only GrpTRES is overridden
    inside = Job(qos="own", partition="p", limit_min=60)
    assert made.limits.before(inside) == "QOSMaxWallDurationPerJobLimit"
    over = books(*commands, "modify qos own set flags=OverPartQOS", partition_qos={"p": "part"})
    assert over.limits.before(inside) == ""


def test_a_limit_on_one_resource_does_not_override_that_on_another() -> None:
    made = books(
        "add qos own GrpTRES=cpu=100", "modify user alice set qos+=own", "modify account phys set GrpTRES=cpu=2,node=1"
    )
    job = Job(qos="own")
    assert made.limits.after(job, cpus(8)) == ""
    assert made.limits.after(job, cpus(8, nodes=2), (0, 1)) == "AssocGrpNodeLimit"


def test_all_that_holds_is_found_in_slurms_order() -> None:
    made = books(
        "add qos q GrpJobs=0 MaxWall=10 MaxTRESPerUser=cpu=2 GrpTRES=cpu=3",
        "modify user alice set qos+=q MaxJobs=0",
        "modify account phys set GrpJobs=0 GrpTRES=mem=1G",
    )
    job = Job(qos="q", limit_min=20)
    found = list(made.limits.findings_before(job))
    assert [one.reason for one in found] == ["QOSGrpJobsLimit", "QOSMaxWallDurationPerJobLimit", "AssocMaxJobsLimit"]
    assert [one.place for one in found] == ["QOS q", "QOS q", "user alice in account phys"]
    after = list(made.limits.findings_after(job, cpus(4)))
    assert [one.reason for one in after] == ["QOSGrpCpuLimit", "QOSMaxCpuPerUserLimit", "AssocGrpMemLimit"]
    assert (after[1].place, after[1].limit, after[1].resource) == ("user alice in QOS q", "MaxTRESPerUser", "cpu")
    assert (after[1].allowed, after[1].used, after[1].asked) == (2, 0, 4)


def test_limits_of_jobs_by_user_and_account_in_a_qos() -> None:
    made = books("add qos q MaxJobsPU=1 MaxJobsPA=2", "modify user alice,bob,carol set qos+=q")
    made.start(Job(qos="q"), cpus(1))
    assert made.limits.before(Job(qos="q")) == "QOSMaxJobsPerUserLimit"
    assert made.limits.before(Job("bob", qos="q")) == ""
    made.start(Job("bob", qos="q"), cpus(1))
    assert made.limits.before(Job("bob", qos="q")) == "MaxJobsPerAccount"
    assert made.limits.before(Job("carol", "chem", "q")) == ""


def test_limits_on_gpus_have_the_reasons_of_gres() -> None:
    made = books(
        "add qos q GrpTRES=gres/gpu=6 MaxTRESPU=gres/gpu=4 MaxTRESPJ=gres/gpu=3 MinTRES=gres/gpu=1",
        "modify user alice,bob set qos+=q",
    )

    def reason(user: str, gpus: int) -> str:
        return made.limits.after(Job(user, qos="q"), cpus(1, **{"gres/gpu": gpus}) if gpus else cpus(1))

    assert reason("alice", 4) == "QOSMaxGRESPerJob"
    assert reason("alice", 0) == "QOSMinGRES"
    made.start(Job(qos="q"), cpus(1, **{"gres/gpu": 3}))
    assert reason("alice", 2) == "QOSMaxGRESPerUser"
    made.start(Job("bob", qos="q"), cpus(1, **{"gres/gpu": 2}))
    assert reason("bob", 2) == "QOSGrpGRES"
    assert reason("bob", 1) == ""


@pytest.mark.golden
def test_a_queue_full_of_limits_as_recorded() -> None:
    """Twelve jobs submitted one after the other to slurmctld 22.05.8, and the reasons of those that waited."""
    made = books(
        "add qos rm GrpTRESRunMins=cpu=60",
        "add qos ru MaxTRESPerAccount=cpu=6 MaxJobsPerAccount=3",
        "add qos pu MaxTRESPerUser=node=1,mem=900",
        "modify user alice,bob set qos+=rm,ru,pu",
    )
    made.usage.period(0)
    submitted = [
        ("alice", "rm", 4, 1, 10, ""),
        ("bob", "rm", 4, 1, 10, "QOSGrpCPURunMinutesLimit"),
        ("alice", "rm", 8, 1, 10, "QOSGrpCPURunMinutesLimit"),
        ("alice", "ru", 3, 1, 5, ""),
        ("alice", "ru", 2, 1, 5, ""),
        ("bob", "ru", 4, 1, 2, "MaxJobsPerAccount"),  # once the next one runs
        ("bob", "ru", 1, 1, 1, ""),
        ("bob", "ru", 1, 1, 1, "MaxJobsPerAccount"),
        ("alice", "pu", 2, 2, 1, "QOSMaxNodePerUserLimit"),
        ("alice", "pu", 8, 1, 1, ""),
        ("alice", "pu", 2, 1, 1, "QOSMaxMemoryPerUser"),
        ("alice", "pu", 8, 1, 1, "QOSMaxMemoryPerUser"),
    ]
    waiting = []
    for node, (user, qos, count, nodes, minutes, reason) in enumerate(submitted):
        job = Job(user, qos=qos, limit_min=minutes)
        tres = {"cpu": count, "mem": 100 * count, "node": nodes, "billing": count}
        on = tuple(range(node, node + nodes))
        found = made.limits.before(job, nodes) or made.limits.after(job, tres, on)
        assert (found == "") == (reason == "")
        if reason:
            waiting.append((job, tres, on, reason))
        else:
            made.start(job, tres, on)
    for job, tres, on, reason in waiting:
        assert (made.limits.before(job, len(on)) or made.limits.after(job, tres, on)) == reason


def test_nodes_that_are_in_use_already_do_not_count_again() -> None:
    made = books("modify account phys set GrpTRES=node=2")
    made.start(Job(), cpus(4, nodes=2), (0, 1))
    assert made.limits.after(Job("bob"), cpus(4, nodes=1), (1,)) == ""
    assert made.limits.after(Job("bob"), cpus(4, nodes=1), (2,)) == "AssocGrpNodeLimit"


def test_per_node_limits_are_of_the_average() -> None:
    made = books("modify user alice set MaxTRESPerNode=cpu=4")
    assert made.limits.after(Job(), cpus(8, nodes=2)) == ""
    assert made.limits.after(Job(), cpus(10, nodes=2)) == "AssocMaxCpuPerNode"


@pytest.mark.parametrize(("enforce", "reason"), [("limits", ""), ("safe", "AssocGrpCPUMinutesLimit")])
def test_safe_looks_ahead_to_the_end_of_the_job(enforce: str, reason: str) -> None:
    made = books("modify account phys set GrpTRESMins=cpu=30", enforce=enforce, half_life_s=0)
    made.usage.period(0)
    assert made.limits.after(Job(limit_min=5), cpus(8)) == reason  # 40 CPU-minutes
    assert made.limits.after(Job(limit_min=3), cpus(8)) == ""
    running = Job("bob", limit_min=2)
    made.start(running, cpus(8))
    assert made.limits.after(Job(limit_min=2), cpus(8)) == reason  # 16 of its own and 16 that bob's may use
    made.usage.period(60)
    made.end(running, 60)
    assert made.limits.after(Job(limit_min=2), cpus(8)) == ""  # 8 were used
    hog = Job("bob", limit_min=100)
    made.start(hog, cpus(8), at=60)
    made.end(hog, 60 + 180)
    assert made.limits.after(Job(limit_min=1), cpus(1)) == "AssocGrpCPUMinutesLimit"  # 32 were: that is over


def test_run_minutes_are_of_what_runs_now() -> None:
    made = books("modify account phys set GrpTRESRunMins=cpu=100", enforce="limits")
    made.usage.period(0)
    made.start(Job("bob", limit_min=10), cpus(8))
    assert made.limits.after(Job(limit_min=10), cpus(4)) == "AssocGrpCPURunMinutesLimit"
    made.usage.period(300)
    assert made.limits.after(Job(limit_min=10), cpus(4)) == ""
    assert made.limits.after(Job(limit_min=60), cpus(2)) == "AssocGrpCPURunMinutesLimit"


def test_a_wall_limit_of_a_group_counts_what_has_run() -> None:
    made = books("modify account phys set GrpWall=10", enforce="limits", half_life_s=0)
    made.usage.period(0)
    first = Job(limit_min=60)
    assert made.limits.before(first) == ""
    made.start(first, cpus(1))
    made.usage.period(540)
    assert made.limits.before(Job("bob", limit_min=5)) == ""
    made.usage.period(600)
    assert made.limits.before(Job("bob", limit_min=5)) == "AssocGrpWallLimit"


def test_the_factor_of_a_qos_stretches_limits_and_weighs_time() -> None:
    made = books(
        "add qos big LimitFactor=2",
        "add qos half UsageFactor=0.5 flags=UsageFactorSafe",
        "modify user alice set qos+=big,half MaxTRES=cpu=4 MaxWall=60",
    )
    assert made.limits.after(Job(qos="big"), cpus(8)) == ""
    assert made.limits.after(Job(qos="big"), cpus(9)) == "AssocMaxCpuPerJobLimit"
    assert made.limits.before(Job(qos="half", limit_min=120)) == ""
    assert made.limits.before(Job(qos="half", limit_min=130)) == "AssocMaxWallDurationPerJobLimit"


def test_a_job_without_a_time_limit_is_taken_at_that_of_the_policy_or_the_partition() -> None:
    times = {"batch": Times(most=600, default=30)}
    made = books("modify account phys set GrpTRESMins=cpu=100", times=times, half_life_s=0)
    assert made.limits.after(Job(), cpus(4)) == "AssocGrpCPUMinutesLimit"  # 30 minutes
    assert made.limits.after(Job(), cpus(3)) == ""
    unlimited = books("modify user alice set MaxWall=60").limits
    assert unlimited.before(Job(limit_min=-1)) == "AssocMaxWallDurationPerJobLimit"
    assert unlimited.before(Job()) == ""


def test_the_least_of_the_limits_on_nodes_is_told_with_its_reason() -> None:
    limits = books(
        "add qos q MaxTRESPU=node=3",
        "modify user alice set qos+=q MaxTRES=node=2",
        "modify account phys set GrpNodes=2",
    ).limits
    of_qos, of_user, of_nobody = (limits.most_nodes(job) for job in (Job(qos="q"), Job(), Job("carol", "chem")))
    assert of_qos is not None
    assert of_user is not None
    assert (of_qos.allowed, of_qos.reason) == (2, "AssocGrpNodeLimit")  # MaxTRES is overridden by the QOS
    assert (of_user.allowed, of_user.reason) == (2, "AssocMaxNodePerJobLimit")
    assert of_nobody is None
    assert [limits.before(Job(), nodes) for nodes in (1, 2, 3)] == ["", "", "AssocMaxNodePerJobLimit"]


def test_a_threshold_of_fair_share() -> None:
    made = books(
        "add qos q UsageThreshold=0.5 flags=EnforceUsageThreshold",
        "modify user alice set qos+=q",
        fairshare=lambda job: 0.4,
    )
    found = made.limits.below_threshold(Job(qos="q"))
    assert found is not None
    assert found.reason == "QOSUsageThreshold"
    assert made.limits.below_threshold(Job()) is None


def test_minutes_that_are_used_up_end_a_job_unless_it_was_safe_to_start() -> None:
    commands = ("modify account phys set GrpTRESMins=cpu=10",)
    made = books(*commands, enforce="limits", half_life_s=0)
    made.usage.period(0)
    job = Job(limit_min=60)
    made.start(job, cpus(4))
    made.usage.period(120)
    assert made.limits.time_out(job, cpus(4), 2) == ""
    made.usage.period(180)
    assert made.limits.time_out(job, cpus(4), 3) == (
        "Job is at or exceeds association (acc=phys/user=(null)/part=(null)) group max TRES(cpu) minutes of 10 with 12"
    )
    safe = books(*commands, half_life_s=0)
    assert safe.limits.time_out(job, cpus(4), 300) == ""


@pytest.mark.parametrize(
    ("scope", "family", "resource", "reason"),
    [
        ("Assoc", "grp_tres", "cpu", "AssocGrpCpuLimit"),
        ("Assoc", "grp_tres", "mem", "AssocGrpMemLimit"),
        ("Assoc", "grp_tres_run_mins", "mem", "AssocGrpMemRunMinutes"),
        ("Assoc", "max_tres_mins_per_job", "cpu", "AssocMaxCpuMinutesPerJobLimit"),
        ("Assoc", "grp_tres_mins", "billing", "AssocGrpBillingMinutes"),
        ("QOS", "grp_tres_mins", "cpu", "QOSGrpCPUMinutesLimit"),
        ("QOS", "max_tres_per_job", "mem", "QOSMaxMemoryPerJob"),
        ("QOS", "max_tres_per_user", "license/matlab", "QOSMaxLicensePerUser"),
        ("QOS", "max_tres_per_account", "gres/gpu:a100", "MaxGRESPerAccount"),
        ("QOS", "max_tres_run_mins_per_user", "cpu", "MaxCpuRunMinsPerUser"),
        ("QOS", "min_tres_per_job", "cpu", "QOSMinCpuNotSatisfied"),
        ("QOS", "min_tres_per_job", "node", "QOSMinNode"),
        ("QOS", "max_tres_per_node", "node", "QOSMaxUnknownPerNode"),
        ("Assoc", "grp_tres", "vmem", "AssocGrpUnknown"),
    ],
)
def test_reasons(scope: str, family: str, resource: str, reason: str) -> None:
    assert tres_reason(scope, family, resource) == reason


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(1, 6)), max_size=20), st.integers(1, 12), st.integers(1, 12))
def test_no_limit_is_ever_passed(tries: list[tuple[int, int]], group: int, each: int) -> None:
    """Whatever is tried, what the checks allow keeps within the limits."""
    made = books(
        f"add qos q MaxTRESPU=cpu={each}",
        f"modify account phys set GrpTRES=cpu={group}",
        "modify user alice,bob set qos+=q",
    )
    running: list[Job] = []
    for number, count in tries:
        if number == 5 and running:
            made.end(running.pop(0), 0)
            continue
        job = Job(("alice", "bob")[number % 2], qos="q", limit_min=10)
        if not made.limits.before(job) and not made.limits.after(job, cpus(count)):
            made.start(job, cpus(count))
            running.append(job)
        phys = made.tree.find("", "phys")
        assert phys is not None
        assert phys.used.tres[0] <= group
        assert all(used.tres[0] <= each for used in made.tree.qos["q"].by_user.values())
