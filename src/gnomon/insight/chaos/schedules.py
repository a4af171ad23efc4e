"""Fault schedules as values: their order, and their form in files and results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from gnomon.control.faults import KINDS
from gnomon.control.faults.kind import Unit
from gnomon.model.fault import Failure, Fault
from gnomon.model.quantity import format_duration, format_e4, format_memory
from gnomon.model.resources import NEVER

Schedule = tuple[Failure, ...]
"""Faults in order of time."""

INSTANTS: Final = frozenset(fault for fault, kind in KINDS.items() if kind.instant)
"""Kinds that are over when they have begun."""

_ORDER: Final = {fault: position for position, fault in enumerate(Fault)}


def in_order(faults: Iterable[Failure]) -> Schedule:
    """Faults by time, each once."""
    return tuple(sorted(set(faults), key=_place))


def _place(fault: Failure) -> tuple[object, ...]:
    return fault.at_ns, _ORDER[fault.kind], fault.targets, fault.others, fault.for_ns, fault.amount


def schedule_data(schedule: Schedule) -> list[list[Any]]:
    """A schedule as plain values, exactly, for a state file."""
    return [
        [one.kind.value, one.at_ns, one.for_ns, list(one.targets), list(one.others), one.amount] for one in schedule
    ]


def fault_data(fault: Failure) -> dict[str, Any]:
    """A fault for people and programs: texts with units, without what is as it always is.

    >>> fault_data(Failure(Fault.SLOW, 90 * 10**9, targets=("node/n1",), amount=2_500))
    {'kind': 'slow', 'at': '1m30s', 'targets': ['node/n1'], 'amount': '0.25'}
    """
    found: dict[str, Any] = {"kind": fault.kind.value, "at": format_duration(fault.at_ns)}
    if fault.for_ns < NEVER and fault.kind not in INSTANTS:
        found["for"] = format_duration(fault.for_ns)
    if fault.targets:
        found["targets"] = list(fault.targets)
    if fault.others:
        found["others"] = list(fault.others)
    if text := _amount(fault):
        found["amount"] = text
    return found


def _amount(fault: Failure) -> str:
    amount = KINDS[fault.kind].amount
    return amount.told.format(_FORMATS[amount.unit](fault.amount)) if amount else ""


_FORMATS: Final[Mapping[Unit, Callable[[int], str]]] = {
    Unit.PART: format_e4,
    Unit.BYTES: format_memory,
    Unit.BYTES_A_SECOND: format_memory,
    Unit.NS: format_duration,
    Unit.NUMBER: str,
}


def told(fault: Mapping[str, Any]) -> str:
    """What :func:`fault_data` gives, on one line.

    >>> told(fault_data(Failure(Fault.CRASH, 0, 60 * 10**9, ("node/n1",))))
    'crash node/n1 at 0s for 1m'
    """
    parts = [fault["kind"], *fault.get("targets", ()), f"at {fault['at']}"]
    parts += [f"for {fault['for']}"] if "for" in fault else []
    parts += [f"from {', '.join(fault['others'])}"] if "others" in fault else []
    return " ".join(parts + ([f"({fault['amount']})"] if "amount" in fault else []))
