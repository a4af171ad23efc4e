"""The kinds of faults: of each of :class:`~gnomon.model.fault.Fault`, the module with its name says all there is."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Final

from gnomon.control.faults.kind import Begin, Harm, Kind
from gnomon.control.strikes import Strikes
from gnomon.model.fault import Fault
from gnomon.recovery.faults import Event

KINDS: Final[Mapping[Fault, Kind]] = {
    fault: import_module(f"{__name__}.{fault.value.replace('-', '_')}").KIND for fault in Fault
}
"""What is known of each kind, in their order."""


def named(name: object) -> Kind | None:
    """The kind that a log or a file calls so, None if there is none."""
    return _BY_NAME.get(str(name))


_BY_NAME: Final = {fault.value: kind for fault, kind in KINDS.items()}


def harmful(least: Harm) -> tuple[str, ...]:
    """The names of the kinds that do at least so much harm.

    >>> harmful(Harm.STOP)
    ('crash', 'reboot')
    """
    return tuple(fault.value for fault, kind in KINDS.items() if kind.harm >= least)


def strike(strikes: Strikes, event: Event) -> None:
    """A fault begins; enter its end."""
    kind = KINDS[event.failure.kind]
    if kind.on_all is not None:
        _begin(strikes, event, kind.on_all, -1)
    if kind.on_task is not None:
        for task in event.targets.tasks:
            kind.on_task(strikes, event, task)
    if kind.on_node is not None:
        for number in event.targets.nodes:
            _begin(strikes, event, kind.on_node, strikes.node_at[number])


def _begin(strikes: Strikes, event: Event, begin: Begin, node: int) -> None:
    row = strikes.row(event, node=node)
    over = begin(strikes, event, node, row)
    if over is not None:
        strikes.follow(event, node, row, over)
