"""What the documentation tells a reader to type works.

In a fenced ``console`` block the lines after a ``$ `` prompt are commands, the others are output. In a
``bash`` block the lines that begin with ``gnomon`` or ``make`` are commands too. ``gnomon …`` is run, page by
page and in order, in a copy of the examples; it must end with 0, or with the code in a trailing ``# exit 1``.
``make …`` is only asked whether it knows the target.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from gnomon import Scenario

pytestmark = pytest.mark.docs

ROOT = Path(__file__).resolve().parent.parent
TIMEOUT_S = 240
PAGES = [ROOT / "CONTRIBUTING.md", *sorted(ROOT.glob("README.md")), *sorted((ROOT / "docs").rglob("*.md"))]


@dataclass(frozen=True)
class Command:
    """One command as a page shows it."""

    line: int
    text: str
    exit_code: int = 0


def commands(page: str) -> Iterator[Command]:
    """The ``gnomon`` and ``make`` commands in a page's fenced blocks."""
    inside, kind = False, ""
    lines = iter(enumerate(page.splitlines(), start=1))
    for number, line in lines:
        stripped = line.strip()
        if stripped.startswith("```"):
            inside = not inside
            kind = stripped.strip("`").partition(" ")[0] if inside else ""
            continue
        prompted = stripped.startswith("$ ")
        text = stripped.removeprefix("$ ")
        while text.endswith("\\"):
            text = text[:-1] + next(lines, (0, ""))[1].strip().removeprefix("> ").lstrip()
        text = text.removeprefix(".venv/bin/")
        shown = (kind == "console" and prompted) or kind in ("bash", "sh", "shell")
        if shown and re.match(r"(gnomon|make)\b", text):
            stated = re.search(r"#.*\bexit (\d+)\s*$", text)
            yield Command(number, text, int(stated[1]) if stated else 0)


@pytest.fixture
def workplace(tmp_path: Path) -> Path:
    """A folder that looks like the repository to a command and takes what it writes."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    (tmp_path / "tests").symlink_to(ROOT / "tests")
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    return tmp_path


def run(text: str, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    environment["PATH"] = os.pathsep.join((str(Path(sys.executable).parent), environment.get("PATH", "")))
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", text],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=TIMEOUT_S,
    )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_commands_work(page: Path, workplace: Path) -> None:
    for command in commands(page.read_text(encoding="utf-8")):
        if command.text.startswith("make"):
            ended = run(command.text.replace("make", "make -n", 1), ROOT)
        else:
            ended = run(command.text, workplace)
        assert ended.returncode == command.exit_code, (
            f"{page.relative_to(ROOT)}:{command.line} shows `{command.text}`, which should end with "
            f"{command.exit_code} and ended with {ended.returncode}:\n{ended.stdout[-2_000:]}"
        )


def blocks(page: Path, kind: str) -> list[str]:
    """The texts of a page's fenced blocks of a kind."""
    return re.findall(rf"^```{kind}\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(
    "page", [page for page in PAGES if blocks(page, "python")], ids=lambda page: page.relative_to(ROOT).as_posix()
)
def test_python_works(page: Path, workplace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(workplace)
    exec(compile("\n".join(blocks(page, "python")), str(page), "exec"), {"__name__": "page"})


def test_the_scenario_that_is_shown_can_be_loaded(tmp_path: Path) -> None:
    sizes = []
    for shown in blocks(ROOT / "docs" / "scenarios.md", "yaml"):
        path = tmp_path / "shown.yaml"
        path.write_text(shown, encoding="utf-8")
        sizes.append(len(Scenario.load(path).work))
    assert sizes == [8, 44]


def test_commands_are_found() -> None:
    page = """
```console
$ gnomon compare a.swf \\
>     --policy easy
gnomon prints this
$ gnomon check b.yaml   # exit 1
$ ls
```
```yaml
gnomon: no command
```
```
$ gnomon in a block of no kind
```
```bash
make test
.venv/bin/gnomon simulate c.yaml
```
"""
    assert list(commands(page)) == [
        Command(3, "gnomon compare a.swf --policy easy"),
        Command(6, "gnomon check b.yaml   # exit 1", 1),
        Command(16, "make test"),
        Command(17, "gnomon simulate c.yaml"),
    ]


def prose(page: Path) -> str:
    """A page without its blocks of code."""
    return re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


def anchors(page: Path) -> set[str]:
    """The names under which a page's headings can be linked to, on a code host and in the site alike."""
    found = set()
    for heading in re.findall(r"^#+ (.*)$", prose(page), re.MULTILINE):
        text = re.sub(r"[^\w\s-]", "", re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading)).strip().lower()
        if (here := text.replace(" ", "-")) == re.sub(r"[-\s]+", "-", text):
            found.add(here)
    return found


def test_blocks_are_closed_and_begin_on_a_line_of_their_own() -> None:
    found = []
    for page in PAGES:
        inside = False
        for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), start=1):
            if line.lstrip().startswith("```"):
                if not re.fullmatch(r"\s*```" if inside else r"\s*```[a-z]*", line):
                    found.append(f"{page.relative_to(ROOT)}:{number}: {line}")
                inside = not inside
        if inside:
            found.append(f"{page.relative_to(ROOT)}: a block is not closed")
    assert not found, "\n".join(["These blocks of code are not shown as such:", *found])


def test_links_lead_somewhere() -> None:
    found = []
    for page in PAGES:
        for target, anchor in re.findall(r"\]\(([^)#\s]*)(?:#([^)]*))?\)", prose(page)):
            if re.match(r"[a-z]+:", target):
                continue
            there = page.parent / target if target else page
            if not there.exists() or (anchor and anchor not in anchors(there)):
                found.append(f"{page.relative_to(ROOT)}: {target}#{anchor}".rstrip("#"))
    assert not found, "\n".join(["These links lead nowhere:", *found])


def test_the_site_has_every_page() -> None:
    """What ``make docs`` fails on as well, without its generator."""
    site = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))

    def listed(part: object) -> Iterator[str]:
        if isinstance(part, str):
            yield part
        elif isinstance(part, dict | list):
            for inner in part.values() if isinstance(part, dict) else part:
                yield from listed(inner)

    pages = [page.relative_to(ROOT / "docs").as_posix() for page in (ROOT / "docs").rglob("*.md")]
    assert sorted(listed(site["nav"])) == sorted([*pages, "CONTRIBUTING.md"]), "nav of mkdocs.yml, pages of docs"


PARTS = (
    "Files that are read",
    "What can be asked",
    "Options",
    "What is modelled",
    "What is not modelled",
    "How well verified",
)


@pytest.mark.parametrize("system", ["plain", "kubernetes", "slurm", "spark", "mapreduce"])
def test_the_page_of_a_system_has_the_parts_of_all(system: str) -> None:
    headings = re.findall(r"^## (.*)$", prose(ROOT / "docs" / f"{system}.md"), re.MULTILINE)
    assert tuple(heading for heading in headings if heading in PARTS) == PARTS
