"""The list of finished tasks after a crash: whole lines whose outputs are whole, of the same job."""

import errno
import os
from pathlib import Path

import pytest

from gnomon.backends.local_blocks import Writer
from gnomon.backends.local_manifest import Done, Manifest
from gnomon.model.errors import InputError

pytestmark = pytest.mark.unit

JOB = {"code": "c1", "input": "i1"}


def finished(folder: Path, task: int, text: str) -> Done:
    path = folder / f"task-{task}"
    writer = Writer(path, 1)
    writer.append(0, [text])
    digest = writer.close()
    return Done(0, task, str(path), path.stat().st_size, digest, {"records": 1})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder in which two tasks are finished."""
    with Manifest(tmp_path, JOB) as manifest:
        for task in (0, 1):
            manifest.add(finished(tmp_path, task, f"output {task}"))
    return tmp_path


def test_finished_tasks_are_found_again(folder: Path) -> None:
    with Manifest(folder, JOB) as manifest:
        assert sorted(manifest.done) == [(0, 0), (0, 1)]
        assert manifest.done[0, 1].counts == {"records": 1}
        assert not manifest.changed


def test_a_line_that_was_cut_off_is_no_line(folder: Path) -> None:
    file = folder / "manifest.jsonl"
    file.write_bytes(file.read_bytes()[:-5])
    with Manifest(folder, JOB) as manifest:
        assert sorted(manifest.done) == [(0, 0)]
        manifest.add(finished(folder, 1, "again"))
    with Manifest(folder, JOB) as manifest:
        assert sorted(manifest.done) == [(0, 0), (0, 1)]


def test_an_output_that_is_not_as_it_was_is_made_again(folder: Path) -> None:
    path = folder / "task-0"
    path.write_bytes(path.read_bytes().replace(b"output 0", b"output 9"))
    (folder / "task-1").unlink()
    with Manifest(folder, JOB) as manifest:
        assert not manifest.done
        assert manifest.remade == 2


def test_another_job_begins_afresh_and_says_what_differs(folder: Path) -> None:
    (folder / "stage-0").mkdir()
    with Manifest(folder, {"code": "c2", "input": "i1"}) as manifest:
        assert manifest.changed == ["code"]
        assert not manifest.done
    assert not (folder / "stage-0").exists()


def test_a_folder_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("all of it")
    with pytest.raises(InputError, match="not an empty folder, and not one of an earlier run"):
        Manifest(tmp_path, JOB)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_what_somebody_else_put_into_the_folder_stays(folder: Path) -> None:
    (folder / "notes.txt").touch()
    with Manifest(folder, JOB) as manifest:
        manifest.remove()
    assert {path.name for path in folder.iterdir()} == {"notes.txt", "task-0", "task-1"}


def test_two_processes_do_not_work_in_one_folder(folder: Path) -> None:
    with Manifest(folder, JOB), pytest.raises(InputError, match="another process runs a job here"):
        Manifest(folder, JOB)


def test_a_full_disk_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(file: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with Manifest(folder, JOB) as manifest:
        more = finished(folder, 2, "output 2")
        monkeypatch.setattr(os, "fsync", fail)
        with pytest.raises(InputError) as told:
            manifest.add(more)
    assert str(told.value) == f"{folder}: cannot be written: No space left on device"
