"""Short runs with faults, and their logs as lines that a test can quote."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from gnomon.api import NEVER, Cluster, Kind, Reason, Run, Scenario, Task, Work, parse_policy, simulate
from gnomon.model.fault import Failure, Fault
from gnomon.model.operation import Operation
from gnomon.model.recovery import Backoff, Recovery, Retry
from tests.builders import S, nodes

THREE = nodes(4, 4, 4)

Line = tuple[Any, ...]


def fault(kind: Fault, at: float, length: float = NEVER, *targets: str, **facts: Any) -> Failure:
    """A fault; times in seconds."""
    return Failure(kind, round(at * S), NEVER if length == NEVER else round(length * S), targets, **facts)


def crash(at: float, length: float, *targets: str) -> Failure:
    """A crash; times in seconds."""
    return fault(Fault.CRASH, at, length, *targets)


def part(at: float, length: float, *targets: str, **facts: Any) -> Failure:
    """A partition of the targets from all others; times in seconds."""
    return fault(Fault.PARTITION, at, length, *targets, **facts)


def plot(
    tasks: Iterable[Task],
    faults: Sequence[Any] = (),
    operation: Operation = Operation(),
    *,
    cluster: Cluster = THREE,
    policy: str = "fcfs",
    **facts: Any,
) -> Scenario:
    """A scenario on three nodes of 4 CPUs, if not told otherwise."""
    work = Work.from_tasks(tasks)
    return Scenario(cluster, work, parse_policy(policy), faults=tuple(faults), operation=operation, **facts)


def play(tasks: Iterable[Task], faults: Sequence[Any] = (), operation: Operation = Operation(), **facts: Any) -> Run:
    """Run that, step by step, all invariants on."""
    return simulate(plot(tasks, faults, operation, **facts), compiled=False, invariants=True)


def seen(run: Run, *kinds: Kind) -> list[Line]:
    """The rows of these kinds: second, then task or node (as in ``t@n0``), then the reason if there is one."""
    log, work, cluster = run.log, run.scenario.work, run.scenario.cluster
    found: list[Line] = []
    for row in range(len(log)):
        if Kind(int(log.kind[row])) not in kinds:
            continue
        task = work.id(int(log.subject[row])) if log.subject[row] >= 0 else ""
        node = f"@{cluster.nodes[int(log.node[row])].name}" if log.node[row] >= 0 else ""
        line: Line = (int(log.t_ns[row]) / S, Kind(int(log.kind[row])).name, task + node)
        reason = Reason(int(log.reason[row]))
        found.append(line if reason is Reason.NONE else (*line, reason.name))
    return found


def times(run: Run, kind: Kind, task: str = "") -> list[float]:
    """When rows of a kind (about a task) were written, in seconds."""
    log, work = run.log, run.scenario.work
    return [
        int(log.t_ns[row]) / S
        for row in range(len(log))
        if log.kind[row] == kind and (not task or (log.subject[row] >= 0 and work.id(int(log.subject[row])) == task))
    ]


def values(run: Run, kind: Kind) -> list[int]:
    """The values of the rows of a kind."""
    return [int(value) for value in run.log.value[run.log.kind == kind]]


def again(limit: int, *causes: str, first: float = 0, factor: float = 1, most: float = 300, **facts: Any) -> Recovery:
    """So many retries for the causes (``exit`` if none is named), after delays in seconds; and always for what is not
    the task's own doing."""
    free = facts.pop("free", 0)
    rest = {name: facts.pop(name) for name in ("checkpoint", "exclude") if name in facts}
    backoff = Backoff(round(first * S), round(factor * 10_000), round(most * S), free)
    default = Recovery().retries
    return Recovery((Retry(causes or ("exit",), limit, backoff, **facts), *default), **rest)
