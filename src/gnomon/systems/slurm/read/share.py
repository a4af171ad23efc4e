"""Usage and numbers of the scheduler: ``sshare``, ``scontrol show assoc_mgr``, ``sdiag``.

Source: ``src/sshare/process.c``, ``_print_assoc_mgr_info`` of ``src/scontrol/info_assoc_mgr.c``,
``src/sdiag/sdiag.c``, Slurm 22.05 to 25.05.
"""

from __future__ import annotations

import re
from typing import Final

from gnomon.model.errors import InputError
from gnomon.systems.slurm.read.tables import read_table

Usage = dict[tuple[str, str, str], float]
"""Raw usage by account, user and partition."""
_ASSOCIATION: Final = re.compile(r"^ClusterName=(\S*) Account=(\S*) UserName=(\S*) Partition=(\S*)", re.MULTILINE)
_WHOLE: Final = re.compile(r"\d{1,20}\Z", re.ASCII)
_USAGE: Final = re.compile(r"^\s+UsageRaw/Norm/Efctv=(\d{1,20}(?:\.\d*)?)", re.MULTILINE | re.ASCII)


def read_sshare(text: str, *, file: str | None = None) -> Usage:
    """The raw usage of users that sshare shows (``-a``), and of accounts without users. Raises InputError.

    >>> read_sshare("Account|User|RawUsage\\nroot||9\\n phys||9\\n  phys|eve|9\\n")[("phys", "eve", "")]
    9.0
    """
    table = read_table(text, file=file)
    if not {"Account", "RawUsage"} <= set(table.names):
        raise InputError("not a table of sshare", file=file, line=1, found=", ".join(table.names))
    found: Usage = {}
    for row, line in zip(table.rows, table.lines, strict=True):
        raw = row["RawUsage"]
        if not _WHOLE.match(raw):
            raise InputError("not a number", file=file, line=line, field="RawUsage", found=raw)
        found[row["Account"], row.get("User", ""), row.get("Partition", "")] = float(raw)
    return found


def read_assoc_mgr(text: str, *, file: str | None = None) -> Usage:
    """The raw usage of associations as slurmctld holds it. Raises InputError."""
    found: Usage = {}
    marks = list(_ASSOCIATION.finditer(text))
    if not marks:
        raise InputError("no associations stand in it", file=file, allowed="the output of scontrol show assoc_mgr")
    for mark, after in zip(marks, [*[one.start() for one in marks[1:]], len(text)], strict=True):
        usage = _USAGE.search(text, mark.end(), after)
        if usage is not None:
            found[mark[2], mark[3].partition("(")[0], mark[4]] = float(usage[1])
    return found
