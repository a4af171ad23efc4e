"""gres.conf merged into the nodes: gres.conf(5) and ``_merge_gres2`` of ``gres.c``."""

import pytest

from gnomon.model.errors import InputError
from gnomon.systems.slurm.config.conf import Conf, Gres
from gnomon.systems.slurm.config.slurm_conf import conf_of, read_conf
from tests.systems.slurm.shown import DATA


def conf(gres: str, gres_conf: str | None, types: str = "gpu,shard,mps,nvme", nodes: str = "n[1-2]") -> Conf:
    return conf_of(f"GresTypes={types}\nNodeName={nodes} CPUs=16 Gres={gres}\nPartitionName=p Nodes=ALL", gres_conf)


def of(node: str, found: Conf) -> tuple[Gres, ...]:
    return next(one.gres for one in found.nodes if one.name == node)


def test_cores_of_the_recorded_cluster() -> None:
    found = read_conf(DATA / "03-gpu" / "slurm.conf", version=(22, 5))
    low, high = tuple(range(32)), tuple(range(32, 64))
    assert of("gpu001", found) == (Gres("gpu", "a100", 8, low),)
    assert of("gpu101", found) == (
        Gres("gpu", "h100", 4, low),
        Gres("gpu", "h100", 4, high),
        Gres("nvme", "", 4, count_only=True),
    )
    assert of("cpu01", found) == ()


def test_a_line_holds_for_its_nodes_or_for_all() -> None:
    found = conf(
        "gpu:1", "NodeName=n1 Name=gpu File=/dev/g0 Cores=0-3\nNodeName=n[2-3] Name=gpu File=/dev/g0 Cores=4,6"
    )
    assert of("n1", found)[0].cores == (0, 1, 2, 3)
    assert of("n2", found)[0].cores == (4, 6)
    assert of("n1", conf("gpu:1", "Name=gpu File=/dev/g0"))[0] == Gres("gpu", "", 1)


def test_kinds_stand_in_the_order_of_grestypes_types_in_that_of_the_node() -> None:
    found = conf("nvme:2K,gpu:b:1,gpu:a:2", None)
    assert [(gres.name, gres.type, gres.count) for gres in of("n1", found)] == [
        ("gpu", "b", 1),
        ("gpu", "a", 2),
        ("nvme", "", 2048),
    ]


def test_an_untyped_request_takes_records_of_any_type() -> None:
    found = conf("gpu:3", "Name=gpu Type=a File=/dev/g[0-1]\nName=gpu Type=b File=/dev/g[2-3]")
    assert [(gres.type, gres.count) for gres in of("n1", found)] == [("", 2), ("", 1)]
    assert "gpu:b has 1 more configured than expected in slurm.conf" in " ".join(note.text for note in found.notes)


def test_what_gres_conf_does_not_name_has_no_file() -> None:
    assert of("n1", conf("gpu:4", "Name=gpu File=/dev/g[0-1]")) == (
        Gres("gpu", "", 2),
        Gres("gpu", "", 2, count_only=True),
    )
    assert of("n1", conf("gpu:4", "AutoDetect=nvml")) == (Gres("gpu", "", 4),)
    assert of("n1", conf("gpu:4", "AutoDetect=nvml\nNodeName=n1 AutoDetect=off")) == (
        Gres("gpu", "", 4, count_only=True),
    )
    assert of("n1", conf("gpu:4", None)) == (Gres("gpu", "", 4),)


def test_links_shards_and_slices_of_gpus() -> None:
    linked = "Name=gpu File=/dev/g0 Links=-1,4\nName=gpu File=/dev/g1 Links=4,-1"
    assert [gres.links for gres in of("n1", conf("gpu:2", linked))] == [((-1, 4),), ((4, -1),)]
    shards = conf("gpu:2,shard:16", "Name=gpu File=/dev/g[0-1]\nName=shard Count=16")
    assert of("n1", shards)[1] == Gres("shard", "", 16, count_only=True)
    slices = "Name=gpu Type=s File=/dev/g0\nName=gpu Type=m MultipleFiles=/dev/g[1-2]"
    assert of("n1", conf("gpu:s:1,gpu:m:1", slices)) == (Gres("gpu", "s", 1), Gres("gpu", "m", 1))


def test_names_that_grestypes_does_not_have_are_dropped_as_slurmctld_does() -> None:
    found = conf("fpga:1,gpu:1", "Name=fpga Count=1\nName=gpu File=/dev/g0")
    assert of("n1", found) == (Gres("gpu", "", 1),)
    texts = [note.text for note in found.notes]
    assert "Invalid GRES configured on node n[1-2]: fpga:1" in texts
    assert "Ignoring gres.conf record, invalid name: fpga" in texts


@pytest.mark.parametrize(
    ("gres", "gres_conf", "words"),
    [
        ("gpu:1,gpu:a:1", "", "_foreach_slurm_conf: Some gpu GRES in slurm.conf have a type while others do not"),
        ("gpu:2", "Name=gpu File=/dev/g0\nName=gpu Count=1", 'gres.conf for gpu, some records have "File"'),
        (
            "gpu:2",
            "Name=gpu File=/dev/g0\nName=gpu Type=a File=/dev/g1",
            'gres.conf for gpu, some records have "Type="',
        ),
        ("nvme:2", "Name=nvme\nName=nvme", "gres.conf duplicate records for nvme"),
        ("gpu:2", "Name=gpu Count=3 File=/dev/g[0-1]", "Invalid GRES record for gpu, count does not match File value"),
        ("gpu:2", "Name=gpu Count=x", "Invalid GRES record for gpu, invalid count x"),
        (
            "gpu:2",
            "Name=gpu File=/dev/g0 Cores=16",
            "Invalid GRES data for gpu, Cores=16-16 (only 16 CPUs are available)",
        ),
        ("gpu:2", "Name=gpu MultipleFiles=/dev/g0", "MultipleFiles does not contain multiple files"),
        ("gpu:2", "NodeName=n1 Count=2", "Invalid GRES data, no type name"),
        ("gpu:2", "Count=2", "Parsing error at unrecognized key: Count"),
    ],
)
def test_conflicts_are_told_in_the_words_of_slurm(gres: str, gres_conf: str, words: str) -> None:
    with pytest.raises(InputError) as raised:
        conf(gres, gres_conf)
    assert raised.value.problem.startswith(words)
    assert raised.value.line is not None


@pytest.mark.parametrize(("gres", "most"), [("gpu:1025", "1,024"), ("gpu:99999999999", "1,024"), ("nvme:4T", "2,147")])
def test_more_devices_than_can_be_counted_are_refused(gres: str, most: str) -> None:
    with pytest.raises(InputError, match=f"more than {most}") as raised:
        conf(gres, None)
    assert (raised.value.line, raised.value.field) == (2, "Gres")
    assert of("n1", conf("gpu:1024", None))[0].count == 1024
