"""A job in Python as an application: what is known of it before it runs, and what the log of its run says of a task."""

from __future__ import annotations

from collections.abc import Mapping

from gnomon.control.batch.plan import batch_of
from gnomon.model.scenario import Scenario
from gnomon.systems.spark.application import Application, Job, Stage
from gnomon.systems.spark.tasks import COLUMNS, FIRST_METRIC

_NS = 1_000_000


def declared_in(scenario: Scenario) -> Application | None:
    """The jobs and stages of a scenario, none of which has run yet; None where it has none."""
    batch = batch_of(scenario)
    if batch is None or not batch.plan.jobs:
        return None
    plan = batch.plan
    jobs = {
        number: Job(number, 0, tuple(plan.ancestors(job.result)), pool=job.pool, description=job.name)
        for number, job in plan.jobs.items()
    }
    stages = {number: Stage(number, one.name, one.parents, one.tasks) for number, one in plan.stages.items()}
    name = scenario.name or max(plan.jobs.values(), key=lambda job: job.number).name
    return Application(name, "", "", 0, None, jobs=jobs, stages=stages)


def metrics_of(begun: Mapping[str, int | str], ended: Mapping[str, int | str]) -> list[int]:
    """The metrics of a task in the columns of :data:`gnomon.systems.spark.tasks.COLUMNS`, from the facts of its start
    and its end.

    >>> found = metrics_of({"start_ns": 5_000_000, "compute_ns": 2_000_000}, {"remote_bytes": 7, "records_read": 3})
    >>> {COLUMNS[FIRST_METRIC + place]: value for place, value in enumerate(found) if value}
    {'deserialize_ms': 5, 'run_ms': 2, 'remote_read_bytes': 7, 'read_records': 3}
    """

    def said(name: str) -> int:
        return int(ended.get(name, 0))

    phases = {name: int(begun.get(f"{name}_ns", 0)) for name in ("start", "fetch", "compute", "write")}
    fetches, writes = said("local_bytes") + said("remote_bytes"), said("shuffle_write_bytes")
    known = {
        "deserialize_ms": phases["start"] // _NS,
        "run_ms": (phases["fetch"] + phases["compute"] + phases["write"]) // _NS,
        "fetch_wait_ms": phases["fetch"] // _NS,
        "local_read_bytes": said("local_bytes"),
        "remote_read_bytes": said("remote_bytes"),
        "read_records" if fetches else "input_records": said("records_read"),
        "input_bytes": said("input_bytes"),
        "write_bytes": writes,
        "write_records" if writes else "output_records": said("records_written"),
    }
    return [known.get(name, 0) for name in COLUMNS[FIRST_METRIC:]]
