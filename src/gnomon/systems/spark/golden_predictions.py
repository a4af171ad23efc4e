"""Recorded makespans, and orders of launches under pools, against what the model foretells from one event log.

A prediction knows the log of the run with the fewest slots, and of the description what no log has: the pools of the
allocation file. What came of it on other slots is compared, and never read before.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, Final

from gnomon.control.batch.play import play
from gnomon.control.batch.rules import Rules
from gnomon.engine.log import Kind, Log
from gnomon.model.errors import InputError
from gnomon.model.scenario import Scenario
from gnomon.scheduling.pools import Pool
from gnomon.systems.spark.application import Application
from gnomon.systems.spark.delays import MS
from gnomon.systems.spark.golden_facts import log_of
from gnomon.systems.spark.profile import pools_of
from gnomon.systems.spark.read import read_event_log
from gnomon.systems.spark.replay import replay
from gnomon.systems.spark.scenario import scenario_of, slots, work_of

KINDS: Final = ("spark-predict-", "spark-pools-")
"""How the names of these cases begin."""

WITHIN: Final = 0.10
"""A makespan is foretold when it is so near: by the README beside the cases, what the noise allows."""

APART_S: Final = 0.05
"""Launches of different jobs that were closer together may have come in either order: less than a task costs beside
its sleep (20 to 110 ms by the README)."""


def judge_prediction(
    case: Mapping[str, Any], path: str | os.PathLike[str] | None
) -> tuple[bool, Sequence[str], object]:
    """Whether the makespans of a case are foretold, and under pools the order of launches and the ends of jobs; what
    differs, and all that was foretold."""
    application = read_event_log(log_of(case, path))
    told = {count: predict(case, application, int(count)) for count in case["outcome"]["by_slots"]}
    differences = [text for count, one in told.items() for text in _differences(case, count, one)]
    return not differences, differences, {"by_slots": told}


def predict(case: Mapping[str, Any], application: Application, count: int) -> dict[str, Any]:
    """What the run of an event log would be on ``count`` slots, in the recorded form."""
    scenario = scenario_for(case, application, count)
    return _recorded_form(play(scenario), scenario.native)


def scenario_for(case: Mapping[str, Any], application: Application, count: int) -> Scenario:
    """The scenario of an event log on ``count`` slots, with the pools of a case's description."""
    said = case["input"]
    recorded = sum(executor.cores for executor in application.executors.values())
    again = replay(application, exact=count == recorded)
    mode = application.properties.get("spark.scheduler.mode", "FIFO").upper()
    rules = Rules(
        mode=mode,
        pools=pools_of([_pool(one) for one in said.get("pools", ())] or None, application.version),
        result_ns=again.delays.result * MS,
        stage_ns=again.delays.stage * MS,
    )
    return scenario_of(again.plan, rules, again.execution, slots(count), work=work_of(again.plan))


def _pool(said: Mapping[str, Any]) -> Pool:
    try:
        return Pool(said["name"], said.get("weight", 1), said.get("min_share", 0), said.get("mode", "FIFO"))
    except KeyError:
        raise InputError("a pool without a name", field="input.pools", found=dict(said)) from None


def _recorded_form(log: Log, batch: Any) -> dict[str, Any]:
    submitted: dict[int, float] = {}
    ended: dict[int, float] = {}
    tasks = []
    ends = log.kind == Kind.END
    end_ns = dict(zip(log.subject[ends].tolist(), log.t_ns[ends].tolist(), strict=True))
    for row, facts in sorted(log.details.items()):
        now = int(log.t_ns[row]) / 1e9
        if facts.get("reason") == "JobSubmitted":
            submitted[int(facts["job"])] = now
        elif facts.get("reason") in ("JobEnded", "JobFailed"):
            ended[int(facts["job"])] = now
        elif "index" in facts:
            finish = end_ns[int(log.subject[row])] + batch.rules.result_ns  # when the driver takes note of it
            task = {"stage": facts["stage"], "index": facts["index"], "launch_s": now, "finish_s": finish / 1e9}
            tasks.append(task)
    begun = min(submitted.values())
    for task in tasks:
        task |= {name: round(float(task[name]) - begun, 3) for name in ("launch_s", "finish_s")}
    jobs = [
        {"job": batch.plan.jobs[job].name, "submitted_s": round(at - begun, 3), "ended_s": round(ended[job] - begun, 3)}
        for job, at in sorted(submitted.items())
    ]
    return {"makespan_s": max(job["ended_s"] for job in jobs), "jobs": jobs, "tasks": tasks}


def _differences(case: Mapping[str, Any], count: str, told: Mapping[str, Any]) -> Iterator[str]:
    recorded = case["outcome"]["by_slots"][count]
    yield from _times(f"{count} slots: makespan", recorded["makespan_s"], told["makespan_s"])
    if not str(case["name"]).startswith("spark-pools-"):
        return
    for theirs, mine in zip(recorded["jobs"], told["jobs"], strict=True):
        yield from _times(f"{count} slots: end of job {theirs['job']}", theirs["ended_s"], mine["ended_s"])
    launched = {(task["stage"], task["index"]): place for place, task in enumerate(told["tasks"])}
    for one, other in combinations(sorted(recorded["tasks"], key=lambda task: float(task["launch_s"])), 2):
        if one["stage"] != other["stage"] and other["launch_s"] - one["launch_s"] > APART_S:
            first, second = (launched.get((task["stage"], task["index"])) for task in (one, other))
            if first is None or second is None or first > second:
                names = [f"{task['stage']}.{task['index']}" for task in (one, other)]
                yield f"{count} slots: task {names[0]} was launched before {names[1]}, the model says after"


def _times(what: str, recorded: float, told: float) -> Iterator[str]:
    if abs(told - recorded) > WITHIN * recorded:
        yield f"{what} {recorded} s, the model says {told} s ({told / recorded - 1:+.1%})"
