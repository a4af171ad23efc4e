"""What every explanation of a run with faults, use and recovery keeps to."""

import json

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gnomon.api import Run, explain, simulate
from gnomon.engine.log import Kind
from gnomon.insight.explain import explain as explained
from gnomon.insight.explain.chain import event
from gnomon.insight.explain.ground import Ground
from gnomon.insight.explain.sentences import sentence
from gnomon.model.errors import InputError
from gnomon.model.scenario import Scenario
from gnomon.report.explanation import explanation
from tests.insight.explain.faulty_scenarios import faulty_scenarios
from tests.insight.explain.test_answer import keeps_to_the_contract


def simulated(what: Scenario) -> Run:
    try:
        return simulate(what, compiled=False)
    except InputError:
        assume(False)
        raise


@pytest.mark.property
@given(faulty_scenarios(), st.data())
def test_whatever_goes_wrong_can_be_explained(what: Scenario, data: st.DataObject) -> None:
    done = simulated(what)
    name = data.draw(st.sampled_from([*map(str, what.work.ids), *(what.work.jobs or ())]))
    nodes = [node.name for node in what.cluster.nodes]
    found = explain(name, done, why_not=data.draw(st.sampled_from(nodes)))
    keeps_to_the_contract(found, done)
    assert found.why_not is not None
    assert found.why_not.reasons
    assert explanation(found.as_dict()).plain
    json.dumps(found.as_dict(), allow_nan=False)


@pytest.mark.property
@given(faulty_scenarios(), st.data())
def test_whatever_happens_to_a_node_can_be_explained(what: Scenario, data: st.DataObject) -> None:
    done = simulated(what)
    found = explain(f"node/{data.draw(st.sampled_from([node.name for node in what.cluster.nodes]))}", done)
    assert found.state in ("open", "closed", "lost")
    assert explanation(found.as_dict()).plain
    json.dumps(found.as_dict(), allow_nan=False)


@pytest.mark.property
@given(faulty_scenarios())
def test_every_row_has_a_sentence(what: Scenario) -> None:
    done = simulated(what)
    ground = Ground(done.past)
    for row in range(len(done.log)):
        text = sentence(ground, row)
        assert text
        assert "Reason." not in text
        assert Kind(int(done.log.kind[row])).name.lower() == event(ground, row)


@pytest.mark.property
@given(faulty_scenarios())
def test_a_chain_that_has_a_loss_by_a_fault_goes_back_to_it(what: Scenario) -> None:
    done = simulated(what)
    log = done.log
    for task in range(len(what.work)):
        found = explained(f"task/{what.work.id(task)}", what, log, simulate=lambda _: log)
        rows = {link.row for link in found.chain}
        for link in found.chain:
            row, walk = link.row, []
            if log.kind[row] != Kind.FAIL:
                continue
            while row >= 0 and log.kind[row] not in (Kind.FAULT, Kind.START):
                row = int(log.cause[row])
                walk.append(row)
            if row >= 0 and log.kind[row] == Kind.FAULT:
                assert row in rows
