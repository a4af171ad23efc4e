"""Work of a trace as submissions: what is asked for, what is told of what is not."""

from dataclasses import replace
from pathlib import Path

import pytest

from gnomon.model.resources import NEVER, Resources
from gnomon.model.work import Shape, Task, Work
from gnomon.systems.slurm.cluster.state import SECOND
from gnomon.systems.slurm.config.conf import Conf
from gnomon.systems.slurm.config.slurm_conf import read_conf
from gnomon.systems.slurm.inputs.traced import notes_of, request_of
from gnomon.systems.slurm.sbatch.request import GresRequest

pytestmark = pytest.mark.unit

CONF = """NodeName=n[1-2] CPUs=8 CoresPerSocket=8
PartitionName=batch Nodes=ALL Default=YES
PartitionName=long Nodes=n2
"""


@pytest.fixture
def conf(tmp_path: Path) -> Conf:
    (tmp_path / "slurm.conf").write_text(CONF)
    return read_conf(tmp_path / "slurm.conf")


def work(**said: object) -> Work:
    """Two equal tasks of two CPUs for ten minutes."""
    shape = said.pop("shape", Shape(Resources(cpu_milli=2000)))
    facts = {"duration_ns": 600 * SECOND, "user": "ann", "queue": "batch", "shape": shape, **said}
    return Work.from_tasks([Task(name, **facts) for name in "ab"])  # type: ignore[arg-type]


def test_a_task_is_so_many_tasks_of_one_cpu(conf: Conf) -> None:
    shape = Shape(Resources(cpu_milli=3000, memory_bytes=7 * 2**20, gpus=2))
    asked = request_of(work(shape=shape, queue="long", estimate_ns=61 * SECOND), 1, conf)
    assert (asked.name, asked.user, asked.partitions) == ("b", "ann", ("long",))
    assert (asked.tasks, asked.mem_per_cpu_mb, asked.gpus) == (3, 3, (GresRequest("gpu", count=2),))
    assert (asked.time_min, asked.run_s) == (2, 600)  # -t counts in minutes, rounded up


def test_what_is_not_said_is_left_to_slurm(conf: Conf) -> None:
    asked = request_of(work(queue="", user="", estimate_ns=NEVER), 0, conf)
    assert (asked.partitions, asked.time_min, asked.mem_per_cpu_mb, asked.gpus) == ((), None, None, ())
    assert asked.user == "user"


def test_a_task_of_nothing_has_a_cpu(conf: Conf) -> None:
    assert request_of(work(shape=Shape(Resources(cpu_milli=1500))), 0, conf).tasks == 2
    assert request_of(work(shape=Shape(Resources(memory_bytes=1))), 0, conf).tasks == 1


def told(conf: Conf, **said: object) -> dict[str, tuple[str, str, int]]:
    return {note.field: (note.what, note.text, note.count) for note in notes_of(work(**said), conf)}


def test_nothing_is_told_of_what_slurm_has(conf: Conf) -> None:
    assert told(conf) == {}
    assert told(conf, queue="long", shape=Shape(Resources(cpu_milli=1000, gpus=1, memory_bytes=5))) == {}


def test_a_queue_without_a_partition(conf: Conf) -> None:
    taken = "no partition is called fast: batch, the default, takes these jobs"
    assert told(conf, queue="fast") == {"queue": ("default", taken, 2)}
    closed = replace(conf, partitions=tuple(replace(one, default=False) for one in conf.partitions))
    refused = "no partition is called fast: none is the default: they are refused"
    assert told(closed, queue="fast") == {"queue": ("default", refused, 2)}


@pytest.mark.parametrize(
    ("said", "field", "what"),
    [
        ({"user": ""}, "user", "default"),
        ({"shape": Shape(Resources(cpu_milli=500))}, "cpu", "default"),
        ({"shape": Shape(Resources(cpu_milli=1000, gpus=1, gpu_share_e4=5000))}, "gpu share", "not modelled"),
        ({"shape": Shape(Resources(cpu_milli=1000, named=(("licence", 1),)))}, "resources", "not modelled"),
        ({"shape": Shape(Resources(cpu_milli=1000), ("A100",))}, "kinds and labels of nodes", "not modelled"),
        ({"priority": 5}, "priority", "not modelled"),
        ({"deadline_ns": 5}, "deadline", "not modelled"),
        ({"job": "gang"}, "job", "not modelled"),
    ],
)
def test_what_a_trace_says_in_vain_is_told_once(conf: Conf, said: dict[str, object], field: str, what: str) -> None:
    found = told(conf, **said)
    assert list(found) == [field]
    assert (found[field][0], found[field][2]) == (what, 2)
