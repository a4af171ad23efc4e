"""What Spark's UI would show of a run, or of the event log itself: stages, executors, jobs."""

from __future__ import annotations

import shlex
from typing import Final

from gnomon.engine.log import Log
from gnomon.insight.listing import Listing
from gnomon.insight.spark.answer import recorded_in
from gnomon.insight.spark.declared import declared_in
from gnomon.insight.spark.rerun import application_of_run
from gnomon.insight.spark.tables import executors, jobs, stages
from gnomon.model.errors import InputError, unknown_name
from gnomon.model.scenario import Scenario

VIEWS: Final = {"stages": stages, "executors": executors, "jobs": jobs}
"""The tables, by name."""

RECORDED: Final = "--recorded"
"""Of the event log, instead of the run."""


def view(scenario: Scenario, log: Log, command: str) -> Listing:
    """A table of a run: ``stages``, ``executors`` or ``jobs``; with ``--recorded`` as the event log has it.

    Raises InputError for another view, and for what is recorded of a run that is not of an event log.
    """
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise InputError(f"quotes that do not match: {error}", field="view", found=command) from None
    names = [word for word in words if word != RECORDED]
    if len(names) != 1 or names[0] not in VIEWS:
        raise unknown_name("view", " ".join(names), VIEWS).at(field="view")
    recorded = recorded_in(scenario)
    if recorded is None and RECORDED in words:
        raise InputError("nothing is recorded: the run is not of an event log", field="view", found=command)
    application = recorded or declared_in(scenario)
    if application is None:
        raise InputError("only runs of event logs and of jobs have this view", field="view", found=command)
    shown = application if RECORDED in words else application_of_run(application, scenario, log)
    return VIEWS[names[0]](shown)
