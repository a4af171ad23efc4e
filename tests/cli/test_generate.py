"""``gnomon generate``: files that read back as what was asked for."""

from pathlib import Path

import pytest

from gnomon.cli import ANSWERED, USER_ERROR
from gnomon.traces import swf, table
from tests.cli.conftest import Gnomon

pytestmark = pytest.mark.unit


@pytest.mark.parametrize("name", ["work.swf", "work.swf.gz", "work.csv", "work.csv.gz"])
def test_the_ending_tells_the_form(gnomon: Gnomon, tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    ended = gnomon("generate", path, "--jobs", 50, "--procs", 16, "--load", 0.5, "--seed", 3)
    assert (ended.code, ended.out) == (ANSWERED, "")
    assert f"50 jobs for 16 processors in {path}" in ended.err
    assert len((swf if ".swf" in name else table).read(path)) == 50


@pytest.mark.parametrize("options", [["--model", "lognormal"], ["--model", "common"], ["--arrivals", "lublin"]])
def test_models_differ_and_seeds_repeat(gnomon: Gnomon, tmp_path: Path, options: list[str]) -> None:
    plain, first, again = (tmp_path / f"{name}.swf" for name in "abc")
    gnomon("generate", plain, "--jobs", 50)
    for path in (first, again):
        assert gnomon("generate", path, "--jobs", 50, *options).code == ANSWERED
    assert first.read_bytes() == again.read_bytes() != plain.read_bytes()


@pytest.mark.parametrize(
    "arguments",
    [
        ["work.txt"],
        ["work"],
        ["work.swf", "--jobs", "-1"],
        ["work.swf", "--jobs", "many"],
        ["work.swf", "--load", "nan"],
        ["work.swf", "--procs", "0"],
        ["work.swf", "--model", "other"],
        ["work.swf", "--model", "common", "--arrivals", "daily"],
        ["work.swf", "--model", "common", "--load", "1e-6", "--procs", "1"],
        ["nowhere/work.swf"],
    ],
)
def test_mistakes_get_one_line(
    gnomon: Gnomon, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    ended = gnomon("generate", *arguments)
    assert ended.code == USER_ERROR
    assert len(ended.err.splitlines()) == 1
    assert not list(tmp_path.iterdir())
