"""A heap of (time, number, item) in three columns: the earliest first, and of one time the lowest number."""

from __future__ import annotations

from gnomon.engine.compiling import kernel
from gnomon.engine.world import I32, I64


@kernel
def push(times: I64, numbers: I64, items: I32, count: int, time: int, number: int, item: int) -> None:
    """Add an entry to ``count`` others."""
    i = count
    while i > 0:
        up = (i - 1) >> 1
        if times[up] < time or (times[up] == time and numbers[up] < number):
            break
        times[i], numbers[i], items[i] = times[up], numbers[up], items[up]
        i = up
    times[i], numbers[i], items[i] = time, number, item


@kernel
def pop(times: I64, numbers: I64, items: I32, count: int) -> int:
    """Remove the first of ``count`` entries and return its item."""
    first = items[0]
    last = count - 1
    time, number, moved = times[last], numbers[last], items[last]
    i = 0
    while True:
        down = 2 * i + 1
        if down >= last:
            break
        other = down + 1
        if other < last and (
            times[other] < times[down] or (times[other] == times[down] and numbers[other] < numbers[down])
        ):
            down = other
        if time < times[down] or (time == times[down] and number < numbers[down]):
            break
        times[i], numbers[i], items[i] = times[down], numbers[down], items[down]
        i = down
    times[i], numbers[i], items[i] = time, number, moved
    return int(first)
