"""Rows of the log in words."""

from __future__ import annotations

from gnomon.engine.log import Kind, Reason
from gnomon.insight.explain.ground import Ground
from gnomon.insight.explain.phrases import amounts_of, listed, span
from gnomon.insight.explain.sentences_recovery import needs, recovered
from gnomon.model.resources import NEVER


def sentence(ground: Ground, row: int) -> str:
    """A row of the log in words."""
    one, work = ground.past.log.row(row), ground.work
    task, value = one.subject, one.value
    name = work.id(task) if task >= 0 else ""
    match one.kind:
        case Kind.ARRIVE:
            length = ground.estimate_ns(task)
            long = "without an end" if length >= NEVER else f"for {span(length)}"
            return f"{name} arrives and asks for {amounts_of(ground.asked((task,)))} {long}"
        case Kind.REJECT | Kind.WAIT:
            verb = "is refused" if one.kind is Kind.REJECT else "waits"
            why = needs(ground, row) if one.reason is Reason.NEEDS else str(one.details.get("message", ""))
            return f"{name} {verb}: {why or _because(ground, one.reason, value)}"
        case Kind.HOLD:
            return f"{name} takes its place{_where(ground, row)}, and holds it until its peers have theirs"
        case Kind.START:
            return f"{name} starts with {amounts_of(ground.asked((task,)))}{_where(ground, row)}"
        case Kind.END:
            return f"{name} ends and gives back {amounts_of(ground.asked((task,)))}{_where(ground, row, bits=False)}"
        case Kind.KILL:
            wanted = int(work.duration_ns[task])
            more = f"needs {span(wanted)}" if wanted < NEVER else "would run on"
            return f"{name} is killed when its estimate of {span(ground.estimate_ns(task))} is over, and {more}"
        case Kind.PREEMPT:
            by = f"{work.id(value)} (priority {work.priority[value]} over {work.priority[task]})"
            return f"{name} gives way to {by}{_where(ground, row, bits=False)}"
        case Kind.WAKE:
            return windows_at(ground, one.t_ns)
        case Kind.STOP:
            return f"the run ends: {STOPPED.get(one.reason, one.reason.name.lower())}"
        case Kind.CANCEL:
            return f"{name} is {withdrawn(ground, row)}"
        case Kind.EVENT:
            return ": ".join(str(one.details[key]) for key in ("reason", "message") if one.details.get(key)) or name
    return recovered(ground, row)


def withdrawn(ground: Ground, row: int) -> str:
    """Who made a CANCEL row: a controller deletes, a user cancels."""
    log = ground.past.log
    cause = int(log.cause[row])
    return "deleted" if cause >= 0 and log.kind[cause] == Kind.EVENT else "cancelled"


STOPPED = {
    Reason.LIMIT_EVENTS: "it has as many events as it may",
    Reason.LIMIT_TIME: "nothing later is simulated",
    Reason.LIMIT_REPEATS: "it makes no progress any more",
    Reason.DEADLOCK: "deadlock, for tasks hold what the others wait for",
    Reason.INTERRUPTED: "it was interrupted",
}

_WHY = {
    Reason.TOO_LARGE: "it asks for more than any node has",
    Reason.NO_NODE_KIND: "no node is of a kind, or has the labels, that it accepts",
    Reason.OVER_LIMIT: "it asks for more than its {tenants_by} may ever hold",
    Reason.GANG_TOO_LARGE: "the tasks of its job together are more than the empty cluster has room for",
    Reason.UNUSABLE: "its row in the input cannot run as it stands",
    Reason.DROPPED: "there is no room, and nobody waits under this policy",
    Reason.RESOURCES: "not enough is free",
    Reason.RESERVED: "what is free is set aside",
    Reason.PEERS: "its peers have no place yet",
    Reason.TENANT_LIMIT: "its {tenants_by} holds as much as it may",
    Reason.TENANT_RUNNING: "its {tenants_by} runs as many tasks as it may",
    Reason.ORDER: "others stand in front",
    Reason.BACKFILL: "it may not delay a start that is promised to another",
    Reason.TURN: "it is another's turn",
    Reason.BACKOFF: "it is tried again later",
    Reason.NO_LEADER: "nobody decides, for the control plane has no leader",
    Reason.GATED: "it is held back until somebody lets it go",
    Reason.UNATTENDED: "nobody looks at it",
}


def _because(ground: Ground, reason: Reason, value: int) -> str:
    text = _WHY.get(reason, reason.name.lower()).format(tenants_by=ground.scenario.tenants_by)
    if reason is Reason.RESOURCES and 0 <= value < NEVER:
        return f"{text}; it is promised a start at {span(value)}"
    if reason in (Reason.ORDER, Reason.BACKFILL) and value >= 0:
        return f"{text}: {ground.work.id(value)}"
    return text


def _where(ground: Ground, row: int, *, bits: bool = True) -> str:
    """On which node and devices; nothing for a pool."""
    log = ground.past.log
    node, mask = int(log.node[row]), int(log.value[row]) if bits else 0
    if ground.scenario.cluster.pool or node < 0:
        return ""
    devices = [str(k) for k in range(ground.layout.slots) if mask >> k & 1]
    return f" on {ground.node_name(node)}" + (f" (gpu {listed(devices)})" if devices else "")


def windows_at(ground: Ground, t_ns: int, *, past: bool = False) -> str:
    """Which reservations begin and end at a time."""
    windows = {window.name: window for window in ground.scenario.cluster.reservations}.values()
    begins = [window.name for window in windows if window.start_ns == t_ns]
    ends = [window.name for window in windows if window.end_ns == t_ns]
    said = []
    for names, now, then in ((begins, "begins", "began"), (ends, "ends", "ended")):
        if names:
            said.append(f"{listed(names)} {then if past else now}")
    return listed(said)
