"""Why a rollout does not come to its end though all of its pods run: which of them are not ready, and since when."""

from __future__ import annotations

from collections.abc import Sequence

from gnomon.engine.log import Kind, Log, State
from gnomon.insight.explain.ground import Ground
from gnomon.insight.explain.phrases import listed, span
from gnomon.insight.explain.situation import rows_of
from gnomon.model.resources import NEVER
from gnomon.systems.kubernetes.controllers.probes import ready_ns
from gnomon.systems.kubernetes.fleets.native import native_of

SHOWN = 3
TIMED_OUT = "ProgressDeadlineExceeded"
_PROGRESS = (TIMED_OUT, "NewReplicaSetAvailable", "ScalingReplicaSet")


def stuck(ground: Ground, tasks: Sequence[int], about: str) -> tuple[str, str]:
    """What is to be told of a rollout that has timed out, and its event; empty if it has not. ``about``: the workload,
    as events name it; ``tasks``: its pods."""
    log, native = ground.past.log, native_of(ground.scenario)
    row = _timed_out(log, about)
    if row < 0:
        return "", ""
    end = int(log.t_ns[-1])
    parts = []
    for task in tasks:
        starts = rows_of(log, (task,), Kind.START)
        if ground.past.outcome.state[task] != State.RUNNING or not len(starts):
            continue
        since, delay = int(log.t_ns[starts[-1]]), ready_ns(native.pods[task])
        if since + delay > end:
            when = "it hangs before its readiness probe succeeds" if delay >= NEVER else f"that takes {span(delay)}"
            parts.append(f"{native.pods[task].name}, which runs since {span(since)}, is not ready: {when}")
    message = str(log.details[row]["message"])
    text = f" Its rollout is stuck: it has timed out at {span(int(log.t_ns[row]))} ({TIMED_OUT})"
    return text + (f"; {listed(parts, SHOWN)}." if parts else "."), f"{TIMED_OUT}: {message}"


def _timed_out(log: Log, about: str) -> int:
    """The row by which a rollout has timed out; -1 if it has gone on since."""
    rows = [row for row, one in sorted(log.details.items()) if one.get("about") == about and one["reason"] in _PROGRESS]
    return rows[-1] if rows and log.details[rows[-1]]["reason"] == TIMED_OUT else -1
