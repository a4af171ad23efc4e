"""Event logs as Spark writes them (JsonProtocol 4.x), made for a test."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

START = 1_700_000_000_000
"""When the application starts, in ms; all times below are in s after it."""


def ms(seconds: float) -> int:
    return START + round(seconds * 1000)


@dataclass
class EventLog:
    """The lines of a log, in the order of the calls."""

    conf: Mapping[str, str] = field(default_factory=dict)
    version: str = "4.0.1"
    lines: list[str] = field(default_factory=list)
    tasks: int = 0

    def __post_init__(self) -> None:
        self.say("SparkListenerLogStart", {"Spark Version": self.version})
        self.say("SparkListenerEnvironmentUpdate", {"Spark Properties": dict(self.conf)})
        self.say(
            "SparkListenerApplicationStart",
            {"App Name": "made", "App ID": "app-1", "Timestamp": ms(0), "User": "ann"},
        )

    def say(self, event: str, facts: Mapping[str, Any]) -> None:
        self.lines.append(json.dumps({"Event": event, **facts}, separators=(",", ":")))

    def executors(self, names: Sequence[str], *, cores: int, at: float = 0) -> None:
        for name in names:
            info = {"Host": f"host-{name}", "Total Cores": cores, "Log Urls": {}, "Resource Profile Id": 0}
            self.say("SparkListenerExecutorAdded", {"Timestamp": ms(at), "Executor ID": name, "Executor Info": info})

    def remove(self, name: str, at: float, reason: str) -> None:
        facts = {"Timestamp": ms(at), "Executor ID": name, "Removed Reason": reason}
        self.say("SparkListenerExecutorRemoved", facts)

    def job(self, number: int, at: float, stages: Sequence[Mapping[str, Any]], **properties: str) -> None:
        facts = {"Job ID": number, "Submission Time": ms(at), "Stage Infos": list(stages)}
        ids = [one["Stage ID"] for one in stages]
        self.say("SparkListenerJobStart", {**facts, "Stage IDs": ids, "Properties": properties})

    def job_end(self, number: int, at: float, error: str = "") -> None:
        result: dict[str, Any] = {"Result": "JobSucceeded"}
        if error:
            result = {"Result": "JobFailed", "Exception": {"Message": error, "Stack Trace": []}}
        facts = {"Job ID": number, "Completion Time": ms(at), "Job Result": result}
        self.say("SparkListenerJobEnd", facts)

    def submit(self, info: Mapping[str, Any], at: float) -> None:
        facts = {"Stage Info": {**info, "Submission Time": ms(at)}, "Properties": {}}
        self.say("SparkListenerStageSubmitted", facts)

    def complete(self, info: Mapping[str, Any], begun: float, at: float, failure: str = "") -> None:
        more = {"Failure Reason": failure} if failure else {}
        facts = {**info, "Submission Time": ms(begun), "Completion Time": ms(at), **more}
        self.say("SparkListenerStageCompleted", {"Stage Info": facts})

    def task(
        self,
        stage: int,
        index: int,
        span: tuple[float, float],
        executor: str,
        *,
        metrics: Mapping[str, Any] | None = None,
        reason: Mapping[str, Any] | None = None,
        kind: str = "ResultTask",
        stage_attempt: int = 0,
        attempt: int = 0,
        locality: str = "NODE_LOCAL",
    ) -> int:
        """An attempt of a task from launch to finish; its id."""
        begun, ended = span
        number, self.tasks = self.tasks, self.tasks + 1
        info = {
            "Task ID": number,
            "Index": index,
            "Attempt": attempt,
            "Partition ID": index,
            "Launch Time": ms(begun),
            "Executor ID": executor,
            "Host": f"host-{executor}",
            "Locality": locality,
            "Speculative": False,
            "Getting Result Time": 0,
            "Finish Time": ms(ended),
            "Failed": reason is not None,
            "Killed": False,
            "Accumulables": [],
        }
        where = {"Stage ID": stage, "Stage Attempt ID": stage_attempt}
        self.say("SparkListenerTaskStart", {**where, "Task Info": {**info, "Finish Time": 0}})
        run = round((ended - begun) * 1000)
        facts: dict[str, Any] = {"Executor Run Time": run, "Executor CPU Time": run * 900_000, **(metrics or {})}
        end = {**where, "Task Type": kind, "Task End Reason": reason or {"Reason": "Success"}, "Task Info": info}
        self.say("SparkListenerTaskEnd", {**end, **({} if reason else {"Task Metrics": facts})})
        return number

    def end(self, at: float) -> None:
        self.say("SparkListenerApplicationEnd", {"Timestamp": ms(at)})

    def write(self, path: Path) -> Path:
        path.write_text("".join(f"{line}\n" for line in self.lines), encoding="utf-8")
        return path


def stage(
    number: int, tasks: int, *, name: str = "count", parents: Sequence[int] = (), attempt: int = 0
) -> dict[str, Any]:
    """A ``Stage Info``."""
    return {
        "Stage ID": number,
        "Stage Attempt ID": attempt,
        "Stage Name": f"{name} at App.scala:{number + 1}",
        "Number of Tasks": tasks,
        "RDD Info": [],
        "Parent IDs": list(parents),
    }


def shuffle_read(size: int, records: int) -> dict[str, Any]:
    """Metrics of a task that fetches so much."""
    return {"Shuffle Read Metrics": {"Remote Bytes Read": size, "Local Bytes Read": 0, "Total Records Read": records}}
