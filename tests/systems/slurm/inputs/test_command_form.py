"""Commands of a session that cannot be given are told with their line, before anything is run."""

import pytest

from gnomon.model.errors import InputError
from gnomon.systems.slurm.inputs.command_form import check_command


@pytest.mark.parametrize(
    "line",
    [
        "scontrol update JobId=5 Priority=0 Nice= TimeLimit=1-0",
        "scontrol update JobId=5_[1-3] NumNodes=2-4",
        "scontrol update NodeName=n[1-4] State=DRAIN Reason=disk",
        "scontrol update PartitionName=p MaxTime=UNLIMITED State=DOWN",
        "scontrol create reservation StartTime=now Duration=60 NodeCnt=2 Users=root",
        "scontrol hold 5",
        "scancel 5_[1-3] 7",
        "scancel -u ann --state=PENDING",
        "sbatch -n1",
    ],
)
def test_commands_that_can_be_given(line: str) -> None:
    check_command(line.split())


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("scontrol", "not modelled: a command of scontrol"),
        ("scontrol reconfigure", "not modelled: a command of scontrol"),
        ("scontrol requeue", "too few arguments"),
        ("scontrol update", "no valid entity"),
        ("scontrol update Priority=5", "no valid entity"),
        ("scontrol update JobId=5 Priority=high", "not a number"),
        ("scontrol update JobId=5 NumNodes=99999999999", "not a number"),
        ("scontrol update JobId=5 Nice=²", "not a number"),
        ("scontrol update NodeName=n[4-1] State=DOWN", "Invalid range"),
        ("scontrol create reservation Duration=-5 Nodes=ALL Users=root", "Invalid time limit specification"),
        ("scontrol create reservation NodeCnt=-1 Users=root", "not a number"),
        ("scancel", "No job identification provided"),
        ("scancel --foo 5", "not modelled: an option of scancel"),
        ("scancel 5_[1-99999999]", "Too many hosts"),
    ],
)
def test_commands_that_cannot(line: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        check_command(line.split())
