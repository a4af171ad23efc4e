"""A job in Python looked at and explained as an application, against what its own functions and data say."""

from dataclasses import replace
from operator import add

import pytest

from gnomon.api import simulate
from gnomon.dataflow import Dataflow
from gnomon.insight.explain import Explanation
from gnomon.insight.spark.answer import explain
from gnomon.insight.spark.declared import declared_in
from gnomon.insight.spark.rerun import application_of_run
from gnomon.model.errors import InputError
from gnomon.model.scenario import Scenario
from gnomon.systems.spark.scenario import read_job

pytestmark = pytest.mark.unit

HOT, RECORDS = 9_000, 10_000


def grouped() -> Scenario:
    """Nine in ten records have one key; groups are made on two slots."""
    flow = Dataflow("hot")
    pairs = [("hot" if number < HOT else f"key {number}", 1) for number in range(RECORDS)]
    groups = flow.source(pairs, partitions=4).group_by_key(partitions=4, name="groups")
    groups.map_values(len).map(lambda pair: (pair[1], 1)).reduce_by_key(add, partitions=1).sink("out")
    return read_job(flow.graph(), lambda each: ({}, {}), 2, [], options={})


def explained(subject: str, scenario: Scenario) -> Explanation:
    return explain(subject, scenario, simulate=lambda one: simulate(one).log)


def test_its_jobs_stages_and_the_records_of_its_tasks() -> None:
    scenario = grouped()
    declared = declared_in(scenario)
    assert declared is not None
    assert {number: (one.parents, one.tasks) for number, one in declared.stages.items()} == {
        0: ((), 4),
        1: ((0,), 4),
        2: ((1,), 1),
    }
    found = application_of_run(declared, scenario, simulate(scenario).log)
    maps, groups, _ = found.attempts
    assert int(maps.tasks.column("input_records").sum()) == int(maps.tasks.column("write_records").sum()) == RECORDS
    assert int(groups.tasks.column("read_records").sum()) == RECORDS
    assert int(groups.tasks.column("read_records").max()) >= HOT
    assert int(groups.tasks.shuffle_read_bytes.sum()) == int(maps.tasks.column("write_bytes").sum())


def test_a_hot_key_is_why_its_stage_is_slow() -> None:
    found = explained("stage/1", grouped())
    (why,) = [one for one in found.listings if one.title == "WHY ITS STAGES ARE SLOW"]
    assert "skew" in [row[1] for row in why.rows]
    assert explained("app", grouped()).state == "succeeded"
    assert explained("executor/driver", grouped()).subject == "executor/driver"


def test_its_tasks_are_explained_as_tasks_and_what_is_not_there_is_told() -> None:
    assert explained("1.2", grouped()).state == "done"
    with pytest.raises(InputError, match="unknown stage, found '9'; allowed: 0, 1, 2"):
        explained("stage/9", grouped())


def test_views_of_a_job() -> None:
    run = simulate(grouped())
    assert [line.split()[0] for line in run.view("stages").splitlines()] == ["STAGE", "0", "1", "2"]
    assert [line.split()[0] for line in run.view("executors").splitlines()] == ["EXECUTOR", "driver"]
    with pytest.raises(InputError, match="nothing is recorded"):
        run.view("stages --recorded")


def test_a_kept_run_says_how_its_stages_are_explained() -> None:
    """Its jobs and stages are not in the folder: they are made again from the scenario."""
    scenario = grouped()
    log = simulate(scenario).log
    with pytest.raises(InputError, match=r"a kept run tells of its tasks only, found 'stage/1'; allowed: .* with -f"):
        explain("stage/1", replace(scenario, native=None), log=log)
    assert explain("1.2", replace(scenario, native=None), log=log).state == "done"
