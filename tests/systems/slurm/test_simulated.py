"""Slurm end to end: small clusters and sessions, simulated, with the outcome that Slurm's manuals and source imply.

E4, E6 and E7 are worked examples of a sheet on Slurm's rules; the others follow from a manual page each.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from gnomon import api
from gnomon.engine.log import Kind, Reason, State
from gnomon.model.fault import Failure, Fault
from gnomon.model.scenario import Scenario
from gnomon.systems.slurm.cluster.state import SECOND
from gnomon.systems.slurm.scenario import read_scenario

pytestmark = pytest.mark.unit

HEAD = """ClusterName=c
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
"""
NODES = "NodeName=n[1-4] CPUs=2 CoresPerSocket=2\nPartitionName=batch Nodes=ALL Default=YES MaxTime=1-0\n"
Make = Callable[..., Scenario]
SLACK_S = 35
"""Backfill looks every 30 s, the main scheduler within 3 s."""


class Ran:
    """What became of the jobs of a session, by their names in Slurm."""

    def __init__(self, scenario: Scenario) -> None:
        self.run = api.simulate(scenario, invariants=True)
        work, self.what, log = scenario.work, self.run.outcome, self.run.log
        self.row = {work.id(task): task for task in range(len(work))}
        self.said: dict[str, list[str]] = {name: [] for name in self.row}
        for row, facts in sorted(log.details.items()):
            if log.kind[row] in (Kind.WAIT, Kind.REJECT) and "message" in facts:
                self.said[work.id(int(log.subject[row]))].append(str(facts["message"]))

    def start_s(self, job: str) -> float:
        return int(self.what.start_ns[self.row[job]]) / SECOND

    def end_s(self, job: str) -> float:
        return int(self.what.end_ns[self.row[job]]) / SECOND

    def state(self, job: str) -> State:
        return State(int(self.what.state[self.row[job]]))

    def starts_at(self, job: str, seconds: float, slack_s: float = SLACK_S) -> bool:
        return seconds <= self.start_s(job) <= seconds + slack_s


@pytest.fixture
def scenario(tmp_path: Path) -> Make:
    """Makes the scenario of a session on a cluster."""

    def make(session: str, conf: str = NODES, accounts: str = "") -> Scenario:
        files = {"slurm.conf": HEAD + conf, "jobs.session": session, "accounts.dump": accounts}
        for name, text in files.items():
            (tmp_path / name).write_text(text)
        return read_scenario([tmp_path / name for name, text in files.items() if text])

    return make


E4 = """@0m  ann sbatch -N3 --exclusive -t 100 --wrap x   # runs 100m
@1m  ann sbatch -N4 --exclusive -t 60  --wrap x   # runs 60m
@2m  ann sbatch -N1 --exclusive -t 90  --wrap x   # runs {third}
@3m  ann sbatch -N1 --exclusive -t 120 --wrap x   # runs 120m
"""


@pytest.mark.parametrize("third", ["90m", "6m"])
def test_e4_backfill_lets_pass_who_delays_nobody(scenario: Make, third: str) -> None:
    """Job 1 has three of four nodes for 100 min, job 2 wants all of them. Job 3 is over by then; job 4 would not be,
    also where job 3 ends early and a node stands idle."""
    ran = Ran(scenario(E4.format(third=third)))
    assert ran.starts_at("1", 0)
    assert ran.starts_at("3", 2 * 60)
    assert ran.starts_at("2", 100 * 60)
    assert ran.starts_at("4", 160 * 60, 2 * SLACK_S)
    assert "Resources" in ran.said["2"]
    assert "Priority" in ran.said["4"]


def test_without_backfill_nobody_passes(scenario: Make) -> None:
    """sched/builtin is strictly first in, first out in a partition (slurm.conf(5), SchedulerType)."""
    ran = Ran(scenario(E4.format(third="90m"), f"SchedulerType=sched/builtin\n{NODES}"))
    assert ran.start_s("1") < ran.start_s("2") < ran.start_s("3") <= ran.start_s("4")
    assert ran.starts_at("3", 160 * 60, 2 * SLACK_S)


def crashed(scenario: Scenario) -> Ran:
    """With node n1 lost for good just after the ping round at 100 s."""
    return Ran(replace(scenario, faults=(Failure(Fault.CRASH, 101 * SECOND, targets=("node/n1",)),)))


def closed_ns(ran: Ran) -> int:
    """When the one lost node was taken for DOWN."""
    log = ran.run.log
    (row,) = ((log.kind == Kind.CLOSE) & (log.reason == Reason.LOST)).nonzero()[0]
    return int(log.t_ns[row])


def begun_ns(ran: Ran, job: str) -> list[int]:
    """When each attempt of a job began."""
    log = ran.run.log
    return log.t_ns[(log.kind == Kind.START) & (log.subject == ran.row[job])].tolist()  # type: ignore[no-any-return]


def test_e6_a_silent_node_is_down_after_400_to_500_seconds(scenario: Make) -> None:
    """Rounds of pings each 100 s; its job is for that very node, which stays down."""
    ran = crashed(scenario("@0s ann sbatch -w n1 -n1 -t 60 --wrap x # runs 20m\n"))
    assert 400 * SECOND <= closed_ns(ran) - 100 * SECOND <= 500 * SECOND
    assert len(begun_ns(ran, "1")) == 1
    assert "BeginTime" in ran.said["1"]


def test_e7_its_job_begins_anew_elsewhere_after_121_seconds(scenario: Make) -> None:
    ran = crashed(scenario("@0s ann sbatch -n1 -t 60 --wrap x # runs 20m\n"))
    _, second = begun_ns(ran, "1")
    assert 121 * SECOND <= second - closed_ns(ran) <= (121 + SLACK_S) * SECOND
    assert ran.state("1") is State.DONE


def test_time_limits_are_looked_at_each_half_minute(scenario: Make) -> None:
    ran = Ran(scenario("@0s ann sbatch -n1 -t 1 --wrap x # runs 5m\n"))
    assert ran.state("1") is State.KILLED
    assert 60 <= ran.end_s("1") - ran.start_s("1") <= 90


RESET = "PriorityType=priority/multifactor\nPriorityDecayHalfLife=0\nPriorityUsageResetPeriod=YEARLY\n"
MINUTES = """Cluster - 'c':Fairshare=1:QOS='normal'
Parent - 'root'
Account - 'phys':Description='phys':Organization='phys':Fairshare=1:GrpTRESMins=cpu=30
Parent - 'phys'
User - 'ann':DefaultAccount='phys':Fairshare=1
"""


@pytest.mark.parametrize(("enforce", "minutes"), [("limits", 15), ("safe", 60)])
def test_minutes_that_are_used_up_end_jobs_that_run_unless_only_safe_ones_start(
    scenario: Make, enforce: str, minutes: int
) -> None:
    """Two CPUs have used 30 CPU minutes after a quarter of an hour; usage is known each PriorityCalcPeriod (5 min). Who
    is sure to stay below the limit is not looked at any more."""
    conf = f"AccountingStorageEnforce={enforce}\n{RESET}{NODES}"
    limit = MINUTES if enforce == "limits" else MINUTES.replace("cpu=30", "cpu=120")
    ran = Ran(scenario("@0s ann sbatch -n2 -t 60 --wrap x # runs 1h\n", conf, limit))
    assert minutes * 60 <= ran.end_s("1") - ran.start_s("1") <= (minutes + 5) * 60 + 30
    assert ran.state("1") is (State.KILLED if enforce == "limits" else State.DONE)
    if enforce == "limits":
        assert ran.what.reason[ran.row["1"]] == Reason.AT_ESTIMATE
        words = [str(facts.get("message")) for facts in ran.run.log.details.values()]
        assert any("group max TRES(cpu) minutes of 30" in word for word in words)


def test_over_time_limit_lets_them_run_on(scenario: Make) -> None:
    ran = Ran(scenario("@0s ann sbatch -n1 -t 1 --wrap x # runs 5m\n", f"OverTimeLimit=10\n{NODES}"))
    assert ran.state("1") is State.DONE


@pytest.mark.parametrize(("limit_min", "state"), [(5, State.KILLED), (20, State.KILLED), (60, State.DONE)])
def test_a_limit_that_is_changed_while_a_job_runs_counts(scenario: Make, limit_min: int, state: State) -> None:
    """scontrol(1), TimeLimit: counted from the start; looked at each 30 s."""
    ran = Ran(
        scenario(
            f"@0s ann sbatch -n1 -t 10 --wrap x   # runs 30m\n@60s root scontrol update JobId=1 TimeLimit={limit_min}\n"
        )
    )
    assert ran.state("1") is state
    assert 0 <= ran.end_s("1") - ran.start_s("1") - 60 * min(limit_min, 30) <= 30


def test_a_longer_limit_counts_after_a_job_has_stood_still(scenario: Make) -> None:
    ran = Ran(
        scenario(
            "@0s   ann  sbatch -n1 -t 60 --wrap x   # runs 30m\n"
            "@60s  root scontrol suspend 1\n"
            "@360s root scontrol resume 1\n"
            "@400s root scontrol update JobId=1 TimeLimit=120\n"
        )
    )
    assert ran.state("1") is State.DONE
    assert ran.end_s("1") - ran.start_s("1") == 35 * 60


def test_at_most_so_many_tasks_of_an_array_run_at_once(scenario: Make) -> None:
    """``%2`` (sbatch(1), --array)."""
    ran = Ran(scenario("@0s ann sbatch -a 1-5%2 -n1 -t 10 --wrap x # runs 2m\n"))
    tasks = [f"1_{index}" for index in range(1, 6)]
    for one in tasks:
        beside = [t for t in tasks if ran.start_s(t) <= ran.start_s(one) < ran.end_s(t)]
        assert len(beside) <= 2
    assert any("JobArrayTaskLimit" in ran.said[task] for task in tasks)


def test_dependencies(scenario: Make) -> None:
    ran = Ran(
        scenario(
            "@0s ann sbatch -n1 -t 10 --wrap x                  # runs 2m exit 1\n"
            "@1s ann sbatch -n1 -t 10 -d afterok:1 --wrap x     # runs 1m\n"
            "@1s ann sbatch -n1 -t 10 -d afternotok:1 --wrap x  # runs 1m\n"
            "@1s ann sbatch -n1 -t 10 -d afterany:3 --wrap x    # runs 1m\n"
        )
    )
    assert ran.state("2") is not State.DONE
    assert "DependencyNeverSatisfied" in ran.said["2"]
    assert ran.start_s("3") >= ran.end_s("1")
    assert ran.start_s("4") >= ran.end_s("3")


TIERS = """NodeName=n[1-4] CPUs=2 CoresPerSocket=2
PartitionName=batch Nodes=ALL Default=YES MaxTime=1-0 PriorityTier=1
PartitionName=urgent Nodes=ALL MaxTime=1-0 PriorityTier=2
"""


def test_a_higher_tier_goes_first(scenario: Make) -> None:
    """Jobs of a partition with a higher PriorityTier are looked at first (slurm.conf(5))."""
    whole = "-N4 --exclusive -t 10 --wrap x # runs 5m\n"
    ran = Ran(scenario(f"@0s ann sbatch {whole}@10s ann sbatch {whole}@20s ann sbatch -p urgent {whole}", TIERS))
    assert ran.start_s("1") < ran.start_s("3") < ran.start_s("2")


PREEMPT = (
    """PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
"""
    + TIERS
)


def test_a_higher_tier_takes_the_place_of_a_lower_one(scenario: Make) -> None:
    whole = "-N4 --exclusive -t 60 --wrap x # runs 20m\n"
    ran = Ran(scenario(f"@0s ann sbatch {whole}@5m bob sbatch -p urgent {whole}", PREEMPT))
    assert ran.starts_at("2", 5 * 60)
    assert ran.start_s("1") >= ran.end_s("2")  # its second start
    assert int(ran.what.attempts[ran.row["1"]]) == 2


def test_a_maintenance_window_keeps_off_who_would_reach_into_it(scenario: Make) -> None:
    ran = Ran(
        scenario(
            "@0s root scontrol create reservation ReservationName=m StartTime=now+60minutes Duration=60 Nodes=ALL "
            "Flags=MAINT Users=root\n"
            "@1m ann sbatch -n1 -t 90 --wrap x  # runs 10m\n"
            "@2m ann sbatch -n1 -t 30 --wrap x  # runs 10m\n"
        )
    )
    assert ran.starts_at("2", 2 * 60)
    assert ran.starts_at("1", 120 * 60)
    assert any("Reserved for maintenance" in text for text in ran.said["1"])


DUMP = """Cluster - 'c':Fairshare=1:QOS='normal'
Parent - 'root'
Account - 'phys':Description='phys':Organization='phys':Fairshare=1:GrpTRES=cpu=3
Parent - 'phys'
User - 'ann':DefaultAccount='phys':Fairshare=1
"""


def test_a_limit_of_an_account_holds_its_jobs_and_no_others(scenario: Make) -> None:
    """An account that may have 3 CPUs has 2 of 8 in use; bob is no user at all."""
    conf = f"AccountingStorageType=accounting_storage/slurmdbd\nAccountingStorageEnforce=limits\n{NODES}"
    ran = Ran(
        scenario(
            "@0s ann sbatch -n2 -t 10 --wrap x # runs 5m\n"
            "@1s ann sbatch -n2 -t 10 --wrap x # runs 5m\n"
            "@2s ann sbatch -n1 -t 10 --wrap x # runs 5m\n"
            "@3s bob sbatch -n1 -t 10 --wrap x # runs 5m\n",
            conf,
            DUMP,
        )
    )
    assert "AssocGrpCpuLimit" in ran.said["2"]
    assert ran.starts_at("3", 2)
    assert ran.starts_at("2", 5 * 60)
    assert ran.said["4"][-1].endswith("Invalid account or account/partition combination specified")
    assert ran.state("4") is State.REJECTED


@pytest.mark.parametrize(
    ("options", "tasks", "says"),
    [
        ("-n1 -p nowhere", 1, "Invalid partition name specified"),
        ("-N1 -n3", 1, "Requested node configuration is not available"),
        ("-N1 -n3 --array=1-3", 3, "Requested node configuration is not available"),
        ("-n1 --array=1-3 -p nowhere", 3, "Invalid partition name specified"),
        ("-n1 : -n1 -p nowhere", 2, "Invalid partition name specified"),
    ],
)
def test_all_tasks_of_a_refused_submission_are_rejected(scenario: Make, options: str, tasks: int, says: str) -> None:
    """Also those that leave a record (seen.md, 11: FAILED, BadConstraints)."""
    ran = Ran(scenario(f"@0s ann sbatch {options} --wrap x\n@1m ann sbatch -n1 --wrap x # runs 1m\n"))
    *refused, last = ran.row
    assert len(refused) == tasks
    assert {ran.state(job) for job in refused} == {State.REJECTED}
    assert all(ran.said[job][-1].endswith(says) for job in refused)
    assert (ran.state(last), ran.run.metrics()["rejected"]) == (State.DONE, tasks)


def test_jobs_keep_to_their_begin_time(scenario: Make) -> None:
    ran = Ran(scenario("@0s ann sbatch -n1 -t 10 --begin=now+10minutes --wrap x # runs 1m\n"))
    assert ran.starts_at("1", 10 * 60)
    assert ran.said["1"][0] == "BeginTime"


def test_equal_sessions_give_equal_logs(scenario: Make) -> None:
    first, second = Ran(scenario(E4.format(third="90m"))), Ran(scenario(E4.format(third="90m")))
    assert first.run.log.digest() == second.run.log.digest()


def test_a_node_that_is_drained_takes_nobody_new(scenario: Make) -> None:
    ran = Ran(
        scenario(
            "@0s root scontrol update NodeName=n[1-4] State=DRAIN Reason=x\n"
            "@1s ann sbatch -n1 -t 10 --wrap x # runs 1m\n"
            "@10m root scontrol update NodeName=n3 State=RESUME\n"
        )
    )
    assert ran.starts_at("1", 10 * 60)
