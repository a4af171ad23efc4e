"""The cluster: nodes, what they have, and the windows in which parts of them are set aside."""

from __future__ import annotations

from dataclasses import dataclass

from gnomon.model.resources import NEVER, Resources


@dataclass(frozen=True, slots=True)
class Machine:
    """What a node really has, where that is more than, or beside, what may be asked of it (``Node.capacity``).

    - ``cpu_milli`` (1/1000 of a processor), ``memory_bytes``; 0: as much as may be asked for.
    - ``used_bytes``: memory that the system itself uses.
    - ``disk_bytes``, ``disk_rate`` (bytes/s), ``store_bytes`` (of shared objects); 0: so much that it never matters.
    """

    cpu_milli: int = 0
    memory_bytes: int = 0
    used_bytes: int = 0
    disk_bytes: int = 0
    disk_rate: int = 0
    store_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Node:
    """A machine.

    - ``capacity``: what may be asked of it; ``machine``: what it really has.
    - ``kind``: its device model or machine type, what a task's ``node_kinds`` choose from.
    - ``labels``: pairs of a name and a value, for a task's ``node_labels``, and for faults that strike a rack or zone.

    >>> Node("a", Resources(cpu_milli=64_000, gpus=8), kind="A100", labels=(("rack", "r1"),)).capacity.gpus
    8
    """

    name: str
    capacity: Resources
    kind: str = ""
    labels: tuple[tuple[str, str], ...] = ()
    machine: Machine = Machine()


@dataclass(frozen=True, slots=True)
class Reservation:
    """Capacity set aside in advance, from ``start_ns`` (inclusive) to ``end_ns`` (exclusive).

    - ``node``: on which node (empty: every node, or the pool); ``amount``: what of it (None: all of it).
    - ``users``: who may use it (nobody: maintenance).
    """

    name: str
    start_ns: int
    end_ns: int = NEVER
    node: str = ""
    amount: Resources | None = None
    users: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Cluster:
    """Nodes in their order (which placement ties follow). ``pool``: one node that stands for many
    identical processors of which a task takes any, without topology."""

    nodes: tuple[Node, ...]
    pool: bool = False
    reservations: tuple[Reservation, ...] = ()
    source: str = ""

    @classmethod
    def of_processors(cls, count: int) -> Cluster:
        """A pool of ``count`` identical processors.

        >>> Cluster.of_processors(100).nodes[0].capacity.cpu_milli
        100000
        """
        return cls((Node("pool", Resources(cpu_milli=count * 1000)),), pool=True, source=f"{count} processors")

    def resource_names(self) -> tuple[str, ...]:
        """Every resource that some node has: ``cpu``, ``memory``, ``gpu`` first, then by name."""
        found = {name for node in self.nodes for name in node.capacity.names()}
        plain = [name for name in ("cpu", "memory", "gpu") if name in found]
        return (*plain, *sorted(found - {"cpu", "memory", "gpu"}))

    def total(self, name: str) -> int:
        """The sum of one resource over all nodes, in ledger units."""
        return sum(node.capacity.amount(name) for node in self.nodes)
