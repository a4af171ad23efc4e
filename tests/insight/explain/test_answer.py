"""What every explanation keeps to, whatever the scenario."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.api import Reservation, Run, View, explain, simulate
from gnomon.engine.log import Kind, State
from gnomon.insight.explain import Explanation, answer
from gnomon.model.errors import InputError
from gnomon.model.scenario import Scenario
from gnomon.report.explanation import explanation
from tests.insight.explain.documents import explain as explained
from tests.insight.explain.documents import run, scenario
from tests.insight.explain.scenarios import scenarios
from tests.shared import EXAMPLES

KINDS = {"infeasible", "event", "limit", "behind"}


@pytest.mark.property
@given(scenarios(), st.data())
def test_everything_can_be_explained(what: Scenario, data: st.DataObject) -> None:
    done = simulate(what, compiled=False)
    names = [*map(str, what.work.ids), *(what.work.jobs or ())]
    found = explain(data.draw(st.sampled_from(names)), done)
    keeps_to_the_contract(found, done)
    assert explanation(found.as_dict()).plain
    json.dumps(found.as_dict(), allow_nan=False)


def keeps_to_the_contract(found: Explanation, done: Run) -> None:
    log = done.log
    assert found.state in {state.label for state in State}
    assert found.summary.endswith(".")
    for wait in found.waiting:
        assert wait.kind in KINDS
        assert wait.end_ns >= wait.begin_ns
    if found.classes:
        assert sum(one.nodes for one in found.classes) == len(done.scenario.cluster.nodes)
        names = {node.name for node in done.scenario.cluster.nodes}
        assert all(one.example in names and one.reasons for one in found.classes)
    rows = [link.row for link in found.chain]
    assert rows == sorted(set(rows))
    assert [link.t_ns for link in found.chain] == log.t_ns[rows].tolist()
    assert [change.cost for change in found.changes] == sorted(change.cost for change in found.changes)
    assert all(change.confirmed for change in found.changes)


@pytest.mark.property
@given(scenarios())
def test_the_spells_of_waiting_add_up_to_the_wait(what: Scenario) -> None:
    done = simulate(what, compiled=False)
    outcome = done.outcome
    for task in np.flatnonzero((outcome.attempts == 1) & (outcome.state == State.DONE)).tolist():
        found = explain(f"task/{what.work.id(task)}", done)
        spells = {(wait.begin_ns, wait.end_ns) for wait in found.waiting}
        waited = int(outcome.first_start_ns[task] - what.work.submit_ns[task])
        assert sum(end - begin for begin, end in spells) == waited


@pytest.mark.unit
def test_a_row_that_cannot_run_is_refused_as_such() -> None:
    what = scenario("{cluster: 4, work: [{id: a, cpu: 1, duration: 1s}, {id: b, cpu: 1, duration: 1s}]}")
    what = replace(what, work=replace(what.work, usable=np.array([True, False])))
    found = explained("b", what)
    assert found.state == "rejected"
    assert [(wait.kind, wait.rule, wait.object) for wait in found.waiting] == [("infeasible", "unusable", "task/b")]
    assert found.changes == ()


@pytest.mark.unit
def test_an_order_in_python_has_no_positions() -> None:
    what = scenario(
        """
        cluster: 2
        work: [{id: a, cpu: 2, duration: 1h}, {id: b, cpu: 2, duration: 1h}, {id: c, cpu: 2, duration: 1h}]
        """
    )
    last_first = replace(what.policy, order=lambda view, tasks: -tasks)
    found = explained("a", replace(what, policy=last_first))
    assert found.waiting[0].numbers["position"] is None
    assert found.waiting[0].text == "it is the turn of b, which waits for 2 cpu"


@pytest.mark.unit
def test_a_kept_run_of_an_order_in_python_is_explained_without_changes(tmp_path: Path) -> None:
    what = scenario("{cluster: 2, work: [{id: a, cpu: 2, duration: 1h}, {id: b, cpu: 2, duration: 1h}]}")

    def last_first(view: View, tasks: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        return -tasks

    simulate(replace(what, policy=replace(what.policy, order=last_first))).save(tmp_path / "kept")
    found = explain("a", Run.open(tmp_path / "kept"))
    assert found.waiting[0].rule == "resources"
    assert found.changes == ()
    assert found.notes == ("no changes were tried, for a kept run does not hold a policy that is written in Python",)


@pytest.mark.unit
def test_of_a_job_that_was_killed_all_tasks_are_to_run_to_their_ends() -> None:
    found = explained(
        "sweep",
        """
        cluster: 4
        work:
          - {id: s1, job: sweep, cpu: 1, duration: 50m, estimate: 1h}
          - {id: s2, job: sweep, cpu: 1, duration: 90m, estimate: 1h}
          - {id: s3, job: sweep, cpu: 1, duration: 70m, estimate: 1h}
        """,
    )
    assert found.state == "killed"
    assert "(of its 3 tasks 1 is done and 2 are killed)" in found.summary
    assert found.changes[0].what == "say that it takes 1h30m instead of 1h: it is done at 1h30m"


@pytest.mark.unit
def test_that_nothing_helps_is_said() -> None:
    found = explained("etl-11", (EXAMPLES / "two-queues.yaml").read_text(encoding="utf-8"))
    assert found.changes == ()
    assert found.notes == ("no single change that was tried brings about that it starts by 40m",)


@pytest.mark.unit
def test_a_cycle_of_three_jobs_is_named() -> None:
    found = explained(
        "b2",
        """
        cluster:
          nodes:
            - {name: x, cpu: 1, kind: X}
            - {name: y, cpu: 1, kind: Y}
            - {name: z, cpu: 1, kind: Z}
        work:
          - {id: a1, job: a, cpu: 1, kinds: [X], duration: 1h}
          - {id: b1, job: b, cpu: 1, kinds: [Y], duration: 1h}
          - {id: c1, job: c, cpu: 1, kinds: [Z], duration: 1h}
          - {id: a2, job: a, cpu: 1, kinds: [Y], duration: 1h}
          - {id: b2, job: b, cpu: 1, kinds: [Z], duration: 1h}
          - {id: c2, job: c, cpu: 1, kinds: [X], duration: 1h}
        gang: false
        """,
    )
    last = found.waiting[-1]
    assert (last.rule, last.object, last.numbers["jobs"]) == ("deadlock", "job/c", 3)
    assert "b holds 1 cpu for 1 of its 2 tasks and waits for c" in found.summary
    assert "a holds 1 cpu for 1 of its 2 tasks and waits for b" in found.summary


@pytest.mark.unit
def test_a_task_that_waits_for_a_job_in_a_cycle_is_not_in_it() -> None:
    found = explained(
        "late",
        """
        cluster: {nodes: [{name: g, cpu: 8, gpus: 2}]}
        work:
          - {id: a1, job: a, gpus: 1, duration: 1h}
          - {id: b1, job: b, gpus: 1, duration: 1h, user: v}
          - {id: a2, job: a, gpus: 1, duration: 1h}
          - {id: b2, job: b, gpus: 1, duration: 1h, user: v}
          - {id: late, gpus: 1, duration: 1h, user: w}
        policy: round-robin
        gang: false
        """,
    )
    assert "a holds 1 gpu for 1 of its 2 tasks and waits for b" in found.summary
    assert "late holds" not in found.summary


@pytest.mark.unit
def test_starvation_is_named_where_it_is_large() -> None:
    others = "".join(f"\n  - {{id: o{i}, cpu: 1, submit: {i}m, duration: 2m}}" for i in range(1, 31))
    text = "cluster: 2\npolicy: smallest\nuntil: 25m\nwork:\n  - {id: first, cpu: 1, duration: 1m}"
    text += "\n  - {id: wide, cpu: 2, submit: 30s, duration: 1m}" + others
    found = explained("wide", text)
    assert found.state == "waiting"
    assert "25 tasks that came later started earlier" in found.summary
    assert found.waiting[-1].numbers["overtaken"] == 25


@pytest.mark.unit
def test_printed_it_is_the_sentence_and_the_changes() -> None:
    found = explained("big", "cluster: 4\nwork: [{id: big, cpu: 8, duration: 1s}]")
    lines = str(found).splitlines()
    assert lines[:2] == ["task/big   rejected", found.summary]
    assert lines[2:] == [f"- {one.what}" for one in found.changes]
    assert "- ask for 4 cpu instead of 8: it starts at 0s" in lines


@pytest.mark.unit
def test_a_search_that_stops_early_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "cluster: 100000\nwork: [{id: a, cpu: 60000, duration: 1h}, {id: b, cpu: 60000, duration: 1h}]"
    done = run(text)
    monkeypatch.setattr(answer, "trials_max", lambda tasks: 4)
    assert explain("b", done).notes == ("the search for changes stopped after 4 runs; there may be smaller ones",)
    monkeypatch.undo()
    assert explain("b", done).notes == ("listed is what at least halves the wait: it starts by 30m",)


@pytest.mark.unit
def test_a_reservation_for_its_user_is_not_in_the_way() -> None:
    what = scenario("{cluster: {nodes: [{name: n, cpu: 2}]}, work: [{id: a, cpu: 2, duration: 1h, user: ann}]}")
    window = Reservation("ours", 0, 10**13, users=("ann",))
    found = explained("a", replace(what, cluster=replace(what.cluster, reservations=(window,))))
    assert found.summary == "a started at 0s, on its arrival, and was done at 1h."
    assert found.waiting == ()
    assert [link.event for link in found.chain] == [k.name.lower() for k in (Kind.ARRIVE, Kind.START, Kind.END)]


@pytest.mark.unit
def test_an_unknown_subject_is_the_users_mistake() -> None:
    with pytest.raises(InputError, match="no task or job has this name"):
        explained("nobody", "{cluster: 1, work: [{id: a, cpu: 1, duration: 1s}]}")
