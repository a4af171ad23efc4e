"""Who got how much, and who overtook whom."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gnomon.insight.history import FloatArray, History
from gnomon.insight.usage import Steps
from gnomon.model.resources import NEVER
from gnomon.model.work import IntArray


def jain_index(amounts: FloatArray) -> float | None:
    """Jain's fairness index, (sum x)^2 / (n sum x^2): 1 when all get the same, 1/n when one gets all; None of nobody.

    Jain, Chiu, Hawe, "A quantitative measure of fairness and discrimination for resource allocation in shared computer
    systems", DEC-TR-301, 1984.

    >>> jain_index(np.array([1.0, 1.0, 1.0, 1.0])), jain_index(np.array([5.0, 0.0])), jain_index(np.array([1.0, 3.0]))
    (1.0, 0.5, 0.8)
    """
    squares = float((amounts**2).sum())
    if not len(amounts):
        return None
    return float(amounts.sum()) ** 2 / (len(amounts) * squares) if squares else 1.0


def served(past: History, by: str) -> FloatArray:
    """For every tenant with a demand, how much of it was served: usage over time / demand over time, from 0 to 1.

    A tenant demands, at any time, what all its tasks ask for that have arrived and are not over; it uses what those of
    them that hold a place ask for. Both are summed up over time, in dominant shares. A task that never waits is served
    fully; one that waits as long as it runs is served by half. ``by``: "user" or "queue".
    """
    work, stays = past.scenario.work, past.attempts
    task_share = past.dominant[work.shape]
    tenant, tenants = _tenants(past, by)
    until = np.minimum(past.outcome.end_ns, past.end_ns)
    present = np.where(past.accepted, np.maximum(until - past.submit_ns, 0), 0)
    demand = np.bincount(tenant, task_share * present, minlength=len(tenants))
    use = np.bincount(tenant[stays.task], task_share[stays.task] * past.held_ns, minlength=len(tenants))
    asked = demand > 0
    return use[asked] / demand[asked]


@dataclass(frozen=True)
class DominantShares:
    """The dominant share of each tenant over time: the largest part of any of the cluster's resources that it holds.

    ``tenants``: the names of those who ever held something; ``mean`` over the time observed and ``peak``: theirs.
    ``series(name)``: one tenant's share over time.
    """

    tenants: tuple[str, ...]
    mean: FloatArray
    peak: FloatArray
    _first: IntArray
    _t_ns: IntArray
    _share: FloatArray

    def series(self, tenant: str) -> Steps:
        """One tenant's dominant share over time."""
        index = self.tenants.index(tenant)
        bounds = [*self._first.tolist(), len(self._t_ns)]
        rows = slice(bounds[index], bounds[index + 1])
        return Steps(self._t_ns[rows], self._share[rows])


def dominant_shares(past: History, by: str) -> DominantShares:
    """The dominant shares of users or queues (``by``: "user" or "queue").

    Ghodsi et al., "Dominant Resource Fairness: Fair Allocation of Multiple Resource Types", NSDI 2011.
    """
    work, stays, rows = past.scenario.work, past.attempts, len(past.log)
    tenant, names = _tenants(past, by)
    if not len(stays) or not past.capacity:
        nothing = np.zeros(0)
        return DominantShares((), nothing, nothing, np.zeros(0, np.int64), np.zeros(0, np.int64), nothing)

    closed = np.flatnonzero(stays.close_row >= 0)
    stay = np.concatenate((np.arange(len(stays)), closed))
    row = np.concatenate((stays.open_row, stays.close_row[closed]))
    order = np.argsort(tenant[stays.task[stay]] * np.int64(rows) + row)
    stay, row, taken = stay[order], row[order], order < len(stays)
    who = tenant[stays.task[stay]]
    first = np.flatnonzero(np.append(True, who[1:] != who[:-1]))
    length = np.diff(np.append(first, len(who)))

    share = np.zeros(len(stay))
    shape = work.shape[stays.task[stay]]
    for name, total in past.capacity.items():
        amount = past.demand[name][shape]
        held = np.cumsum(np.where(taken, amount, -amount))  # wraps around at 64 bits, which the difference undoes
        before = np.concatenate(([0], held[first[1:] - 1]))
        np.maximum(share, (held - np.repeat(before, length)) / float(total), out=share)

    t_ns = past.log.t_ns[row]
    lasts = np.append(t_ns[1:], past.end_ns)
    lasts[first[1:] - 1] = past.end_ns
    lasts -= t_ns
    span = max(past.span_ns, 1)
    return DominantShares(
        tenants=tuple(names[int(index)] for index in who[first]),
        mean=np.add.reduceat(share * lasts, first) / span,
        peak=np.maximum.reduceat(np.where(lasts > 0, share, 0.0), first),
        _first=first,
        _t_ns=t_ns,
        _share=share,
    )


def overtaken_max(past: History) -> int:
    """The most tasks that came later, and started earlier, than one and the same task that was waiting.

    "Later" is by (submission, position in the input); "earlier" is an earlier first start, strictly. A task that never
    started was overtaken by every later one that did, up to its own end.

    For a task, let ``rank`` be how many tasks started before it did, and ``before`` how many of the tasks that ever
    started came before it. At least rank - before of those that started sooner came later. This is exact where nobody
    who came sooner started later or at the same time; and where somebody did, he was overtaken by at least as many. So
    the answer is the largest rank - before: one sort.
    """
    what = past.outcome
    accepted = np.flatnonzero(past.accepted)
    order = accepted[np.argsort(past.submit_ns[accepted], kind="stable")]
    if not len(order):
        return 0
    start = what.first_start_ns[order]
    started = start < NEVER
    rank = np.searchsorted(np.sort(start[started]), np.minimum(start, what.end_ns[order]))
    before: IntArray = np.cumsum(started) - started
    return int((rank - before).max())


def _tenants(past: History, by: str) -> tuple[IntArray, tuple[str, ...]]:
    work = past.scenario.work
    return (work.user, work.users) if by == "user" else (work.queue, work.queues)
