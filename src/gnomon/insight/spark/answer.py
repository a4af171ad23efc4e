"""Explaining an application of Spark from its event log."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import Final

from gnomon.engine.log import Log
from gnomon.formats.files import Path
from gnomon.insight.explain import Explanation
from gnomon.insight.explain import explain as plain_explanation
from gnomon.insight.explain.changes import Simulate
from gnomon.insight.spark.advice import Tell, silent
from gnomon.insight.spark.declared import declared_in
from gnomon.insight.spark.rerun import application_of_run
from gnomon.insight.spark.story_app import explain_application
from gnomon.insight.spark.story_parts import explain_executor, explain_job, explain_query, explain_task
from gnomon.insight.spark.story_stage import explain_stage
from gnomon.insight.spark.subjects import subject_of
from gnomon.model.errors import InputError
from gnomon.model.scenario import Scenario
from gnomon.systems.spark.application import Application
from gnomon.systems.spark.read import read_event_log
from gnomon.systems.spark.scenario import LOG, kind_of


def explain(
    subject: str,
    scenario: Scenario,
    *,
    log: Log | None = None,
    simulate: Simulate | None = None,
    why_not: str | None = None,
) -> Explanation:
    """Explain a run of an event log on a cluster, or with options, of somebody's choice.

    ``subject``: see :data:`gnomon.insight.spark.subjects.FORMS`; ``log``: of the run, None: it is run for this. A
    scenario without an event log, as of a job in Python, is explained as any other. Raises InputError for a subject
    that is not in the log.
    """
    application = recorded_in(scenario)
    if log is None and simulate is None:
        raise InputError("nothing to explain: there is no run", allowed="an event log, with -f")
    found = simulate(scenario) if log is None and simulate is not None else log
    assert found is not None
    job = declared_in(scenario) if application is None else None
    if application is None and subject.partition("/")[0] in OF_RUNS and why_not is None:
        if job is None:
            allowed = "a task here; app, job/0, stage/3 and executor/2 with -f and the scenario, which is run again"
            raise InputError("a kept run tells of its tasks only", field="SUBJECT", found=subject, allowed=allowed)
        return explain_log(subject, application_of_run(job, scenario, found))
    if application is None:
        if simulate is None:
            return plain_explanation(subject, scenario, found, simulate=lambda _: found, why_not=why_not)
        return plain_explanation(subject, scenario, found, simulate=simulate, why_not=why_not)
    if why_not is not None:
        raise InputError("an event log does not say why a task is not on a node", field="--why-not", found=why_not)
    return explain_log(subject, application_of_run(application, scenario, found))


OF_RUNS: Final = ("app", "job", "stage", "executor")
"""Subjects of a job in Python that are explained as those of an event log are; its tasks are explained as tasks."""


def explain_recorded(
    subject: str, path: Path, progress: Callable[[int, int, int], bool] | None = None
) -> Explanation | None:
    """Explain what an event log records; None for a file of Spark that is none. Raises InputError.

    ``progress(done, total, 0)`` is called now and then: reading is the first half. Raises KeyboardInterrupt where it is
    False.
    """
    if not is_event_log(path):
        return None

    def tell(before: int, done: int, total: int) -> None:
        if progress is not None and not progress(before + _HALF * done // max(total, 1), 2 * _HALF, 0):
            raise KeyboardInterrupt

    return explain_log(subject, read_event_log(path, partial(tell, 0)), partial(tell, _HALF))


_HALF: Final = 1_000


def recorded_in(scenario: Scenario) -> Application | None:
    """The event log that a scenario runs again; None where it is of something else."""
    source = next((one for one in (scenario.work.source, scenario.source) if one and is_event_log(one)), None)
    return None if source is None else read_event_log(source)


def is_event_log(path: Path) -> bool:
    """Whether a file of Spark is an event log, and not one of its configurations."""
    try:
        return kind_of(os.fspath(path)) == LOG
    except InputError:
        return False


def explain_log(subject: str, application: Application, tell: Tell = silent) -> Explanation:
    """The same, of an application. ``tell(done, total)`` is called before each change that is tried."""
    whom = subject_of(subject, application)
    if whom.kind == "app":
        return explain_application(application, tell)
    if whom.kind == "stage":
        return explain_stage(application, whom.number, whom.part, tell)
    if whom.kind == "job":
        return explain_job(application, whom.number)
    if whom.kind == "task":
        return explain_task(application, whom)
    if whom.kind == "executor":
        return explain_executor(application, whom.name)
    return explain_query(application, whom.number)
