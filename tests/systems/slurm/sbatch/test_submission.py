"""Whole submissions: what sbatch and slurmctld made of them, as recorded, and the order in which settings count."""

from __future__ import annotations

import json
import re
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon.systems.slurm.notation import hostlist
from gnomon.systems.slurm.sbatch.refusals import Refusal
from gnomon.systems.slurm.sbatch.request import GresRequest, JobRequest
from gnomon.systems.slurm.sbatch.site import Site
from gnomon.systems.slurm.sbatch.submission import Submission, submission
from tests.systems.slurm.otherwise import COMMAND_LINES
from tests.systems.slurm.sbatch.recorded import DATA, PLAIN_SCRIPT, cases, shown, shown_if_said

OLD = Site((22, 5), frozenset({"gpu", "shard"}))
CLIENT = cases("client-22.05.8.json")
SAMPLES = cases("results.json")


def submitted(
    *args: str, script: str = PLAIN_SCRIPT, env: dict[str, str] | None = None, site: Site = OLD
) -> Submission:
    found = submission(args, script, env, user="root", site=site)
    assert isinstance(found, Submission), found
    return found


def one(*args: str, script: str = PLAIN_SCRIPT, env: dict[str, str] | None = None, site: Site = OLD) -> JobRequest:
    (request,) = submitted(*args, script=script, env=env, site=site).requests
    return request


def refused(*args: str, script: str = PLAIN_SCRIPT, site: Site = OLD) -> Refusal:
    found = submission(args, script, user="root", site=site)
    assert isinstance(found, Refusal), found
    return found


# ------------------------------------------------------------------ the client, as recorded


def without_position(text: str) -> str:
    return re.sub(r"\(pos=\d+\)", "(pos)", text)


@pytest.mark.parametrize("case", [pytest.param(case, id=str(at)) for at, case in enumerate(CLIENT)])
def test_answers_as_the_client_did(case: dict[str, Any]) -> None:
    if case["args"][:1] and case["args"][0] in COMMAND_LINES:
        pytest.xfail(COMMAND_LINES[case["args"][0]])
    script = case.get("script", PLAIN_SCRIPT)
    found = submission(case["args"], None, case.get("env"), user="root", site=OLD, read={"t.sh": script}.get)
    if isinstance(found, Refusal) and found.controller:
        assert "components" in case  # what slurmctld refuses, the client sends
    elif "components" not in case:
        assert isinstance(found, Refusal)
        assert (without_position(found.text), found.rc) == (without_position(case["text"]), case["rc"])
    else:
        assert isinstance(found, Submission), found
        assert "\n".join(found.said) == "\n".join(dict.fromkeys(case.get("text", "").splitlines()))
        assert len(found.requests) == len(case["components"])
        for request, options in zip(found.requests, case["components"], strict=True):
            same_options(request, options)


def same_options(request: JobRequest, options: dict[str, str]) -> None:
    always = shown(request)
    if request.oversubscribe and "exclusive" not in options:
        always["exclusive"] = None  # -s alone is listed under its own name
    if "licenses" in options:
        options = options | {"licenses": ",".join(w if ":" in w else f"{w}:1" for w in options["licenses"].split(","))}
    assert {key: options.get(key) or None for key in always} == always
    if_said = shown_if_said(request)
    if request.gpus and (request.gpus_per_node or request.gres):
        del if_said["nodes"]  # the number of nodes that GPUs imply is not listed
    if "nodelist" in options:
        options = options | {"nodelist": hostlist.compress(dict.fromkeys(hostlist.expand(options["nodelist"])))}
    both = options.keys() & if_said.keys()
    assert {key: options[key] for key in both} == {key: if_said[key] for key in both}


@pytest.mark.parametrize(
    "case", [pytest.param(case, id=f"{at}-{case['case']}") for at, case in enumerate(cases("golden-steps.json"))]
)
def test_submits_and_refuses_as_in_the_recorded_scheduling_cases(case: dict[str, Any]) -> None:
    site = Site((22, 5), frozenset(case["gres"]))
    found = submission(case["args"], case["script"], user=case["user"], site=site)
    by_controller = "Batch job submission failed" in case["text"] or "allocation failure" in case["text"]
    if isinstance(found, Refusal):
        assert (found.text, found.rc) == (case["text"], case["rc"])
        assert found.controller == by_controller
    else:
        assert case["rc"] == 0 or by_controller


# ------------------------------------------------------------------ scripts of users


def sample(case: dict[str, Any]) -> Submission | Refusal:
    script = (DATA / case["script"]).read_bytes().decode()
    args = ["-H", f"dir/{case['script']}"]
    return submission(args, script, {}, user=case["user"], site=Site((22, 5)))


@pytest.mark.parametrize("case", [case for case in SAMPLES if case["rc"]], ids=lambda case: str(case["script"]))
def test_refuses_the_scripts_that_sbatch_refused(case: dict[str, Any]) -> None:
    assert sample(case) == Refusal(case["text"], case["rc"])


@pytest.mark.parametrize("case", [case for case in SAMPLES if not case["rc"]], ids=lambda case: str(case["script"]))
def test_reads_scripts_of_users_as_sbatch_did(case: dict[str, Any]) -> None:
    found = sample(case)
    assert isinstance(found, Submission)
    assert len(found.requests) == len(case["jobs"])
    for request, job in zip(found.requests, case["jobs"], strict=True):
        said = as_squeue_says(request, job)
        assert {key: job.get(key) for key in said} == said
        assert request.hold


def as_squeue_says(request: JobRequest, job: dict[str, Any]) -> dict[str, Any]:
    """What squeue --json and scontrol would tell of the request, where the request decides it."""
    said: dict[str, Any] = {
        "name": request.name,
        "comment": request.comment or None,
        "contiguous": request.contiguous,
        "features": request.features or None,
        "time_limit": request.time_min,
        "time_minimum": request.time_min_min or 0,
        "minimum_tmp_disk_per_node": request.tmp_mb,
        "requeue": request.requeue is not False,
        "nice": request.nice or None,
        "tasks_per_node": request.tasks_per_node or 0,
        "tasks_per_socket": request.tasks_per_socket,
        "tasks_per_core": request.tasks_per_core,
        "threads_per_core": request.threads_per_core,
        "cores_per_socket": request.cores_per_socket,
        "sockets_per_node": request.sockets_per_node,
        "max_nodes": request.nodes_max or 0,
        "excluded_nodes": hostlist.compress(request.exclude) or None,
        "required_nodes": hostlist.compress(request.node_list) or None,
        "licenses": ",".join(n if c == 1 else f"{n}:{c}" for n, c in request.licenses) or None,
        "tres_per_node": gres(*request.gpus_per_node, *request.gres),
        "tres_per_job": gres(*request.gpus),
        "tres_per_socket": gres(*request.gpus_per_socket),
        "tres_per_task": gres(*request.gpus_per_task),
        "cpus_per_tres": f"gres:gpu:{request.cpus_per_gpu}" if request.cpus_per_gpu else None,
        "memory_per_tres": f"gres:gpu:{request.mem_per_gpu_mb}" if request.mem_per_gpu_mb else None,
        "shared": "none" if request.exclusive == "node" else None,
        "het_job_offset": job["het_job_offset"],
        "array_max_tasks": request.array_limit or 0,
        "show CPUs/Task": str(request.cpus_per_task or 1),
        "show UserId": request.user,
        "show MailUser": request.mail_user or None,
        "show MailType": request.mail_types or None,
        "current_working_directory": request.work_dir or "/tmp",
        "standard_output": absolute(request.output),
        "standard_error": absolute(request.error),
    }
    # what is not said comes from the partition, the user's association, or the size of the nodes
    said |= {"tasks": request.tasks} if request.tasks else {}
    said |= {"account": request.account} if request.account else {}
    said |= {"qos": request.qos} if request.qos else {}
    said |= {"partition": ",".join(request.partitions)} if request.partitions else {}
    said |= {"memory_per_cpu": request.mem_per_cpu_mb} if request.mem_per_cpu_mb else {}
    said |= {"memory_per_node": request.mem_per_node_mb} if request.mem_per_node_mb else {}
    said |= {"cpus": request.cpus_min} if request.nodes_min in (None, 1) and not request.gpus else {}
    return said


def gres(*requests: GresRequest) -> str | None:
    """As Slurm 22.05 writes them."""
    parts = (":".join(filter(None, ("gres", one.name, one.type, str(one.count)))) for one in requests)
    return ",".join(parts) or None


def absolute(path: str) -> str | None:
    return f"/tmp/{path}" if path else None


def test_reads_arrays_and_their_limits() -> None:
    found = {case["script"]: sample(case) for case in SAMPLES if "array" in case["script"]}
    plain, steps = found["05-array.sh"], found["06-array-steps.sh"]
    assert isinstance(plain, Submission)
    assert isinstance(steps, Submission)
    assert (plain.requests[0].array, plain.requests[0].array_limit) == (tuple(range(1, 101)), 10)
    assert steps.requests[0].array == (0, 5, 10, 15, 20, 31, 32, 33)  # squeue: 0,5,10,15,20,31-33


# ------------------------------------------------------------------ what counts over what


def test_the_command_line_counts_over_the_environment_and_that_over_the_script() -> None:
    script = "#!/bin/sh\n#SBATCH -p script -A script -q script\n"
    request = one("-p", "line", script=script, env={"SBATCH_PARTITION": "env", "SBATCH_ACCOUNT": "env"})
    assert (request.partitions, request.account, request.qos) == (("line",), "env", "script")


def test_a_job_is_named_after_its_script_or_how_it_came() -> None:
    assert one("dir/run.sh").name == "run.sh"
    assert one().name == "sbatch"  # a script on standard input
    assert one("--wrap", "hostname").name == "wrap"
    assert one("--wrap", "hostname").script == "#!/bin/sh\n# This script was created by sbatch --wrap.\n\nhostname\n"


def test_options_that_are_not_modelled_are_noted_once() -> None:
    notes = submitted("--bb=x", "--mem-bind=local", script="#!/bin/sh\n#SBATCH --bb=y\n").notes
    assert [(note.what, note.field) for note in notes] == [("not modelled", "--bb"), ("not modelled", "--mem-bind")]


def test_a_plain_user_may_not_ask_for_more_priority() -> None:
    found = submission(["--nice=-5"], PLAIN_SCRIPT, user="alice")
    assert isinstance(found, Submission)
    assert found.requests[0].nice == 0
    assert found.said == ("sbatch: error: Nice value must be non-negative, value ignored",)
    assert one("--nice=-5").nice == -5


def test_without_a_plugin_for_them_gpus_of_a_job_are_refused() -> None:
    # sbatch 22.05.8 with select/linear, the default of that version
    answer = Refusal("sbatch: error: Requested GRES option unsupported by configured SelectType plugin", 1)
    assert refused("-G2", site=Site((22, 5), tres_options=False)) == answer


def test_components_of_the_command_line() -> None:
    # as sbatch -v of 22.05.8 lists them
    first, second = submitted("-n1", "-A", "a", "--mem-per-cpu=2G", ":", "-n2", "--mem=1G", "-t5").requests
    assert (first.tasks, first.mem_per_cpu_mb, first.mem_per_node_mb) == (1, 2048, None)
    assert (second.tasks, second.mem_per_cpu_mb, second.mem_per_node_mb) == (2, None, 1024)
    # some options hold for all components, wherever they stand
    assert {first.account, second.account, first.time_min, second.time_min} == {"a", 5}


def test_a_deadline_before_the_begin_is_refused_where_the_time_is_known() -> None:
    args = ["--begin=now+1hour", "--deadline=now+30minutes"]
    text = "sbatch: error: Incompatible begin and deadline time specification"
    assert submission(args, PLAIN_SCRIPT, now=datetime(2026, 1, 1)) == Refusal(text, 1)
    assert isinstance(submission(args, PLAIN_SCRIPT), Submission)


def test_hints_set_threads_and_cores_over_what_was_said() -> None:
    # sbatch -v of 22.05.8 shows -2 (nothing) for the sockets, 1 for the cores of memory_bound
    request = one("--hint=memory_bound", "--sockets-per-node=2", "--cores-per-socket=3")
    assert (request.sockets_per_node, request.cores_per_socket, request.threads_per_core) == (None, 1, 1)
    assert one("--hint=nomultithread", "-N2").tasks == 2  # "Number of tasks implicitly set to 2"
    # explicit threads drop a hint
    explicit = one("--hint=nomultithread", "--threads-per-core=2")
    assert (explicit.hint, explicit.threads_per_core) == ("", 2)


def test_lists_of_hosts_may_be_files() -> None:
    read = {"./hosts": "n1\nn[2-3] # spare\n", "t.sh": PLAIN_SCRIPT}.get
    found = submission(["-w", "./hosts", "t.sh"], read=read)
    assert isinstance(found, Submission)
    assert found.requests[0].node_list == ("n1", "n2", "n3")
    missing = submission(["-x", "./none", "t.sh"], read=read)
    text = "sbatch: error: slurm_allocate_resources error opening file ./none, No such file or directory"
    assert missing == Refusal(text, 1)
    assert submission(["none.sh"], read=read) == Refusal("sbatch: error: Unable to open file none.sh", 1)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("-a", "5-1"), "Invalid job array specification"),
        (("-d", "afterok:x"), "Job dependency problem"),  # recorded
        (("-C", "a&"), "Invalid feature specification"),
        (("-L", "a:x"), "Invalid license specification"),
        (("-w", "n[1-"), "Invalid node name specified"),
    ],
)
def test_lists_that_slurmctld_takes_apart_it_refuses(arguments: tuple[str, ...], reason: str) -> None:
    text = f"sbatch: error: Batch job submission failed: {reason}"
    assert refused(*arguments) == Refusal(text, 1, controller=True)


# ------------------------------------------------------------------ versions


def test_newer_options_are_unknown_to_older_versions() -> None:
    assert refused("--tres-per-task=cpu:2").text.startswith("sbatch: unrecognized option '--tres-per-task=cpu:2'")
    request = one("--tres-per-task=cpu:2,gres/gpu:a100:1,gres/shard:3", "-n2", site=Site((25, 5)))
    assert request.cpus_per_task == 2
    assert request.gpus_per_task == (GresRequest("gpu", "a100", 1),)
    assert request.gres_per_task == (GresRequest("shard", "", 3),)
    assert (
        refused("--tres-per-task=mem:2", site=Site((25, 5))).text
        == "sbatch: fatal: Invalid TRES for --tres-per-task: mem"
    )


def test_counts_of_nodes_may_be_listed_since_23_02() -> None:
    request = one("-N2,4-8:2", site=Site((23, 2)))
    assert (request.nodes_min, request.nodes_max, request.node_counts) == (2, 8, (2, 4, 6, 8))


def test_whole_topologies_since_24_11() -> None:
    assert one("--exclusive=topo", site=Site((24, 11))).exclusive == "topo"
    assert refused("--exclusive=topo", site=Site((24, 5))) == Refusal(
        "sbatch: error: Invalid --exclusive specification", 255
    )


# ------------------------------------------------------------------ anything at all

words = st.one_of(
    st.sampled_from([word for case in CLIENT for word in case["args"]]),
    st.text(st.sampled_from("-=:,%+?[]()*&|@#\\\"' 019abnNtkGMxé\0"), max_size=12),
    st.builds(
        "--{}={}".format,
        st.sampled_from("array time mem nodes gpus gres dependency signal begin".split()),
        st.text(max_size=9),
    ),
)
scripts = st.one_of(
    st.text(max_size=60),
    st.lists(words, max_size=6).map(lambda line: "#!/bin/sh\n#SBATCH " + " ".join(line) + "\n#PBS -l " + "".join(line)),
    st.lists(words, max_size=6).map(lambda line: "#!/bin/sh\n#PBS " + " ".join(line) + "\n#SBATCH hetjob\nx"),
    st.lists(words, max_size=4).map(lambda line: "#!/bin/sh\n#BSUB " + " ".join(line)),
)


@settings(max_examples=400, deadline=None)
@given(st.lists(words, max_size=6), scripts, st.sampled_from([(22, 5), (23, 11), (25, 5)]), words)
def test_whatever_is_given_is_submitted_or_refused(
    args: list[str], script: str, version: tuple[int, int], value: str
) -> None:
    found = submission(args, script, {"SBATCH_TIMELIMIT": value, "SBATCH_GRES": value}, site=Site(version))
    assert isinstance(found, Submission | Refusal)
    if isinstance(found, Refusal):
        assert found.text
        assert found.rc in (0, 1, 255)
    else:
        json.dumps([request.name for request in found.requests])
