"""An operator closes a node and sends its tasks elsewhere, within the disruption budgets."""

from __future__ import annotations

from typing import Final

from gnomon.control.faults.kind import Kind, Words
from gnomon.control.strikes import Over, Strikes
from gnomon.recovery.faults import Event


def _drain(strikes: Strikes, event: Event, node: int, row: int) -> Over:
    strikes.shut[node].add(event.number)
    strikes.drains.begin(node, event.number, row)

    def over(heal: int) -> None:
        strikes.drains.end(node, event.number)
        strikes.unshut(event, node, heal)

    return over


KIND: Final = Kind(
    Words("an operator begins to empty {who}", "the operator is done with {who}", lasts=", and opens it after {time}"),
    on_node=_drain,
    planned=True,
)
