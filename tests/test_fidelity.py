"""docs/fidelity.md is what the recorded cases give now, and README.md says the same in short."""

import re

import pytest

from tests import fidelity
from tests.fidelity import ALL_COLUMN, BESIDE, ENGINES, PAGE, README, judge, page, small_table, with_figures

pytestmark = pytest.mark.docs


def repeatable(text: str) -> str:
    """What of the page needs only the cases in the repository: not the last column of some tables, nor the end."""
    kept, cut = [], False
    for line in text.partition(BESIDE)[0].splitlines():
        cut = line.startswith("|") and (cut or line.endswith(f"| {ALL_COLUMN} |"))
        kept.append(line.rpartition("|")[0].rpartition("|")[0] if cut else line)
    return "\n".join(kept)


@pytest.mark.slow
def test_the_page_is_what_make_fidelity_writes() -> None:
    written = PAGE.read_text(encoding="utf-8")
    date = re.search(r"on (\d{4}-\d\d-\d\d)\.", written)
    assert date
    now = page(judge(), date[1])
    if fidelity.ALL is None or "were not at hand" in written:
        written, now = repeatable(written), repeatable(now)
    assert written == now, "docs/fidelity.md is not what the recorded cases give now; `make fidelity` writes it anew"


def test_the_readme_has_the_table_of_the_page() -> None:
    assert small_table(README.read_text(encoding="utf-8")) == small_table(PAGE.read_text(encoding="utf-8"))


@pytest.mark.parametrize("system", ENGINES)
def test_the_page_of_a_system_has_its_lines(system: str) -> None:
    text = PAGE.with_name(f"{system}.md").read_text(encoding="utf-8")
    assert f"| {ENGINES[system]} " in text
    assert text == with_figures(text, small_table(PAGE.read_text(encoding="utf-8")))
