"""Each reason of squeue: what it means here, what else holds, and what helps."""

from __future__ import annotations

from pathlib import Path

import pytest

from gnomon.model.errors import InputError
from tests.insight.slurm.desk import CONF, DUMP, LIMITS, Desk, fields, first_change


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


class TestTheLine:
    SESSION = """
@0s  ann  sbatch -J run -N3 -n24 -t 60 --wrap x    # runs 50m
@1s  ann  sbatch -J wide -N4 -n32 -t 60 --wrap x   # runs 50m
@2s  bob  sbatch -J small -n4 -t 120 --wrap x      # runs 20m
"""

    def test_resources_is_the_first_with_what_is_short(self, desk: Desk) -> None:
        found = desk.explain("wide", self.SESSION)
        assert found.native == "Resources"
        assert "it is the first in the line of main" in found.summary
        assert "1 node could take a part of it, and it needs 4" in found.summary
        assert [(one.nodes, one.example) for one in found.classes] == [(1, "n4"), (3, "n1")]
        assert first_change(found) == ("--nodes", 4, 1)

    def test_priority_is_no_low_priority_and_a_shorter_limit_starts_it(self, desk: Desk) -> None:
        found = desk.explain("small", self.SESSION)
        assert found.native == "Priority"
        assert "the first is job 2, Resources" in found.summary
        assert "there is room for it now (n4), but its time limit of 2h reaches past 1h" in found.summary
        assert found.classes[0].reasons[0].startswith("promised to job 2 from 1h")
        assert ("--time", 120, 59) in [(one.field, one.before, one.after) for one in found.changes]

    def test_by_limits_and_in_fact(self, desk: Desk) -> None:
        found = desk.explain("small", self.SESSION)
        assert "By time limits backfill expects it to start at 2h1m" in found.summary
        assert "it starts at 1h40m" in found.summary

    def test_without_backfill_nobody_passes(self, desk: Desk) -> None:
        found = desk.explain("small", self.SESSION, CONF + "SchedulerType=sched/builtin\n")
        assert "with SchedulerType=sched/builtin nobody passes the one before him" in found.summary


class TestLimits:
    def test_of_an_account_with_who_uses_it(self, desk: Desk) -> None:
        session = """
@0s  bob  sbatch -n16 -t 60 --wrap x   # runs 50m
@1s  ann  sbatch -J more -n8 -t 60 --wrap x   # runs 50m
"""
        dump = DUMP.format(account=":GrpTRES=cpu=20", user="")
        found = desk.explain("more", session, LIMITS + CONF, **{"acc.dump": dump})
        assert found.native == "AssocGrpCpuLimit"
        assert "account phys has GrpTRES=cpu=20; 16 cpu are in use by job 1, and this job adds 8" in found.summary
        assert found.waiting[0].numbers == {"limit": 20, "used": 16, "asked": 8}
        assert first_change(found) == ("--ntasks", 8, 4)
        assert ("GrpTRES=cpu", 20, 24) in [(one.field, one.before, one.after) for one in found.changes]

    def test_of_a_user_on_jobs(self, desk: Desk) -> None:
        session = """
@0s  ann  sbatch -n1 -t 60 --wrap x   # runs 50m
@1s  ann  sbatch -J second -n1 -t 60 --wrap x   # runs 50m
"""
        dump = DUMP.format(account="", user=":MaxJobs=1")
        found = desk.explain("second", session, LIMITS + CONF, **{"acc.dump": dump})
        assert found.native == "AssocMaxJobsLimit"
        assert first_change(found) == ("MaxJobs", 1, 2)
        assert "cancel" in fields(found)

    def test_of_a_qos_on_time(self, desk: Desk) -> None:
        qos = "Name|Priority|MaxWall\nnormal|0|\nlow|0|01:00:00\n"
        files = {"acc.dump": DUMP.format(account="", user=""), "qos.txt": qos}
        found = desk.explain("1", "@0s ann sbatch -q low -n1 -t 120 --wrap x # runs 5m\n", LIMITS + CONF, **files)
        assert found.native == "QOSMaxWallDurationPerJobLimit"
        assert "it can never start with that limit" in found.summary
        assert first_change(found) == ("--time", 120, 60)
        assert fields(found) == ["--time", "--qos", "MaxWall"]

    def test_of_a_partition_on_time(self, desk: Desk) -> None:
        found = desk.explain("1", "@0s ann sbatch -n1 -t 2-0 --wrap x # runs 5m\n")
        assert found.native == "PartitionTimeLimit"
        assert "it asks for 2d, and MaxTime of main is 1d" in found.summary
        assert fields(found) == ["--time", "MaxTime"]

    def test_of_a_partition_on_nodes(self, desk: Desk) -> None:
        found = desk.explain("1", "@0s ann sbatch -N5 -t 5 --wrap x # runs 5m\n")
        assert found.native == "PartitionNodeLimit"
        assert first_change(found) == ("--nodes", 5, 4)


class TestOtherReasons:
    def test_licences(self, desk: Desk) -> None:
        session = """
@0s  bob  sbatch -L matlab:3 -n1 -t 60 --wrap x   # runs 50m
@1s  ann  sbatch -J next -L matlab:2 -n1 -t 60 --wrap x   # runs 50m
"""
        found = desk.explain("next", session, CONF + "Licenses=matlab:4\n")
        assert "1 of 4 licences matlab are free (in use by 1), and it asks for 2" in found.summary
        assert fields(found) == ["--licenses", "cancel"]

    def test_a_hold(self, desk: Desk) -> None:
        found = desk.explain("1", "@0s ann sbatch -H -n1 -t 5 --wrap x # runs 5m\n")
        assert found.native == "JobHeldUser"
        assert [one.what for one in found.changes] == ["release it (scontrol release 1): it starts at once"]

    def test_begin(self, desk: Desk) -> None:
        found = desk.explain("1", "@0s ann sbatch --begin=now+1hour -n1 -t 5 --wrap x # runs 5m\n")
        assert (found.native, found.waiting[0].earliest_ns) == ("BeginTime", 3600 * 10**9)
        assert first_change(found)[0] == "--begin"

    def test_a_node_by_name_that_is_drained(self, desk: Desk) -> None:
        session = """
@0s  root  scontrol update NodeName=n3 State=DRAIN Reason=disk
@1s  ann   sbatch -w n3 -n8 -t 5 --wrap x   # runs 5m
"""
        found = desk.explain("1", session)
        assert found.native == "ReqNodeNotAvail, UnavailableNodes:n3"
        assert "it asks for n3 by name, and n3 is down or drained" in found.summary
        assert fields(found) == ["--nodelist", "State"]
        assert ("DRAINED: disk",) in [one.reasons for one in found.classes]

    def test_an_array_limit(self, desk: Desk) -> None:
        found = desk.explain("1", "@0s ann sbatch -a 1-6%2 -n1 -t 60 --wrap x # runs 50m\n")
        assert found.native == "JobArrayTaskLimit"
        assert (
            "those held by %2 are no demand for nodes: the array never has more than 2 x 1 = 2 nodes" in found.summary
        )
        assert first_change(found) == ("--array", "%2", "%3")

    def test_a_preempted_job_is_back_in_121_seconds(self, desk: Desk) -> None:
        conf = CONF.replace("Default=YES", "Default=YES PriorityTier=1")
        conf += "PreemptType=preempt/partition_prio\nPreemptMode=REQUEUE\n"
        conf += "PartitionName=urgent Nodes=n[1-4] State=UP PriorityTier=9\n"
        session = """
@0s   bob  sbatch -J low -N4 -n32 -t 60 --wrap x   # runs 50m
@60s  ann  sbatch -J high -p urgent -N1 -n8 -t 60 --wrap x   # runs 20m
"""
        found = desk.explain("low", session, conf)
        assert found.native == "BeginTime"
        assert "it was requeued (PREEMPTED), and a requeued job begins 121s later" in found.summary

    def test_an_exclusive_job_beside_a_small_one(self, desk: Desk) -> None:
        session = """
@0s  bob  sbatch -a 1-4 --exclusive -n1 -t 60 --wrap x   # runs 50m
@1s  ann  sbatch -J whole --exclusive -n1 -t 60 --wrap x   # runs 20m
"""
        found = desk.explain("whole", session)
        assert found.native == "Resources"
        assert found.classes[0].nodes == 4


class TestRefusals:
    @pytest.mark.parametrize(
        ("words", "says", "change"),
        [
            ("-p mian -n1", "there are the partitions main", ("--partition", "mian", "main")),
            ("-C intle -n1", "nodes have the features intel", ("--constraint", "intle", "intel")),
            ("-N1 -n9", "n1 has 8 CPUs, 9 are needed", ("--ntasks", 9, 8)),
            ("-n1 --mem=17000", "n1 has 16000 MB of memory, 17000 are needed", ("--mem", 17000, 16000)),
            ("-n1 -c9", "n1 has 8 CPUs, 9 are needed", ("--cpus-per-task", 9, 8)),
            ("-n1 --tmp=500", "n1 has 0 MB of temporary disk, 500 are needed", None),
        ],
    )
    def test_what_cannot_be_met_and_what_is_taken(
        self, desk: Desk, words: str, says: str, change: tuple[str, object, object] | None
    ) -> None:
        found = desk.explain("job", f"@0s ann sbatch -J job {words} -t 5 --wrap x # runs 5m\n")
        assert found.state == "rejected"
        assert found.native.startswith("sbatch: error: ")
        assert says in found.summary
        assert change is None or first_change(found) == change

    def test_an_unknown_account(self, desk: Desk) -> None:
        dump = DUMP.format(account="", user="")
        session = "@0s ann sbatch -J job -A chem -n1 -t 5 --wrap x # runs 5m\n"
        found = desk.explain("job", session, LIMITS + CONF, **{"acc.dump": dump})
        assert "user ann is in phys, not in chem" in found.summary
        assert first_change(found) == ("--account", "chem", "phys")


class TestSubjects:
    SESSION = """
@0s  ann  sbatch -J train -N3 -n24 -t 60 --wrap x   # runs 50m
@1s  ann  sbatch -J train-2 -N4 -n32 -t 60 --wrap x   # runs 50m
@2s  bob  sbatch -J sweep -a 1-3 -n8 -t 60 --wrap x   # runs 20m
"""

    @pytest.mark.parametrize(
        ("text", "subject"),
        [
            ("1", "job/1"),
            ("job/2", "job/2"),
            ("train", "job/1"),
            ("weep", "job/3_3"),
            ("3_2", "job/3_2"),
            ("3", "job/3_3"),
        ],
    )
    def test_jobs_by_id_and_name(self, desk: Desk, text: str, subject: str) -> None:
        found = desk.explain(text, self.SESSION)
        assert found.subject.startswith(subject.partition("_")[0])

    def test_a_node_and_a_partition(self, desk: Desk) -> None:
        node = desk.explain("node/n1", self.SESSION)
        assert (node.state, node.subject) == ("allocated", "node/n1")
        assert "job 1 runs there" in node.summary or "job 1 run there" in node.summary
        assert "of its jobs run" in desk.explain("partition/main", self.SESSION).summary

    @pytest.mark.parametrize("text", ["9", "nobody", "rai", "node/n9", "partition/none", "user/ann"])
    def test_what_is_not_there_is_said(self, desk: Desk, text: str) -> None:
        with pytest.raises(InputError):
            desk.explain(text, self.SESSION)
