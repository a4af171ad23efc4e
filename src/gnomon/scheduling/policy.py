"""Policies by name: ``easy``, ``sjf+easy:extra=no``, ``fcfs+best-fit``.

A policy is up to one order, one backfill and one placement, joined by ``+``; options of a part follow it after a colon,
separated by commas.

>>> parse_policy("sjf+easy:extra=no+best-fit").backfill
'easy'
>>> split_policies("fcfs,easy:reservation=keep,extra=no,sjf")
['fcfs', 'easy:reservation=keep,extra=no', 'sjf']
"""

from __future__ import annotations

import re
from typing import Final

from gnomon.model.errors import InputError, unknown_name
from gnomon.model.quantity import parse_duration
from gnomon.model.scenario import Option, Policy
from gnomon.scheduling import ordering

YES_NO: Final = {"yes": True, "no": False}
_ENDS: Final = {"expected": False, "actual": True}
_TIES: Final[dict[str, object]] = {"ties": {"order": False, "shuffled": True}}
_POINTS: Final[dict[str, object]] = {**_TIES, "scores": {"exact": False, "percent": True}}
_SCORE: Final[dict[str, object]] = {**_POINTS, "over": "names"}

ORDERS: Final = {name: order.options for name, order in ordering.ORDERS.items()}
"""Every order and its options: a table of words, or ``number``, ``duration`` or ``names``."""

BACKFILLS: Final[dict[str, dict[str, object]]] = {
    "easy": {
        "reservation": {"recompute": False, "keep": True},
        "extra": YES_NO,
        "ends": _ENDS,
        "candidates": {"estimate": False, "actual": True},
        "boundary": {"inclusive": False, "strict": True},
        "scan": {"order": False, "submit": True},
        "after-start": {"reserve": False, "fill": True},
    },
    "conservative": {"ends": _ENDS},
}

PLACEMENTS: Final[dict[str, dict[str, object]]] = {
    "first-fit": _TIES,
    "best-fit": _SCORE,
    "worst-fit": _SCORE,
    "least-allocated": _SCORE,
    "most-allocated": _SCORE,
    "balanced": _SCORE,
    "dot-product": {**_SCORE, "prefer": {"low": True, "high": False}},
    "random": {},
    "gpu-packing": _TIES,
    "gpu-clustering": _TIES,
    "fgd": {**_POINTS, "classes": "number"},
}
"""Every placement and its options."""

_NUMBER: Final = re.compile(r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE]-?[0-9]+)?")

POLICY_NAMES: Final = (*ORDERS, *BACKFILLS, *PLACEMENTS)


def parse_policy(text: str) -> Policy:
    """Read a policy as the command line writes it.

    Raises :class:`InputError` for an unknown name or option, or two parts of one kind.
    """
    chosen: dict[str, str] = {}
    options: list[tuple[str, tuple[tuple[str, Option], ...]]] = []
    for part in text.strip().split("+"):
        name, colon, rest = part.strip().partition(":")
        kind, allowed = _part(name, text)
        if kind in chosen:
            raise InputError(f"a policy has one {kind}, this has {chosen[kind]} and {name}", field="policy", found=text)
        chosen[kind] = name
        if colon:
            options.append((name, _options(name, rest, allowed)))
    return Policy(
        order=chosen.get("order", "fcfs"),
        backfill=chosen.get("backfill", ""),
        placement=chosen.get("placement", "first-fit"),
        options=tuple(options),
        text=text.strip(),
    )


def split_policies(text: str) -> list[str]:
    """Split a list of policies at its commas; a comma before ``name=value`` belongs to the options before it."""
    parts: list[str] = []
    for item in text.split(","):
        if parts and ":" in parts[-1].split("+")[-1] and re.match(r"^\s*[a-z-]+=", item):
            parts[-1] += f",{item}"
        else:
            parts.append(item)
    return [part.strip() for part in parts if part.strip()]


def _part(name: str, text: str) -> tuple[str, dict[str, object]]:
    for kind, table in (("order", ORDERS), ("backfill", BACKFILLS), ("placement", PLACEMENTS)):
        if name in table:
            return kind, table[name]
    raise unknown_name("policy", name, POLICY_NAMES).at(field=None if name == text else f"policy {text}")


def _options(part: str, text: str, allowed: dict[str, object]) -> tuple[tuple[str, Option], ...]:
    given: dict[str, Option] = {}
    for item in text.split(","):
        name, value = _option(part, item, allowed)
        if name in given:
            raise InputError("this option is there twice", field=f"policy {part}:{name}", found=text)
        given[name] = value
    return tuple(given.items())


def _option(part: str, item: str, allowed: dict[str, object]) -> tuple[str, Option]:
    name, equals, word = (piece.strip() for piece in item.partition("="))
    if name not in allowed:
        raise unknown_name(f"option of {part}", name, allowed or ["none"])
    kind, field = allowed[name], f"policy {part}:{name}"
    if isinstance(kind, dict):
        if word not in kind:
            raise InputError("not a value of this option", field=field, found=word, allowed=", ".join(kind))
        return name, bool(kind[word])
    try:
        if not equals or not word:
            raise ValueError("a value is missing")
        if kind == "duration":
            return name, parse_duration(word)
        if kind == "number":
            return name, _finite(word)
    except ValueError as error:
        raise InputError(str(error), field=field, found=word, allowed=f"{name}=<{kind}>") from None
    return name, word


def _finite(word: str) -> float:
    if not _NUMBER.fullmatch(word) or not float(word) < 2**53:
        raise ValueError("a number from 0 to 2^53 is wanted")
    return float(word)
