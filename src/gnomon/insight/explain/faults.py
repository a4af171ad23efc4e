"""Faults in words, and the way from a row back to the fault behind it."""

from __future__ import annotations

from collections.abc import Mapping

from gnomon.engine.log import Kind
from gnomon.insight.explain.ground import Ground
from gnomon.insight.explain.phrases import listed, percent, size, span

Facts = Mapping[str, int | str]


def fault_behind(ground: Ground, row: int) -> int:
    """The fault that a row goes back to by its causes, -1 if there is none."""
    log = ground.past.log
    while row >= 0 and log.kind[row] != Kind.FAULT:
        row = int(log.cause[row])
    return row


def row_behind(ground: Ground, row: int, kind: Kind) -> int:
    """The first row of a kind on the way back by causes, -1 if there is none."""
    log = ground.past.log
    while row >= 0 and log.kind[row] != kind:
        row = int(log.cause[row])
    return row


def node_story(ground: Ground, row: int) -> str:
    """What became of a node up to a row about the loss of a task on it: fell silent, was noticed, was given up."""
    log = ground.past.log
    fault, notice = fault_behind(ground, row), row_behind(ground, row, Kind.NOTICE)
    when = int(log.t_ns[row])
    told = []
    if fault >= 0:
        kind = str(log.details[fault].get("kind", "fault"))
        told.append(f"{_PAST.get(kind, f'had a fault ({kind})')} at {span(int(log.t_ns[fault]))}")
    if notice >= 0:
        noticed = int(log.t_ns[notice])
        told.append("was taken for lost at once" if not log.value[notice] else _after(int(log.value[notice])))
        told.append(f"was given up at {span(when)}" if when > noticed else "was given up then")
    elif log.kind[int(log.cause[row])] == Kind.HEAL:
        told.append(f"was back without it at {span(when)}")
    else:
        told.append(f"was given up at {span(when)}")
    return listed(told)


def _after(silent_ns: int) -> str:
    return f"was taken for lost {span(silent_ns)} later"


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
    lasts = f" for {span(int(facts['for_ns']))}" if "for_ns" in facts else ""
    match kind:
        case "crash":
            return f"{who} crashes{', and is back after ' + lasts[5:] if lasts else ''}"
        case "reboot":
            return f"{who} restarts{', which takes ' + lasts[5:] if lasts else ''}"
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
            others = named(str(facts["others"])) if facts.get("others") else "all the rest"
            return f"{who} {_is(who)} cut off from {others}{lasts}"
        case "delay":
            return f"messages between {who} and the control plane come {span(amount)} late{lasts}"
        case "loss":
            return f"{percent(amount)} of the messages between {who} and the control plane are lost{lasts}"
        case "leader":
            return f"{who or 'the leader of the control plane'} stops{lasts}"
        case "cordon":
            return f"an operator closes {who} for new work{lasts}"
        case "drain":
            return f"an operator begins to empty {who}{', and opens it after ' + lasts[5:] if lasts else ''}"
        case "cancel":
            return f"its user withdraws {who}"
    return f"a fault strikes {who}{lasts}"


def _is(who: str) -> str:
    return "are" if " and " in who else "is"


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
            others = named(str(facts["others"])) if facts.get("others") else "all the rest"
            return f"{who} {_is(who)} joined to {others} again"
        case "delay" | "loss":
            return f"messages between {who} and the control plane arrive again"
        case "leader":
            return f"{who or 'who led the control plane'} is there again"
        case "cordon" | "drain":
            return f"the operator is done with {who}"
    return f"the fault of {who} is over"


def struck(ground: Ground, row: int) -> str:
    """Whom a fault strikes: the node or task of its row, else its targets."""
    log = ground.past.log
    if log.subject[row] >= 0:
        return ground.work.id(int(log.subject[row]))
    if log.node[row] >= 0:
        return ground.node_name(int(log.node[row]))
    return named(str(log.details.get(row, {}).get("targets", "")))
