"""When a job is expected to start, by time limits, and when it does in the model."""

from __future__ import annotations

from gnomon.insight.explain.phrases import listed, span
from gnomon.insight.slurm.moment import SOON_NS, Moment
from gnomon.model.resources import NEVER


def outlook(moment: Moment) -> str:
    """When it is expected to start, and when it does in the model."""
    course, parts = moment.course, []
    if moment.expected_ns == moment.planned_ns > moment.now_ns + SOON_NS:
        where = listed(moment.state.names(list(moment.planned_nodes)), 3)
        parts.append(f"by time limits backfill expects it to start at {moment.at(moment.planned_ns)} on {where}")
    if course.ran and course.start_ns > moment.now_ns:
        starts = f"it starts at {moment.at(course.start_ns)}"
        how = f" on {listed(course.runs[-1].nodes, 3)}" if course.runs else ""
        parts.append(f"{starts}{how}{_made_room(moment)}")
    elif course.loops:
        names = listed(list(dict.fromkeys(name for run in course.runs for name in run.nodes)), 4)
        every = (course.runs[-1].start_ns - course.runs[0].start_ns) // max(1, len(course.runs) - 1)
        parts.append(
            f"it never runs: by {moment.at(course.ended_ns)} it was requeued {len(course.runs)} times, about every "
            f"{span(every)}, for it was given nodes that did not stay ({names})"
        )
    elif not course.ran and course.over_ns < NEVER:
        why = f" ({course.reason})" if course.reason not in ("None", "") else ""
        parts.append(f"it never starts: it is {course.state}{why} at {moment.at(course.over_ns)}")
    elif not course.ran:
        parts.append("it never starts")
    return "; ".join(parts)


def _made_room(moment: Moment) -> str:
    freed = moment.course.freed
    if not freed:
        return ""
    names = listed(list(dict.fromkeys(one.name for one in freed)), 3)
    return f", after {'job' if len({one.name for one in freed}) == 1 else 'jobs'} {names} left there"
