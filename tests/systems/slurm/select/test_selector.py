"""What the selector is asked. Unless said otherwise the values are those that Slurm 22.05.8 gave (recordings in
tests/golden/slurm and tests/data/slurm/select have the like)."""

import numpy as np
import pytest

from gnomon.systems.slurm.config.conf import Conf, NodeConf, PartitionConf
from gnomon.systems.slurm.config.slurm_conf import conf_of
from gnomon.systems.slurm.sbatch.request import JobRequest
from gnomon.systems.slurm.select import Selector, Shortfall
from tests.systems.slurm.select.replaying import Cluster

NODES = "NodeName=n[1-4] CPUs=8 Sockets=2 CoresPerSocket=4 ThreadsPerCore=1 RealMemory=16000\n"
PARTITION = "PartitionName=batch Nodes=ALL Default=YES MaxTime=INFINITE State=UP"


def cluster(
    parameters: str = "CR_Core_Memory\nDefMemPerCPU=1000", *, nodes: str = NODES, partition: str = "", more: str = ""
) -> Cluster:
    text = (
        "ClusterName=c\nSlurmctldHost=h\nSelectType=select/cons_tres\n"
        f"SelectTypeParameters={parameters}\n{more}\n{nodes}{PARTITION} {partition}\n"
    )
    return Cluster(conf_of(text, version=(22, 5)))


def nodes_of(found: Cluster, line: str) -> list[str] | None:
    places = found.places(found.ask(line))
    return None if places is None else [place[0] for place in places]


@pytest.mark.unit
@pytest.mark.parametrize(
    ("line", "places"),
    [
        ("-n4", [("n1", "0-1,4-5", 4000, "")]),
        ("-n12 -N2", [("n1", "0-7", 8000, ""), ("n2", "0-1,4-5", 4000, "")]),
        ("-n2 -N2 --mem=3000", [("n1", "0", 3000, ""), ("n2", "0", 3000, "")]),
        ("-n1 --mem=0", [("n1", "0", 16000, "")]),
        ("--exclusive", [("n1", "0-7", 8000, "")]),
        ("-n4 -m block:block", [("n1", "0-3", 4000, "")]),
        ("-n2 -w n3", [("n3", "0,4", 2000, "")]),
        ("-n40", None),
    ],
)
def test_cores_are_taken_in_turn_from_the_sockets(line: str, places: object) -> None:
    empty = cluster()
    assert empty.places(empty.ask(line)) == places


@pytest.mark.unit
def test_the_tightest_run_of_neighbours_comes_first_and_the_tightest_node_in_it() -> None:
    three = cluster()
    three.run("-n6 -w n1")
    three.run("-n8 -w n2")
    assert nodes_of(three, "-n2") == ["n1"]  # a run of one node that has two CPUs left
    assert nodes_of(three, "-n3") == ["n3"]
    three.run("-n5 -w n4")
    assert nodes_of(three, "-n3") == ["n4"]


@pytest.mark.unit
def test_lighter_nodes_go_before_tighter_ones() -> None:
    nodes = (
        "NodeName=n1 CPUs=4 Sockets=1 CoresPerSocket=4 RealMemory=8000 Weight=9\n"
        "NodeName=n2 CPUs=8 Sockets=2 CoresPerSocket=4 RealMemory=8000 Weight=5\n"
    )
    two = cluster(nodes=nodes)
    assert nodes_of(two, "-n2") == ["n2"]
    assert nodes_of(two, "-n10") == ["n1", "n2"]


@pytest.mark.unit
def test_without_a_default_a_job_takes_all_memory_of_its_node() -> None:
    one = cluster("CR_Core_Memory")
    first = one.run("-n1")
    assert one.places(first) == [("n1", "0", 16000, "")]
    assert nodes_of(one, "-n1") == ["n2"]


@pytest.mark.unit
def test_more_memory_for_a_cpu_than_the_limit_takes_more_cpus() -> None:
    found = cluster("CR_Core_Memory\nDefMemPerCPU=500\nMaxMemPerCPU=1000").ask("-n1 --mem-per-cpu=2500")
    assert found is not None
    assert found.total_cpus == 3


@pytest.mark.unit
def test_a_core_costs_all_its_threads() -> None:
    nodes = "NodeName=n1 CPUs=16 Sockets=2 CoresPerSocket=4 ThreadsPerCore=2 RealMemory=16000\n"
    found = cluster(nodes=nodes).ask("-n3")
    assert found is not None
    assert found.total_cpus == 4
    single = cluster(nodes=nodes).ask("-n3 --hint=nomultithread")
    assert single is not None
    assert single.total_cpus == 6


@pytest.mark.unit
def test_least_loaded_nodes_first_where_the_partition_says_so() -> None:
    spread = cluster(partition="LLN=YES")
    assert [nodes_of_run(spread, "-n2") for _ in range(5)] == [["n1"], ["n2"], ["n3"], ["n4"], ["n1"]]


def nodes_of_run(found: Cluster, line: str) -> list[str]:
    return [found.conf.nodes[n].name for n in found.run(line).nodes]


@pytest.mark.unit
def test_overcommit_asks_for_one_cpu() -> None:
    found = cluster().ask("-n20 -O")
    assert found is not None
    assert (found.nodes, found.total_cpus) == ((0,), 1)


@pytest.mark.unit
def test_shared_partitions_put_a_second_job_on_the_same_cores() -> None:
    shared = cluster("CR_Core", partition="OverSubscribe=FORCE:2")
    for _ in range(4):
        shared.run("-n8")
    fifth = shared.run("-n8")
    assert shared.places(fifth) == [("n1", "0-7", 0, "")]  # all cores are in use: a second row
    for _ in range(3):
        shared.run("-n8")
    assert shared.ask("-n8") is None


@pytest.mark.unit
def test_what_could_never_run_is_told_from_what_has_to_wait() -> None:
    full = cluster()
    for _ in range(4):
        full.run("-n8")
    assert full.ask("-n8") is None
    fits = full.selector.fits_ever
    assert fits(full.demand("-n8"), full.everywhere, full.nowhere)
    assert not fits(full.demand("-n33"), full.everywhere, full.nowhere)
    shortfall = full.selector.shortfall(full.demand("-n1 --mem=20000"), full.everywhere)
    assert shortfall is Shortfall.MEMORY


@pytest.mark.unit
def test_linear_gives_whole_nodes() -> None:
    text = f"ClusterName=c\nSlurmctldHost=h\nSelectType=select/linear\n{NODES}{PARTITION}\n"
    whole = Cluster(conf_of(text, version=(22, 5)))
    found = whole.run("-n1")
    assert (found.nodes, found.total_cpus) == ((0,), 8)
    assert nodes_of(whole, "-n9") == ["n2", "n3"]


@pytest.mark.unit
def test_a_job_that_waits_starts_when_the_last_of_the_group_that_makes_room_has_ended() -> None:
    """The window is 30 s for the first group, then 60 s, …: ends at 100 s and 125 s are one group."""
    busy = cluster(nodes=NODES.replace("[1-4]", "[1-2]"))
    running = [(end, busy.run("-n8")) for end in (125, 100)]
    plan = busy.selector.will_run
    demand = busy.demand("-n8")
    found = plan(busy.occupancy, demand, busy.everywhere, busy.nowhere, sorted(running, key=lambda one: one[0]), now=0)
    assert found is not None
    assert (found[0], found[1].nodes) == (125, (0,))
    apart = [(100, running[1][1]), (131, running[0][1])]
    found = plan(busy.occupancy, demand, busy.everywhere, busy.nowhere, apart, now=0)
    assert found is not None
    assert (found[0], found[1].nodes) == (100, (1,))


@pytest.mark.unit
def test_who_gives_way_makes_room_now() -> None:
    busy = cluster(nodes=NODES.replace("[1-4]", "1"))
    low = busy.run("-n8")
    usable, nothing = busy.everywhere, busy.nowhere
    found = busy.selector.will_run(busy.occupancy, busy.demand("-n2"), usable, nothing, [], now=7, gone=[low])
    assert found is not None
    assert found[0] == 7
    assert busy.ask("-n2") is None  # it was only supposed


@pytest.mark.unit
def test_held_cores_are_nobodys() -> None:
    kept = cluster()
    copy = kept.occupancy.copy()
    copy.hold({0: [0, 1, 2, 3]})
    found = kept.selector.select(copy, kept.demand("-n4"), kept.everywhere, kept.nowhere)
    assert kept.places(found) == [("n1", "4-7", 4000, "")]
    assert np.array_equal(kept.occupancy.columns.columns.free[0], [4, 4])


@pytest.mark.unit
def test_trackable_resources_of_an_allocation() -> None:
    one = cluster(partition="TRESBillingWeights=CPU=2")
    found = one.run("-n12 -N2")
    counted = one.selector.tres(found, one.partition)
    assert {name: counted[name] for name in ("cpu", "mem", "node", "billing")} == {
        "cpu": 12,
        "mem": 12000,
        "node": 2,
        "billing": 24,
    }


@pytest.mark.parametrize("count", [5, 6, 8])
def test_nodes_behind_those_that_are_named_are_reached(count: int) -> None:
    """The run that is chosen from begins behind the named nodes: all of the others are looked at."""
    conf = Conf(
        tuple(NodeConf(f"c{i}", cpus=2, sockets=1, cores=2) for i in range(1, 9)),
        (PartitionConf("batch", tuple(f"c{i}" for i in range(1, 9))),),
        {},
    )
    selector = Selector(conf)
    demand = selector.demand_of(JobRequest(nodes_min=count, nodes_max=count), conf.partitions[0])
    required = np.arange(8) < 4
    found = selector.select(selector.occupancy(), demand, np.ones(8, np.bool_), required)
    assert found is not None
    assert len(found.nodes) == count
    assert set(range(4)) <= set(found.nodes)
