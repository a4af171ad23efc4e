"""Power saving: nodes that are off come up for a job, or do not; idle ones are switched off."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

import pytest

from gnomon.model.errors import InputError
from gnomon.systems.slurm.accounting.accounts import Accounts
from gnomon.systems.slurm.cluster.job import Job
from gnomon.systems.slurm.cluster.state import SECOND
from gnomon.systems.slurm.config.slurm_conf import conf_of
from gnomon.systems.slurm.controller.books import books
from gnomon.systems.slurm.controller.slurmctld import Controller
from gnomon.systems.slurm.controller.submitting import submit
from gnomon.systems.slurm.machine import Machine
from gnomon.systems.slurm.sbatch.request import JobRequest

CONF = """
ClusterName=cloud
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SuspendProgram=/opt/suspend
ResumeProgram=/opt/resume
SuspendTime=300
SuspendTimeout=30
ResumeTimeout=600
NodeName=on1 CPUs=4
NodeName=spot[1-4] CPUs=4 State=CLOUD Weight=10
PartitionName=all Nodes=ALL Default=YES
"""


class Cluster:
    def __init__(self, conf: str = CONF) -> None:
        self.machine = Machine(launch_ns=0, gone_ns=0)
        self.state = self.machine.state = books(conf_of(conf), Accounts(), self.machine)
        self.controller = self.machine.controller = Controller(self.state)
        self._tasks = count()

    def cloud(self, text: str) -> None:
        assert self.state.power is not None
        self.state.power.cloud(text.split())

    def submit(self, run_s: float, nodes: int = 1) -> Job:
        request = JobRequest(user="ann", nodes_min=nodes, tasks=4 * nodes, cpus_min=4 * nodes, run_s=run_s, time_min=60)
        (job,) = submit(self.state, [request], self._tasks).jobs
        self.controller.arrived((job,))
        return job

    def run(self, until_s: float) -> None:
        self.machine.run(int(until_s * SECOND))

    def stints(self, job: Job) -> Sequence[tuple[str, str]]:
        return [(one.state, ",".join(self.state.names(list(one.allocation.nodes)))) for one in job.stints]


def test_nodes_that_are_on_come_before_those_that_are_off() -> None:
    cluster = Cluster()
    job = cluster.submit(60)
    cluster.run(2)
    assert cluster.stints(job) == [("RUNNING", "on1")]
    assert not job.configuring


def test_a_job_waits_for_its_nodes_and_its_time_begins_when_they_are_up() -> None:
    cluster = Cluster()
    cluster.cloud("ResumeTime=90s")
    job = cluster.submit(100, nodes=3)
    cluster.run(60)
    assert job.configuring
    assert job.start_ns == 1 * SECOND
    cluster.run(95)
    assert not job.configuring
    assert job.start_ns == 91 * SECOND
    assert job.end_ns == (91 + 3600) * SECOND
    cluster.run(200)
    assert (job.state, job.ended_ns) == ("COMPLETED", 191 * SECOND)


def test_idle_nodes_are_switched_off_after_suspend_time() -> None:
    cluster = Cluster()
    cluster.cloud("ResumeTime=10s")
    cluster.submit(100, nodes=2)
    cluster.run(111 + 299)
    power = cluster.state.power
    assert power is not None
    names = cluster.state.names
    assert "spot1" not in names(sorted(power.asleep))
    cluster.run(111 + 301)
    assert "spot1" in names(sorted(power.asleep))
    assert "spot1" in names(sorted(cluster.state.completing))  # powering down: not to be had
    cluster.run(111 + 332)
    assert not cluster.state.completing


def test_a_node_that_does_not_come_up_is_down_and_its_job_is_requeued() -> None:
    """ResumeTimeout 600 s, then 121 s until the requeued job begins; the node stays DOWN."""
    cluster = Cluster()
    cluster.cloud("Nodes=spot[1-4] ResumeTime=20m")
    job = cluster.submit(50, nodes=2)
    cluster.run(602)
    assert cluster.state.down == {cluster.state.node("spot1"): "ResumeTimeout reached"}
    assert (job.state, job.reason, job.restarts) == ("PENDING", "BeginTime", 1)
    assert job.begin_ns == (601 + 121) * SECOND
    cluster.run(740)
    assert cluster.stints(job) == [("NODE_FAIL", "on1,spot1"), ("RUNNING", "on1,spot2")]


def test_without_capacity_it_is_tried_again_for_ever() -> None:
    cluster = Cluster()
    cluster.cloud("Nodes=spot[1-4] Capacity=0 FailTime=2s DownTime=60s Reason=LimitedInstanceCapacity")
    job = cluster.submit(50, nodes=2)
    cluster.run(3600)
    assert 25 <= job.restarts <= 30  # every 124 s
    assert {state for state, _ in cluster.stints(job)} == {"NODE_FAIL"}
    assert not job.runs


def test_capacity_counts_what_is_on() -> None:
    cluster = Cluster()
    cluster.cloud("Nodes=spot[1-4] Capacity=2 ResumeTime=10s FailTime=2s")
    first, second = cluster.submit(1000, nodes=3), cluster.submit(1000)
    cluster.run(60)
    assert cluster.stints(first) == [("RUNNING", "on1,spot1,spot2")]
    assert cluster.stints(second) == [("NODE_FAIL", "spot3")]


def test_fail_over_takes_all_like_it_out() -> None:
    cluster = Cluster()
    cluster.cloud("Nodes=spot[1-2] Capacity=0 FailTime=2s DownTime=10m Failover=yes")
    cluster.cloud("Nodes=spot[3-4] ResumeTime=30s")
    job = cluster.submit(50, nodes=2)
    cluster.run(300)
    assert cluster.stints(job) == [("NODE_FAIL", "on1,spot1"), ("COMPLETED", "on1,spot3")]


def test_a_job_that_is_cancelled_while_its_nodes_come_up_is_gone() -> None:
    from gnomon.systems.slurm.controller.commands import scancel

    cluster = Cluster()
    cluster.cloud("ResumeTime=90s")
    job = cluster.submit(100, nodes=3)
    cluster.run(30)
    scancel(cluster.state, [job.name], "root")
    cluster.run(400)
    assert job.state == "CANCELLED"
    assert not cluster.state.running


def test_bad_words() -> None:
    cluster = Cluster()
    for words in ("Nodes=nowhere", "Capacity=few", "ResumeTime=soon", "Size=3"):
        with pytest.raises(InputError):
            cluster.cloud(words)
