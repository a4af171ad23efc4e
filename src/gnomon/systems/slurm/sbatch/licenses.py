"""Licenses of a request: ``matlab:2,ansys``; from 25.05 on ``a|b``, of which one is enough.

Source: sbatch(1) ``--licenses``; ``_build_license_list`` of ``slurmctld/licenses.c``.
"""

from __future__ import annotations

import re

from gnomon.systems.slurm.sbatch.refusals import rejected

_LICENSE = re.compile(r"([^:=]+)(?:[:=]([0-9]{1,10}))?\Z", re.ASCII)


def licenses(text: str) -> tuple[tuple[tuple[str, int], ...], bool]:
    """Names with counts, and whether one of them is enough. Raises :class:`RefusedError` in slurmctld's words.

    >>> licenses("matlab:2,ansys@db")
    ((('matlab', 2), ('ansys@db', 1)), False)
    """
    if "|" in text and re.search("[,;]", text):
        raise rejected("Invalid license specification")
    found: dict[str, int] = {}
    for part in filter(None, re.split("[,;|]", text)):
        matched = _LICENSE.match(part)
        count = int(matched[2] or 1) if matched else 0
        if matched is None or count <= 0:
            raise rejected("Invalid license specification")
        found[matched[1]] = found.get(matched[1], 0) + count
    return tuple(found.items()), "|" in text
