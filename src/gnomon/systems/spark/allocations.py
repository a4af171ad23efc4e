"""``fairscheduler.xml``: the pools of FAIR mode (FairSchedulableBuilder)."""

from __future__ import annotations

import re

from gnomon.formats.files import Path
from gnomon.formats.xml import Element, read_xml
from gnomon.model.errors import InputError
from gnomon.model.work import Note
from gnomon.scheduling.pools import FAIR, FIFO, Pool

_INTEGER = re.compile(r"[+-]?\d{1,20}", re.ASCII)
"""Of 32 bits: ``toInt`` of the text, in ``FairSchedulableBuilder.getIntValue``."""
_FIELDS = ("schedulingMode", "weight", "minShare")


def read_allocations(path: Path) -> tuple[list[Pool], list[Note]]:
    """The pools of a file. For a value that Spark cannot read it takes the default's: that is noted. Raises InputError
    for what is no such file."""
    root = read_xml(path)
    if root.tag != "allocations":
        raise InputError("not a file of pools", file=str(path), line=root.line, found=root.tag, allowed="<allocations>")
    notes: list[Note] = []
    pools = {}
    for child in root.children:
        name = child.attributes.get("name", "")
        if child.tag != "pool" or not name:
            allowed = '<pool name="NAME">'
            raise InputError("not a pool", file=str(path), line=child.line, found=f"<{child.tag}>", allowed=allowed)
        pools[name] = _pool(child, name, notes)
    return list(pools.values()), notes


def _pool(element: Element, name: str, notes: list[Note]) -> Pool:
    said = {child.tag: child for child in element.children}
    for tag, child in said.items():
        if tag not in _FIELDS:
            notes.append(Note("not modelled", f"pool {name}", f"line {child.line}: <{tag}>"))
    mode = said["schedulingMode"].text.upper() if "schedulingMode" in said else FIFO
    if mode not in (FIFO, FAIR):
        notes.append(Note("warning", f"pool {name}", f"schedulingMode {mode!r} is none; {FIFO} is taken"))
        mode = FIFO
    return Pool(name, _number(said, "weight", 1, notes, name), _number(said, "minShare", 0, notes, name), mode)


def _number(said: dict[str, Element], tag: str, default: int, notes: list[Note], name: str) -> int:
    text = said[tag].text if tag in said else str(default)
    if _INTEGER.fullmatch(text) and -(2**31) <= int(text) < 2**31:
        return int(text)
    notes.append(Note("warning", f"pool {name}", f"{tag} {text!r} is no whole number; {default} is taken"))
    return default
