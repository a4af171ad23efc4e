"""The rules of slurm.conf(5) and ``read_config.c`` that no recording shows."""

import pytest

from gnomon.model.errors import InputError
from gnomon.systems.slurm.config.conf import Conf, NodeConf, PartitionConf
from gnomon.systems.slurm.config.slurm_conf import conf_of


def node(keys: str, before: str = "") -> NodeConf:
    return conf_of(f"{before}\nNodeName=n1 {keys}\nPartitionName=p Nodes=n1").nodes[0]


def partition(keys: str, before: str = "") -> PartitionConf:
    return conf_of(f"NodeName=n[1-3] CPUs=2\n{before}\nPartitionName=p {keys}").partitions[0]


def notes(conf: Conf) -> list[str]:
    return [note.text for note in conf.notes]


@pytest.mark.parametrize(
    ("keys", "cpus", "boards", "sockets", "cores", "threads"),
    [
        ("", 1, 1, 1, 1, 1),
        ("CPUs=8", 8, 1, 8, 1, 1),
        ("Procs=8", 8, 1, 8, 1, 1),
        ("CPUs=8 CoresPerSocket=4", 8, 1, 2, 4, 1),
        ("CPUs=16 CoresPerSocket=4 ThreadsPerCore=2", 16, 1, 2, 4, 2),
        ("Sockets=2 CoresPerSocket=4 ThreadsPerCore=2", 16, 1, 2, 4, 2),
        ("CPUs=8 Sockets=2 CoresPerSocket=4 ThreadsPerCore=2", 8, 1, 2, 4, 2),
        ("CPUs=2 Sockets=2 CoresPerSocket=4 ThreadsPerCore=2", 2, 1, 2, 4, 2),
        ("Boards=2 SocketsPerBoard=2 CoresPerSocket=4", 16, 2, 4, 4, 1),
        ("Boards=2 Sockets=4 CoresPerSocket=4", 16, 2, 4, 4, 1),
        ("Boards=2 CoresPerSocket=4", 8, 2, 2, 4, 1),
        ("Boards=4 Sockets=2 CoresPerSocket=4", 8, 1, 2, 4, 1),
        ("SocketsPerBoard=2 Sockets=8 CoresPerSocket=2", 4, 1, 2, 2, 1),
        ("CPUs=7 Sockets=2 CoresPerSocket=4", 8, 1, 2, 4, 1),
        ("CPUs=0", 1, 1, 1, 1, 1),
        ("CPUs=0x10 CoresPerSocket=8", 16, 1, 2, 8, 1),
    ],
)
def test_what_is_not_said_of_a_node_follows_from_the_rest(
    keys: str, cpus: int, boards: int, sockets: int, cores: int, threads: int
) -> None:
    found = node(keys)
    assert (found.cpus, found.boards, found.sockets, found.cores, found.threads) == (
        cpus,
        boards,
        sockets,
        cores,
        threads,
    )


def test_default_lines_add_up_and_a_line_of_its_own_wins() -> None:
    conf = conf_of(
        "NodeName=DEFAULT CPUs=4 RealMemory=1000\nNodeName=a\n"
        "NodeName=Default Weight=7 CPUs=8\nNodeName=b RealMemory=5\n"
        "PartitionName=DEFAULT MaxTime=10 State=DOWN\nPartitionName=p Nodes=a\nPartitionName=q Nodes=b State=UP"
    )
    assert [(one.cpus, one.memory_mb, one.weight) for one in conf.nodes] == [(4, 1000, 1), (8, 5, 7)]
    assert [(one.max_time_min, one.state) for one in conf.partitions] == [(10, "DOWN"), (10, "UP")]


def test_kept_cores_and_memory_are_within_the_node() -> None:
    assert node("CPUs=8 CoresPerSocket=4 CoreSpecCount=8").core_spec == 1
    assert node("RealMemory=100 MemSpecLimit=100").mem_spec_mb == 0
    assert node("CPUs=8 CPUSpecList=0,4-5").cpu_spec == (0, 4, 5)
    assert node("CPUs=8 CPUSpecList=0,8").cpu_spec == ()
    assert node("CPUs=16 Sockets=2 CoresPerSocket=4 ThreadsPerCore=2 CoreSpecCount=2").effective_cpus == 12
    assert node("CPUs=16 Sockets=2 CoresPerSocket=4 ThreadsPerCore=2 CPUSpecList=0-1,2").effective_cpus == 12


def test_states_of_nodes() -> None:
    assert [node(f"State={state}").state for state in ("cloud", "Draining", "FAIL", "future", "idle")] == [
        "CLOUD",
        "DRAIN",
        "FAIL",
        "FUTURE",
        "IDLE",
    ]
    with pytest.raises(InputError, match="Invalid state UP from n1"):
        node("State=UP")


def test_down_nodes() -> None:
    text = "NodeName=n[1-3]\nPartitionName=p Nodes=ALL\nDownNodes=n[2-4] State=FAIL Reason=fan\nDownNodes=n3\n"
    conf = conf_of(text)
    assert [(one.state, one.reason) for one in conf.nodes] == [
        ("UNKNOWN", ""),
        ("FAIL", "fan"),
        ("DOWN", "Set in slurm.conf"),
    ]
    assert 'DownNode "n4" does not exist!' in notes(conf)


def test_nodes_of_a_partition() -> None:
    sets = "NodeSet=odd Nodes=n[1,3]\nNodeSet=gpus Feature=gpu\nNodeSet=both Nodes=odd\n"
    nodes = "NodeName=n[1-3] Feature=cpu\nNodeName=g1 Feature=gpu,x\n"

    def named(text: str) -> tuple[str, ...]:
        return conf_of(f"{nodes}{sets}PartitionName=p Nodes={text}").partitions[0].nodes

    assert named("all") == ("g1", "n1", "n2", "n3")
    assert named("odd,gpus") == ("g1", "n1", "n3")
    assert named('"n3 n1,n1"') == ("n1", "n3")
    with pytest.raises(InputError, match="Invalid node names in partition p"):
        named("nosuchset")


@pytest.mark.parametrize(
    ("written", "word", "jobs"),
    [
        ("NO", "NO", 1),
        ("yes", "YES", 4),
        ("YES:2", "YES", 2),
        ("FORCE", "FORCE", 4),
        ("Force:1", "FORCE", 1),
        ("EXCLUSIVE", "EXCLUSIVE", 1),
        ("YES:1", "NO", 1),
        ("FORCE:0", "NO", 1),
        ("FORCE:3x", "FORCE", 3),
    ],
)
def test_sharing(written: str, word: str, jobs: int) -> None:
    for key in ("OverSubscribe", "Shared"):
        found = partition(f"Nodes=n1 {key}={written}")
        assert (found.oversubscribe, found.sharing) == (word, jobs)


def test_memory_of_a_node_comes_before_that_of_a_cpu() -> None:
    found = partition("DefMemPerNode=100 DefMemPerCPU=5 MaxMemPerCPU=7")
    assert (found.def_mem_per_node_mb, found.def_mem_per_cpu_mb) == (100, None)
    assert (found.max_mem_per_node_mb, found.max_mem_per_cpu_mb) == (None, 7)


def test_who_may_use_a_partition() -> None:
    found = partition("AllowAccounts=Physics,ALL2 DenyAccounts=x AllowQos=ALL DenyQos=LOW AllowGroups=Staff")
    assert (found.allow_accounts, found.deny_accounts) == (("physics", "all2"), ())
    assert (found.allow_qos, found.deny_qos, found.allow_groups) == ((), ("low",), ("Staff",))


def test_priority_stands_for_tier_and_factor() -> None:
    found = partition("Priority=7 PriorityTier=3")
    assert (found.priority_tier, found.priority_job_factor) == (7, 7)


def test_a_default_time_above_the_largest_is_dropped() -> None:
    assert partition("MaxTime=10 DefaultTime=20").default_time_min is None


def test_root_jobs_follow_the_cluster_unless_the_line_says_otherwise() -> None:
    assert partition("Nodes=n1", "DisableRootJobs=YES").disable_root_jobs
    assert not partition("Nodes=n1 DisableRootJobs=NO", "DisableRootJobs=YES").disable_root_jobs
    assert not partition("Nodes=n1", "PartitionName=DEFAULT DisableRootJobs=YES").disable_root_jobs


def test_some_keys_hold_for_their_own_line_alone() -> None:
    """``_parse_partitionname`` does not look for them in DEFAULT (as libslurm 22.05.8 reads them)."""
    found = partition("Nodes=n1", "PartitionName=DEFAULT SuspendTime=5 ExclusiveUser=YES SuspendTimeout=7")
    assert (found.suspend_time_s, found.exclusive_user, found.suspend_timeout_s) == (None, False, 7)


def test_the_last_default_partition_is_the_default() -> None:
    conf = conf_of("NodeName=n1\nPartitionName=a Default=YES\nPartitionName=b Default=YES\nPartitionName=c")
    assert [one.default for one in conf.partitions] == [False, True, False]


@pytest.mark.parametrize(
    ("text", "words", "line"),
    [
        ("PartitionName=q MaxTime=soon", 'Bad value "soon" for MaxTime', 3),
        ("PartitionName=q State=SIDEWAYS", 'Bad value "SIDEWAYS" for State', 3),
        ("PartitionName=q OverSubscribe=SOME", 'Bad value "SOME" for OverSubscribe', 3),
        ("PartitionName=q PreemptMode=ask", 'Bad value "ask" for PreemptMode', 3),
        ("PartitionName=q MaxNodes=-1", "MaxNodes value (-1) is less than zero", 3),
        ("PartitionName=q PriorityTier=70000", "PriorityTier value (70000) is greater than 65535", 3),
        ("PartitionName=q Default=MAYBE", '"MAYBE" is not a valid option for "Default"', 3),
        ("PartitionName=q TRESBillingWeights=gres/gpu=1", "failed to parse tres weights str 'gres/gpu=1'", 3),
        ("PartitionName=q Nodes=n1 NodeName=n2", "Parsing error at unrecognized key: NodeName", 3),
        ("NodeName=ALL", "'ALL' is a reserved word disallowed for use with NodeName", 3),
        ("NodeName=DEFAULT NodeAddr=x", "NodeAddr not allowed with NodeName=DEFAULT", 3),
        ("PreemptMode=SUSPEND", "PreemptMode=SUSPEND requires GANG too", 3),
        ("PreemptMode=CANCEL", "PreemptType and PreemptMode values incompatible", 3),
        ("PreemptType=preempt/qos", "PreemptType and PreemptMode values incompatible", 3),
        ("PriorityDecayHalfLife=0", "You have to either have PriorityDecayHalfLife != 0", 3),
        ("PriorityDecayHalfLife=x", 'Bad value "x" for PriorityDecayHalfLife', 3),
        ("PriorityCalcPeriod=0", 'Bad value "0" for PriorityCalcPeriod', 3),
        ("SelectTypeParameters=CR_Cake", "Bad SelectTypeParameter: CR_Cake", 3),
        ("Licenses=a:b", "Invalid configured licenses: a:b", 3),
        ("SelectTypeParameters=CR_CPU,CR_Core", "Bad SelectTypeParameter: CR_CPU,CR_Core", 3),
        ("SelectTypeParameters=CR_CPU,CR_ONE_TASK_PER_CORE", "Bad SelectTypeParameter: CR_CPU,CR_ONE_TASK", 3),
        ("SelectTypeParameters=CR_LLN", "Invalid SelectTypeParameters: CR_LLN, You need at least", 3),
        ("PreemptMode=CANCEL,REQUEUE", "PreemptMode=CANCEL,REQUEUE invalid", 3),
        ("MaxJobCount=0", "MaxJobCount=0, No jobs permitted", 3),
        ("FirstJobId=0", "FirstJobId cannot be zero", 3),
        ("EnforcePartLimits=x", "Bad EnforcePartLimits: x", 3),
        ("AccountingStorageEnforce=x", "AccountingStorageEnforce invalid: x", 3),
        ("PriorityUsageResetPeriod=x", 'Bad value "x" for PriorityUsageResetPeriod', 3),
        ("SchedulerType=sched/wiki", "cannot find sched plugin for sched/wiki", 3),
        ("PriorityWeightTRES=gres/x=1", "failed to parse tres weights str 'gres/x=1'", 3),
        ("KillWait=abc", 'KillWait value "abc" is not a valid number', 3),
        ("KillWait=08", 'KillWait value "08" is not a valid number', 3),
        ("PriorityFavorSmall=maybe", '"maybe" is not a valid option for "PriorityFavorSmall"', 3),
        ("KillWait=3 JobRequeue=1", 'Parse error: "JobRequeue=1"', 3),
        ("TopologyPlugin=topology/tree", "something wrong with opening/reading topology.conf", 3),
        ("just words", 'Parse error: "just words"', 3),
    ],
)
def test_what_ends_slurmctld_is_an_error_at_its_line(text: str, words: str, line: int) -> None:
    with pytest.raises(InputError) as raised:
        conf_of(f"NodeName=n1\nPartitionName=p Nodes=n1\n{text}")
    assert raised.value.problem.startswith(words)
    assert (raised.value.file, raised.value.line) == ("slurm.conf", line)


def test_of_a_key_given_twice_the_last_holds() -> None:
    conf = conf_of("KillWait=1\nkillwait=2\nNodeName=n1\nPartitionName=p Nodes=n1")
    assert conf.seconds("KillWait") == 2
    assert "KillWait 1 specified more than once, latest value used" in notes(conf)


def test_keys_that_change_nothing_are_listed_once() -> None:
    conf = conf_of("SlurmUser=slurm\nAuthType=auth/munge\nNodeName=n1\nPartitionName=p Nodes=n1")
    assert notes(conf) == ["these keys change nothing here: AuthType, SlurmUser"]


def test_what_slurmctld_complains_of_and_does_not_look_at() -> None:
    text = "SchedulerTimeSlice=3\nTreeWidth=0\nDefMemPerCPU=1\nDefMemPerNode=2\nSuspendTime=5x\n"
    conf = conf_of(f"{text}NodeName=n1\nPartitionName=p Nodes=n1")
    assert (conf.seconds("SchedulerTimeSlice"), conf.number("TreeWidth")) == (30, 16)
    assert (conf.number("DefMemPerCPU"), conf.number("DefMemPerNode")) == (None, 2)
    assert conf.seconds("SuspendTime") == 5
    assert notes(conf) == [
        "SuspendTime=5x is read as 5",
        "DefMemPerCPU ignored, since it's mutually exclusive with DefMemPerNode",
        "SchedulerTimeSlice must be at least 5 seconds; the default holds",
        "TreeWidth=0 is invalid; the default holds",
    ]


@pytest.mark.parametrize(
    ("mode", "taken"),
    [
        ("OFF", True),
        ("gang", True),
        ("OFF,GANG", True),
        ("suspend,gang", True),
        ("REQUEUE,WITHIN", True),
        ("OFF,CANCEL", False),
        ("REQUEUE,SUSPEND", False),
        ("CANCEL,GANG,WITHIN", False),
        ("CHECKPOINT", False),
        ("PRIORITY", False),
    ],
)
def test_modes_of_preemption_that_go_together(mode: str, taken: bool) -> None:
    """As ``slurm_conf_init`` of libslurm 22.05.8 takes them for a partition."""
    text = f"NodeName=n1\nPartitionName=p Nodes=n1 PreemptMode={mode}"
    if taken:
        assert conf_of(text, version=(22, 5)).partitions
    else:
        with pytest.raises(InputError, match=f'Bad value "{mode}" for PreemptMode'):
            conf_of(text, version=(22, 5))


def test_whole_nodes_do_not_count_cores() -> None:
    text = "SelectType=select/linear\nSelectTypeParameters={}\nNodeName=n1\nPartitionName=p Nodes=n1"
    assert conf_of(text.format("CR_Memory")).text("SelectTypeParameters") == "CR_Memory"
    with pytest.raises(InputError, match="Invalid SelectTypeParameters for select/linear: CR_CORE,"):
        conf_of(text.format("CR_Core"))


def test_licences_and_parameters_of_the_scheduler() -> None:
    conf = conf_of("Licenses=a:5,b@s:2,a:1\nSchedulerParameters=defer,bf_interval=9\nNodeName=n1\nPartitionName=p")
    assert conf.licenses == {"a": 6, "b@s": 2}
    assert conf.scheduler == {"defer": "", "bf_interval": "9"}


@pytest.mark.parametrize(
    ("keys", "problem"),
    [
        ("RealMemory=18446744073709551615", "more than 8,589,934,592 MB of memory"),
        ("Sockets=65533 CoresPerSocket=65533", "more than 65,535 CPUs on a node"),
        ("Sockets=2 CoresPerSocket=64 ThreadsPerCore=1000", "more than 65,535 CPUs on a node"),
    ],
)
def test_nodes_larger_than_can_be_counted_are_refused(keys: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem) as raised:
        node(keys)
    assert raised.value.line == 2
