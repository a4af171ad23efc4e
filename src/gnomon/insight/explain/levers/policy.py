"""Levers of the policy of a scenario, and of what it lets happen or not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from gnomon.insight.explain.case import Case
from gnomon.insight.explain.changes import LIMIT, Lever
from gnomon.scheduling.policy import parse_policy


def backfill(case: Case) -> Iterator[Lever]:
    """Let tasks start ahead of their turn where that delays nobody who is promised a start."""
    policy = case.ground.scenario.policy
    if not (policy.backfill or callable(policy.order) or callable(policy.placement)):
        yield _policy(case, f"{policy.text}+easy", "allow backfilling")


def waiting(case: Case) -> Iterator[Lever]:
    """Let those wait that find no room on their arrival."""
    text = case.ground.scenario.policy.text
    if "full=drop" in text:
        yield _policy(case, text.replace("full=drop", "full=wait"), "let those wait that find no room")


def spread(case: Case) -> Iterator[Lever]:
    """Place tasks where most is left rather than in the first node with room."""
    scenario, policy = case.ground.scenario, case.ground.scenario.policy
    if policy.placement == "first-fit" and not callable(policy.order) and len(scenario.cluster.nodes) > 1:
        yield _policy(case, f"{policy.text}+worst-fit", "spread tasks over the nodes")


def _policy(case: Case, text: str, phrase: str) -> Lever:
    scenario = case.ground.scenario
    return Lever(
        kind=LIMIT,
        object="scenario",
        field="policy",
        before=scenario.policy.text,
        values=[text],
        scenario=lambda value: replace(scenario, policy=parse_policy(value)),
        phrase=lambda value: f"{phrase} (policy {value})",
    )


def no_preemption(case: Case) -> Iterator[Lever]:
    """Let nobody take the place of running tasks."""
    yield switched(case, "preempt", to=False, kind=LIMIT, phrase="let nobody take the place of running tasks")


def no_kill(case: Case) -> Iterator[Lever]:
    """Let tasks run on when they reach their estimate."""
    yield switched(
        case, "kill_at_limit", to=False, kind=LIMIT, phrase="let tasks run on when they reach their estimate"
    )


def switched(case: Case, field: str, *, to: bool, kind: int, phrase: str) -> Lever:
    """A field of the scenario that says whether something happens."""
    return Lever(
        kind=kind,
        object="scenario",
        field=field,
        before=not to,
        values=[to],
        scenario=lambda value: replace(case.ground.scenario, **{field: value}),
        phrase=lambda _: phrase,
    )
