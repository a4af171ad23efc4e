"""A job that used-up minutes hold starts when enough of them is forgotten, though nothing else happens."""

from pathlib import Path

from gnomon.systems.slurm.sbatch.request import JobRequest
from tests.systems.slurm.machines import USERS, machine

LINES = (
    "PriorityType=priority/multifactor",
    "PriorityDecayHalfLife=10",
    "PriorityWeightFairshare=100",
    "AccountingStorageEnforce=limits",
)


def test_decay_frees_who_waits_for_it(tmp_path: Path) -> None:
    told = machine(tmp_path, *LINES, accounts=(*USERS, "modify account phys set GrpTRESMins=cpu=20"))
    usage = told.state.usage
    usage.tres[:, told.state.tree.tres_number["cpu"]] = usage.wall[:] = 30 * 60.0  # 30 CPU minutes were used
    told.submit(JobRequest(user="b", tasks=1, cpus_min=1, time_min=1, run_s=10), 1)
    told.run_to(20)
    waits = next(iter(told.state.pending))
    assert waits.reason == "AssocGrpCPUMinutesLimit"
    told.run_to(3600)
    assert waits.state == "COMPLETED"
    # after 351 s less than 20 are left of them, which is looked at each PriorityCalcPeriod (5 min, the first is at 0)
    assert 351 < waits.stints[0].start_ns // 10**9 <= 910


def test_who_asks_for_more_than_there_will_ever_be_waits_without_an_end_of_looks(tmp_path: Path) -> None:
    told = machine(tmp_path, *LINES, accounts=(*USERS, "modify account phys set GrpTRESMins=cpu=20"))
    told.submit(JobRequest(user="a", tasks=1, cpus_min=1, time_min=60, run_s=300), 0)
    told.run_to(7 * 86_400)
    assert told.machine.next_ns > 7 * 86_400 * 10**9 + 10**15  # nothing is to come
