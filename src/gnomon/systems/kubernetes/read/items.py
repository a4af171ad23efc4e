"""The objects of a file one by one, as plain values that know where they stand.

Files are what kubectl, Helm or an editor writes: YAML with several documents, JSON, JSON one after the other, lists
(``kind: List``, ``PodList`` ...), gzipped or not. A large list is never held as a whole: what ``kubectl get -o yaml``
and ``-o json`` print is cut into its items by their indentation, everything else is read as a whole, up to the bounds
of :mod:`gnomon.formats`. What is wrong with one document or item does not keep the others from being read.
Plain scalars of YAML mean what kubectl makes of them (YAML 1.1: ``no`` is a boolean).
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

import orjson

from gnomon.formats.files import Path, open_bytes, open_text, read_text
from gnomon.formats.yaml import JSON_BYTES_MAX, Located, Steps, field_name, parse_yaml
from gnomon.model.errors import InputError
from gnomon.systems.kubernetes.read.block_yaml import BlockReader, NotPlainError
from gnomon.systems.kubernetes.read.documents import Documents

LOCATED_CHARACTERS_MAX: Final = 2**22
"""Text up to this size is read again, slowly, to find the line of what is wrong in it."""

SKIPPED: Final = frozenset(
    """managedFields env envFrom volumeMounts volumeDevices projected downwardAPI addresses nodeInfo imagePullSecrets
    podIPs hostIPs volumesAttached volumesInUse lastState state data binaryData stringData""".split()
)
"""Keys whose blocks decide nothing here: not even parsed where they need not be."""

_LISTS_MAX: Final = 20  # how deep lists may stand in lists; an object of a list that is deeper is none
_CHUNK_BYTES: Final = 2**22
_HEAD_BYTES: Final = 2**16
_LIST_START: Final = re.compile(rb'\A\s*\{\n(?: +"(?:apiVersion|kind|metadata)": [^\n]*\n)*( +)"items": \[\n( +)\{\n')
_TEMPLATE: Final = "; this looks like a template of Helm: give the output of `helm template`"
_ALIAS_UNKNOWN: Final = "an alias without its anchor before it"
_BLANK: Final = "the file holds nothing but blanks and comments"
_NOTHING: Final = "an item that is nothing (null)"
_NO_LIST: Final = "a list is wanted"


@dataclass(frozen=True, slots=True)
class Item:
    """An object as a plain value. ``locate`` reads it again with its lines (None: they are not known), and ``first``
    is the line before the first one of what it reads; ``path`` leads there to the object."""

    value: Any
    file: str | None = None
    locate: Callable[[], Located | None] = lambda: None
    first: int = 0
    path: Steps = ()

    def line(self, *steps: str | int) -> int | None:
        """The line of what is at a path; where nothing is there, of what is around it."""
        located = self.locate()
        line = None if located is None else located.line(*self.path, *steps)
        return None if line is None else line + self.first


def read_items(path: Path) -> Iterator[Item | InputError]:
    """The objects of a file, lists taken apart, and what is wrong with the file's documents."""
    file = os.fspath(path)
    try:
        if _is_json(path):
            yield from _json_items(path, file)
        else:
            yield from _yaml_items(path, file)
    except InputError as error:
        yield error.at(file=file)


def taken_apart(item: Item) -> Iterator[Item | InputError]:
    """The objects of a list, one below the other; an object itself if it is none. Instead of an item that is nothing,
    or of items that are no list, an error.

    The items of a ``PodList`` may leave out what they are.
    """
    value = item.value
    key: Steps = ()
    if isinstance(value, list) and len(item.path) <= _LISTS_MAX:
        parts = value
    elif isinstance(value, dict) and _is_list(value) and len(item.path) <= _LISTS_MAX:
        parts, key = value.get("items") or [], ("items",)
    else:
        yield item
        return
    if not isinstance(parts, list):
        yield InputError(_NO_LIST, file=item.file, line=item.line("items"), field=field_name((*item.path, *key)))
        return
    named = {}
    if isinstance(value, dict) and value["kind"] != "List":
        named = {"apiVersion": value.get("apiVersion"), "kind": value["kind"].removesuffix("List")}
    for position, part in enumerate(parts):
        if part is None:
            here = *item.path, *key, position
            yield InputError(_NOTHING, file=item.file, line=item.line(*here), field=field_name(here))
            continue
        whole = {**named, **part} if isinstance(part, dict) else part
        yield from taken_apart(Item(whole, item.file, item.locate, item.first, (*item.path, *key, position)))


def _is_list(value: dict[str, Any]) -> bool:
    """Whether an object is a list of others: its kind says so, and it has no name, as an object of its own would."""
    metadata = value.get("metadata")
    named = isinstance(metadata, dict) and "name" in metadata
    kind = value.get("kind")
    return kind == "List" or (isinstance(kind, str) and kind.endswith("List") and "items" in value and not named)


# ---------------------------------------------------------------- YAML


def _yaml_items(path: Path, file: str) -> Iterator[Item | InputError]:
    reader = BlockReader(SKIPPED)
    documents = Documents(open_text(path))
    for number, parts in enumerate(documents):
        done = 0
        for lines, first, in_list in parts:
            found = _yaml_part(reader, lines, first, file)
            if in_list and _needs_its_list(found):
                for _ in parts:
                    pass
                yield from _rest_of_list(path, file, number, done)
                break
            own = list(taken_apart(found)) if isinstance(found, Item) else [] if found is None else [found]
            done += len(own)
            yield from own


def _yaml_part(reader: BlockReader, lines: list[str], first: int, file: str) -> Item | InputError | None:
    """One document or one item of a list; None for one that is empty. ``first``: the number of lines before it."""
    if not any(line and not line.isspace() and not line.lstrip(" ").startswith("#") for line in lines):
        return None

    def locate() -> Located | None:
        text = "\n".join(lines)
        return parse_yaml(text, yaml_1_1=True)[0] if len(text) <= LOCATED_CHARACTERS_MAX else None

    try:
        return Item(reader.read(list(lines)), file, locate, first)
    except NotPlainError:
        pass
    text = "\n".join(lines)
    try:
        documents = parse_yaml(text, yaml_1_1=True)
    except InputError as error:
        if error.problem == _BLANK:
            return None
        hint = _TEMPLATE if "{{" in text else ""
        line = None if error.line is None else error.line + first
        return InputError(
            error.problem + hint, file=file, line=line, field=error.field, found=error.found, allowed=error.allowed
        )
    if len(documents) > 1:  # YAML has more line ends than text files do: nothing may get lost for that
        return InputError("line ends that are a lone carriage return", file=file, line=first + 1, allowed="LF or CRLF")
    return Item(documents[0].value, file, lambda: documents[0], first)


def _needs_its_list(found: Item | InputError | None) -> bool:
    """Whether an item cannot be read alone: it uses an anchor of another, or does not say what it is, or anything."""
    if isinstance(found, Item):
        return not isinstance(found.value, dict) or "kind" not in found.value
    return found is None or found.problem == _ALIAS_UNKNOWN


def _rest_of_list(path: Path, file: str, number: int, done: int) -> Iterator[Item | InputError]:
    """The items of a list that has to be read as a whole, without those that were read before."""
    for position, parts in enumerate(Documents(open_text(path), whole=True)):
        for lines, first, _ in parts:
            if position == number:
                found = _yaml_part(BlockReader(), lines, first, file)
                if isinstance(found, Item):
                    yield from list(taken_apart(found))[done:]
                elif found is not None:
                    yield found


# ---------------------------------------------------------------- JSON


def _is_json(path: Path) -> bool:
    with open_bytes(path) as stream:
        return stream.read(_HEAD_BYTES).lstrip()[:1] in (b"{", b"[")


def _json_items(path: Path, file: str) -> Iterator[Item | InputError]:
    done, damaged = 0, False
    with open_bytes(path) as stream:
        head = stream.read(_HEAD_BYTES)
        start = _LIST_START.match(head)
        for found in _printed_list(stream.read, head, start, file) if start else ():
            if isinstance(found, InputError) and not damaged:
                damaged = not _is_whole(path)
                if not damaged:  # an item that is not printed as objects are: null
                    break
            if isinstance(found, Item) and _needs_its_list(found):
                break
            own = list(taken_apart(found)) if isinstance(found, Item) else [found]
            done += len(own)
            yield from own
        else:
            if start:
                return
    for whole in _whole_json(path, file):
        yield from islice(taken_apart(whole), done, None) if isinstance(whole, Item) else (whole,)


def _is_whole(path: Path) -> bool:
    """Whether a file is one value of JSON."""
    try:
        orjson.loads(read_text(path, limit_bytes=JSON_BYTES_MAX))
    except (orjson.JSONDecodeError, InputError):
        return False
    return True


def _whole_json(path: Path, file: str) -> Iterator[Item | InputError]:
    text = read_text(path, limit_bytes=JSON_BYTES_MAX)
    try:
        values = [(orjson.loads(text), 0, len(text))]
    except orjson.JSONDecodeError as error:
        try:
            values = list(_stream(text))
        except json.JSONDecodeError as in_stream:
            hint = _TEMPLATE if text.lstrip().startswith("{{") else ""
            msg = in_stream.msg if in_stream.pos > error.pos else error.msg
            problem = InputError(f"not JSON: {msg}{hint}", file=file, line=in_stream.lineno)
            yield from _flow_yaml(text, file, problem)
            return
        except RecursionError:
            yield InputError("nested too deep", file=file)
            return
        except ValueError:  # int() of more digits than it takes
            yield InputError("a number too large", file=file)
            return
    for value, begin, end in values:
        own = text[begin:end]
        before = text.count("\n", 0, begin)
        yield Item(value, file, lambda own=own: _located(own), before)  # type: ignore[misc]


def _printed_list(
    read: Callable[[int], bytes], buffer: bytes, start: re.Match[bytes], file: str
) -> Iterator[Item | InputError]:
    """The items of a list as kubectl prints it: a line break cannot stand inside of JSON's text, so that braces right
    after one, at the depth of the items, are those of the items."""
    indent = start[2]
    between, last = b"\n" + indent + b"},\n" + indent + b"{", b"\n" + indent + b"}\n" + start[1] + b"]"
    begin = start.end() - 2
    line = buffer.count(b"\n", 0, begin)
    searched, ended = begin, False
    while True:
        cut = buffer.find(between, searched)
        if cut < 0 and not ended:
            more = read(_CHUNK_BYTES)
            ended = not more
            buffer, begin, searched = buffer[begin:] + more, 0, max(0, len(buffer) - begin - len(between))
            continue
        if cut < 0:
            cut = buffer.find(last, begin)
        own = buffer[begin : cut + len(indent) + 2] if cut >= 0 else buffer[begin:]
        yield _printed_item(own, line, file)
        if ended and buffer.find(between, searched) < 0:
            if cut < 0:
                yield InputError("not JSON: the list does not end", file=file)
            return
        line += own.count(b"\n") + 1
        begin = searched = cut + len(between) - 1


def _printed_item(own: bytes, line: int, file: str) -> Item | InputError:
    try:
        value = orjson.loads(own)
    except orjson.JSONDecodeError as error:
        return InputError(f"not JSON: {error.msg}", file=file, line=line + error.lineno)
    return Item(value, file, lambda: _located(own.decode("utf-8", "replace")), line)


def _stream(text: str) -> Iterator[tuple[Any, int, int]]:
    """JSON values one after the other, with where they begin and end."""
    decoder = json.JSONDecoder()
    position, blank = 0, re.compile(r"[\s\x1e]*")
    while True:
        start = blank.match(text, position)
        position = start.end() if start else position
        if position == len(text):
            return
        _, end = decoder.raw_decode(text, position)
        try:
            value = orjson.loads(text[position:end])
        except orjson.JSONDecodeError as error:  # half a character, a number that is none
            raise json.JSONDecodeError(error.msg, text, position + error.pos) from None
        yield value, position, end
        position = end


def _flow_yaml(text: str, file: str, error: InputError) -> Iterator[Item | InputError]:
    """What begins as JSON and is none: YAML in flow style, if it is small, or ``error``."""
    if len(text) > LOCATED_CHARACTERS_MAX:
        yield error
        return
    try:
        documents = parse_yaml(text, file=file, yaml_1_1=True)
    except InputError:
        yield error
        return
    for document in documents:
        yield Item(document.value, file, lambda document=document: document)  # type: ignore[misc]


def _located(text: str) -> Located | None:
    if len(text) > LOCATED_CHARACTERS_MAX:
        return None
    try:
        return parse_yaml(text)[0]
    except InputError:
        return None
