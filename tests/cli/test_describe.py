"""``gnomon describe``."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from tests.cli.conftest import Gnomon
from tests.shared import EXAMPLES

JOBS = EXAMPLES / "dataflow"


def test_the_six_properties_the_edges_and_what_runs(gnomon: Gnomon) -> None:
    ended = gnomon("describe", JOBS / "wordcount.py")
    assert ended.code == 0
    assert ended.out.startswith("wordcount: 5 operators, 1 shuffle, 1 job, 2 stages to run with 4 tasks\n")
    rows = {line.split("  ")[0]: line for line in ended.out.splitlines()}
    for part in (
        "bounded",
        "2: hash (portable)",
        "one value a key",
        "all map outputs",
        "lost ones made again",
        "1 cpu",
    ):
        assert part in rows["counts"]
    assert "3 edges stay within a task" in ended.out
    assert ended.out.rstrip().endswith(
        "[0] text > flat_map > pairs   2 tasks\n"
        "      == hash (portable) into 2, combined by add ==> [1]\n"
        "[1] counts > out   2 tasks"
    )


def test_the_same_for_programs(gnomon: Gnomon) -> None:
    found = json.loads(gnomon("describe", JOBS / "top_pages.py", "-o", "json").out)
    assert [run["skipped"] for run in found["runs"]] == [False] * 4 + [True] * 3 + [False] * 2
    assert [exchange["partitions"] for exchange in found["exchanges"]] == [4, 4, 3, 2]


def test_the_page_holds_the_drawing_and_loads_nothing(gnomon: Gnomon, tmp_path: Path) -> None:
    page = tmp_path / "job.html"
    assert gnomon("describe", JOBS / "skewed_join.py", "--html", page).code == 0
    text = page.read_text(encoding="utf-8")
    drawing = ET.fromstring(text[text.index("<svg") : text.index("</svg>") + 6])
    assert len(drawing.findall(".//rect")) == 8
    assert "http" not in text.replace("http-equiv", "")


def test_names_from_the_job_are_escaped(gnomon: Gnomon, tmp_path: Path) -> None:
    job = tmp_path / "job.py"
    job.write_text(
        "from gnomon.dataflow import Dataflow\nflow = Dataflow('<b>')\nflow.source([[1]], name='<i>').collect()\n"
    )
    assert gnomon("describe", job, "--html", tmp_path / "job.html").code == 0
    assert not {"<b>", "<i>"} & set((tmp_path / "job.html").read_text().split())


def test_what_leads_to_no_result_is_said(gnomon: Gnomon, tmp_path: Path) -> None:
    job = tmp_path / "job.py"
    job.write_text(
        "from gnomon.dataflow import Dataflow\nflow = Dataflow()\na = flow.source([[1]])\na.map(abs)\na.collect()\n"
    )
    assert "not used: map leads to no result" in gnomon("describe", job).err


def test_a_file_without_a_job_ends_with_2(gnomon: Gnomon, tmp_path: Path) -> None:
    (tmp_path / "no.py").write_text("x = 1\n")
    ended = gnomon("describe", tmp_path / "no.py")
    assert (ended.code, ended.out) == (2, "")
    assert "no job in this file" in ended.err


def test_as_mapreduce_each_shuffle_is_a_job_and_words_are_parted_as_hadoop_does(gnomon: Gnomon) -> None:
    ended = gnomon("describe", JOBS / "top_pages.py", "--system", "mapreduce")
    assert ended.code == 0
    assert "hash (writable)" in ended.out
    assert "4 shuffles, 5 jobs of MapReduce with 27 maps and 16 reduces\n" in ended.out
    parts = ended.out.partition("WHAT RUNS\n")[2].partition("\n\n")[0].splitlines()
    roles = [line.split()[:3] for line in parts[1:4]]
    assert roles == [["0", "0", "map"], ["0", "1", "map"], ["0", "2", "reduce"]]
    assert parts[-1] == "not in MapReduce: cache of by owner"


def test_a_system_of_no_dataflow_is_told_with_those_that_are(gnomon: Gnomon) -> None:
    ended = gnomon("describe", JOBS / "wordcount.py", "--system", "sparc")
    assert ended.code == 2
    assert "unknown system of dataflow (did you mean 'spark'?)" in ended.err


@pytest.mark.parametrize(
    ("system", "kinds", "recovers"),
    [
        ("mapreduce", ["split, map", "shuffle", "merge, reduce", "output commit"], "the whole reduce, copied again"),
        ("spark", ["input", "narrow chain", "shuffle", "cached", "result"], "lost map outputs only"),
    ],
)
def test_an_engines_own_stages_say_the_six_things(gnomon: Gnomon, system: str, kinds: list[str], recovers: str) -> None:
    ended = gnomon("describe", JOBS / "top_pages.py", "--system", system, "-o", "json")
    rows = json.loads(ended.out)["engine"]
    assert [row["in the engine"] for row in rows] == kinds
    assert all(len(row) == 7 for row in rows)
    assert recovers in [row["recovers from"] for row in rows]
    assert recovers in gnomon("describe", JOBS / "top_pages.py", "--system", system).out


def test_what_a_job_has_not_is_not_shown(gnomon: Gnomon) -> None:
    assert "\ncached" not in gnomon("describe", JOBS / "wordcount.py", "--system", "spark").out


@pytest.mark.parametrize("system", [[], ["--system", "mapreduce"], ["--system", "spark"]])
def test_control_characters_in_names_do_not_reach_the_terminal(
    gnomon: Gnomon, tmp_path: Path, system: list[str]
) -> None:
    job = tmp_path / "job.py"
    job.write_text(
        "from gnomon.dataflow import Dataflow\n"
        'flow = Dataflow("re\\x1b[31md")\n'
        'named = flow.source([[1], [2]]).map(lambda n: (n, 1), name="li\\x1b[2Jne\\nbreak")\n'
        "named.group_by_key().collect()\n"
    )
    ended = gnomon("describe", job, *system)
    assert ended.code == 0
    assert "\x1b" not in ended.out
    assert "li\\x1b[2Jne\\nbreak" in ended.out
    assert ended.out.startswith("re\\x1b[31md: ")
