"""A node restarts: its tasks are gone; it says so itself when it is back."""

from __future__ import annotations

from typing import Final

from gnomon.control.faults.crash import EXCLUDES
from gnomon.control.faults.kind import Harm, Kind, Words

KIND: Final = Kind(
    Words("{who} restarts", "{who} has restarted", ", which takes {time}", "restarted"),
    on_node=lambda strikes, event, node, row: strikes.stop(node, row, forgets=False),
    harm=Harm.STOP,
    excludes=EXCLUDES,
)
