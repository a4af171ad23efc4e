"""The buffer that holds the output of a task until it is spilled: which record begins a spill.

Source: ``MapTask.MapOutputBuffer`` of Hadoop 3.5.0.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final

from gnomon.model.resources import E4

META_BYTES: Final = 16
"""What the buffer holds for each record beside its bytes: where value and key begin, partition, length of the value."""


@dataclass(frozen=True, slots=True)
class Sorting:
    """The buffer [bytes], at which part of it (1/10,000) a spill begins, how many runs are merged at once, and from how
    many spills on the combiner runs again when they are merged.

    >>> Sorting(buffer_bytes=2**20).soft_limit
    838860
    """

    buffer_bytes: int = 100 * 2**20
    spill_share_e4: int = 8_000
    factor: int = 10
    combine_spills: int = 3

    @property
    def soft_limit(self) -> int:
        """A spill begins when so many bytes are used."""
        return self.buffer_bytes * self.spill_share_e4 // E4


class Room(Enum):
    """What a record finds in the buffer."""

    FITS = 0
    SPILL = 1
    """It fits after those before it are spilled."""
    ALONE = 2
    """It is larger than the whole buffer: those before it are spilled, then it, by itself."""


class Buffer:
    """A ring of bytes: records grow one way from the equator, 16 bytes for each the other way.

    A spill takes what is there, and the equator moves into the free part. It is assumed to be over when its room is
    needed: how long the writer waits for it is a matter of time, not of records. (The few bytes that stay void where a
    key would be cut by the end of the array are left out.)

    >>> buffer = Buffer(Sorting(buffer_bytes=1000))
    >>> [buffer.put(100).name for _ in range(8)]
    ['FITS', 'FITS', 'FITS', 'FITS', 'FITS', 'FITS', 'FITS', 'SPILL']
    """

    def __init__(self, sorting: Sorting) -> None:
        self._length = sorting.buffer_bytes - sorting.buffer_bytes % META_BYTES
        self._soft = sorting.soft_limit
        self._records = self._bytes = 0
        self._end = 0  # of the bytes of the last spill
        self._at = 0  # where the next byte goes
        self._spilled = False  # a spill has been, and its room is not counted as free yet
        self._equator, self._meta = 0, self._length - META_BYTES
        self._meta_end = self._meta
        self._left = self._soft

    @property
    def spare(self) -> int:
        """So many bytes more, 16 for each record with them, can be added without a look at the limits."""
        return self._left - 1

    def add(self, records: int, size: int) -> None:
        """Add records of ``size`` bytes together, which the spare bytes hold."""
        self._left -= records * META_BYTES + size
        self._at = (self._at + size) % self._length
        self._meta = (self._meta - records * META_BYTES) % self._length
        self._records += records
        self._bytes += size

    def put(self, size: int) -> Room:
        """Add a record of ``size`` bytes; says what has to be spilled before."""
        self._left -= META_BYTES
        room = Room.FITS
        if self._left <= 0 and self._look():
            room = Room.SPILL
        self._left -= size
        if self._left <= 0 and self._is_blocked(size):
            room = self._make_room(size, room)
            if room == Room.ALONE:
                return room
        self._at = (self._at + size) % self._length
        self._meta = (self._meta - META_BYTES) % self._length
        self._records += 1
        self._bytes += size
        return room

    def _look(self) -> bool:
        """At the soft limit: count the room of the last spill as free, or spill."""
        used = self._distance(self._meta, self._at)
        if self._spilled:
            self._reclaim()
            self._left = min(self._distance(self._at, self._meta) - 2 * META_BYTES, self._soft - used) - META_BYTES
            return False
        if used < self._soft or self._meta == self._meta_end:
            return False
        free = self._distance(self._at, self._meta)
        self._start_spill()
        mean = self._bytes // self._records
        self._turn(
            (self._at + max(2 * META_BYTES - 1, min(free // 2, free // (META_BYTES + mean) * META_BYTES)))
            % self._length
        )
        self._at = self._equator
        room = min(self._distance(self._end, self._at), self._distance(self._at, self._meta_end), self._soft)
        self._left = room - 2 * META_BYTES
        return True

    def _is_blocked(self, size: int) -> bool:
        """Whether too little is left for a record, what is held for it, and what will be for the next one."""
        to_meta, to_spilled = self._distance(self._at, self._meta), self._distance(self._at, self._meta_end)
        if to_meta <= to_spilled:
            return to_meta <= size + 2 * META_BYTES
        return to_spilled <= size or self._distance(self._end, self._meta) < 2 * META_BYTES

    def _make_room(self, size: int, room: Room) -> Room:
        if self._spilled:
            self._reclaim()
        if self._is_blocked(size):
            if self._meta != self._meta_end:
                self._start_spill()
                self._turn(self._at)
                self._reclaim()
                room = Room.SPILL
            if self._is_blocked(size):
                self._at = 0
                self._turn(0)
                self._reclaim()
                self._left = self._soft
                return Room.ALONE
        free, used = self._distance(self._at, self._meta), self._distance(self._meta, self._at)
        self._left = min(free - 2 * META_BYTES, self._soft - used) - size
        return room

    def _start_spill(self) -> None:
        self._meta_end = (self._meta + META_BYTES) % self._length
        self._end = self._at
        self._spilled = True

    def _turn(self, equator: int) -> None:
        self._equator = equator
        self._meta = (equator - equator % META_BYTES - META_BYTES) % self._length

    def _reclaim(self) -> None:
        self._end = self._equator
        self._meta_end = (self._equator - self._equator % META_BYTES - META_BYTES) % self._length
        self._spilled = False

    def _distance(self, start: int, end: int) -> int:
        return (end - start) % self._length
