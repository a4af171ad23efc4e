"""A run in columns has the log of the controller, to the byte; what it does not know it leaves to it."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon.api import Run, simulate
from gnomon.engine.log import Kind, Reason
from gnomon.model.resources import NEVER, Resources
from gnomon.model.scenario import Scenario
from gnomon.model.work import Shape, Task, Work
from gnomon.systems.slurm.cluster.state import SECOND
from gnomon.systems.slurm.columnar.run import replay
from gnomon.systems.slurm.scenario import read_scenario

CONF = """ClusterName=test
SlurmctldHost=head
SelectType=select/cons_tres
SelectTypeParameters={unit}
NodeName=n[1-3] CPUs=4 Sockets=2 CoresPerSocket=2 RealMemory=1000 Weight={weight}
NodeName=m[1-2] CPUs=2 Sockets=1 CoresPerSocket=2 RealMemory=4000
PartitionName=batch Nodes=n[1-3] Default=YES PriorityJobFactor=3 MaxTime={most}
PartitionName=other Nodes=m[1-2] PriorityTier={tier} DefaultTime=5 OverTimeLimit=1
{more}
"""
LINES = (
    "PriorityType=priority/basic",
    "PriorityType=priority/multifactor\nPriorityWeightAge=1000\nPriorityWeightJobSize=500\nPriorityWeightPartition=200",
    "PriorityType=priority/multifactor\nPriorityWeightAge=1000\nPriorityCalcPeriod=1\nPriorityMaxAge=2\n"
    "PriorityWeightJobSize=999\nPriorityFavorSmall=YES",
    "SchedulerParameters=default_queue_depth=2,bf_interval=7,bf_resolution=90,bf_window=20",
    "SchedulerParameters=bf_max_job_test=3,bf_max_job_start=1,batch_sched_delay=1,sched_interval=11",
    "SchedulerType=sched/builtin",
    "EnforcePartLimits=ALL\nDefMemPerCPU=400",
    "OverTimeLimit=2",
)


@st.composite
def scenarios(draw: st.DrawFn, folder: Path) -> Scenario:
    """Up to 25 jobs on two partitions; some ask for too much, some come together, some run past their limits."""
    said = CONF.format(
        unit=draw(st.sampled_from(["CR_Core", "CR_CPU", "CR_Core_Memory", "CR_Socket"])),
        weight=draw(st.integers(1, 3)),
        most=draw(st.sampled_from(["INFINITE", "UNLIMITED", "200"])),
        tier=draw(st.integers(1, 2)),
        more="\n".join(draw(st.lists(st.sampled_from(LINES), unique_by=lambda line: line.partition("=")[0]))),
    )
    (folder / "slurm.conf").write_text(said)
    tasks, at = [], 0
    for number in range(draw(st.integers(1, 25))):
        at += draw(st.sampled_from([0, 0, 1, 3, 60, 700])) * SECOND + draw(st.sampled_from([0, 0, 5]))
        cpus = draw(st.sampled_from([1, 1, 2, 3, 4, 5, 7, 12, 13, 30]))
        memory = draw(st.sampled_from([0, 0, 500, 3000])) * 2**20
        tasks.append(
            Task(
                f"t{number}",
                Shape(Resources(cpu_milli=cpus * 1000, memory_bytes=memory)),
                submit_ns=at,
                duration_ns=draw(st.integers(1, 2000)) * SECOND,
                estimate_ns=draw(st.sampled_from([60, 300, 900, 3600, 86_400])) * SECOND,
                user=draw(st.sampled_from(["a", "b", "root"])),
                queue=draw(st.sampled_from(["batch", "other", "other", "elsewhere", ""])),
            )
        )
    return read_scenario([folder / "slurm.conf"], work=Work.from_tasks(tasks))


@pytest.mark.property
@given(data=st.data())
@settings(deadline=None, max_examples=60)
def test_the_log_is_that_of_the_controller(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    scenario = data.draw(scenarios(tmp_path_factory.mktemp("conf")))
    found = replay(scenario, compiled=False)
    assert found is not None
    theirs = simulate(scenario, compiled=False, native_state=True)
    assert found[0].canonical_bytes() == theirs.log.canonical_bytes()
    assert found[1] is theirs.stopped


def scenario(folder: Path, *, more: str = "", **said: object) -> Scenario:
    """Three equal jobs of a whole partition, one after the other."""
    (folder / "slurm.conf").write_text(CONF.format(unit="CR_Core", weight=1, most="INFINITE", tier=1, more=more))
    facts = {"duration_ns": 60 * SECOND, "estimate_ns": 120 * SECOND, "shape": Shape(Resources(cpu_milli=12_000))}
    return read_scenario([folder / "slurm.conf"], work=Work.from_tasks([Task(n, **(facts | said)) for n in "abc"]))  # type: ignore[arg-type]


def test_jobs_wait_start_and_end(tmp_path: Path) -> None:
    found = replay(scenario(tmp_path), compiled=False)
    assert found is not None
    log, stopped, _ = found
    starts = [int(t) // SECOND for t in log.t_ns[log.kind == Kind.START]]
    assert starts == [1, 62, 123]  # an event is followed by a pass at the next full second, at least 3 s after the last
    assert stopped is Reason.NONE
    assert log.details[int((log.kind == Kind.START).argmax())] == {"scheduler": "main", "nodes": "n[1-3]"}
    assert {"message": "Priority"} in log.details.values()


SPECIAL = {
    "nodes that are down": "NodeName=x1 CPUs=1 State=DOWN",
    "jobs that give way": "PreemptType=preempt/partition_prio\nPreemptMode=REQUEUE",
    "priorities that only grow": "PriorityType=priority/multifactor\nPriorityFlags=INCR_ONLY",
    "promises by age": "SchedulerParameters=bf_min_age_reserve=10",
    "nodes that are switched off": "SuspendTime=60\nSuspendProgram=/bin/off\nResumeProgram=/bin/on",
}


@pytest.mark.parametrize("what", SPECIAL)
def test_what_is_special_is_left_to_the_controller(tmp_path: Path, what: str) -> None:
    assert replay(scenario(tmp_path), compiled=False) is not None
    assert replay(scenario(tmp_path, more=SPECIAL[what]), compiled=False) is None


def test_so_are_partitions_that_share_nodes_if_both_are_used(tmp_path: Path) -> None:
    shared = scenario(tmp_path, more="PartitionName=long Nodes=n1")
    assert replay(shared, compiled=False) is not None
    tasks = [Task(queue, duration_ns=SECOND, estimate_ns=NEVER, queue=queue) for queue in ("long", "batch")]
    both = read_scenario([tmp_path / "slurm.conf"], work=Work.from_tasks(tasks))
    assert replay(both, compiled=False) is None


def test_who_stops_it_has_the_log_so_far(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gnomon.systems.slurm.columnar.run._INSTANTS", 4)
    found = replay(scenario(tmp_path), lambda done, total, now: False, compiled=False)
    assert found is not None
    log, stopped, _ = found
    assert stopped is Reason.INTERRUPTED
    assert (log.kind[-1], log.reason[-1]) == (Kind.STOP, Reason.INTERRUPTED)
    assert (log.kind == Kind.START).sum() in (1, 2)


def test_a_view_of_such_a_run_is_that_of_the_controller(tmp_path: Path) -> None:
    found = replay(scenario(tmp_path), compiled=False)
    assert found is not None
    run = Run(scenario(tmp_path), found[0], stopped=found[1])
    assert "COMPLETED" in run.view("sacct")
