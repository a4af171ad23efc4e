"""More themes: what is refused, preemption by QOS, shared nodes, parameters of the schedulers, operators at work."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tests.systems.slurm.random_draw import ACCOUNTS, ENFORCE, EVERYBODY, USERS, Draw


def refusals(draw: Draw) -> None:
    """Requests that a partition or the cluster cannot meet, now or ever."""
    draw.cluster([(draw.pick(3, 4), 8, "")])
    draw.conf["EnforcePartLimits"] = draw.pick("NO", "ALL", "ANY")
    draw.parts = [
        "PartitionName=lo Nodes=ALL Default=YES MaxTime=10 State=UP",
        f"PartitionName=few Nodes=n[1-2] MaxNodes={draw.pick(1, 2)} MinNodes=1 DefaultTime=2 State=UP",
        f"PartitionName=shut Nodes=ALL State={draw.pick('DOWN', 'DRAIN', 'INACTIVE')}",
        "PartitionName=many Nodes=ALL MinNodes=2 MaxCPUsPerNode=6 State=UP",
    ]
    for _ in range(draw.pick(9, 11)):
        where = draw.pick("lo", "few", "few", "shut", "many", "many", "lo,few", "few,many", "shut,lo")
        size = draw.pick(
            f"-n{draw.pick(1, 4, 8, 14, 20, 40)}",
            f"-N{draw.pick(1, 2, 3, 5)}",
            f"-N1-{draw.pick(2, 3)} -n2",
            f"-N1 --ntasks-per-node={draw.pick(2, 7, 9)}",
            f"-n1 --mem={draw.pick(2000, 15000, 20000)}",
            f"-n2 -c{draw.pick(3, 5, 9)}",
        )
        draw.job(draw.pick(0, 0, 1.6), f"-p {where} {size} {draw.pick('-t1', '-t1', '-t5', '-t20', '')}")
    if draw.chance(5):
        draw.do(5.5, "scontrol", "update PartitionName=shut State=UP")
    if draw.chance(3):
        draw.do(3, "scontrol", "update NodeName=n1 State=DRAIN Reason=x")
        draw.do(9, "scontrol", "update NodeName=n1 State=RESUME")


def ranks(draw: Draw) -> None:
    """Preemption by QOS: several at once, on full and on half full nodes."""
    draw.cluster([(draw.pick(2, 3, 4), 8, "")])
    mode = draw.pick("cancel", "requeue", "cancel")
    more = draw.pick("", "", "preempt_youngest_first", "preempt_strict_order", "preempt_reorder_count=2")
    draw.conf = dict(ENFORCE, PreemptMode=mode.upper(), PreemptType="preempt/qos")
    if more:
        draw.conf["SchedulerParameters"] = f"batch_sched_delay=1,sched_interval=1,bf_interval=1,{more}"
    if draw.chance(3):
        draw.conf["PreemptExemptTime"] = "00:00:06"
    draw.accounting = [
        f"add qos low Priority=1 PreemptMode={mode}",
        f"add qos mid Priority=10 PreemptMode={mode} Preempt=low",
    ]
    draw.accounting += ["add qos high Priority=100 Preempt=low,mid", *ACCOUNTS, f"{EVERYBODY} qos+=low,mid,high"]
    for i in range(draw.pick(5, 6, 7)):
        size = draw.pick("-N1 -n8", "-n4", "-n2", "-N2 -n8", "-N1 --exclusive", "-n3 --mem=9000")
        draw.job(round(1.3 * i, 1), f"-q {draw.pick('low', 'low', 'mid', 'normal')} {size} -t2", draw.pick(14, 18))
    for i in range(draw.pick(1, 2, 3)):
        size = draw.pick("-N1 -n8", "-n4", "-N2 -n16", "-n12", "-n3 --mem=9000", "-N1 --exclusive")
        draw.job(10 + 2.6 * i, f"-q {draw.pick('high', 'mid')} {size} -t1", 4, user="carol")


def sharing(draw: Draw) -> None:
    """Partitions whose nodes are shared, with and without turns."""
    draw.cluster([(draw.pick(2, 3), 8, "")])
    share = draw.pick("FORCE:2", "YES:2", "FORCE:3", "NO")
    draw.parts = [f"PartitionName=batch Nodes=ALL Default=YES OverSubscribe={share} State=UP"]
    draw.conf["SelectTypeParameters"] = draw.pick("CR_Core_Memory", "CR_Core", "CR_CPU")
    draw.conf["DefMemPerCPU"] = draw.pick("0", "500") if "Memory" not in draw.conf["SelectTypeParameters"] else "500"
    for i in range(draw.pick(6, 7, 8)):
        size = draw.pick("-N1 -n8", "-n4", "-n6", "-N2 -n4", "-N1 --exclusive", "-n2")
        draw.job(round(1.3 * i, 1), f"{size} {draw.pick('', '', '-s')} -t1", draw.pick(5, 7, 9))


def parameters(draw: Draw) -> None:
    """Parameters of the two schedulers."""
    draw.cluster([(draw.pick(2, 3, 4), 8, "")])
    usual = "batch_sched_delay=1,sched_interval=1,bf_interval=1"
    more = draw.pick(
        "bf_max_job_test=2",
        "bf_job_part_count_reserve=1",
        "bf_max_job_user=1",
        "bf_max_job_part=2",
        "bf_window=2",
        "bf_resolution=300",
        "default_queue_depth=2",
        "bf_max_job_start=1",
        "bf_min_age_reserve=8",
        "bf_min_prio_reserve=4294901755",
        "bf_one_resv_per_job",
        "bf_busy_nodes",
        "pack_serial_at_end",
        "bf_max_job_array_resv=1",
        "bf_continue,bf_running_job_reserve",
    )
    draw.conf["SchedulerParameters"] = f"{usual},{more}"
    if draw.chance(2):
        draw.conf["SchedulerType"] = "sched/builtin"
    for _ in range(2):
        draw.job(0, f"{draw.size()} {draw.limit()}", draw.pick(6, 8, 10))
    for _ in range(draw.pick(6, 8)):
        array = draw.pick("", "", "", "--array=1-3")
        user = draw.pick(*USERS[:2])
        draw.job(draw.pick(1.6, 1.6, 3.2), f"{draw.size()} {draw.limit()} {array}", draw.pick(2, 3, 4), user=user)


def operators(draw: Draw) -> None:
    """Users and operators hold, change and requeue jobs that wait or run."""
    draw.cluster([(draw.pick(2, 3), 8, "")])
    for i in range(draw.pick(6, 7)):
        more = draw.pick("", "", "--array=1-3%1", "--nice=10", "-H")
        draw.job(round(i * 0.3, 1), f"{draw.size()} -t2 {more}", draw.pick(6, 9))
    at = 3.4
    for _ in range(draw.pick(4, 5)):
        number = draw.random.randint(1, draw.made)
        program, args, user = draw.pick(
            ("scontrol", f"hold {number}", "alice"),
            ("scontrol", f"uhold {number}", "root"),
            ("scontrol", f"release {number}", "alice"),
            ("scontrol", f"release {number}", "root"),
            ("scontrol", f"suspend {number}", "root"),
            ("scontrol", f"resume {number}", "root"),
            ("scontrol", f"requeuehold {number}", "root"),
            ("scontrol", f"update JobId={number} Priority=4294901760", "root"),
            ("scontrol", f"update JobId={number} NumNodes=1", "root"),
            ("scontrol", f"update JobId={number} StartTime=now+5", "root"),
            ("scontrol", f"update JobId={number} Dependency=afterany:1", "root"),
            ("scancel", f"-u alice -t PENDING -n j{number}", "alice"),
        )
        draw.do(round(at, 1), program, args, user)
        at += 1.7


MORE: Final[tuple[Callable[[Draw], None], ...]] = (refusals, ranks, sharing, parameters, operators)
