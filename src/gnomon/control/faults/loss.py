"""Messages between a node and the control plane are lost with a chance [1/10,000 each]."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gnomon.control.faults.delay import messages_matter
from gnomon.control.faults.kind import CHANCES, Amount, Kind, Unit, Words, halved
from gnomon.control.strikes import Over, Strikes
from gnomon.engine.streams import stream
from gnomon.model.resources import E4
from gnomon.recovery import detection
from gnomon.recovery.faults import Event


def _lose(strikes: Strikes, event: Event, node: int, row: int) -> Over:
    failure, scenario = event.failure, strikes.scenario
    rule, until = scenario.operation.detection, min(failure.until_ns, scenario.limits.until_ns)
    draws = stream(scenario.seed, f"loss {event.number} {node}")
    losses = detection.drawn_losses(rule, failure.at_ns, until, failure.amount, draws)
    _next(strikes, node, row, losses)
    return lambda heal: None


def _next(strikes: Strikes, node: int, row: int, losses: Iterator[tuple[int, int]]) -> None:
    """Enter the next false alarm; the one after it is drawn when it is there."""
    for given_up, heard in losses:
        if given_up < heard:
            strikes.false_alarm(node, row, given_up, heard)
        strikes.timers.at(given_up, lambda: _next(strikes, node, row, losses))
        break


KIND: Final = Kind(
    Words(
        "{amount} of the messages between {who} and the control plane are lost",
        "messages between {who} and the control plane arrive again",
        past="was not heard of, as messages were lost",
    ),
    amount=Amount(
        "chance",
        Unit.PART,
        "the chance: 0 to 10000, in 1/10,000 a message",
        draw=lambda draws, node: draws.pick(CHANCES),
        most=E4,
        milder=halved,
    ),
    on_node=_lose,
    false_alarm=True,
    fits=messages_matter,
)
