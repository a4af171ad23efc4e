"""The page: one file that needs nothing else, escapes what it is told, and stays small."""

import gzip
import json
import re
from base64 import b64decode
from dataclasses import replace
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path

import pytest

from gnomon.model.work import Note
from gnomon.report import html
from tests.insight.faulty import crash
from tests.report.pictures import exhibit
from tests.report.runs import Recording, one_after_another

pytestmark = pytest.mark.unit


class Parsed(HTMLParser):
    """The tags of a page in order, and the text of its scripts and of all else."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag == "script":
            self.scripts.append("")

    def handle_data(self, data: str) -> None:
        if self.tags and self.tags[-1][0] == "script" and self.lasttag == "script":
            self.scripts[-1] += data
        else:
            self.text += data


def parse(*exhibits: html.Exhibit) -> Parsed:
    return Parsed("".join(html.page(exhibits)))


def test_a_page_has_every_section_and_as_many_figures_as_places_for_them() -> None:
    page = parse(exhibit(one_after_another(), "fcfs"), exhibit(one_after_another(6), "easy"))
    headings = re.findall(
        r"^(What differs|Metrics|Allocation over time|Queue over time|Waits|Nodes over time|Tasks over time)$",
        page.text,
        re.MULTILINE,
    )
    assert headings == [
        "What differs",
        "Metrics",
        "Allocation over time",
        "Queue over time",
        "Waits",
        "Nodes over time",
        "Tasks over time",
    ]
    places = [int(attrs["data-figure"] or -1) for _, attrs in page.tags if "data-figure" in attrs]
    assert places == list(range(len(json.loads(page.scripts[0]))))
    assert len(places) == 2 + 1 + 1 + 2 + 2
    assert [tag for tag, _ in page.tags].count("details") == 5  # a table beside every kind of chart


def test_headings_say_what_was_found() -> None:
    """Six tasks of 1 s to 6 s, two at a time: four wait at first; 21 s of work in 2 x 12 s."""
    page = parse(exhibit(one_after_another(6), "six"))
    assert "Up to 4 tasks waited at once" in page.text
    assert "33.3% of the tasks started at once" in page.text
    assert "87.5% of cpu held on average" in page.text
    assert "All 6 tasks done in 12s" in page.text


def test_where_nobody_waited_there_is_no_chart_of_it() -> None:
    page = parse(exhibit(one_after_another(1)))
    assert "No task waited" in page.text
    assert "How long tasks waited" not in page.text
    assert "share of the tasks" not in page.text


def test_plotly_is_on_the_page_whole() -> None:
    page = parse(exhibit(one_after_another(2)))
    script = gzip.decompress(b64decode(page.scripts[1]))
    assert script == (files("plotly") / "package_data" / "plotly.min.js").read_bytes()


def test_a_page_loads_nothing() -> None:
    page = parse(exhibit(one_after_another()))
    assert not [
        tag for tag, attrs in page.tags if tag in ("link", "img", "iframe") or "src" in attrs or "href" in attrs
    ]
    policy = next(attrs["content"] for _, attrs in page.tags if attrs.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    assert policy.startswith("default-src 'none'")


HOSTILE = "</script><script>alert(1)</script><b onclick='x'>\"&amp;"


def test_text_of_the_users_stays_text() -> None:
    run = exhibit(one_after_another(4, policy=HOSTILE, name=HOSTILE), HOSTILE)
    page = parse(html.Exhibit(HOSTILE, run.series, run.metrics, notes=[Note("not modelled", HOSTILE, HOSTILE)]))
    assert [tag for tag, _ in page.tags].count("script") == 3
    assert not [attrs for _, attrs in page.tags if "onclick" in attrs]
    assert page.text.count("alert(1)") >= 3
    texts = json.dumps(json.loads(page.scripts[0]))
    assert "&lt;/script&gt;" in texts
    assert not re.search(r"<(?!b>|/b>|br>|extra>|/extra>)", texts)


def test_notes_are_told_once() -> None:
    note = Note("not modelled", "spec.x", "is left out", 3)
    run = exhibit(one_after_another(2))
    twice = [html.Exhibit(name, run.series, run.metrics, notes=[note]) for name in ("a", "b")]
    assert parse(*twice).text.count("not modelled: spec.x: is left out (3 times)") == 1


def test_an_empty_run_has_a_page() -> None:
    assert "0 tasks" in parse(exhibit(one_after_another(0))).text


def test_pages_are_the_same_each_time_and_bounded(tmp_path: Path) -> None:
    runs = [exhibit(one_after_another(3000), name) for name in ("a", "b", "c")]
    for name in ("one.html", "two.html"):
        html.write(tmp_path / name, runs)
    first, second = ((tmp_path / name).read_bytes() for name in ("one.html", "two.html"))
    assert first == second
    assert len(first) < 5_000_000


def test_a_notebook_gets_a_table_without_scripts() -> None:
    assert "<script" not in html.snippet(exhibit(one_after_another(2)))


def test_a_page_tells_what_went_wrong_and_only_then() -> None:
    tale = crash()
    page = parse(exhibit(Recording(tale.past.scenario, tale.log)), exhibit(one_after_another(2), "quiet"))
    assert "1 node; 1 tried again, 0 tasks given up" in page.text
    assert "Crossed bars failed" in page.text
    assert "Recovery" not in parse(exhibit(one_after_another(2))).text


def test_of_several_runs_the_page_says_first_in_what_they_come_out_apart() -> None:
    few, many = exhibit(one_after_another(2), "few"), exhibit(one_after_another(6), "many")
    lead = next(line for line in parse(few, many).text.splitlines() if line.startswith("Mean wait"))
    assert lead.startswith("Mean wait 0s with few, ")  # two run at once on two nodes
    assert "makespan 2s with few, 12s with many" in lead
    alike = [replace(few, name=name) for name in ("a", "b")]
    assert "The runs come out alike" in parse(*alike).text
