"""The values of options that lay tasks out: ``-m``, ``-B``, ``--gres-flags``, ``--mail-type``.

Source: ``verify_dist_type``, ``verify_socket_core_thread_count`` and ``parse_gres_flags`` of ``proc_args.c``.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from gnomon.systems.slurm.sbatch.refusals import RefusedError, invalid
from gnomon.systems.slurm.sbatch.values import Place, c_integer

_OVER_NODES: Final = ("block", "cyclic", "arbitrary")
_WITHIN: Final = ("block", "cyclic", "fcyclic")
_PLANE: Final = "sbatch: error: Invalid plane size or size not specified\n"
_GRES_FLAGS: Final = {
    "disable-binding": (22, 5),
    "enforce-binding": (22, 5),
    "allow-task-sharing": (23, 11),
    "multiple-tasks-per-sharing": (23, 11),
    "one-task-per-sharing": (23, 11),
}
_MAIL: Final = (
    "NONE BEGIN END FAIL REQUEUE ALL INVALID_DEPEND STAGE_OUT TIME_LIMIT TIME_LIMIT_90 TIME_LIMIT_80 TIME_LIMIT_50 "
    "ARRAY_TASKS"
).split()


class Distribution(NamedTuple):
    """Of ``-m``: as sbatch writes it, and the size of a plane."""

    name: str
    plane: int | None = None


def distribution(value: str | None, place: Place) -> Distribution:
    """``-m nodes[:sockets[:cores]][,Pack|NoPack]``, ``plane=size``; ``*`` is the default of its level.

    >>> distribution("*:Block,NoPack", Place()).name
    'block:block,nopack'
    """
    levels, *packing = (value or "").lower().split(",")
    if len(packing) > 1 or any(one not in ("pack", "nopack") for one in packing):
        raise invalid("distribution")
    if levels in ("pack", "nopack") and not packing:
        return Distribution(levels)
    if levels.startswith("plane"):
        matched = re.fullmatch("plane=0*([1-9][0-9]{0,8})", levels, re.ASCII)
        if matched is None:
            complaint = invalid("distribution").refusal
            raise RefusedError(_PLANE + complaint.text, complaint.rc)
        return Distribution(",".join([f"plane={matched[1]}", *packing]), int(matched[1]))
    over, *within = levels.split(":")
    if over not in (*_OVER_NODES, "*") or len(within) > 2 or any(one not in (*_WITHIN, "*") for one in within):
        raise invalid("distribution")
    names = ["block" if over == "*" else over, *("cyclic" if one == "*" else one for one in within)]
    return Distribution(",".join([":".join(names), *packing]))


class Sockets(NamedTuple):
    """Of ``-B``: sockets of a node, cores of a socket, threads of a core, as far as they are said."""

    sockets: int | None
    cores: int | None
    threads: int | None


def extra_node_info(value: str | None, place: Place) -> Sockets:
    """``-B sockets[:cores[:threads]]``, ``*`` for any.

    >>> extra_node_info("2:*:1", Place())
    Sockets(sockets=2, cores=None, threads=1)
    """
    names = ("first", "second", "third")
    counts = [
        None if part in ("*", "") else c_integer(part, f"{name} arg of -B", least=1)
        for part, name in zip((value or "").split(":"), names, strict=False)
    ]
    sockets, cores, threads = (*counts, None, None, None)[:3]
    return Sockets(sockets, cores, threads)


def gres_flags(value: str | None, place: Place) -> tuple[str, ...]:
    """``--gres-flags``: one flag; several from 23.11 on."""
    flags = (value or "").lower().split(",") if place.version >= (23, 11) else [(value or "").lower()]
    if any(one not in _GRES_FLAGS or place.version < _GRES_FLAGS[one] for one in flags):
        raise invalid("gres-flags")
    return tuple(flags)


def mail_type(value: str | None, place: Place) -> str:
    """``--mail-type``: those that are known; without any it is refused."""
    known = [one for one in (value or "").upper().split(",") if one in _MAIL]
    if not known:
        raise invalid("mail-type")
    return ",".join(known)
