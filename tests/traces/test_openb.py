"""The openb lists: what the columns become, what is refused, and the counts of the trace's description."""

import gzip
from pathlib import Path

import numpy as np
import pytest

from gnomon.model.errors import InputError
from gnomon.model.resources import NEVER, Resources
from gnomon.model.work import Shape, Work
from gnomon.traces import openb
from tests.shared import SHARED, needs_shared

DATA = Path(__file__).parent.parent / "data" / "traces"
NODES = "sn,cpu_milli,memory_mib,gpu,model\n"
TASKS = (
    "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n"
)
S = 10**9


def written(folder: Path, text: str) -> Path:
    path = folder / "list.csv"
    path.write_text(text)
    return path


# ------------------------------------------------------------------ nodes


def test_nodes_have_devices_of_a_kind() -> None:
    cluster = openb.read_nodes(DATA / "openb-nodes.csv")
    assert [node.kind for node in cluster.nodes[:3]] == ["", "", "P100"]
    assert cluster.nodes[2].name == "openb-node-0123"
    assert cluster.nodes[2].capacity == Resources(cpu_milli=64_000, memory_bytes=262_144 * 2**20, gpus=2)
    assert not cluster.pool


def test_columns_of_ones_own_become_labels(tmp_path: Path) -> None:
    path = written(tmp_path, "rack," + NODES + "r1,a,1000,1,0,\n,b,1000,1,0,\n")
    assert [node.labels for node in openb.read_nodes(path).nodes] == [(("rack", "r1"),), ()]


# ------------------------------------------------------------------ tasks


def test_tasks_run_from_their_scheduling_to_their_deletion(tmp_path: Path) -> None:
    rows = (
        "a,1000,512,0,0,,LS,Running,10,100,25\nb,1000,512,0,0,,LS,Pending,10,100,\nc,1000,512,0,0,,LS,Running,10,,25\n"
    )
    work = openb.read_tasks(written(tmp_path, TASKS + rows))
    assert work.submit_ns.tolist() == [10 * S] * 3
    assert work.duration_ns.tolist() == [75 * S, 90 * S, NEVER]
    assert work.recorded_wait_ns.tolist() == [15 * S, -1, 15 * S]
    assert work.usable.all()
    assert [(note.what, note.field, note.count) for note in work.notes] == [
        ("not modelled", "qos", 3),
        ("not modelled", "pod_phase", 3),
        ("default", "scheduled_time", 1),
    ]
    forever = openb.read_tasks(written(tmp_path, TASKS + rows), arrivals_only=True)
    assert forever.duration_ns.tolist() == [NEVER] * 3


@pytest.mark.parametrize(
    ("cells", "shape"),
    [
        ("2000,1024,0,0,", Shape(Resources(2000, 2**30))),
        ("2000,1024,1,460,", Shape(Resources(2000, 2**30, gpus=1, gpu_share_e4=4600))),
        ("2000,1024,1,1000,T4", Shape(Resources(2000, 2**30, gpus=1), node_kinds=("T4",))),
        ("2000,1024,8,1000,V100M32|G2", Shape(Resources(2000, 2**30, gpus=8), node_kinds=("G2", "V100M32"))),
    ],
)
def test_what_tasks_ask_for(tmp_path: Path, cells: str, shape: Shape) -> None:
    work = openb.read_tasks(written(tmp_path, f"{TASKS}a,{cells},LS,Running,0,1,0\n"))
    assert work.task(0).shape == shape


def test_lists_without_times() -> None:
    work = openb.read_tasks(DATA / "openb-tasks-plain.csv")
    assert len(work) == 10
    assert set(work.submit_ns.tolist()) == {0}
    assert set(work.duration_ns.tolist()) == {NEVER}
    assert [note.field for note in work.notes] == ["times"]


# ------------------------------------------------------------------ what is refused


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (NODES, "no node in the file"),
        (NODES + "a,1000,1,0,\na,1000,1,0,\n", "line 3, sn: the name of line 2 again, found 'a'"),
        (NODES + ",1000,1,0,\n", "line 2, sn: a node without a name"),
        (NODES + "a,-1,1,0,\n", "line 2, cpu_milli: not a whole number: it is below zero, found '-1'"),
        (NODES + "a,nan,1,0,\n", "line 2, cpu_milli: not a whole number, found 'nan'"),
        (NODES + f"a,1000,{2**40},0,\n", "line 2: memory: an amount is from 0 to"),
        (NODES + "a,1000,1\n", "line 2: wrong number of columns"),
        ("sn,cpu_milli\na,1\n", "line 1: the column 'memory_mib' is missing, found 'sn,cpu_milli'"),
    ],
)
def test_nodes_at_fault(tmp_path: Path, text: str, error: str) -> None:
    with pytest.raises(InputError) as caught:
        openb.read_nodes(written(tmp_path, text))
    assert error in str(caught.value)


@pytest.mark.parametrize(
    ("row", "error"),
    [
        ("", "no task in the file"),
        (",1,1,0,0,,,,0,1,0\n", "line 2, name: a task without a name"),
        ("a,1,1,0,0,,,,0,1,0\n" * 2, "line 3: the name of line 2 again, found 'a'"),
        ("a,1,1,1,0,,,,0,1,0\n", "line 2, gpu_milli: not a share of each of 1 GPUs, found 0"),
        ("a,1,1,0,500,,,,0,1,0\n", "line 2, gpu_milli: not a share of each of 0 GPUs, found 500"),
        ("a,1,1,1,1001,,,,0,1,0\n", "found 1001; allowed: 1 to 1000 with a GPU, 0 without"),
        ("a,1,1,2,500,,,,0,1,0\n", "line 2: gpu share: a part of a device can be asked of one device only"),
        ("a,1,1,0,0,,,,x,1,0\n", "line 2, creation_time: not a duration"),
        ("a,1,1,0,0,,,,,1,0\n", "line 2, creation_time: not a duration"),
        ("a,1,1,0,0,,,,5,9,4\n", "line 2, scheduled_time: before the creation, found '4'"),
        ("a,1,1,0,0,,,,5,6,7\n", "line 2, deletion_time: before the task began, found '6'"),
    ],
)
def test_tasks_at_fault(tmp_path: Path, row: str, error: str) -> None:
    with pytest.raises(InputError) as caught:
        openb.read_tasks(written(tmp_path, TASKS + row))
    assert error in str(caught.value)


# ------------------------------------------------------------------ the real lists


def test_gzip(tmp_path: Path) -> None:
    path = tmp_path / "nodes.csv.gz"
    path.write_bytes(gzip.compress((DATA / "openb-nodes.csv").read_bytes()))
    assert openb.read_nodes(path).nodes == openb.read_nodes(DATA / "openb-nodes.csv").nodes


@needs_shared
def test_the_nodes_are_those_of_the_description() -> None:
    assert SHARED is not None
    folder = SHARED / "traces" / "openb"
    cluster = openb.read_nodes(folder / "openb_node_list_gpu_node.csv.gz")
    assert (len(cluster.nodes), cluster.total("gpu")) == (1_213, 6_212 * 10_000)
    assert (cluster.total("cpu"), cluster.total("memory")) == (107_018_000, 528_302_452_244_480)
    kinds = {kind: [n for n in cluster.nodes if n.kind == kind] for kind in {n.kind for n in cluster.nodes}}
    assert {kind: (len(nodes), sum(n.capacity.gpus for n in nodes)) for kind, nodes in kinds.items()} == {
        "G2": (549, 4392),
        "T4": (404, 842),
        "P100": (134, 265),
        "V100M16": (55, 195),
        "G3": (39, 312),
        "V100M32": (30, 204),
        "A10": (2, 2),
    }
    assert len(openb.read_nodes(folder / "openb_node_list_all_node.csv.gz").nodes) == 1_523


LISTS = [
    # list, tasks, (CPU-only, part of 1 GPU, 1 whole GPU, 2, 4, 8 GPUs), GPUs asked, CPUs asked, with gpu_spec
    ("default", 8_152, (1_088, 3_078, 3_911, 16, 15, 44), 6_086.8, 85_436, 0),
    ("cpu050", 7_439, (375, 3_078, 3_911, 16, 15, 44), 6_086.8, 72_762, 0),
    ("cpu200", 8_832, (1_768, 3_078, 3_911, 16, 15, 44), 6_086.8, 97_253, 0),
    ("gpushare40", 8_152, (1_088, 4_001, 3_001, 12, 11, 39), 5_641.3, 80_383, 0),
    ("gpushare100", 8_152, (1_088, 7_064, 0, 0, 0, 0), 3_952.7, 61_762, 0),
    ("gpuspec33", 8_152, (1_088, 3_078, 3_911, 16, 15, 44), 6_086.8, 85_436, 2_388),
    ("multigpu20", 8_324, (1_088, 3_078, 3_911, 54, 52, 141), 7_086.8, 95_172, 0),
    ("multigpu50", 9_061, (1_088, 3_078, 3_911, 222, 206, 556), 11_358.8, 137_776, 0),
]


def devices(work: Work) -> tuple[int, ...]:
    requests = [shape.request for shape in work.shapes]
    number = np.array([r.gpus if r.gpu_share_e4 == 10_000 else -1 for r in requests])[work.shape]
    return tuple(int((number == wanted).sum()) for wanted in (0, -1, 1, 2, 4, 8))


@needs_shared
@pytest.mark.parametrize(("name", "tasks", "by_devices", "gpus", "cpus", "specific"), LISTS)
def test_the_tasks_are_those_of_the_description(
    name: str, tasks: int, by_devices: tuple[int, ...], gpus: float, cpus: int, specific: int
) -> None:
    assert SHARED is not None
    work = openb.read_tasks(SHARED / "traces" / "openb" / f"openb_pod_list_{name}.csv.gz")
    assert len(work) == tasks
    assert devices(work) == by_devices
    asked = {r: np.array([s.request.amount(r) for s in work.shapes])[work.shape].sum() for r in ("gpu", "cpu")}
    assert asked["gpu"] / 10_000 == pytest.approx(gpus, abs=0.051)
    assert asked["cpu"] / 1_000 == pytest.approx(cpus, abs=0.51)
    assert int(np.array([bool(shape.node_kinds) for shape in work.shapes])[work.shape].sum()) == specific


@needs_shared
def test_never_scheduled() -> None:
    assert SHARED is not None
    work = openb.read_tasks(SHARED / "traces" / "openb" / "openb_pod_list_default.csv.gz")
    assert int((work.recorded_wait_ns < 0).sum()) == 897
