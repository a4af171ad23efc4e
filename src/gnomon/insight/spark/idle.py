"""Executors under dynamic allocation: which are idle, when they are released, and what keeps those that stay.

The rule is that of Spark's ``ExecutorMonitor``: an idle executor leaves after ``executorIdleTimeout``; one that holds
cached blocks, or under shuffle tracking shuffle files, not before the longer of their timeouts, which are infinite by
default. ``minExecutors`` stay. With an external shuffle service shuffle files hold nobody.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from gnomon.model.resources import NEVER
from gnomon.systems.spark.application import Application

PREFIX: Final = "spark.dynamicAllocation."

_UNITS: Final = {"us": 0.001, "ms": 1, "s": 1000, "m": 60_000, "min": 60_000, "h": 3_600_000, "d": 86_400_000, "": 1000}
_TIME: Final = re.compile(r"(\d{1,12})\s*([a-z]*)", re.ASCII)


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


def rules_of(properties: Mapping[str, str]) -> Rules:
    """The rules that are configured; the defaults are those of Spark 4.3.0.

    >>> rules_of({"spark.dynamicAllocation.enabled": "true", "spark.dynamicAllocation.executorIdleTimeout": "2min"})
    Rules(enabled=True, idle_ms=120000, cached_ms=..., shuffle_ms=..., tracking=True, service=False, least=0)
    """
    plain = Rules()

    def said(name: str, default: int) -> int:
        return _ms(properties.get(PREFIX + name, ""), default)

    least = properties.get(f"{PREFIX}minExecutors", "0")
    return Rules(
        enabled=properties.get(f"{PREFIX}enabled") == "true",
        idle_ms=said("executorIdleTimeout", plain.idle_ms),
        cached_ms=said("cachedExecutorIdleTimeout", plain.cached_ms),
        shuffle_ms=said("shuffleTracking.timeout", plain.shuffle_ms),
        tracking=properties.get(f"{PREFIX}shuffleTracking.enabled", "true") == "true",
        service=properties.get("spark.shuffle.service.enabled") == "true",
        least=int(least) if least.isdecimal() and least.isascii() else 0,
    )


def _ms(text: str, default: int) -> int:
    """A time as Spark writes it; without a unit it is seconds. What is no time, or ``infinity``, is NEVER."""
    if not text:
        return default
    match = _TIME.fullmatch(text.strip().lower())
    if match is None or match[2] not in _UNITS:
        return NEVER
    found = int(int(match[1]) * _UNITS[match[2]])
    return NEVER if found > 10**13 else found


def idle_executors(application: Application, rules: Rules | None = None) -> list[Idle]:
    """All executors, with the time since their last task; those without a task are idle since they were added.

    ``rules``: in place of those that are configured.
    """
    rules = rules or rules_of(application.properties)
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
    return [
        Idle(
            one.name,
            one.cores,
            one.since_ms,
            one.until_ms,
            one.outputs,
            one.cached,
            due[one.name] if one.name in goes else NEVER,
        )
        for one in idle
    ]


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
