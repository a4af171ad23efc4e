"""What is said of use, faults, recovery and operation is kept with a run and read back as it was."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon.api import tables
from gnomon.api.kept import FORM
from gnomon.api.run import Run
from gnomon.model.cluster import Cluster, Machine, Node
from gnomon.model.errors import InputError
from gnomon.model.fault import Failure, FailureProcess, Fault, Law
from gnomon.model.operation import (
    Budget,
    ControlPlane,
    Enforcement,
    Eviction,
    Heartbeat,
    Operation,
    Pauses,
    Pressure,
    Probe,
    Speculation,
)
from gnomon.model.recovery import Backoff, Checkpoint, Recovery, Retry
from gnomon.model.resources import NEVER, Resources
from gnomon.model.scenario import Scenario
from gnomon.model.usage import Profile, Usage
from gnomon.model.work import Shape, Task, Work
from tests.api.test_run import every_state, read_back, same_work
from tests.api.test_scenario_write import faults
from tests.insight.stories import Story

S = 10**9
NODES = Cluster(
    (
        Node("n", Resources(8000), machine=Machine(16_000, 2**40, 2**30, 10**12, 2 * 10**8, 2**31)),
        Node("m", Resources(8000), machine=Machine(disk_rate=5)),
        Node("o", Resources(8000)),
    )
)
LIMITS = Resources(1500, 2**40, gpus=1, gpu_share_e4=2500, named=(("b", 5), ("licence", 20_000)))
USAGES = (
    Usage((("store", Profile(((0, 7),))), ("memory", Profile(((0, 1), (S, 2**53), (S, 0)), 2 * S)))),
    Usage((("cpu", Profile(((0, 0), (2**61, 5)))),)),
)
RECOVERIES = (
    Recovery(),
    Recovery(
        (Retry(("exit", "memory"), 3, Backoff(S, 20_000, 9 * S, 1, 1000, NEVER), in_place=True), Retry()),
        Checkpoint(3600 * S, S, 2 * S, 3 * S),
        2,
    ),
)
OPERATION = Operation(
    Enforcement(
        "pinned", False, "none", 5, (Pressure("disk", 1, 2, "largest", 3, 4), Pressure()), "largest", 5, 6, Pauses()
    ),
    Heartbeat(1, 2, 3, "seen", 4),
    Eviction(1, 2, "zone", 3, 4, 5, 6, all_stop=True),
    "wait",
    7,
    8,
    Speculation(1, 2, 3, 4),
    ControlPlane(3, 1, 2, quorum=False),
    (Budget("*", 1), Budget("j", 0)),
)


EMPTY = Story(NODES, []).log


def work() -> Work:
    return Work.from_tasks(
        [
            Task("a", Shape(Resources(1000), limit=LIMITS), usage=USAGES[0]),
            Task("b", Shape(Resources(1000)), needs=("a",), recovery=RECOVERIES[1]),
            Task("c", Shape(Resources(1000), limit=Resources(memory_bytes=5)), usage=USAGES[1], needs=("a", "b")),
        ]
    )


def kept(scenario: Scenario) -> Scenario:
    return read_back(Run(scenario, EMPTY)).scenario


@pytest.mark.unit
def test_every_fact_is_kept() -> None:
    scenario = Scenario(
        NODES,
        work(),
        faults=(
            Failure(Fault.CRASH),
            Failure(Fault.PARTITION, 2**61, 2**60 + 1, ("zone/a",), ("zone/b", "control/0")),
            FailureProcess(Fault.SLOW, ("node/*",), 2**61 + 1, 3, Law.WEIBULL, 0.1, Law.FIXED, 1e-9, True, (), 5, 6, 7),
        ),
        operation=OPERATION,
        properties=("no", "every task ends: always", "0o17"),
        name="1e3",
    )
    again = kept(scenario)
    assert same_work(again.work, scenario.work)
    assert replace(again, work=scenario.work) == scenario
    assert [again.work.task(n) for n in range(3)] == [scenario.work.task(n) for n in range(3)]


@pytest.mark.unit
@pytest.mark.parametrize("detection", [Heartbeat(), Probe(0), Probe(5, 6, 7), Heartbeat(1, 2, 3)])
def test_detection_is_of_the_kind_that_it_was(detection: Heartbeat | Probe) -> None:
    found = kept(Scenario(NODES, work(), operation=Operation(detection=detection))).operation.detection
    assert (type(found), found) == (type(detection), detection)


@pytest.mark.unit
def test_what_is_said_of_no_task_is_not_there() -> None:
    run = every_state()
    assert {"usage", "usage_index", "recovery_index", "needs"}.isdisjoint(run.tasks().column_names)
    assert set(run.nodes()["machine"].to_pylist()) == {None}
    assert set(run.log_table()["details"].to_pylist()) == {None}


@pytest.mark.unit
def test_recovery_of_all_tasks_is_kept() -> None:
    everyone = replace(every_state().scenario.work, recoveries=RECOVERIES[1:])
    assert kept(Scenario(NODES, everyone)).work.recoveries == RECOVERIES[1:]


@pytest.mark.property
@settings(max_examples=20)
@given(st.lists(faults(), max_size=5).map(tuple))
def test_faults_are_kept(found: tuple[Failure | FailureProcess, ...]) -> None:
    assert kept(Scenario(NODES, every_state().scenario.work, faults=found)).faults == found


DETAILS = st.dictionaries(
    st.text(max_size=5), st.integers(-(2**62), 2**62) | st.text(st.characters(codec="utf-8"), max_size=5), max_size=3
)


@pytest.mark.property
@settings(max_examples=20)
@given(st.dictionaries(st.integers(0, 17), DETAILS, max_size=5))
def test_details_of_rows_are_kept(details: dict[int, dict[str, int | str]]) -> None:
    run = every_state()
    told = Run(run.scenario, replace(run.log, details=details))
    again = read_back(told)
    assert again.log.details == details
    assert again.log.digest() == told.log.digest()


@pytest.mark.unit
def test_details_are_json_with_names_in_order_in_every_slice(monkeypatch: pytest.MonkeyPatch) -> None:
    run = every_state()
    told = Run(run.scenario, replace(run.log, details={4: {"used": 2, "limit": 1}, 3: {"a": "x"}, 9: {}}))
    monkeypatch.setattr(tables, "SLICE", 4)
    texts = told.log_table()["details"].to_pylist()
    assert {row: text for row, text in enumerate(texts) if text} == {3: '{"a":"x"}', 4: '{"limit":1,"used":2}', 9: "{}"}


@pytest.mark.unit
def test_use_and_needs_can_be_asked_in_sql(tmp_path: Path) -> None:
    import duckdb

    Run(Scenario(NODES, work()), EMPTY).save(tmp_path / "run")
    query = "SELECT id, needs, usage->'$.cpu.points', limits->>'memory_bytes' FROM '{0}/tasks.parquet' ORDER BY id"
    assert duckdb.connect().execute(query.format(tmp_path / "run")).fetchall() == [
        ("a", None, None, str(2**40)),
        ("b", [0], None, None),
        ("c", [0, 1], f"[[0,0],[{2**61},5]]", "5"),
    ]


@pytest.mark.unit
def test_a_long_profile_that_many_tasks_share_is_kept_once(tmp_path: Path) -> None:
    points = tuple((n, int(amount)) for n, amount in enumerate(np.random.default_rng(1).integers(0, 2**50, 5_000)))
    tasks = [Task(str(n), usage=Usage((("memory", Profile(points)),))) for n in range(300)]
    scenario = Scenario(NODES, Work.from_tasks(tasks))
    Run(scenario, EMPTY).save(tmp_path / "run")
    assert (tmp_path / "run" / "tasks.parquet").stat().st_size < 2**20
    assert same_work(Run.open(tmp_path / "run").scenario.work, scenario.work)


@pytest.mark.unit
def test_runs_of_the_form_before_are_refused(tmp_path: Path) -> None:
    every_state().save(tmp_path / "run")
    file = tmp_path / "run" / "scenario.yaml"
    file.write_text(file.read_text().replace(f"gnomon_run: {FORM}", f"gnomon_run: {FORM - 1}"))
    with pytest.raises(InputError, match=f"is not a kept run; allowed: a directory .* of form {FORM}"):
        Run.open(tmp_path / "run")
