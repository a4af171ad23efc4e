"""An explanation as a page that needs no network: the answer, then its tables; nothing on it runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gnomon.report.explanation import blocks, native_lines
from gnomon.report.page import framed, headline, safe, section, table


def page(found: Mapping[str, Any], notes: list[str]) -> str:
    """The page of what ``explain -o json`` says; ``notes``: what the answer leaves out or takes for granted."""
    title = f"{found['subject']}: {found['state']}"
    native = "".join(f"{safe(line)}<br>\n" for line in native_lines(found))
    head = f"<header>\n{headline(title)}<p class='lead'>{safe(found['summary'])}</p>\n"
    body = [f"{head}{f'<p class=native>{native}</p>' if native else ''}</header>\n<main>\n"]
    for block in blocks(found):
        heading = block.title.capitalize()
        texts = [i for i in range(len(block.headers)) if i not in block.right]
        shown = table(heading, [head.lower() for head in block.headers], block.rows, texts=texts)
        body.append(section(heading, shown if block.headers else f"<p>{safe(block.text)}</p>\n"))
    if notes:
        items = "".join(f"<li>{safe(note)}</li>\n" for note in notes)
        body.append(section("What the answer leaves out or takes for granted", f"<ul>\n{items}</ul>\n"))
    body.append("</main>\n<footer>Made by Gnomon; needs no network.</footer>\n")
    return "".join(framed(title, body))
