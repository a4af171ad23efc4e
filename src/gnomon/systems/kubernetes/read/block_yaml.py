"""The YAML that kubectl and Helm write, fast: one object in block style, line by line.

What is read means the same as in :mod:`gnomon.formats.yaml` by YAML 1.1, as kubectl reads; what is not of this plain
subset (anchors, tags, flow style that is not empty, text over several lines, odd indentation, a key that is there
twice) raises :class:`NotPlainError`, and is then read there. Blocks below some keys can be left out without reading
them.
"""

from __future__ import annotations

import re
from typing import Any, Final

import orjson

from gnomon.formats.yaml import parse_yaml
from gnomon.model.errors import InputError

_KEY: Final = re.compile(r"[A-Za-z0-9_./][A-Za-z0-9_./$-]*", re.ASCII)
_NEVER_PLAIN: Final = frozenset("\"'{}[]|>&*!%@`#,?-:\t ")
_OTHER_BREAKS: Final = "\r\x85\u2028\u2029"
"""What ends a line of YAML 1.1 besides LF, even in a comment."""
_CACHED_MAX: Final = 2**20


class NotPlainError(Exception):
    """Not of the subset that is read here."""


class BlockReader:
    """Reads objects; keeps what plain scalars mean. ``skip``: keys whose blocks are left out."""

    def __init__(self, skip: frozenset[str] = frozenset()) -> None:
        self._skip = skip
        self._keys: dict[str, str] = {}
        self._plain: dict[str, Any] = {"": None}

    def read(self, lines: list[str]) -> Any:
        """The value of the lines of one document, without their ends. The lines may be changed.

        >>> BlockReader().read(["a: 1", "b:", "- c: x y", "  d: {}", "- true"])
        {'a': 1, 'b': [{'c': 'x y', 'd': {}}, True]}
        """
        text = "".join(lines)
        if any(other in text for other in _OTHER_BREAKS):
            raise NotPlainError
        block = _Block(lines, self._skip, self._keys, self._plain)
        start = block.next(0)
        if start == len(lines):
            raise NotPlainError
        try:
            value, end = block.value(start, block.indents[start])
        except RecursionError:
            raise NotPlainError from None
        if end != len(lines):
            raise NotPlainError
        if len(self._plain) > _CACHED_MAX:
            self._plain = {"": None}
        return value


class _Block:
    """The lines of a document with their indentation (-1: nothing but blanks or a comment)."""

    __slots__ = ("indents", "keys", "lines", "plain", "skip")

    def __init__(self, lines: list[str], skip: frozenset[str], keys: dict[str, str], plain: dict[str, Any]) -> None:
        self.lines, self.skip, self.keys, self.plain = lines, skip, keys, plain
        self.indents = [
            len(line) - len(rest) if (rest := line.lstrip(" ")) and rest[0] != "#" else -1 for line in lines
        ]

    def next(self, i: int) -> int:
        """The first line from ``i`` on that says something."""
        indents = self.indents
        while i < len(indents) and indents[i] < 0:
            i += 1
        return i

    def value(self, i: int, indent: int) -> tuple[Any, int]:
        """What starts at line ``i``, and the line after it."""
        line = self.lines[i]
        if line.startswith("- ", indent) or line[indent:] == "-":
            return self._sequence(i, indent)
        return self._mapping(i, indent)

    def _mapping(self, i: int, indent: int) -> tuple[dict[str, Any], int]:
        lines, indents, keys, plain = self.lines, self.indents, self.keys, self.plain
        found: dict[str, Any] = {}
        end = len(lines)
        while i < end:
            here = indents[i]
            if here != indent:
                if here < 0:
                    i += 1
                    continue
                if here > indent:
                    raise NotPlainError
                break
            written, colon, rest = lines[i][indent:].partition(": ")
            if not colon:
                written = written.rstrip(" ")
                if written[-1] != ":":
                    if written == "-" or written.startswith("- "):
                        break
                    raise NotPlainError
                written, rest = written[:-1], ""
            key = keys.get(written)
            if key is None:
                if written.startswith("- "):
                    break
                key = keys.setdefault(written, _key(written))
            if key in found:
                raise NotPlainError
            i += 1
            if rest:
                value = plain.get(rest, _MISSING)
                if value is not _MISSING:
                    found[key] = value
                elif rest[0] == "|":
                    found[key], i = self._literal(i, indent, rest)
                else:
                    found[key] = self._scalar(rest)
            else:
                found[key], i = self._nested(i, indent, key in self.skip)
        return found, i

    def _nested(self, i: int, indent: int, skipped: bool) -> tuple[Any, int]:
        """What stands below a key; a list may stand as deep as the key."""
        i = self.next(i)
        if i == len(self.lines):
            return None, i
        deep, line = self.indents[i], self.lines[i]
        listed = deep == indent and (line.startswith("- ", indent) or line[indent:] == "-")
        if deep <= indent and not listed:
            return None, i
        if not skipped:
            return self._sequence(i, indent) if listed else self.value(i, deep)
        indents, lines = self.indents, self.lines
        while i < len(lines):
            here = indents[i]
            if 0 <= here <= indent and not (listed and here == indent and lines[i][here] == "-"):
                break
            i += 1
        return None, i

    def _sequence(self, i: int, indent: int) -> tuple[list[Any], int]:
        lines, indents = self.lines, self.indents
        found: list[Any] = []
        end = len(lines)
        while i < end:
            here = indents[i]
            if here < 0:
                i += 1
                continue
            if here > indent:
                raise NotPlainError
            line = lines[i]
            if here < indent or not line.startswith("- ", indent):
                break
            content = line[indent + 2 :]
            if _is_entry(content):
                lines[i] = f"{' ' * (indent + 2)}{content}"
                indents[i] = indent + 2
                value, i = self._mapping(i, indent + 2)
            else:
                value = self._scalar(content)
                i += 1
            found.append(value)
        return found, i

    def _scalar(self, text: str) -> Any:
        value = self.plain.get(text, _MISSING)
        if value is not _MISSING:
            return value
        text = text.rstrip(" ")
        if not text.isprintable():  # also what YAML 1.1 takes for a line's end
            raise NotPlainError
        first = text[:1]
        if first == '"':
            return _double_quoted(text)
        if first == "'":
            return _single_quoted(text)
        if text in ("{}", "[]"):
            return {} if text == "{}" else []
        if not first or (first in _NEVER_PLAIN and not (first == "-" and text[1:2] not in ("", " "))):
            raise NotPlainError
        if " #" in text or ": " in text or text[-1] == ":" or "\t" in text:
            raise NotPlainError
        return self.plain.setdefault(text, _plain(text))

    def _literal(self, i: int, indent: int, header: str) -> tuple[str, int]:
        """Text kept as it is written, below ``|``, ``|-`` or ``|+``."""
        if header not in ("|", "|-", "|+"):
            raise NotPlainError
        lines = self.lines
        start = i
        while i < len(lines) and (not lines[i].strip(" ") or len(lines[i]) - len(lines[i].lstrip(" ")) > indent):
            i += 1
        body = lines[start:i]
        first = next((line for line in body if line.strip(" ")), "")
        deep = len(first) - len(first.lstrip(" "))
        if not first or not body[0].strip(" ") or "\t" in first[: deep + 1]:
            raise NotPlainError
        if any(line.strip(" ") and not line.startswith(" " * deep) for line in body):
            raise NotPlainError
        text = "".join(f"{line[deep:]}\n" for line in body)
        if not text.replace("\t", " ").replace("\n", " ").isprintable():
            raise NotPlainError
        if header == "|+":
            return text, i
        return text.rstrip("\n") + ("\n" if header == "|" else ""), i


_MISSING: Final = object()


def _is_entry(content: str) -> bool:
    """Whether what follows a dash is the first key of a mapping, and not a scalar."""
    if (content[:1] in ("", " ", "-") and content[:2] in ("", " ", "-", "- ")) or content.startswith(" "):
        raise NotPlainError
    if content[0] in "\"'":
        return False
    return ": " in content or content.rstrip(" ")[-1:] == ":"


def _key(written: str) -> str:
    """A key as it is written: plain, or in quotes without anything to unquote."""
    if _KEY.fullmatch(written):
        return written
    raise NotPlainError


def _double_quoted(text: str) -> str:
    if "\\" not in text:
        if len(text) < 2 or text[-1] != '"' or '"' in text[1:-1] or "\t" in text:
            raise NotPlainError
        return text[1:-1]
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        raise NotPlainError from None
    return value if isinstance(value, str) else _refuse()


def _single_quoted(text: str) -> str:
    inner = text[1:-1]
    if len(text) < 2 or text[-1] != "'" or "'" in inner.replace("''", "") or "\t" in text:
        raise NotPlainError
    return inner.replace("''", "'")


def _plain(text: str) -> Any:
    """What a plain scalar means, as the general reader says; most are words."""
    if text[0] not in "+-.0123456789~nNtTfFyYoO":
        return text
    try:
        (document,) = parse_yaml(f"- {text}" if set(text) & set(",[]{}") else f"[{text}]", yaml_1_1=True)
    except (InputError, ValueError):
        raise NotPlainError from None
    return document.value[0]


def _refuse() -> str:
    raise NotPlainError
