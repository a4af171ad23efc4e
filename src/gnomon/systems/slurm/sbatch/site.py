"""What sbatch reads of slurm.conf before it submits.

Source: sbatch(1); ``gres_init`` and ``select_running_…`` of Slurm 22.05 to 25.05.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from gnomon.systems.slurm.config.conf import Conf
from gnomon.systems.slurm.sbatch.arrays import SIZE_MAX


@dataclass(frozen=True, slots=True)
class Site:
    """``gres_types``: GresTypes, None: any; ``tres_options``: whether SelectType takes ``--gpus`` and its like
    (cons_tres does); ``max_array_size``: MaxArraySize."""

    version: tuple[int, int] = (25, 5)
    gres_types: Collection[str] | None = None
    tres_options: bool = True
    max_array_size: int = SIZE_MAX


def site_of(conf: Conf) -> Site:
    """What a configuration says of it.

    >>> site_of(Conf((), (), {"grestypes": "gpu,shard"}, version=(22, 5)))
    Site(version=(22, 5), gres_types=frozenset({...}), tres_options=False, max_array_size=1001)
    """
    size = conf.number("maxarraysize")
    return Site(
        conf.version,
        conf.words("grestypes"),
        conf.text("selecttype").lower().endswith("cons_tres"),
        SIZE_MAX if size is None else min(size, SIZE_MAX),
    )
