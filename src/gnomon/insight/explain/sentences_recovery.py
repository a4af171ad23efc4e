"""Rows about use, faults and recovery in words."""

from __future__ import annotations

from gnomon.engine.log import Kind, Reason
from gnomon.insight.explain.classes import CLOSED_FOR
from gnomon.insight.explain.faults import begins, ends, fault_behind, struck
from gnomon.insight.explain.ground import Ground
from gnomon.insight.explain.losses import is_final, loss, used_up, victim
from gnomon.insight.explain.phrases import counted, listed, percent, size, span


def recovered(ground: Ground, row: int) -> str:
    """A row of one of the kinds from FAIL to REFUSE in words."""
    log = ground.past.log
    match Kind(int(log.kind[row])):
        case Kind.FAIL:
            return _fail(ground, row)
        case Kind.RETRY:
            return _retry(ground, row)
        case Kind.QUEUE:
            return _queue(ground, row)
        case Kind.UNDO:
            return _undo(ground, row)
        case Kind.FAULT:
            return begins(log.details.get(row, {}), struck(ground, row))
        case Kind.HEAL:
            fault = fault_behind(ground, row)
            return ends(log.details.get(fault, {}), struck(ground, fault)) if fault >= 0 else "a fault is over"
        case Kind.COPY | Kind.COPY_END:
            return _copy(ground, row)
        case Kind.SPEED:
            return speed(ground, row)
        case Kind.LEAD:
            return _lead(ground, row)
        case Kind.REFUSE:
            return _refuse(ground, row)
    return _node(ground, row)


def _fail(ground: Ground, row: int) -> str:
    log, facts = ground.past.log, ground.past.log.details.get(row, {})
    name, lost = ground.work.id(int(log.subject[row])), int(log.value[row])
    if log.reason[row] == Reason.NODE:
        text = f"{name} is lost on {ground.node_name(int(log.node[row]))}, which {_given_up(ground, row)}"
    elif log.reason[row] == Reason.PEER:
        cause = int(log.cause[row])
        peer = ground.work.id(int(log.subject[cause])) if cause >= 0 and log.subject[cause] >= 0 else "a task"
        text = f"{name} is stopped, for {peer} of its job was lost"
    elif log.reason[row] in (Reason.NODE_MEMORY, Reason.EVICTED):
        text = f"{name} is {'killed' if log.reason[row] == Reason.NODE_MEMORY else 'sent away'}: {victim(facts)}"
    else:
        text = f"{name}: {loss(ground, row, timed=False)}"
    text += f"; {span(lost)} of its work is lost" if lost else "; no work is lost"
    if "attempt" in facts:
        text += f" (attempt {facts['attempt']})"
    return f"{text}, for good: {last(ground, row)}" if is_final(ground, row) else text


def _given_up(ground: Ground, row: int) -> str:
    log, cause = ground.past.log, int(ground.past.log.cause[row])
    return "is back without it" if cause >= 0 and log.kind[cause] == Kind.HEAL else "is given up"


def last(ground: Ground, row: int) -> str:
    """Why nothing follows a failure."""
    limit = int(ground.past.log.details.get(row, {}).get("retries", 0))
    if limit > 0:
        return "its one retry is used up" if limit == 1 else f"its {limit:,} retries are used up"
    return "such a failure is not tried again"


def _retry(ground: Ground, row: int) -> str:
    log = ground.past.log
    name, when = ground.work.id(int(log.subject[row])), int(log.value[row])
    cause = int(log.cause[row])
    facts = log.details.get(cause, {}) if cause >= 0 else {}
    most = int(facts.get("retries", -1))
    number = f" (retry {facts['attempt']}" + (f" of {most})" if most >= 0 else ")") if "attempt" in facts else ""
    return f"{name} is tried again at {span(when)}, after a delay of {span(when - int(log.t_ns[row]))}{number}"


def _queue(ground: Ground, row: int) -> str:
    log = ground.past.log
    name, tries = ground.work.id(int(log.subject[row])), int(log.value[row])
    cause = int(log.cause[row])
    if cause >= 0 and log.kind[cause] == Kind.END:
        return f"the results that {name} reads are there: it stands in the queue"
    if cause >= 0 and log.kind[cause] == Kind.ARRIVE:
        return f"{name} stands in the queue"
    return f"{name} stands in the queue again, after {counted(tries, 'attempt')}"


def _undo(ground: Ground, row: int) -> str:
    log = ground.past.log
    name = ground.work.id(int(log.subject[row]))
    if log.reason[row] == Reason.PEER:
        return f"the result of {name} is void, for its job begins anew"
    return f"the result of {name} is lost with {ground.node_name(int(log.node[row]))}, and has to be made again"


def _node(ground: Ground, row: int) -> str:
    """What the control plane, or use, has to do with a node."""
    log = ground.past.log
    name, value, reason = ground.node_name(int(log.node[row])), int(log.value[row]), Reason(int(log.reason[row]))
    match Kind(int(log.kind[row])):
        case Kind.NOTICE:
            after = f", {span(value)} after it fell silent" if value else ", at once"
            return f"{name} is taken for lost{after}"
        case Kind.CLOSE:
            return f"{name} takes no new work: {CLOSED_FOR.get(reason, 'it is closed')}"
        case Kind.OPEN:
            return f"{name} takes new work again"
        case Kind.PRESSURE:
            return _pressure(ground, row)
    what = _RESOURCE.get(reason, "what was short")
    return f"{name} has enough {what} again: {size(max(value, 0))} are left"


_RESOURCE = {Reason.NODE_MEMORY: "memory", Reason.DISK: "disk", Reason.STORE: "room in its object store"}


def _pressure(ground: Ground, row: int) -> str:
    log, facts = ground.past.log, ground.past.log.details.get(row, {})
    name, reason = ground.node_name(int(log.node[row])), Reason(int(log.reason[row]))
    if reason is Reason.SPILLING:
        return f"the object store of {name} is full: it spills to disk"
    if reason is Reason.NODE_MEMORY and "below" not in facts:
        return f"the memory of {name} is used up: {used_up(ground, row)}"
    what = _RESOURCE.get(reason, "of something")
    if "below" not in facts:
        return f"the {'object store' if reason is Reason.STORE else what} of {name} is full"
    left = max(int(log.value[row]), 0)
    return f"{name} has too little {what}: {size(left)} are left where {size(int(facts['below']))} are the least"


def _copy(ground: Ground, row: int) -> str:
    log = ground.past.log
    name, reason = ground.work.id(int(log.subject[row])), Reason(int(log.reason[row]))
    where, ran = ground.node_name(int(log.node[row])), span(int(log.value[row]))
    if log.kind[row] == Kind.COPY:
        if reason is Reason.SPECULATIVE:
            return f"a second copy of {name} starts on {where}, as the first is slow"
        if reason is Reason.STOPPING:
            return f"{name} is told to stop, and takes its time for that on {where}"
        return f"{name} runs on on {where} though it was given up: from when it starts again it runs twice"
    match reason:
        case Reason.FINISHED:
            return f"the copy of {name} on {where} runs to its end after {ran}: its effects are there twice"
        case Reason.FENCED:
            return f"the copy of {name} on {where} is stopped after {ran}"
        case Reason.WON:
            return f"the copy of {name} on {where} is done first, after {ran}"
        case Reason.BEATEN:
            return f"the copy of {name} on {where} is stopped after {ran}, for the first attempt was sooner"
        case Reason.STOPPING:
            return f"{name} has stopped on {where}, after {ran}"
        case Reason.NONE:
            return f"the copy of {name} on {where} is the attempt that counts from now on"
    return f"the copy of {name} on {where} is gone after {ran}"


def speed(ground: Ground, row: int) -> str:
    """What slows a task, and how much."""
    log = ground.past.log
    name, part, reason = ground.work.id(int(log.subject[row])), int(log.value[row]), Reason(int(log.reason[row]))
    where = ground.node_name(int(log.node[row])) if log.node[row] >= 0 else "its node"
    if reason is Reason.FULL_SPEED:
        return f"{name} runs at full speed on {where}"
    return f"{name} runs at {percent(part)} of full speed on {where}: {brake(ground, row)}"


def brake(ground: Ground, row: int) -> str:
    """What slows a task in a SPEED row, as a clause."""
    log, facts = ground.past.log, ground.past.log.details.get(row, {})
    share, demand = int(facts.get("share", 0)), int(facts.get("demand", 0))
    got = f"it gets {share / 1000:g} of the {demand / 1000:g} cpu that it wants" if demand else ""
    match Reason(int(log.reason[row])):
        case Reason.QUOTA:
            return f"its limit of processors holds it: {got}" if got else "its limit of processors holds it"
        case Reason.CPU:
            return f"others want processors as well: {got}" if got else "others want processors as well"
        case Reason.DISK_RATE:
            rates = f": it gets {size(share)}/s of the {size(demand)}/s that it wants" if demand else ""
            return f"the disk is too slow for all who use it{rates}"
        case Reason.PAUSES:
            used, limit = int(facts.get("used", 0)), int(facts.get("limit", 0))
            return f"it pauses, as its memory is almost full ({size(used)} of {size(limit)})"
        case Reason.SPILLING:
            return "it waits while the object store makes room on disk"
        case Reason.SLOW:
            return "the node is slow"
    return "something slows it"


def _lead(ground: Ground, row: int) -> str:
    log = ground.past.log
    leader, members = int(log.value[row]), ground.scenario.operation.control.members
    if leader < 0:
        return "the control plane has no leader: nothing is placed, noticed or given up" + (
            f" until a majority of its {members} members chooses one" if members > 1 else ""
        )
    return f"member {leader} leads the control plane from now on"


def _refuse(ground: Ground, row: int) -> str:
    log, task = ground.past.log, int(ground.past.log.subject[row])
    return f"{ground.work.id(task)} stays on {ground.node_name(int(log.node[row]))}: {budget(ground, row)}"


def budget(ground: Ground, row: int) -> str:
    """Why a budget forbids a disruption."""
    task, away = int(ground.past.log.subject[row]), int(ground.past.log.value[row])
    job = ground.work.job_name(task)
    budgets = ground.scenario.operation.budgets
    most = next((one.unavailable for one in budgets if one.job in (job, "*")), 0)
    return f"of the tasks of {job} at most {most} may be away at a time, and {away} {'is' if away == 1 else 'are'}"


def needs(ground: Ground, row: int) -> str:
    """Whose results a task waits for at a row, and how those stand."""
    log = ground.past.log
    missing = missing_results(ground, int(log.subject[row]), row)
    if not missing:
        return "it reads results that are not there"
    names = listed([ground.work.id(task) for task in missing], 3)
    several = len(missing) > 1
    return f"it reads the result{'s' * several} of {names}, which {'are' if several else 'is'} not there"


def missing_results(ground: Ground, task: int, row: int) -> list[int]:
    """The tasks whose results a task reads and that are not done just after a row."""
    log, found = ground.past.log, []
    for other in ground.work.needs.get(task, ()):
        mine = (log.subject == other) & ((log.kind == Kind.END) | (log.kind == Kind.UNDO))
        mine[min(row + 1, len(log)) :] = False
        ended = mine.nonzero()[0]
        if not len(ended) or log.kind[ended[-1]] == Kind.UNDO:
            found.append(other)
    return found
