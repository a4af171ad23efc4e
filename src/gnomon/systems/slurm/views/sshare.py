"""Tables as ``sshare`` and ``sprio`` print them.

Source: ``src/sshare/process.c``, ``src/sprio/print.c``, ``src/sprio/opts.c``, ``print_fields_…`` in
``src/common/print_fields.c``, Slurm 22.05 to 25.05; compared with recorded output of 22.05.8.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from gnomon.systems.slurm.accounting.accounts import PARENT
from gnomon.systems.slurm.accounting.entries import Entry
from gnomon.systems.slurm.accounting.usage import Usage
from gnomon.systems.slurm.notation.tres import format_tres
from gnomon.systems.slurm.priority.classic import Classic
from gnomon.systems.slurm.priority.classic import factor as classic_factor
from gnomon.systems.slurm.priority.fair_tree import NO_VALUE, FairTree
from gnomon.systems.slurm.priority.formula import PRIORITY_MAX, Factors, Weights

FairShare = FairTree | Classic


# ------------------------------------------------------------------ sshare

_WIDTHS: Final = {
    "Account": -20,
    "User": 10,
    "RawShares": 10,
    "NormShares": 11,
    "RawUsage": 11,
    "NormUsage": 11,
    "EffectvUsage": 13,
    "FairShare": 10,
    "LevelFS": 10,
    "GrpTRESMins": 30,
    "TRESRunMins": 30,
}
_SHORT: Final = ("Account", "User", "RawShares", "NormShares", "RawUsage", "EffectvUsage", "FairShare")


def share_table(
    usage: Usage,
    fair: FairShare,
    *,
    long: bool = True,
    parsable: bool = False,
    users: Iterable[str] | None = None,
) -> str:
    """``sshare -a`` (``long``: ``-l``; ``parsable``: ``-P``). ``users``: only these (``-u``), None: all."""
    tree_order = isinstance(fair, FairTree)
    columns = [name for name in _WIDTHS if (long or name in _SHORT) and (tree_order or name != "LevelFS")]
    wanted = None if users is None else set(users)
    rows = [
        _share_row(depth, entry, usage, fair)
        for depth, entry in usage.tree.in_print_order()
        if not entry.user or wanted is None or entry.user in wanted
    ]
    if parsable:
        return "".join("|".join(row[name] for name in columns) + "\n" for row in ({n: n for n in columns}, *rows))
    header = "".join(_cell(name, _WIDTHS[name]) + " " for name in columns)
    rule = "".join("-" * abs(_WIDTHS[name]) + " " for name in columns)
    body = ("".join(_cell(row[name], _WIDTHS[name]) + " " for name in columns) for row in rows)
    return "\n".join([header, rule, *body]) + "\n"


def _share_row(depth: int, entry: Entry, usage: Usage, fair: FairShare) -> Mapping[str, str]:
    number, root = entry.number, entry.parent is None
    tree = usage.tree
    run = dict(zip(tree.tres, (seconds // 60 for seconds in usage.run_seconds(entry.used)), strict=True))
    if isinstance(fair, FairTree):
        factor = f"{fair.factor[number]:f}" if entry.user else ""
    else:
        effective = 1.0 if root else float(fair.effective[number])
        factor = f"{classic_factor(effective, entry.shares_norm, fair.dampening):f}"
    level = float(fair.level_fs[number])
    return {
        "Account": " " * depth + entry.account,
        "User": entry.user,
        "RawShares": "" if root else "parent" if entry.shares == PARENT else str(entry.shares),
        "NormShares": f"{entry.shares_norm:f}",
        "RawUsage": str(int(usage.raw[number])),
        "NormUsage": "" if root else f"{fair.norm[number]:f}",
        "EffectvUsage": "1.000000" if root else f"{fair.effective[number]:f}",
        "FairShare": factor,
        "LevelFS": "" if root or entry.shares == PARENT or level == NO_VALUE or math.isnan(level) else f"{level:f}",
        "GrpTRESMins": format_tres(entry.limits.grp_tres_mins, tree.tres),
        "TRESRunMins": format_tres(run, tree.tres),
    }


def _cell(text: str, width: int) -> str:
    """A column: to the left where the width is below 0; what is too long ends in +."""
    size = abs(width)
    text = text if len(text) <= size else text[: size - 1] + "+"
    return text.ljust(size) if width < 0 else text.rjust(size)


# ------------------------------------------------------------------ sprio


@dataclass(frozen=True, slots=True)
class PriorityRow:
    """A job in a partition, with its weighted factors."""

    job: str
    partition: str
    user: str
    factors: Factors


def priority_table(rows: Sequence[PriorityRow], *, weights: Weights | None = None, normal: bool = False) -> str:
    """``sprio -l``; ``normal``: ``sprio -n -l``, for which the ``weights`` are needed.

    >>> print(priority_table([PriorityRow("7", "batch", "alice", Factors(jobsize=187.5))]).splitlines()[1][:67])
                  7 batch        alice        187          0          0
    """
    lines = [_normal_header() if normal else _header()]
    for row in rows:
        lines.append(_normal_line(row, weights or Weights()) if normal else _line(row))
    return "\n".join(lines) + "\n"


def _header() -> str:
    names = ("PRIORITY", "SITE", "AGE", "ASSOC", "FAIRSHARE", "JOBSIZE", "PARTITION", "QOS")
    middle = " ".join(_right(name, 10) for name in names)
    return f"{_start('JOBID', 'PARTITION', 'USER')} {middle} {_right('NICE', 11)} {_right('TRES', 20)}"


def _line(row: PriorityRow) -> str:
    one = row.factors
    values = (one.age, one.assoc, one.fairshare, one.jobsize, one.partition, one.qos)
    middle = [str(one.priority), str(one.site), *(f"{value:.0f}" for value in values)]
    tres = ",".join(f"{name}={value:.0f}" for name, value in one.tres.items() if value)
    cells = " ".join(_right(text, 10) for text in middle)
    return f"{_start(row.job, row.partition, row.user)} {cells} {_right(str(one.nice), 11)} {_right(tres, 20)}"


def _normal_header() -> str:
    names = ("PRIORITY", "AGE", "ASSOC", "FAIRSHARE", "JOBSIZE", "PARTITION", "QOS")
    return " ".join([_start("JOBID", "PARTITION", "USER"), *(name.ljust(10) for name in names), "TRES".ljust(20)])


def _normal_line(row: PriorityRow, weights: Weights) -> str:
    one = row.factors
    pairs = (
        (one.age, weights.age),
        (one.assoc, weights.assoc),
        (one.fairshare, weights.fairshare),
        (one.jobsize, weights.jobsize),
        (one.partition, weights.partition),
        (one.qos, weights.qos),
    )
    total = sum((value for value, _ in pairs), 0.0) + float(one.site) - float(one.nice) + sum(one.tres.values())
    cells = [f"{max(total, 1.0) / PRIORITY_MAX:16.14f}"[:10]]
    cells += [f"{value / weight if weight else 0.0:.7f}".ljust(10) for value, weight in pairs]
    tres = ",".join(f"{name}={value / weights.tres[name]:.2f}" for name, value in one.tres.items() if value)
    return " ".join([_start(row.job, row.partition, row.user), *cells, tres[:20].ljust(20)])


def _start(job: str, partition: str, user: str) -> str:
    return f"{_right(job, 15)} {partition[:9].ljust(9)} {_right(user, 8)}"


def _right(text: str, width: int) -> str:
    return text[:width].rjust(width)
