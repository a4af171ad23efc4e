"""``squeue``: default, ``-l``, ``-o``, ``-O``, ``--start``, ``-r``, ``-h``, chosen by ``-t -u -p -A -q -n -j``.

Rows are sorted by partition, state (by its short form) and priority; ``--start`` by the expected start. Source:
``src/squeue/opts.c``, ``sort.c`` of Slurm 22.05 to 25.05.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gnomon.systems.slurm.cluster.job import OVER
from gnomon.systems.slurm.cluster.state import State
from gnomon.systems.slurm.read.words import STATES
from gnomon.systems.slurm.views.formats import Clock, cells_of, cells_of_names, flags, option, table
from gnomon.systems.slurm.views.jobs import FIELDS, SHORT, Shown, shown_jobs

DEFAULT: Final = "%.18i %.9P %.8j %.8u %.2t %.10M %.6D %R"
LONG: Final = "%.18i %.9P %.8j %.8u %.8T %.10M %.9l %.6D %R"
START: Final = "%.18i %.9P %.8j %.8u %.2t %.19S %.6D %20Y %R"
_HEADERS: Final = {letter: header for letter, (header, _, _) in FIELDS.items()}
_NAMES: Final = {name: letter for letter, (_, name, _) in FIELDS.items()} | {"jobid": "A", "priority": "p"}
_VALUED: Final = "otuApqnjOSwM"


def squeue(state: State, args: Sequence[str], clock: Clock, now: str) -> str:
    """What squeue prints. ``now``: the moment as long listings begin with it. Raises InputError for a field that is not
    modelled."""
    alone = flags(args, _VALUED)
    start = "--start" in alone
    jobs = [
        one for one in shown_jobs(state, clock, split="-r" in alone or "--array" in alone) if _wanted(one, args, start)
    ]
    jobs.sort(key=_by_start if start else _by_rank)
    names = option(args, "-O", "--Format")
    text = option(args, "-o", "--format") or (START if start else LONG if {"-l", "--long"} & alone else DEFAULT)
    before, cells = ("", cells_of_names(names, _NAMES)) if names else cells_of(text)
    rows = [lambda field, one=one: FIELDS[field][2](one) for one in jobs]
    long = f"{now}\n" if {"-l", "--long"} & alone else ""
    return long + table(before, cells, _HEADERS, rows, header=not {"-h", "--noheader"} & alone)


def _wanted(one: Shown, args: Sequence[str], start: bool) -> bool:
    states = option(args, "-t", "--states", "--state")
    job = one.job
    if states is None:
        if job.state in OVER or (start and not job.pends):
            return False
    elif states.lower() != "all" and job.state not in {STATES.get(s.upper(), s.upper()) for s in states.split(",")}:
        return False
    for names, value in (
        (("-u", "--user"), job.user),
        (("-A", "--account"), job.account),
        (("-q", "--qos"), job.qos),
        (("-n", "--name"), job.request.name),
    ):
        said = option(args, *names)
        if said is not None and value not in said.split(","):
            return False
    partitions = option(args, "-p", "--partition")
    if partitions is not None and not set(partitions.split(",")) & {*job.partitions, job.partition}:
        return False
    ids = option(args, "-j", "--jobs", "--job")
    return ids is None or bool({one.id, job.name, str(job.id), str(job.order_id)} & set(ids.split(",")))


def _by_rank(one: Shown) -> tuple[str, str, int]:
    return FIELDS["P"][2](one), SHORT[one.job.state], -one.job.shown_priority


def _by_start(one: Shown) -> tuple[int, str, str, int]:
    start = one.start_ns
    return (2**62 if start is None else start, *_by_rank(one))
