"""Work written in the Standard Workload Format: it is read back as it was, and what the format cannot say is noted."""

from pathlib import Path

import numpy as np
import pytest

from gnomon.model.resources import NEVER, Resources
from gnomon.model.work import Note, Shape, Task, Work
from gnomon.traces import swf

DATA = Path(__file__).parent.parent / "data" / "traces"
S = 10**9


def equal(a: Work, b: Work) -> None:
    assert a.shapes == b.shapes
    assert (a.users, a.queues, a.processors) == (b.users, b.queues, b.processors)
    columns = "ids shape user queue submit_ns duration_ns estimate_ns recorded_wait_ns usable".split()
    for name in columns:
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)


@pytest.mark.parametrize(
    "name", ["small", "KTH-SP2-1996-2.1-cln-head", "HPC2N-2002-2.2-cln-head", "NASA-iPSC-1993-3.1-cln-head"]
)
@pytest.mark.parametrize("suffix", [".swf", ".swf.gz"])
def test_what_is_written_is_read_back(tmp_path: Path, name: str, suffix: str) -> None:
    path = tmp_path / f"again{suffix}"
    work = swf.read(DATA / f"{name}.swf", memory=True)
    assert swf.write(work, path, header=swf.read_header(DATA / f"{name}.swf").lines) == ()
    equal(swf.read(path, memory=True), work)
    assert swf.read_header(path).values("Version") == ("2.2",)


def test_simulated_waits_and_states_are_written(tmp_path: Path) -> None:
    work = swf.read(DATA / "small.swf")
    path = tmp_path / "again.swf"
    waits = np.array([1_500_000_000, 0, NEVER, 20 * S])
    swf.write(work, path, waits_ns=waits, status=np.array([1, 0, 5, 1]))
    assert swf.read(path).recorded_wait_ns.tolist() == [1_500_000_000, 0, -1, 20 * S]
    lines = [line.split() for line in path.read_text().splitlines() if not line.startswith(";")]
    assert [line[10] for line in lines] == ["1", "0", "5", "1"]


def test_names_become_numbers_that_the_header_explains(tmp_path: Path) -> None:
    tasks = [Task("a", user="ann", queue="fast"), Task("b", user="bob"), Task("c", user="ann")]
    path = tmp_path / "named.swf"
    notes = swf.write(Work.from_tasks(tasks), path)
    header = swf.read_header(path)
    assert header.values("Queue") == ("1 fast",)
    assert header.values("Note") == ("user 1 is ann", "user 2 is bob")
    again = swf.read(path)
    assert again.ids.tolist() == [1, 2, 3]  # type: ignore[union-attr]
    assert [again.users[user] for user in again.user] == ["1", "2", "1"]
    assert [note.field for note in notes] == ["id"]


def test_what_the_format_cannot_say_is_noted(tmp_path: Path) -> None:
    task = Task(
        "1",
        Shape(Resources(cpu_milli=1500, memory_bytes=2049, gpus=1, named=(("licence", 10_000),)), node_kinds=("T4",)),
        duration_ns=NEVER,
        priority=3,
        deadline_ns=5 * S,
        job="both",
    )
    notes = swf.write(Work.from_tasks([task, Task("2", job="both")]), tmp_path / "a.swf")
    fields = "job cpus memory gpus resources nodes priority deadline duration".split()
    assert notes == tuple(
        Note("not modelled", field, next(n.text for n in notes if n.field == field)) for field in fields
    )
