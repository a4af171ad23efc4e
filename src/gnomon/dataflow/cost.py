"""How long a task takes for what it does: an explicit model of costs, to be set to what was measured.

A task starts, fetches, reads its input, computes, and writes, one after the other. All is whole nanoseconds, rounded
up. The numbers of :class:`Cost` are assumptions of an ordinary machine (one disk, 1 Gbit/s), not measurements:
:func:`calibrated` sets the work for a record to what tasks really took.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

SECOND: Final = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Amounts:
    """What a task does. ``calls``: records that functions were called with; ``input``, ``local``, ``remote``: bytes
    read from files, from outputs on its own node, and from those on others; ``written``: bytes left behind."""

    calls: int = 0
    input: int = 0
    local: int = 0
    remote: int = 0
    written: int = 0

    @property
    def bytes(self) -> int:
        """All that goes through its functions, once in and once out."""
        return self.input + self.local + self.remote + self.written


@dataclass(frozen=True, slots=True)
class Cost:
    """What things cost. ``start_ns`` of a task; ``record_ns`` of a call of a function with a record, ``byte_ns_e3``
    (1/1,000 ns) of a byte that is read into records or written from them; ``disk``, ``network``: bytes a second.

    Fetching 125 MB over 1 Gbit/s takes a second:

    >>> Cost().phases(Amounts(calls=1000, remote=125_000_000))["fetch"]
    1000000000
    """

    start_ns: int = 5_000_000
    record_ns: int = 1_000
    byte_ns_e3: int = 2_000
    disk: int = 200_000_000
    network: int = 125_000_000

    def phases(self, amounts: Amounts) -> Mapping[str, int]:
        """How long each phase takes [ns], in their order."""
        fetch = _over(amounts.remote * SECOND, self.network) + _over(amounts.local * SECOND, self.disk)
        return {
            "start": self.start_ns,
            "fetch": fetch,
            "read": _over(amounts.input * SECOND, self.disk),
            "compute": amounts.calls * self.record_ns + _over(amounts.bytes * self.byte_ns_e3, 1000),
            "write": _over(amounts.written * SECOND, self.disk),
        }

    def length_ns(self, amounts: Amounts) -> int:
        """How long all of it takes."""
        return sum(self.phases(amounts).values())


def calibrated(cost: Cost, measured: Iterable[tuple[Amounts, int]]) -> Cost:
    """The cost with the work for a record that makes all measured tasks [ns] together as long as they were: the rest of
    the model stays. Tasks without a record say nothing.

    >>> cost = Cost(start_ns=10, record_ns=1, byte_ns_e3=0)
    >>> calibrated(cost, [(Amounts(calls=100), 510), (Amounts(calls=50), 260)]).record_ns
    5
    """
    calls = rest = 0
    for amounts, length in measured:
        if amounts.calls:
            calls += amounts.calls
            rest += length - replace(cost, record_ns=0).length_ns(amounts)
    return replace(cost, record_ns=max(0, (rest + calls // 2) // calls)) if calls else cost


def _over(amount: int, rate: int) -> int:
    return -(-amount // rate)
