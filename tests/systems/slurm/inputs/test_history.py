"""A month of sacct as a scenario: who submits what when, how long it runs, what becomes of it."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gnomon import api
from gnomon.model.resources import NEVER
from gnomon.systems.slurm.cluster.state import SECOND
from gnomon.systems.slurm.inputs.history import History, history
from gnomon.systems.slurm.read.sacct import read_parsable
from gnomon.systems.slurm.sbatch.request import GresRequest
from gnomon.systems.slurm.scenario import read_scenario
from tests.systems.slurm.read import printed

CLUSTER = """ClusterName=c
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=sched_interval=1,batch_sched_delay=1,bf_interval=1
PriorityType=priority/basic
NodeName=n[1-2] CPUs=4 CoresPerSocket=4 RealMemory=8000
PartitionName=batch Nodes=ALL Default=YES MaxTime=1-0
"""
HEADER = (
    "JobID|JobName|User|Account|Partition|QOS|Submit|Eligible|Start|End|ElapsedRaw|Timelimit|State|ReqCPUS|NNodes\n"
)


def job(number: str, cpus: int, submit: int, **more: str) -> str:
    """A row; times in seconds of a day."""

    def at(seconds: int | str) -> str:
        return (
            seconds
            if isinstance(seconds, str)
            else f"2026-01-01T{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
        )

    eligible, start, end = (more.get(key, "Unknown") for key in ("eligible", "start", "end"))
    times = [at(int(one) if one.isdigit() else one) for one in (eligible, start, end)]
    if eligible == "Unknown":
        times[0] = at(submit)
    ran = int(end) - int(start) if start.isdigit() and end.isdigit() else 0
    state, limit = more.get("state", "COMPLETED"), more.get("limit", "01:00:00")
    return "|".join(
        [
            number,
            f"j{number}",
            "eve",
            "acct",
            "batch",
            "normal",
            at(submit),
            *times,
            str(ran),
            limit,
            state,
            str(cpus),
            "1",
        ]
    )


@pytest.fixture
def month(tmp_path: Path) -> list[Path]:
    (tmp_path / "slurm.conf").write_text(CLUSTER)
    rows = [
        job("1", 4, 0, start="0", end="600"),
        job("2", 4, 10, start="10", end="310"),
        job("3", 4, 20, start="310", end="340"),
        job("4", 4, 30, end="200", state="CANCELLED by 1001"),
        job("5", 1, 40, eligible="1000", start="1000", end="1060"),
        job("6", 4, 2000, start="2000", end="2088", limit="00:01:00", state="TIMEOUT"),
        job("7_1", 1, 3000, start="3000", end="3010"),
        job("7_2", 1, 3000, start="3000", end="3020"),
        job("7_[3-4]", 1, 3000, state="PENDING"),
    ]
    (tmp_path / "sacct.txt").write_text(HEADER + "\n".join(rows) + "\n")
    return [tmp_path / "slurm.conf", tmp_path / "sacct.txt"]


def test_jobs_are_submitted_when_they_were_and_run_as_long_as_they_ran(month: list[Path]) -> None:
    scenario = read_scenario(month)
    work, run = scenario.work, api.simulate(scenario)
    what = {work.id(task): task for task in range(len(work))}
    start, end = run.outcome.first_start_ns // SECOND, run.outcome.end_ns // SECOND
    assert list(what) == ["1", "2", "3", "4", "5", "6", "7_1", "7_2", "7_3", "7_4"]
    assert end[what["1"]] - start[what["1"]] == 600
    assert start[what["3"]] in (311, 312)  # after the second has gone, by the schedulers' clocks
    assert end[what["3"]] - start[what["3"]] == 30


def test_what_was_cancelled_while_it_waited_never_starts(month: list[Path]) -> None:
    scenario = read_scenario(month)
    run = api.simulate(scenario)
    assert run.outcome.first_start_ns[3] == NEVER
    assert run.outcome.end_ns[3] == 200 * SECOND


def test_nobody_starts_before_being_eligible(month: list[Path]) -> None:
    run = api.simulate(read_scenario(month))
    assert 1000 <= run.outcome.first_start_ns[4] / SECOND <= 1002


def test_what_ran_into_its_limit_does_so_again(month: list[Path]) -> None:
    scenario = read_scenario(month)
    run = api.simulate(scenario)
    assert scenario.work.duration_ns[5] == NEVER
    assert 60 <= (run.outcome.end_ns[5] - run.outcome.first_start_ns[5]) / SECOND <= 90  # looked at each 30 s


def test_recorded_waits_are_kept_for_calibration(month: list[Path]) -> None:
    scenario = read_scenario(month)
    assert (scenario.work.recorded_wait_ns // SECOND).tolist()[:6] == [0, 0, 290, -1, 960, 0]
    found = api.calibrate(api.simulate(scenario))
    assert found.compared == 7
    assert found.within_1_min == 1.0


def test_what_is_guessed_is_told(month: list[Path]) -> None:
    notes = {(note.what, note.field): note.count for note in read_scenario(month).work.notes}
    assert notes["guess", "State"] == 2  # of an array, two tasks that had not started
    assert notes["guess", "Eligible"] == 1
    assert notes["guess", "accounts"] == 1


def recorded() -> tuple[History, dict[str, int]]:
    found, work = history(read_parsable(printed.path("sacct/sacct-P.txt")))
    return found, {work.id(task): task for task in range(len(work))}


def test_requests_are_what_was_asked_for() -> None:
    found, at = recorded()
    (gpu,) = found.requests(at["75"])
    assert (gpu.tasks, gpu.mem_per_node_mb, gpu.gres) == (2, 2000, (GresRequest("gpu", "a100", 4),))
    (licensed,) = found.requests(at["93"])
    assert licensed.licenses == (("matlab", 8),)
    (exclusive,) = found.requests(at["97"])
    assert (exclusive.exclusive, exclusive.features, exclusive.tasks) == ("node", "amd", 1)
    (wide,) = found.requests(at["98"])
    assert (wide.nodes_min, wide.tasks, wide.mem_per_cpu_mb) == (12, 160, 1000)


def test_arrays_and_heterogeneous_jobs_are_submitted_together() -> None:
    found, at = recorded()
    assert found.group(at["66_4"]) == [at[f"66_{task}"] for task in range(1, 9)]
    (array,) = found.requests(at["66_4"])
    assert (array.array, array.array_limit) == (tuple(range(1, 9)), 3)
    assert [request.partitions for request in found.requests(at["100+1"])] == [("batch",), ("bigmem",), ("gpu",)]


def test_the_recorded_cluster_does_much_the_same_again() -> None:
    accounts = [printed.DATA.parent / "accounting" / f"sacctmgr-{name}" for name in ("dump.cfg", "show-qos.txt")]
    scenario = read_scenario([printed.CONF, printed.path("sacct/sacct-P.txt"), *accounts])
    scenario = replace(scenario, limits=replace(scenario.limits, until_ns=410 * SECOND))
    found = api.calibrate(api.simulate(scenario))
    assert found.start_kendall_tau_b is not None
    assert found.start_kendall_tau_b > 0.7
    assert found.within_1_min is not None
    assert found.within_1_min > 0.9


def test_a_requeued_job_is_there_once_for_each_run() -> None:
    found, work = history(read_parsable(printed.path("sacct/sacct-P-D.txt")))
    names = [work.id(task) for task in range(len(work))]
    assert {"85", "85#2", "52", "52#2"} <= set(names)
    assert len(set(names)) == len(names) == len(found.row)
    assert np.all(np.diff(work.submit_ns) >= 0)


def test_jobs_keep_their_ids() -> None:
    accounts = [printed.DATA.parent / "accounting" / f"sacctmgr-{name}" for name in ("dump.cfg", "show-qos.txt")]
    scenario = read_scenario([printed.CONF, printed.path("sacct/sacct-P.txt"), *accounts])
    scenario = replace(scenario, limits=replace(scenario.limits, until_ns=60 * SECOND))
    shown = {line.split("|")[0] for line in api.simulate(scenario).view("sacct -X -P -n -o JobID").splitlines()}
    assert {"49", "59", "66_1", "67_1", "78", "100+0", "105"} <= shown
