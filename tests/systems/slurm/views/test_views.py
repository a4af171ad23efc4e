"""What the commands of Slurm would show of the model, beside what they showed of a real cluster in the same state."""

import re
from dataclasses import replace
from functools import cache

import pytest

from gnomon import api
from gnomon.model.errors import InputError
from gnomon.systems.slurm.read.pairs import read_records
from gnomon.systems.slurm.read.tables import read_table
from gnomon.systems.slurm.scenario import read_scenario
from gnomon.systems.slurm.views.formats import cells_of_names
from tests.systems.slurm.read import printed

SHOWN = tuple(
    printed.path(f"live/scontrol-show-{what}.txt")
    for what in ("config", "nodes", "partition", "reservation", "lic", "job")
)
ACCOUNTS = tuple(printed.DATA.parent / "accounting" / f"sacctmgr-{name}" for name in ("dump.cfg", "show-qos.txt"))


@cache
def run() -> api.Run:
    """A snapshot of the recorded cluster, half a second later."""
    scenario = read_scenario([*SHOWN, *ACCOUNTS])
    return api.simulate(replace(scenario, limits=replace(scenario.limits, until_ns=5 * 10**8)))


def rows(text: str, *drop: str) -> list[dict[str, str]]:
    found = [{k: v for k, v in row.items() if k not in drop} for row in read_table(text).rows]
    return sorted(found, key=lambda row: sorted(row.items()))


# of a waiting job the number of nodes is an estimate of slurmctld's; time went on between the recordings
LOOSE = ("TIME", "NODES")


@pytest.mark.parametrize(("command", "name"), [("squeue", "squeue.txt"), ("squeue -l", "squeue-l.txt")])
def test_squeue_shows_the_recorded_queue(command: str, name: str) -> None:
    mine, theirs = run().view(command), printed.text(f"live/{name}")
    headers = [next(line for line in text.splitlines() if "JOBID" in line) for text in (mine, theirs)]
    assert headers[0] == headers[1]
    assert rows(mine, *LOOSE) == rows(theirs, *LOOSE)


def test_squeue_is_sorted_by_partition_state_and_priority() -> None:
    mine, theirs = (
        [row["JOBID"] for row in read_table(t).rows] for t in (run().view("squeue"), printed.text("live/squeue.txt"))
    )
    apart = [row["JOBID"] for row in read_table(run().view("squeue -t PD -p batch")).rows][:6]
    assert apart == [job for job in theirs if job in apart]
    assert mine[-1] == theirs[-1]


def test_formats_of_squeue() -> None:
    form = "%i|%F|%K|%j|%u|%a|%P|%q|%T|%t|%r|%R|%Q|%p|%m|%l|%S|%e|%V|%E|%h|%y"
    mine = {row["JOBID"]: row for row in rows(run().view(f"squeue -o '{form}'"))}
    theirs = {row["JOBID"]: row for row in rows(printed.text("live/squeue-o-long.txt"))}
    for job, row in mine.items():
        if row["STATE"] == "RUNNING":
            assert {key: theirs[job][key] for key in row} == row
        else:  # when a waiting job starts, the real backfill had told already
            same = set(row) - {"START_TIME", "END_TIME"}
            assert {key: theirs[job][key] for key in same} == {key: row[key] for key in same}


def test_names_of_fields_and_widths() -> None:
    text = run().view("squeue -j 77 -h -O jobid:6,name:5,state:.9,tres-alloc:40")
    assert text == "77    big    RUNNINGcpu=8,mem=900G,node=1,billing=8         \n"
    with pytest.raises(InputError, match="not a field"):
        cells_of_names("nosuch:5", {"jobid": "i"})


def test_squeue_chooses() -> None:
    shown = run().view
    assert [row["JOBID"] for row in rows(shown("squeue -u dave -t R"))] == ["50", "77"]
    assert len(rows(shown("squeue -r -p batch -t PD"))) == len(rows(shown("squeue -p batch -t PD"))) + 11
    assert all(row["ST"] == "PD" for row in rows(shown("squeue --start")))


def test_sinfo_shows_the_recorded_nodes() -> None:
    mine = {row["NODELIST"]: row for row in read_table(run().view("sinfo -N -l")).rows}
    theirs = {row["NODELIST"]: row for row in read_table(printed.text("live/sinfo-N-l.txt")).rows}
    header = run().view("sinfo -N -l").splitlines()[1]
    assert header == printed.text("live/sinfo-N-l.txt").splitlines()[1]
    for node, row in mine.items():
        other = theirs[node]
        if other["STATE"] not in ("planned", "mixed*"):  # promised by backfill, or silent: not known half a second on
            assert row["STATE"] == other["STATE"], node
        for key in ("CPUS", "S:C:T", "MEMORY", "WEIGHT", "AVAIL_FE", "REASON"):
            assert row[key] == other[key]


def test_sinfo_in_short_and_by_reason() -> None:
    assert rows(run().view("sinfo -s")) == rows(printed.text("live/sinfo-s.txt"))
    assert rows(run().view("sinfo -R"), "TIMESTAMP") == rows(printed.text("live/sinfo-R.txt"), "TIMESTAMP")
    default = run().view("sinfo").splitlines()
    assert default[0] == printed.text("live/sinfo.txt").splitlines()[0]
    for line in printed.text("live/sinfo.txt").splitlines():
        if " drain " in line or " alloc " in line or line.startswith(("gpu", "bigmem")):
            assert line in default


def test_sprio_shows_the_recorded_factors() -> None:
    theirs = {row["JOBID"]: row for row in rows(printed.text("live/sprio-l.txt"))}
    mine = {row["JOBID"]: row for row in rows(run().view("sprio -l"))}
    for job, row in theirs.items():
        assert {k: mine[job][k] for k in row if k != "TRES"} == {k: row[k] for k in row if k != "TRES"}
    assert run().view("sprio -w") == printed.text("live/sprio-w.txt")


def test_scontrol_shows_jobs_nodes_and_partitions() -> None:
    shown = read_records(run().view("scontrol show job"))
    recorded = {one.values["JobId"]: one for one in read_records(printed.text("live/scontrol-show-job.txt"))}
    keys = ("JobName", "Account", "QOS", "JobState", "Dependency", "TimeLimit", "SubmitTime", "Partition", "NodeList")
    for one in shown:
        other = recorded[one.values["JobId"]]
        for key in keys:
            assert one.values[key] == other.values[key], (one.values["JobId"], key)
    big = next(one for one in shown if one.values["JobId"] == "77")
    for key in ("StartTime", "EndTime", "TRES", "NumCPUs", "NumTasks", "MinMemoryNode", "OverSubscribe", "Priority"):
        assert big.values[key] == recorded["77"].values[key]
    partitions = read_records(run().view("scontrol show partition"))
    for mine, theirs in zip(partitions, read_records(printed.text("live/scontrol-show-partition.txt")), strict=True):
        for key, value in mine.values.items():
            assert theirs.values[key] == value, (mine.values["PartitionName"], key)
    nodes = read_records(run().view("scontrol -o show node"))
    for mine, theirs in zip(nodes, read_records(printed.text("live/scontrol-show-nodes.txt")), strict=True):
        for key in ("CPUTot", "RealMemory", "AvailableFeatures", "Gres", "Weight", "Sockets", "CoresPerSocket"):
            assert mine.values[key] == theirs.values[key]


def test_sacct_and_sdiag() -> None:
    table = rows(run().view("sacct -X -P -o JobID,State,Timelimit,ReqTRES,AllocTRES,Start"))
    big = next(row for row in table if row["JobID"] == "77")
    assert big == {
        "JobID": "77",
        "State": "RUNNING",
        "Timelimit": "01:40:00",
        "ReqTRES": "billing=8,cpu=8,mem=900G,node=1",
        "AllocTRES": "billing=8,cpu=8,mem=900G,node=1",
        "Start": "2026-11-30T01:00:56",
    }
    assert re.search(r"(?m)^Jobs running:   14$", run().view("sdiag"))
    header = printed.text("sacct/sacct-default.txt").splitlines()[:2]
    assert run().view("sacct -X").splitlines()[:2] == header


def test_what_is_no_view_is_told() -> None:
    for command, problem in (
        ("sqeue", "unknown view"),
        ("squeue -o %x", "not modelled"),
        ("scontrol update jobid=1", "only scontrol show"),
        ("sacct -o nosuch", "unknown field"),
        ("squeue 'x", "quotes"),
        ("", "no command"),
    ):
        with pytest.raises(InputError, match=problem):
            run().view(command)


def test_the_command_line_shows_views_at_the_end(capsys: pytest.CaptureFixture[str]) -> None:
    from gnomon.cli import run as gnomon

    files = [str(path) for path in (*SHOWN, *ACCOUNTS)]
    assert gnomon(["simulate", *files, "--until", "0.5s", "--view", "sinfo -s", "--view", "squeue -u bob -h"]) == 0
    out = capsys.readouterr().out
    assert "$ sinfo -s\nPARTITION AVAIL  TIMELIMIT   NODES(A/I/O/T) NODELIST\n" in out
    assert out.count(" bob ") == 1 + len(rows(run().view("squeue -u bob")))  # the command is there too
    assert gnomon(["simulate", *files, "--until", "0.5s", "--view", "sqeue"]) == 2


@pytest.mark.parametrize("command", ["squeue --foo", "squeue -S x", "sinfo -lZ", "sacct --duplicates", "sprio -o %i"])
def test_an_option_that_would_be_passed_over_is_refused(command: str) -> None:
    with pytest.raises(InputError, match="not modelled: an option") as raised:
        run().view(command)
    assert raised.value.field == "view"
