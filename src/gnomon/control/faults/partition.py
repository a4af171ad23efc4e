"""Two sets hear nothing of each other: nodes, control-plane members."""

from __future__ import annotations

from typing import Final

from gnomon.control.faults.kind import Harm, Kind, Words
from gnomon.recovery.targets import MEMBERS, NODES

KIND: Final = Kind(
    Words(
        "{who} {are} cut off from {others}",
        "{who} {are} joined to {others} again",
        past="was cut off",
    ),
    hits=(NODES, MEMBERS),
    on_all=lambda strikes, event, node, row: strikes.part(event.number, event.targets, event.others, row),
    harm=Harm.CUT_OFF,
    two_sides=True,
    excludes="partitions",
)
