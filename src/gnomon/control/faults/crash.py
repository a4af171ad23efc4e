"""A node stops: its tasks are gone, nobody answers. It is back, empty, when the fault is over."""

from __future__ import annotations

from typing import Final

from gnomon.control.faults.kind import Harm, Kind, Words

EXCLUDES: Final = "crashes or reboots"

KIND: Final = Kind(
    Words("{who} crashes", "{who} is back, empty", ", and is back after {time}", "crashed"),
    on_node=lambda strikes, event, node, row: strikes.stop(node, row, forgets=True),
    harm=Harm.STOP,
    excludes=EXCLUDES,
)
