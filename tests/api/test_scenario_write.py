"""Faults and scenarios as YAML that means the same when it is read again."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from gnomon.api.load import load_scenario
from gnomon.api.scenario_faults import read_faults
from gnomon.api.scenario_write import faults_document, rewritten
from gnomon.formats.yaml import parse_yaml
from gnomon.formats.yaml_write import as_yaml
from gnomon.model.cluster import Cluster
from gnomon.model.errors import InputError
from gnomon.model.fault import Failure, FailureProcess, Fault, Law
from gnomon.model.resources import E4, MAX_AMOUNT, MAX_TIME_NS, NEVER
from gnomon.model.scenario import Scenario
from tests.api.test_run import same_work

S = 10**9
TIMES = st.integers(0, MAX_TIME_NS) | st.integers(0, 10**6).map(lambda second: second * S)
NAMES = st.lists(
    st.sampled_from(
        ["node/n1", "node/*", "rack/r1", "n", "007", "1e3", "0x1f", "no", "null", "job/a: b", "12:30", "-1"]
    ),
    max_size=3,
).map(tuple)
LARGEST = {Fault.DEVICE: 10**6, Fault.DELAY: MAX_TIME_NS, Fault.DISK_FULL: MAX_AMOUNT, Fault.LEAK: MAX_AMOUNT}
SHAPES = st.floats(0, 1e9, allow_nan=False)


@st.composite
def faults(draw: st.DrawFn) -> Failure | FailureProcess:
    kind = draw(st.sampled_from(Fault))
    share = kind in (Fault.SLOW, Fault.FAIL, Fault.LOSS)
    amount = draw(st.integers(0, E4 if share else LARGEST.get(kind, 0)))
    others = draw(NAMES) if kind is Fault.PARTITION else ()
    if draw(st.booleans()):
        length = draw(TIMES | st.just(NEVER))
        return Failure(kind, draw(TIMES), length, draw(NAMES), others, amount)
    return FailureProcess(
        kind,
        draw(NAMES),
        draw(TIMES) + 1 if draw(st.booleans()) else S,
        draw(TIMES),
        draw(st.sampled_from(Law)),
        draw(SHAPES),
        draw(st.sampled_from(Law)),
        draw(SHAPES),
        draw(st.booleans()),
        others,
        amount,
        draw(TIMES),
        draw(TIMES | st.just(NEVER)),
    )


@pytest.mark.property
@given(st.lists(faults(), max_size=5).filter(lambda found: all(getattr(f, "mtbf_ns", 1) <= MAX_TIME_NS for f in found)))
def test_faults_are_read_as_they_were_written(found: list[Failure | FailureProcess]) -> None:
    text = as_yaml({"faults": faults_document(found)})
    (document,) = parse_yaml(text)
    assert list(read_faults(document.at("faults"), Cluster(())).faults) == found


@pytest.mark.unit
def test_what_is_as_by_default_is_left_out() -> None:
    found = faults_document(
        [
            Failure(Fault.CRASH, 0, NEVER, ("node/a", "node/b")),
            Failure(Fault.DELAY, S, S, ("a",), amount=2 * S),
            FailureProcess(Fault.FAIL, ("task/*",), 3600 * S, amount=1000),
        ]
    )
    assert found == [
        {"at": "0s", "crash": ["node/a", "node/b"]},
        {"at": "1s", "delay": "a", "by": "2s", "for": "1s"},
        {"fail": "task/*", "chance": 0.1, "mtbf": "1h", "mttr": "0s"},
    ]


SCENARIO = """\
# a comment
cluster: {cluster}
work: {work}
policy: [fcfs, sjf]
name: "1e3"
seed: 3
recovery: &r {{retries: 2}}
faults: [{{crash: n, mtbf: 1h}}]
properties: ["no", "0o17", plain text]
"""


def same(one: Scenario, other: Scenario) -> None:
    """Equal but for the names of the files and the notes that come with them."""
    notes = one.work.notes
    assert same_work(replace(one.work, source="", notes=notes), replace(other.work, source="", notes=notes))
    plain = [replace(s, work=one.work, source="", cluster=replace(s.cluster, source="")) for s in (one, other)]
    assert plain[0] == plain[1]


@pytest.mark.unit
@pytest.mark.parametrize(
    ("cluster", "work"),
    [
        ("nodes.yaml", "../work.yaml"),
        ("{nodes: [{name: n, cpu: 4}]}", "[../work.yaml]"),
        ("nodes.yaml", "[{id: a, cpu: 1, usage: {memory: {trace: use.csv}, cpu: 1}}, {id: 007, cpu: 1}]"),
        ("nodes.yaml", "{tasks: [{id: a, cpu: 1, usage: {memory: {trace: use.csv}}}]}"),
    ],
)
def test_a_scenario_with_other_faults_in_another_folder(tmp_path: Path, cluster: str, work: str) -> None:
    source, other = tmp_path / "deep", tmp_path / "far" / "away"
    source.mkdir()
    other.mkdir(parents=True)
    (tmp_path / "work.yaml").write_text("tasks: [{id: a, cpu: 1, usage: {memory: {trace: deep/use.csv}}}]")
    (source / "nodes.yaml").write_text("nodes: [{name: n, cpu: 4}]")
    (source / "use.csv").write_text("seconds,amount\n0,1Gi\n")
    (source / "s.yaml").write_text(SCENARIO.format(cluster=cluster, work=work))
    found = (Failure(Fault.CRASH, 600 * S, S, ("n",)),)
    text = rewritten(source / "s.yaml", faults=found, seed=7, policy="sjf+easy", beside=other)
    assert text.startswith("# Written by Gnomon after s.yaml")
    (other / "s.yaml").write_text(text)
    (again,) = load_scenario(other / "s.yaml")
    assert (again.seed, again.policy.text, again.faults, again.name) == (7, "sjf+easy", found, "1e3")
    assert again.properties == ("no", "0o17", "plain text")
    same(replace(load_scenario(source / "s.yaml")[0], seed=7, policy=again.policy, faults=found), again)


@pytest.mark.unit
def test_what_is_not_said_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("s.yaml").write_text("cluster: 4\nwork: [{id: a, cpu: 1}]\npolicy: [fcfs, sjf]\nseed: 3\n")
    Path("again.yaml").write_text(rewritten("s.yaml", faults=(), beside=Path()))
    again = load_scenario("again.yaml")
    assert [(one.seed, one.policy.text, one.faults) for one in again] == [(3, "fcfs", ()), (3, "sjf", ())]
    assert again[0].cluster == Cluster.of_processors(4)


@pytest.mark.unit
def test_absolute_paths_stay(tmp_path: Path) -> None:
    work = tmp_path / "work.yaml"
    (tmp_path / "s.yaml").write_text(f"cluster: '4'\nwork: {work}\n")
    document = yaml.safe_load(rewritten(tmp_path / "s.yaml", faults=(), beside=tmp_path / "other"))
    assert (document["cluster"], document["work"]) == ("4", os.fspath(work))


@pytest.mark.unit
def test_what_is_no_scenario_in_yaml_is_refused(tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text("work: 5\npolcy: x\n")
    (tmp_path / "s.py").write_text("scenario = None\n")
    with pytest.raises(InputError, match="line 2, polcy: unknown field"):
        rewritten(tmp_path / "s.yaml", faults=(), beside=tmp_path)
    with pytest.raises(InputError, match="a scenario in Python is not written anew"):
        rewritten(tmp_path / "s.py", faults=(), beside=tmp_path)
