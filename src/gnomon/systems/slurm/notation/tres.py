"""Trackable resources (TRES) in text: ``cpu=10,mem=4G,gres/gpu=2``.

Memory is in MiB. The order in which limits are tried is that of the numbers that slurmdbd gave the resources: first the
fixed ones, then those of AccountingStorageTRES. Source: ``slurmdb_format_tres_str``, ``TRES_ARRAY_*`` in
``src/common/slurmdb_defs.c`` and ``slurmdb.h``, Slurm 22.05 to 25.05.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from gnomon.model.errors import InputError
from gnomon.model.resources import MAX_AMOUNT

FIXED = ("cpu", "mem", "energy", "node", "billing", "fs/disk", "vmem", "pages")
"""The resources that are always tracked, in the order of their numbers (1 to 8)."""

_NUMBERS = tuple(str(number) for number, _ in enumerate(FIXED, 1))

UNSET = -1
"""The count that takes a limit away."""

_MULTIPLES = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4, "P": 5}
_COUNT = re.compile(r"(-?\d{1,18})([KMGTP]?)(?:i?B)?", re.IGNORECASE | re.ASCII)
_KINDS = ("gres/", "license/", "bb/", "fs/", "ic/")
_FORM = "name=count, for instance cpu=10,mem=4G,gres/gpu=2; -1 takes a limit away"


def parse_tres(text: str, *, field: str = "") -> dict[str, int]:
    """The counts of a list of resources; :data:`UNSET` where one is taken away.

    >>> parse_tres("cpu=10,Mem=4G,gres/gpu:a100=-1")
    {'cpu': 10, 'mem': 4096, 'gres/gpu:a100': -1}

    :raises InputError: something is not ``name=count``, or names no kind of resource.
    """
    counts: dict[str, int] = {}
    for part in text.strip().strip("'\"").split(","):
        if not part.strip():
            continue
        name, equals, count = part.partition("=")
        found = _COUNT.fullmatch(count.strip())
        if not (equals and name.strip() and found):
            raise InputError("not a count of a resource", field=field, found=part, allowed=_FORM)
        known = tres_name(name.strip())
        if not (known in FIXED or known.isdecimal() or known.startswith(_KINDS)):
            allowed = ", ".join([*FIXED, *(f"{kind}NAME" for kind in _KINDS)])
            raise InputError(f"no TRES known by type {name.strip()}", field=field, found=part, allowed=allowed)
        counts[known] = _number(known, int(found[1]), found[2].upper(), field)
    return counts


def tres_name(name: str) -> str:
    """A resource as Slurm names it: in lower case, a number of slurmdbd as the fixed resource that it stands for."""
    name = name.lower()
    if name in _NUMBERS:
        return FIXED[_NUMBERS.index(name)]
    return {"memory": "mem", "nodes": "node", "cpus": "cpu"}.get(name, name)


def _number(name: str, count: int, unit: str, field: str) -> int:
    if count < 0:
        if count == UNSET:
            return UNSET
        raise InputError("a count of a resource is negative", field=field, found=f"{name}={count}", allowed=_FORM)
    in_mib = name == "mem" or name.startswith("bb/")
    power = _MULTIPLES[unit or "M"] - _MULTIPLES["M"] if in_mib else _MULTIPLES[unit]
    amount = count * 1024**power if power >= 0 else -(-count // 1024**-power)
    if amount > MAX_AMOUNT:
        raise InputError("more than any cluster has", field=field, found=f"{name}={count}{unit}", allowed=_FORM)
    return int(amount)


def order_of(names: Iterable[str], tracked: Iterable[str] = ()) -> tuple[str, ...]:
    """The resources in Slurm's order: the fixed ones, those tracked as the configuration lists them, then the others.

    >>> order_of(["gres/gpu", "node"], ["gres/gpu", "license/matlab"])[-3:]
    ('pages', 'gres/gpu', 'license/matlab')
    """
    return tuple(dict.fromkeys([*FIXED, *(name.lower() for name in tracked), *sorted(names)]))


def format_tres(counts: Mapping[str, int], order: Iterable[str]) -> str:
    """The counts in that order as the tools print them, without units.

    >>> format_tres({"mem": 4096, "cpu": 10}, FIXED)
    'cpu=10,mem=4096'
    """
    return ",".join(f"{name}={counts[name]}" for name in order if name in counts)
