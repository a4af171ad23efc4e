"""Executors under dynamic allocation: which are idle, when they are released, and what keeps those that stay.

The rule is that of Spark's ``ExecutorMonitor``: an idle executor leaves after ``executorIdleTimeout``; one that holds
cached blocks, or under shuffle tracking shuffle files, not before the longer of their timeouts, which are infinite by
default. ``minExecutors`` stay. With an external shuffle service shuffle files hold nobody.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from gnomon.model.resources import NEVER
from gnomon.systems.spark.application import Application
from gnomon.systems.spark.conf import recorded_whole, time_ns_of
from gnomon.systems.spark.delays import MS

PREFIX: Final = "spark.dynamicAllocation."


@dataclass(frozen=True, slots=True)
class Rules:
    """When idle executors leave, in ms (NEVER: they do not)."""

    enabled: bool = False
    idle_ms: int = 60_000
    cached_ms: int = NEVER
    shuffle_ms: int = NEVER
    tracking: bool = True
    service: bool = False
    least: int = 0


@dataclass(frozen=True, slots=True)
class Idle:
    """An executor that has nothing to do: since when, what it holds, and when it leaves by the rules (NEVER: not by
    itself)."""

    name: str
    cores: int
    since_ms: int
    until_ms: int
    outputs: int
    cached: bool
    leaves_ms: int

    @property
    def length_ms(self) -> int:
        """How long it was idle."""
        return self.until_ms - self.since_ms


def recorded_rules(application: Application) -> Rules:
    """The rules that a log records; the defaults are those of Spark 4.3.0.

    >>> said = {"spark.dynamicAllocation.enabled": "true", "spark.dynamicAllocation.executorIdleTimeout": "2min"}
    >>> recorded_rules(Application("", "", "", 0, None, properties=said))
    Rules(enabled=True, idle_ms=120000, cached_ms=..., shuffle_ms=..., tracking=True, service=False, least=0)
    """
    plain, properties = Rules(), application.properties

    def ms(name: str, default: int) -> int:
        """What is no time, as ``infinity``, is NEVER."""
        text = properties.get(PREFIX + name)
        found = time_ns_of(text) if text else default * MS
        return NEVER if found is None or found >= NEVER else found // MS

    return Rules(
        enabled=properties.get(f"{PREFIX}enabled") == "true",
        idle_ms=ms("executorIdleTimeout", plain.idle_ms),
        cached_ms=ms("cachedExecutorIdleTimeout", plain.cached_ms),
        shuffle_ms=ms("shuffleTracking.timeout", plain.shuffle_ms),
        tracking=properties.get(f"{PREFIX}shuffleTracking.enabled", "true") == "true",
        service=properties.get("spark.shuffle.service.enabled") == "true",
        least=recorded_whole(application, f"{PREFIX}minExecutors"),
    )


def idle_executors(application: Application, rules: Rules | None = None) -> list[Idle]:
    """All executors, with the time since their last task; those without a task are idle since they were added.

    ``rules``: in place of those that are configured.
    """
    rules = rules or recorded_rules(application)
    last, outputs, cached = _facts(application)
    found = []
    for one in application.executors.values():
        if one.added_ms is None:
            continue
        since = max(last.get(one.id, one.added_ms), one.added_ms)
        until = application.last_ms if one.removed_ms is None else one.removed_ms
        holds = outputs.get(one.id, 0)
        found.append(Idle(one.id, one.cores, since, max(until, since), holds, one.id in cached, 0))
    return _leaving(found, rules)


def _leaving(idle: list[Idle], rules: Rules) -> list[Idle]:
    """With the time at which each leaves; the last ones stay, as many as there have to be at least."""
    due = {}
    for one in idle:
        waits = [rules.idle_ms]
        if one.outputs and rules.tracking and not rules.service:
            waits.append(rules.shuffle_ms)
        if one.cached:
            waits.append(rules.cached_ms)
        due[one.name] = NEVER if max(waits) >= NEVER or not rules.enabled else one.since_ms + max(waits)
    leaving = sorted((one for one in idle if due[one.name] < NEVER), key=lambda one: (due[one.name], one.name))
    may = max(0, len(idle) - rules.least)
    goes = {one.name for one in leaving[:may]}
    return [replace(one, leaves_ms=due[one.name] if one.name in goes else NEVER) for one in idle]


def _facts(application: Application) -> tuple[dict[str, int], dict[str, int], set[str]]:
    """By executor: the end of its last task, how many map outputs it made, and whether it may hold cached blocks."""
    last: dict[str, int] = {}
    outputs: dict[str, int] = {}
    cached: set[str] = set()
    gone = set(application.unpersisted)
    for attempt in application.attempts:
        tasks = attempt.tasks
        keeps = any(rdd.cached and rdd.id not in gone for rdd in attempt.stage.rdds)
        columns = (tasks.column(name).tolist() for name in ("executor", "finish_ms", "failure"))
        for executor, finish, failure in zip(*columns, strict=True):
            name = tasks.names[executor]
            last[name] = max(last.get(name, 0), finish)
            if failure < 0 and attempt.kind == "ShuffleMapTask":
                outputs[name] = outputs.get(name, 0) + 1
            if failure < 0 and keeps:
                cached.add(name)
    return last, outputs, cached
