"""``gnomon compare``: one row a variant, the best marked, seeds and clusters multiplied out."""

import json
from pathlib import Path

import pytest

from gnomon.cli import ANSWERED, USER_ERROR
from tests.cli.conftest import Gnomon
from tests.cli.test_simulate import SCENARIO, SWF

pytestmark = pytest.mark.unit


@pytest.fixture(autouse=True)
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "trace.swf").write_text(SWF)
    (tmp_path / "scenario.yaml").write_text(SCENARIO)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def variants(ended_out: str) -> dict[str, float]:
    return {one["variant"]: one["metrics"]["makespan_s"] for one in json.loads(ended_out)["variants"]}


def test_the_table_marks_the_best(gnomon: Gnomon) -> None:
    ended = gnomon("compare", "trace.swf", "--policy", "fcfs,easy", "--workers", 1)
    assert ended.code == ANSWERED
    assert ended.out.splitlines() == [
        "VARIANT   DONE   MAKESPAN      WAIT    WAIT-P90    SLOWDOWN      CPU",
        "fcfs         3        25s    9.667s       17.2s         1.8    70.0%",
        "easy         3        20s*   3.333s*         8s*      1.333*   87.5%*",
    ]


def test_options_of_a_policy_may_hold_commas(gnomon: Gnomon) -> None:
    ended = gnomon("compare", "scenario.yaml", "-p", "fcfs,easy:reservation=keep,extra=no", "-p", "sjf", "-o", "json")
    assert list(variants(ended.out)) == ["fcfs", "easy:reservation=keep,extra=no", "sjf"]


def test_processes_side_by_side_give_the_same(gnomon: Gnomon) -> None:
    arguments = ("compare", "trace.swf", "-p", "fcfs,easy", "-o", "json", "--workers")
    assert gnomon(*arguments, 1).out == gnomon(*arguments, 2).out


def test_every_cluster_with_every_policy(gnomon: Gnomon) -> None:
    ended = gnomon("compare", "trace.swf", "-c", 4, "-c", 8, "-p", "fcfs,easy", "-o", "json", "--workers", 1)
    assert variants(ended.out) == {"fcfs on 4": 25, "easy on 4": 20, "fcfs on 8": 10, "easy on 8": 10}


def test_seeds_give_confidence(gnomon: Gnomon) -> None:
    ended = gnomon("compare", "trace.swf", "-p", "fcfs,easy", "--seeds", "1,2,3", "-o", "json", "--workers", 1)
    first, second = json.loads(ended.out)["variants"]
    assert first["seeds"] == [1, 2, 3]
    assert second["spread"]["makespan_s"] == 0
    assert second["difference"]["makespan_s"] == {"mean": -5.0, "half_width": 0.0, "differs": True}


def test_the_policies_of_a_scenario_are_its_variants(gnomon: Gnomon, workplace: Path) -> None:
    (workplace / "two.yaml").write_text("cluster: 4\nwork: trace.swf\npolicy: [easy, fcfs]\n")
    assert list(variants(gnomon("compare", "two.yaml", "-o", "json", "--workers", 1).out)) == ["easy", "fcfs"]


def test_scenarios_that_have_one_policy_are_variants_too(gnomon: Gnomon, workplace: Path) -> None:
    """Two machines: three tasks of 10, 10 and 5 s, on 4 processors and on 8."""
    (workplace / "two.py").write_text(
        "from dataclasses import replace\nfrom gnomon import Scenario\nfrom gnomon.api.parts import load_cluster\n"
        "one = Scenario.load('scenario.yaml')\nscenario = [one, replace(one, cluster=load_cluster(8))]\n"
    )
    for options, names in (([], ["easy", "easy (2)"]), (["-p", "fcfs"], ["fcfs", "fcfs (2)"])):
        found = variants(gnomon("compare", "two.py", "-o", "json", "--workers", 1, *options).out)
        assert found == dict(zip(names, (25 if options else 20, 10), strict=True))


def test_scenario_files_are_variants_under_their_names(gnomon: Gnomon, workplace: Path) -> None:
    (workplace / "wider.yaml").write_text(SCENARIO)
    ended = gnomon("compare", "scenario.yaml", "wider.yaml", "-o", "json")
    assert list(variants(ended.out)) == ["scenario", "wider"]
    ended = gnomon("compare", "scenario.yaml", "wider.yaml", "-p", "fcfs,sjf", "-o", "json")
    assert list(variants(ended.out)) == ["scenario fcfs", "scenario sjf", "wider fcfs", "wider sjf"]


def test_the_page_shows_all_variants(gnomon: Gnomon, workplace: Path) -> None:
    ended = gnomon("compare", "trace.swf", "-p", "fcfs,easy", "--seeds", "1,2", "--html", "page.html", "--workers", 1)
    assert ended.code == ANSWERED
    page = (workplace / "page.html").read_text()
    assert "<h1>trace.swf: 2 variants</h1>" in page
    assert "the metrics are means over the seeds 1, 2" in page


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["trace.swf", "--seeds", "1,x"], "--seeds: not a whole number"),
        (["trace.swf", "--seeds", ""], "--seeds: not a whole number"),
        (["trace.swf", "--seeds", "٣"], "--seeds: not a whole number"),
        (["trace.swf", "--policy", "fcfs,esay"], "did you mean 'easy'?"),
        (["trace.swf", "--cluster", "4", "--cluster", "nowhere.yaml"], "nowhere.yaml: no such file"),
        (["trace.swf", "--workers", "0"], "--workers"),
        (["trace.swf", "--policy", ""], "--policy: no policy is named"),
        (["trace.swf", "--policy", "fcfs", "--policy", ","], "--policy: no policy is named"),
    ],
)
def test_mistakes_get_one_line_and_code_2(gnomon: Gnomon, arguments: list[str], said: str) -> None:
    ended = gnomon("compare", *arguments)
    assert (ended.code, ended.out) == (USER_ERROR, "")
    assert said in ended.err
    assert len(ended.err.splitlines()) == 1
