"""Bounds of a sort by range, from a sample of its keys.

As Spark's ``RangePartitioner``: each task of the input keeps a reservoir of keys, the reservoirs weigh as much as
their partitions have records, and the bounds cut the weighted keys into parts of one size.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

import numpy as np
from numpy.random import PCG64, Generator

from gnomon.dataflow.layout import Exchange, Layout
from gnomon.dataflow.operators import function_of, unordered
from gnomon.dataflow.stage import Stage
from gnomon.model.errors import InputError

SAMPLE_MAX: Final = 1_000_000
_DRAWN_AT_ONCE: Final = 4_096


@dataclass(frozen=True)
class Sketch:
    """What one task of the input knows of its keys: how many it has, and a sample of them."""

    count: int
    keys: tuple[Any, ...]


def sketched(exchange: Exchange, layout: Layout, index: int, records: Iterable[Any]) -> Sketch:
    """The sample of one task: its size is three times what an even share would be, as the inputs may be uneven."""
    points, inputs = layout.sample_points, layout.counts[exchange.source]
    size = -(-3 * min(points * exchange.partitions, SAMPLE_MAX) // inputs)
    keys = _keys(layout.stages[exchange.target], records)
    count, sample = reservoir(keys, size, (exchange.source, index))
    return Sketch(count, tuple(sample))


def _keys(stage: Stage, records: Iterable[Any]) -> Iterator[Any]:
    function = function_of(stage)
    for record in records:
        yield function(record)


def bounds_of(exchange: Exchange, sketches: Sequence[Sketch]) -> list[Any]:
    """The upper bounds of all partitions but the last: fewer, where there are few keys. Raises InputError for keys that
    have no order."""
    weighed = [(key, sketch.count / len(sketch.keys)) for sketch in sketches for key in sketch.keys]
    try:
        weighed.sort(key=lambda pair: pair[0])
    except TypeError as error:
        problem = str(unordered([key for sketch in sketches for key in sketch.keys], error))
        raise InputError(problem, field=exchange.reader) from None
    except Exception as error:
        problem = f"the keys cannot be compared: {type(error).__name__}: {error}"
        raise InputError(problem, field=exchange.reader) from None
    partitions = min(exchange.partitions, len(weighed))
    step = sum(weight for _, weight in weighed) / partitions if partitions else 0.0
    bounds: list[Any] = []
    passed, target = 0.0, step
    for key, weight in weighed:
        if len(bounds) >= partitions - 1:
            break
        passed += weight
        if passed >= target and (not bounds or key > bounds[-1]):
            bounds.append(key)
            target += step
    return bounds


def reservoir(items: Iterable[Any], size: int, seed: Sequence[int]) -> tuple[int, list[Any]]:
    """How many items there are, and so many of them, each as likely as any other: the ``n``-th takes a place drawn from
    ``n``, if that is one of the reservoir's (``SamplingUtils.reservoirSampleAndCount``; the numbers are NumPy's).

    >>> reservoir(range(3), 5, [1])
    (3, [0, 1, 2])
    >>> count, kept = reservoir(range(100_000), 50, [1])
    >>> count, len(set(kept)), sum(kept) // 50 // 10_000
    (100000, 50, 5)
    """
    left = iter(items)
    kept = list(islice(left, size))
    count = len(kept)
    draw = Generator(PCG64(list(seed)))
    while some := list(islice(left, _DRAWN_AT_ONCE)):
        places = draw.random(len(some)) * np.arange(count + 1, count + 1 + len(some))
        for turn in np.flatnonzero(places < size):
            kept[int(places[turn])] = some[turn]
        count += len(some)
    return count, kept
