"""In what scenarios differ: only that, each in the words and units of the settings."""

from dataclasses import replace

import pytest

from gnomon.model.cluster import Cluster
from gnomon.model.fault import Failure, Fault
from gnomon.model.operation import Eviction, Heartbeat, Operation
from gnomon.model.scenario import Policy, Scenario
from gnomon.model.work import Work
from gnomon.report.differences import differences

pytestmark = pytest.mark.unit

S = 10**9
ONE = Scenario(Cluster.of_processors(4), Work.from_tasks([]))


@pytest.mark.parametrize(
    ("other", "found"),
    [
        (ONE, []),
        (replace(ONE, name="other", source="elsewhere"), []),
        (replace(ONE, policy=Policy(order="sjf")), [("policy", ["fcfs", "sjf"])]),
        (replace(ONE, kill_at_limit=False), [("kill at limit", ["yes", "no"])]),
        (replace(ONE, operation=Operation(fence_ns=300 * S)), [("operation fence", ["never", "5m"])]),
        (
            replace(ONE, operation=Operation(eviction=Eviction(partial_e4=5_500, after_ns=S))),
            [("operation eviction after", ["0s", "1s"]), ("operation eviction partial", ["0.0%", "55.0%"])],
        ),
        (
            replace(ONE, operation=Operation(detection=Heartbeat(beat_ns=10 * S, since="seen"))),
            [("operation detection beat", ["0s", "10s"]), ("operation detection since", ["beat", "seen"])],
        ),
    ],
)
def test_settings_that_differ_are_listed_with_their_values(other: Scenario, found: list[tuple[str, list[str]]]) -> None:
    assert differences([ONE, other]) == found


def test_what_one_has_and_the_other_lacks_is_shown_as_nothing() -> None:
    faulty = replace(ONE, faults=(Failure(Fault.CRASH, at_ns=600 * S, targets=("node/n-0",)),))
    found = dict(differences([ONE, faulty]))
    assert found["faults 1 kind"] == ["-", "crash"]
    assert found["faults 1 at"] == ["-", "10m"]
    assert found["faults 1 targets 1"] == ["-", "node/n-0"]
    assert all(texts[0] == "-" for texts in found.values())
