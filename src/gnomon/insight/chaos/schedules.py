"""Fault schedules as values: their order, and their form in files and results."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from gnomon.model.fault import Failure, Fault
from gnomon.model.quantity import format_duration, format_e4, format_memory
from gnomon.model.resources import NEVER

Schedule = tuple[Failure, ...]
"""Faults in order of time."""

INSTANTS: Final = frozenset({Fault.KILL, Fault.CANCEL})
"""Kinds that are over when they have begun."""

_KINDS: Final = tuple(Fault)


def in_order(faults: Iterable[Failure]) -> Schedule:
    """Faults by time, each once."""
    return tuple(sorted(set(faults), key=_place))


def _place(fault: Failure) -> tuple[object, ...]:
    return fault.at_ns, _KINDS.index(fault.kind), fault.targets, fault.others, fault.for_ns, fault.amount


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
    match fault.kind:
        case Fault.SLOW | Fault.LOSS | Fault.FAIL:
            return format_e4(fault.amount)
        case Fault.DISK_FULL:
            return f"{format_memory(fault.amount)} left"
        case Fault.LEAK:
            return f"{format_memory(fault.amount)}/s"
        case Fault.DELAY:
            return format_duration(fault.amount)
        case Fault.DEVICE:
            return str(fault.amount)
    return ""


def told(fault: Mapping[str, Any]) -> str:
    """What :func:`fault_data` gives, on one line.

    >>> told(fault_data(Failure(Fault.CRASH, 0, 60 * 10**9, ("node/n1",))))
    'crash node/n1 at 0s for 1m'
    """
    parts = [fault["kind"], *fault.get("targets", ()), f"at {fault['at']}"]
    parts += [f"for {fault['for']}"] if "for" in fault else []
    parts += [f"from {', '.join(fault['others'])}"] if "others" in fault else []
    return " ".join(parts + ([f"({fault['amount']})"] if "amount" in fault else []))
