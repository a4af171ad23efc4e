"""Merging sorted runs: which pass takes which, and what comes of it.

Source: ``Merger`` of Hadoop 3.5.0.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from gnomon.model.errors import InputError

Pair = tuple[Any, Any]


def pass_width(factor: int, number: int, runs: int) -> int:
    """How many runs the pass ``number`` (from 1) merges: the first so many that all later ones are full.

    >>> pass_width(10, 1, 12), pass_width(10, 2, 11), pass_width(10, 1, 19), pass_width(10, 1, 9)
    (3, 10, 10, 10)
    """
    if number > 1 or runs <= factor or factor == 1:
        return factor
    return (runs - 1) % (factor - 1) + 1 if (runs - 1) % (factor - 1) else factor


def merge_passes(
    lengths: Sequence[int], factor: int, *, in_memory: int = 0, by_length: bool = True
) -> list[tuple[int, ...]]:
    """Which runs each pass of a merge takes, the last pass last. The result of pass ``i`` but the last is the run
    ``len(lengths) + i``. Runs of length 0 are left out.

    The smallest runs go first; the first ``in_memory`` runs do not count against the factor.

    >>> merge_passes([31_069, 31_068, 31_068, 6_795], 2)
    [(3, 1), (2, 0), (4, 5)]
    >>> merge_passes([5, 5, 5], 10)
    [(0, 1, 2)]
    """
    sizes, order = list(lengths), list(range(len(lengths)))
    if by_length:
        order.sort(key=sizes.__getitem__)
    runs, passes = len(order), list[tuple[int, ...]]()
    while True:
        width = pass_width(factor, len(passes) + 1, runs - in_memory) + (0 if passes else in_memory)
        taken: list[int] = []
        while order and len(taken) < width:
            run = order.pop(0)
            if sizes[run]:
                taken.append(run)
            else:
                runs -= 1
        passes.append(tuple(taken))
        if runs <= width:
            return passes
        sizes.append(sum(sizes[run] for run in taken))
        order.insert(bisect_left(order, sizes[-1], key=sizes.__getitem__), len(sizes) - 1)
        runs = len(order)


def in_order(pairs: Iterable[Pair]) -> list[Pair]:
    """Pairs in the order of their keys; values of a key stay as they come, which no engine promises.

    Raises InputError for keys that cannot be compared.
    """
    try:
        return sorted(pairs, key=itemgetter(0))
    except TypeError as error:
        raise InputError("keys have no order among them", found=str(error), allowed="keys of one type") from error


def grouped(pairs: Iterable[Pair]) -> Iterator[tuple[Any, list[Any]]]:
    """Each key with its values, of pairs in order.

    >>> list(grouped([("a", 1), ("a", 2), ("b", 3)]))
    [('a', [1, 2]), ('b', [3])]
    """
    for key, group in groupby(pairs, key=itemgetter(0)):
        yield key, [value for _, value in group]
