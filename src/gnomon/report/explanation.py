"""An explanation as text: the answer first, then what it waits for, how it came to be, and what would change it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.text import Text

from gnomon.model.quantity import NS_PER_S, format_duration, format_memory
from gnomon.report.columns import NOTHING, number
from gnomon.report.text import plain, table, titled

_KINDS = {
    "infeasible": "can never run",
    "event": "for something to happen",
    "limit": "held by a limit",
    "behind": "behind others",
}
WAITS_MAX = 12
"""How many waits are shown."""

_BY_RESOURCE = re.compile(r"(asked|free|allocatable|largest|used|limit|short)_(.+)")
_TIMES = ("from_s", "waited_s")


@dataclass(frozen=True)
class Block:
    """A part of an explanation: a table below its title, or a text."""

    title: str
    text: str = ""
    headers: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    right: Collection[int] = ()

    def shown(self) -> Text:
        """As it is in a terminal."""
        return titled(self.title, table(self.headers, self.rows, right=self.right) if self.headers else Text(self.text))


def explanation(found: Mapping[str, Any], *, wide: bool = False) -> Text:
    """What ``explain -o json`` says, for people. The system's own words are shown where they differ from ours.

    ``wide``: with the rows of the log, and each change by its object, field, values and cost.
    """
    head = Text.assemble((plain(found["subject"]), "bold"), "   ", (plain(found["state"]), "bold"))
    parts = [Text("\n").join([head, Text(plain(found["summary"]))])]
    if lines := native_lines(found):
        parts.append(Text("\n").join(Text(f"  {line}") for line in lines))
    return Text("\n\n").join([*parts, *(block.shown() for block in blocks(found, wide=wide))])


def native_lines(found: Mapping[str, Any]) -> list[str]:
    """The system's own words, where they differ from ours."""
    return [] if found["native"] == found["summary"] else [plain(line) for line in str(found["native"]).splitlines()]


def blocks(found: Mapping[str, Any], *, wide: bool = False) -> Iterator[Block]:
    """What follows the answer: what it waits for, the nodes, how it came to be, and what would change it."""
    if asked := found.get("why_not"):
        yield Block(f"WHY NOT {plain(asked['node'])}", plain(asked["text"]))
    if found["waiting"]:
        longest = _longest(found["waiting"])
        less = f" (the {len(longest)} longest of {number(len(found['waiting']))} waits)"
        yield _waiting("WHAT IT WAITS FOR" + (less if len(longest) < len(found["waiting"]) else ""), longest)
    for one in found.get("listings", ()):
        yield Block(one["title"], headers=one["headers"], rows=one["rows"], right=one.get("right", ()))
    if found["classes"]:
        yield _classes(found["classes"])
    if found["chain"]:
        headers = ["AT", "EVENT", "WHAT", *(["ROW"] if wide else [])]
        rows = [[moment(c["t_s"]), c["event"], c["text"], *([str(c["row"])] if wide else [])] for c in found["chain"]]
        yield Block("HOW IT CAME TO BE", headers=headers, rows=rows)
    if found["changes"]:
        yield _changes(found["changes"], wide=wide)


def moment(seconds: float | None) -> str:
    """A time since the beginning, to the nearest second, as in the texts beside it; below a minute to the millisecond.

    >>> moment(7_384.5), moment(1.25), moment(None)
    ('2h3m5s', '1.25s', '-')
    """
    if seconds is None:
        return NOTHING
    step = NS_PER_S // 1000 if seconds < 60 else NS_PER_S
    return format_duration((round(seconds * NS_PER_S) + step // 2) // step * step)


def _longest(waiting: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The longest waits, in order; the last one in any case."""
    if len(waiting) <= WAITS_MAX:
        return list(waiting)
    last = len(waiting) - 1
    order = sorted(range(last), key=lambda i: -(waiting[i]["numbers"].get("waited_s") or 0))
    return [waiting[i] for i in sorted([*order[: WAITS_MAX - 1], last])]


def _waiting(title: str, waiting: Sequence[Mapping[str, Any]]) -> Block:
    headers = ["WAITS", "RULE", "FOR", "SINCE", "LASTED", "EARLIEST", "WHY", "NUMBERS"]
    rows = []
    for one in waiting:
        numbers = one["numbers"]
        rows.append(
            [
                _KINDS.get(one["kind"], one["kind"]),
                one["rule"],
                one["object"] or NOTHING,
                *(moment(numbers.get(name)) for name in _TIMES),
                moment(one["earliest_s"]),
                one.get("text") or NOTHING,
                NOTHING if one.get("text") else _measured(numbers),
            ]
        )
    kept = [i for i in range(len(headers)) if i < 3 or any(row[i] != NOTHING for row in rows)]
    return Block(title, headers=[headers[i] for i in kept], rows=[[row[i] for i in kept] for row in rows])


def _measured(numbers: Mapping[str, Any]) -> str:
    return _numbers({name: value for name, value in numbers.items() if name not in _TIMES}) or NOTHING


def _numbers(numbers: Mapping[str, Any], *, milli: bool = False) -> str:
    """Numbers as a list, those about one resource side by side. ``milli``: parts of a processor as Kubernetes does.

    >>> _numbers({"asked_cpu": 12, "free_cpu": 8, "asked_memory": 2**30, "position": 7})
    'cpu 12 asked, 8 free; memory 1Gi asked; position 7'
    >>> _numbers({"asked_cpu": 1.5, "free_cpu": -0.6}, milli=True)
    'cpu 1500m asked, -600m free'
    """
    groups: dict[str, list[str]] = {}
    for name, value in numbers.items():
        if value is None:
            continue
        if match := _BY_RESOURCE.fullmatch(name):
            word, resource = match.groups()
            shown = format_memory(value) if resource.endswith("memory") else value
            if milli and resource.endswith("cpu") and isinstance(value, float):
                shown = f"{round(value * 1000)}m"
            groups.setdefault(resource, []).append(f"{shown} {word}")
        else:
            text = moment(value) if name.endswith("_s") else str(value)
            groups[name.removesuffix("_s").replace("_", " ")] = [text]
    return "; ".join(f"{about} {', '.join(said)}" for about, said in groups.items())


def _classes(classes: Sequence[Mapping[str, Any]]) -> Block:
    """The nodes by reasons; where there are any, with the numbers of the example."""
    counted = any(one.get("numbers") for one in classes)
    rows = [
        [
            number(one["nodes"]),
            one["example"],
            "; ".join(map(str, one["reasons"])),
            *([_numbers(one["numbers"], milli="plugin" in one) or NOTHING] if counted else []),
        ]
        for one in classes
    ]
    headers = ["NODES", "EXAMPLE", "REASONS", *(["THE EXAMPLE HAS"] if counted else [])]
    return Block("THE NODES", headers=headers, rows=rows, right=(0,))


def _changes(changes: Sequence[Mapping[str, Any]], *, wide: bool) -> Block:
    headers = ["CHANGE", "CONFIRMED", *(["OBJECT", "FIELD", "FROM", "TO", "COST"] if wide else [])]
    rows = []
    for change in changes:
        facts = [NOTHING if change[name] is None else str(change[name]) for name in ("object", "field", "from", "to")]
        said = [change["what"], "yes" if change["confirmed"] else "no"]
        rows.append([*said, *([*facts, f"{change['cost']:.2f}"] if wide else [])])
    title = "WHAT WOULD CHANGE IT (each alone, the smallest change first)"
    return Block(title, headers=headers, rows=rows)
