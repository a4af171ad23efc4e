"""Outages of nodes as a trace tells them, as columns, and as the faults of a scenario."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gnomon.model.cluster import Cluster
from gnomon.model.errors import InputError
from gnomon.model.fault import Failure, Fault
from gnomon.model.resources import NEVER
from gnomon.model.work import IntArray, Note

_Span = tuple[int, int, int]
"""A node, and from when to when it is away."""


@dataclass(frozen=True)
class Outages:
    """Outages in the order of the trace; times in ns from the trace's beginning.

    - ``names``: of all nodes, also of those that never failed. ``first_ns``, ``last_ns``: while each was watched.
    - ``node``: whose outage it is, an index; ``begin_ns``, ``end_ns`` (NEVER: it is not over when the trace ends);
      those of one node may overlap. ``cause``: index into ``causes``, "" where none is given.
    - ``window_ns``: how long the trace is; ``records``: how many rows it has.
    - ``notes``: what the reader left out or took for granted.
    """

    names: tuple[str, ...]
    first_ns: IntArray
    last_ns: IntArray
    node: IntArray
    begin_ns: IntArray
    end_ns: IntArray
    causes: tuple[str, ...]
    cause: IntArray
    window_ns: int
    records: int
    notes: tuple[Note, ...] = ()
    source: str = ""

    def __len__(self) -> int:
        return len(self.node)

    def down_share(self) -> float:
        """The part of the time in which nodes were watched that they were away."""
        first, last = self.first_ns.tolist(), self.last_ns.tolist()
        away = sum(max(0, min(end, last[node]) - max(begin, first[node])) for node, begin, end in _merged(self)[0])
        watched = sum((self.last_ns - self.first_ns).tolist())  # beyond 64 bits for a thousand nodes and years
        return float(away / max(1, watched))


def failures_of(
    outages: Outages,
    cluster: Cluster,
    *,
    offset_ns: int = 0,
    window_ns: int | None = None,
    kind: Fault = Fault.CRASH,
) -> tuple[Failure, ...]:
    """The outages as faults of a cluster's nodes, in the order of their times: node i of the trace is node i here.

    Time 0 is the trace's ``offset_ns``, and what begins ``window_ns`` or more after it is left out (None: nothing is);
    an outage that has begun before counts from 0, one that is not over at the end goes on. Outages of one node that
    overlap or touch are one; one without a length is none. What the trace says of nodes beyond the cluster's last is
    left out; nodes that the trace does not know never fail. :func:`notes_of` counts all of this.

    Raises InputError for a pool, which has no single nodes, and for times below zero.

    >>> from gnomon.traces.failures import read
    >>> from gnomon.model.cluster import Node
    >>> from gnomon.model.resources import NOTHING
    >>> outages = read("tests/data/traces/google-machine-events.csv")
    >>> [(f.targets, f.at_ns, f.for_ns) for f in failures_of(outages, Cluster((Node("a", NOTHING),)))]
    [(('node/a',), 60000000000, 40000000000)]
    """
    _check(cluster, offset_ns, window_ns)
    names = [f"node/{node.name}" for node in cluster.nodes]
    spans, _ = _merged(outages, nodes=len(names))
    return tuple(
        Failure(kind, begin, NEVER if end >= NEVER else end - begin, (names[node],))
        for begin, node, end in sorted((b, n, e) for n, b, e in _cut(spans, offset_ns, window_ns))
    )


def notes_of(
    outages: Outages, cluster: Cluster, *, offset_ns: int = 0, window_ns: int | None = None
) -> tuple[Note, ...]:
    """What :func:`failures_of`, asked for the same, leaves out or joins; the reader's own notes are not among them."""
    _check(cluster, offset_ns, window_ns)
    nodes = len(cluster.nodes)
    spans, merged = _merged(outages, nodes=nodes)
    inside = outages.node < nodes
    kept = list(_cut(spans, offset_ns, window_ns))
    began = sum(begin < offset_ns < end for _, begin, end in spans)
    unwatched = int(((outages.first_ns[:nodes] > 0) | (outages.last_ns[:nodes] < outages.window_ns)).sum())
    beyond = f"outages of the trace's nodes beyond the {nodes} of the cluster ({len(outages.names)} in the trace)"
    found = (
        Note("not modelled", "node", f"{beyond}: left out", int((~inside).sum())),
        Note(
            "default",
            "node",
            "nodes of the cluster that the trace does not know: never fail",
            nodes - len(outages.names),
        ),
        Note("not modelled", "end", "outages without a length: left out", int((inside & _empty(outages)).sum())),
        Note("guess", "begin", "outages that overlap or touch one of the same node: joined with it", merged),
        Note("not modelled", "begin", "outages outside the part of the trace that is used", len(spans) - len(kept)),
        Note("guess", "begin", "outages under way where the part that is used begins: counted from there", began),
        Note("guess", "node", "nodes that were not watched all the time: up while they were not", unwatched),
    )
    return tuple(note for note in found if note.count > 0)


def _check(cluster: Cluster, offset_ns: int, window_ns: int | None) -> None:
    if cluster.pool:
        raise InputError("a pool of processors has no nodes that a trace of outages could speak of", field="cluster")
    for field, value in (("offset_ns", offset_ns), ("window_ns", window_ns)):
        if value is not None and value < 0:
            raise InputError("a time below zero", field=field, found=value, allowed="0 or more")


def _empty(outages: Outages) -> np.typing.NDArray[np.bool_]:
    return outages.end_ns <= outages.begin_ns


def _merged(outages: Outages, *, nodes: int | None = None) -> tuple[list[_Span], int]:
    """The outages of the first ``nodes`` nodes (None: all) by node and time, none of no length, those that meet
    joined; and how many were joined with an earlier one."""
    kept = ~_empty(outages)
    if nodes is not None:
        kept &= outages.node < nodes
    order = np.lexsort((outages.end_ns[kept], outages.begin_ns[kept], outages.node[kept]))
    columns = (column[kept][order].tolist() for column in (outages.node, outages.begin_ns, outages.end_ns))
    spans: list[_Span] = []
    for node, begin, end in zip(*columns, strict=True):
        if spans and spans[-1][0] == node and begin <= spans[-1][2]:
            spans[-1] = (node, spans[-1][1], max(end, spans[-1][2]))
        else:
            spans.append((node, begin, end))
    return spans, len(order) - len(spans)


def _cut(spans: list[_Span], offset_ns: int, window_ns: int | None) -> Iterator[_Span]:
    """The spans of a part of the trace, from its beginning."""
    until = NEVER if window_ns is None else offset_ns + window_ns
    for node, begin, end in spans:
        if end > offset_ns and begin < until:
            yield node, max(0, begin - offset_ns), NEVER if end >= NEVER else end - offset_ns
