"""``scontrol show job``, ``node``, ``partition``, ``reservation``, ``lic``; ``-o`` puts each on one line.

Lines about what is not modelled (addresses, loads, versions of the operating system) are left out. Source:
``slurm_sprint_job_info``, ``slurm_sprint_node_table``, ``slurm_sprint_partition_info``,
``slurm_sprint_reservation_info`` of ``src/api``, Slurm 22.05 to 25.05.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from gnomon.model.errors import InputError
from gnomon.systems.slurm.cluster.reservations import Reservation
from gnomon.systems.slurm.cluster.state import SECOND, Partition, State
from gnomon.systems.slurm.controller.commands import jobs_of
from gnomon.systems.slurm.notation.hostlist import compress, expand
from gnomon.systems.slurm.notation.times import format_minutes, format_seconds
from gnomon.systems.slurm.views.formats import Clock, size, tres_text
from gnomon.systems.slurm.views.jobs import Shown, shown_jobs
from gnomon.systems.slurm.views.sinfo import node_words

Lines = list[str]


def scontrol_show(state: State, args: Sequence[str], clock: Clock) -> str:
    """What scontrol show prints. Raises InputError for what is not modelled."""
    words = [word for word in args if not word.startswith("-")]
    one_line = any(word in ("-o", "--oneliner") for word in args)
    if not words or words[0].lower() != "show" or len(words) < 2:
        raise InputError(
            "only scontrol show is a view", found=" ".join(args), allowed="show job|node|partition|reservation"
        )
    what, name = words[1].lower(), words[2] if len(words) > 2 else ""
    what, _, given = what.partition("=")
    name = name or given
    kinds = {
        "job": _jobs,
        "node": _nodes,
        "partition": _partitions,
        "reservation": _reservations,
        "licenses": _licenses,
    }
    kind = next((k for k in kinds if k.startswith(what.rstrip("s")) or what.startswith(k)), None)
    if kind is None:
        raise InputError("not modelled: a view of scontrol", found=what, allowed=", ".join(kinds))
    found = list(kinds[kind](state, name, clock))
    if not found:
        return f"No {kind}s in the system\n"
    if one_line:
        end = " \n" if kind == "job" else "\n"
        return "".join(" ".join(lines) + end for lines in found)
    return "".join("\n   ".join(lines) + "\n\n" for lines in found)


# ------------------------------------------------------------------ jobs


def _jobs(state: State, name: str, clock: Clock) -> Iterator[Lines]:
    wanted = {id(job) for job in jobs_of(state, name)} if name else None
    for one in shown_jobs(state, clock):
        if wanted is None or id(one.job) in wanted:
            yield _job(one)


def _job(one: Shown) -> Lines:
    job, request, state = one.job, one.job.request, one.state
    head = f"JobId={job.id} "
    if job.array is not None:
        throttle = f"ArrayTaskThrottle={job.array.limit} " if job.array.limit else ""
        head += f"ArrayJobId={job.array.id} ArrayTaskId={one.task_list} {throttle}"
    elif job.het is not None:
        head += f"HetJobId={job.het.id} HetJobOffset={job.het_offset} "
    requeue = state.conf.flag("jobrequeue") if request.requeue is None else request.requeue
    eligible = job.begin_ns if job.begin_ns > state.now_ns else job.eligible_ns if job.eligible_ns != -1 else None
    limit = format_seconds(one.limit_s)
    tasks = request.tasks if request.tasks is not None else one.node_count
    per_cpu = request.mem_per_node_mb is None
    lines = [
        f"{head}JobName={request.name}",
        f"UserId={job.user} MCS_label=N/A",
        f"Priority={job.shown_priority} Nice={job.nice} Account={job.account or '(null)'} QOS={job.qos or 'normal'}",
        f"JobState={job.state} Reason={one.reason.replace(' ', '_')} Dependency={one.dependency}",
        f"Requeue={int(requeue)} Restarts={job.restarts} BatchFlag=1 Reboot=0 ExitCode={job.exit_code}",
        f"RunTime={format_seconds(one.ran_s)} TimeLimit={limit} TimeMin={_minutes(request.time_min_min)}",
        f"SubmitTime={one.clock(job.submit_ns)} EligibleTime={_time(one, eligible)}",
        f"AccrueTime={_time(one, eligible)}",
        f"StartTime={_time(one, one.start_ns)} EndTime={_time(one, one.end_ns)} "
        f"Deadline={one.clock(job.deadline_ns) if job.deadline_ns else 'N/A'}",
        f"SuspendTime=None SecsPreSuspend=0 Scheduler={_scheduler(one)}",
        f"Partition={','.join(job.partitions) if job.pends else job.partition}",
        f"ReqNodeList={_hosts(request.node_list)} ExcNodeList={_hosts(request.exclude)}",
        f"NodeList={one.nodes}",
    ]
    if one.allocation is not None:
        lines.append(f"BatchHost={state.conf.nodes[one.allocation.nodes[0]].name}")
    lines += [
        f"NumNodes={one.node_count} NumCPUs={one.cpus} NumTasks={tasks} CPUs/Task={request.cpus_per_task or 1} "
        "ReqB:S:C:T=0:0:*:*",
        f"TRES={tres_text(one.tres)}",
        f"Socks/Node=* NtasksPerN:B:S:C={request.tasks_per_node or 0}:0:*:* CoreSpec=*",
        f"MinCPUsNode={_least_cpus(one)} MinMemory{'CPU' if per_cpu else 'Node'}={one.memory} "
        f"MinTmpDiskNode={size(request.tmp_mb)}",
        f"Features={request.features or '(null)'} DelayBoot=00:00:00",
    ]
    if request.reservation:
        lines.append(f"Reservation={request.reservation}")
    licenses = ",".join(f"{n}:{c}" for n, c in request.licenses) or "(null)"
    lines.append(
        f"OverSubscribe={one.over_subscribe} Contiguous={int(request.contiguous)} Licenses={licenses} Network=(null)"
    )
    lines.append(f"WorkDir={request.work_dir or '/'}")
    return lines


def _scheduler(one: Shown) -> str:
    return (one.job.stints[-1].scheduler if one.job.stints else "main").capitalize()


def _least_cpus(one: Shown) -> int:
    request = one.job.request
    least = (request.tasks_per_node or 1) * (request.cpus_per_task or 1)
    return max(least, request.min_cpus_per_node or 1)


def _time(one: Shown, time_ns: int | None) -> str:
    return "Unknown" if time_ns is None else one.clock(time_ns)


def _minutes(minutes: int | None) -> str:
    return "N/A" if minutes is None else format_minutes(minutes)


def _hosts(names: Sequence[str]) -> str:
    return compress(names) if names else "(null)"


# ------------------------------------------------------------------ nodes


def _nodes(state: State, name: str, clock: Clock) -> Iterator[Lines]:
    wanted = set(expand(name)) if name and name.upper() != "ALL" else None
    words = node_words(state)
    held: dict[int, dict[str, int]] = {}
    for job in state.running:
        for place, n in enumerate(job.allocation.nodes):
            has = held.setdefault(n, {})
            has["cpu"] = has.get("cpu", 0) + job.allocation.cpus[place]
            has["mem"] = has.get("mem", 0) + job.allocation.memory_mb[place]
    for n, node in enumerate(state.conf.nodes):
        if wanted is None or node.name in wanted:
            yield _node(state, n, words[n], held.get(n, {}))


def _node(state: State, n: int, word: str, held: Mapping[str, int]) -> Lines:
    node = state.conf.nodes[n]
    features = ",".join(node.features) or "(null)"
    gres = ",".join(f"{g.name}:{g.type + ':' if g.type else ''}{g.count}" for g in node.gres) or "(null)"
    busy = held.get("cpu", 0)
    base = "ALLOCATED" if busy >= node.effective_cpus else "MIXED" if busy else "IDLE"
    flags = {
        "drained": "+DRAIN",
        "draining": "+DRAIN",
        "planned": "+PLANNED",
        "reserved": "+RESERVED",
        "maint": "+MAINT",
    }
    shown = ("DOWN" if word.startswith("down") else base) + flags.get(word, "")
    shown += "+NOT_RESPONDING" if word.endswith("*") else ""
    mask = np.zeros(len(state.conf.nodes), np.bool_)
    mask[n] = True
    has = state.selector.capacity(mask)
    names = [p.name for p in state.partitions.values() if p.nodes[n]]
    lines = [
        f"NodeName={node.name} CoresPerSocket={node.cores} ",
        f"CPUAlloc={busy} CPUEfctv={node.effective_cpus} CPUTot={node.cpus}",
        f"AvailableFeatures={features}",
        f"ActiveFeatures={features}",
        f"Gres={gres}",
        f"RealMemory={node.memory_mb} AllocMem={held.get('mem', 0)} Sockets={node.sockets} Boards={node.boards}",
        f"State={shown} ThreadsPerCore={node.threads} TmpDisk={node.tmp_mb} Weight={node.weight} "
        "Owner=N/A MCS_label=N/A",
        f"Partitions={','.join(names)} ",
        f"CfgTRES={tres_text({k: v for k, v in has.items() if k != 'node'}, ordered=('cpu', 'mem', 'billing'))}",
        f"AllocTRES={tres_text(held)}",
    ]
    reason = state.down.get(n) or state.drained.get(n)
    return [*lines, f"Reason={reason}"] if reason else lines


# ------------------------------------------------------------------ partitions, reservations, licences


def _partitions(state: State, name: str, clock: Clock) -> Iterator[Lines]:
    for partition in state.partitions.values():
        if not name or partition.name == name:
            yield _partition(state, partition)


def _yes(value: bool) -> str:
    return "YES" if value else "NO"


def _listed(names: Sequence[str]) -> str:
    return ",".join(names) or "ALL"


def _partition(state: State, one: Partition) -> Lines:
    conf = one.conf
    numbers = np.flatnonzero(one.nodes).tolist()
    shares = conf.oversubscribe + (f":{conf.sharing}" if conf.oversubscribe in ("YES", "FORCE") else "")
    accounts = (
        f"DenyAccounts={','.join(conf.deny_accounts)}"
        if conf.deny_accounts
        else f"AllowAccounts={_listed(conf.allow_accounts)}"
    )
    qos = f"DenyQos={','.join(conf.deny_qos)}" if conf.deny_qos else f"AllowQos={_listed(conf.allow_qos)}"
    most = "UNLIMITED" if conf.max_nodes is None else conf.max_nodes
    cpus = "UNLIMITED" if conf.max_cpus_per_node is None else conf.max_cpus_per_node
    default = "NONE" if conf.default_time_min is None else format_minutes(conf.default_time_min)
    over = "NONE" if conf.over_time_limit_min is None else conf.over_time_limit_min
    memory = (
        f"DefMemPerCPU={conf.def_mem_per_cpu_mb}"
        if conf.def_mem_per_cpu_mb
        else f"DefMemPerNode={conf.def_mem_per_node_mb or 'UNLIMITED'}"
    )
    largest = (
        f"MaxMemPerCPU={conf.max_mem_per_cpu_mb}"
        if conf.max_mem_per_cpu_mb
        else f"MaxMemPerNode={conf.max_mem_per_node_mb or 'UNLIMITED'}"
    )
    return [
        f"PartitionName={one.name}",
        f"AllowGroups={_listed(conf.allow_groups)} {accounts} {qos}",
        f"AllocNodes=ALL Default={_yes(conf.default)} QoS={conf.qos or 'N/A'}",
        f"DefaultTime={default} DisableRootJobs={_yes(conf.disable_root_jobs)} "
        f"ExclusiveUser={_yes(conf.exclusive_user)} GraceTime={conf.grace_s} Hidden={_yes(conf.hidden)}",
        f"MaxNodes={most} MaxTime={format_minutes(conf.max_time_min)} MinNodes={conf.min_nodes} LLN={_yes(conf.lln)} "
        f"MaxCPUsPerNode={cpus}",
        f"Nodes={compress(state.names(numbers))}",
        f"PriorityJobFactor={conf.priority_job_factor} PriorityTier={conf.priority_tier} "
        f"RootOnly={_yes(conf.root_only)} ReqResv={_yes(conf.req_resv)} OverSubscribe={shares}",
        f"OverTimeLimit={over} PreemptMode={conf.preempt_mode or state.conf.text('preemptmode') or 'OFF'}",
        f"State={conf.state} TotalCPUs={sum(state.conf.nodes[n].cpus for n in numbers)} TotalNodes={len(numbers)} "
        f"SelectTypeParameters={conf.select_parameters or 'NONE'}",
        f"{memory} {largest}",
    ]


def _reservations(state: State, name: str, clock: Clock) -> Iterator[Lines]:
    for one in state.reservations.values():
        if not name or one.name == name:
            yield _reservation(state, one, clock)


def _reservation(state: State, one: Reservation, clock: Clock) -> Lines:
    numbers = np.flatnonzero(one.nodes).tolist()
    cores = sum(len(c) for c in one.cores.values()) or sum(state.selector.cores(n) for n in numbers)
    active = "ACTIVE" if one.start_ns <= state.now_ns < one.end_ns else "INACTIVE"
    licenses = ",".join(f"{n}:{c}" for n, c in one.licenses.items()) or "(null)"
    return [
        f"ReservationName={one.name} StartTime={clock(one.start_ns)} EndTime={clock(one.end_ns)} "
        f"Duration={format_seconds((one.end_ns - one.start_ns) // SECOND)}",
        f"Nodes={compress(state.names(numbers))} NodeCnt={len(numbers)} CoreCnt={cores} Features=(null) "
        f"PartitionName={one.partition or '(null)'} Flags={','.join(sorted(one.flags))}",
        f"TRES=cpu={cores}",
        f"Users={','.join(one.users) or '(null)'} Groups=(null) Accounts={','.join(one.accounts) or '(null)'} "
        f"Licenses={licenses} State={active} BurstBuffer=(null) Watts=n/a",
        "MaxStartDelay=(null)",
    ]


def _licenses(state: State, name: str, clock: Clock) -> Iterator[Lines]:
    for one, total in sorted(state.licenses.total.items()):
        if not name or one == name:
            used = state.licenses.taken.get(one, 0)
            yield [f"LicenseName={one}", f"Total={total} Used={used} Free={total - used} Reserved=0 Remote=no"]
