"""Executors that were kept with nothing to do, told and priced."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from gnomon.insight.explain.changes import OWN, Change
from gnomon.insight.explain.phrases import counted
from gnomon.insight.listing import Listing
from gnomon.insight.spark.idle import PREFIX, Idle, idle_executors, recorded_rules
from gnomon.insight.spark.words import time
from gnomon.model.resources import NEVER
from gnomon.systems.spark.application import Application

SHOWN_MAX: Final = 6


@dataclass(frozen=True)
class Idleness:
    """``kept``: executors that were idle for longer than the timeout and did not leave."""

    text: str
    kept: tuple[Idle, ...]
    listing: Listing
    changes: tuple[Change, ...]


def idleness(application: Application) -> Idleness | None:
    """Which executors dynamic allocation did not release though they were idle, why, and what would; None where it is
    off, or there are none."""
    rules = recorded_rules(application)
    if not rules.enabled:
        return None
    idle = idle_executors(application, rules)
    kept = [one for one in idle if one.length_ms > rules.idle_ms and application.executors[one.name].removed_ms is None]
    kept = [one for one in kept if one.outputs or one.cached]
    if not kept:
        return None
    total = len([one for one in idle if one.until_ms >= kept[0].since_ms])
    outputs = [one for one in kept if one.outputs and rules.tracking and not rules.service]
    cached = [one for one in kept if one.cached and one not in outputs]
    cost = sum(one.cores * (one.length_ms) for one in kept)
    text = f"{len(kept)} of {counted(total, 'executor')} stay though they are idle for longer than "
    text += f"{PREFIX}executorIdleTimeout ({time(rules.idle_ms)}): "
    why = []
    if outputs:
        limit = "infinity" if rules.shuffle_ms >= NEVER else time(rules.shuffle_ms)
        why.append(
            f"{len(outputs)} hold shuffle files that were not cleaned yet ({PREFIX}shuffleTracking.timeout is {limit})"
        )
    if cached:
        why.append(f"{len(cached)} hold cached blocks ({PREFIX}cachedExecutorIdleTimeout is infinity)")
    text += " and ".join(why) + f"; that is {time(cost)} of idle cores so far"
    rows = [
        [one.name, time(one.length_ms), str(one.outputs), "yes" if one.cached else "no", _leaves(one, application)]
        for one in kept[:SHOWN_MAX]
    ]
    if len(kept) > SHOWN_MAX:
        rows.append([f"{len(kept) - SHOWN_MAX} more", "", "", "", ""])
    headers = ["EXECUTOR", "IDLE FOR", "MAP OUTPUTS", "CACHED", "LEAVES"]
    listing = Listing(headers, rows, right=(1, 2), title="EXECUTORS THAT ARE KEPT WITH NOTHING TO DO")
    return Idleness(text, tuple(kept), listing, tuple(_changes(application)))


def _leaves(one: Idle, application: Application) -> str:
    if one.leaves_ms >= NEVER:
        return "not before the driver's GC drops its shuffles, possibly never"
    return f"{time(one.leaves_ms - application.started_ms)} after the start"


def _changes(application: Application) -> list[Change]:
    """What would release them, by the same rules."""
    rules = recorded_rules(application)
    tries = [
        (
            f"{PREFIX}shuffleTracking.timeout",
            "infinity",
            "60s",
            replace(rules, shuffle_ms=rules.idle_ms),
            "lost shuffle files are computed again if a job still wants them",
        ),
        (
            "spark.shuffle.service.enabled",
            "false",
            "true",
            replace(rules, service=True, tracking=False),
            "an external (or remote) shuffle service serves the files",
        ),
    ]
    now = sum(one.leaves_ms < NEVER for one in idle_executors(application, rules))
    changes = []
    for field, before, after, changed, how in tries:
        go = sum(one.leaves_ms < NEVER for one in idle_executors(application, changed))
        if go > now:
            text = f"{field}={after}: {counted(go, 'executor')} leave {time(rules.idle_ms)} after their last task, "
            text += f"instead of {now} ({how})"
            changes.append(Change(text, "app", field, before, after, float(OWN), confirmed=True))
    return changes
