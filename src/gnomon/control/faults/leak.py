"""Something beside the tasks takes more and more of a node's memory [bytes per second]; several such faults add up."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from gnomon.control.faults.kind import Amount, Draws, Kind, Unit, Words
from gnomon.control.strikes import Over, Strikes
from gnomon.model.cluster import Node
from gnomon.recovery.faults import Event


def _leak(strikes: Strikes, event: Event, node: int, row: int) -> Over:
    def take(rates: Collection[int], name: str) -> None:
        strikes.machines.leak(node, sum(rates), name)

    return strikes.together(event, node, row, take, what="leak", amount=event.failure.amount)


def _memory(node: Node) -> int:
    return node.machine.memory_bytes or node.capacity.memory_bytes


def _rate(draws: Draws, node: Node | None) -> int:
    """All of the memory within one of the lengths that faults have."""
    return max(_memory(node) * 10**9 // draws.pick(draws.lengths), 1) if node else 1


KIND: Final = Kind(
    Words("something takes {amount}/s of the memory of {who}", "what took the memory of {who} is gone"),
    amount=Amount(
        "rate",
        Unit.BYTES_A_SECOND,
        "bytes per second: 1 or more",
        draw=_rate,
        least=1,
        told="{}/s",
        milder=lambda amount, lengths: max(amount // 2, 1),
    ),
    on_node=_leak,
    on=lambda node: bool(_memory(node)),
)
