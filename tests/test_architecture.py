"""The map is the territory: what docs/architecture.md names is there, and it names all that the core has."""

import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.tidy

ROOT = Path(__file__).resolve().parent.parent
SRC = ROOT / "src" / "gnomon"
CORE = ("model", "engine", "scheduling", "resources", "recovery", "dataflow", "control")
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
LAYOUT = PAGE[PAGE.index("```\nsrc/gnomon/") : PAGE.index("```\n\nImports point one way")]


def part_of(package: str) -> str:
    """What the layout says of a package."""
    found = re.search(rf"^  {package}/ .*?(?=^  \w+/ |^\w)", LAYOUT, re.DOTALL | re.MULTILINE)
    assert found, f"the layout has no {package}/"
    return found[0]


@pytest.mark.parametrize("package", CORE)
def test_each_module_of_the_core_is_on_the_map(package: str) -> None:
    words = set(re.findall(r"\w+", part_of(package)))
    there = {path.stem for path in (SRC / package).glob("*.py")} - {"__init__"}
    assert there - words == set()


def test_each_package_is_on_the_map() -> None:
    for path in sorted(SRC.iterdir()):
        if (path / "__init__.py").exists():
            part_of(path.name)


def test_each_file_that_the_page_names_is_there() -> None:
    named = {match[1] for match in re.finditer(r"`((?:\w+/)+(?:\w+\.py)?)`", PAGE)}
    named = {name for name in named if "NAME" not in name}
    assert {name for name in named if not any((start / name).exists() for start in (SRC, ROOT))} == set()
