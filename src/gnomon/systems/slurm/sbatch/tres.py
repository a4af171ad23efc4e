"""``--tres-per-task=cpu:2,gres/gpu:a100:1`` (23.02 and later): CPUs and generic resources of each task.

Source: sbatch(1); ``_validate_tres_per_task`` of ``src/common/slurm_opt.c`` of Slurm 25.05.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from gnomon.systems.slurm.sbatch.gres import INVALID, gres
from gnomon.systems.slurm.sbatch.refusals import WRONG, error, fatal
from gnomon.systems.slurm.sbatch.request import GresRequest
from gnomon.systems.slurm.sbatch.settings import Settings

_NEVER = ("mem", "energy", "node", "billing", "fs", "vmem", "pages", "bb")


def tres_per_task(settings: Settings, known: Collection[str] | None) -> tuple[GresRequest, ...]:
    """The generic resources of a task; what it says of CPUs was taken by :func:`cpus_of_task`."""
    found: list[GresRequest] = []
    for part in _parts(settings):
        if part.startswith(("gres/", "gres:")):
            found.extend(gres(part[5:], known))
        elif not re.match("(cpu|license)", part):
            raise error(INVALID, WRONG)
    return tuple(found)


def cpus_of_task(settings: Settings) -> None:
    """Sets ``-c`` from ``--tres-per-task=cpu:n``. Raises :class:`RefusedError`."""
    for part in _parts(settings):
        for name in _NEVER:
            if part.startswith(name):
                raise fatal(f"Invalid TRES for --tres-per-task: {name}")
        matched = re.match("cpu[:=]([0-9]{1,9})?", part, re.ASCII)
        if matched is None:
            continue
        if settings.said("cpus-per-task") and settings.said("tres-per-task"):
            raise fatal("You can not have --tres-per-task=cpu= and --cpus-per-task please use one or the other")
        count = int(matched[1] or 0)
        if count <= 0:
            raise fatal(f"Invalid --tres-per-task=cpu={count}")
        settings.values["cpus-per-task"] = count


def _parts(settings: Settings) -> list[str]:
    return [part for part in (settings.get("tres-per-task") or "").lower().split(",") if part]
