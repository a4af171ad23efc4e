"""Faults in words, and the way from a row back to the fault behind it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from gnomon.control import faults as kinds
from gnomon.control.faults.kind import Unit, Words
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
        past = _words(fault.details).past or f"had a fault ({fault.details.get('kind', 'fault')})"
        told.append(f"{past} at {span(fault.t_ns)}")
    if notice is not None:
        told.append(f"was taken for lost {span(notice.value)} later" if notice.value else "was taken for lost at once")
        told.append(f"was given up at {when}" if lost.t_ns > notice.t_ns else "was given up then")
    elif lost.cause >= 0 and log.kind[lost.cause] == Kind.HEAL:
        told.append(f"was back without it at {when}")
    else:
        told.append(f"was given up at {when}")
    return listed(told)


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
    words = _words(facts)
    lasts = words.lasts.format(time=span(int(facts["for_ns"]))) if "for_ns" in facts else ""
    return _told(words.begins, facts, who or words.nobody[0]) + lasts


def ends(facts: Facts, who: str) -> str:
    """A fault that is over, as a sentence."""
    words = _words(facts)
    return _told(words.ends, facts, who or words.nobody[1])


def _told(text: str, facts: Facts, who: str) -> str:
    kind, amount = kinds.named(facts.get("kind")), int(facts.get("amount", 0))
    others = named(str(facts["others"])) if facts.get("others") else "all the rest"
    unit = kind.amount.unit if kind and kind.amount else Unit.NUMBER
    return text.format(who=who, are="are" if " and " in who else "is", amount=_AMOUNTS[unit](amount), others=others)


def _words(facts: Facts) -> Words:
    kind = kinds.named(facts.get("kind"))
    return kind.words if kind else Words()


_AMOUNTS: Final[Mapping[Unit, Callable[[int], str]]] = {
    Unit.PART: percent,
    Unit.BYTES: size,
    Unit.BYTES_A_SECOND: size,
    Unit.NS: span,
    Unit.NUMBER: str,
}


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
