"""Frozen dataclasses as plain values, as a journal keeps them, and back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import is_dataclass
from types import NoneType
from typing import Any, get_args, get_origin, get_type_hints


def rebuilt(kind: Any, value: Any) -> Any:
    """A value of this type from what :func:`dataclasses.asdict` and JSON made of it: dataclasses from mappings, tuples
    from lists. Raises TypeError for what does not fit.

    >>> from gnomon.model.recovery import Retry
    >>> rebuilt(Retry, {"causes": ["exit"], "limit": 3, "backoff": {"first_ns": 5}})
    Retry(causes=('exit',), limit=3, backoff=Backoff(first_ns=5, ...), in_place=False)
    """
    choices = get_args(kind)
    if isinstance(kind, type) and is_dataclass(kind):
        hints = get_type_hints(kind)
        return kind(**{name: rebuilt(hints.get(name, Any), part) for name, part in value.items()})
    if get_origin(kind) is tuple and isinstance(value, Sequence) and not isinstance(value, str):
        kinds = [choices[0]] * len(value) if choices[1:] == (Ellipsis,) else choices
        return tuple(rebuilt(*pair) for pair in zip(kinds, value, strict=True))
    if NoneType in choices and value is not None:
        (other,) = (choice for choice in choices if choice is not NoneType)
        return rebuilt(other, value)
    return value
