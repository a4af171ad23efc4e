"""Recorded cases: found, read, judged."""

import json
from pathlib import Path

import pytest

from gnomon.api.systems import SYSTEMS, System
from gnomon.api.verify import Case, Verdict, case_files, read_case, verify, verify_file
from gnomon.model.errors import InputError
from tests.shared import SHARED, needs_shared

pytestmark = pytest.mark.unit

CASE = {"name": "a", "system": "abacus", "input": {"beads": 3}, "outcome": {"sum": 3}}


def adds_up(case: Case, path: str | Path | None) -> tuple[bool, list[str], dict[str, int]]:
    ours = {"sum": case["input"]["beads"]}
    return ours == case["outcome"], [] if ours == case["outcome"] else [f"sum: {ours['sum']}"], ours


def test_a_system_without_a_verifier_is_neither_right_nor_wrong() -> None:
    assert verify(CASE) == Verdict("a", "abacus", None, ("system abacus is not modelled yet",), None)


@pytest.mark.parametrize(
    ("beads", "verdict"),
    [
        (3, Verdict("a", "abacus", True, (), {"sum": 3})),
        (4, Verdict("a", "abacus", False, ("sum: 4",), {"sum": 4})),
    ],
)
def test_the_verifier_of_the_system_decides(beads: int, verdict: Verdict, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SYSTEMS, "abacus", System("abacus", verifier=f"{__name__}:adds_up"))
    assert verify({**CASE, "input": {"beads": beads}}) == verdict


def test_folders_are_searched_and_files_taken_as_they_are(tmp_path: Path) -> None:
    for name in ("b.json", "a.json", "deep/c.json", "README.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(json.dumps(CASE))
    found = [path.relative_to(tmp_path).as_posix() for path in case_files([tmp_path, tmp_path / "README.md"])]
    assert found == ["a.json", "b.json", "deep/c.json", "README.md"]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("", "empty"),
        ("{", "line 1: not JSON"),
        ("[1]", "not a recorded case"),
        ('{"name": "a", "system": 1, "outcome": 0}', "not a recorded case"),
        ("[" * 200_000, "not readable as JSON"),
        ('{"n": ' + "9" * 10_000 + "}", "not readable as JSON"),
    ],
)
def test_what_is_no_case_is_refused_with_its_file(content: str, problem: str, tmp_path: Path) -> None:
    path = tmp_path / "case.json"
    path.write_text(content)
    with pytest.raises(InputError, match=problem) as error:
        read_case(path)
    assert "case.json" in str(error.value)


def test_a_folder_without_cases_is_the_users_mistake(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no recorded case"):
        list(case_files([tmp_path]))


@needs_shared
def test_every_recording_is_read() -> None:
    assert SHARED is not None
    paths = list(case_files([SHARED / "golden"]))
    assert len(paths) > 100
    assert {read_case(path)["system"] for path in paths} >= {"kubernetes", "slurm", "ray", "spark", "flink"}


def test_a_case_that_cannot_be_played_names_its_file(tmp_path: Path) -> None:
    path = tmp_path / "case.json"
    path.write_text(json.dumps({"name": "a", "system": "slurm", "slurm_conf": 5, "steps": [], "outcome": {}}))
    with pytest.raises(InputError, match="not as a case of Slurm has it") as raised:
        verify_file(path)
    assert (raised.value.file, raised.value.field) == (str(path), "slurm_conf")
    path.write_text(json.dumps({"name": "a", "system": "slurm", "slurm_conf": "x", "steps": [], "outcome": {}}))
    with pytest.raises(InputError, match=r"slurm\.conf, line 1: Parse error") as raised:
        verify_file(path)
    assert raised.value.file == str(path)
