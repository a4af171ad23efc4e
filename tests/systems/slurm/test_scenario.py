"""Files of Slurm as a scenario: nodes, submissions and their tasks, a trace, what is left out."""

from pathlib import Path

import numpy as np
import pytest

from gnomon.model.errors import InputError
from gnomon.model.resources import NEVER
from gnomon.model.scenario import Scenario
from gnomon.model.work import Task, Work
from gnomon.systems.slurm.cluster.state import MINUTE, SECOND
from gnomon.systems.slurm.inputs.native import Native
from gnomon.systems.slurm.scenario import read_scenario

pytestmark = pytest.mark.unit

CONF = """ClusterName=c
NodeName=n[1-3] CPUs=8 CoresPerSocket=8 RealMemory=4000 Feature=fast
NodeName=g1 CPUs=16 CoresPerSocket=16 RealMemory=9000 Gres=gpu:a100:4
GresTypes=gpu
PartitionName=batch Nodes=n[1-3] Default=YES
PartitionName=gpu Nodes=g1
"""
GRES = "NodeName=g1 Name=gpu Type=a100 File=/dev/nvidia[0-3]\n"
SCRIPT = "#!/bin/bash\n#SBATCH -n4 -t 10 -p gpu\nsleep 120\n"
SESSION = """@1m ann sbatch -n3 -c2 --mem-per-cpu=100 -t 5 --wrap x  # runs 2m
@2m ann sbatch -a 5,7 -n1 --wrap 'sleep 30'
@3m bob sbatch -n1 : -n2 --wrap 'sleep 30'
@4m root scancel 1
"""


@pytest.fixture(autouse=True)
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {"slurm.conf": CONF, "gres.conf": GRES, "job.sh": SCRIPT, "jobs.session": SESSION}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)


def native(scenario: Scenario) -> Native:
    assert isinstance(scenario.native, Native)
    return scenario.native


def test_the_cluster_is_that_of_slurm_conf() -> None:
    cluster = read_scenario("slurm.conf").cluster
    nodes = {node.name: node for node in cluster.nodes}
    assert {name: node.capacity.cpu_milli for name, node in nodes.items()} == {
        **dict.fromkeys(("n1", "n2", "n3"), 8000),
        "g1": 16000,
    }
    assert nodes["g1"].capacity.memory_bytes == 9000 * 2**20
    assert (nodes["g1"].kind, nodes["n1"].labels) == ("a100", (("feature/fast", "yes"),))


def test_a_submission_is_a_task_or_several() -> None:
    scenario = read_scenario(["jobs.session", "slurm.conf"])
    work = scenario.work
    assert list(work.ids) == ["1", "2_5", "2_7", "3", "3+1"]
    assert (work.submit_ns // MINUTE).tolist() == [1, 2, 2, 3, 3]
    assert (work.duration_ns // SECOND).tolist() == [120, 30, 30, 30, 30]
    first = work.task(0)
    assert (first.shape.request.cpu_milli, first.shape.request.memory_bytes) == (6000, 600 * 2**20)
    assert (first.user, first.estimate_ns) == ("ann", 5 * MINUTE)
    assert [native(scenario).group(task) for task in range(5)] == [[0], [1, 2], [1, 2], [3, 4], [3, 4]]
    assert native(scenario).commands == ((4 * MINUTE, ("scancel", "1")),)


@pytest.mark.parametrize(
    ("conf", "options", "mb"),
    [
        ("DefMemPerCPU=2000", "-n4", 8000),
        ("DefMemPerNode=6000", "-N2", 12000),
        ("DefMemPerCPU=2000", "-N2 --mem=500", 1000),
        ("DefMemPerCPU=2000", "-n4 --mem-per-cpu=100", 400),
        ("DefMemPerCPU=2000", "-n4 -p small", 400),
        ("DefMemPerCPU=2000", "-N1 -p node", 700),
        ("", "-n4", 0),
    ],
)
def test_a_job_that_names_no_memory_has_that_of_its_partition_or_of_the_cluster(
    tmp_path: Path, conf: str, options: str, mb: int
) -> None:
    (tmp_path / "slurm.conf").write_text(
        f"ClusterName=c\nSelectType=select/cons_tres\nSelectTypeParameters=CR_Core_Memory\n{conf}\n"
        "NodeName=n[1-3] CPUs=8 RealMemory=64000\nPartitionName=all Nodes=n1 Default=YES\n"
        "PartitionName=small Nodes=n2 DefMemPerCPU=100\nPartitionName=node Nodes=n3 DefMemPerNode=700\n"
    )
    (tmp_path / "jobs.session").write_text(f"@0s ann sbatch {options} --wrap x # runs 1m\n")
    work = read_scenario([tmp_path / "slurm.conf", tmp_path / "jobs.session"]).work
    assert work.shapes[int(work.shape[0])].request.memory_bytes == mb * 2**20


def test_a_missing_file_is_told_with_the_line_that_includes_it(tmp_path: Path) -> None:
    (tmp_path / "slurm.conf").write_text("ClusterName=c\nInclude nodes.conf\n")
    (tmp_path / "jobs.session").write_text("@0s ann sbatch -n1 --wrap x\n")
    with pytest.raises(InputError, match=r"slurm.conf, line 2, Include: no such file, found '"):
        read_scenario([tmp_path / "slurm.conf", tmp_path / "jobs.session"])


def test_a_script_is_submitted_at_once() -> None:
    scenario = read_scenario(["slurm.conf", "job.sh"])
    (request,) = native(scenario).requests(0)
    assert (request.tasks, request.time_min, request.partitions) == (4, 10, ("gpu",))
    assert (scenario.work.task(0).submit_ns, scenario.work.task(0).duration_ns) == (0, 120 * SECOND)


ACCOUNTS = """Cluster - 'c':Fairshare=1:QOS='normal'
Parent - 'root'
User - 'root':DefaultAccount='root':AdminLevel='Administrator':Fairshare=1
Account - 'phys':Description='phys':Organization='phys':Fairshare=1
Account - 'bio':Description='bio':Organization='bio':Fairshare=1
Parent - 'phys'
User - 'ann':DefaultAccount='phys':Fairshare=1
Parent - 'bio'
User - 'bob':DefaultAccount='bio':Fairshare=1
"""


@pytest.mark.parametrize(("account", "user"), [("", "ann"), ("bio", "bob"), ("unknown", "ann")])
def test_a_script_is_submitted_by_the_first_who_may(tmp_path: Path, account: str, user: str) -> None:
    (tmp_path / "accounts.dump").write_text(ACCOUNTS)
    (tmp_path / "job.sh").write_text(
        SCRIPT.replace("#SBATCH", f"#SBATCH -A {account}\n#SBATCH" if account else "#SBATCH")
    )
    read = read_scenario([tmp_path / name for name in ("slurm.conf", "accounts.dump", "job.sh")])
    assert (read.work.users[int(read.work.user[0])], native(read).requests(0)[0].user) == (user, user)
    assert [note.text for note in read.work.notes if note.field == "job.sh"] == [
        f"submitted by {user}; a session says who submits"
    ]


def test_how_long_an_unknown_script_runs_is_not_known(tmp_path: Path) -> None:
    (tmp_path / "job.sh").write_text("#!/bin/bash\n#SBATCH -n1\n./train\n")
    assert read_scenario(["slurm.conf", "job.sh"]).work.duration_ns.tolist() == [NEVER]


def trace() -> Work:
    """Two jobs of a trace, of which the second waited for five seconds."""
    work = Work.from_tasks([Task(name, duration_ns=SECOND, user="ann", queue="gpu") for name in ("8", "9")])
    work.recorded_wait_ns[:] = (0, 5 * SECOND)
    return work


def test_the_work_of_a_trace_stays_as_it_is() -> None:
    """Also what it recorded, for calibration."""
    scenario = read_scenario("slurm.conf", work=trace())
    assert np.array_equal(scenario.work.recorded_wait_ns, (0, 5 * SECOND))
    assert list(scenario.work.ids) == ["8", "9"]
    assert native(scenario).group(1) == [1]
    (request,) = native(scenario).requests(1)
    assert (request.name, request.user, request.partitions) == ("9", "ann", ("gpu",))


def test_how_it_is_run_is_slurms_business() -> None:
    scenario = read_scenario("slurm.conf", work=trace())
    assert (scenario.system, scenario.gang, scenario.kill_at_limit) == ("slurm", False, False)


def test_what_is_not_modelled_is_told_of_once(tmp_path: Path) -> None:
    (tmp_path / "slurm.conf").write_text(f"{CONF}MailProg=/bin/mail\nSlurmctldDebug=info\n")
    told = [note for note in read_scenario("slurm.conf").work.notes if "slurm.conf" in note.field]
    assert len(told) == 1
    assert "MailProg" in told[0].text


def test_a_refusal_of_sbatch_is_told_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "jobs.session").write_text("@0s ann sbatch -n1 --wrap x\n@1s ann sbatch -n none --wrap x\n")
    scenario = read_scenario(["slurm.conf", "jobs.session"])
    assert len(scenario.work) == 1
    (told,) = [note for note in scenario.work.notes if note.field == "line 2"]
    assert told.text.startswith("sbatch refuses: sbatch: error: ")


@pytest.mark.parametrize(
    ("files", "said"),
    [
        (["job.sh"], "there is no slurm.conf"),
        (["slurm.conf", "other.conf"], "one slurm.conf is wanted"),
        (["slurm.conf", "notes.txt"], "notes.txt: not a file of Slurm that is known"),
        (["slurm.conf", "nowhere"], "nowhere: no such file"),
        (["slurm.conf", "bad.sh"], "bad.sh: sbatch refuses this script: sbatch: "),
    ],
)
def test_mistakes_name_the_file(tmp_path: Path, files: list[str], said: str) -> None:
    (tmp_path / "other.conf").write_text(CONF)
    (tmp_path / "notes.txt").write_text("buy milk\n")
    (tmp_path / "bad.sh").write_text("#!/bin/bash\n#SBATCH -n none\ntrue\n")
    with pytest.raises(InputError) as caught:
        read_scenario(files)
    assert said in str(caught.value)


def test_a_session_and_a_trace_do_not_go_together() -> None:
    with pytest.raises(InputError, match="a session and a trace"):
        read_scenario(["slurm.conf", "jobs.session"], work=trace())


def test_sacct_without_the_time_of_submission_says_which_column_is_missing(tmp_path: Path) -> None:
    (tmp_path / "month.txt").write_text("JobID|JobName|State|Elapsed|\n49|a|COMPLETED|00:01:06|\n")
    with pytest.raises(InputError, match="Submit: no job says when it was submitted"):
        read_scenario([tmp_path / "slurm.conf", tmp_path / "month.txt"])


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.session", "ann sbatch -n1 --wrap x\n", "a.session, line 1: not a line of a session"),
        ("commands", "# mine\n\n@0s ann sbtch -n1\n", "commands, line 3: not modelled: a command, found 'sbtch'"),
    ],
)
def test_a_session_of_mistakes_is_a_session(tmp_path: Path, name: str, text: str, said: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError) as caught:
        read_scenario([tmp_path / "slurm.conf", tmp_path / name])
    assert said in str(caught.value)


def test_a_limit_on_an_unknown_resource_is_an_error_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "accounts.dump").write_text(
        ACCOUNTS.replace("Organization='bio':", "Organization='bio':GrpTRES=cpuu=64:")
    )
    with pytest.raises(InputError, match=r"accounts.dump, line 5.*no TRES known by type cpuu"):
        read_scenario([tmp_path / name for name in ("slurm.conf", "accounts.dump", "jobs.session")])
