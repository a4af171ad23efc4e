"""Spark's rules and their constants, as a composition of :mod:`gnomon.control.batch`.

Defaults are those of the configuration registry of 4.3.0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gnomon.scheduling.pools import DEFAULT, FAIR, Pool


def pools_of(declared: Sequence[Pool] | None, version: str = "") -> Mapping[str, Pool]:
    """The pools of FAIR mode by name. ``declared``: those of the allocation file, None: there is none. Then all jobs
    are in the pool ``default``, which from 4.0 on is fair inside (seen in 4.3.0), and was FIFO before.

    >>> pools_of(None, "4.3.0")["default"].mode, pools_of(None, "3.5.1"), pools_of([], "4.3.0")
    ('FAIR', {}, {})
    """
    if declared is not None:
        return {pool.name: pool for pool in declared}
    return {DEFAULT: Pool(DEFAULT, mode=FAIR)} if major(version) >= 4 else {}


def major(version: str) -> int:
    """The first number of a version; of none, that of the version that is modelled.

    >>> major("3.5.1"), major("")
    (3, 4)
    """
    first = version.partition(".")[0]
    return int(first) if first.isdigit() else 4
