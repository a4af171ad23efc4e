"""The same commands to a real Slurm and to the model: who starts when, where, and how it ends.

Where Slurm's own programs are absent the tests are skipped, and say what is missing.
"""

from pathlib import Path
from typing import Any, Final

import pytest

from gnomon.systems.slurm.golden import judge
from tests.systems.slurm import lab

pytestmark = [
    pytest.mark.conformance,
    pytest.mark.slow,
    pytest.mark.skipif(bool(lab.absent()), reason=lab.absent() or "Slurm is here"),
]

CONF: Final = """\
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=1,sched_interval=1,bf_interval=1
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
DefMemPerCPU=1000
PriorityType=priority/basic
NodeName=n[1-2] CPUs=8 SocketsPerBoard=2 CoresPerSocket=4 ThreadsPerCore=1 RealMemory=16000 State=UNKNOWN
NodeName=n3 CPUs=4 SocketsPerBoard=1 CoresPerSocket=4 ThreadsPerCore=1 RealMemory=8000 State=UNKNOWN
PartitionName=batch Nodes=ALL Default=YES MaxTime=INFINITE State=UP
PartitionName=short Nodes=n3 MaxTime=5 PriorityTier=5 State=UP
"""


def job(at_s: float, args: str, run_s: int, code: int = 0) -> dict[str, Any]:
    script = f"#!/bin/bash\nsleep {run_s}\nexit {code}\n"
    return {"at_s": at_s, "do": "sbatch", "user": "root", "args": args.split(), "script": script}


def command(at_s: float, text: str) -> dict[str, Any]:
    program, *args = text.split()
    return {"at_s": at_s, "do": program, "user": "root", "args": args}


BODIES: Final[dict[str, list[dict[str, Any]]]] = {
    "a queue with backfill": [
        job(0, "-J runs -N1 -n8 -t2", 8),
        job(0, "-J all -N3 -t1", 3),
        job(2.5, "-J passes -n4 -p short -t1", 3),
        job(2.5, "-J too-long -n8 -t30", 3),
        job(2.5, "-J short -N1 -n6 -t1", 3),
    ],
    "dependencies, arrays, holds": [
        job(0, "-J fails -n2 -t1", 3, code=3),
        job(0, "-J after -d afternotok:1 -n8 -t1", 3),
        job(0, "-J held --hold -n1 -t1", 2),
        job(0, "-J gone -d afterok:1 -n1 -t1", 2),
        job(0, "-J tasks --array=1-3%1 -n4 -t1", 3),  # the last: its tasks take the next ids as they start
        command(2.5, "scontrol release 3"),
        command(6, "scancel 4"),
    ],
    "what cannot be": [
        job(0, "-J wide -N4 -t1", 2),
        job(0, "-J big -N1 -n9 -t1", 2),
        job(0, "-J never -p nowhere -n1", 2),
        job(0, "-J fine -w n3 -n2 -t1", 2),
        job(0, "-J late -p short -n1 -t6", 2),
        command(2.5, "scancel 1"),
        command(3, "scontrol update PartitionName=short MaxTime=10"),
    ],
}


@pytest.mark.parametrize("name", BODIES)
def test_the_model_does_what_slurm_does(name: str, tmp_path: Path) -> None:
    steps = BODIES[name]
    with lab.cluster(tmp_path, CONF) as real:
        version = real.run("sinfo", "-V")[1].split()[-1]
        outcome = real.play(steps)
    case = {"slurm_conf": CONF, "version": version, "steps": steps, "outcome": outcome}
    agrees, differences, _ = judge({**case, "repeat": {"start_jitter_s": 1}})  # scontrol tells whole seconds only
    assert agrees, differences
