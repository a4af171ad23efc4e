"""Attempts of the tasks fail by themselves with a chance [1/10,000 an attempt], at a moment of their run. That is a
matter of the tasks' plans (:mod:`gnomon.control.plans`)."""

from __future__ import annotations

from typing import Final

from gnomon.control.faults.kind import CHANCES, Amount, Kind, Unit, halved
from gnomon.model.resources import E4
from gnomon.recovery.targets import TASKS

KIND: Final = Kind(
    hits=(TASKS,),
    amount=Amount(
        "chance",
        Unit.PART,
        "the chance: 0 to 10000, in 1/10,000 an attempt",
        draw=lambda draws, node: min(draws.pick(CHANCES), E4 // 2),
        most=E4,
        milder=halved,
    ),
    on_request=True,
)
