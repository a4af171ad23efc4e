"""Something fills a node's disk [bytes left]; of several such faults the one that leaves least counts."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from gnomon.control.faults.kind import Amount, Draws, Kind, Unit, Words
from gnomon.control.strikes import Over, Strikes
from gnomon.model.cluster import Node
from gnomon.recovery.faults import Event


def _fill(strikes: Strikes, event: Event, node: int, row: int) -> Over:
    def leave(left: Collection[int], name: str) -> None:
        strikes.machines.fill_disk(node, min(left, default=None), name)

    return strikes.together(event, node, row, leave, what="disk", amount=event.failure.amount)


def _left(draws: Draws, node: Node | None) -> int:
    return (node.machine.disk_bytes or 0) // draws.pick((2, 10, 100)) * draws.below(2) if node else 0


KIND: Final = Kind(
    Words("the disk of {who} fills up: {amount} are left", "the disk of {who} is free again"),
    amount=Amount("left", Unit.BYTES, "bytes left: 0 or more", draw=_left, default=0, told="{} left"),
    on_node=_fill,
    on=lambda node: bool(node.machine.disk_bytes),
)
