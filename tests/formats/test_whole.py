"""Whatever happens while a run is kept, what stands under its name is the old run or the complete new one."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from gnomon.formats import whole
from gnomon.model.errors import InputError

FILES = ("a", "b")


def fill(text: str, folder: Path) -> None:
    for name in FILES:
        (folder / name).write_text(text)


def keep(path: Path, text: str) -> None:
    whole.write_directory(path, lambda folder: fill(text, folder), files=FILES)


def write_new(path: Path) -> None:
    path.write_text("new")


def kept(path: Path) -> set[str]:
    return {(path / name).read_text() for name in FILES}


@pytest.fixture(params=["exchange", "two renames"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both ways to put a directory in the place of another."""
    if request.param == "two renames":
        monkeypatch.setattr(whole, "_exchange", lambda one, other: False)
    return str(request.param)


@pytest.mark.unit
def test_new_replaces_old_and_nothing_else_is_left(way: str, tmp_path: Path) -> None:
    for text in ("old", "new", "newer"):
        keep(tmp_path / "deep" / "run", text)
        assert kept(tmp_path / "deep" / "run") == {text}
        assert os.listdir(tmp_path / "deep") == ["run"]


@pytest.mark.unit
def test_an_empty_directory_may_be_filled(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    keep(tmp_path / "run", "new")
    assert kept(tmp_path / "run") == {"new"}


@pytest.mark.unit
def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    keep(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert kept(tmp_path / "real") == {"new"}


@pytest.mark.unit
@pytest.mark.parametrize("name", ["thesis.tex", "a"])
def test_a_directory_of_something_else_is_not_replaced(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / name).write_text("years of work")
    with pytest.raises(InputError, match=f"mine: is not replaced, .*found '{name}'"):
        keep(folder, "new")
    assert (folder / name).read_text() == "years of work"
    assert os.listdir(tmp_path) == ["mine"]


@pytest.mark.unit
def test_a_run_with_a_file_of_the_users_is_not_replaced(tmp_path: Path) -> None:
    keep(tmp_path / "run", "old")
    (tmp_path / "run" / "notes.md").write_text("mine")
    with pytest.raises(InputError, match=r"found 'notes\.md'"):
        keep(tmp_path / "run", "new")
    assert kept(tmp_path / "run") == {"old"}


@pytest.mark.unit
def test_a_failure_half_way_leaves_the_old_one(way: str, tmp_path: Path) -> None:
    keep(tmp_path / "run", "old")

    def fail(folder: Path) -> None:
        (folder / "a").write_text("new")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        whole.write_directory(tmp_path / "run", fail, files=FILES)
    assert kept(tmp_path / "run") == {"old"}
    assert os.listdir(tmp_path) == ["run"]


@pytest.mark.unit
def test_a_kill_between_the_two_renames_is_repaired_by_who_comes_next(tmp_path: Path) -> None:
    keep(tmp_path / "run", "old")
    os.rename(tmp_path / "run", tmp_path / ".run.old")
    whole.recover(tmp_path / "run")
    assert kept(tmp_path / "run") == {"old"}


@pytest.mark.unit
def test_a_kill_after_the_two_renames_leaves_nothing_for_long(tmp_path: Path) -> None:
    keep(tmp_path / "run", "new")
    fill("old", _made(tmp_path / ".run.old"))
    whole.recover(tmp_path / "run")
    assert kept(tmp_path / "run") == {"new"}
    keep(tmp_path / "run", "newer")
    assert os.listdir(tmp_path) == ["run"]


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


@pytest.mark.unit
def test_what_a_dead_process_left_is_removed_and_what_a_living_one_writes_is_not(tmp_path: Path) -> None:
    """Whatever its number: that of a process in another container says nothing here."""
    for process in {1, os.getppid()}:
        (tmp_path / f".run.partial-{process}").mkdir()
    (tmp_path / ".run.partial-file").write_text("")

    def fill_and_keep_again(folder: Path) -> None:
        fill("new", folder)
        keep(tmp_path / "run", "of another one, meanwhile")
        assert sorted(os.listdir(tmp_path)) == [folder.name, "run"]

    whole.write_directory(tmp_path / "run", fill_and_keep_again, files=FILES)
    assert os.listdir(tmp_path) == ["run"]
    assert kept(tmp_path / "run") == {"new"}


@pytest.mark.unit
@pytest.mark.parametrize("name", ["n" * 255, "ä" * 127])
def test_a_name_may_be_as_long_as_the_file_system_allows(name: str, tmp_path: Path, way: str) -> None:
    whole.write_file(tmp_path / name, write_new)
    assert (tmp_path / name).read_text() == "new"
    (tmp_path / name).unlink()
    keep(tmp_path / name, "old")
    keep(tmp_path / name, "new")
    assert kept(tmp_path / name) == {"new"}
    assert os.listdir(tmp_path) == [name]


@pytest.mark.unit
def test_what_is_tidied_away_before_it_is_locked_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lock, gone = whole._locked, list[Path]()

    def tidied_first(handle: int, *, wait: bool = False) -> bool:
        if not gone:
            (entry,) = tmp_path.iterdir()
            gone.append(entry)
            entry.unlink()
        return lock(handle, wait=wait)

    monkeypatch.setattr(whole, "_locked", tidied_first)
    whole.write_file(tmp_path / "file", write_new)
    assert (tmp_path / "file").read_text() == "new"
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.unit
def test_in_a_folder_that_is_gone_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    here.rmdir()
    writes: list[Callable[[Path], None]] = [
        whole.check_file,
        lambda path: whole.write_file(path, write_new),
        lambda path: keep(path, "new"),
    ]
    for write in writes:
        with pytest.raises(InputError, match="run: cannot be written: No such file or directory"):
            write(Path("run"))
    whole.recover(Path("run"))


@pytest.mark.unit
@pytest.mark.parametrize("write", [whole.write_file, lambda path, fill: whole.write_directory(path, fill, files=FILES)])
def test_what_cannot_be_written_is_an_input_error(write: object, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("text")
    assert callable(write)
    with pytest.raises(InputError, match="cannot be written"):
        write(tmp_path / "file" / "below", lambda beside: None)
    with pytest.raises(InputError, match="cannot be written"):
        write(tmp_path / ("n" * 300), lambda beside: None)


@pytest.mark.unit
def test_a_file_and_a_directory_do_not_replace_each_other(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("text")
    with pytest.raises(InputError, match="is a file; the name of a directory is needed"):
        keep(tmp_path / "file", "new")
    with pytest.raises(InputError, match="is a directory; the name of a file is needed"):
        whole.write_file(tmp_path, write_new)


@pytest.mark.unit
def test_a_file_is_replaced_when_it_is_whole(tmp_path: Path) -> None:
    file = tmp_path / "tasks.csv"
    file.write_text("old")

    def fail(beside: Path) -> None:
        beside.write_text("ne")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        whole.write_file(file, fail)
    assert file.read_text() == "old"
    whole.write_file(file, write_new)
    assert file.read_text() == "new"
    assert os.listdir(tmp_path) == ["tasks.csv"]


WRITER = """
import itertools, sys
from pathlib import Path
from gnomon.formats import whole
def fill(folder):
    for name in ("a", "b"):
        (folder / name).write_text(str(turn))
for turn in itertools.count():
    whole.write_directory(Path(sys.argv[1]), fill, files=("a", "b"))
    if turn == 0:
        print("ready", flush=True)
"""


@pytest.mark.slow
@pytest.mark.unit
def test_a_kill_at_any_moment_leaves_a_whole_directory(tmp_path: Path) -> None:
    for delay_s in (0.0, 0.003, 0.007, 0.011, 0.02):
        writer = subprocess.Popen([sys.executable, "-c", WRITER, tmp_path / "run"], stdout=subprocess.PIPE)
        assert writer.stdout is not None
        writer.stdout.readline()
        time.sleep(delay_s)
        writer.kill()
        writer.communicate()
        whole.recover(tmp_path / "run")
        assert len(kept(tmp_path / "run")) == 1, "both files are of the same turn"
    keep(tmp_path / "run", "last")
    assert os.listdir(tmp_path) == ["run"]


@pytest.mark.unit
def test_a_pipe_is_written_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        whole.write_file(pipe, write_new)
        assert os.read(reader, 10) == b"new"
    finally:
        os.close(reader)
    assert pipe.is_fifo()
    assert os.listdir(tmp_path) == ["pipe"]


@pytest.mark.unit
@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="the system has no device that is full")
def test_a_full_disk_is_an_input_error() -> None:
    with pytest.raises(InputError, match="/dev/full: cannot be written: No space left on device"):
        whole.write_file(Path("/dev/full"), write_new)
    assert Path("/dev/full").is_char_device()


@pytest.mark.unit
def test_what_cannot_be_written_is_known_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("text")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("years of work")
    whole.check_file(tmp_path / "file")
    whole.check_file(tmp_path / "new" / "file")
    whole.check_directory(tmp_path / "new" / "run", files=FILES)
    for check, path, problem in (
        (whole.check_file, tmp_path, "is a directory"),
        (whole.check_file, tmp_path / "file" / "below", "cannot be written: Not a directory"),
        (lambda path: whole.check_directory(path, files=FILES), tmp_path / "file", "is a file"),
        (lambda path: whole.check_directory(path, files=FILES), tmp_path / "mine", "is not replaced"),
        (lambda path: whole.check_directory(path, files=FILES), Path("/"), "is the root of the file system"),
    ):
        with pytest.raises(InputError, match=problem):
            check(path)
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # root may write everywhere
    with pytest.raises(InputError, match="new: cannot be written: Permission denied"):
        whole.check_file(tmp_path / "new")


@pytest.mark.unit
def test_a_file_that_a_dead_process_left_is_removed(tmp_path: Path) -> None:
    (tmp_path / ".tasks.csv.partial-7f31").write_text("ne")
    whole.write_file(tmp_path / "tasks.csv", write_new)
    assert os.listdir(tmp_path) == ["tasks.csv"]
