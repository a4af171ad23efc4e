"""The explanation of one task or job, put together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gnomon.engine.log import Log, State
from gnomon.insight.explain.case import Case, Goal, case_of, spokesman
from gnomon.insight.explain.chain import Link, chain, event, rows_of_interest
from gnomon.insight.explain.changes import OTHERS, Change, Simulate, Trials, search, trials_max
from gnomon.insight.explain.classes import NodeClass, node_classes
from gnomon.insight.explain.deadlock import find_cycle
from gnomon.insight.explain.ground import Ground
from gnomon.insight.explain.levers.chosen import levers
from gnomon.insight.explain.levers.drain import drain_levers
from gnomon.insight.explain.node_story import node_story
from gnomon.insight.explain.phrases import Numbers
from gnomon.insight.explain.queues import overtaken_by
from gnomon.insight.explain.sentences import sentence
from gnomon.insight.explain.subjects import find_subject, node_subject
from gnomon.insight.explain.summary import summary
from gnomon.insight.explain.troubles import Trouble
from gnomon.insight.explain.waits import Wait, waits
from gnomon.insight.explain.why_not import WhyNot
from gnomon.insight.explain.why_not import why_not as tell_why_not
from gnomon.insight.history import history
from gnomon.insight.listing import Listing
from gnomon.model.errors import InputError
from gnomon.model.resources import NEVER
from gnomon.model.scenario import Policy, Scenario
from gnomon.scheduling.codes import PLACEMENT_CODES
from gnomon.scheduling.ordering import ORDERS


@dataclass(frozen=True)
class Explanation:
    """Why a task or job is as it is, and what would change it.

    - ``subject``: as ``task/name`` or ``job/name``; ``state``: as in the tasks file.
    - ``summary``: one sentence; ``native``: the same in the system's own words.
    - ``waiting``: the spells of waiting, in order; ``classes``: nodes by why they do not take it.
    - ``chain``: the rows of the log that led there; ``changes``: the smallest changes, the cheapest first.
    - ``why_not``: if that was asked, why it is not on one node.
    - ``listings``: tables that the system has besides.
    - ``notes``: what the search for changes left out or went by. Not part of ``explain -o json``.
    """

    subject: str
    state: str
    summary: str
    native: str
    waiting: tuple[Wait, ...] = ()
    classes: tuple[NodeClass, ...] = ()
    chain: tuple[Link, ...] = ()
    changes: tuple[Change, ...] = ()
    notes: tuple[str, ...] = ()
    why_not: WhyNot | None = None
    listings: tuple[Listing, ...] = ()

    def __str__(self) -> str:
        """What a person wants to know first: the sentence, and the changes."""
        return "\n".join([f"{self.subject}   {self.state}", self.summary, *(f"- {one.what}" for one in self.changes)])

    def as_dict(self) -> dict[str, Any]:
        """In the form of ``explain -o json``."""
        return {
            "subject": self.subject,
            "state": self.state,
            "summary": self.summary,
            "native": self.native,
            "waiting": [one.as_dict() for one in self.waiting],
            "classes": [one.as_dict() for one in self.classes],
            "chain": [one.as_dict() for one in self.chain],
            "changes": [one.as_dict() for one in self.changes],
            **({"listings": [one.as_dict() for one in self.listings]} if self.listings else {}),
            **({} if self.why_not is None else {"why_not": self.why_not.as_dict()}),
        }


def explain(
    subject: str, scenario: Scenario, log: Log, *, simulate: Simulate, why_not: str | None = None
) -> Explanation:
    """Explain what became of a task or job in a run, or what happened to a node.

    ``subject``: see :func:`~gnomon.insight.explain.subjects.find_subject`, or ``node/NAME``; ``log``: of the scenario's
    run; ``simulate``: runs a scenario, so that changes can be tried; ``why_not``: a node, to be told why it is not
    there. Raises InputError for a subject that is unknown or ambiguous, or an unknown node.
    """
    ground = Ground(history(scenario, log))
    node = node_subject(subject, ground)
    if node is not None:
        if why_not is not None:
            raise InputError("a node is on no node", field="--why-not", found=subject, allowed="a task or job")
        return _of_node(ground, node, simulate)
    who = find_subject(subject, ground.work)
    task = spokesman(ground, who)
    spells = _completed(ground, task, waits(ground, task))
    case = case_of(ground, who, task, spells)
    most = trials_max(len(ground.work))
    classes: list[NodeClass] = []
    changes: list[Change] = []
    complete = True
    if case is not None:
        if case.goal is Goal.START and _is_about_nodes(case):
            classes = node_classes(case.here, case.task, empty=case.infeasible)
        if _is_known(scenario.policy):
            changes, complete = search(levers(case), Trials(case.wanted, simulate, most))
            within = any(change.cost < OTHERS for change in changes)
            if not within and case.mishap and case.mishap.less and case.goal is Goal.WELL:
                case = replace(case, wanted=case.mishap.less)
                changes, complete = search(levers(case), Trials(case.wanted, simulate, most))
    text = summary(ground, who, task, spells)
    return Explanation(
        subject=str(who),
        state=State(int(ground.past.outcome.state[task])).label,
        summary=text,
        native=text,
        waiting=tuple(spells),
        classes=tuple(classes),
        chain=tuple(chain(ground, who.tasks, rows_of_interest(case) if case else ())),
        changes=tuple(changes),
        notes=tuple(_notes(case, changes, complete=complete)),
        why_not=None if why_not is None else tell_why_not(ground, task, why_not, spells),
    )


def _of_node(ground: Ground, node: int, simulate: Simulate) -> Explanation:
    """What happened to a node, and what would have let its drain go on."""
    story = node_story(ground, node)
    changes: list[Change] = []
    notes: tuple[str, ...] = ()
    held = drain_levers(ground, node)
    if held is not None and _is_known(ground.scenario.policy):
        levers_, wanted = held
        changes, _ = search(levers_, Trials(wanted, simulate, trials_max(len(ground.work))))
        notes = () if changes else (f"no single change that was tried brings about that it {wanted.text}",)
    links = tuple(
        Link(row, int(ground.past.log.t_ns[row]), event(ground, row), sentence(ground, row)) for row in story.rows
    )
    name = f"node/{ground.node_name(node)}"
    return Explanation(
        name, story.state, story.summary, story.summary, chain=links, changes=tuple(changes), notes=notes
    )


def _is_about_nodes(case: Case) -> bool:
    """Whether it matters which node has room."""
    if case.rules & {"over-limit", "unusable"}:
        return False
    return not case.waits or case.waits[-1].rule not in ("needs", "backoff", "no-leader")


def _notes(case: Case | None, changes: Sequence[Change], *, complete: bool) -> Iterator[str]:
    """What the search for changes left out, that it found nothing, or what it went by where that is not plain."""
    if not complete:
        most = trials_max(len(case.ground.work)) if case else 0
        yield f"the search for changes stopped after {most} runs; there may be smaller ones"
    elif case is not None and not _is_known(case.ground.scenario.policy):
        yield "no changes were tried, for a kept run does not hold a policy that is written in Python"
    elif case is not None and not changes:
        yield f"no single change that was tried brings about that it {case.wanted.text}"
    elif case is not None and case.goal is Goal.START and case.ground.past.outcome.first_start_ns[case.task] < NEVER:
        yield f"listed is what at least halves the wait: it {case.wanted.text}"
    elif case is not None and case.mishap and case.mishap.trouble in (Trouble.LATE, Trouble.SLOW):
        weaker = case.wanted is case.mishap.less
        does = "takes at least a tenth off the delay (little halves it)" if weaker else "at least halves the delay"
        yield f"listed is what {does}: it {case.wanted.text}"


def _is_known(policy: Policy) -> bool:
    """Whether a policy can be run: of one that was written in Python a kept run has the name only."""
    known = callable(policy.order) or policy.order in ORDERS
    return known and (callable(policy.placement) or policy.placement in PLACEMENT_CODES)


def _completed(ground: Ground, task: int, spells: list[Wait]) -> list[Wait]:
    """With the number of those who overtook it, and the cycle that it waits in."""
    overtaken = overtaken_by(ground.past, task) if spells else 0
    if overtaken and spells[-1].kind != "infeasible":
        spells[-1] = replace(spells[-1], numbers={**spells[-1].numbers, "overtaken": overtaken})
    cycle = find_cycle(ground, task) if spells else None
    if cycle is not None:
        numbers: Numbers = {"jobs": len(cycle.names), "placed": cycle.placed[0], "missing": cycle.missing[0]}
        begin, end, name = spells[-1].begin_ns, spells[-1].end_ns, cycle.names[1 % len(cycle.names)]
        spells.append(Wait("event", "deadlock", f"job/{name}", cycle.text, numbers, NEVER, begin, end))
    return spells
