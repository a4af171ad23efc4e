"""``gnomon snapshot slurm``: programs that print what a real cluster printed stand for Slurm's own."""

import stat
import sys
from pathlib import Path

import pytest

from gnomon.cli import ANSWERED, USER_ERROR
from tests.cli.conftest import Gnomon
from tests.systems.slurm.read import printed

pytestmark = pytest.mark.unit

ACCOUNTING = printed.DATA.parent / "accounting"
SAYS = {
    "scontrol show config": printed.path("live/scontrol-show-config.txt"),
    "scontrol -a show node": printed.path("live/scontrol-show-nodes.txt"),
    "scontrol -a show partition": printed.path("live/scontrol-show-partition.txt"),
    "scontrol show reservation": printed.path("live/scontrol-show-reservation.txt"),
    "scontrol show lic": printed.path("live/scontrol-show-lic.txt"),
    "scontrol show job": printed.path("live/scontrol-show-job.txt"),
    "sshare -a -l -P": ACCOUNTING / "sshare-alP.txt",
    "sprio -l": printed.path("live/sprio-l.txt"),
    "sacctmgr -P show qos": ACCOUNTING / "sacctmgr-show-qos.txt",
}
PROGRAM = f"""#!{sys.executable}
import gzip, os, shutil, sys
says = {{key: str(path) for key, path in SAYS.items()}}
words = [os.path.basename(sys.argv[0]), *sys.argv[1:]]
assert os.environ["LC_ALL"] == "C"
if words[:3] == ["sacctmgr", "-i", "dump"]:
    shutil.copy(DUMP, words[-1].partition("=")[2])
    sys.exit(0)
path = says.get(" ".join(words))
if path is None:
    sys.exit("slurm_load error: Unable to contact slurm controller")
sys.stdout.buffer.write((gzip.open if path.endswith(".gz") else open)(path, "rb").read())
"""


def pretend(folder: Path, without: tuple[str, ...] = ()) -> Path:
    """Slurm's commands, that know nothing of some."""
    says = {key: str(path) for key, path in SAYS.items() if key not in without}
    text = PROGRAM.replace("{key: str(path) for key, path in SAYS.items()}", repr(says))
    text = text.replace("DUMP", repr(str(ACCOUNTING / "sacctmgr-dump.cfg")))
    programs = folder / "bin"
    programs.mkdir()
    for name in ("scontrol", "sacctmgr", "sshare", "sprio"):
        path = programs / name
        path.write_text(text)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return programs


def test_a_cluster_becomes_a_folder_that_can_be_simulated(gnomon: Gnomon, tmp_path: Path) -> None:
    ended = gnomon("snapshot", "slurm", tmp_path / "now", "--programs", pretend(tmp_path))
    assert (ended.code, ended.out) == (ANSWERED, "")
    names = sorted(path.name for path in (tmp_path / "now").iterdir())
    assert names == sorted(
        "config.txt jobs.txt licenses.txt nodes.txt partitions.txt qos.txt reservations.txt sacctmgr.cfg sprio.txt "
        "usage.txt".split()
    )
    files = sorted((tmp_path / "now").iterdir())
    seen = gnomon("simulate", *files, "--until", "1s", "--view", "squeue -h -t R")
    assert seen.code == ANSWERED
    assert sum(" R " in line for line in seen.out.splitlines()) == 14
    again = gnomon("snapshot", "slurm", tmp_path / "now", "--programs", tmp_path / "bin")
    assert again.code == ANSWERED  # what is a snapshot is replaced


def test_what_may_not_be_asked_is_left_out_and_told(gnomon: Gnomon, tmp_path: Path) -> None:
    ended = gnomon("snapshot", "slurm", tmp_path / "now", "--programs", pretend(tmp_path, ("sshare -a -l -P",)))
    assert ended.code == ANSWERED
    assert "left out: sshare -a -l -P: slurm_load error: Unable to contact slurm controller" in ended.err
    assert not (tmp_path / "now" / "usage.txt").exists()


def test_without_the_nodes_there_is_no_snapshot(gnomon: Gnomon, tmp_path: Path) -> None:
    ended = gnomon("snapshot", "slurm", tmp_path / "now", "--programs", pretend(tmp_path, ("scontrol -a show node",)))
    assert ended.code == USER_ERROR
    assert "scontrol -a show node: slurm_load error" in ended.err
    assert not (tmp_path / "now").exists()


def test_a_folder_of_something_else_stays(gnomon: Gnomon, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("x")
    ended = gnomon("snapshot", "slurm", tmp_path / "mine", "--programs", pretend(tmp_path))
    assert ended.code == USER_ERROR
    assert (tmp_path / "mine" / "thesis.tex").exists()


def test_no_slurm(gnomon: Gnomon, tmp_path: Path) -> None:
    ended = gnomon("snapshot", "slurm", tmp_path / "now", "--programs", tmp_path)
    assert ended.code == USER_ERROR
    assert "scontrol is not found" in ended.err
