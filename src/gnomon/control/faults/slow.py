"""A node runs its tasks at a part of their speed [1/10,000 of full speed]; of several such faults the least counts."""

from __future__ import annotations

from typing import Final

from gnomon.control.faults.kind import Amount, Kind, Unit, Words
from gnomon.model.resources import E4

_SPEEDS: Final = (7_500, 5_000, 2_500, 1_000, 500)

KIND: Final = Kind(
    Words("{who} runs at {amount} of its speed", "{who} runs at full speed again"),
    amount=Amount(
        "speed",
        Unit.PART,
        "the speed: 0 to 10000, in 1/10,000 of full speed",
        draw=lambda draws, node: draws.pick(_SPEEDS),
        most=E4,
        milder=lambda amount, lengths: (amount + E4) // 2 if amount < 9_000 else amount,
    ),
    on_node=lambda strikes, event, node, row: strikes.run_at(event.failure.amount, event, node, row),
)
