"""Whom a question is about: the application, a job, a stage, a task, an executor or a query."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from gnomon.model.errors import InputError, unknown_name
from gnomon.systems.spark.application import Application, StageAttempt

KINDS: Final = ("app", "job", "stage", "task", "executor", "sql")

FORMS: Final = (
    "app, job/0, stage/3, stage/3.1 (its attempt 1), task/3.17 (stage 3, index 17), task/123 (an id), executor/2, sql/0"
)

_NUMBER: Final = re.compile(r"(\d{1,18})(?:\.(\d{1,18}))?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Subject:
    """``kind``: one of :data:`KINDS`; ``number``, ``part``: the numbers in the name (-1: not said); ``name``: of an
    executor."""

    kind: str
    number: int = -1
    part: int = -1
    name: str = ""


def subject_of(text: str, application: Application) -> Subject:
    """Whom a text means; a bare number is a stage. Raises InputError for what is not there."""
    kind, _, name = text.partition("/")
    if not name and kind not in KINDS:
        kind, name = "stage", kind
    if kind == "node":
        kind = "executor"
    if kind not in KINDS:
        raise unknown_name("kind of subject", kind, KINDS)
    if kind == "app":
        if name not in ("", application.id, application.name):
            raise InputError("another application", field="subject", found=name, allowed=application.id)
        return Subject("app")
    if kind == "executor":
        if name not in application.executors:
            raise unknown_name("executor", name, application.executors).at(field="subject")
        return Subject("executor", name=name)
    match = _NUMBER.fullmatch(name)
    if match is None or (match[2] is not None and kind not in ("stage", "task")):
        raise InputError("not a subject", field="subject", found=text, allowed=FORMS)
    found = Subject(kind, int(match[1]), -1 if match[2] is None else int(match[2]))
    _check(found, application)
    return found


def _check(one: Subject, application: Application) -> None:
    known: dict[str, list[int]] = {
        "job": list(application.jobs),
        "stage": list(application.stages),
        "sql": list(application.sql),
    }
    if one.kind in known:
        if one.number not in known[one.kind]:
            raise unknown_name(one.kind, str(one.number), map(str, known[one.kind])).at(field="subject")
        attempts = [attempt.attempt for attempt in application.attempts_of(one.number)] if one.kind == "stage" else []
        if one.part >= 0 and one.part not in attempts:
            raise unknown_name(f"attempt of stage {one.number}", str(one.part), map(str, attempts)).at(field="subject")
    elif not rows_of(one, application):
        raise InputError("no such task ended in this log", field="subject", found=f"task/{_said(one)}", allowed=FORMS)


def rows_of(one: Subject, application: Application) -> list[tuple[StageAttempt, int]]:
    """The attempts of a task, as stage attempts and rows, in the order in which they ended."""
    if one.part < 0:
        found = [(attempt, row) for attempt in application.attempts for row in _rows(attempt, "task_id", one.number)]
        if not found:
            return []
        attempt, row = found[0]
        return rows_of(Subject("task", attempt.stage.id, int(attempt.tasks.column("index")[row])), application)
    return [
        (attempt, row) for attempt in application.attempts_of(one.number) for row in _rows(attempt, "index", one.part)
    ]


def _rows(attempt: StageAttempt, column: str, value: int) -> list[int]:
    return [int(row) for row in (attempt.tasks.column(column) == value).nonzero()[0]]


def _said(one: Subject) -> str:
    return str(one.number) if one.part < 0 else f"{one.number}.{one.part}"
