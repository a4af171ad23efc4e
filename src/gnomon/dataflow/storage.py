"""Stored files as a contract: replicas on racks, erasure coding, the write pipeline, which reads survive what.

The model behind it is HDFS. Source, where nothing else is said: the documentation "HDFS Architecture" and "HDFS
Erasure Coding", ``hdfs-default.xml``, and ``BlockPlacementPolicyDefault``, of Hadoop 3.5.0. Nodes are named by text.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb
from typing import Final

REPLICATION: Final = 3
Draw = Callable[[int], int]
"""``draw(n)``: a number from 0 to before n, from a named stream."""


# ------------------------------------------------------------------ where replicas go


def most_per_rack(replicas: int, racks: int) -> int:
    """How many replicas of a block one rack may hold, where there are several racks.

    >>> most_per_rack(3, 2), most_per_rack(10, 4)
    (2, 4)
    """
    if racks <= 1 or replicas <= 1:
        return replicas
    most = (replicas - 1) // racks + 2
    return most - 1 if most == replicas else most


def place_replicas(
    racks: Mapping[str, str], writer: str | None, draw: Draw, *, replicas: int = REPLICATION
) -> tuple[str, ...]:
    """The nodes that get the replicas of a block, in the order of the pipeline. ``racks``: the rack of each live node.

    The first is the writer's own (a drawn one, if it is no such node), the second on another rack, the third on the
    second's rack, further ones anywhere, a node once, and a rack not more than :func:`most_per_rack` times. A rule
    that cannot be met gives way; there are never more replicas than nodes.

    >>> place_replicas({"a1": "a", "a2": "a", "b1": "b", "b2": "b"}, "a2", lambda n: 0)
    ('a2', 'b1', 'b2')
    """
    chosen: list[str] = []
    wanted = min(replicas, len(racks))
    most = most_per_rack(wanted, len(set(racks.values())))
    if wanted and writer in racks:
        chosen.append(str(writer))
    while len(chosen) < wanted:
        left = [node for node in racks if node not in chosen]
        room = [node for node in left if sum(racks[other] == racks[node] for other in chosen) < most] or left
        chosen.append(_drawn(_preferred(room, chosen, racks), draw))
    return tuple(chosen)


def _preferred(room: list[str], chosen: list[str], racks: Mapping[str, str]) -> list[str]:
    """Those among which the next replica is drawn: by its number the rack of the first or second is asked for."""
    first_two = {racks[node] for node in chosen[:2]}
    if len(chosen) == 1 or (len(chosen) == 2 and len(first_two) == 1):
        preferred = [node for node in room if racks[node] not in first_two]
    elif len(chosen) == 2:
        preferred = [node for node in room if racks[node] == racks[chosen[1]]]
    else:
        preferred = room
    return preferred or room


def _drawn(nodes: list[str], draw: Draw) -> str:
    return nodes[draw(len(nodes))]


# ------------------------------------------------------------------ the write pipeline


def wants_replacement(replicas: int, left: int, *, flushed: bool = False) -> bool:
    """Whether a pipeline that has lost a node looks for another one before it goes on with ``left`` nodes.

    Only for three replicas or more: when at most half are left, or when what was written was flushed for readers, or
    appended to. Otherwise it goes on with fewer, and the replicas are made up for after the file is closed.
    Source: ``ReplaceDatanodeOnFailure``, policy DEFAULT.

    >>> [wants_replacement(3, left) for left in (2, 1)], wants_replacement(3, 2, flushed=True), wants_replacement(2, 1)
    ([False, True], True, False)
    """
    return replicas >= 3 and (replicas // 2 >= left or (replicas > left and flushed))


@dataclass(frozen=True, slots=True)
class Pipeline:
    """The nodes that a block is being written to; ``stamp`` grows at each change, so that an old replica is known.

    >>> Pipeline(("a", "b", "c")).lose("b")
    Pipeline(nodes=('a', 'c'), replicas=3, stamp=1, flushed=False)
    """

    nodes: tuple[str, ...]
    replicas: int = REPLICATION
    stamp: int = 0
    flushed: bool = False

    def acknowledged(self, by: Collection[str]) -> bool:
        """Whether a packet is done: every node of the pipeline has acknowledged it, no majority."""
        return bool(self.nodes) and all(node in by for node in self.nodes)

    def lose(self, node: str, spare: Sequence[str] = (), *, best_effort: bool = False) -> Pipeline | None:
        """The pipeline after a loss; None: the write fails, as nobody is left or a wanted replacement (the first of
        ``spare`` that is not in it) is missing and ``best_effort`` does not let it go on without."""
        left = tuple(other for other in self.nodes if other != node)
        if not left:
            return None
        if wants_replacement(self.replicas, len(left), flushed=self.flushed):
            fresh = [other for other in spare if other != node and other not in left][:1]
            if not fresh and not best_effort:
                return None
            left += tuple(fresh)
        return Pipeline(left, self.replicas, self.stamp + 1, self.flushed)


# ------------------------------------------------------------------ losses


@dataclass(frozen=True, slots=True)
class Redundancy:
    """How a block is kept: in whole copies, or in ``data`` parts with ``parity`` more, any ``data`` of which give it.

    >>> RS_6_3.survives(6), RS_6_3.survives(5), COPIES.survives(1), RS_6_3.overhead, COPIES.overhead
    (True, False, True, Fraction(3, 2), Fraction(3, 1))
    """

    data: int
    parity: int

    @property
    def parts(self) -> int:
        """The nodes that hold something of it."""
        return self.data + self.parity

    @property
    def overhead(self) -> Fraction:
        """Bytes stored for each byte of the file."""
        return Fraction(self.parts, self.data)

    def survives(self, live: int) -> bool:
        """Whether it can be read with so many parts left."""
        return live >= self.data

    def loss_chance(self, failure: Fraction) -> Fraction:
        """The chance that a block is lost when each node fails by itself, with the chance ``failure``, in the time
        in which losses are noticed and made up for. (Racks that fail as a whole are covered by placement, not by this.)

        >>> COPIES.loss_chance(Fraction(1, 100)), RS_6_3.loss_chance(Fraction(1, 2))
        (Fraction(1, 1000000), Fraction(191, 256))
        """
        return sum(
            (
                comb(self.parts, lost) * failure**lost * (1 - failure) ** (self.parts - lost)
                for lost in range(self.parity + 1, self.parts + 1)
            ),
            Fraction(0),
        )


COPIES: Final = Redundancy(1, REPLICATION - 1)
RS_6_3: Final = Redundancy(6, 3)
RS_10_4: Final = Redundancy(10, 4)


def copies(replicas: int) -> Redundancy:
    """Whole copies."""
    return Redundancy(1, replicas - 1)


def lost_blocks(blocks: Sequence[Sequence[str]], gone: Collection[str], kept: Redundancy = COPIES) -> list[int]:
    """Which of ``blocks`` (the nodes of each one's parts) cannot be read when the nodes ``gone`` are.

    >>> lost_blocks([("a", "b", "c"), ("a", "b", "d")], {"a", "b", "c"})
    [0]
    """
    return [number for number, nodes in enumerate(blocks) if not kept.survives(sum(node not in gone for node in nodes))]


def read_order(
    replicas: Sequence[str],
    racks: Mapping[str, str],
    reader: str | None,
    *,
    stale: Collection[str] = (),
    corrupt: Collection[str] = (),
) -> list[str]:
    """The replicas that a reader tries one after the other: its own node, its rack, the others; stale ones last.

    A replica on a node that is not in ``racks`` (it is dead) or with a wrong checksum is left out; none left: the
    block is missing.

    >>> read_order(("b1", "a2", "a1"), {"a1": "a", "a2": "a", "b1": "b"}, "a1", stale={"a2"})
    ['a1', 'b1', 'a2']
    """
    rack = racks.get(reader) if reader is not None else None

    def distance(node: str) -> tuple[bool, int]:
        return node in stale, 0 if node == reader else 1 if racks[node] == rack else 2

    return sorted((node for node in replicas if node in racks and node not in corrupt), key=distance)


def repair_order(live: Mapping[int, int], wanted: int = REPLICATION) -> list[int]:
    """The blocks with fewer replicas than ``wanted``, in the order in which they are copied: one left first.

    ``live``: the replicas left of each block. One with none cannot be copied. Source: ``LowRedundancyBlocks``, whose
    queues are: one left; less than a third of the wanted; the rest.

    >>> repair_order({0: 2, 1: 1, 2: 3, 3: 0, 4: 2})
    [1, 0, 4]
    """

    def queue(block: int) -> int:
        return 0 if live[block] == 1 else 1 if live[block] * 3 < wanted else 2

    short = (block for block, count in live.items() if 0 < count < wanted)
    return sorted(short, key=lambda block: (queue(block), block))
