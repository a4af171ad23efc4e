"""Faults in words, and the way from a row back to the fault behind it."""

from __future__ import annotations

from collections.abc import Mapping

from gnomon.engine.log import Kind, Row
from gnomon.insight.explain.ground import Ground
from gnomon.insight.explain.phrases import listed, percent, size, span

Facts = Mapping[str, int | str]


def fault_behind(ground: Ground, row: int) -> Row | None:
    """The fault that a row goes back to by its causes, None if there is none."""
    return next((one for one in ground.past.log.back(row) if one.kind is Kind.FAULT), None)


def fate_of_node(ground: Ground, row: int) -> str:
    """What became of a node up to a row about the loss of a task on it: fell silent, was noticed, was given up."""
    log = ground.past.log
    lost, fault = log.row(row), fault_behind(ground, row)
    notice = next((one for one in log.back(row) if one.kind is Kind.NOTICE), None)
    when, told = span(lost.t_ns), []
    if fault is not None:
        kind = str(fault.details.get("kind", "fault"))
        told.append(f"{_PAST.get(kind, f'had a fault ({kind})')} at {span(fault.t_ns)}")
    if notice is not None:
        told.append(f"was taken for lost {span(notice.value)} later" if notice.value else "was taken for lost at once")
        told.append(f"was given up at {when}" if lost.t_ns > notice.t_ns else "was given up then")
    elif lost.cause >= 0 and log.kind[lost.cause] == Kind.HEAL:
        told.append(f"was back without it at {when}")
    else:
        told.append(f"was given up at {when}")
    return listed(told)


_PAST = {
    "crash": "crashed",
    "reboot": "restarted",
    "partition": "was cut off",
    "leader": "lost touch with the control plane",
    "delay": "was heard of too late",
    "loss": "was not heard of, as messages were lost",
    "device": "lost a device",
}


def named(targets: str) -> str:
    """Targets of a fault in words.

    >>> named("node/n0 node/n1"), named("rack/r1"), named("control/0")
    ('n0 and n1', 'rack r1', 'member 0 of the control plane')
    """
    told = []
    for one in targets.split():
        form, slash, name = one.partition("/")
        if not slash or form in ("node", "task"):
            told.append(name or form)
        elif form == "control":
            told.append(f"member {name} of the control plane")
        else:
            told.append(f"{form} {name}")
    return listed(told, 4)


def begins(facts: Facts, who: str) -> str:
    """A fault that begins, as a sentence. ``who``: whom it strikes."""
    kind, amount = str(facts.get("kind", "")), int(facts.get("amount", 0))
    time = span(int(facts["for_ns"])) if "for_ns" in facts else ""
    lasts = f" for {time}" if time else ""
    match kind:
        case "crash":
            return f"{who} crashes{f', and is back after {time}' if time else ''}"
        case "reboot":
            return f"{who} restarts{f', which takes {time}' if time else ''}"
        case "slow":
            return f"{who} runs at {percent(amount)} of its speed{lasts}"
        case "disk-full":
            return f"the disk of {who} fills up: {size(amount)} are left{lasts}"
        case "device":
            return f"{who} loses device {amount}{lasts}"
        case "leak":
            return f"something takes {size(amount)}/s of the memory of {who}{lasts}"
        case "kill":
            return f"the process of {who} is killed from outside"
        case "partition":
            return f"{who} {_is(who)} cut off from {_others(facts)}{lasts}"
        case "delay":
            return f"messages between {who} and the control plane come {span(amount)} late{lasts}"
        case "loss":
            return f"{percent(amount)} of the messages between {who} and the control plane are lost{lasts}"
        case "leader":
            return f"{who or 'the leader of the control plane'} stops{lasts}"
        case "cordon":
            return f"an operator closes {who} for new work{lasts}"
        case "drain":
            return f"an operator begins to empty {who}{f', and opens it after {time}' if time else ''}"
        case "cancel":
            return f"its user withdraws {who}"
    return f"a fault strikes {who}{lasts}"


def _is(who: str) -> str:
    return "are" if " and " in who else "is"


def _others(facts: Facts) -> str:
    """The other side of a partition."""
    return named(str(facts["others"])) if facts.get("others") else "all the rest"


def ends(facts: Facts, who: str) -> str:
    """A fault that is over, as a sentence."""
    match str(facts.get("kind", "")):
        case "crash":
            return f"{who} is back, empty"
        case "reboot":
            return f"{who} has restarted"
        case "slow":
            return f"{who} runs at full speed again"
        case "disk-full":
            return f"the disk of {who} is free again"
        case "device":
            return f"the device of {who} is there again"
        case "leak":
            return f"what took the memory of {who} is gone"
        case "partition":
            return f"{who} {_is(who)} joined to {_others(facts)} again"
        case "delay" | "loss":
            return f"messages between {who} and the control plane arrive again"
        case "leader":
            return f"{who or 'who led the control plane'} is there again"
        case "cordon" | "drain":
            return f"the operator is done with {who}"
    return f"the fault of {who} is over"


def struck(ground: Ground, fault: Row) -> str:
    """Whom a fault strikes: the node or task of its row, else its targets."""
    if fault.subject >= 0:
        return ground.work.id(fault.subject)
    if fault.node >= 0:
        return ground.node_name(fault.node)
    return named(str(fault.details.get("targets", "")))


def beginning(ground: Ground, fault: Row) -> str:
    """The row of a fault as a sentence."""
    return begins(fault.details, struck(ground, fault))
