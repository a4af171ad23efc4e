"""Configuration files of Hadoop: properties in XML, with the file and line of each."""

from __future__ import annotations

from dataclasses import dataclass

from gnomon.formats.files import Path, read_text
from gnomon.formats.xml import Element, parse_xml
from gnomon.model.errors import InputError


@dataclass(frozen=True, slots=True)
class Property:
    """A property of a configuration of Hadoop: its text, where it stands, and whether later files may not change it."""

    name: str
    value: str
    file: str
    line: int
    final: bool = False


def read_properties(path: Path) -> dict[str, Property]:
    """The properties of a file ``<configuration><property><name/><value/></property>…``. Raises InputError."""
    return properties(read_text(path), file=str(path))


def properties(text: str, *, file: str = "") -> dict[str, Property]:
    """The properties of a text; of one that is there twice the last, unless the first is final.

    Source: ``org.apache.hadoop.conf.Configuration`` of Hadoop 3.5.0. Raises InputError.

    >>> text = "<configuration><property><name>a.b</name><value> 1 </value></property></configuration>"
    >>> properties(text)["a.b"].value
    '1'
    """
    root = parse_xml(text, file=file)
    where = file or None
    if root.tag != "configuration":
        allowed = "<configuration>"
        raise InputError("not a configuration of Hadoop", file=where, line=root.line, found=root.tag, allowed=allowed)
    found: dict[str, Property] = {}
    for child in root.children:
        if child.tag == "configuration":
            raise InputError("a configuration in a configuration is not read", file=where, line=child.line)
        if child.tag != "property":
            allowed = "<property>"
            raise InputError("not a property", file=where, line=child.line, found=f"<{child.tag}>", allowed=allowed)
        one = _property(child, file)
        if one.name not in found or not found[one.name].final:
            found[one.name] = one
    return found


def _property(element: Element, file: str) -> Property:
    values = {"name": element.attributes.get("name"), "value": element.attributes.get("value")}
    final = element.attributes.get("final", "") == "true"
    for child in element.children:
        if child.tag in values:
            values[child.tag] = child.text
        elif child.tag == "final":
            final = child.text == "true"
        elif child.tag not in ("description", "source", "deprecated", "tag"):
            allowed = "name, value, final, description"
            where = file or None
            raise InputError("unknown field", file=where, line=child.line, found=f"<{child.tag}>", allowed=allowed)
    if not values["name"]:
        raise InputError("a property without a name", file=file or None, line=element.line)
    return Property(values["name"], values["value"] or "", file, element.line, final)
