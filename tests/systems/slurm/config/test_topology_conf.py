"""topology.conf against ``scontrol show topology``, and the refusals of ``switch_record.c`` and ``block_record.c``."""

import pytest

from gnomon.model.errors import InputError
from gnomon.systems.slurm.config.conf import Block, Conf, Switch
from gnomon.systems.slurm.config.slurm_conf import conf_of, read_conf
from gnomon.systems.slurm.notation.hostlist import compress
from tests.systems.slurm.shown import DATA, shown


def conf(topology: str, plugin: str = "tree", param: str = "") -> Conf:
    more = f"TopologyParam={param}\n" if param else ""
    nodes = "NodeName=n[1-4]\nPartitionName=p Nodes=ALL\n"
    return conf_of(f"TopologyPlugin=topology/{plugin}\n{more}{nodes}", None, topology)


def test_the_recorded_tree() -> None:
    found = read_conf(DATA / "06-topology-preempt" / "slurm.conf", version=(22, 5))
    by_name = {switch.name: switch for switch in found.switches}

    def below(switch: Switch) -> list[str]:
        return [*switch.nodes, *(name for child in switch.switches for name in below(by_name[child]))]

    printed = list(shown("06-topology-preempt", "show-topology.txt", "SwitchName"))
    assert list(by_name) == [record["SwitchName"] for record in printed]
    assert [compress(below(switch)) for switch in found.switches] == [record["Nodes"] for record in printed]
    assert [compress(switch.switches) for switch in found.switches] == [
        record.get("Switches", "") for record in printed
    ]


def test_nodes_of_a_switch_stand_in_the_order_of_the_node_table() -> None:
    found = conf("SwitchName=a Nodes=n[4,2]\nSwitchName=b Nodes=n[1,3],x\nSwitchName=c Switches=a,b")
    assert [switch.nodes for switch in found.switches] == [("n2", "n4"), ("n1", "n3"), ()]
    assert "Invalid hostnames in SwitchName=b: x" in [note.text for note in found.notes]
    assert [node.name for node in found.nodes] == ["n1", "n2", "n3", "n4"]


def test_switches_rank_the_nodes_where_that_is_asked_for() -> None:
    found = conf(
        "SwitchName=a Nodes=n[4,2]\nSwitchName=b Nodes=n3\nSwitchName=c Switches=[a-b]".replace("[a-b]", "a,b")
    )
    ranked = conf(
        "SwitchName=a Nodes=n[4,2]\nSwitchName=b Nodes=n3\nSwitchName=c Switches=a,b", param="SwitchAsNodeRank"
    )
    assert [node.name for node in found.nodes] == ["n1", "n2", "n3", "n4"]
    assert [node.name for node in ranked.nodes] == ["n1", "n2", "n4", "n3"]


def test_blocks_rank_the_nodes() -> None:
    found = conf("BlockName=b1 Nodes=n[3-4]\nBlockName=b2 Nodes=n[1-2]\nBlockSizes=2,4", "block")
    assert found.blocks == (Block("b1", ("n3", "n4")), Block("b2", ("n1", "n2")))
    assert found.block_sizes == (2, 4)
    assert [node.name for node in found.nodes] == ["n3", "n4", "n1", "n2"]


@pytest.mark.parametrize(
    ("plugin", "topology", "words"),
    [
        ("tree", "", "No switches configured"),
        ("tree", "SwitchName=a Nodes=n1\nSwitchName=a Nodes=n2", "Switch (a) has already been defined"),
        ("tree", "SwitchName=a Switches=b", "Switch configuration a has invalid child (b)"),
        ("tree", "SwitchName=a Switches=a", "Switch configuration a has invalid child (a)"),
        ("tree", "SwitchName=a Switches=b\nSwitchName=b Switches=a", "Switch configuration is not a tree"),
        ("tree", "BlockName=a Nodes=n1", "_parse_next_key: Parsing error at unrecognized key: BlockName"),
        ("block", "", "No blocks configured"),
        ("block", "BlockName=a", "block a hasn't got nodes"),
        ("block", "BlockName=a Nodes=n1\nBlockName=a Nodes=n2", "Block (a) has already been defined"),
        ("block", "BlockName=a Nodes=n1\nBlockSizes=2", "Block configuration (a) children count lower"),
        ("block", "BlockName=a Nodes=n1\nBlockSizes=1,3", "Invalid BlockSizes value: 3"),
    ],
)
def test_what_ends_slurmctld(plugin: str, topology: str, words: str) -> None:
    with pytest.raises(InputError) as raised:
        conf(topology, plugin)
    assert raised.value.problem.startswith(words)
    assert raised.value.file == "topology.conf"


def test_a_topology_that_no_plugin_reads_is_told_of() -> None:
    found = conf("SwitchName=a Nodes=n1", "flat")
    assert found.switches == ()
    assert "not read, TopologyPlugin is topology/flat" in [note.text for note in found.notes]


def test_switches_without_end_are_refused() -> None:
    chain = "SwitchName=s0 Nodes=n[1-4]\n" + "".join(f"SwitchName=s{i} Switches=s{i - 1}\n" for i in range(1, 100))
    with pytest.raises(InputError, match="more than 64 levels of switches") as raised:
        conf(chain)
    assert raised.value.line == 65
