"""Kinds of values that only plain files have, beside those of :mod:`gnomon.formats.schema`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

from pydantic import BeforeValidator

from gnomon.formats.schema import COUNT_MAX, Name, Spec, whole
from gnomon.formats.yaml import Located
from gnomon.model import quantity
from gnomon.model.errors import unknown_name


class Part(Spec):
    """Base of the models of what the model has as a value of its own: fields are named as there, keys are aliases."""

    def given(self) -> dict[str, Any]:
        """What the document says, by the model's names; what it leaves out has the model's defaults."""
        return {name: getattr(self, name) for name in type(self).model_fields if name in self.model_fields_set}


def check_word(document: Located, kind: str, allowed: Iterable[str], *path: str | int) -> None:
    """Raise :class:`InputError` when what stands at a path is none of the allowed words; nothing may stand there."""
    value = document.value
    for step in path:
        if isinstance(value, dict) and step not in value:
            return
        value = value[step]
    names = tuple(allowed)
    if value not in names:
        unknown = unknown_name(kind, str(value), names)
        raise document.error(unknown.problem, *path, found=value, allowed=unknown.allowed)


def _rate(value: object) -> int:
    text = value.strip().removesuffix("/s") if isinstance(value, str) else value
    try:
        return quantity.parse_memory(text)  # type: ignore[arg-type]
    except ValueError:
        raise ValueError("not an amount a second (as in 100M, 1Gi, or plain bytes)") from None


def _chance(value: object) -> int:
    text = value.strip().removesuffix("%") if isinstance(value, str) else value
    try:
        nothing = quantity.parse_e4(text) == 0  # type: ignore[arg-type]
        return 0 if nothing else quantity.parse_share(value)  # type: ignore[arg-type]
    except ValueError:
        raise ValueError("not a part (from 0 to 1, as in 0.5, 50%, at most four decimals)") from None


def _above_zero(value: object) -> int:
    if not (duration := quantity.parse_duration(value)):  # type: ignore[arg-type]
        raise ValueError("a duration above zero is wanted")
    return duration


def _listed(value: object) -> object:
    return [value] if isinstance(value, str) else value


Rate = Annotated[int, BeforeValidator(_rate)]
"""Bytes a second."""

Chance = Annotated[int, BeforeValidator(_chance)]
"""A part of one whole from 0 to 1, in 1/10,000."""

Span = Annotated[int, BeforeValidator(_above_zero)]
"""A duration above zero."""

Number = Annotated[int, BeforeValidator(whole(0, COUNT_MAX))]
"""A whole number, or none."""

Names = Annotated[list[Name], BeforeValidator(_listed)]
"""A name, or a list of them."""
