"""Lineage: which tasks that were done must run again because their results were lost with a node.

Only what is needed runs again: a lost result matters when a task that is still to run needs it, directly or through
other lost results (Zaharia et al., "Resilient Distributed Datasets", NSDI 2012, 2.1).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

LOST: Final = -1
"""Where a result is that was lost before, and not made again because nobody needed it then."""


def lost(
    results: Mapping[int, int],
    needs: Mapping[int, tuple[int, ...]],
    node: int,
    unfinished: Collection[int],
) -> list[int]:
    """The done tasks that must run again when a node is lost, each after those whose results it needs.

    - ``results``: the node that holds the result of each done task, :data:`LOST` if that was lost before; a task that
      is not in it has a result that no node can lose, or is unfinished.
    - ``needs``: the tasks whose results a task needs; one that is not in it needs none.
    - ``unfinished``: the tasks that still need their inputs, whether they wait or run. One that has all of them
      already is to be left out.

    Task 2 needs 1, which needs 0; both were on node 7, and 3, on it too, is needed by nobody any more:

    >>> lost({0: 7, 1: 7, 3: 7}, {1: (0,), 2: (1,)}, 7, {2})
    [0, 1]
    >>> lost({0: 7, 1: 8, 3: 7}, {1: (0,), 2: (1,)}, 7, {2})
    []
    """
    waiting = set(unfinished)
    order: list[int] = []
    seen: set[int] = set()

    def gone(task: int) -> list[int]:
        """The lost inputs of a task that nobody has come across yet, the lowest number last."""
        inputs = {other for other in needs.get(task, ()) if results.get(other) in (node, LOST)}
        return sorted(inputs - seen - waiting, reverse=True)

    # Depth first with a stack of our own: a chain of results may be longer than Python's recursion allows.
    stack: list[tuple[int, bool]] = [(task, False) for task in sorted(waiting, reverse=True)]
    while stack:
        task, inputs_done = stack.pop()
        if inputs_done:
            order.append(task)
            continue
        if task not in waiting:
            if task in seen:
                continue
            seen.add(task)
            stack.append((task, True))
        stack.extend((other, False) for other in gone(task))
    return order
