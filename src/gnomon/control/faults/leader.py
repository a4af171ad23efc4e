"""A member of the control plane stops; of the present leader, if no member is named."""

from __future__ import annotations

from typing import Final

from gnomon.control.faults.kind import Harm, Kind, Words
from gnomon.control.strikes import Over, Strikes
from gnomon.recovery.faults import Event
from gnomon.recovery.targets import MEMBERS


def _stop(strikes: Strikes, event: Event, node: int, row: int) -> Over:
    strikes.plane.stop_members(event.number, event.targets.control, row)
    return lambda heal: strikes.plane.start_members(event.number, heal)


KIND: Final = Kind(
    Words(
        "{who} stops",
        "{who} is there again",
        past="lost touch with the control plane",
        nobody=("the leader of the control plane", "who led the control plane"),
    ),
    hits=(MEMBERS,),
    on_all=_stop,
    harm=Harm.DELAY,
    excludes="stops",
)
