"""``sacct``: the default table, and ``-P``, ``-p``, ``-n``, ``-X`` with the common fields of ``-o``.

Steps are not modelled: rows are allocations, as with ``-X``. Source: ``src/sacct/print.c``, ``sacct.c`` of Slurm 22.05
to 25.05.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from gnomon.model.errors import unknown_name
from gnomon.systems.slurm.cluster.job import OVER, PENDING
from gnomon.systems.slurm.cluster.state import State
from gnomon.systems.slurm.notation.times import format_seconds
from gnomon.systems.slurm.read.words import STATES
from gnomon.systems.slurm.views.formats import Clock, flags, option, size, tres_text
from gnomon.systems.slurm.views.jobs import Shown, shown_jobs

DEFAULT: Final = "JobID,JobName,Partition,Account,AllocCPUS,State,ExitCode"


def _start(one: Shown) -> str:
    if one.job.state == PENDING:
        return "Unknown"
    return one.clock(one.start_ns if one.start_ns is not None else one.job.ended_ns)


def _end(one: Shown) -> str:
    end = one.end_ns
    return one.clock(end) if one.job.state in OVER and end is not None else "Unknown"


def _eligible(one: Shown) -> str:
    return "Unknown" if one.job.eligible_ns == -1 else one.clock(one.job.eligible_ns)


def _limit(one: Shown) -> str:
    return format_seconds(one.limit_s)


def _memory(one: Shown) -> str:
    return size(one.tres.get("mem", 0))


def _held(one: Shown) -> str:
    return tres_text(dict(sorted(one.tres.items())), ordered=()) if one.allocation is not None else ""


FIELDS: Final[Mapping[str, tuple[int, Callable[[Shown], str]]]] = {
    "Account": (10, lambda s: s.job.account),
    "AllocCPUS": (10, lambda s: str(s.cpus)),
    "AllocNodes": (10, lambda s: str(0 if s.allocation is None else len(s.allocation.nodes))),
    "AllocTRES": (10, _held),
    "Constraints": (19, lambda s: s.job.request.features),
    "CPUTimeRAW": (10, lambda s: str(s.ran_s * s.cpus)),
    "Elapsed": (10, lambda s: format_seconds(s.ran_s)),
    "ElapsedRaw": (10, lambda s: str(s.ran_s)),
    "Eligible": (19, _eligible),
    "End": (19, _end),
    "ExitCode": (8, lambda s: s.job.exit_code),
    "JobID": (-12, lambda s: s.id),
    "JobIDRaw": (-12, lambda s: str(s.job.id)),
    "JobName": (10, lambda s: s.job.request.name),
    "NCPUS": (10, lambda s: str(s.cpus)),
    "NNodes": (8, lambda s: str(s.node_count)),
    "NodeList": (15, lambda s: s.nodes or "None assigned"),
    "Partition": (10, lambda s: ",".join(s.job.partitions) if s.job.pends else s.job.partition),
    "Planned": (10, lambda s: format_seconds(_waited(s))),
    "Priority": (10, lambda s: str(s.job.shown_priority)),
    "QOS": (10, lambda s: s.job.qos),
    "Reason": (22, lambda s: s.reason),
    "ReqCPUS": (8, lambda s: str(s.job.request.cpus_min)),
    "ReqMem": (10, _memory),
    "ReqTRES": (10, lambda s: tres_text(dict(sorted(s.tres.items())), ordered=())),
    "Reservation": (20, lambda s: s.job.request.reservation),
    "Start": (19, _start),
    "State": (10, lambda s: s.job.state),
    "Submit": (19, lambda s: s.clock(s.job.submit_ns)),
    "Timelimit": (10, _limit),
    "TimelimitRaw": (13, lambda s: "" if s.limit_s is None else str(s.limit_s // 60)),
    "User": (9, lambda s: s.job.user),
}


def _waited(one: Shown) -> int:
    until = one.job.stints[0].start_ns if one.job.stints else one.state.now_ns
    return int(max(0, until - max(one.job.submit_ns, one.job.eligible_ns)) // 10**9)


_BY_NAME: Final = {name.lower(): name for name in FIELDS} | {"reserved": "Planned"}


def sacct(state: State, args: Sequence[str], clock: Clock) -> str:
    """What ``sacct -a -X`` prints. Raises InputError for a field that is not modelled."""
    alone = flags(args, "oSEuAjsqrM")
    fields = []
    for part in (option(args, "-o", "--format") or DEFAULT).split(","):
        name, _, width = part.partition("%")
        if name.lower() not in _BY_NAME:
            raise unknown_name("field of sacct", name, FIELDS)
        known = _BY_NAME[name.lower()]
        fields.append((known, int(width) if width.lstrip("-").isdigit() else FIELDS[known][0]))
    jobs = [one for one in shown_jobs(state, clock) if _wanted(one, args)]
    rows = [[FIELDS[name][1](one) for name, _ in fields] for one in jobs]
    titles = [name for name, _ in fields]
    parsable = {"-P", "--parsable2", "-p", "--parsable"} & alone
    if parsable:
        end = "|" if {"-p", "--parsable"} & alone else ""
        return "".join("|".join(row) + end + "\n" for row in ([] if "-n" in alone else [titles]) + rows)
    lines = [_line(row, fields) for row in rows]
    if not {"-n", "--noheader"} & alone:
        lines = [_line(titles, fields), "".join("-" * abs(width) + " " for _, width in fields), *lines]
    return "".join(line + "\n" for line in lines)


def _line(values: Sequence[str], fields: Sequence[tuple[str, int]]) -> str:
    cells = []
    for value, (_, width) in zip(values, fields, strict=True):
        most = abs(width)
        text = value if len(value) <= most else value[: most - 1] + "+"
        cells.append(text.ljust(most) if width < 0 else text.rjust(most))
    return "".join(cell + " " for cell in cells)


def _wanted(one: Shown, args: Sequence[str]) -> bool:
    users, accounts, ids = option(args, "-u", "--user"), option(args, "-A", "--accounts"), option(args, "-j", "--jobs")
    states = option(args, "-s", "--state")
    if states is not None:
        wanted = {STATES.get(word.upper(), word.upper()) for word in states.split(",")}
        if one.job.state not in wanted:
            return False
    return (
        (users is None or one.job.user in users.split(","))
        and (accounts is None or one.job.account in accounts.split(","))
        and (ids is None or bool({one.id, one.job.name, str(one.job.order_id)} & set(ids.split(","))))
    )
