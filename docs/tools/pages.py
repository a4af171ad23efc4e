"""A hook of mkdocs: pages of the site that lie elsewhere in the repository, and a search that works from files.

A page may link to an example, to CONTRIBUTING.md or to CHANGELOG.md as it would on a code host. In the site an example
is a page of its own that shows the file, and the two are pages like others.
"""

from __future__ import annotations

import json
import posixpath
import re
from pathlib import Path
from typing import Any, Final

from mkdocs.structure.files import File

ROOT: Final = Path(__file__).resolve().parents[2]
BESIDE: Final = ("CONTRIBUTING.md", "CHANGELOG.md")
LINK: Final = re.compile(r"(\]\()([^)#\s:]+)((?:#[^)\s]*)?\))")
KINDS: Final = {".py": "python", ".yaml": "yaml", ".xml": "xml", ".csv": "text", ".conf": "ini"}


def on_files(files: Any, config: Any) -> Any:
    """Add the pages that lie beside docs/, and one for each example that a page links to."""
    for name in BESIDE:
        files.append(File.generated(config, name, content=(ROOT / name).read_text(encoding="utf-8")))
    linked = set()
    for file in list(files.documentation_pages()):
        for _, target, _ in LINK.findall(file.content_string):
            path = located(target, file.src_uri)
            if path.startswith("examples/") and (ROOT / path).is_file():
                linked.add(path)
    for path in sorted(linked):
        files.append(File.generated(config, f"{path}.md", content=shown(path)))
    return files


def located(target: str, page: str) -> str:
    """Where a link of a page leads, from the root of the repository."""
    folder = "" if page in BESIDE else "docs"
    return posixpath.normpath(posixpath.join(folder, posixpath.dirname(page), target))


def shown(path: str) -> str:
    """The page of an example."""
    text = (ROOT / path).read_text(encoding="utf-8").rstrip("\n")
    return f"# {path}\n\n```{KINDS.get(Path(path).suffix, 'text')}\n{text}\n```\n"


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Turn links that leave docs/ to the pages that stand for what they name."""

    def turned(found: re.Match[str]) -> str:
        path = located(found[2], page.file.src_uri)
        if path.startswith("docs/"):
            target = path.removeprefix("docs/")
        elif path in BESIDE:
            target = path
        elif files.get_file_from_path(f"{path}.md"):
            target = f"{path}.md"
        else:
            return found[0]
        here = posixpath.dirname(page.file.src_uri) or "."
        return f"{found[1]}{posixpath.relpath(target, here)}{found[3]}"

    return LINK.sub(turned, adapted(markdown))


def adapted(markdown: str) -> str:
    """A page as the generator reads it, where a code host reads it otherwise: what belongs to an item of a list is
    indented by four spaces, not two; a bar in the code of a table is not escaped."""
    lines, fenced, more = [], False, 0
    for line in markdown.splitlines():
        inner = len(line) - len(line.lstrip(" "))
        if line.lstrip().startswith("```"):
            fenced = not fenced
            more = (4 - inner if inner in (2, 3) else 0) if fenced else more
            lines.append(" " * more + line)
        elif fenced:
            lines.append(" " * more + line if line else line)
        else:
            line = re.sub("`[^`]*`", lambda code: code[0].replace(r"\|", "|"), line) if line.startswith("|") else line
            lines.append(f"    {line[inner:]}" if inner in (2, 3) else line)
    return "\n".join(lines)


def on_post_build(config: Any) -> None:
    """Put the index of the search beside itself as a script: from files a browser loads no JSON."""
    folder = Path(config.site_dir) / "search"
    index = json.loads((folder / "search_index.json").read_text(encoding="utf-8"))
    (folder / "search_index.js").write_text(f"var __index = {json.dumps(index)}", encoding="utf-8")
