"""Rows about use, faults and recovery in words."""

from __future__ import annotations

from gnomon.engine.log import Kind, Reason, Row
from gnomon.insight.explain.classes import CLOSED_FOR
from gnomon.insight.explain.faults import beginning, ends, fault_behind, struck
from gnomon.insight.explain.ground import Ground
from gnomon.insight.explain.losses import is_final, loss, peer_of, used_up, victim
from gnomon.insight.explain.phrases import counted, listed, percent, size, span


def recovered(ground: Ground, row: int) -> str:
    """A row of one of the kinds from FAIL to REFUSE in words."""
    one = ground.past.log.row(row)
    match one.kind:
        case Kind.FAIL:
            return _fail(ground, one)
        case Kind.RETRY:
            return _retry(ground, one)
        case Kind.QUEUE:
            return _queue(ground, one)
        case Kind.UNDO:
            return _undo(ground, one)
        case Kind.FAULT:
            return beginning(ground, one)
        case Kind.HEAL:
            fault = fault_behind(ground, row)
            return "a fault is over" if fault is None else ends(fault.details, struck(ground, fault))
        case Kind.COPY | Kind.COPY_END:
            return _copy(ground, one)
        case Kind.SPEED:
            return _speed(ground, one)
        case Kind.LEAD:
            return _lead(ground, one)
        case Kind.REFUSE:
            return f"{ground.work.id(one.subject)} stays on {ground.node_name(one.node)}: {budget(ground, row)}"
    return _node(ground, one)


def _fail(ground: Ground, one: Row) -> str:
    name = ground.work.id(one.subject)
    match one.reason:
        case Reason.NODE:
            text = f"{name} is lost on {ground.node_name(one.node)}, which {_given_up(ground, one)}"
        case Reason.PEER:
            text = f"{name} is stopped, for {peer_of(ground, one)} of its job was lost"
        case Reason.NODE_MEMORY:
            text = f"{name} is killed: {victim(one.details)}"
        case Reason.EVICTED:
            text = f"{name} is sent away: {victim(one.details)}"
        case _:
            text = f"{name}: {loss(ground, one.number, timed=False)}"
    text += f"; {span(one.value)} of its work is lost" if one.value else "; no work is lost"
    if "attempt" in one.details:
        text += f" (attempt {one.details['attempt']})"
    return f"{text}, for good: {last(ground, one.number)}" if is_final(ground, one.number) else text


def _given_up(ground: Ground, one: Row) -> str:
    back = one.cause >= 0 and ground.past.log.kind[one.cause] == Kind.HEAL
    return "is back without it" if back else "is given up"


def last(ground: Ground, row: int) -> str:
    """Why nothing follows a failure."""
    limit = int(ground.past.log.details.get(row, {}).get("retries", 0))
    if limit > 0:
        return "its one retry is used up" if limit == 1 else f"its {limit:,} retries are used up"
    return "such a failure is not tried again"


def _retry(ground: Ground, one: Row) -> str:
    facts = ground.past.log.details.get(one.cause, {})
    most = int(facts.get("retries", -1))
    number = f" (retry {facts['attempt']}" + (f" of {most})" if most >= 0 else ")") if "attempt" in facts else ""
    delay = span(one.value - one.t_ns)
    return f"{ground.work.id(one.subject)} is tried again at {span(one.value)}, after a delay of {delay}{number}"


def _queue(ground: Ground, one: Row) -> str:
    name, log = ground.work.id(one.subject), ground.past.log
    if one.cause >= 0 and log.kind[one.cause] == Kind.END:
        return f"the results that {name} reads are there: it stands in the queue"
    if one.cause >= 0 and log.kind[one.cause] == Kind.ARRIVE:
        return f"{name} stands in the queue"
    return f"{name} stands in the queue again, after {counted(one.value, 'attempt')}"


def _undo(ground: Ground, one: Row) -> str:
    name = ground.work.id(one.subject)
    if one.reason is Reason.PEER:
        return f"the result of {name} is void, for its job begins anew"
    return f"the result of {name} is lost with {ground.node_name(one.node)}, and has to be made again"


def _node(ground: Ground, one: Row) -> str:
    """What the control plane, or use, has to do with a node."""
    name = ground.node_name(one.node)
    match one.kind:
        case Kind.NOTICE:
            after = f", {span(one.value)} after it fell silent" if one.value else ", at once"
            return f"{name} is taken for lost{after}"
        case Kind.CLOSE:
            return f"{name} takes no new work: {CLOSED_FOR.get(one.reason, 'it is closed')}"
        case Kind.OPEN:
            return f"{name} takes new work again"
        case Kind.PRESSURE:
            return _pressure(ground, one)
    what = _RESOURCE.get(one.reason, "what was short")
    return f"{name} has enough {what} again: {size(max(one.value, 0))} are left"


_RESOURCE = {Reason.NODE_MEMORY: "memory", Reason.DISK: "disk", Reason.STORE: "room in its object store"}


def _pressure(ground: Ground, one: Row) -> str:
    name, facts = ground.node_name(one.node), one.details
    if one.reason is Reason.SPILLING:
        return f"the object store of {name} is full: it spills to disk"
    if one.reason is Reason.NODE_MEMORY and "below" not in facts:
        return f"the memory of {name} is used up: {used_up(ground, one.number)}"
    what = _RESOURCE.get(one.reason, "of something")
    if "below" not in facts:
        return f"the {'object store' if one.reason is Reason.STORE else what} of {name} is full"
    left, least = size(max(one.value, 0)), size(int(facts["below"]))
    return f"{name} has too little {what}: {left} are left where {least} are the least"


def _copy(ground: Ground, one: Row) -> str:
    name, where, ran = ground.work.id(one.subject), ground.node_name(one.node), span(one.value)
    if one.kind is Kind.COPY:
        if one.reason is Reason.SPECULATIVE:
            return f"a second copy of {name} starts on {where}, as the first is slow"
        if one.reason is Reason.STOPPING:
            return f"{name} is told to stop, and takes its time for that on {where}"
        return f"{name} runs on on {where} though it was given up: from when it starts again it runs twice"
    match one.reason:
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


def _speed(ground: Ground, one: Row) -> str:
    """What slows a task, and how much."""
    name, where = ground.work.id(one.subject), ground.node_name(one.node) if one.node >= 0 else "its node"
    if one.reason is Reason.FULL_SPEED:
        return f"{name} runs at full speed on {where}"
    return f"{name} runs at {percent(one.value)} of full speed on {where}: {brake(ground, one.number)}"


def brake(ground: Ground, row: int) -> str:
    """What slows a task in a SPEED row, as a clause."""
    one = ground.past.log.row(row)
    facts = one.details
    share, demand = int(facts.get("share", 0)), int(facts.get("demand", 0))
    got = f": it gets {share / 1000:g} of the {demand / 1000:g} cpu that it wants" if demand else ""
    match one.reason:
        case Reason.QUOTA:
            return f"its limit of processors holds it{got}"
        case Reason.CPU:
            return f"others want processors as well{got}"
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


def _lead(ground: Ground, one: Row) -> str:
    if one.value >= 0:
        return f"member {one.value} leads the control plane from now on"
    members = ground.scenario.operation.control.members
    until = f" until a majority of its {members} members chooses one" if members > 1 else ""
    return f"the control plane has no leader: nothing is placed, noticed or given up{until}"


def budget(ground: Ground, row: int) -> str:
    """Why a budget forbids a disruption, of a REFUSE row."""
    one = ground.past.log.row(row)
    job = ground.work.job_name(one.subject)
    budgets = ground.scenario.operation.budgets
    most = next((one.unavailable for one in budgets if one.job in (job, "*")), 0)
    are = f"{one.value} {'is' if one.value == 1 else 'are'}"
    return f"of the tasks of {job} at most {most} may be away at a time, and {are}"


def needs(ground: Ground, row: int) -> str:
    """Whose results a task waits for at a row, and how those stand."""
    missing = missing_results(ground, int(ground.past.log.subject[row]), row)
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
