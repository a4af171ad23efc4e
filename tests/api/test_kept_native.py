"""A kept run holds the objects that it was of: it runs and is explained without the files."""

from __future__ import annotations

import gzip
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from gnomon.api import Run, explain, kept_native, simulate
from gnomon.api.kept import digest, sealed
from gnomon.api.load import load_scenario
from gnomon.api.run import FILES
from gnomon.formats.yaml import parse_yaml
from gnomon.formats.yaml_write import as_yaml
from gnomon.model.errors import InputError
from gnomon.model.resources import Resources
from gnomon.systems.kubernetes.api.constraints import Taint
from gnomon.systems.kubernetes.api.objects import Node

EXAMPLES = Path(__file__).parent.parent.parent / "examples" / "kubernetes"


@pytest.fixture(params=["node-loss", "rollout", "quota", "overcommit"])
def run(request: pytest.FixtureRequest) -> Run:
    (scenario,) = load_scenario(EXAMPLES / f"{request.param}.yaml")
    return simulate(scenario)


def kept(run: Run, folder: Path) -> Run:
    run.save(folder / "run")
    return Run.open(folder / "run")


def test_the_objects_are_read_back_as_they_were(run: Run, tmp_path: Path) -> None:
    assert kept(run, tmp_path).scenario.native == run.scenario.native
    assert sorted(os.listdir(tmp_path / "run")) == sorted([*FILES, kept_native.FILE])


def test_what_is_read_back_runs_the_same(run: Run, tmp_path: Path) -> None:
    assert simulate(kept(run, tmp_path).scenario).log.digest() == run.log.digest()


def test_it_is_explained_as_the_files_are_with_its_changes(run: Run, tmp_path: Path) -> None:
    again = kept(run, tmp_path)
    for task in range(0, len(run.scenario.work), 3):
        name = f"pod/{run.scenario.work.id(task)}"
        assert explain(name, again).as_dict() == explain(name, run).as_dict()


def test_a_run_whose_objects_were_changed_is_known_as_such(run: Run, tmp_path: Path) -> None:
    run.save(tmp_path / "run")
    with (tmp_path / "run" / kept_native.FILE).open("ab") as file:
        file.write(b"more")
    with pytest.raises(InputError, match="is not as it was kept"):
        Run.open(tmp_path / "run")


def test_a_run_takes_the_place_of_one_with_objects(run: Run, tmp_path: Path) -> None:
    run.save(tmp_path / "run")
    plain = replace(run, scenario=replace(run.scenario, native=None))
    plain.save(tmp_path / "run")
    assert sorted(os.listdir(tmp_path / "run")) == sorted(FILES)


@pytest.mark.parametrize(
    "value",
    [
        None,
        (1, -(2**62), 0.5, True, "text", ()),
        {"a": {"#": 1}, "b": [1, (2,)]},
        {("n", 1): frozenset({3, 1}), 7: "seven"},
        Resources(cpu_milli=500, named=(("gpu", 10_000),)),
        (Node("n", taints=(Taint("a"),)), {"same": Node("n")}),
    ],
    ids=str,
)
def test_data_comes_back_as_it_was(value: Any) -> None:
    document = kept_native.document_of(value)
    assert kept_native.value_of(document) == value


def test_what_is_shared_is_written_once_and_shared_again() -> None:
    one = Taint("a")
    first, second = kept_native.value_of(kept_native.document_of((Node("n", taints=(one,)), Node("m", taints=(one,)))))
    assert first.taints[0] is second.taints[0]


@dataclass
class Foreign:
    act: Any = print


@pytest.mark.parametrize("value", [print, Foreign(), {"x": object()}])
def test_what_is_no_data_is_not_written(value: Any) -> None:
    with pytest.raises(kept_native.NotPlainError):
        kept_native.document_of(value)


@pytest.mark.parametrize("name", ["os:system", "gnomon.api.kept_native:write"])
def test_only_objects_of_this_program_are_made(name: str) -> None:
    document = {"classes": [[name, []]], "records": [[0]], "value": {"#": 0}}
    with pytest.raises(ValueError, match="not a class"):
        kept_native.value_of(document)


HOSTILE = {
    "not packed": b"{}",
    "cut off": gzip.compress(b"{}")[:-9],
    "damaged": gzip.compress(b"[" * 1000)[:12] + b"\xff" * 9,
    "not JSON": gzip.compress(b"{"),
    "no text": gzip.compress(b"\xff\xfe\xfd"),
    "nested": gzip.compress(b'{"classes":[],"records":[],"value":' + b"[" * 900 + b"]" * 900 + b"}"),
    "a record that is not there": gzip.compress(b'{"classes":[],"records":[],"value":{"#":7}}'),
    "a class that is not there": gzip.compress(b'{"classes":[["gnomon.no:No",[]]],"records":[],"value":0}'),
    "a number of no size": gzip.compress(b'{"classes":[],"records":[],"value":{"#moment":"9"}}'),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_objects_that_somebody_made_up_and_sealed_are_refused(name: str, tmp_path: Path) -> None:
    (scenario,) = load_scenario(EXAMPLES / "quota.yaml")
    simulate(scenario).save(tmp_path / "run")
    (tmp_path / "run" / kept_native.FILE).write_bytes(HOSTILE[name])
    text = (tmp_path / "run" / FILES[-1]).read_text()
    document = parse_yaml(text.rpartition("# sealed")[0] or text)[0].value
    document["files"][kept_native.FILE] = digest(tmp_path / "run" / kept_native.FILE)
    (tmp_path / "run" / FILES[-1]).write_text(sealed(as_yaml(document)))
    with pytest.raises(InputError):
        Run.open(tmp_path / "run")


def test_a_pipe_among_the_files_of_a_run_is_none_of_them(tmp_path: Path) -> None:
    (scenario,) = load_scenario(EXAMPLES / "quota.yaml")
    simulate(scenario).save(tmp_path / "run")
    (tmp_path / "run" / "log.parquet").unlink()
    os.mkfifo(tmp_path / "run" / "log.parquet")
    with pytest.raises(InputError, match=r"it has no log\.parquet"):
        Run.open(tmp_path / "run")


def test_a_description_that_is_packed_is_not_as_it_was_kept(tmp_path: Path) -> None:
    (scenario,) = load_scenario(EXAMPLES / "quota.yaml")
    simulate(scenario).save(tmp_path / "run")
    path = tmp_path / "run" / FILES[-1]
    path.write_bytes(gzip.compress(path.read_bytes()))
    with pytest.raises(InputError, match="is not as it was kept"):
        Run.open(tmp_path / "run")
