"""The commands of the tutorials and what they print: run, kept as golden texts, shown on the pages.

``python -m tests.examples.tutorials`` runs them anew and writes the golden texts and the pages.
"""

import os
import re
import runpy
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from textwrap import wrap
from unittest import mock

from gnomon.cli import run
from tests.shared import EXAMPLES, ROOT

PAGES = sorted((ROOT / "docs" / "tutorials").glob("*.md"))
GOLDEN = ROOT / "tests" / "data" / "tutorials"
CURVE = ROOT / "docs" / "tutorials" / "interval.svg"
WIDTH = 128

_BLOCK = re.compile(r"^```console\n(\$ (?:[^\n]*\\\n)*[^\n]*\n)(.*?)^```$", re.MULTILINE | re.DOTALL)


def shown(page: Path) -> list[tuple[str, str]]:
    """The commands of a page, one a console block, and what the page shows of their output."""
    return [(found[1], found[2]) for found in _BLOCK.finditer(page.read_text(encoding="utf-8"))]


@contextmanager
def workplace() -> Iterator[Path]:
    """A folder with a copy of the examples, in which commands run."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(EXAMPLES, Path(folder) / "examples")
        os.chdir(folder)
        try:
            yield Path(folder)
        finally:
            os.chdir(before)


def output(command: str) -> str:
    """What a command writes to standard output. It must end well."""
    name, *arguments = shlex.split(re.sub(r"\\\n> *", "", command.removeprefix("$ ")))
    out = StringIO()
    with redirect_stdout(out), redirect_stderr(StringIO()):
        if name == "gnomon":
            assert run(arguments) == 0, command
        else:
            assert name == "python", command
            with mock.patch.object(sys, "argv", arguments):
                runpy.run_path(arguments[0], run_name="__main__")
    return out.getvalue()


def transcript(commands: list[tuple[str, str]]) -> str:
    """Commands and their whole output."""
    return "\n".join(command + text for command, text in commands)


def folded(text: str) -> str:
    """Output as a page shows it: sentences are broken, in a table of what happened below their column; other tables are
    left as they are."""
    lines, width, indent = [], WIDTH, 0
    for line in text.splitlines():
        if not line:
            width, indent = WIDTH, 0
        elif "  " in line and re.fullmatch(r"[A-Z -]+", line):
            told = line.endswith(" WHAT")
            width, indent = (WIDTH, line.index(" WHAT") + 1) if told else (len(text), 0)
        below = " " * indent
        lines += wrap(line, width, subsequent_indent=below, break_long_words=False, break_on_hyphens=False) or [""]
    return "".join(f"{line}\n" for line in lines)


def renew() -> None:
    """Run every command, and write the golden texts, the pages and the picture."""
    for page in PAGES:
        with workplace() as folder:
            found = [(command, output(command)) for command, _ in shown(page)]
            curve = folder / "curve.svg"
            if curve.exists():
                shutil.copyfile(curve, CURVE)
        parts = _BLOCK.split(page.read_text(encoding="utf-8"))  # text, command, output, text...
        for number, (_, text) in enumerate(found):
            parts[3 * number + 1] = f"```console\n{parts[3 * number + 1]}"
            parts[3 * number + 2] = f"{folded(text)}```"
        page.write_text("".join(parts), encoding="utf-8")
        (GOLDEN / f"{page.stem}.txt").write_text(transcript(found), encoding="utf-8")


if __name__ == "__main__":
    renew()
