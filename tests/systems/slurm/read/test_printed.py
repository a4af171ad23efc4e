"""scontrol show, squeue, sinfo, sprio, sshare: every recorded file is read, and all forms tell the same."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.model.errors import InputError
from gnomon.systems.slurm.inputs.files import kind_of, read_json
from gnomon.systems.slurm.read.jobs import SeenJob, of_json, of_record, of_table
from gnomon.systems.slurm.read.nodes import node_of, nodes_of_json, nodes_of_table, reservation_of
from gnomon.systems.slurm.read.pairs import read_config, read_records, taken_at
from gnomon.systems.slurm.read.sacct import read_parsable
from gnomon.systems.slurm.read.share import read_assoc_mgr, read_sshare
from gnomon.systems.slurm.read.tables import read_table
from tests.systems.slurm.accounting import recorded as accounting
from tests.systems.slurm.read import printed

MESSAGES = ("sinfo-bad-option.txt", "scontrol-hostlist.txt", "scontrol-hostnames.txt")


def names(kind: str) -> list[str]:
    found = sorted(path.name.removesuffix(".gz") for path in (printed.DATA / kind).iterdir())
    return [f"{kind}/{name}" for name in found if name not in MESSAGES]


@pytest.mark.parametrize("name", [name for kind in ("live", "sacct", "acct") for name in names(kind)])
def test_every_recorded_file_is_read(name: str) -> None:
    text = printed.text(name)
    if name.endswith(".json"):
        kind, listed, _ = read_json(printed.path(name))
        found: object = of_json(listed) if kind == "queue" else nodes_of_json(listed) if kind == "nodes" else listed
    elif "scontrol-show-config" in name:
        found = read_config(text)
    elif "assoc_mgr" in name:
        found = read_assoc_mgr(text)
    elif "scontrol" in name:
        found = read_records(text)
    elif "sacct-P" in name or "sacct-p" in name:
        found = len(read_parsable(printed.path(name)))
    elif "sdiag" in name or "sreport-user" in name or "helpformat" in name:
        pytest.skip("not read: statistics, a report without rows, and a list of names")
    else:
        found = read_table(text).rows
    assert found


def jobs(name: str) -> dict[int, SeenJob]:
    return {job.id: job for job in (of_record(one) for one in read_records(printed.text(name)))}


def test_one_line_and_many_lines_tell_the_same() -> None:
    assert jobs("live/scontrol-show-job.txt") == jobs("live/scontrol-show-job-o.txt")
    many, one = (read_records(printed.text(f"live/scontrol-show-nodes{end}.txt")) for end in ("", "-o"))
    assert [node_of(record) for record in many] == [node_of(record) for record in one]


def test_scontrol_and_squeue_json_tell_the_same_of_jobs() -> None:
    shown, listed = jobs("live/scontrol-show-job.txt"), of_json(read_json(printed.path("live/squeue.json"))[1])
    for job in listed:
        other = shown[job.id]
        for field in ("shown", "name", "user", "account", "partitions", "qos", "state", "reason", "priority"):
            assert getattr(job, field) == getattr(other, field), (job.shown, field)
        for field in ("submit_s", "eligible_s", "limit_s", "nodes", "dependency", "licenses", "tres_asks", "held"):
            assert getattr(job, field) == getattr(other, field), (job.shown, field)


def test_tables_of_squeue_tell_the_same_as_far_as_they_go() -> None:
    shown = {job.shown: job for job in jobs("live/scontrol-show-job.txt").values()}
    for name in ("squeue.txt", "squeue-l.txt", "squeue-o-long.txt", "squeue-O.txt"):
        table = read_table(printed.text(f"live/{name}"))
        for row, job in zip(table.rows, of_table(table), strict=True):
            known = row["JOBID"] if "[" in row["JOBID"] or "ARRAY_JOB_ID" not in row else None
            other = shown.get(known or job.shown) or jobs("live/scontrol-show-job.txt")[job.id]
            assert (job.user, job.state, job.partitions) == (other.user, other.state, other.partitions)
            if name == "squeue-o-long.txt":
                assert (job.name, job.priority, job.limit_s) == (other.name, other.priority, other.limit_s)
                assert (job.reason, job.nodes) == (other.reason, other.nodes)


def test_nodes_are_the_same_in_all_forms() -> None:
    shown = [node_of(record) for record in read_records(printed.text("live/scontrol-show-nodes.txt"))]
    listed = nodes_of_json(read_json(printed.path("live/sinfo.json"))[1])
    assert [(n.name, n.state, n.reason, n.hardware) for n in shown] == [
        (n.name, n.state, n.reason, n.hardware) for n in listed
    ]
    for name in ("sinfo.txt", "sinfo-N-l.txt", "sinfo-o.txt"):
        table = {node.name: node for node in nodes_of_table(read_table(printed.text(f"live/{name}")))}
        for node in shown:
            assert table[node.name].is_drained == node.is_drained
            assert set(table[node.name].partitions) == set(node.partitions)
    drained = next(node for node in shown if node.is_drained)
    assert (drained.name, drained.reason) == ("node012", "bad DIMM slot 3")


def test_reservations_usage_and_time() -> None:
    first, maintenance = (
        reservation_of(one) for one in read_records(printed.text("live/scontrol-show-reservation.txt"))
    )
    assert (first.users, first.nodes, first.end_s - first.start_s) == (("alice", "bob"), "node[009-010]", 7200)
    assert "MAINT" in maintenance.flags
    usage = read_sshare(accounting.text("sshare-alP.txt"))
    assert usage == read_sshare(accounting.text("sshare-al.txt"))
    exact = read_assoc_mgr(printed.text("live/scontrol-show-assoc_mgr.txt"))
    assert exact["physics", "alice", ""] == pytest.approx(usage["physics", "alice", ""], abs=1)
    assert taken_at(printed.text("live/scontrol-show-config.txt")) == "2026-11-30T01:01:23"


def test_names_that_look_like_keys_stay_names() -> None:
    text = (
        "JobId=7 JobName=a=b UserName=x B=c\n   UserId=eve(12) GroupId=x(1)\n"
        "   JobState=RUNNING Reason=None Dependency=(null)\n   Command=/bin/x A=1 WorkDir=/w\n   WorkDir=/home/a b\n"
    )
    record = read_records(text)[0]
    assert record.values["JobName"] == "a=b UserName=x B=c"
    assert record.values["WorkDir"] == "/home/a b"


def test_a_record_of_something_else_is_refused() -> None:
    with pytest.raises(InputError, match="a record of something else, found 'JobId'; allowed: NodeName") as caught:
        read_records("NodeName=n1 State=IDLE\nJobId=7 JobName=x\n", of="NodeName", file="nodes.txt")
    assert caught.value.line == 2


def test_a_message_is_no_table() -> None:
    with pytest.raises(InputError, match="a message of the command"):
        read_table(printed.text("live/sinfo-bad-option.txt"), file="sinfo.txt")


def test_faults_are_named_with_file_and_line() -> None:
    with pytest.raises(InputError) as caught:
        read_records("hello\n", file="jobs.txt")
    assert (caught.value.file, caught.value.line) == ("jobs.txt", 1)
    with pytest.raises(InputError) as caught:
        of_record(read_records("\nJobId=7 JobName=x\n   JobState=PENDING SubmitTime=never\n")[0], file="jobs.txt")
    assert (caught.value.line, caught.value.field) == (2, "SubmitTime")
    with pytest.raises(InputError) as caught:
        of_table(read_table("JOBID ST\n    7 PD\n    x PD\n"), file="squeue.txt")
    assert (caught.value.file, caught.value.line) == ("squeue.txt", 3)
    with pytest.raises(InputError) as caught:
        of_json([{"job_id": 1, "time_limit": "long", "job_state": 3}], file="squeue.json")
    assert caught.value.field == "jobs[0]"


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("live/scontrol-show-job.txt", "jobs"),
        ("live/scontrol-show-job-o.txt", "jobs"),
        ("live/scontrol-show-nodes.txt", "nodes"),
        ("live/scontrol-show-partition.txt", "partitions"),
        ("live/scontrol-show-reservation.txt", "reservations"),
        ("live/scontrol-show-config.txt", "config"),
        ("live/scontrol-show-assoc_mgr.txt", "associations"),
        ("live/scontrol-show-lic.txt", "licenses"),
        ("live/scontrol-show-steps.txt", "nothing"),
        ("live/sdiag.txt", "nothing"),
        ("live/sprio-l.txt", "nothing"),
        ("live/squeue.txt", "queue"),
        ("live/squeue-l.txt", "queue"),
        ("live/squeue-O.txt", "queue"),
        ("live/sinfo.txt", "sinfo"),
        ("live/sinfo-N-l.txt", "sinfo"),
        ("live/squeue.json", "json"),
        ("sacct/sacct-P.txt", "history"),
        ("sacct/sacct-P-ALL.txt", "history"),
        ("sacct/sacct-iso-env.txt", "history"),
    ],
)
def test_a_file_is_known_by_its_beginning(name: str, kind: str) -> None:
    assert kind_of(printed.path(name)) == kind


@given(st.text(alphabet="JobIdNodeName= \n|()[]0-9:*_aZ\u00e9", max_size=120))
def test_whatever_is_printed_is_read_or_refused(text: str) -> None:
    for read in (read_records, read_table, read_sshare, read_config):
        with suppress(InputError):
            read(text)


ODD = st.sampled_from([None, -1, {}, [], "x", {"set": True, "number": "a"}, 10**30, 1.5, True, ["RUNNING"]])


@given(st.dictionaries(st.sampled_from(sorted(read_json(printed.path("live/squeue.json"))[1][0])), ODD, max_size=5))
def test_whatever_stands_in_json_it_is_read_or_refused(changed: dict[str, object]) -> None:
    job = {**read_json(printed.path("live/squeue.json"))[1][0], **changed}
    with suppress(InputError):
        of_json([job])
