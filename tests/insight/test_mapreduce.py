"""The summary of a run of MapReduce: phases, and Hadoop's counters as measured."""

import pytest

from gnomon.model.fault import Failure, Fault
from gnomon.model.resources import NEVER
from gnomon.systems.mapreduce.counters import TASK_COUNTERS
from tests.systems.mapreduce.by_hand import EVERYONE, MEASURED, word_count
from tests.systems.mapreduce.simulated import S, Simulated, simulated


def counters(one: Simulated) -> dict[str, int]:
    summary = one.run.summary
    assert summary is not None
    return dict(summary.data["counters"]["0001"])


@pytest.mark.parametrize("combine", [False, True])
def test_the_counters_of_the_measured_word_count(combine: bool) -> None:
    found = counters(simulated(word_count(MEASURED, combine=combine)))
    bytes_moved, reduce_input, spilled = (98, 7, 14) if combine else (118, 9, 18)
    assert found == {
        "TOTAL_LAUNCHED_MAPS": 2,
        "TOTAL_LAUNCHED_REDUCES": 2,
        "MAP_INPUT_RECORDS": 4,
        "MAP_OUTPUT_RECORDS": 9,
        "MAP_OUTPUT_BYTES": 76,
        "MAP_OUTPUT_MATERIALIZED_BYTES": bytes_moved,
        "COMBINE_INPUT_RECORDS": 9 if combine else 0,
        "COMBINE_OUTPUT_RECORDS": 7 if combine else 0,
        "REDUCE_INPUT_GROUPS": 5,
        "REDUCE_SHUFFLE_BYTES": bytes_moved,
        "REDUCE_INPUT_RECORDS": reduce_input,
        "REDUCE_OUTPUT_RECORDS": 5,
        "SPILLED_RECORDS": spilled,
        "SHUFFLED_MAPS": 4,
        "MERGED_MAP_OUTPUTS": 4,
    }


def test_a_map_that_runs_again_is_counted_once_among_records_and_twice_among_attempts() -> None:
    calm = simulated(word_count(EVERYONE))
    node, end = calm.node("0001_m_000000"), max(t for t, task in calm.rows_of_maps())
    lost = simulated(word_count(EVERYONE), faults=[Failure(Fault.CRASH, end + S // 10, NEVER, (f"node/{node}",))])
    found, before = counters(lost), counters(calm)
    assert found["TOTAL_LAUNCHED_MAPS"] > before["TOTAL_LAUNCHED_MAPS"]
    assert {name: found[name] for name in TASK_COUNTERS if name in found} == {
        name: before[name] for name in TASK_COUNTERS if name in before
    }
    summary = lost.run.summary
    assert summary is not None
    maps = summary.data["phases"][0]
    assert (maps["phase"], maps["tasks"]) == ("map", 2)
    assert maps["again"] >= 1
    assert [listing.headers[0] for listing in summary.listings] == ["JOB", "COUNTER"]


def test_a_job_whose_nodes_are_lost_for_ever_runs_still() -> None:
    calm = simulated(word_count(EVERYONE))
    assert calm.run.summary is not None
    assert calm.run.summary.data["running"] == []
    names = tuple(f"node/{node.name}" for node in calm.run.scenario.cluster.nodes)
    lost = simulated(word_count(EVERYONE), faults=[Failure(Fault.CRASH, S // 10, NEVER, names)])
    summary = lost.run.summary
    assert summary is not None
    assert summary.data["running"] == ["0001"]
    assert ["0001", "RUNNING"] in [row for listing in summary.listings for row in listing.rows]
