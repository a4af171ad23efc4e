"""What ``kubectl top`` prints: ``top pods``, with ``-A``, ``--containers``, ``--sum``, and ``top nodes``.

It is known by its header: that of nodes has columns of per cent. Source: ``pkg/metricsutil/metrics_printer.go`` of
kubectl (in 1.34 the per cent of nodes stand under ``CPU(%)`` and ``MEMORY(%)``, before under ``CPU%`` and ``MEMORY%``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from gnomon.model.errors import InputError, unknown_name
from gnomon.systems.kubernetes.api.objects import Pod
from gnomon.systems.kubernetes.api.quantity import format_quantity, parse_quantity

_CPU, _MEMORY = "CPU(cores)", "MEMORY(bytes)"
_AMOUNTS: Final = {_CPU: "cpu", _MEMORY: "memory"}
_PER_CENT: Final = ("CPU%", "CPU(%)", "MEMORY%", "MEMORY(%)")
_UNKNOWN: Final = "<unknown>"
"""Of a node that the metrics server has no sample of."""


@dataclass
class Top:
    """``pods``: by ``namespace/name`` what each uses (millicores, bytes); ``nodes``: the memory that each uses."""

    pods: dict[str, dict[str, int]] = field(default_factory=dict)
    nodes: dict[str, int] = field(default_factory=dict)
    gone: list[str] = field(default_factory=list)
    """Pods that are not there (any more, or yet)."""


@dataclass(frozen=True)
class _Row:
    """A line by the words of the header; ``file`` and ``line`` tell where it stands."""

    cells: Mapping[str, str]
    file: str
    line: int

    def amounts(self) -> dict[str, int]:
        found = {}
        for word, name in _AMOUNTS.items():
            said = self.cells.get(word, _UNKNOWN)
            if said != _UNKNOWN:
                try:
                    found[name] = parse_quantity(said, name)
                except ValueError as error:
                    raise InputError(str(error), file=self.file, line=self.line, field=word, found=said) from None
        return found


def is_top(header: str) -> bool:
    """Whether a file begins as what ``kubectl top`` prints does.

    >>> is_top("NAME   CPU(cores)   MEMORY(bytes)"), is_top("namespace,pod,cpu")
    (True, False)
    """
    return not {_CPU, _MEMORY}.isdisjoint(header.split())


def read_top(file: str, lines: Sequence[str], pods: Mapping[str, Pod], nodes: Mapping[str, int]) -> Top:
    """What the lines of a file say. ``pods``: by key, those that there are; ``nodes``: the memory of each
    (0: not known). Raises InputError."""
    header = lines[0].split()
    of_nodes = not set(header).isdisjoint(_PER_CENT)
    known = {"NAME", *_AMOUNTS, *(_PER_CENT if of_nodes else ("NAMESPACE", "POD"))}
    for word in header:
        if word not in known:
            raise InputError("not a column of kubectl top", file=file, line=1, field=word, allowed=", ".join(known))
    if "NAME" not in header:
        raise InputError("the column NAME is missing", file=file, line=1)
    by_name: dict[str, list[str]] = {}
    for key, pod in pods.items():
        by_name.setdefault(pod.name, []).append(key)
    top = Top()
    for row in _rows(file, header, lines):
        amounts = row.amounts()
        if of_nodes:
            _read_node(row, amounts, nodes, top)
            continue
        key = _key(row, by_name)
        if key not in pods:
            top.gone += [key] if key not in top.gone else []
            continue
        used = top.pods.setdefault(key, {})
        for name, amount in amounts.items():  # of all containers together
            used[name] = used.get(name, 0) + amount
    return top


def _read_node(row: _Row, amounts: Mapping[str, int], nodes: Mapping[str, int], top: Top) -> None:
    name, used = row.cells["NAME"], amounts.get("memory", 0)
    if name not in nodes:
        raise unknown_name("node", name, nodes).at(file=row.file, line=row.line, field="NAME")
    if nodes[name] and used > nodes[name]:
        allowed = f"up to the {format_quantity(nodes[name], 'memory')} that {name} has"
        found = row.cells[_MEMORY]
        raise InputError("too much", file=row.file, line=row.line, field=_MEMORY, found=found, allowed=allowed)
    if "memory" in amounts:
        top.nodes[name] = used


def _rows(file: str, header: Sequence[str], lines: Sequence[str]) -> Iterator[_Row]:
    for number, line in enumerate(lines[1:], 2):
        cells = line.split()
        if cells and all(set(cell) == {"_"} for cell in cells):
            return  # the sum follows
        if not cells:
            continue
        if len(cells) != len(header):
            problem = f"{len(header)} values are wanted, as in the header"
            raise InputError(problem, file=file, line=number, found=len(cells))
        yield _Row(dict(zip(header, cells, strict=True)), file, number)


def _key(row: _Row, by_name: Mapping[str, Sequence[str]]) -> str:
    """Whom a line is about, be it there or not. Without a namespace, as of one namespace alone, it is the one pod of
    that name."""
    word = "POD" if "POD" in row.cells else "NAME"
    name, namespace = row.cells[word], row.cells.get("NAMESPACE")
    found = [f"{namespace}/{name}"] if namespace is not None else list(by_name.get(name, ()))
    if len(found) > 1:
        problem = "pods of several namespaces have this name: print it with -A"
        raise InputError(problem, file=row.file, line=row.line, field=word, found=name, allowed=", ".join(found))
    return found[0] if found else name
