"""Policies written in Python: an order or a placement as a plain function of a read-only view.

An order gets the view and the waiting tasks (indices) and returns a key for each, smallest first::

    def widest_first(view, tasks):
        return -view.cpu_milli[tasks]

By default it is asked once, when the run begins, about all tasks. ``@dynamic`` makes it asked at each pass, about those
who wait, so that keys may depend on ``view.now_ns`` and on what is free. A placement gets the view, one task and the
nodes that passed every filter, and returns one of them (or None: not now)::

    def last_fit(view, task, nodes):
        return nodes[-1]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from gnomon.engine.world import NOW, World
from gnomon.model.errors import InputError

Order = Callable[["View", npt.NDArray[np.int64]], Sequence[float] | npt.NDArray[Any]]
Placement = Callable[["View", int, npt.NDArray[np.int64]], int | None]

_F = TypeVar("_F", bound=Callable[..., Any])


def dynamic(order: _F) -> _F:
    """Mark an order whose keys change with time or state: it is asked at every pass."""
    order.dynamic = True  # type: ignore[attr-defined]
    return order


def is_dynamic(order: object) -> bool:
    """Whether the order wants to be asked at every pass."""
    return bool(getattr(order, "dynamic", False))


class View:
    """What a policy may look at: columns by task or node, read-only, in ledger units.

    By task: ``submit_ns``, ``estimate_ns``, ``priority``, ``user``, ``cpu_milli``, ``memory_bytes``, ``gpu_e4``.
    By node: ``capacity`` and ``free``, (nodes, dimensions + device slots). ``now_ns`` is the present.
    """

    def __init__(self, world: World, names: Sequence[str]) -> None:
        self._names = list(names)
        self.follow(world)

    def follow(self, world: World) -> None:
        """Look at this world from now on."""
        self._world = world
        self.submit_ns = _locked(world.submit)
        self.estimate_ns = _locked(world.estimate)
        self.priority = _locked(world.priority)
        self.user = _locked(world.user)
        self.capacity = _locked(world.capacity)
        self.free = _locked(world.free)

    @property
    def now_ns(self) -> int:
        """The present time."""
        return int(self._world.at[NOW])

    @property
    def cpu_milli(self) -> npt.NDArray[np.int64]:
        """Requested processors of every task, in 1/1000."""
        return self.requested("cpu")

    @property
    def memory_bytes(self) -> npt.NDArray[np.int64]:
        """Requested memory of every task."""
        return self.requested("memory")

    @property
    def gpu_e4(self) -> npt.NDArray[np.int64]:
        """Requested devices of every task together, in 1/10,000."""
        return self.requested("gpu")

    def offered(self, node: object) -> bool:
        """Whether this is a node that passed every filter for the task that is being placed."""
        if not isinstance(node, int | np.integer) or not 0 <= int(node) < len(self.free):
            return False
        return bool(self._world.feasible[int(node)])

    def requested(self, name: str) -> npt.NDArray[np.int64]:
        """What every task asks of a resource; zeros when the cluster does not know it."""
        if name not in self._names:
            return np.zeros(len(self.submit_ns), np.int64)
        return self._world.need[self._world.shape, self._names.index(name)]

    def of(self, name: str, task: int) -> int:
        """What one task asks of a resource."""
        return int(self._world.need[self._world.shape[task], self._names.index(name)]) if name in self._names else 0


def ask_order(order: Order, view: View, tasks: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
    """Ask an order, and refuse an answer that is not one finite number a task."""
    name = getattr(order, "__name__", repr(order))
    try:
        keys = np.asarray(order(view, tasks))
    except Exception as error:
        raise InputError(f"the order {name} failed: {type(error).__name__}: {error}") from error
    kind = keys.dtype.kind
    if keys.shape != (len(tasks),) or kind not in "iufb" or (kind == "f" and not np.isfinite(keys).all()):
        allowed = f"{len(tasks)} finite numbers, one a task"
        raise InputError(f"the order {name} gave no keys", found=f"{keys.dtype} {keys.shape}", allowed=allowed)
    return keys


def ask_placement(placement: Placement, view: View, task: int, nodes: npt.NDArray[np.int64]) -> int:
    """Ask a placement, and refuse an answer that is not one of the nodes offered. -1: not now."""
    name = getattr(placement, "__name__", repr(placement))
    try:
        node = placement(view, task, nodes)
    except Exception as error:
        raise InputError(f"the placement {name} failed: {type(error).__name__}: {error}") from error
    if node is None:
        return -1
    if not view.offered(node):
        raise InputError(f"the placement {name} chose a node it was not offered", found=node, allowed=str(nodes[:20]))
    return int(node)


def _locked(column: npt.NDArray[Any]) -> npt.NDArray[Any]:
    view = column.view()
    view.flags.writeable = False
    return view
