"""Configurations against what slurmctld 22.05 made of them (``scontrol show``), and its words where it refused them."""

import json
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon.model.errors import InputError
from gnomon.systems.slurm.config.conf import Conf, NodeConf, PartitionConf
from gnomon.systems.slurm.config.slurm_conf import conf_of, read_conf, version_in
from gnomon.systems.slurm.notation.hostlist import compress
from gnomon.systems.slurm.notation.times import format_minutes
from tests.shared import SHARED, needs_shared
from tests.systems.slurm.shown import DATA, shown

ACCEPTED = sorted(path.parent.name for path in DATA.glob("*/show-nodes.txt"))
REFUSED = {
    "err-bad-range": (3, "Unable to create NodeAddr list from n[4-1]"),
    "err-bad-values": (3, 'SlurmctldTimeout value "abc" is not a valid number'),
    "err-duplicate-node": (4, "Duplicated NodeName n3 in the config file"),
    "err-duplicate-partition": (5, "_build_single_partitionline_info: duplicate entry for partition p"),
    "err-no-partition": (None, "No PartitionName information available!"),
    "err-range-then-suffix": (3, "Unable to create NodeAddr list from z[0-3]-ib"),
    "err-unknown-node-in-partition": (4, "Invalid node names in partition p"),
}


def read(name: str) -> Conf:
    return read_conf(DATA / name / "slurm.conf", version=(22, 5))


def test_there_are_recordings() -> None:
    assert len(ACCEPTED) == 10


# ------------------------------------------------------------------ as slurmctld printed it


@pytest.mark.parametrize("name", ACCEPTED)
def test_nodes_are_those_of_slurmctld_in_its_order(name: str) -> None:
    conf = read(name)
    visible = [node for node in conf.nodes if node.state not in ("FUTURE", "CLOUD")]  # scontrol hides the others
    printed = list(shown(name, "show-nodes.txt", "NodeName"))
    assert [node.name for node in visible] == [record["NodeName"] for record in printed]
    for node, record in zip(visible, printed, strict=True):
        expected = _node_as_printed(node, conf)
        assert {key: record.get(key, "") for key in expected} == expected


@pytest.mark.parametrize("name", ACCEPTED)
def test_partitions_are_those_of_slurmctld_in_its_order(name: str) -> None:
    conf = read(name)
    printed = list(shown(name, "show-partitions.txt", "PartitionName"))
    assert [partition.name for partition in conf.partitions] == [record["PartitionName"] for record in printed]
    for partition, record in zip(conf.partitions, printed, strict=True):
        expected = _partition_as_printed(partition, conf)
        assert {key: record.get(key, "") for key in expected} == expected


def _node_as_printed(node: NodeConf, conf: Conf) -> dict[str, str]:
    counts: dict[str, int] = {}
    for gres in node.gres:
        name = f"{gres.name}:{gres.type}" if gres.type else gres.name
        counts[name] = counts.get(name, 0) + gres.count
    printed = {
        "CPUTot": str(node.cpus),
        "CPUEfctv": str(node.effective_cpus),
        "Boards": str(node.boards),
        "Sockets": str(node.sockets),
        "CoresPerSocket": str(node.cores),
        "ThreadsPerCore": str(node.threads),
        "RealMemory": str(node.memory_mb),
        "TmpDisk": str(node.tmp_mb),
        "Weight": str(node.weight),
        "AvailableFeatures": ",".join(node.features) or "(null)",
        "Gres": ",".join(f"{name}:{count}" for name, count in counts.items()) or "(null)",
        "CoreSpecCount": str(node.core_spec or ""),
        "MemSpecLimit": str(node.mem_spec_mb or ""),
        "Partitions": ",".join(part.name for part in conf.partitions if node.name in part.nodes),
    }
    if "live" not in conf.text("ClusterName") and conf.text("ClusterName") != "hpc1":  # there jobs ran on them
        printed["State"] = {"DRAIN": "UNKNOWN+DRAIN"}.get(node.state, node.state)
    return printed


def _partition_as_printed(part: PartitionConf, conf: Conf) -> dict[str, str]:
    nodes = [node for node in conf.nodes if node.name in part.nodes]
    yes = {True: "YES", False: "NO"}
    unlimited = "UNLIMITED"
    sharing = f":{part.sharing}" if part.oversubscribe in ("YES", "FORCE") else ""
    defaults = [("DefCpuPerGPU", part.def_cpu_per_gpu), ("DefMemPerGPU", part.def_mem_per_gpu_mb)]
    return {
        "AllowGroups": ",".join(part.allow_groups) or "ALL",
        "AllowAccounts": ",".join(part.allow_accounts) or "ALL",
        "DenyQos": ",".join(part.deny_qos),
        "Alternate": part.alternate,
        "Default": yes[part.default],
        "QoS": part.qos or "N/A",
        "DefaultTime": "NONE" if part.default_time_min is None else format_minutes(part.default_time_min),
        "DisableRootJobs": yes[part.disable_root_jobs],
        "ExclusiveUser": yes[part.exclusive_user],
        "GraceTime": str(part.grace_s),
        "Hidden": yes[part.hidden],
        "MaxNodes": unlimited if part.max_nodes is None else str(part.max_nodes),
        "MaxTime": format_minutes(part.max_time_min),
        "MinNodes": str(part.min_nodes),
        "LLN": yes[part.lln],
        "MaxCPUsPerNode": unlimited if part.max_cpus_per_node is None else str(part.max_cpus_per_node),
        "Nodes": compress(part.nodes) or "(null)",
        "PriorityJobFactor": str(part.priority_job_factor),
        "PriorityTier": str(part.priority_tier),
        "RootOnly": yes[part.root_only],
        "ReqResv": yes[part.req_resv],
        "OverSubscribe": part.oversubscribe + sharing,
        "PreemptMode": part.preempt_mode.upper() or ",".join(sorted(conf.words("PreemptMode") - {"gang"})).upper(),
        "State": part.state,
        "TotalCPUs": str(sum(node.cpus for node in nodes)),
        "TotalNodes": str(len(nodes)),
        "JobDefaults": ",".join(f"{key}={value}" for key, value in defaults if value is not None) or "(null)",
        "DefMemPerNode": unlimited if part.def_mem_per_node_mb is None else str(part.def_mem_per_node_mb),
        "MaxMemPerNode": unlimited if part.max_mem_per_node_mb is None else str(part.max_mem_per_node_mb),
        "SuspendTime": "" if part.suspend_time_s is None else str(part.suspend_time_s),
        "ResumeTimeout": "" if part.resume_timeout_s is None else str(part.resume_timeout_s),
    }


def test_billing_weights_bill_what_slurmctld_printed() -> None:
    """``billing=353`` of a node with 128 CPUs, 1,000,000 MiB and 8 GPUs, for CPU=1.0,Mem=0.1G,GRES/gpu=16."""
    weights = read("03-gpu").partitions[1].billing
    assert int(128 * weights["cpu"] + 1_000_000 * weights["mem"] + 8 * weights["gres/gpu"]) == 353


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_what_slurmctld_refused_is_refused_in_its_words_at_its_line(name: str) -> None:
    line, words = REFUSED[name]
    assert words in (DATA / name / "slurmctld-messages.txt").read_text()
    with pytest.raises(InputError) as raised:
        read(name)
    assert raised.value.problem.startswith(words)
    assert raised.value.line == line
    assert str(raised.value.file).endswith("slurm.conf")


@pytest.mark.parametrize(
    ("name", "key"), [("err-unknown-key", "NoSuchKey"), ("err-unknown-partition-key", "JobDefaults")]
)
def test_keys_that_slurm_does_not_know_are_told_of_and_passed_over(name: str, key: str) -> None:
    words = f"Parsing error at unrecognized key: {key}"
    assert words in (DATA / name / "slurmctld-messages.txt").read_text()
    assert [note.text for note in read(name).notes if note.field == key and words in note.text]


def test_complaints_of_slurmctld_are_notes_in_its_words() -> None:
    notes = [note.text for note in read("err-cpus-mismatch").notes if note.what == "guess"]
    messages = (DATA / "err-cpus-mismatch" / "slurmctld-messages.txt").read_text().splitlines()
    assert [f"error: {text}" for text in notes] == list(dict.fromkeys(messages))


@needs_shared
def test_the_configurations_of_all_golden_cases_are_read_without_a_complaint() -> None:
    assert SHARED is not None
    cases = [json.loads(path.read_text()) for path in sorted((SHARED / "golden" / "slurm").glob("*.json"))]
    assert len(cases) >= 70
    for case in cases:
        conf = conf_of(case["slurm_conf"], case["gres_conf"], case["topology_conf"], version=(22, 5))
        assert conf.nodes, case["name"]
        assert conf.partitions, case["name"]
        assert all(note.field == "slurm.conf" for note in conf.notes), case["name"]


def test_a_folder_stands_for_the_slurm_conf_in_it() -> None:
    assert read_conf(DATA / "03-gpu", version=(22, 5)) == read("03-gpu")


def test_a_file_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError) as raised:
        read_conf(tmp_path / "slurm.conf")
    assert raised.value.file == str(tmp_path / "slurm.conf")
    (tmp_path / "slurm.conf").write_text("ClusterName=x\nInclude nodes.conf\n")
    with pytest.raises(InputError) as raised:
        read_conf(tmp_path)
    assert (raised.value.file, raised.value.line) == (str(tmp_path / "slurm.conf"), 2)
    assert raised.value.found == str(tmp_path / "nodes.conf")


# ------------------------------------------------------------------ the version


def test_the_version_is_given_or_found_or_the_newest() -> None:
    text = "NodeName=n1\nPartitionName=p Nodes=n1"
    assert conf_of(text).version == (25, 5)
    assert conf_of(f"# Slurm version 23.02.7\n{text}").version == (23, 2)
    assert conf_of(f"# Slurm version 23.02.7\n{text}", version=(22, 5)).version == (22, 5)
    assert version_in((DATA / "01-minimal" / "show-config.txt").read_text()) == (22, 5)


def test_a_version_that_is_not_known_takes_the_nearest_and_says_so() -> None:
    conf = conf_of("NodeName=n1\nPartitionName=p Nodes=n1", version=(20, 11))
    assert conf.version == (22, 5)
    assert "20.11 is read with the defaults of 22.05" in [note.text for note in conf.notes]


# ------------------------------------------------------------------ any text

WORDS = st.sampled_from(
    """NodeName= NodeName=DEFAULT PartitionName=p PartitionName=DEFAULT Nodes=ALL Nodes= n[1-3] n1 = CPUs= CPUs=4
    Sockets=2 CoresPerSocket=0 Boards=3 ThreadsPerCore=2 RealMemory= MaxTime= 1-0 DownNodes=n1 State= DRAIN CLOUD
    NodeSet=s Feature= Gres=gpu:a:2 GresTypes=gpu Licenses= a:1 PreemptMode=GANG include # \\ " , [ ] : INFINITE -1 0x1
    99999999999 é SchedulerParameters=a=b,c TRESBillingWeights=CPU=1 OverSubscribe=FORCE:2 SuspendTime=NONE Default=YES
    PriorityMaxAge= TopologyPlugin=topology/tree TopologyPlugin=topology/block SwitchName=s Switches=s Nodes=n[1-3]
    BlockName=b BlockSizes=2 Name=gpu Type=a File=/dev/n[0-1] Count=2K Cores=0-1 Links=-1,0 AutoDetect=nvml
    MultipleFiles=/dev/[0-1]""".split()
)
TEXT = st.lists(st.tuples(WORDS, st.sampled_from(["", " ", "\n", "\n"])), max_size=40).map(
    lambda parts: "".join(word + after for word, after in parts)
)


@settings(max_examples=400)
@given(TEXT, st.one_of(st.none(), TEXT), st.one_of(st.none(), TEXT))
def test_any_text_is_a_configuration_or_an_input_error(slurm: str, gres: str | None, topology: str | None) -> None:
    whole = f"NodeName=m[1-4] CPUs=8 Gres=gpu:2\nPartitionName=q Nodes=m1\nGresTypes=gpu\n{slurm}"
    for text in (slurm, whole):
        try:
            conf = conf_of(text, gres, topology)
        except InputError:
            continue
        names = [node.name for node in conf.nodes]
        assert len(set(names)) == len(names)
        assert all(set(part.nodes) <= set(names) for part in conf.partitions)
        assert all(node.cpus and node.sockets * node.cores * node.threads >= node.cpus for node in conf.nodes)


@settings(max_examples=200)
@given(st.text(max_size=200))
def test_any_characters_are_a_configuration_or_an_input_error(text: str) -> None:
    with suppress(InputError):
        conf_of(text, text, text)
