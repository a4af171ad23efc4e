"""``NodeSet=`` and ``PartitionName=`` lines to partitions.

Source: ``_parse_partitionname`` of ``src/common/read_config.c``, ``nodespec_to_hostlist`` and
``_build_single_partitionline_info`` of ``src/slurmctld/read_config.c``, Slurm 22.05 to 25.05.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from gnomon.model.errors import InputError
from gnomon.systems.slurm.config.conf import NodeConf, PartitionConf
from gnomon.systems.slurm.config.conf_checks import is_preempt_mode
from gnomon.systems.slurm.config.conf_lines import Entry, Notes, entries_of, entry_of, keys_of
from gnomon.systems.slurm.config.lines import Line
from gnomon.systems.slurm.config.options import Version
from gnomon.systems.slurm.config.tres_weights import tres_weights
from gnomon.systems.slurm.notation.hostlist import expand
from gnomon.systems.slurm.notation.times import LIMIT_FORMS, limit_minutes
from gnomon.systems.slurm.notation.values import leading_number, parts_of

UNLIMITED_MINUTES: Final = 65_535
"""OverTimeLimit=UNLIMITED: INFINITE16, 45 days."""

_KEYS = keys_of(
    numbers="Priority PriorityJobFactor PriorityTier ResumeTimeout SuspendTimeout",
    longs="GraceTime MaxCPUsPerNode MaxCPUsPerSocket MaxNodes MinNodes",
    huge="DefCPUPerGPU DefMemPerCPU DefMemPerGPU DefMemPerNode MaxMemPerCPU MaxMemPerNode",
    booleans="""Default DisableRootJobs ExclusiveTopo ExclusiveUser Hidden LLN PowerDownOnIdle ReqResv RootOnly""",
    texts="""AllocNodes AllowAccounts AllowGroups AllowQos Alternate CpuBind DefaultTime DenyAccounts DenyQos MaxTime
    Nodes OverSubscribe OverTimeLimit PreemptMode QOS SelectTypeParameters Shared State SuspendTime Topology
    TRESBillingWeights""",
)
_NODESET_KEYS = keys_of(texts="Feature Nodes")
_PASSED_OVER = ("AllocNodes", "CpuBind", "Topology")
_LINE_ONLY = (
    "DisableRootJobs",
    "ExclusiveTopo",
    "ExclusiveUser",
    "PowerDownOnIdle",
    "SelectTypeParameters",
    "SuspendTime",
)
_STATES = ("DOWN", "UP", "DRAIN", "INACTIVE")
_SELECTED = ("CR_CORE_MEMORY", "CR_CORE", "CR_SOCKET_MEMORY", "CR_SOCKET")
_SHARING_DEFAULT = 4


@dataclass(frozen=True)
class NodeSet:
    """A name for the nodes with a feature, and for these."""

    name: str
    feature: str
    nodes: str


@dataclass(frozen=True)
class Cluster:
    """What lines of partitions refer to: the nodes in the order of the node table, sets, the keys that stand alone."""

    nodes: Sequence[NodeConf]
    sets: Sequence[NodeSet]
    options: Mapping[str, str]
    version: Version
    notes: Notes


def node_sets(lines: Iterable[Line], notes: Notes) -> list[NodeSet]:
    """The ``NodeSet=`` lines."""
    entries = [entry_of(line, _NODESET_KEYS, {}, notes) for line in lines]
    return [NodeSet(entry.name, entry.own.get("feature", ""), entry.own.get("nodes", "")) for entry in entries]


def partitions_of(lines: Iterable[Line], cluster: Cluster) -> tuple[PartitionConf, ...]:
    """The ``PartitionName=`` lines. Raises :class:`InputError` in slurmctld's words where it would end."""
    lines, notes = list(lines), cluster.notes
    for line in lines:
        if line.first.value.lower() == "default":
            for pair in line.others:
                if pair.key.lower() in (key.lower() for key in _LINE_ONLY):
                    notes.taken("PartitionName=DEFAULT", f"slurmctld does not look at {pair.key} there")
    partitions: dict[str, PartitionConf] = {}
    default = ""
    for entry in entries_of(lines, _KEYS, notes):
        if entry.name in partitions:
            words = f"_build_single_partitionline_info: duplicate entry for partition {entry.name}"
            raise entry.error(words)
        try:
            partitions[entry.name] = _partition(entry, cluster)
        except InputError as error:
            raise error.at(file=entry.line.file, line=entry.line.number) from None
        if partitions[entry.name].default:
            if default:
                notes.taken("Default", f"changing default partition from {default} to {entry.name}")
                partitions[default] = replace(partitions[default], default=False)
            default = entry.name
    return tuple(partitions.values())


def named_nodes(text: str, nodes: Sequence[NodeConf], sets: Sequence[NodeSet]) -> list[str]:
    """The names that ``Nodes=`` stands for, in the order of ``nodes``, then those that are no nodes.

    Raises :class:`InputError` for a list that cannot be read.
    """
    if text.lower() == "all":
        return [node.name for node in nodes]
    wanted = dict.fromkeys(expand(text))
    for one in sets:
        if one.name not in wanted:
            continue
        del wanted[one.name]
        if one.feature:
            wanted.update(dict.fromkeys(node.name for node in nodes if one.feature in node.features))
        if one.nodes.lower() == "all":
            wanted.update(dict.fromkeys(node.name for node in nodes))
        elif one.nodes:
            wanted.update(dict.fromkeys(expand(one.nodes)))
    known = [node.name for node in nodes if node.name in wanted]
    if len(known) == len(wanted):
        return known
    taken = frozenset(known)
    return known + [name for name in wanted if name not in taken]


def _partition(entry: Entry, cluster: Cluster) -> PartitionConf:
    options, notes = cluster.options, cluster.notes
    for key in _PASSED_OVER:
        if (entry.text(key.lower()) or "all").lower() != "all":
            notes.key_passed_over(f"{key} of a partition")
    max_time, default_time = _times(entry, notes)
    exclusive_user = entry.flag("exclusiveuser", inherited=False)
    exclusive_topo = entry.flag("exclusivetopo", inherited=False)
    sharing = _sharing(entry, notes)
    root_jobs = entry.own.get("disablerootjobs")
    disable_root = options.get("disablerootjobs", "NO") if root_jobs is None else root_jobs
    priority = entry.limit("priority")
    def_node, def_cpu = _memory(entry, "def", notes)
    max_node, max_cpu = _memory(entry, "max", notes)
    accounts, qos = _admitted(entry, "Accounts", notes), _admitted(entry, "Qos", notes)
    return PartitionConf(
        entry.name,
        nodes=_nodes(entry, cluster),
        default=entry.flag("default"),
        state=_state(entry),
        max_time_min=max_time,
        default_time_min=default_time,
        max_nodes=entry.limit("maxnodes"),
        min_nodes=entry.number("minnodes", 0),
        max_cpus_per_node=entry.limit("maxcpuspernode"),
        max_cpus_per_socket=entry.limit("maxcpuspersocket"),
        def_mem_per_cpu_mb=def_cpu,
        def_mem_per_node_mb=def_node,
        max_mem_per_cpu_mb=max_cpu,
        max_mem_per_node_mb=max_node,
        def_cpu_per_gpu=entry.limit("defcpupergpu"),
        def_mem_per_gpu_mb=entry.limit("defmempergpu"),
        priority_tier=entry.number("prioritytier", 1) if priority is None else priority,
        priority_job_factor=entry.number("priorityjobfactor", 1) if priority is None else priority,
        oversubscribe="EXCLUSIVE" if exclusive_topo and sharing[0] == "NO" else sharing[0],
        sharing=sharing[1],
        preempt_mode=_preempt_mode(entry, cluster.version, notes),
        grace_s=entry.number("gracetime", 0),
        over_time_limit_min=_over_time(entry, notes),
        exclusive_user=exclusive_user,
        exclusive_topo=exclusive_topo,
        lln=entry.flag("lln"),
        root_only=entry.flag("rootonly"),
        req_resv=entry.flag("reqresv"),
        hidden=entry.flag("hidden"),
        disable_root_jobs=disable_root.lower() in ("yes", "up", "true", "1"),
        power_down_on_idle=entry.flag("powerdownonidle", inherited=False),
        allow_groups=_words(entry.text("allowgroups")),
        allow_accounts=accounts[0],
        deny_accounts=accounts[1],
        allow_qos=qos[0],
        deny_qos=qos[1],
        qos=entry.text("qos") or "",
        alternate=entry.text("alternate") or "",
        select_parameters=_selected(entry),
        billing=tres_weights(entry.text("tresbillingweights") or "", options, "TRESBillingWeights"),
        suspend_time_s=_suspend_time(entry),
        suspend_timeout_s=entry.limit("suspendtimeout"),
        resume_timeout_s=entry.limit("resumetimeout"),
    )


def _times(entry: Entry, notes: Notes) -> tuple[int | None, int | None]:
    """MaxTime and DefaultTime in minutes; a default above the maximum is passed over."""
    most, default = _minutes(entry, "maxtime"), _minutes(entry, "defaulttime")
    if default is not None and most is not None and default > most:
        notes.taken("DefaultTime", f"partition {entry.name} DefaultTime exceeds MaxTime ({default} > {most})")
        default = None
    return most, default


def _nodes(entry: Entry, cluster: Cluster) -> tuple[str, ...]:
    written = entry.text("nodes")
    if not written:
        return ()
    problem = f"Invalid node names in partition {entry.name}"
    try:
        names = named_nodes(",".join(written.split()), cluster.nodes, cluster.sets)
    except InputError as error:
        raise entry.error(f"{problem} ({error.problem})", "nodes") from None
    known = frozenset(node.name for node in cluster.nodes)
    missing = [name for name in names if name not in known]
    if missing:
        raise entry.line.error(problem, field="Nodes", found=missing[0])
    return tuple(names)


def _minutes(entry: Entry, key: str) -> int | None:
    written = entry.text(key)
    if written is None:
        return None
    try:
        return limit_minutes(written)
    except InputError:
        name = entry.keys[key].name
        raise InputError(f'Bad value "{written}" for {name}', field=name, allowed=LIMIT_FORMS) from None


def _state(entry: Entry) -> str:
    written = entry.text("state") or "UP"
    for state in _STATES:
        if written.upper().startswith(state):
            return state
    raise InputError(f'Bad value "{written}" for State', field="State", allowed="UP, DOWN, DRAIN, INACTIVE")


def _sharing(entry: Entry, notes: Notes) -> tuple[str, int]:
    """OverSubscribe as a word, and how many jobs may share."""
    written = entry.text("oversubscribe", "shared")
    if written is None:
        return "NO", 1
    word, colon, number = written.upper().partition(":")
    if word in ("NO", "EXCLUSIVE") and not colon:
        return word, 1
    if word not in ("YES", "FORCE"):
        allowed = "NO, EXCLUSIVE, YES[:n], FORCE[:n]"
        raise InputError(f'Bad value "{written}" for OverSubscribe', field="OverSubscribe", allowed=allowed)
    if not colon:
        return word, _SHARING_DEFAULT
    jobs = leading_number(number)
    if jobs < (2 if word == "YES" else 1):
        notes.taken("OverSubscribe", f"Ignoring bad OverSubscribe value: {written}")
        return "NO", 1
    return word, jobs


def _preempt_mode(entry: Entry, version: Version, notes: Notes) -> str:
    written = entry.text("preemptmode")
    if written is None:
        return ""
    if not is_preempt_mode(written, version):
        raise InputError(f'Bad value "{written}" for PreemptMode', field="PreemptMode")
    modes = [mode.strip().upper() for mode in written.split(",") if mode.strip()]
    modes = ["SUSPEND" if mode == "ON" else mode for mode in modes]
    if "GANG" in modes:
        notes.taken("PreemptMode", "PreemptMode=GANG is a cluster-wide option and cannot be set at partition level")
        modes.remove("GANG")
    return ",".join(modes) or "OFF"


def _over_time(entry: Entry, notes: Notes) -> int | None:
    written = entry.text("overtimelimit")
    if written is None:
        return None
    if written.lower() in ("infinite", "unlimited"):
        return UNLIMITED_MINUTES
    minutes = leading_number(written)
    if minutes < 0:
        notes.taken("OverTimeLimit", f"Ignoring bad OverTimeLimit value: {written}")
        return None
    return min(minutes, UNLIMITED_MINUTES)


def _suspend_time(entry: Entry) -> int | None:
    written = entry.own.get("suspendtime")
    if written is None or written.lower() in ("none", "infinite", "unlimited", "-1"):
        return None
    if not written.isdecimal() or not written.isascii() or len(written) > 10:
        raise InputError(f'Bad value "{written}" for SuspendTime', field="SuspendTime")
    return int(written)


def _selected(entry: Entry) -> str:
    written = entry.own.get("selecttypeparameters")
    if written is None:
        return ""
    for known in _SELECTED:
        if written.upper().startswith(known):
            return known
    raise InputError(f"Bad value for SelectTypeParameters: {written}", field="SelectTypeParameters")


def _memory(entry: Entry, kind: str, notes: Notes) -> tuple[int | None, int | None]:
    """The default ("def") or the largest ("max") memory: of a node, of a CPU; only one of them holds."""
    node, cpu = f"{kind}mempernode", f"{kind}mempercpu"
    if entry.text(node) is None:
        return None, entry.limit(cpu)
    if entry.text(cpu) is not None:
        names = entry.keys[cpu].name, entry.keys[node].name
        notes.taken(names[0], f"{names[0]} ignored, since it's mutually exclusive with {names[1]}")
    return entry.limit(node), None


def _admitted(entry: Entry, kind: str, notes: Notes) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Who may use it, and who may not, in lower case as slurmctld keeps accounts and QOS."""
    allowed = _words((entry.text(f"allow{kind.lower()}") or "").lower())
    denied = _words((entry.text(f"deny{kind.lower()}") or "").lower())
    if allowed and denied:
        notes.taken(f"Deny{kind}", f"Both Allow{kind} and Deny{kind} are defined, Deny{kind} will be ignored")
        return allowed, ()
    return allowed, denied


def _words(text: str | None) -> tuple[str, ...]:
    """The parts of a list; ALL is everybody."""
    if not text or text.lower() == "all":
        return ()
    return parts_of(text)
