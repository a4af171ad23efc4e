"""The word count in the shared world: phases, barrier, bytes; lost workers, slow ones, failures; the same output."""

from operator import add
from typing import Any

import pytest

from gnomon.dataflow import Dataflow
from gnomon.engine.log import Kind
from gnomon.model.fault import Failure, Fault
from gnomon.model.resources import NEVER
from gnomon.systems.mapreduce.settings import Settings
from tests.systems.mapreduce.by_hand import EVERYONE, word_count
from tests.systems.mapreduce.simulated import S, Simulated, simulated

OUTPUT = {"part-r-00000": [("everyone", 2)], "part-r-00001": [("hello", 1), ("welcome", 1)], "_SUCCESS": None}


@pytest.fixture(scope="module")
def calm() -> Simulated:
    return simulated(word_count(EVERYONE))


def crash(node: str, at_s: float, *, for_ns: int = NEVER) -> Failure:
    return Failure(Fault.CRASH, int(at_s * S), for_ns, (f"node/{node}",))


def test_two_maps_and_two_reduces_and_both_everyone_in_one(calm: Simulated) -> None:
    assert sorted(calm.of(Kind.END)) == ["0001_m_000000", "0001_m_000001", "0001_r_000000", "0001_r_000001"]
    assert calm.output == OUTPUT


def test_phases_bytes_and_files_are_in_the_log(calm: Simulated) -> None:
    maps = [calm.facts(f"0001_m_00000{number}") for number in range(2)]
    reduces = [calm.facts(f"0001_r_00000{number}") for number in range(2)]
    assert [name for name in maps[0] if name.endswith("_ns")] == [
        "start_ns",
        "read_ns",
        "map_ns",
        "spill_ns",
        "merge_ns",
    ]
    assert [name for name in reduces[0] if name.endswith("_ns")][:3] == ["start_ns", "copy_ns", "sort_ns"]
    moved = sum(one["REDUCE_SHUFFLE_BYTES"] for one in reduces)
    assert moved == sum(one["MAP_OUTPUT_MATERIALIZED_BYTES"] for one in maps) == 25 + 23 + 4 * 2 + 4 * 6
    assert sum(one["SHUFFLED_MAPS"] for one in reduces) == 2 * 2
    assert [one["spills"] for one in maps] == [1, 1]
    assert [one["committed"] for one in reduces] == ["part-r-00000", "part-r-00001"]


def test_no_reduce_function_is_called_before_every_map_is_done() -> None:
    """Reduces start after a twentieth of the maps, and copy; the last map decides when they go on."""
    lines = [["a b"]] * 3 + [["a b c d e f g h"]]
    run = simulated(word_count(lines, reduces=1), cluster=5)
    maps = [t for t, task in run.rows(Kind.END) if "_m_" in task]
    (start,) = [t for t, task in run.rows(Kind.START) if "_r_" in task]
    (end,) = [t for t, task in run.rows(Kind.END) if "_r_" in task]
    facts = run.facts("0001_r_000000")
    assert start == maps[0] < maps[-1], "started with the first map that was done"
    assert end == maps[-1] + (end - maps[-1])
    (barrier,) = run.said("BarrierOpened")
    assert barrier["t"] == maps[-1]
    assert facts["copy_ns"] > maps[-1] - start - S, "it waited, copying, for the last"
    assert end - maps[-1] < facts["sort_ns"] + facts["reduce_ns"] + facts["write_ns"] + S // 100


def test_a_worker_lost_after_the_map_phase_has_its_maps_run_again(calm: Simulated) -> None:
    node = calm.node("0001_m_000000")
    after_maps = max(t for t, task in calm.rows(Kind.END) if "_m_" in task) / S + 0.1
    run = simulated(word_count(EVERYONE), faults=[crash(node, after_maps)], cluster=6)
    lost = [task for task in calm.of(Kind.END) if "_m_" in task and run.node(task) == node]
    assert run.of(Kind.UNDO) == lost
    assert run.output == OUTPUT
    assert [task for task in run.of(Kind.START) if task in lost] == lost * 2, "a second time, elsewhere"


def test_a_worker_lost_when_all_is_copied_costs_no_map() -> None:
    lines = [["a b c d"], ["a b c d"]]
    calm = simulated(word_count(lines, reduces=1))
    map_node, reduce_node = calm.node("0001_m_000001"), calm.node("0001_r_000000")
    assert map_node != reduce_node
    end = max(t for t, _ in calm.rows(Kind.END))
    copied = max(t for t, task in calm.rows(Kind.END) if "_m_" in task) + S + S // 10
    run = simulated(word_count(lines, reduces=1), faults=[crash(map_node, copied / S)])
    assert run.rows(Kind.END)[-1] == (end, "0001_r_000000"), "the reduce does not notice"
    assert run.of(Kind.UNDO) == []


def slow(node: str) -> Failure:
    return Failure(Fault.SLOW, 0, NEVER, (f"node/{node}",), amount=500)


def many(count: int) -> Dataflow:
    return word_count([["a b c d e f g h"] for _ in range(count)])


def test_a_slow_map_gets_a_copy_and_only_the_first_that_is_done_counts() -> None:
    calm = simulated(many(6), cluster=8)
    node = calm.node("0001_m_000003")
    run = simulated(many(6), cluster=8, faults=[slow(node)])
    assert run.of(Kind.COPY) == ["0001_m_000003"]
    assert run.output == calm.output
    assert [task for task in run.of(Kind.END) if "_m_" in task].count("0001_m_000003") == 1
    off = simulated(many(6), cluster=8, faults=[slow(node)], settings=Settings(map_speculative=False))
    assert off.of(Kind.COPY) == []
    assert off.output == calm.output
    assert off.run.metrics()["makespan_s"] > 3 * run.run.metrics()["makespan_s"]


def test_the_combiner_run_never_once_or_three_times_gives_the_same_output() -> None:
    lines = [["a b a c"] * 30, ["b c c"] * 30]
    small = Settings(sort_mb=1, spill_share_e4=1)
    never = simulated(word_count(lines, combine=True), combining=False)
    once = simulated(word_count(lines, combine=True))
    often = simulated(word_count(lines, combine=True), settings=small)
    assert never.output == once.output == often.output
    assert never.facts("0001_m_000000")["COMBINE_INPUT_RECORDS"] == 0
    assert once.facts("0001_m_000000")["COMBINE_INPUT_RECORDS"] == 120
    assert often.facts("0001_m_000000")["spills"] > 3
    assert often.facts("0001_m_000000")["COMBINE_INPUT_RECORDS"] > 120


def test_a_wrong_combiner_shows() -> None:
    def mean(key: Any, values: list[float]) -> list[float]:
        return [sum(values) / len(values)]

    flow = Dataflow("mean")
    pairs = flow.source([[("a", 1.0), ("a", 2.0)], [("a", 6.0)]])
    pairs.group_by_key(combine=mean).map_values(lambda values: sum(values) / len(values)).sink("out")
    assert simulated(flow, combining=False).output["part-r-00000"] == [("a", 3.0)]
    assert simulated(flow).output["part-r-00000"] == [("a", 3.75)]


def test_a_function_that_raises_is_tried_four_times_and_then_fails_the_job() -> None:
    def broken(word: str) -> int:
        raise ValueError("no such word")

    flow = Dataflow("broken")
    flow.source([["x"]]).map(broken).map(lambda number: (number, 1)).reduce_by_key(add).sink("out")
    assert len(simulated(flow, settings=Settings(map_attempts=2)).of(Kind.FAIL)) == 2
    run = simulated(flow, settings=Settings(reduce_attempts=9))
    assert len(run.of(Kind.FAIL)) == 4
    (failed,) = run.said("JobFailed")
    assert "task 0 failed 4 times" in failed["message"]
    assert "broken" in failed["message"]
    assert "no such word" in failed["message"]
    assert run.output == {}


def test_keys_without_an_order_fail_the_job() -> None:
    flow = Dataflow("unsortable")
    flow.source([["a", 1]]).map(lambda key: (key, 1)).group_by_key(partitions=1).sink("out")
    run = simulated(flow)
    summary = run.run.summary
    assert summary is not None
    assert len(run.of(Kind.FAIL)) == 4
    assert "keys have no order among them" in summary.data["failures"][0]
    assert [listing.headers[0] for listing in summary.listings][1] == "JOB FAILED"


@pytest.mark.parametrize("lines", [[[]], [[""], []]])
def test_empty_input_gives_empty_files(lines: list[list[str]]) -> None:
    assert simulated(word_count(lines)).output == {"part-r-00000": [], "part-r-00001": [], "_SUCCESS": None}


def test_uber_runs_all_in_one_place_one_after_the_other() -> None:
    run = simulated(word_count(EVERYONE, reduces=1), settings=Settings(uber=True))
    assert len(run.run.scenario.cluster.nodes) == 1
    starts = [t for t, _ in run.rows(Kind.START)]
    assert starts == [0, *(t for t, _ in run.rows(Kind.END)[:-1])]
    assert run.facts("0001_m_000000")["start_ns"] == 0


@pytest.mark.parametrize(("attempts", "goes_on"), [(2, True), (1, False)])
def test_a_new_master_takes_over_what_is_done_and_starts_the_rest_anew(attempts: int, goes_on: bool) -> None:
    lines = [["a b"], ["a b c d e f g h"]]
    lost_at, back_after = 6 * S, 4 * S  # one of two maps is done
    fault = Failure(Fault.LEADER, lost_at, back_after)
    run = simulated(word_count(lines), settings=Settings(master_attempts=attempts), faults=[fault])
    assert len(run.said("DriverLost")) == 1
    if not goes_on:
        assert [facts["message"] for facts in run.said("JobFailed")] == ["the driver is lost"]
        assert run.output == {}
        return
    assert run.output == simulated(word_count(lines)).output
    again = [task for t, task in run.rows(Kind.START) if "_m_" in task and t >= lost_at + back_after]
    assert again == ["0001_m_000001"], "the map that was done is taken over"


@pytest.mark.parametrize("seed", range(4))
def test_whatever_is_lost_the_output_is_the_same(seed: int) -> None:
    lines = [[f"w{number % 7} w{number % 3}"] for number in range(8)]
    calm = simulated(word_count(lines), cluster=5, seed=seed)
    end = max(t for t, _ in calm.rows(Kind.END))
    faults = [crash(f"worker-{1 + (seed + n) % 5}", end * (n + 1) / 4 / S, for_ns=20 * S * (n + 1)) for n in range(3)]
    run = simulated(word_count(lines), cluster=5, seed=seed, faults=faults)
    assert run.output == calm.output
