"""YAML and JSON documents as plain values that know the line of each of their parts.

Scalars mean what YAML 1.2's core schema says (https://yaml.org/spec/1.2.2/#103-core-schema): ``no`` and ``12:30`` are
text. Two things are stricter: keys are text as written, and a whole number with leading zeros is text, so that an id
``007`` stays what it is. Only plain types are built. Refused with their line: duplicate keys, unknown tags, numbers
that are not finite, and what grows beyond the bounds below, aliases counted each time they are used.

Files of programs written in Go are read by YAML 1.1 (``yaml_1_1``): there ``no`` is a boolean and ``017`` is 15.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

import orjson
import yaml
from yaml.reader import ReaderError

from gnomon.formats.files import TEXT_BYTES_MAX, Path, read_text
from gnomon.model.errors import InputError

DEPTH_MAX = 100
"""How deep lists and mappings may stand in each other."""

NODES_MAX = 1_000_000
"""How many values a file may hold, aliases expanded."""

JSON_BYTES_MAX = 2**28
"""The largest JSON file."""

_LINES_KNOWN_MAX = 2**20
"""JSON up to this size is read as YAML, which knows its lines."""

_DIGITS_MAX = 400

_NULL = frozenset(("", "~", "null", "Null", "NULL"))
_BOOL = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INT = re.compile(r"[-+]?(?:0|[1-9][0-9]*)|0o[0-7]+|0x[0-9a-fA-F]+", re.ASCII)
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", re.ASCII)
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)", re.ASCII)
_LEADING_ZERO = re.compile(r"[-+]?0[0-9]+", re.ASCII)
_TRUE_1_1 = ("y", "Y", "yes", "Yes", "YES", "on", "On", "ON")
_FALSE_1_1 = ("n", "N", "no", "No", "NO", "off", "Off", "OFF")
_BOOL_1_1 = {**dict.fromkeys(_TRUE_1_1, True), **dict.fromkeys(_FALSE_1_1, False)}
_INT_1_1 = re.compile(r"([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0[oO]?([0-7]+))", re.ASCII)

_TAG = "tag:yaml.org,2002:"
_SCALAR_TAGS = {"null": type(None), "bool": bool, "int": int, "float": float}

_RUN_MAX = 2**14

Steps = tuple[str | int, ...]
"""The keys and positions that lead from a document's root to a value."""

# The fast parser, written in C, where PyYAML was built with it.
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Place(NamedTuple):
    """The line of a value, and the places of the values inside it."""

    line: int
    inside: dict[str, Place] | list[Place] | None = None


@dataclass(frozen=True)
class Located:
    """A plain value (None, bool, int, float, str, list, dict with text keys) and where it stands in its file.

    >>> (document,) = parse_yaml("nodes:\\n- name: a\\n  cpu: 2\\n")
    >>> node = document.at("nodes", 0)
    >>> node.value["cpu"], node.line("cpu"), node.field("cpu")
    (2, 3, 'nodes[0].cpu')
    """

    value: Any
    file: str | None = None
    place: Place | None = None
    path: Steps = ()

    def at(self, *path: str | int) -> Located:
        """The value at a path inside this one."""
        value, place = self.value, self.place
        for step in path:
            value, place = value[step], _step(place, step)
        return Located(value, self.file, place, (*self.path, *path))

    def line(self, *path: str | int) -> int | None:
        """The line of what is at the path; if there is nothing, of the innermost value around it."""
        place = self.place
        for step in path:
            inner = _step(place, step)
            if inner is None:
                break
            place = inner
        return None if place is None else place.line

    def field(self, *path: str | int) -> str:
        """The path from the document's root as people write it."""
        return field_name((*self.path, *path))

    def beside(self) -> str:
        """The path that stands here: relative to the folder of the file.

        >>> Located("nodes.yaml", "cases/one.yaml").beside()
        'cases/nodes.yaml'
        """
        return os.path.join(os.path.dirname(self.file or ""), self.value)

    def error(self, problem: str, *path: str | int, found: object = None, allowed: str | None = None) -> InputError:
        """The error for what is at the path."""
        place = {"file": self.file, "line": self.line(*path), "field": self.field(*path) or None}
        return InputError(problem, found=found, allowed=allowed, **place)  # type: ignore[arg-type]


def load_yaml(path: Path) -> tuple[Located, ...]:
    """The documents of a YAML or JSON file, at least one; empty documents are left out.

    JSON above 1 MiB, or with what JSON allows and YAML does not, is read by orjson: without lines, and of two equal
    keys the last one counts. Raises :class:`InputError`.
    """
    return parse_yaml(read_text(path, limit_bytes=JSON_BYTES_MAX), file=os.fspath(path))


def parse_yaml(text: str, *, file: str | None = None, yaml_1_1: bool = False) -> tuple[Located, ...]:
    """As :func:`load_yaml`, from text. ``yaml_1_1``: plain scalars mean what go-yaml makes of them.

    Source of those: ``resolve`` in sigs.k8s.io/yaml, goyaml.v2/resolve.go.

    >>> parse_yaml("a: 1\\na: 2\\n")
    Traceback (most recent call last):
    gnomon.model.errors.InputError: line 2, a: this key is there twice
    >>> parse_yaml("[no, 017, 1_000]")[0].value, parse_yaml("[no, 017, 1_000]", yaml_1_1=True)[0].value
    (['no', '017', '1_000'], [False, 15, 1000])
    """
    json = text.lstrip()[:1] in ("{", "[")
    if json and len(text) > _LINES_KNOWN_MAX:
        return (_json(text, file),)
    if len(text) > TEXT_BYTES_MAX:
        raise InputError(f"larger than {TEXT_BYTES_MAX} characters", file=file)
    if endless := _endless(text, file):
        if json:
            with suppress(InputError):
                return (_json(text, file),)
        raise endless
    try:
        documents = [_Builder(file, yaml_1_1=yaml_1_1).located(root) for root in _compose(text, file)]
    except (yaml.YAMLError, UnicodeEncodeError) as error:
        if json:
            with suppress(InputError):
                return (_json(text, file),)
        raise _syntax_error(error, text, file) from None
    filled = tuple(document for document in documents if document.value is not None)
    if not filled:
        raise InputError("the file holds nothing but blanks and comments", file=file)
    return filled


def field_name(path: Steps) -> str:
    """A path as people write it.

    >>> field_name(("nodes", 0, "memory"))
    'nodes[0].memory'
    """
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).removeprefix(".")


def _endless(text: str, file: str | None) -> InputError | None:
    """The error for text over which libyaml would sit without end, None for other text.

    It empties its buffers after each line by writing over all that they ever held, and looks through all directives
    before each: ``CLEAR`` and ``yaml_parser_append_tag_directive`` of libyaml 0.2.5.
    """
    if len(text) <= _RUN_MAX:
        return None
    blank = text
    for other in "\n\t\r\x85\u2028\u2029":
        blank = blank.replace(other, " ")
    if (start := blank.find(" " * _RUN_MAX)) >= 0:
        line = text.count("\n", 0, start) + 1
        return InputError(f"more than {_RUN_MAX:,} blanks or ends of lines in a row", file=file, line=line)
    return InputError("more than 1,000 directives", file=file) if text.count("\n%TAG") > 1_000 else None


class _Node(NamedTuple):
    """A node as the parser sees it: a scalar's text, a list's items, or a mapping's keys and values in turn.

    ``size``: how many nodes it is with all that is inside, aliases expanded.
    """

    line: int
    tag: str | None
    text: str = ""
    plain: bool = False
    items: list[_Node] | None = None
    mapping: bool = False
    size: int = 1


def _compose(text: str, file: str | None) -> Iterator[_Node]:
    """The root node of each document, without recursion; an alias gives the very node of its anchor."""
    open_nodes: list[_Node] = []
    open_anchors: list[str | None] = []
    anchors: dict[str, _Node] = {}
    events: Iterator[Any] = yaml.parse(text, Loader=_Loader)
    for number, event in enumerate(events):
        line = event.start_mark.line + 1
        if number > 3 * NODES_MAX:
            raise InputError(f"more than {NODES_MAX} values", file=file, line=line)
        if isinstance(event, yaml.CollectionStartEvent):
            if len(open_nodes) == DEPTH_MAX:
                raise InputError(f"nested more than {DEPTH_MAX} deep", file=file, line=line)
            mapping = isinstance(event, yaml.MappingStartEvent)
            open_nodes.append(_Node(line, event.tag, items=[], mapping=mapping))
            open_anchors.append(event.anchor)
            continue
        if isinstance(event, yaml.ScalarEvent):
            node, anchor = _Node(line, event.tag, event.value, plain=event.implicit[0]), event.anchor
        elif isinstance(event, yaml.CollectionEndEvent):
            node, anchor = open_nodes.pop(), open_anchors.pop()
            node = node._replace(size=1 + sum(item.size for item in node.items or ()))
            if node.size > 2 * NODES_MAX:
                raise InputError(f"more than {NODES_MAX} values, aliases counted each time", file=file, line=node.line)
        elif isinstance(event, yaml.AliasEvent):
            name, anchor = event.anchor, None
            if name not in anchors:
                raise InputError("an alias without its anchor before it", file=file, line=line, found=f"*{name}")
            node = anchors[name]
        else:  # the start or end of the file or a document
            anchors.clear()
            continue
        if anchor:
            anchors[anchor] = node
        if not open_nodes:
            yield node
        elif (items := open_nodes[-1].items) is not None:
            items.append(node)


class _Builder:
    """Makes plain values of nodes, aliases expanded and counted."""

    def __init__(self, file: str | None, *, yaml_1_1: bool = False) -> None:
        self._file, self._yaml_1_1 = file, yaml_1_1
        self._built = 0

    def located(self, root: _Node) -> Located:
        value, place = self._build(root, ())
        return Located(value, self._file, place)

    def _build(self, node: _Node, path: Steps) -> tuple[Any, Place]:
        self._count(1, len(path), node, path)
        if node.items is None:
            return self._scalar(node, path), Place(node.line)
        if node.tag not in (None, "!", f"{_TAG}map" if node.mapping else f"{_TAG}seq"):
            raise self._error("a tag that is not read here", node, path, found=node.tag)
        if not node.mapping:
            built = [self._build(item, (*path, position)) for position, item in enumerate(node.items)]
            return [value for value, _ in built], Place(node.line, [place for _, place in built])
        values, places = {}, {}
        for key, item in self._entries(node, path).items():
            values[key], places[key] = self._build(item, (*path, key))
        return values, Place(node.line, places)

    def _count(self, nodes: int, depth: int, node: _Node, path: Steps) -> None:
        self._built += nodes
        if self._built > NODES_MAX:
            raise self._error(f"more than {NODES_MAX} values, aliases counted each time", node, path)
        if depth > DEPTH_MAX:
            raise self._error(f"nested more than {DEPTH_MAX} deep", node, path)

    def _entries(self, node: _Node, path: Steps, depth: int = 0) -> dict[str, _Node]:
        """The values of a mapping by key, those merged in with ``<<`` last.

        Source: https://yaml.org/type/merge.html; what the mapping says itself counts, then the earlier source.
        """
        own: dict[str, _Node] = {}
        merged: dict[str, _Node] = {}
        items = node.items or []
        for key, value in zip(items[::2], items[1::2], strict=True):
            if key.items is not None:
                raise self._error("a key that is not text", key, path)
            if key.text == "<<" and key.plain:
                sources = value.items if value.items is not None and not value.mapping else [value]
                for source in sources:
                    if not source.mapping:
                        raise self._error("only a mapping can be merged in", value, (*path, "<<"))
                    self._count(len(source.items or ()) + 1, depth, node, path)
                    merged = {**self._entries(source, path, depth + 1), **merged}
            elif key.text in own:
                raise self._error("this key is there twice", key, (*path, key.text))
            else:
                own[key.text] = value
        return {**own, **{key: value for key, value in merged.items() if key not in own}}

    def _scalar(self, node: _Node, path: Steps) -> bool | int | float | str | None:
        text, tag = node.text, (node.tag or "").removeprefix(_TAG)
        if tag in ("str", "!") or (not tag and not node.plain):
            return text
        if tag and tag not in _SCALAR_TAGS:
            raise self._error("a tag that is not read here", node, path, found=node.tag)
        value = self._resolved(node, path)
        if tag and not isinstance(value, _SCALAR_TAGS[tag]):
            raise self._error(f"not of the type that its tag says ({tag})", node, path, found=text)
        return value

    def _resolved(self, node: _Node, path: Steps) -> bool | int | float | str | None:
        text = node.text
        if text in _NULL:
            return None
        if text in _BOOL:
            return _BOOL[text]
        if self._yaml_1_1 and (meant := _meant_by_1_1(text)) is not None:
            return meant
        if text[0] not in "+-.0123456789":
            return text
        if _LEADING_ZERO.fullmatch(text):
            return text
        if _INT.fullmatch(text):
            if len(text) > _DIGITS_MAX:
                raise self._error("a number too large", node, path, found=text)
            return int(text, 0)
        if _FLOAT.fullmatch(text) and math.isfinite(number := float(text)):
            return number
        if _FLOAT.fullmatch(text) or _NOT_FINITE.fullmatch(text):
            raise self._error("not a finite number", node, path, found=text)
        return text

    def _error(self, problem: str, node: _Node, path: Steps, *, found: object = None) -> InputError:
        return InputError(problem, file=self._file, line=node.line, field=field_name(path) or None, found=found)


def _meant_by_1_1(text: str) -> bool | int | float | None:
    """What a plain scalar means where YAML 1.1 reads it in another way than 1.2; None for all others."""
    if text in _BOOL_1_1:
        return _BOOL_1_1[text]
    if text[0] not in "+-.0123456789":
        return None
    plain = text.replace("_", "")
    if found := _INT_1_1.fullmatch(plain):
        sign, *digits = found.groups()
        number = next(int(part, base) for part, base in zip(digits, (16, 2, 8), strict=True) if part)
        return -number if sign == "-" else number
    if len(plain) > _DIGITS_MAX or (plain == text and not _LEADING_ZERO.fullmatch(text)):
        return None
    if _INT.fullmatch(plain):
        return int(plain)
    return real if _FLOAT.fullmatch(plain) and math.isfinite(real := float(plain)) else None


def _json(text: str, file: str | None) -> Located:
    try:
        return Located(orjson.loads(text), file)
    except orjson.JSONDecodeError as error:
        raise InputError(f"not JSON: {error.msg}", file=file, line=error.lineno) from None


def _syntax_error(error: Exception, text: str, file: str | None) -> InputError:
    if isinstance(error, yaml.MarkedYAMLError):
        mark: Any = error.problem_mark or error.context_mark
        problem = ", ".join(part for part in (error.context, error.problem) if part)
        indented_by_tab = mark and "\t" in "".join(text.split("\n")[mark.line : mark.line + 1])[: mark.column + 1]
        hint = "; indent with blanks, not tabs" if indented_by_tab else ""
        return InputError(f"not YAML: {problem}{hint}", file=file, line=mark and mark.line + 1)
    if isinstance(error, ReaderError):
        line = text.encode("utf-8", "replace").count(b"\n", 0, error.position) + 1
        return InputError("not YAML: a control character", file=file, line=line)
    return InputError("not YAML: characters that are no text", file=file)


def _step(place: Place | None, step: str | int) -> Place | None:
    if place is None or place.inside is None:
        return None
    if isinstance(place.inside, dict):
        return place.inside.get(str(step))
    return place.inside[step] if isinstance(step, int) and step < len(place.inside) else None
