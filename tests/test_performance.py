"""docs/performance.md, docs/chaos.md and README.md show what is kept of the last measurements."""

import re
from pathlib import Path

import pytest

from benchmarks.__main__ import NAMES, main
from benchmarks.results import PAGES, README, filled, read, speed

pytestmark = pytest.mark.docs


@pytest.mark.parametrize("page", [*PAGES, README], ids=lambda page: page.name)
def test_a_page_shows_what_is_kept(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert text == filled(text, read()), f"{page.name} differs; `make bench BENCH=--write` writes it anew"


def test_every_benchmark_has_a_table() -> None:
    shown = [name for page in PAGES for name in re.findall(r"<!-- bench: (\w+) -->", page.read_text(encoding="utf-8"))]
    assert sorted(shown) == sorted(read()) == NAMES


def test_the_readme_has_the_small_table() -> None:
    assert speed(read()) in README.read_text(encoding="utf-8")


def test_a_table_is_filled_in() -> None:
    kept = {"kubernetes": {"date": "2026-01-31", "machine": "M", "with": "V", "rows": [{"nodes": 5000, "plain": 8025}]}}
    page = "a\n<!-- bench: kubernetes -->\nold\n<!-- /bench -->\nb\n"
    assert (
        filled(page, kept)
        == """a
<!-- bench: kubernetes -->
| nodes | plain pods per CPU s | with a zone and a hostname spread constraint |
|---|---|---|
| 5,000 | 8,025 |  |

*2026-01-31: M; V.*
<!-- /bench -->
b
"""
    )


def test_an_unknown_benchmark_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["btach"]) == 2
    assert "unknown benchmark btach; there are: batch" in capsys.readouterr().err
