"""Runs as reports get them: folded by the insights."""

from gnomon.insight.history import history
from gnomon.insight.metrics import metrics
from gnomon.insight.outages import outages
from gnomon.insight.usage import allocated, queue_length
from gnomon.report.html import Exhibit
from gnomon.report.series import Series
from tests.report.runs import Recording


def series(run: Recording) -> Series:
    past = history(run.scenario, run.log)
    held = {name: allocated(past, name) for name in past.capacity}
    return Series(past, held, queue_length(past), outages(past))


def exhibit(run: Recording, name: str = "fcfs") -> Exhibit:
    return Exhibit(name, series(run), metrics(run.scenario, run.log).as_dict())
