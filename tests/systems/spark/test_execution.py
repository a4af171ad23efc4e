"""Jobs in Python on Spark's rules: the records of a run are right whatever happens to executors."""

from collections.abc import Mapping
from dataclasses import replace
from operator import add

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon.control.batch.play import played
from gnomon.dataflow import Dataflow
from gnomon.dataflow.execute import collect
from gnomon.engine.log import Log
from gnomon.model.cluster import Cluster, Machine, Node
from gnomon.model.errors import InputError
from gnomon.model.fault import Failure, Fault
from gnomon.model.resources import Resources
from gnomon.systems.spark.execution import Tasks
from gnomon.systems.spark.scenario import read_job

MS = 1_000_000


def word_count(partitions: int = 2) -> Dataflow:
    flow = Dataflow("wordcount")
    lines = flow.source([["welcome everyone"], ["hello everyone"]])
    pairs = lines.flat_map(str.split).map(lambda word: (word, 1))
    pairs.reduce_by_key(add, partitions=partitions).collect()
    return flow


def run(
    flow: Dataflow,
    cluster: Cluster | int = 2,
    *,
    faults: tuple[Failure, ...] = (),
    options: Mapping[str, object] | None = None,
) -> tuple[Tasks, Log]:
    """The state of a run at its end, and its log."""
    scenario = read_job(flow.graph(), lambda each: ({}, {}), cluster, [], options=options or {})
    log, driver = played(replace(scenario, faults=faults))
    execution = driver.execution
    assert isinstance(execution, Tasks)
    return execution, log


def executors(count: int, cores: int = 1) -> Cluster:
    return Cluster(tuple(Node(f"e{n}", Resources(cpu_milli=1000 * cores)) for n in range(count)))


def said(log: Log, reason: str) -> list[Mapping[str, int | str]]:
    return [facts for _, facts in sorted(log.details.items()) if facts.get("reason") == reason]


def read(log: Log, name: str) -> int:
    """A number that attempts tell, of all of them."""
    return sum(int(facts.get(name, 0)) for facts in log.details.values())


def test_both_records_of_a_word_meet_in_one_reducer() -> None:
    tasks, log = run(word_count())
    assert sorted(tasks.records()) == [("everyone", 2), ("hello", 1), ("welcome", 1)]
    assert [(one["stage"], one["tasks"]) for one in said(log, "StageSubmitted")] == [(0, 2), (1, 2)]


def test_bytes_that_cross_the_network_are_those_of_other_executors() -> None:
    _, here = run(word_count(), 2)
    assert not any("remote_bytes" in facts for facts in here.details.values())
    _, apart = run(word_count(), executors(2))
    total = sum(
        int(facts.get("remote_bytes", 0)) + int(facts.get("local_bytes", 0)) for facts in apart.details.values()
    )
    assert total == sum(int(facts.get("local_bytes", 0)) for facts in here.details.values())


def test_a_worker_lost_after_the_maps_has_its_maps_run_again_and_the_output_is_the_same() -> None:
    quick = {"spark.network.timeout": "100ms", "spark.executor.heartbeatInterval": "10ms"}
    lost = Failure(Fault.REBOOT, at_ns=7 * MS, for_ns=MS, targets=("node/e0",))
    tasks, log = run(word_count(), executors(2), faults=(lost,), options=quick)
    assert sorted(tasks.records()) == [("everyone", 2), ("hello", 1), ("welcome", 1)]
    assert [one["stage"] for one in said(log, "StageSubmitted")].count(0) >= 1
    assert said(log, "OutputsLost") or len(said(log, "StageSubmitted")) == 2


def test_a_function_that_raises_fails_the_job_after_four_attempts_and_is_named() -> None:
    def bad(word: str) -> tuple[str, int]:
        raise ValueError(f"no {word}")

    flow = Dataflow("bad")
    flow.source([["a"]]).map(bad, name="parse").collect()
    _, log = run(flow)
    (failed,) = said(log, "JobFailed")
    assert "failed 4 times" in str(failed["message"])
    assert "ValueError: no a" in str(failed["message"])


def test_a_shuffle_that_an_earlier_job_wrote_is_not_written_again() -> None:
    flow = Dataflow("two")
    counts = flow.source([["a b"], ["b"]]).flat_map(str.split).map(lambda w: (w, 1)).reduce_by_key(add, partitions=2)
    counts.collect(name="first")
    counts.map_values(str).collect(name="second")
    tasks, log = run(flow)
    assert [one["stage"] for one in said(log, "StageSubmitted")] == [0, 1, 3]
    assert sorted(tasks.records("second")) == [("a", "1"), ("b", "2")]


def test_a_cluster_is_wanted() -> None:
    with pytest.raises(InputError, match="the cluster is missing"):
        read_job(word_count().graph(), lambda each: ({}, {}), None, [], options={})


def test_executors_are_as_many_as_the_options_say() -> None:
    said_so = {"spark.executor.instances": 3, "spark.executor.cores": 2}
    scenario = read_job(word_count().graph(), lambda each: ({}, {}), None, [], options=said_so)
    assert [node.capacity.cpu_milli for node in scenario.cluster.nodes] == [2000] * 3


def five_stages() -> Dataflow:
    flow = Dataflow("five")
    numbers = flow.source([list(range(start, 200, 4)) for start in range(4)])
    by_ten = numbers.map(lambda n: (n % 10, n)).reduce_by_key(add, partitions=3)
    by_three = by_ten.map(lambda pair: (pair[0] % 3, pair[1])).group_by_key(partitions=2)
    sizes = by_three.map_values(len)
    sizes.join(by_ten.map_values(str), partitions=2).sort_by_key(partitions=2).collect()
    return flow


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_whatever_is_lost_the_records_are_those_of_a_run_without_faults(data: st.DataObject) -> None:
    expected = collect(five_stages())
    faults, begin = [], 0
    for _ in range(data.draw(st.integers(0, 4))):
        begin += data.draw(st.integers(1, 30)) * MS
        length = data.draw(st.integers(1, 20)) * MS
        node = data.draw(st.integers(0, 2))
        faults.append(Failure(Fault.REBOOT, at_ns=begin, for_ns=length, targets=(f"node/e{node}",)))
        begin += length
    tasks, log = run(five_stages(), executors(3, 2), faults=tuple(faults), options={"spark.speculation": True})
    if said(log, "JobFailed"):
        assert "could not fetch" in str(said(log, "JobFailed")[0]["message"])
    else:
        assert tasks.records() == expected


def test_adaptive_execution_joins_small_partitions_and_changes_no_record() -> None:
    flow = five_stages()
    expected = collect(flow)
    plain, before = run(flow, 2)
    on = {"spark.sql.adaptive.enabled": True, "spark.sql.adaptive.coalescePartitions.parallelismFirst": False}
    tasks, log = run(five_stages(), 2, options=on)
    assert tasks.records() == plain.records() == expected
    counts, joined = ([int(one["tasks"]) for one in said(one_log, "StageSubmitted")] for one_log in (before, log))
    assert len(counts) == len(joined)
    assert all(one <= other for one, other in zip(joined, counts, strict=True))
    assert sum(joined) < sum(counts)


def test_with_parallelism_first_no_task_is_larger_than_its_share() -> None:
    flow = Dataflow("wide")
    numbers = flow.source([list(range(1000))]).map(lambda n: (n, "x" * 5000))
    numbers.group_by_key(partitions=8).collect()
    _, log = run(flow, 2, options={"spark.sql.adaptive.enabled": True})
    assert [one["tasks"] for one in said(log, "StageSubmitted")] == [1, 2]


def test_a_shuffle_that_fills_the_disks_fails_with_sparks_words() -> None:
    flow = Dataflow()
    numbers = flow.source([list(range(1000))] * 4).map(lambda number: (number, number))
    numbers.group_by_key(partitions=2).collect()
    whole = read(run(flow, executors(2))[1], "shuffle_write_bytes")
    small = [replace(node, machine=Machine(disk_bytes=whole // 4)) for node in executors(2).nodes]
    failed = said(run(flow, Cluster(tuple(small)))[1], "JobFailed")
    assert str(failed[0]["message"]).endswith("failed 4 times: java.io.IOException: No space left on device")
    large = [replace(node, machine=Machine(disk_bytes=whole)) for node in executors(2).nodes]
    assert len(run(flow, Cluster(tuple(large)))[0].records()) == 1000
