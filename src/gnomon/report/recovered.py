"""What went wrong in a run and what came of it, as a few lines of words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gnomon.report.columns import duration, finely, number

Facts = Mapping[str, Any]


def recovery_facts(found: Facts | None) -> list[tuple[str, str]]:
    """Facts and their texts, from what stands under ``recovery`` in ``metrics.json``; nothing of what there is none of.

    >>> recovery_facts({"faults": {"crash": 2}, "retries": 3, "attempts_failed": {"node_memory": 4}, "gave_up": 1})
    [('faults', '2 crash'), ('attempts failed', '4 node memory; 3 tried again, 1 task given up')]
    >>> recovery_facts({"copies": {"orphaned": 32, "won": 0, "fenced": 31}})
    [('copies', '32 orphaned, 31 stopped')]
    >>> recovery_facts(None)
    []
    """
    return [] if found is None else [line for line in _facts(found) if line[1]]


def _facts(found: Facts) -> Iterator[tuple[str, str]]:
    yield "faults", _counts(found.get("faults"))
    for name in ("detect", "isolate", "recover"):
        yield f"time to {name}", _spread(found.get(f"time_to_{name}_s") or {})
    yield "attempts failed", _failures(found)
    if found.get("survival") is not None:
        yield "survival", finely(found["survival"])
    if found.get("work_lost_s"):
        yield "work lost", f"{duration(found['work_lost_s'])}; {duration(found['work_redone_s'])} done again"
    copies = found.get("copies") or {}  # they are stopped by a fence, but also when a partition is over
    yield "copies", _counts({"stopped" if name == "fenced" else name: count for name, count in copies.items()})
    yield "ran twice", _twice(found.get("ran_twice") or {})
    yield "available", _available(found)
    if found.get("throughput_cpus") is not None and found.get("goodput_cpus") is not None:
        useful = number(found["goodput_cpus"])
        yield "cpus at work", f"{number(found['throughput_cpus'])} on average; {useful} of them for what was done"
    if found.get("refusals") or found.get("budget_breaches"):
        yield "budgets", f"{number(found['refusals'])} refusals, {number(found['budget_breaches'])} breaches"
    yield "backlog", _backlog(found.get("backlog") or {})


def _counts(found: Facts | None) -> str:
    """How many of what, as far as there are any."""
    named = ((str(name).replace("_", " ") or "unknown", count) for name, count in (found or {}).items())
    return ", ".join(f"{number(count)} {name}" for name, count in named if count)


def _spread(found: Facts) -> str:
    if found.get("mean") is None:
        return ""
    return ", ".join(f"{point} {duration(found[point])}" for point in ("mean", "p50", "p99", "max"))


def _failures(found: Facts) -> str:
    failed = _counts(found.get("attempts_failed"))
    if not failed:
        return ""
    tasks = found["gave_up"]
    return f"{failed}; {number(found['retries'])} tried again, {number(tasks)} task{'s' * (tasks != 1)} given up"


def _twice(found: Facts) -> str:
    tasks = found.get("tasks")
    if not tasks:
        return ""
    meant = tasks - found["unplanned"]
    planned = f", {number(meant)} of them on purpose" if meant else ""
    return f"{number(tasks)} task{'s' * (tasks != 1)}, for {duration(found['overlap_s'])}{planned}"


def _available(found: Facts) -> str:
    given = found.get("availability") or {}
    parts = {
        "of node time": given.get("nodes"),
        "of the control plane's": given.get("control"),
        "of cpus for new work": found.get("capacity_available"),
    }
    return ", ".join(f"{finely(part)} {name}" for name, part in parts.items() if part is not None)


def _backlog(found: Facts) -> str:
    if not found.get("peak"):
        return "" if found.get("peak") is None else "nobody waited"
    late = found["catch_up_s"]
    caught = "not caught up with" if late is None else f"caught up with {duration(late)} after the outage"
    caught = "caught up with when the outage was over" if late == 0 else caught
    return f"up to {number(found['peak'])} waiting, at {duration(found['at_s'])}; {caught}"
