"""An extension of griffe, which reads the docstrings: examples and literal blocks become blocks of code of Markdown."""

from __future__ import annotations

import re
from typing import Any, Final

from griffe import Extension

ROLE: Final = re.compile(r":(?:class|func|mod|data|meth|attr):`([^`]+)`")
TABLE: Final = re.compile(r"^(=+(?: +=+)+)\n(?:.*\n)+?\1\n(?:.*\n)+?\1(?:\n|\Z)", re.MULTILINE)


class Doctests(Extension):
    """Rewrites the docstring of every object that is loaded."""

    def on_object(self, *, obj: Any, **_: Any) -> None:
        if not obj.is_alias and obj.docstring is not None:
            obj.docstring.value = markdown(obj.docstring.value)


def markdown(text: str) -> str:
    """A docstring as Markdown."""
    text = TABLE.sub(lambda found: f"```text\n{found[0]}```\n", text)
    lines: list[str] = []
    fenced = ""
    for line in ROLE.sub(r"`\1`", text).splitlines():
        if not fenced and line.startswith(">>> "):
            lines += ["", "```pycon"]
            fenced = "doctest"
        elif not fenced and line.startswith("    ") and "".join(lines[-2:]).endswith("::"):
            lines[-2:] = [lines[-2][:-1] if lines[-1] == "" else lines[-2], "", "```python"]
            fenced = "literal"
        elif fenced == "doctest" and not line.strip():
            lines.append("```")
            fenced = ""
        elif fenced == "literal" and line.strip() and not line.startswith("    "):
            lines += ["```", ""]
            fenced = ""
        lines.append(line[4:] if fenced == "literal" else line)
    return "\n".join([*lines, "```"] if fenced else lines)
