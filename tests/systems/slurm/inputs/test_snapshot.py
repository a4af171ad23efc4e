"""What the commands printed of a running cluster as a scenario: who runs where since when, who waits why."""

import re
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from gnomon import api
from gnomon.engine.log import Kind
from gnomon.engine.log import State as Ends
from gnomon.model.errors import InputError
from gnomon.systems.slurm.config.slurm_conf import read_conf
from gnomon.systems.slurm.inputs.native import Native
from gnomon.systems.slurm.inputs.present import request_of
from gnomon.systems.slurm.read.jobs import of_record
from gnomon.systems.slurm.read.nodes import node_of
from gnomon.systems.slurm.read.pairs import read_config, read_records
from gnomon.systems.slurm.read.shown_conf import shown_conf
from gnomon.systems.slurm.scenario import read_scenario
from tests.systems.slurm.read import printed

WHAT = ("config", "nodes", "partition", "reservation", "lic")
SHOWN = tuple(printed.path(f"live/scontrol-show-{what}.txt") for what in WHAT)
JOBS = printed.path("live/scontrol-show-job.txt")
ACCOUNTS = tuple(printed.DATA.parent / "accounting" / f"sacctmgr-{name}" for name in ("dump.cfg", "show-qos.txt"))
USAGE = printed.DATA.parent / "accounting" / "sshare-alP.txt"
S = 10**9
UNTIL_S = 6100


@cache
def run_of(*files: Path) -> tuple[api.Run, dict[str, int]]:
    scenario = read_scenario(files)
    scenario = replace(scenario, limits=replace(scenario.limits, until_ns=UNTIL_S * S))
    return api.simulate(scenario), {scenario.work.id(task): task for task in range(len(scenario.work))}


@pytest.fixture(scope="module")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The recorded jobs without one that can never start, at which backfill looks for a long time again and again."""
    path = tmp_path_factory.mktemp("snapshot") / "jobs.txt"
    parts = re.split(r"(?m)^(?=JobId=)", printed.text("live/scontrol-show-job.txt"))
    path.write_text("".join(part for part in parts if not part.startswith("JobId=98 ")))
    return path


@pytest.fixture
def there(jobs: Path) -> tuple[api.Run, dict[str, int]]:
    return run_of(*SHOWN, jobs, *ACCOUNTS, USAGE)


def test_running_jobs_hold_their_nodes_and_end_by_their_limits(there: tuple[api.Run, dict[str, int]]) -> None:
    run, at = there
    what, nodes, log = run.outcome, run.scenario.cluster.nodes, run.log
    began = {
        int(log.subject[row]): int(log.node[row]) for row in np.flatnonzero((log.kind == Kind.START) & (log.t_ns == 0))
    }
    for record in read_records(printed.text("live/scontrol-show-job.txt")):
        job = of_record(record)
        if job.state == "RUNNING":
            task = at[job.shown]
            assert what.first_start_ns[task] == 0, job.shown
            assert nodes[began[task]].name == first_host(job.nodes), job.shown
    # job 49 has a limit of a minute and began 28 s before: it is over at the next look at time limits
    assert what.end_ns[at["49"]] <= 62 * S
    # job 77 began 27 s before; its 100 minutes end at 5973 s; the one behind it is told 02:40:56 by squeue --start
    assert 5973 <= what.end_ns[at["77"]] / S <= 6004
    assert what.first_start_ns[at["78"]] >= what.end_ns[at["77"]]


def first_host(nodes: str) -> str:
    from gnomon.systems.slurm.notation.hostlist import expand

    return expand(nodes)[0]


def test_waiting_jobs_say_at_once_why(there: tuple[api.Run, dict[str, int]]) -> None:
    run, at = there
    log = run.log
    said: dict[int, str] = {}
    for row, facts in sorted(log.details.items()):
        if log.t_ns[row] == 0 and "message" in facts:
            said.setdefault(int(log.subject[row]), str(facts["message"]))
    for record in read_records(printed.text("live/scontrol-show-job.txt")):
        job = of_record(record)
        if job.state == "PENDING" and not job.tasks and job.id != 98 and job.reason != "None":
            assert said[at[job.shown]] == job.reason


def test_held_jobs_and_broken_dependencies_never_start(there: tuple[api.Run, dict[str, int]]) -> None:
    run, at = there
    for job in ("91", "88", "84"):
        assert run.outcome.state[at[job]] == Ends.WAITING


def test_begin_times_are_seen_from_the_snapshot(there: tuple[api.Run, dict[str, int]]) -> None:
    run, at = there
    assert 3573 <= run.outcome.first_start_ns[at["92"]] / S <= 3580  # 02:00:56, the snapshot is of 01:01:23


def test_without_slurm_conf_the_configuration_is_what_scontrol_shows() -> None:
    real = read_conf(printed.CONF, version=(22, 5))
    nodes = [node_of(record) for record in read_records(printed.text("live/scontrol-show-nodes.txt"))]
    shown = shown_conf(
        read_config(printed.text("live/scontrol-show-config.txt")),
        nodes,
        read_records(printed.text("live/scontrol-show-partition.txt")),
    )
    assert shown.version == (22, 5)
    assert [one.name for one in shown.nodes] == [one.name for one in real.nodes]
    for mine, theirs in zip(shown.nodes, real.nodes, strict=True):
        for field in ("cpus", "sockets", "cores", "threads", "memory_mb", "weight", "features"):
            assert getattr(mine, field) == getattr(theirs, field), (mine.name, field)
        assert [(g.name, g.type, g.count) for g in mine.gres] == [(g.name, g.type, g.count) for g in theirs.gres]
    assert list(shown.partitions) == list(real.partitions)
    assert (shown.scheduler, shown.licenses) == (real.scheduler, real.licenses)
    for key in (
        "PriorityWeightAge",
        "PriorityDecayHalfLife",
        "SelectTypeParameters",
        "PreemptType",
        "PriorityCalcPeriod",
    ):
        assert shown.text(key).lower() == real.text(key).lower() or shown.seconds(key) == real.seconds(key)


def test_drained_nodes_and_reservations_are_there() -> None:
    scenario = read_scenario([*SHOWN, JOBS, *ACCOUNTS])
    assert isinstance(scenario.native, Native)
    drained = next(node for node in scenario.native.conf.nodes if node.name == "node012")
    assert (drained.state, drained.reason) == ("DRAIN", "bad DIMM slot 3")
    assert [one.name for one in scenario.native.reservations] == ["class1", "maint_dec"]
    assert f"{scenario.native.epoch:%Y-%m-%d %H:%M:%S}" == "2026-11-30 01:01:23"


def test_the_json_of_squeue_tells_the_same() -> None:
    listed = read_scenario([*SHOWN, printed.path("live/squeue.json"), *ACCOUNTS, USAGE])
    shown = read_scenario([*SHOWN, JOBS, *ACCOUNTS, USAGE])
    assert isinstance(listed.native, Native)
    assert isinstance(shown.native, Native)
    assert list(listed.work.ids) == list(shown.work.ids)
    for task, job in listed.native.present.items():
        other = shown.native.present[task]
        assert (job.name, job.submit_ns, job.runs) == (other.name, other.submit_ns, other.runs)


def test_a_script_is_submitted_on_top_and_gets_the_next_id(tmp_path: Path) -> None:
    script = tmp_path / "mine.sh"
    script.write_text("#!/bin/bash\n#SBATCH -n1 -t1 -p long --mem=100\nsleep 30\n")
    scenario = read_scenario([*SHOWN, JOBS, script])
    assert scenario.work.id(len(scenario.work) - 1) == "110"  # the last one of the snapshot is 109


def test_what_is_missing_is_told() -> None:
    with pytest.raises(InputError, match=r"there is no slurm.conf, and nothing tells of nodes"):
        read_scenario([printed.path("live/scontrol-show-partition.txt")])
    with pytest.raises(InputError, match=r"there is no slurm.conf; allowed"):
        read_scenario([printed.path("live/squeue.txt")])


def test_a_list_of_licences_that_is_cut_off_is_at_fault() -> None:
    record = next(iter(read_records(printed.text("live/scontrol-show-job.txt"))))
    with pytest.raises(InputError, match="not a list of licences"):
        request_of(replace(of_record(record), licenses="matlab:4,ansys:"))
