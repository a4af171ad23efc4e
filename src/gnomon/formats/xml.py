"""XML as elements with their lines, read safely: no document type, so no entities and nothing fetched.

A document that declares either is refused; so is one that is deeper or larger than configuration is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final
from xml.parsers import expat

from gnomon.formats.files import Path, read_text
from gnomon.model.errors import InputError

DEPTH_MAX: Final = 100


@dataclass(slots=True)
class Element:
    """An element: its name without a prefix, the line where it begins, and the text in it, stripped."""

    tag: str
    line: int
    attributes: dict[str, str] = field(default_factory=dict)
    children: list[Element] = field(default_factory=list)
    text: str = ""

    def all(self, tag: str) -> Iterator[Element]:
        """The elements of a name right below."""
        return (child for child in self.children if child.tag == tag)

    def first(self, tag: str) -> Element | None:
        """The first element of a name right below."""
        return next(self.all(tag), None)


def read_xml(path: Path) -> Element:
    """The outermost element of a file. Raises InputError."""
    return parse_xml(read_text(path), file=str(path))


def parse_xml(text: str, *, file: str = "") -> Element:
    """The outermost element of a text. Raises InputError for what is no XML, or has a document type.

    >>> root = parse_xml("<a><b c='1'> x </b></a>")
    >>> root.tag, root.children[0].text, root.children[0].attributes
    ('a', 'x', {'c': '1'})
    """
    return _Reading(file or None).read(text)


class _Reading:
    def __init__(self, file: str | None) -> None:
        self.file = file
        self.open: list[Element] = []
        self.root: Element | None = None
        self.parser = expat.ParserCreate("utf-8")  # the text is decoded already, whatever it declares
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text
        self.parser.StartDoctypeDeclHandler = self._refuse
        self.parser.EntityDeclHandler = self._refuse

    def read(self, text: str) -> Element:
        try:
            self.parser.Parse(text.encode("utf-8", "surrogatepass"), True)
        except expat.ExpatError as error:
            what = expat.errors.messages.get(error.code, str(error))
            raise InputError(f"not XML: {what}", file=self.file, line=error.lineno) from error
        assert self.root is not None
        return self.root

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if len(self.open) == DEPTH_MAX:
            raise InputError(f"XML deeper than {DEPTH_MAX} elements", file=self.file, line=self._line)
        element = Element(name.rpartition(":")[2], self._line, dict(attributes))
        if self.open:
            self.open[-1].children.append(element)
        else:
            self.root = element
        self.open.append(element)

    def _end(self, name: str) -> None:
        element = self.open.pop()
        element.text = element.text.strip()

    def _text(self, text: str) -> None:
        self.open[-1].text += text

    def _refuse(self, *declared: object) -> None:
        raise InputError("XML with a document type is not read", file=self.file, line=self._line)

    @property
    def _line(self) -> int:
        return int(self.parser.CurrentLineNumber)
