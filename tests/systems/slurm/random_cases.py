"""Random workloads for a small cluster, in the form that the recorder of a real Slurm takes and the model replays.

``case(seed)`` is the same on every machine. Each has a theme, which decides what the configuration has and what its
jobs ask for; run times are short and whole seconds, so that a recording takes at most 40 s.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tests.systems.slurm.random_draw import ACCOUNTS, ENFORCE, EVERYBODY, MULTIFACTOR, THREADS, USERS, Case, Draw
from tests.systems.slurm.random_more import MORE


def backfill(draw: Draw) -> None:
    """Time limits decide who passes whom."""
    draw.equal()
    for _ in range(draw.pick(2, 3)):
        draw.job(0, f"{draw.size()} {draw.limit()}", draw.pick(6, 8, 10))
    for _ in range(draw.pick(5, 6, 7, 8)):
        draw.job(draw.pick(1.6, 1.6, 3.2), f"{draw.size()} {draw.limit()}", draw.pick(2, 3, 4, 6))


def placement(draw: Draw) -> None:
    """Sizes, shapes and memory on nodes of several sizes."""
    draw.mixed()
    draw.conf["SelectTypeParameters"] = draw.pick("CR_Core_Memory", "CR_Core", "CR_CPU", "CR_Core_Memory,CR_LLN")
    if draw.chance(3):
        draw.conf["SelectTypeParameters"] = draw.pick("CR_Core_Memory,CR_Pack_Nodes", "CR_Socket_Memory", "CR_Socket")
    if "Memory" not in draw.conf["SelectTypeParameters"]:
        draw.conf["DefMemPerCPU"] = "0"
    for i in range(draw.pick(8, 9, 10)):
        more = draw.pick("", "", "", "", "--contiguous", "--spread-job", "--use-min-nodes", "--ntasks-per-socket=2")
        draw.job(round(i * 1.3, 1), f"{draw.size()} {draw.memory()} {more} -t1", draw.pick(3, 5, 7, 9, 11))


def threads(draw: Draw) -> None:
    """Two threads a core."""
    count = draw.pick(2, 3)
    draw.nodes = [f"NodeName=n[1-{count}] {THREADS} State=UNKNOWN"]
    draw.names, draw.cpus = [f"n{i + 1}" for i in range(count)], [16] * count
    draw.conf["SelectTypeParameters"] = draw.pick(
        "CR_Core_Memory", "CR_CPU_Memory", "CR_Core_Memory,CR_ONE_TASK_PER_CORE"
    )
    for i in range(draw.pick(7, 8)):
        more = draw.pick(
            "", "", "--hint=nomultithread", "--threads-per-core=1", "--ntasks-per-core=1", "--cores-per-socket=4"
        )
        draw.job(round(i * 1.3, 1), f"{draw.size()} {draw.memory()} {more} -t1", draw.pick(3, 5, 7, 9))


def priority(draw: Draw) -> None:
    """Multifactor priority: sizes, partitions, QOS and nice of jobs that queue."""
    draw.equal()
    draw.conf = dict(MULTIFACTOR)
    draw.conf["PriorityWeightJobSize"] = str(draw.pick(0, 300, 1000))
    draw.conf["PriorityWeightPartition"] = str(draw.pick(0, 500, 1000))
    draw.conf["PriorityWeightQOS"] = str(draw.pick(300, 1000, 2000))
    draw.conf["PriorityFavorSmall"] = draw.pick("YES", "NO")
    if draw.chance(3):
        draw.conf["PriorityWeightTRES"] = "CPU=500,Mem=500"
    draw.accounting = ["add qos high Priority=100", "add qos low Priority=10", *ACCOUNTS, f"{EVERYBODY} qos+=high,low"]
    draw.parts = [
        "PartitionName=lo Nodes=ALL Default=YES PriorityJobFactor=10 State=UP",
        "PartitionName=hi Nodes=ALL PriorityJobFactor=50 State=UP",
    ]
    draw.fill(run_s=6)
    for _ in range(draw.pick(6, 8, 10)):
        more = draw.pick("", "", f"--nice={draw.pick(50, 200, 700)}", "-q high", "-q low", "-p hi", "-p hi -q low")
        draw.job(1.6, f"{draw.size()} {more} -t{draw.pick(1, 1, 2, 5)}", draw.pick(2, 3, 4), user=draw.pick(*USERS))
    if draw.chance(4):
        draw.do(4, "scontrol", f"hold {draw.random.randint(2, draw.made)}")
        draw.do(5, "scontrol", f"update JobId={draw.random.randint(2, draw.made)} Priority={draw.pick(1, 9000)}")


def limits(draw: Draw) -> None:
    """Limits of QOS and associations."""
    draw.equal()
    draw.conf = dict(ENFORCE)
    cpus = draw.pick(6, 8, 12)
    of_qos = draw.pick(
        f"MaxTRESPerUser=cpu={cpus}",
        f"GrpTRES=cpu={cpus}",
        "MaxJobsPerUser=1",
        "MaxJobsPerUser=2",
        "GrpJobs=2",
        "MaxTRESPerUser=node=2",
        "GrpTRES=node=2",
        "MaxTRESPerJob=cpu=8",
        "MaxWall=3",
        "GrpTRES=mem=12000",
        "MaxTRESPerAccount=cpu=10",
        "MaxJobsPerAccount=2",
        "MaxSubmitJobsPerUser=2",
        "MinTRESPerJob=cpu=4",
        "GrpTRESRunMins=cpu=40",
        "MaxTRESPerNode=cpu=4",
    )
    of_account = draw.pick(
        "GrpTRES=cpu=10",
        "GrpJobs=2",
        "MaxJobs=1",
        "MaxTRES=cpu=6",
        "MaxWall=3",
        "GrpTRES=mem=9000",
        "GrpTRESMins=cpu=60",
    )
    flags = draw.pick("", "", " Flags=DenyOnLimit")
    draw.accounting = [
        f"add qos lim {of_qos}{flags}",
        *ACCOUNTS,
        f"modify account {draw.pick('phys', 'chem')} set {of_account}",
        f"{EVERYBODY} qos+=lim",
    ]
    if draw.chance(4):
        draw.accounting.append(
            f"modify user {draw.pick(*USERS)} set {draw.pick('MaxJobs=1', 'GrpTRES=cpu=6', 'MaxSubmitJobs=2')}"
        )
    for _ in range(draw.pick(8, 10, 12)):
        more = draw.pick("-q lim", "-q lim", "")
        user = draw.pick(*USERS)
        draw.job(draw.pick(0, 1.6, 3.2), f"-n{draw.random.randint(1, 8)} {more} -t{draw.pick(1, 2, 5)}", user=user)


def partitions(draw: Draw) -> None:
    """Partitions that share nodes: tiers, limits, jobs that may go to several."""
    draw.cluster([(4, 8, "")])
    most, nodes, tier = (
        draw.pick("", "MaxTime=5 ", "MaxNodes=2 "),
        draw.pick("ALL", "n[1-2]", "n[2-4]"),
        draw.pick(1, 5),
    )
    of_own, more = draw.pick("n[3-4]", "n4"), draw.pick("MaxCPUsPerNode=4 ", "OverSubscribe=EXCLUSIVE ", "")
    draw.parts = [
        f"PartitionName=lo Nodes=ALL Default=YES PriorityTier=1 {most}State=UP",
        f"PartitionName=hi Nodes={nodes} PriorityTier={tier} State=UP",
        f"PartitionName=own Nodes={of_own} {more}State=UP",
    ]
    draw.conf["EnforcePartLimits"] = draw.pick("NO", "NO", "ALL", "ANY")
    draw.fill(run_s=4)
    for _ in range(draw.pick(7, 9, 11)):
        where = draw.pick("lo", "lo", "hi", "own", "lo,hi", "hi,own")
        draw.job(draw.pick(1.6, 1.6, 3.2), f"-p {where} {draw.size()} {draw.limit()}", draw.pick(2, 3, 4, 6))
    if draw.chance(3):
        name = draw.pick("lo", "hi")
        draw.do(2.5, "scontrol", f"update PartitionName={name} State=DOWN")
        draw.do(9, "scontrol", f"update PartitionName={name} State=UP")


def order(draw: Draw) -> None:
    """Arrays, dependencies and begin times."""
    draw.equal()
    kinds = ("afterok", "afterany", "afternotok", "after")
    for i in range(draw.pick(6, 7, 8)):
        more = ""
        if i and draw.chance(5):
            more = f"-d {draw.pick(*kinds)}:{draw.random.randint(1, min(i, 3))}"
        elif draw.chance(2):
            more = f"--begin=now+{draw.pick(4, 7)}"
        elif draw.chance(2):
            more = "-d singleton -J same"
        elif i > 2 and draw.chance(4):
            more = f"--array=1-{draw.pick(3, 4, 6)}{draw.pick('', '%1', '%2')}"
        draw.job(
            round(i * 0.4, 1),
            f"-n{draw.random.randint(1, 8)} -t1 {more}",
            draw.pick(2, 3, 4, 6),
            code=draw.pick(0, 0, 0, 1),
        )
    for at in (4.5, 8):
        if draw.chance(3):
            draw.do(at, draw.pick("scancel", "scontrol"), str(draw.random.randint(1, 4)))
            if draw.steps[-1]["do"] == "scontrol":
                draw.steps[-1]["args"].insert(0, draw.pick("hold", "release", "requeue"))


def preemption(draw: Draw) -> None:
    """Jobs that give way, by QOS or by partition."""
    draw.cluster([(draw.pick(2, 3, 4), 8, "")])
    mode = draw.pick("cancel", "requeue", "cancel", "suspend")
    full = {"cancel": "CANCEL", "requeue": "REQUEUE", "suspend": "SUSPEND,GANG"}[mode]
    by_qos = draw.chance(6) and mode != "suspend"
    draw.conf = {"PreemptMode": full, "PreemptType": "preempt/qos" if by_qos else "preempt/partition_prio"}
    if draw.chance(3):
        draw.conf["SchedulerParameters"] = "batch_sched_delay=1,sched_interval=1,bf_interval=1," + draw.pick(
            "preempt_youngest_first", "preempt_strict_order", "preempt_reorder_count=3"
        )
    if by_qos:
        draw.conf |= ENFORCE
        draw.accounting = [
            f"add qos low Priority=1 PreemptMode={mode}",
            f"add qos mid Priority=10 PreemptMode={mode} Preempt=low",
        ]
        draw.accounting += ["add qos high Priority=100 Preempt=low,mid", *ACCOUNTS, f"{EVERYBODY} qos+=low,mid,high"]
        below, above = ["-q low", "-q mid", ""], ["-q high", "-q high", "-q mid"]
    else:
        draw.parts = [
            f"PartitionName=lo Nodes=ALL Default=YES PriorityTier=1 PreemptMode={mode} State=UP",
            "PartitionName=hi Nodes=ALL PriorityTier=10 PreemptMode=off State=UP",
        ]
        below, above = ["-p lo"], ["-p hi"]
    for i in range(draw.pick(4, 5, 6)):
        size = draw.pick("-N1 -n8", "-N1 -n8", "-n4", "-n2", "-N1 --exclusive", "-N2")
        draw.job(round(1.3 * i, 1), f"{draw.pick(*below)} {size} -t2", draw.pick(9, 12, 15))
        if mode == "suspend":
            run = draw.steps[-1]["run_s"]
            draw.steps[-1]["script"] = f"#!/bin/bash\nfor i in $(seq {run}); do sleep 1; done\n"
    for i in range(draw.pick(1, 2, 2)):
        draw.job(
            8 + 2.6 * i, f"{draw.pick(*above)} {draw.pick('-N1 -n8', '-n4', '-N2 -n16', '-n12')} -t1", 3, user="carol"
        )


def reservations(draw: Draw) -> None:
    """Reservations that are, or are to come."""
    draw.cluster([(draw.pick(3, 4), 8, "")])
    what = draw.pick("NodeCnt=2", "Nodes=n1", "Nodes=n[2-3]", "NodeCnt=1", "Nodes=ALL", "Nodes=n2 CoreCnt=4")
    flags = draw.pick("", "", " Flags=MAINT,IGNORE_JOBS", " Flags=FLEX", " Flags=MAGNETIC")
    begins = draw.pick("now", "now", "now+2minutes", "now+3minutes")
    if what == "Nodes=ALL" and begins == "now":
        begins = "now+2minutes"
    draw.do(
        0, "scontrol", f"create reservation ReservationName=r1 StartTime={begins} Duration=30 Users=bob {what}{flags}"
    )
    for i in range(draw.pick(6, 7, 8)):
        mine = draw.chance(3)
        draw.job(
            round(1 + 0.4 * i, 1),
            f"{draw.size()} {draw.pick('-t1', '-t1', '-t10')} {'--reservation=r1' if mine else ''}",
            draw.pick(2, 3, 5),
            user="bob" if mine and draw.chance(9) else draw.pick("alice", "bob"),
        )
    draw.do(12, "scontrol", "delete ReservationName=r1")


def bundles(draw: Draw) -> None:
    """Heterogeneous jobs and licences."""
    draw.cluster([(draw.pick(2, 3, 4), 8, "")])
    draw.conf["Licenses"] = "matlab:3,ansys:1"
    for i in range(draw.pick(6, 7, 8)):
        at = round(1.4 * i, 1)
        if draw.chance(3):
            draw.job(at, f"-n{draw.pick(1, 4, 8)} -t1 : -J x -n{draw.pick(2, 8, 12)} -t1", draw.pick(3, 5))
        else:
            lic = draw.pick("", "-L matlab:1", "-L matlab:2", "-L ansys", "-L matlab:1,ansys:1")
            draw.job(at, f"-n{draw.pick(1, 2, 4, 8)} {lic} {draw.limit()}", draw.pick(3, 5, 7))


def devices(draw: Draw) -> None:
    """GPUs: so many a node, a job or a task."""
    count = draw.pick(2, 3)
    draw.cluster([(count, 8, "Gres=gpu:4 "), (1, 8, "")])
    draw.more["gres"] = [f"NodeName=n[1-{count}] Name=gpu File=/dev/nvidia[0-3]"]
    for i in range(draw.pick(7, 8, 9)):
        wish = draw.pick(
            f"-n{draw.pick(1, 2, 4)} --gres=gpu:{draw.pick(1, 2, 3)}",
            f"-N2 --gres=gpu:{draw.pick(1, 2)}",
            f"--gpus={draw.pick(1, 2, 3, 6)}",
            f"-N{draw.pick(1, 2)} --gpus-per-node={draw.pick(1, 2, 4)}",
            f"-n{draw.pick(1, 2, 3)} --gpus-per-task=1",
            f"--gpus={draw.pick(1, 2)} --cpus-per-gpu={draw.pick(2, 3)}",
            f"-n{draw.pick(1, 4, 8)}",
            f"-N1 --exclusive --gres=gpu:{draw.pick(1, 4)}",
        )
        draw.job(round(1.4 * i, 1), f"{wish} -t1", draw.pick(4, 6, 8))


def wishes(draw: Draw) -> None:
    """Features, named and excluded nodes, weights, neighbours."""
    heavy = draw.pick("", "Weight=10 ")
    draw.cluster(
        [(2, 8, f"Feature=a,x {heavy}"), (2, 8, "Feature=b,x "), (draw.pick(1, 2), draw.pick(8, 16), "Feature=b,y ")]
    )
    for i in range(draw.pick(8, 9, 10)):
        wish = draw.pick(
            f"-C {draw.pick('a', 'b', 'x', 'y', 'a|y', 'b&x', '[a|b]')}",
            f"-w {draw.pick(*draw.names)}",
            f"-x {draw.pick(*draw.names)}",
            "--contiguous",
            "",
        )
        draw.job(
            round(1.3 * i, 1),
            f"{draw.pick('-N1 -n8', '-n4', '-N2 -n16', '-N2', '-n2', '-N3')} {wish} -t1",
            draw.pick(3, 5, 8),
        )


def control(draw: Draw) -> None:
    """What users and administrators do meanwhile: holds, cancels, requeues, nodes drained."""
    draw.equal()
    for i in range(draw.pick(7, 8, 9)):
        more = draw.pick("", "", "", "--hold", "--nice=20", "--nice")
        draw.job(round(i * 0.3, 1), f"{draw.size()} {draw.limit()} {more}", draw.pick(3, 5, 7))
    at = 3.5
    for _ in range(draw.pick(3, 4, 5)):
        number = draw.random.randint(1, draw.made)
        what = draw.pick(
            ("scontrol", f"hold {number}"),
            ("scontrol", f"release {number}"),
            ("scancel", str(number)),
            ("scontrol", f"update JobId={number} TimeLimit=3"),
            ("scontrol", f"update JobId={number} Nice=500"),
            ("scontrol", f"update NodeName={draw.pick(*draw.names)} State=DRAIN Reason=x"),
            ("scontrol", f"update NodeName={draw.pick(*draw.names)} State=RESUME"),
            ("scontrol", f"requeue {number}"),
        )
        draw.do(round(at, 1), *what)
        at += 2.1


def topology(draw: Draw) -> None:
    """Two or three switches."""
    draw.cluster([(6, 8, "")])
    draw.conf["TopologyPlugin"] = "topology/tree"
    leaves = draw.pick(("n[1-3]", "n[4-6]"), ("n[1-2]", "n[3-4]", "n[5-6]"), ("n[1-4]", "n[5-6]"))
    draw.more["topo"] = [f"SwitchName=s{i} Nodes={leaf}" for i, leaf in enumerate(leaves, 1)]
    draw.more["topo"].append(f"SwitchName=top Switches=s[1-{len(leaves)}]")
    for i in range(draw.pick(7, 8, 9)):
        size = draw.pick("-N1 -n8", "-N2 -n16", "-N3 -n24", "-N2 -n4", "-n4", "-n20", "-N4")
        more = draw.pick("", "", "", "--switches=1", "--contiguous")
        draw.job(round(1.3 * i, 1), f"{size} {more} -t1", draw.pick(3, 5, 7))


THEMES: Final[dict[str, Callable[[Draw], None]]] = {
    one.__name__: one
    for one in (
        backfill,
        placement,
        priority,
        limits,
        partitions,
        order,
        preemption,
        reservations,
        bundles,
        devices,
        wishes,
        control,
        topology,
        threads,
        *MORE,
    )
}


def case(seed: int, theme: str = "") -> Case:
    """The case of a seed; its theme is one of them in turn, if none is said (of the first fourteen up to seed 70)."""
    name = theme or list(THEMES)[seed % (14 if seed < 70 else len(THEMES))]
    draw = Draw(seed, name)
    make = THEMES[name]
    make(draw)
    return {
        "name": f"random-{name}-{seed}",
        "kind": f"random {name}",
        "about": str(make.__doc__),
        "steps": draw.steps,
        "nodes": draw.nodes,
        "parts": draw.parts,
        "conf": draw.conf,
        "accounting": draw.accounting,
        "max_s": 38,
        **draw.more,
    }
