"""How it came to be: what happened to a job, and to those who held what it waited for, in time."""

from __future__ import annotations

from gnomon.insight.explain.chain import Link
from gnomon.insight.explain.phrases import listed, span
from gnomon.insight.slurm.course import Course
from gnomon.insight.slurm.meaning import QUEUE_REASONS
from gnomon.insight.slurm.moment import Moment
from gnomon.systems.slurm.cluster.job import Job

ROWS_MAX = 14
_SCHEDULERS = {"main": "the main scheduler", "backfill": "backfill"}


def history(job: Job, course: Course, moment: Moment | None) -> tuple[Link, ...]:
    """The rows in the order of time; where there are too many, the first and the last of them."""
    rows: list[tuple[int, int, str, str]] = [
        (course.submit_ns, 0, "submit", f"job {course.name} is submitted: {asks(job)}")
    ]
    before = ""
    for at_ns, reason in course.waits:
        if reason not in ("None", before):
            rows.append((at_ns, 1, "wait", f"it waits: {reason}"))
            before = reason
    if course.given_ns >= 0 and course.ran:
        rows.append((course.given_ns, 3, "given", "it is given nodes that are off, and waits until they are up"))
    if moment is not None:
        rows += _of_moment(moment)
    for one in course.freed:
        where = listed(one.nodes, 3)
        rows.append((one.at_ns, 2, "end", f"job {one.name} is {one.state}, which frees {where}"))
    for run in course.runs:
        by = _SCHEDULERS.get(run.scheduler, run.scheduler)
        rows.append((run.start_ns, 3, "start", f"it starts on {listed(run.nodes, 4)}, by {by}"))
        if run.end_ns >= 0:
            code = f" ({course.exit_code})" if run.state in ("COMPLETED", "FAILED") else ""
            rows.append((run.end_ns, 4, "end", f"it is {run.state}{code}"))
    rows.sort(key=lambda row: row[:2])
    if len(rows) > ROWS_MAX:
        half = ROWS_MAX // 2
        left = len(rows) - 2 * half
        rows = [*rows[:half], (rows[half][0], 1, "…", f"{left} more rows like these"), *rows[-half:]]
    return tuple(Link(number, at_ns, event, text) for number, (at_ns, _, event, text) in enumerate(rows))


def _of_moment(moment: Moment) -> list[tuple[int, int, str, str]]:
    """Who stands before it at the moment, and what is promised."""
    found = []
    if moment.line and moment.reason in QUEUE_REASONS:
        names = listed([other.name for other in moment.line], 4)
        found.append(
            (moment.now_ns, 1, "line", f"before it in the line: {'job' if len(moment.line) == 1 else 'jobs'} {names}")
        )
    if moment.planned_ns > moment.now_ns:
        where = listed(moment.state.names(list(moment.planned_nodes)), 4)
        found.append(
            (moment.now_ns, 1, "plan", f"backfill expects it at {span(moment.planned_ns)} on {where}, by time limits")
        )
    return found


def asks(job: Job) -> str:
    """What a job asks for, in sbatch's words."""
    request = job.request
    words = [
        f"-N {_range(request.nodes_min, request.nodes_max)}" if request.nodes_min else "",
        f"-n {request.tasks}" if request.tasks else "",
        f"-c {request.cpus_per_task}" if request.cpus_per_task else "",
        f"--mem={request.mem_per_node_mb}" if request.mem_per_node_mb else "",
        f"--mem-per-cpu={request.mem_per_cpu_mb}" if request.mem_per_cpu_mb else "",
        *(f"--gres={one.name}:{f'{one.type}:' if one.type else ''}{one.count}" for one in request.gres),
        *(f"--gpus={one.count}" for one in request.gpus),
        f"-C {request.features}" if request.features else "",
        "--exclusive" if request.exclusive == "node" else "",
        f"-t {span(job.limit_min * 60 * 10**9)}" if job.limit_min is not None and job.limit_min > 0 else "",
        f"-p {','.join(job.partitions)}",
        f"-q {job.qos}" if job.qos else "",
        f"user {job.user}" if job.user else "",
    ]
    return " ".join(word for word in words if word)


def _range(least: int, most: int | None) -> str:
    return str(least) if most in (None, least) else f"{least}-{most}"
