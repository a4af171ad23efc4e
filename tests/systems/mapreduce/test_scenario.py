"""Scenarios of MapReduce: what tasks ask for, where blocks lie, and jobs that no node has room for."""

import pytest

from gnomon.dataflow.splits import Split
from gnomon.model.cluster import Cluster, Node
from gnomon.model.errors import InputError
from gnomon.model.resources import Resources
from gnomon.systems.mapreduce.read import Configuration
from gnomon.systems.mapreduce.scenario import Native, _Blocks, scenario_of
from gnomon.systems.mapreduce.settings import Settings
from tests.systems.mapreduce.by_hand import EVERYONE, word_count

GB = 2**30


def cluster(nodes: int = 4, *, memory: int = 4 * GB, cores: int = 2) -> Cluster:
    return Cluster(
        tuple(
            Node(f"n{number}", Resources(1000 * cores, memory), labels=(("rack", f"r{number % 2}"),))
            for number in range(nodes)
        )
    )


def test_containers_ask_for_memory_and_cores_and_in_a_number_of_slots_for_one_core() -> None:
    settings = Configuration(Settings(map_memory_mb=2048, reduce_vcores=2))
    scenario = scenario_of(word_count(EVERYONE).graph(), cluster(), settings)
    asked = [scenario.work.shapes[shape].request for shape in scenario.work.shape]
    assert asked[0] == Resources(1000, 2 * GB)
    assert asked[-1] == Resources(2000, 1 * GB)
    assert isinstance(scenario.native, Native)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (Settings(map_memory_mb=8192), "mapreduce.map.memory.mb: no node has room for a map: the job would be killed"),
        (Settings(reduce_vcores=3), "mapreduce.reduce.cpu.vcores: no node has room for a reduce"),
    ],
)
def test_a_container_that_fits_nowhere(settings: Settings, message: str) -> None:
    with pytest.raises(InputError) as error:
        scenario_of(word_count(EVERYONE).graph(), cluster(), Configuration(settings))
    assert message in str(error.value)


def test_a_block_lies_on_two_racks_and_all_its_splits_are_near_the_same_nodes() -> None:
    blocks = _Blocks(Settings(block_bytes=100), cluster(6), seed=1)
    first, same, next_block = (blocks.of(Split("f", offset, 50)) for offset in (0, 50, 100))
    assert first == same
    assert len(set(first)) == len(set(next_block)) == 3
    assert {node % 2 for node in first} == {0, 1}
    assert blocks.of(Split("empty", 0, 0)) == ()
