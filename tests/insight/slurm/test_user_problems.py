"""What users asked in public trackers, on files as Slurm has them: the right reason, the right smallest change.

Cases and right answers: the collection of user problems, by number; the files say what the cluster is.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from gnomon.api import explain, simulate
from gnomon.engine.log import Kind
from gnomon.insight.explain import Explanation
from gnomon.model.quantity import NS_PER_S
from gnomon.model.scenario import Scenario
from gnomon.systems.slurm.scenario import read_scenario

CASES = Path(__file__).parent / "cases"
HOUR = 3600 * NS_PER_S


def scenario(case: str, conf: str = "slurm.conf", *more: str) -> Scenario:
    return read_scenario([str(CASES / case / name) for name in (conf, *(more or ("jobs.session",)))])


@cache
def explained(case: str, subject: str, conf: str = "slurm.conf", *more: str, why_not: str | None = None) -> Explanation:
    return explain(subject, scenario(case, conf, *more), why_not=why_not)


def changes(found: Explanation) -> list[tuple[str, object, object]]:
    assert all(one.confirmed for one in found.changes)
    costs = [one.cost for one in found.changes]
    assert costs == sorted(costs)
    return [(one.field, one.before, one.after) for one in found.changes]


def rules(found: Explanation) -> list[tuple[str, str, str]]:
    return [(one.kind, one.rule, one.object) for one in found.waiting]


def starts_ns(one: Scenario) -> list[int]:
    log = simulate(one).log
    found = {
        int(task): int(t) for task, t, kind in zip(log.subject, log.t_ns, log.kind, strict=True) if kind == Kind.START
    }
    return [found[task] for task in sorted(found)]


class TestU25NoMemoryAsked:
    """A job that asks for no memory gets all of its node's: memory is what is short, not cores."""

    def test_two_run_and_nineteen_wait_for_resources(self) -> None:
        found = explained("u25", "1")
        assert (found.state, found.native) == ("waiting", "Resources")
        assert "Of its 21 tasks 2 run and 19 wait (Resources)" in found.summary

    def test_memory_is_named_with_the_cores_that_are_idle(self) -> None:
        found = explained("u25", "1_5")
        assert "memory, not CPUs: without --mem and DefMemPerCPU" in found.summary
        assert found.classes[0].nodes == 2
        assert found.classes[0].reasons[0] == "0 of 48000 MB of memory free, 48000 are needed (11 of 12 CPUs are idle)"

    def test_a_default_or_an_own_word_helps(self) -> None:
        found = changes(explained("u25", "1_5"))
        assert found[0] == ("--mem-per-cpu", None, 4000)
        assert ("DefMemPerCPU", None, 4000) in found

    def test_with_the_default_all_start(self) -> None:
        one = scenario("u25", "with-default.conf")
        starts = starts_ns(one)
        assert len(starts) == 21
        assert max(starts) < 60 * NS_PER_S


class TestU27Maintenance:
    """A limit that reaches into the window waits until its end."""

    def test_the_short_one_starts_now(self) -> None:
        found = explained("u27", "job2")
        assert (found.state, found.changes) == ("running", ())
        assert found.chain[-2].t_ns < 60 * NS_PER_S

    def test_the_long_one_waits_for_the_end_of_the_window(self) -> None:
        found = explained("u27", "job1")
        assert found.native == "ReqNodeNotAvail, Reserved for maintenance"
        assert rules(found) == [("event", found.native, "reservation/root_13")]
        assert found.waiting[0].earliest_ns == 120 * HOUR
        assert next(one for one in found.chain if one.event == "start").t_ns // HOUR == 120
        assert found.classes[0].nodes == 100

    def test_the_largest_limit_that_starts_now(self) -> None:
        first = changes(explained("u27", "job1"))[0]
        assert first == ("--time", 4 * 24 * 60, 72 * 60 - 1)  # it was looked at 35 s after the last command

    def test_without_a_limit_that_of_the_partition_counts(self) -> None:
        found = explained("u27", "job3")
        assert "its time limit of 7d reaches to 7d" in found.summary
        assert changes(found)[0] == ("--time", 7 * 24 * 60, 72 * 60 - 1)


class TestU29NeverSatisfied:
    """afterok on a job that failed can never be met; who depends on the dependant never runs either."""

    def test_the_first_dependant_stays(self) -> None:
        found = explained("u29", "B")
        assert (found.state, found.native) == ("waiting", "DependencyNeverSatisfied")
        assert rules(found) == [("infeasible", "DependencyNeverSatisfied", "job/1")]
        assert "job 1 is FAILED (1:0)" in found.summary
        assert "It never starts" in found.summary
        assert changes(found)[0] == ("--dependency", "afterok:1", "afterany:1")

    def test_the_second_waits_for_what_never_comes(self) -> None:
        found = explained("u29", "C")
        assert found.native == "Dependency"
        assert rules(found) == [("infeasible", "Dependency", "job/2")]
        assert "neither does this one" in found.summary

    def test_afterany_runs(self) -> None:
        found = explained("u29", "D")
        assert [one.event for one in found.chain][-2:] == ["start", "end"]

    def test_with_kill_invalid_depend_both_are_removed(self) -> None:
        for name in ("B", "C"):
            found = explained("u29", name, "kill.conf")
            assert "never starts: it is CANCELLED (DependencyNeverSatisfied) at 5m5s" in found.summary


class TestU31AllCores:
    """54 schedulable cores, 15867 MB: more is refused at once."""

    def test_more_cores_than_jobs_may_have_are_refused(self) -> None:
        found = explained("u31", "j1")
        assert found.state == "rejected"
        assert (
            found.native == "sbatch: error: Batch job submission failed: Requested node configuration is not available"
        )
        assert found.waiting[0].numbers == {"most_cpus_of_a_node": 54, "most_mb_of_a_node": 15867}
        assert found.classes[0].reasons == ("has 54 of its 56 CPUs for jobs, 56 are needed",)
        assert changes(found)[0] == ("--ntasks", 56, 54)

    def test_more_memory_than_a_node_has_is_refused(self) -> None:
        found = explained("u31", "j3")
        assert found.state == "rejected"
        assert changes(found)[0] == ("--mem", 16384, 15867)

    def test_the_others_are_taken(self) -> None:
        assert explained("u31", "j2").state == explained("u31", "j4").state == "running"

    def test_a_script_that_is_not_submitted_yet(self) -> None:
        found = explain(str(CASES / "u31" / "all-cores.sh"), scenario("u31"))
        assert (found.subject, found.state) == ("job/all-cores.sh", "rejected")
        assert changes(found)[0] == ("--ntasks", 56, 54)


class TestU32Waves:
    """EASY gives 8 units where 7 are possible: the head of the line is not delayed for the sake of the whole."""

    def test_starts_by_order(self) -> None:
        units = [start // (3000 * NS_PER_S) for start in starts_ns(scenario("u32"))]
        assert units == [0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 3, 4, 5, 5, 6, 7]

    def test_the_head_waits_for_all_nodes_though_one_is_idle(self) -> None:
        one = scenario("u32", "slurm.conf", "at-two.session")
        found = explain("job/j11", one)
        assert found.native == "Resources"
        assert "it is the first in the line of main" in found.summary
        assert sorted(row.nodes for row in found.classes) == [1, 3]


class TestU34CpusOfATask:
    """The CPUs of a task are on one node: floor(4/3) = 1 task a node."""

    def test_five_tasks_of_three_take_five_nodes_of_four(self) -> None:
        found = explained("u34", "five")
        assert "takes 5 nodes where squeue shows 4" in found.summary
        assert "a node of 4 CPUs takes 1 task" in found.summary
        assert found.chain[-2].text == "it starts on q1-1, q1-2, q1-3, q1-4 and 1 more, by the main scheduler"

    def test_on_four_nodes_it_can_never_run(self) -> None:
        found = explained("u34", "five", "four.conf", "four.session")
        assert found.state == "rejected"
        assert "4 of its 5 tasks fit" in found.summary
        assert changes(found)[0] == ("--ntasks", 5, 4)

    def test_seven_tasks_of_two_take_four(self) -> None:
        found = explained("u34", "seven")
        assert found.chain[-2].text == "it starts on q1-1, q1-2, q1-3 and q1-4, by the main scheduler"
        assert "squeue" not in found.summary

    def test_a_task_larger_than_a_node_is_refused(self) -> None:
        found = explained("u34", "wide")
        assert found.state == "rejected"
        assert changes(found) == [("--cpus-per-task", 5, 4)]


class TestU35FairShareOfTheGroup:
    """level_fs 0.048056/0.328 = 0.1465 against 0.048056/0.010 = 4.806: all of B before all of A."""

    FILES = ("slurm.conf", "accounts.dump", "jobs.session")

    def test_the_idle_user_ranks_behind_the_heavy_one_of_the_other_group(self) -> None:
        idle, heavy = (explained("u35", f"user/{name}", *self.FILES) for name in ("u1", "u2"))
        assert (idle.native, heavy.native) == ("FairShare=0.400000", "FairShare=0.800000")
        assert "It is decided below root: account a has LevelFS 0.15" in idle.summary
        assert "u1 has used nothing counts only within account a" in idle.summary

    def test_within_the_group_he_is_first(self) -> None:
        found = explained("u35", "user/u1", *self.FILES)
        assert found.chain[1].text.startswith("user u1 is 1 of 2 siblings by LevelFS: user u1 inf")

    def test_his_job_waits_behind_the_heavy_users(self) -> None:
        found = explained("u35", "mine", *self.FILES)
        assert found.native == "Priority"
        assert "most of it fairshare: 80000 above 40000; it is decided below root" in found.summary

    def test_more_shares_help(self) -> None:
        ((field, before, after),) = changes(explained("u35", "account/a", *self.FILES))
        assert (field, before) == ("Fairshare", 1000)
        assert isinstance(after, int)
        assert after > 1000


class TestU37ArrayLimit:
    """Never more than 2 tasks of 10 nodes; the 188 others are no demand."""

    def test_the_others_wait_for_the_limit_and_are_no_demand(self) -> None:
        found = explained("u37", "sweep")
        assert found.native == "JobArrayTaskLimit"
        assert rules(found) == [("limit", "JobArrayTaskLimit", "job/1")]
        assert found.waiting[0].numbers == {"running": 2, "limit": 2, "waiting": 188}
        assert "the array never has more than 2 x 10 = 20 nodes" in found.summary
        assert "the last of them ends at 15d20h" in found.summary  # 95 x 4 h

    def test_the_provider_has_no_more_nodes_so_a_higher_limit_does_not_help(self) -> None:
        assert not explained("u37", "sweep").changes

    def test_the_partition_counts_demand(self) -> None:
        found = explained("u37", "partition/compute")
        assert "2 of its jobs run, 188 wait (188 JobArrayTaskLimit)" in found.summary
        assert "of those that wait 0 are demand for nodes" in found.summary


class TestU39NoCapacity:
    """Each attempt is given a node that does not come up, and is requeued."""

    def test_it_never_runs_and_cycles_about_every_two_minutes(self) -> None:
        found = explained("u39", "train")
        assert (found.state, found.native) == ("waiting", "BeginTime")
        assert "NODE_FAIL: spot-c5-1, LimitedInstanceCapacity" in found.summary
        assert "It never runs" in found.summary
        assert "about every 2m4s" in found.summary

    def test_capacity_helps(self) -> None:
        assert ("Capacity", 0, 1) in changes(explained("u39", "train"))

    def test_with_another_type_it_fails_over(self) -> None:
        found = explained("u39", "train", "two-types.conf", "two-types.session")
        assert "It starts at 3m35s on spot-m5-1" in found.summary
