"""Slurm on the command line: a trace or a session on the cluster of a slurm.conf, variants of it, how well it fits."""

import csv
import json
from pathlib import Path

import pytest

from gnomon.cli import ANSWERED, USER_ERROR
from tests.cli.conftest import Gnomon

pytestmark = pytest.mark.unit

CONF = """ClusterName=small
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
PriorityType=priority/basic
NodeName=n[1-2] CPUs=2 CoresPerSocket=2
PartitionName=batch Nodes=ALL Default=YES MaxTime=1:00:00
PartitionName=short Nodes=n2 MaxTime=10
"""
WIDE = CONF.replace("n[1-2]", "n[1-4]")
STRICT = CONF + "AccountingStorageType=accounting_storage/slurmdbd\nAccountingStorageEnforce=associations\n"
DUMP = """# To edit this file start with a cluster line for the new cluster
Cluster - 'small':Fairshare=1:QOS='normal'
Parent - 'root'
Account - 'phys':Description='phys':Organization='phys':Fairshare=1
Parent - 'phys'
User - '1':DefaultAccount='phys':Fairshare=1
"""
SWF = """\
; MaxProcs: 4
1 0 0 60 2 -1 -1 2 120 -1 1 1 1 1 1 1 -1 -1
2 1 70 60 3 -1 -1 3 120 -1 1 2 1 1 1 1 -1 -1
3 2 200 60 4 -1 -1 4 120 -1 1 2 1 1 1 1 -1 -1
"""
SESSION = """@0s ann sbatch -n2 -t 5 --wrap "sleep 60"
@1s bob sbatch -p short -n3 -t 5 --wrap x   # runs 2m exit 1
@2s bob sbatch -n4 -t 5 --wrap x            # runs 2m
"""


@pytest.fixture(autouse=True)
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Clusters of two nodes and of four, one with associations, and work for them."""
    files = {"slurm.conf": CONF, "wide.conf": WIDE, "strict.conf": STRICT, "accounts.dump": DUMP}
    files |= {"trace.swf": SWF, "jobs.session": SESSION}
    files["scenario.yaml"] = "system: slurm\ncluster: slurm.conf\nwork: trace.swf\n"
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def starts(gnomon: Gnomon, *arguments: str) -> list[float]:
    """When each task starts, in seconds."""
    ended = gnomon("simulate", *arguments, "--tasks", "tasks.csv")
    assert ended.code == ANSWERED, ended.err
    with Path("tasks.csv").open() as file:
        return [float(row["start"]) for row in csv.DictReader(file)]


@pytest.mark.parametrize(
    "arguments",
    [
        ("trace.swf", "--system", "slurm", "--cluster", "slurm.conf"),
        ("trace.swf", "--cluster", "slurm.conf"),
        ("slurm.conf", "trace.swf"),
        ("scenario.yaml",),
        ("scenario.yaml", "--system", "slurm"),
    ],
)
def test_a_trace_runs_on_the_cluster_of_a_slurm_conf(gnomon: Gnomon, arguments: tuple[str, ...]) -> None:
    """2 of 4 CPUs are taken when the second job asks for 3: it starts when they are free, and so does the third."""
    first, second, third = starts(gnomon, *arguments)
    assert 0 <= first <= 3
    assert first + 60 <= second <= first + 60 + 5
    assert second + 60 <= third <= second + 60 + 5


def test_a_cluster_on_the_command_line_is_that_of_the_scenario(gnomon: Gnomon) -> None:
    """With 8 CPUs the first two run side by side, and the third waits for the first alone."""
    first, second, third = starts(gnomon, "scenario.yaml", "--cluster", "wide.conf")
    assert max(first, second) <= 5
    assert first + 60 <= third <= first + 60 + 5


def test_a_session_may_come_before_its_cluster(gnomon: Gnomon) -> None:
    ended = gnomon("simulate", "jobs.session", "slurm.conf", "-o", "json")
    found = json.loads(ended.out)
    assert (ended.code, found["system"], found["done"]) == (ANSWERED, "slurm", 2)


def test_what_waits_and_what_is_refused_is_told_in_slurms_words(gnomon: Gnomon, workplace: Path) -> None:
    (workplace / "trace.swf").write_text(SWF + "4 3 -1 60 9 -1 -1 1 7200 -1 1 1 1 1 1 1 -1 -1\n")
    found = json.loads(gnomon("simulate", "trace.swf", "-c", "slurm.conf", "-o", "json").out)
    assert [(one["native"], one["tasks"]) for one in found["reasons"]] == [("PartitionTimeLimit", 1)]
    found = json.loads(gnomon("simulate", "trace.swf", "accounts.dump", "-c", "strict.conf", "-o", "json").out)
    invalid = "Invalid account or account/partition combination specified"
    refused = {one["native"]: one["tasks"] for one in found["reasons"]}
    assert refused == {f"sbatch: error: Batch job submission failed: {invalid}": 2, "PartitionTimeLimit": 1}


@pytest.mark.parametrize("more", ["", "#SBATCH -A phys --qos=normal\n"])
def test_without_a_dump_nobody_is_refused_for_an_account(gnomon: Gnomon, workplace: Path, more: str) -> None:
    """Nearly every slurm.conf has AccountingStorageEnforce; a first question comes without what sacctmgr knows."""
    (workplace / "one.sh").write_text(f"#!/bin/bash\n#SBATCH -n2 -t 5\n{more}srun ./x\n")
    found = json.loads(gnomon("explain", "one.sh", "-f", "strict.conf", "-o", "json").out)
    assert found["state"] in ("waiting", "running"), found["summary"]
    found = json.loads(gnomon("simulate", "jobs.session", "-c", "strict.conf", "-o", "json").out)
    assert found["done"] == 2
    assert {"accounts", "AccountingStorageEnforce"} <= {one["field"] for one in found["notes"]}


def test_a_limit_that_is_reached_and_a_refused_command_are_told_of(gnomon: Gnomon, workplace: Path) -> None:
    session = "@0s ann sbatch -n1 -t 1 --wrap x # runs 10m\n@5s root scancel 99\n@6s ann sbatch -n1 -p no --wrap x\n"
    (workplace / "jobs.session").write_text(session)
    ended = gnomon("simulate", "jobs.session", "-c", "slurm.conf", "-o", "json")
    found = json.loads(ended.out)
    assert [(one["state"], one["native"]) for one in found["reasons"]] == [
        (
            "rejected",
            "sbatch: error: invalid partition specified: no; "
            "sbatch: error: Batch job submission failed: Invalid partition name specified",
        ),
        ("killed", "TimeLimit"),
    ]
    said = "scancel: error: Kill job error on job id 99: Invalid job id specified"
    assert [(one["field"], one["text"]) for one in found["notes"] if one["what"] == "refused"] == [
        ("scancel 99 (at 5s)", said)
    ]
    assert f"refused: scancel 99 (at 5s): {said}" in ended.err


def test_rows_that_make_no_job_are_rejected(gnomon: Gnomon, workplace: Path) -> None:
    """Without a run time, or without a number of processors."""
    (workplace / "trace.swf").write_text(
        SWF + "4 3 -1 -1 1 -1 -1 1 60 -1 1 1 1 1 1 1 -1 -1\n5 4 -1 60 -1 -1 -1 -1 60 -1 1 1 1 1 1 1 -1 -1\n"
    )
    found = json.loads(gnomon("simulate", "trace.swf", "-c", "slurm.conf", "-o", "json").out)
    assert (found["done"], found["rejected"]) == (3, 2)
    assert [(one["reason"], one["tasks"]) for one in found["reasons"]] == [("unusable", 2)]


def test_a_queue_that_is_no_partition_is_told_of_once(gnomon: Gnomon) -> None:
    ended = gnomon("simulate", "trace.swf", "-c", "slurm.conf")
    told = [line for line in ended.err.splitlines() if "queue" in line]
    assert told == ["assumed: queue: no partition is called 1: batch, the default, takes these jobs (3 times)"]


def test_variants_of_a_slurm_conf_side_by_side(gnomon: Gnomon) -> None:
    clusters = ("-c", "slurm.conf", "-c", "wide.conf")
    for work in (("trace.swf", "--system", "slurm"), ("scenario.yaml",), ("jobs.session",)):
        ended = gnomon("compare", *work, *clusters, "--workers", 1, "-o", "json")
        assert ended.code == ANSWERED, ended.err
        narrow, wide = json.loads(ended.out)["variants"]
        assert (narrow["variant"], wide["variant"]) == ("slurm.conf", "wide.conf")
        assert wide["metrics"]["wait_s"]["mean"] < narrow["metrics"]["wait_s"]["mean"]


def test_how_well_the_first_variant_fits_comes_before_what_if(gnomon: Gnomon) -> None:
    """Recorded starts are at 0, 71 and 202 s; simulated ones are within a few seconds of 0, 60 and 120."""
    arguments = ("compare", "trace.swf", "-c", "slurm.conf", "-c", "wide.conf", "--workers", 1)
    found = json.loads(gnomon(*arguments, "-o", "json").out)["calibration"]
    assert (found["variant"], found["compared"]) == ("slurm.conf", 3)
    assert (found["within_1_min"], found["wait_kendall_tau_b"], found["start_kendall_tau_b"]) == (2 / 3, 1, 1)
    assert found["error_s"]["absolute_p50"] == pytest.approx(9, abs=4)
    out = gnomon(*arguments).out
    assert out.index("HOW WELL slurm.conf REPRODUCES") < out.index("VARIANT")


def test_nothing_recorded_is_no_fit(gnomon: Gnomon) -> None:
    ended = gnomon("compare", "jobs.session", "-c", "slurm.conf", "-c", "wide.conf", "--workers", 1)
    assert "HOW WELL" not in ended.out


def test_the_fit_alone(gnomon: Gnomon) -> None:
    ended = gnomon("calibrate", "trace.swf", "--cluster", "slurm.conf", "-o", "json")
    (found,) = json.loads(ended.out)["variants"]
    assert (ended.code, found["policy"], found["compared"]) == (ANSWERED, "slurm", 3)


def test_a_policy_is_not_heeded(gnomon: Gnomon) -> None:
    told = "not modelled: --policy: slurm places by a configuration of its own"
    for verb in ("simulate", "compare", "calibrate"):
        ended = gnomon(verb, "trace.swf", "-c", "slurm.conf", "-p", "easy")
        assert ended.code == ANSWERED
        assert ended.err.splitlines().count(told) == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["trace.swf", "--system", "slurm"], "--cluster: the cluster is missing; allowed: slurm.conf"),
        (["trace.swf", "--system", "slurm", "--cluster", "8"], "--cluster: not a cluster of slurm, found '8'"),
        (["trace.swf", "-c", "slurm.conf", "--system", "plain"], "--system: the files say otherwise, found 'plain'"),
        (["trace.swf", "--system", "slurm", "-c", "accounts.dump"], "there is no slurm.conf"),
        (["trace.swf", "jobs.session", "-c", "slurm.conf"], "not modelled together: a session and a trace"),
        (["trace.swf", "wide.conf", "-c", "slurm.conf"], "one slurm.conf is wanted"),
        (["trace.swf", "-c", "nowhere.conf", "--system", "slurm"], "nowhere.conf: no such file"),
        (["missing.yaml"], "missing.yaml, line 1: cluster: the cluster is missing; allowed: slurm.conf"),
    ],
)
def test_mistakes_get_one_line_and_code_2(gnomon: Gnomon, workplace: Path, arguments: list[str], said: str) -> None:
    (workplace / "missing.yaml").write_text("system: slurm\nwork: trace.swf\n")
    ended = gnomon("simulate", *arguments)
    assert (ended.code, ended.out) == (USER_ERROR, "")
    assert said in ended.err
    assert len(ended.err.splitlines()) == 1


SACCT = """JobID|User|Account|Partition|Submit|Eligible|Start|End|ElapsedRaw|Timelimit|State|ReqCPUS|NNodes
1|ann|phys|batch|{d}00:00:00|{d}00:00:00|{d}00:00:01|{d}00:01:01|60|00:02:00|COMPLETED|4|2
2|ann|phys|batch|{d}00:00:10|{d}00:00:10|{d}00:01:02|{d}00:02:02|60|00:02:00|COMPLETED|4|2
3|bob|phys|batch|{d}00:00:20|{d}00:00:20|{d}00:02:03|{d}00:03:03|60|00:02:00|COMPLETED|4|2
"""


def test_a_month_of_sacct_under_variants(gnomon: Gnomon, workplace: Path) -> None:
    """What really happened is what this configuration does: one job after the other; twice the nodes: two at once."""
    (workplace / "month.txt").write_text(SACCT.replace("{d}", "2026-01-01T"))
    arguments = ("compare", "month.txt", "-c", "slurm.conf", "-c", "wide.conf", "--workers", 1)
    found = json.loads(gnomon(*arguments, "-o", "json").out)
    fit = found["calibration"]
    assert (fit["compared"], fit["within_1_min"], fit["start_kendall_tau_b"]) == (3, 1, 1)
    assert fit["error_s"]["absolute_p90"] <= 5
    narrow, wide = (one["metrics"] for one in found["variants"])
    assert narrow["makespan_s"] == pytest.approx(183, abs=6)
    assert wide["makespan_s"] == pytest.approx(122, abs=6)
