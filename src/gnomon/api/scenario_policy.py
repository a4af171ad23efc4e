"""The policies of a scenario file: texts as on the command line, mappings of their parts, or a list of variants.

>>> from gnomon.formats.yaml import parse_yaml
>>> [one.text for one in read_policies(*parse_yaml("policy: [fcfs, {order: sjf, placement: best-fit}]"))]
['fcfs', 'sjf+best-fit']
"""

from __future__ import annotations

from typing import Any

from pydantic import Field

from gnomon.api.scenario_places import placed
from gnomon.formats.schema import Spec, validated
from gnomon.formats.yaml import Located
from gnomon.model.errors import InputError, unknown_name
from gnomon.model.scenario import Policy
from gnomon.scheduling.policy import BACKFILLS, ORDERS, PLACEMENTS, parse_policy


class PolicySpec(Spec):
    """A policy by its parts. ``options``: by part and name, what the command line has after the colon."""

    order: str | None = None
    backfill: str | None = None
    placement: str | None = None
    options: dict[str, dict[str, Any]] = Field(default_factory=dict)


def read_policies(document: Located) -> list[Policy]:
    """The variants of a scenario's ``policy``, the default alone where it has none. Raises :class:`InputError`."""
    given = document.value.get("policy")
    if given is None:
        return [Policy()]
    part = document.at("policy")
    if not isinstance(given, list):
        return [_policy(part)]
    if not given:
        raise part.error("a list without a policy")
    return [_policy(part.at(position)) for position in range(len(given))]


def _policy(document: Located) -> Policy:
    """Text as on the command line, or a mapping of parts."""
    text = document.value
    if isinstance(text, dict):
        text = _policy_text(document)
    if not isinstance(text, str):
        raise document.error("a policy is text, or a mapping of order, backfill, placement and options", found=text)
    try:
        return parse_policy(text)
    except InputError as error:
        raise placed(error, document) from None


def _policy_text(document: Located) -> str:
    """A mapping of parts as the command line writes them."""
    spec = validated(PolicySpec, document)
    parts: dict[str, str] = {}
    for kind, names in (("order", ORDERS), ("backfill", BACKFILLS), ("placement", PLACEMENTS)):
        if part := getattr(spec, kind):
            name = part.partition(":")[0]
            if name not in names:
                raise placed(unknown_name(kind, name, names), document, kind)
            if "+" in part:
                raise document.error("one part is wanted", kind, found=part)
            parts[name] = part
    if not parts:
        raise document.error("a policy without a part", allowed="order, backfill, placement")
    for name, options in spec.options.items():
        if name not in parts:
            raise document.error("options of a part that this policy does not have", "options", name)
        for key, value in options.items():
            word = ("no", "yes")[value] if isinstance(value, bool) else str(value)
            if set("+,:=") & {*key, *word}:
                raise document.error("not a value of this option", "options", name, key, found=value)
            parts[name] += f"{',' if ':' in parts[name] else ':'}{key}={word}"
    return "+".join(parts.values())
