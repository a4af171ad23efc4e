"""``sprio``: ``-l``, ``-n``, ``-w``, and the default, which shows the factors that have a weight.

Source: ``src/sprio/sprio.c``, ``opts.c`` and ``print.c`` of Slurm 22.05 to 25.05.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from gnomon.model.errors import InputError
from gnomon.systems.slurm.cluster.job import Job
from gnomon.systems.slurm.cluster.state import SECOND, State
from gnomon.systems.slurm.priority.formula import Factors, Weights
from gnomon.systems.slurm.priority.ranking import MultifactorRanking
from gnomon.systems.slurm.views.formats import flags, option
from gnomon.systems.slurm.views.sshare import PriorityRow, priority_table

_FACTORS: Final[tuple[tuple[str, str], ...]] = (
    ("AGE", "age"),
    ("ASSOC", "assoc"),
    ("FAIRSHARE", "fairshare"),
    ("JOBSIZE", "jobsize"),
    ("PARTITION", "partition"),
    ("QOS", "qos"),
)
_UNITS: Final = {"cpu": "CPU", "mem": "Mem", "energy": "Energy", "node": "Node", "billing": "Billing"}


def sprio(state: State, args: Sequence[str]) -> str:
    """What sprio prints of the waiting jobs. Raises InputError without priority/multifactor."""
    ranking = state.priorities
    if not isinstance(ranking, MultifactorRanking):
        raise InputError("sprio tells nothing without priority/multifactor", found="priority/basic")
    alone = flags(args, "juopM")
    if {"-w", "--weights"} & alone:
        return _weights(ranking.weights)
    users, jobs = option(args, "-u", "--user"), option(args, "-j", "--jobs")
    rows = [
        PriorityRow(str(job.order_id), name, job.user, _factors(state, ranking, job, name))
        for job in sorted(_waiting(state), key=lambda one: one.order_id)
        for name in job.partitions
        if (users is None or job.user in users.split(",")) and (jobs is None or str(job.order_id) in jobs.split(","))
    ]
    if {"-n", "--norm"} & alone:
        return priority_table(rows, weights=ranking.weights, normal=True)
    if {"-l", "--long"} & alone:
        return priority_table(rows)
    return _short(rows, ranking.weights)


def _factors(state: State, ranking: MultifactorRanking, job: Job, partition: str) -> Factors:
    """The factors as they were worked out last: at submission, or in the last PriorityCalcPeriod."""
    now = state.now_ns
    state.now_ns = min(now, max(job.submit_ns, (state.usage.last_s or 0) * SECOND))
    try:
        return ranking.factors(job, partition)
    finally:
        state.now_ns = now


def _waiting(state: State) -> list[Job]:
    """Those that wait and are not held; of an array one."""
    met: set[int] = set()
    found = []
    for job in state.pending:
        if job.priority and not job.fixed and job.order_id not in met:
            met.add(job.order_id)
            found.append(job)
    return found


def _used(weights: Weights) -> list[tuple[str, str]]:
    return [(header, name) for header, name in _FACTORS if getattr(weights, name)]


def _short(rows: Sequence[PriorityRow], weights: Weights) -> str:
    """The default: who, the priority, and the factors in use."""
    columns: list[tuple[str, int, Callable[[PriorityRow], str]]] = [
        ("PRIORITY", 10, lambda row: str(row.factors.priority)),
        ("SITE", 10, lambda row: str(row.factors.site)),
    ]
    for header, name in _used(weights):
        columns.append((header, 10, lambda row, name=name: f"{getattr(row.factors, name):.0f}"))  # type: ignore[misc]
    if weights.tres:
        columns.append(("TRES", 20, lambda row: ",".join(f"{n}={v:.0f}" for n, v in row.factors.tres.items() if v)))
    lines = [
        " ".join([f"{'JOBID':>15} {'PARTITION':<9}", *(f"{header[:size]:>{size}}" for header, size, _ in columns)])
    ]
    for row in rows:
        cells = (f"{value(row)[:size]:>{size}}" for _, size, value in columns)
        lines.append(" ".join([f"{row.job:>15} {row.partition[:9]:<9}", *cells]))
    return "\n".join(lines) + "\n"


def _weights(weights: Weights) -> str:
    """``-w``: the weights in use."""
    tres = ",".join(
        f"{_UNITS.get(name, name.replace('gres', 'GRES'))}={value:.0f}" for name, value in weights.tres.items()
    )
    columns = [("PRIORITY", "", 10), ("SITE", "1", 10)]
    columns += [(header, str(getattr(weights, name)), 10) for header, name in _used(weights)]
    columns += [("TRES", tres, 20)] if weights.tres else []
    titles = " ".join(f"{title[:size]:>{size}}" for title, _, size in columns)
    values = " ".join(f"{value[:size]:>{size}}" for _, value, size in columns)
    return f"{'JOBID':>15} {'PARTITION':<9} {titles}\n{'Weights':>15} {'':<9} {values}\n"
