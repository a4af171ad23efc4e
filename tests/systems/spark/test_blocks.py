"""What is cached and checkpointed: computed once, lost with its executor or not, evicted when memory is short."""

from collections.abc import Mapping
from dataclasses import replace
from operator import add

from gnomon.control.batch.play import played
from gnomon.dataflow import Dataflow
from gnomon.dataflow.plan import cut
from gnomon.engine.log import Log
from gnomon.model.cluster import Cluster, Node
from gnomon.model.fault import Failure, Fault
from gnomon.model.resources import Resources
from gnomon.systems.spark.blocks import Block, Blocks, View
from gnomon.systems.spark.execution import Tasks
from gnomon.systems.spark.scenario import read_job

MS = 1_000_000


def two_actions(mark: str) -> tuple[Dataflow, list[int]]:
    """Squares, marked or not, that two actions want; and what was squared."""
    seen: list[int] = []

    def squared(number: int) -> int:
        seen.append(number)
        return number * number

    flow = Dataflow()
    squares = flow.source([[1, 2], [3, 4]]).map(squared, name="squares")
    if mark:
        squares = getattr(squares, mark)()
    squares.map(lambda number: number + 1, name="more").collect(name="first")
    squares.map(lambda number: number - 1, name="less").collect(name="second")
    return flow, seen


def run(
    flow: Dataflow, faults: tuple[Failure, ...] = (), options: Mapping[str, object] | None = None
) -> tuple[Tasks, Log]:
    nodes = Cluster(tuple(Node(f"e{number}", Resources(cpu_milli=1000)) for number in range(2)))
    scenario = read_job(flow.graph(), lambda each: ({}, {}), nodes, [], options=options or {})
    log, driver = played(replace(scenario, faults=faults))
    assert isinstance(driver.execution, Tasks)
    return driver.execution, log


def results(tasks: Tasks) -> list[list[int]]:
    return [tasks.records("first"), tasks.records("second")]


def test_without_a_mark_the_second_action_computes_again() -> None:
    flow, seen = two_actions("")
    assert results(run(flow)[0]) == [[2, 5, 10, 17], [0, 3, 8, 15]]
    assert sorted(seen) == [1, 1, 2, 2, 3, 3, 4, 4]


def test_what_is_cached_is_computed_once_and_read_where_it_is() -> None:
    flow, seen = two_actions("cache")
    tasks, log = run(flow)
    assert results(tasks) == [[2, 5, 10, 17], [0, 3, 8, 15]]
    assert sorted(seen) == [1, 2, 3, 4]
    near = [facts.get("locality") for facts in log.details.values() if facts.get("stage") == 1 and "try" in facts]
    assert near == ["PROCESS_LOCAL", "PROCESS_LOCAL"]


def test_a_block_is_lost_with_its_executor_and_made_again() -> None:
    flow, seen = two_actions("cache")
    end = max(one["t"] for one in jobs(run(flow)[1]))
    seen.clear()
    reboot = Failure(Fault.REBOOT, at_ns=end + MS, for_ns=MS, targets=("node/e0",))
    tasks, _ = run(flow, (reboot,))
    assert results(tasks) == [[2, 5, 10, 17], [0, 3, 8, 15]]
    assert len(seen) == 6, "one of the two partitions twice"


def jobs(log: Log) -> list[dict[str, int]]:
    """The end of the first job."""
    return [
        {"t": int(log.t_ns[row])}
        for row, facts in log.details.items()
        if facts.get("reason") == "JobEnded" and facts.get("job") == 0
    ]


def test_a_checkpoint_outlives_every_executor() -> None:
    flow, seen = two_actions("checkpoint")
    end = jobs(run(flow)[1])[0]["t"]
    seen.clear()
    lost = tuple(Failure(Fault.REBOOT, at_ns=end + MS, for_ns=MS, targets=(f"node/e{n}",)) for n in range(2))
    assert results(run(flow, lost)[0]) == [[2, 5, 10, 17], [0, 3, 8, 15]]
    assert sorted(seen) == [1, 2, 3, 4]


def test_a_checkpoint_ends_the_lineage_of_later_jobs() -> None:
    """With the outputs of the shuffle lost as well, nothing before the checkpoint runs again; a cached one needs it."""

    def flow(mark: str) -> Dataflow:
        made = Dataflow()
        sums = made.source([[("a", 1)], [("b", 2)]]).reduce_by_key(add, partitions=2, name="sums")
        kept = getattr(sums, mark)()
        kept.collect(name="first")
        kept.map(str, name="texts").collect(name="second")
        return made

    for mark, again in (("checkpoint", 0), ("cache", 2)):
        end = jobs(run(flow(mark))[1])[0]["t"]
        lost = tuple(Failure(Fault.REBOOT, at_ns=end + MS // 100, for_ns=MS, targets=(f"node/e{n}",)) for n in range(2))
        tasks, log = run(flow(mark), lost)
        assert sorted(tasks.records("second")) == ["('a', 1)", "('b', 2)"]
        submitted = [
            facts["tasks"]
            for facts in log.details.values()
            if facts.get("reason") == "StageSubmitted" and facts["stage"] == 0 and facts["attempt"]
        ]
        assert sum(map(int, submitted)) == again, mark


def test_the_block_not_used_for_the_longest_time_goes_first_but_none_of_the_same_collection() -> None:
    flow = Dataflow()
    one = flow.source([[1]]).map(abs, name="one").cache()
    two = one.map(abs, name="two").cache()
    two.map(abs, name="three").cache().collect()
    layout = cut(flow.graph()).layout
    numbers = {stage.name: stage.number for stage in layout.stages.values()}
    first, second, third = (numbers[name] for name in ("one", "two", "three"))
    blocks = Blocks(layout, room=20)
    blocks.keep({(first, 0): ["123456789"]}, node=0)  # 10 bytes each
    blocks.keep({(second, 0): ["123456789"]}, node=0)
    assert View(blocks, 0).get(first, 0) == ["123456789"], "used: the other is now the older one"
    assert blocks.keep({(third, 0): ["123456789"]}, node=0) == 1
    assert set(blocks.held) == {(first, 0), (third, 0)}
    assert blocks.keep({(third, 1): ["1234567890123456789"]}, node=0) == 0, "it would need the room of its own kind"
    assert blocks.held[third, 0] == Block(["123456789"], 10, 0)
    view = View(blocks, node=1)
    assert view.get(first, 0) is not None
    assert view.remote == 10
