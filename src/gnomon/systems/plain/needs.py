"""What tasks need before they can begin: the results of others, by id."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from graphlib import CycleError, TopologicalSorter

from gnomon.formats.schema import COUNT_MAX
from gnomon.formats.yaml import Located
from gnomon.model.errors import unknown_name
from gnomon.systems.plain.specs import TaskSpec

_NEAR_MAX = 10_000


def needed(
    tasks: Located, specs: Sequence[TaskSpec], entries: Sequence[tuple[str, int, str]]
) -> dict[int, tuple[str, ...]]:
    """The ids that the tasks of each entry need, where they need any.

    ``entries``: the id of each task, with the position of its entry. The name of an entry with a ``count`` stands for
    all of its tasks. Raises :class:`InputError` for ids that no task has, and for tasks that wait for each other.
    """
    if not any(spec.needs for spec in specs):
        return {}
    owner = {name: position for name, position, _ in entries}
    counted: dict[str, list[str]] = defaultdict(list)
    for name, position, _ in entries:
        if specs[position].count is not None:
            counted[specs[position].id or specs[position].job].append(name)
    needs: dict[int, tuple[str, ...]] = {}
    number = 0
    for position, spec in enumerate(specs):
        found: dict[str, None] = {}
        for place, name in enumerate(spec.needs):
            ids = [name] if name in owner else counted.get(name)
            if ids is None:
                near = unknown_name("task", name, owner if len(owner) <= _NEAR_MAX else ())
                raise tasks.error(near.problem, position, "needs", place, found=name, allowed="ids of tasks here")
            found |= dict.fromkeys(ids)
        number += len(found) * (spec.count or 1)
        if number > COUNT_MAX:
            raise tasks.error(f"more than {COUNT_MAX} needs, counts included", position, "needs")
        if found:
            needs[position] = tuple(found)
    _check_order(tasks, specs, {task: {owner[id] for id in ids} for task, ids in needs.items()})
    return needs


def _check_order(tasks: Located, specs: Sequence[TaskSpec], graph: dict[int, set[int]]) -> None:
    """All tasks of an entry need the same, so that entries in a circle are tasks in a circle."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        circle = error.args[1][::-1]  # each needs the next
        names = " needs ".join(specs[position].id or specs[position].job for position in circle)
        raise tasks.error("these tasks wait for each other", circle[0], "needs", found=names) from None
