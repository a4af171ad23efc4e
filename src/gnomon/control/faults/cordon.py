"""An operator closes a node for new work."""

from __future__ import annotations

from typing import Final

from gnomon.control.board import CORDONED
from gnomon.control.faults.kind import Kind, Words
from gnomon.control.strikes import Over, Strikes
from gnomon.recovery.faults import Event


def _cordon(strikes: Strikes, event: Event, node: int, row: int) -> Over:
    strikes.shut[node].add(event.number)
    strikes.board.close(node, CORDONED, row)
    return lambda heal: strikes.unshut(event, node, heal)


KIND: Final = Kind(
    Words("an operator closes {who} for new work", "the operator is done with {who}"),
    on_node=_cordon,
    planned=True,
    on_request=True,
)
