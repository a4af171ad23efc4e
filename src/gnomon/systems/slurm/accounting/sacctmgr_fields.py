"""The options of sacctmgr: their names, the shortest form that is understood, and what they set.

An option may be cut short to so many letters as sacctmgr asks for; of several that fit, the first in its own order is
meant, so that ``MaxJobs`` of a QOS is MaxJobsPerUser. Source: ``sacctmgr_set_assoc_rec`` in ``src/sacctmgr/common.c``,
``_set_rec`` in ``src/sacctmgr/qos_functions.c``, Slurm 22.05 to 25.05; the columns: sacctmgr(1).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Final, NamedTuple, TypeVar

from gnomon.model.errors import InputError
from gnomon.systems.slurm.accounting.accounts import PARENT, Association, Limits, Qos
from gnomon.systems.slurm.notation.times import limit_seconds
from gnomon.systems.slurm.notation.tres import UNSET, parse_tres

SHARES_PARENT = 2**31 - 1
"""How a dump writes Fairshare=parent (SLURMDB_FS_USE_PARENT)."""


class Option(NamedTuple):
    """An option: its full name, the least letters, the field, and what its text is: count, wall (minutes), tres, the
    one resource that it counts, or a kind of its own."""

    full: str
    least: int
    field: str
    kind: str


def _options(table: str) -> tuple[Option, ...]:
    rows = [line.split() for line in table.splitlines() if line.strip()]
    return tuple(Option(full, int(least), field, kind) for full, least, field, kind in rows)


_GROUP = """
    GrpCPUMins 7 grp_tres_mins cpu
    GrpCPURunMins 7 grp_tres_run_mins cpu
    GrpCPUs 7 grp_tres cpu
    GrpJobs 4 grp_jobs count
    GrpMemory 4 grp_tres mem
    GrpNodes 4 grp_tres node
    GrpSubmitJobs 4 grp_submit count
    GrpTRES 7 grp_tres tres
    GrpTRESMins 8 grp_tres_mins tres
    GrpTRESRunMins 8 grp_tres_run_mins tres
    GrpWall 4 grp_wall_min wall
"""
ASSOCIATION_OPTIONS = _options(
    "DefaultQOS 8 default_qos name\nFairshare 1 shares shares\nShares 1 shares shares"
    + _GROUP
    + """
    MaxCPUMinsPerJob 7 max_tres_mins_per_job cpu
    MaxCPUsPerJob 7 max_tres_per_job cpu
    MaxJobs 4 max_jobs count
    MaxNodesPerJob 4 max_tres_per_job node
    MinPrioThresh 4 min_prio_threshold number
    MinPrioThreshold 4 min_prio_threshold number
    MaxSubmitJobs 4 max_submit count
    MaxTRESPerJob 7 max_tres_per_job tres
    MaxTRESPJ 9 max_tres_per_job tres
    MaxTRESPerNode 11 max_tres_per_node tres
    MaxTRESPN 9 max_tres_per_node tres
    MaxTRESMinsPerJob 8 max_tres_mins_per_job tres
    MaxTRESMinsPJ 13 max_tres_mins_per_job tres
    MaxWallDurationPerJob 4 max_wall_min wall
    Parent 1 parent name
    Priority 3 priority number
    QosLevel 1 qos qos
    RawUsage 7 usage usage
"""
)
QOS_OPTIONS = _options(
    "Flags 2 flags flags\nGraceTime 3 grace_s seconds"
    + _GROUP
    + """
    LimitFactor 6 limit_factor factor
    MaxCPUMinsPerJob 7 max_tres_mins_per_job cpu
    MaxCPUsPerJob 7 max_tres_per_job cpu
    MaxCPUsPerUser 11 max_tres_per_user cpu
    MaxCPUsPU 9 max_tres_per_user cpu
    MaxJobsPerAccount 11 max_jobs_per_account count
    MaxJobsPA 9 max_jobs_per_account count
    MaxJobsPerUser 4 max_jobs_per_user count
    MaxJobsPU 4 max_jobs_per_user count
    MaxNodesPerJob 4 max_tres_per_job node
    MaxNodesPerUser 8 max_tres_per_user node
    MaxNodesPU 8 max_tres_per_user node
    MaxSubmitJobsPerAccount 17 max_submit_per_account count
    MaxSubmitJobsPA 15 max_submit_per_account count
    MaxSubmitPA 11 max_submit_per_account count
    MaxSubmitJobsPerUser 4 max_submit_per_user count
    MaxSubmitJobsPU 4 max_submit_per_user count
    MaxSubmitPU 4 max_submit_per_user count
    MaxTRESPerAccount 11 max_tres_per_account tres
    MaxTRESPA 9 max_tres_per_account tres
    MaxTRES 7 max_tres_per_job tres
    MaxTRESPJ 9 max_tres_per_job tres
    MaxTRESPerJob 11 max_tres_per_job tres
    MaxTRESPerNode 11 max_tres_per_node tres
    MaxTRESPN 9 max_tres_per_node tres
    MaxTRESPerUser 11 max_tres_per_user tres
    MaxTRESPU 9 max_tres_per_user tres
    MaxTRESMinsPerJob 8 max_tres_mins_per_job tres
    MaxTRESMinsPJ 13 max_tres_mins_per_job tres
    MaxTRESRunMinsPerAccount 24 max_tres_run_mins_per_account tres
    MaxTRESRunMinsPerAcct 20 max_tres_run_mins_per_account tres
    MaxTRESRunMinsPA 16 max_tres_run_mins_per_account tres
    MaxTRESRunMinsPerUser 20 max_tres_run_mins_per_user tres
    MaxTRESRunMinsPU 16 max_tres_run_mins_per_user tres
    MaxWallDurationPerJob 4 max_wall_min wall
    MinCPUsPerJob 7 min_tres_per_job cpu
    MinPrioThresh 4 min_prio_threshold number
    MinPrioThreshold 4 min_prio_threshold number
    MinTRESPerJob 7 min_tres_per_job tres
    PreemptMode 8 preempt_mode mode
    Preempt 7 preempt preempt
    PreemptExemptTime 8 exempt_s seconds
    Priority 3 priority number
    UsageFactor 6 usage_factor factor
    UsageThreshold 6 usage_threshold factor
"""
)
QOS_FLAGS = (
    "DenyOnLimit EnforceUsageThreshold NoDecay NoReserve OverPartQOS PartitionMaxNodes PartitionMinNodes "
    "PartitionQOS PartitionTimeLimit Relative RequiresReservation UsageFactorSafe"
).split()


def find_option(options: Iterable[Option], name: str) -> Option | None:
    """The option that a name, perhaps cut short, in any case, means.

    >>> find_option(QOS_OPTIONS, "maxjobs").field, find_option(ASSOCIATION_OPTIONS, "fair").field
    ('max_jobs_per_user', 'shares')
    """
    return next((option for option in options if means(name, option.full, option.least)), None)


def means(name: str, full: str, least: int) -> bool:
    """Whether a name is this word cut short to no less than so many letters, in any case."""
    return len(name) >= least and full.lower().startswith(name.lower())


# ------------------------------------------------------------------ values


_DIGITS_MAX: Final = 18  # below 64 bits


def parse_count(text: str, *, field: str) -> int | None:
    """A count; -1, or nothing: no limit.

    :raises InputError: it is not a whole number.
    """
    text = text.strip().strip("'\"")
    if text in ("", "-1") or text.upper() in ("INFINITE", "UNLIMITED"):
        return None
    if not text.isascii() or not text.isdigit() or len(text) > _DIGITS_MAX:
        raise InputError("not a whole number", field=field, found=text, allowed="a number, or -1 for no limit")
    return int(text)


def parse_factor(text: str, *, field: str) -> float | None:
    """A number with a fraction; -1, or nothing: not set.

    :raises InputError: it is not a number.
    """
    text = text.strip().strip("'\"")
    if text in ("", "-1"):
        return None
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InputError("not a number", field=field, found=text, allowed="for instance 0.5, or -1 for none")
    return None if value == -1 else value


def parse_seconds(text: str, *, field: str) -> int | None:
    """A time as Slurm's tools write it, in seconds; -1, or nothing: no limit.

    >>> parse_seconds("1-00:30:00", field="MaxWall"), parse_seconds("5", field="MaxWall")
    (88200, 300)

    :raises InputError: it is no time.
    """
    text = text.strip().strip("'\"")
    try:
        return limit_seconds(text) if text else None
    except InputError as error:
        raise error.at(field=field) from None


_Record = TypeVar("_Record", Limits, Association, Qos)


def _with(record: _Record, field: str, value: Any) -> _Record:
    return replace(record, **{field: value})


def _grace(text: str, field: str) -> int | None:
    # a bare number is seconds here (get_uint), and so is what ``show`` prints as H:M:S
    return parse_count(text, field=field) if ":" not in text else parse_seconds(text, field=field)


# ------------------------------------------------------------------ setting


def change_limits(limits: Limits, option: Option, text: str) -> Limits:
    """The limits with the one that the option names set, or taken away by -1.

    >>> find = find_option(ASSOCIATION_OPTIONS, "GrpTRES")
    >>> dict(change_limits(Limits(grp_tres={"mem": 5}), find, "cpu=10,mem=-1").grp_tres)
    {'cpu': 10}
    """
    name, field = option.full, option.field
    if option.kind == "count":
        return _with(limits, field, parse_count(text, field=name))
    if option.kind == "wall":
        seconds = parse_seconds(text, field=name)
        return _with(limits, field, None if seconds is None else -(-seconds // 60))
    if option.kind == "tres":
        counts = parse_tres(text, field=name)
    else:
        count = parse_count(text, field=name)
        counts = {option.kind: UNSET if count is None else count}
    kept = {**getattr(limits, field), **counts}
    return _with(limits, field, {key: count for key, count in kept.items() if count != UNSET})


def change_association(association: Association, option: Option, sign: str, text: str) -> Association:
    """The association with one option set. ``sign``: "+" or "-" where a QOS is added or taken away."""
    name, field, text = option.full, option.field, text.strip().strip("'\"")
    if hasattr(association.limits, field):
        return replace(association, limits=change_limits(association.limits, option, text))
    if field == "shares":
        return replace(association, shares=_shares(text, name))
    if option.kind == "number":
        return _with(association, field, parse_count(text, field=name))
    if field == "default_qos":
        return replace(association, default_qos="" if text == "-1" else text.lower())
    if field == "parent":
        return replace(association, parent=text.lower())
    return _change_qos_list(association, sign, text) if field == "qos" else association


def _shares(text: str, name: str) -> int:
    if means(text, "parent", 1) or text == str(SHARES_PARENT):
        return PARENT
    shares = parse_count(text, field=name)
    return 1 if shares is None else shares


def _change_qos_list(association: Association, sign: str, text: str) -> Association:
    names = [name.strip().lower() for name in text.split(",") if name.strip()]
    if not sign and all(name[0] not in "+-" for name in names):
        return replace(association, qos=frozenset(names), qos_delta=())
    qos, delta = set(association.qos), dict.fromkeys(association.qos_delta)
    for name in names:
        mark, plain = (name[0], name[1:]) if name[0] in "+-" else (sign or "+", name)
        if qos:  # it has a list of its own, which is changed
            (qos.add if mark == "+" else qos.discard)(plain)
        else:
            delta.pop(("-" if mark == "+" else "+") + plain, None)
            delta[mark + plain] = None
    return replace(association, qos=frozenset(qos), qos_delta=tuple(delta))


def change_qos(qos: Qos, option: Option, sign: str, text: str) -> Qos:
    """The QOS with one option set.

    >>> change_qos(Qos("low"), find_option(QOS_OPTIONS, "PreemptMode"), "", "Requeue").preempt_mode
    'REQUEUE'
    """
    name, field, text = option.full, option.field, text.strip().strip("'\"")
    if hasattr(qos.limits, field):
        return replace(qos, limits=change_limits(qos.limits, option, text))
    if option.kind == "mode":
        return replace(qos, preempt_mode="" if text.lower() in ("cluster", "-1") else text.upper())
    if option.kind in ("preempt", "flags"):
        return _with(qos, field, _names(getattr(qos, field), sign, text, name))
    if field == "exempt_s":
        return replace(qos, exempt_s=parse_seconds(text, field=name))
    if field == "grace_s":
        return replace(qos, grace_s=_grace(text, name) or 0)
    if option.kind == "factor":
        value = parse_factor(text, field=name)
        return _with(qos, field, 1.0 if value is None and field == "usage_factor" else value)
    number = parse_count(text, field=name)
    return _with(qos, field, 0 if number is None and field == "priority" else number)


def _names(old: frozenset[str], sign: str, text: str, option: str) -> frozenset[str]:
    if text == "-1":
        return frozenset()
    names = [name.strip() for name in text.split(",") if name.strip()]
    if option == "Flags":
        names = [_flag(name) for name in names]
    else:
        names = [name.lower() for name in names]
    return old.union(names) if sign == "+" else old.difference(names) if sign == "-" else frozenset(names)


def _flag(name: str) -> str:
    found = next((flag for flag in QOS_FLAGS if means(name, flag, min(len(flag), 4))), None)
    if found is None:
        raise InputError("no such flag of a QOS", field="Flags", found=name, allowed=", ".join(QOS_FLAGS))
    return found
