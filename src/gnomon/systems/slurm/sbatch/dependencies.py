"""Dependencies: ``afterok:1:2,afterany:3_4``, or ``afterok:1?afterok:2`` of which one is enough; ``singleton``.

Source: sbatch(1) ``--dependency``; ``update_job_dependency`` of ``slurmctld/job_scheduler.c`` of Slurm 22.05 to 25.05.
"""

from __future__ import annotations

import re
from typing import Final

from gnomon.systems.slurm.sbatch.refusals import rejected
from gnomon.systems.slurm.sbatch.request import Dependency

KINDS: Final = ("after", "afterany", "afterok", "afternotok", "aftercorr", "afterburstbuffer")
_JOB = re.compile(r"([0-9]{1,10})(?:_([0-9]{1,10}|\*))?(?:\+([0-9]{1,9}))?(?:\([^()]*\))?\Z", re.ASCII)


def dependencies(text: str) -> tuple[tuple[Dependency, ...], bool]:
    """The conditions, and whether one of them is enough. Raises :class:`RefusedError` in slurmctld's words.

    >>> dependencies("after:1+5?afterok:2_3")[0]
    (Dependency(kind='after', job=1, task=None, minutes=5), Dependency(kind='afterok', job=2, task=3, minutes=0))
    """
    if text in ("", "0"):
        return (), False
    if "?" in text and "," in text:
        raise rejected("Job dependency problem")
    found: list[Dependency] = []
    for part in re.split("[,?]", text):
        found.extend(_conditions(part))
    return tuple(found), "?" in text


def _conditions(part: str) -> list[Dependency]:
    kind, colon, jobs = part.strip().partition(":")
    kind = kind.lower()
    if kind.partition("(")[0] == "singleton" and not colon:
        return [Dependency("singleton")]
    if not colon and kind.isascii() and kind.isdigit() and len(kind) <= 10:
        return [Dependency("afterany", int(kind))]  # a bare job id, the oldest form
    if kind not in KINDS or not colon:
        raise rejected("Job dependency problem")
    found: list[Dependency] = []
    for job in jobs.split(":"):
        matched = _JOB.match(job)
        if matched is None or int(matched[1]) == 0:
            raise rejected("Job dependency problem")
        task = None if matched[2] in (None, "*") else int(matched[2])
        found.append(Dependency(kind, int(matched[1]), task, int(matched[3] or 0)))
    return found
