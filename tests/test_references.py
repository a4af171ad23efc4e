"""What docstrings and pages refer to is there: modules, names, files."""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.tidy

ROOT = Path(__file__).resolve().parent.parent
SRC = ROOT / "src" / "gnomon"
SOURCES = {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(SRC.rglob("*.py"))}
TO_COME = {".web"}


def dotted(path: Path) -> str:
    """A module by its full name."""
    return ".".join(path.relative_to(SRC.parent).with_suffix("").parts).removesuffix(".__init__")


def names_in(node: ast.AST, prefix: str) -> Iterator[str]:
    """All that a module or class defines, with what its methods set on themselves, by full names."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef):
            yield f"{prefix}.{child.name}"
            yield from names_in(child, f"{prefix}.{child.name}")
        elif isinstance(child, ast.FunctionDef):
            yield f"{prefix}.{child.name}"
            if isinstance(node, ast.ClassDef):
                parts = (each for each in ast.walk(child) if isinstance(each, ast.Attribute))
                own = (each for each in parts if isinstance(each.value, ast.Name) and each.value.id == "self")
                yield from (f"{prefix}.{each.attr}" for each in own)
        elif isinstance(child, ast.Assign | ast.AnnAssign):
            targets = child.targets if isinstance(child, ast.Assign) else [child.target]
            named = (each for target in targets for each in ast.walk(target) if isinstance(each, ast.Name))
            yield from (f"{prefix}.{each.id}" for each in named)
        elif isinstance(child, ast.ImportFrom):
            yield from (f"{prefix}.{alias.asname or alias.name}" for alias in child.names)


def ends_of(names: set[str]) -> set[str]:
    """What names end with: ``.Retry``, ``.recovery.Retry`` and so on for ``.gnomon.model.recovery.Retry``."""
    return {name[match.start() :] for name in names for match in re.finditer(r"\.", name)}


THERE = {f".{dotted(path)}" for path in SOURCES}
THERE |= {f".{name}" for path, tree in SOURCES.items() for name in names_in(tree, dotted(path))}
PACKAGES = {f".{name}" for path, tree in SOURCES.items() for name in names_in(tree, dotted(path.parent))}
"""The same as if a package had the names of its modules: so far ``.priority.Lasting`` says where to look."""


def test_references_of_docstrings_resolve() -> None:
    role = re.compile(r":(?:mod|class|func|meth|data|attr|exc|obj):`~?([\w.]+)`")
    ends = ends_of(THERE | PACKAGES)
    lost = [
        f"{path.relative_to(ROOT)}:{number} {match[1]}"
        for path in SOURCES
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        for match in role.finditer(line)
        if f".{match[1].lstrip('.')}" not in ends and match[1].split(".")[0] not in sys.stdlib_module_names | {"numpy"}
    ]
    assert not lost, "These name what is not there:\n" + "\n".join(lost)


def test_maps_of_packages_name_what_is_in_them() -> None:
    lost = []
    for path, tree in SOURCES.items():
        if path.name == "__init__.py":
            package = dotted(path)
            ends = ends_of({name for name in THERE if name.startswith(f".{package}.")}) | TO_COME
            words = re.findall(r"``([a-z_][\w.]*)``", ast.get_docstring(tree) or "")
            lost += [f"{package}: {word}" for word in words if f".{word}" not in ends]
    assert not lost, "These maps name what is not in their package:\n" + "\n".join(lost)


def test_files_that_pages_name_are_there() -> None:
    folders = ("src", "tests", "docs", "examples", "benchmarks")
    there = [path.relative_to(ROOT).with_suffix("") for folder in folders for path in (ROOT / folder).rglob("*.py")]
    files = ends_of({"." + ".".join(path.parts) for path in there})
    lost = [
        f"{page.relative_to(ROOT)}: {name}"
        for page in (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"))
        for name in re.findall(r"`([a-z_][a-z_/0-9]*)\.py`", page.read_text(encoding="utf-8"))
        if "." + name.replace("/", ".") not in files
    ]
    assert not lost, "These pages name files that are not there:\n" + "\n".join(lost)
