"""Messages between a node and the control plane come late [ns]."""

from __future__ import annotations

from typing import Final

from gnomon.control.faults.kind import Amount, Kind, Unit, Words
from gnomon.control.strikes import Over, Strikes
from gnomon.model.operation import Heartbeat
from gnomon.model.scenario import Scenario
from gnomon.recovery import detection
from gnomon.recovery.faults import Event


def _delay(strikes: Strikes, event: Event, node: int, row: int) -> Over:
    failure = event.failure
    rule = strikes.scenario.operation.detection
    times = detection.delayed(rule, failure.at_ns, failure.until_ns, failure.amount)
    if times is not None:
        strikes.false_alarm(node, row, *times)
    return lambda heal: None


def messages_matter(scenario: Scenario) -> bool:
    """Whether there are messages that a node is known by."""
    rule = scenario.operation.detection
    return not isinstance(rule, Heartbeat) or bool(rule.beat_ns or rule.grace_ns)


KIND: Final = Kind(
    Words(
        "messages between {who} and the control plane come {amount} late",
        "messages between {who} and the control plane arrive again",
        past="was heard of too late",
    ),
    amount=Amount(
        "by",
        Unit.NS,
        "ns: 0 or more",
        draw=lambda draws, node: draws.pick(draws.lengths),
        milder=lambda amount, lengths: max((ns for ns in lengths if ns < amount), default=amount),
    ),
    on_node=_delay,
    false_alarm=True,
    fits=messages_matter,
)
