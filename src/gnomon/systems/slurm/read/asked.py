"""What a job asked for, from what is told of it afterwards: resources by name, as sacct and scontrol print them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from gnomon.systems.slurm.read.jobs import GRES_ASK
from gnomon.systems.slurm.read.words import BY_PARTITION, UNLIMITED, size_mb, tres
from gnomon.systems.slurm.sbatch.request import GresRequest


@lru_cache(maxsize=65_536)
def resources(text: str) -> Mapping[str, int]:
    """Trackable resources, memory in MiB; kept, for many jobs ask for the same."""
    return tres(text)


def gres_of(asks: Mapping[str, int], share: int = 1) -> tuple[GresRequest, ...]:
    """The generic resources among trackable ones, of each of ``share`` nodes; of a kind with types, the types.

    >>> gres_of({"cpu": 4, "gres/gpu": 4, "gres/gpu:a100": 4}, 2)
    (GresRequest(name='gpu', type='a100', count=2),)
    """
    found: dict[str, dict[str, int]] = {}
    for name, count in asks.items():
        if name.startswith("gres/") and count:
            kind, _, kind_type = name.removeprefix("gres/").partition(":")
            found.setdefault(kind, {})[kind_type] = count
    made = []
    for kind, types in found.items():
        typed = {name: count for name, count in types.items() if name}
        rest = types.get("", 0) - sum(typed.values())
        if rest > 0:
            typed[""] = rest
        made += [GresRequest(kind, name, -(-count // share)) for name, count in typed.items()]
    return tuple(made)


def licenses_of(asks: Mapping[str, int]) -> tuple[tuple[str, int], ...]:
    """The licences among trackable resources."""
    return tuple((name.removeprefix("license/"), count) for name, count in asks.items() if name.startswith("license/"))


def gres_asks(text: str) -> tuple[GresRequest, ...]:
    """What squeue and scontrol say that a job asks of a node, or in all.

    >>> gres_asks("gres:gpu:a100:2,gres/shard=4")
    (GresRequest(name='gpu', type='a100', count=2), GresRequest(name='shard', type='', count=4))
    """
    found = []
    for part in text.split(","):
        matched = GRES_ASK.match(part.strip())
        if matched is not None and part.strip():
            found.append(GresRequest(matched["name"], matched["type"] or "", int(matched["count"] or 1)))
    return tuple(found)


_SUFFIX = re.compile(r"[0-9.]+[KMGTPE]?[iB]*([nc])\Z", re.IGNORECASE)


@lru_cache(maxsize=65_536)
def memory(text: str, cpus: int, nodes: int) -> tuple[str, int] | None:
    """ReqMem as a field of a request and MiB: a node's (``n``), a CPU's (``c``), or (from 21.08 on) the whole job's.

    >>> memory("4Gn", 8, 2), memory("2Gc", 8, 2), memory("16G", 8, 2), memory("16G", 8, 1)
    (('mem_per_node_mb', 4096), ('mem_per_cpu_mb', 2048), ('mem_per_cpu_mb', 2048), ('mem_per_node_mb', 16384))
    """
    size = size_mb(text)
    if size is None:
        return None
    suffix = _SUFFIX.match(text)
    if suffix:
        return ("mem_per_node_mb" if suffix[1].lower() == "n" else "mem_per_cpu_mb"), size
    if nodes <= 1 or not size:
        return "mem_per_node_mb", size
    return "mem_per_cpu_mb", -(-size // max(1, cpus))


def limit_min(seconds: int) -> int | None:
    """A limit as a request has it: minutes, rounded up; -1: unlimited; None: not known."""
    return None if seconds == BY_PARTITION else -1 if seconds == UNLIMITED else -(-seconds // 60)
