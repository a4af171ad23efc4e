"""Faults, operation and recovery in a scenario file: that they arrive, and that errors stand where they were made."""

from __future__ import annotations

from pathlib import Path

import pytest

from gnomon.api.load import load_scenario
from gnomon.api.parts import load_work
from gnomon.model.errors import InputError
from gnomon.model.fault import Failure, FailureProcess, Fault
from gnomon.model.operation import Heartbeat
from gnomon.model.recovery import Checkpoint, Recovery, Retry
from gnomon.model.scenario import Scenario

S = 10**9
DATA = Path(__file__).parents[1] / "data" / "traces"
HEAD = """\
cluster: {nodes: [{name: n, cpu: 4, count: 3, labels: {zone: a}}]}
work: [{id: t, job: j, cpu: 1, duration: 60, count: 2}]
"""


def load(folder: Path, text: str, head: str = HEAD) -> Scenario:
    path = folder / "s.yaml"
    path.write_text(head + text)
    (scenario,) = load_scenario(path)
    return scenario


def refused(folder: Path, text: str) -> str:
    with pytest.raises(InputError) as caught:
        load(folder, text)
    return str(caught.value).removeprefix(f"{folder / 's.yaml'}, ")


@pytest.mark.unit
def test_faults_operation_and_properties_arrive(tmp_path: Path) -> None:
    scenario = load(
        tmp_path,
        "faults:\n- {at: 10m, crash: node/n-1, for: 5m}\n- {fail: job/j, chance: 10%, mtbf: 1h}\n"
        "operation: {detection: {beat: 10s, grace: 40s}, eviction: {zone: zone}, budgets: [{job: j, unavailable: 1}]}\n"
        "properties: ['every task ends', at most 3 attempts]\n",
    )
    assert scenario.faults == (
        Failure(Fault.CRASH, 600 * S, 300 * S, ("node/n-1",)),
        FailureProcess(Fault.FAIL, ("job/j",), 3600 * S, amount=1000),
    )
    assert scenario.operation.detection == Heartbeat(10 * S, 0, 40 * S)
    assert scenario.properties == ("every task ends", "at most 3 attempts")


@pytest.mark.unit
def test_recovery_is_of_all_tasks_that_have_none_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "tasks.csv").write_text("id,submit,duration,cpu\nx,0,60,1\n")
    own = "{id: b, cpu: 1, recovery: {retries: 1}}"
    default = "{id: c, cpu: 1, recovery: {}}"
    (tmp_path / "tasks.yaml").write_text(f"[{{id: a, cpu: 1}}, {own}, {default}]")
    text = "recovery: {retries: 3, checkpoint: {every: 2h}}\n"
    everyone = Recovery((Retry(limit=3),), Checkpoint(7200 * S))
    from_files = load(tmp_path, text, "cluster: 4\nwork: [tasks.csv, tasks.yaml]\n").work
    expected = {"x": everyone, "a": everyone, "b": Recovery((Retry(limit=1),)), "c": Recovery()}
    assert {from_files.id(n): from_files.recovery_of(n) for n in range(4)} == expected
    in_place = load(tmp_path, text, f"cluster: 4\nwork: [{{id: a, cpu: 1}}, {own}, {default}]\n").work
    assert [in_place.recovery_of(n) for n in range(3)] == [expected[id] for id in "abc"]
    assert load_work(tmp_path / "tasks.yaml").recovery_of(0) == Recovery()


@pytest.mark.unit
def test_a_trace_of_outages_is_faults_of_the_nodes(tmp_path: Path) -> None:
    """Node 0 is away from 12/2/2001 0:10 to 2:10 (two that overlap); the table's first month begins on 1 December."""
    (tmp_path / "lanl.csv").write_bytes((DATA / "lanl-failures.csv").read_bytes())
    scenario = load(tmp_path, "faults: [{cordon: n-2}, {trace: lanl.csv, system: 20, offset: 1d, for: 2h}]\n")
    assert scenario.faults[1] == Failure(Fault.CRASH, 600 * S, 7200 * S, ("node/n-0",))
    assert any("overlap or touch" in note.text for note in scenario.work.notes)


@pytest.mark.unit
def test_a_trace_is_cut_at_the_end_of_the_run(tmp_path: Path) -> None:
    (tmp_path / "lanl.csv").write_bytes((DATA / "lanl-failures.csv").read_bytes())
    scenario = load(tmp_path, "until: 5m\nfaults: [{trace: lanl.csv, system: 20, offset: 1d}]\n")
    assert scenario.faults == ()


@pytest.mark.unit
@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("faults: {crash: n}\n", "line 3, faults: a list is wanted"),
        ("faults:\n- cordon: n-0\n- crash: node/n-9\n", "line 5, faults[1].crash: unknown node (did you mean 'n-2'?)"),
        ("faults:\n- {crash: task/t-0}\n", "line 4, faults[0].crash: a fault of kind crash hits no tasks"),
        ("faults:\n- {crash: }\n", "line 4, faults[0].crash: a fault of kind crash that hits nobody"),
        (
            "faults:\n- partition: n-0\n  from: n-4\n",
            "line 5, faults[0].from: unknown node (did you mean 'n-2'?), found 'n-4'",
        ),
        ("faults:\n- crash: n-0\n  left: 5\n", "line 5, faults[0].left: unknown field"),
        (
            "faults: [{device: n-0}]\n",
            "line 3, faults[0]: node 'n-0' has no such device, found 0; allowed: a node with",
        ),
        (
            "until: 1h\nfaults:\n- {crash: n-0, at: 2h}\n",
            "line 5, faults[0].at: begins after the end of the run, found '2h'; allowed: up to 1h",
        ),
        ("faults: [{crash: n-0, mtbf: 1h, shape: 2}]\n", "faults[0].shape: the law exponential has no shape, found 2"),
        (
            "faults:\n- {crash: n-0, at: 1h}\n- {crash: n-0, at: 2h}\n",
            "line 5, faults[1].at: overlapping crashes or reboots of node 'n-0': faults[0] is of the same",
        ),
        (
            "faults: [{crash: n-0, mtbf: 1h, begin: 2h, end: 1h}]\n",
            "faults[0].end: no fault can begin, found '1h'; allowed: after from_ns, 2h",
        ),
        ("faults: [{trace: 5}]\n", "line 3, faults[0].trace: text is wanted, found 5"),
        ("faults: [{trace: x.csv, offset: soon}]\n", "line 3, faults[0].offset: not a duration"),
        ("operation: {orphans: kill}\n", "line 3, operation.orphans: unknown answer to orphans"),
        (
            "operation: {eviction: {zone: zoen}}\n",
            "operation.eviction.zone: unknown label of nodes (did you mean 'zone'?)",
        ),
        ("operation: {budgets: [{job: k, unavailable: 1}]}\n", "line 3, operation.budgets[0].job: unknown job"),
        ("recovery: {retires: 3}\n", "line 3, recovery.retires: unknown field (did you mean 'retries'?)"),
        ("properties: [5]\n", "line 3, properties[0]: text is wanted, found 5"),
    ],
)
def test_errors_stand_where_they_were_made(tmp_path: Path, text: str, problem: str) -> None:
    assert problem in refused(tmp_path, text)


@pytest.mark.unit
def test_errors_of_traces_of_outages(tmp_path: Path) -> None:
    (tmp_path / "lanl.csv").write_bytes((DATA / "lanl-failures.csv").read_bytes())
    assert refused(tmp_path, "faults:\n- {trace: lanl.csv, systm: 20}\n").startswith(
        "line 4, faults[0].systm: unknown field (did you mean 'system'?); allowed: for, format, offset, system, trace"
    )
    assert refused(tmp_path, "faults: [{trace: absent.csv}]\n") == f"{tmp_path / 'absent.csv'}: no such file"
    assert "no failure of this system, found 99" in refused(tmp_path, "faults: [{trace: lanl.csv, system: 99}]\n")
    with pytest.raises(InputError, match=r"line 3, faults\[0\]: a pool of processors has no nodes"):
        load(tmp_path, "faults: [{trace: lanl.csv, system: 20}]\n", "cluster: 4\nwork: [{id: a, cpu: 1}]\n")


@pytest.mark.docs
def test_the_scenarios_of_the_page_are_read(tmp_path: Path) -> None:
    """What docs/scenarios.md shows as whole files."""
    page = (Path(__file__).parents[2] / "docs" / "scenarios.md").read_text()
    blocks = [block.partition("```")[0] for block in page.split("```yaml\n")[1:]]
    found = [load(tmp_path, block, "") for block in blocks if "cluster:" in block]
    assert [len(scenario.work) for scenario in found] == [8, 44]
    assert [len(scenario.faults) for scenario in found] == [0, 3]
    assert found[1].work.recovery_of(0).retries[0].limit == 3
