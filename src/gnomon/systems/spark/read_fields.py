"""Fields of events, taken with care: what is missing, or of another kind than Spark writes, is an InputError that names
the field."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from gnomon.model.errors import InputError
from gnomon.model.resources import MAX_TIME_NS

_MOST: Final = 2**62
_LAST_MS: Final = MAX_TIME_NS // 10**6
_REQUIRED: Final = object()


def whole(event: Mapping[str, Any], key: str, default: Any = _REQUIRED) -> int:
    """A whole number."""
    value = event.get(key)
    if value is None and default is not _REQUIRED:
        return int(default)
    if type(value) is not int or abs(value) > _MOST:
        raise _bad(key, value, "a whole number")
    return value


def integer(event: Mapping[str, Any], key: str, default: Any = _REQUIRED) -> int:
    """How many, or which: an ``Int`` of Spark that is not below 0."""
    value = whole(event, key, default)
    if not 0 <= value < 2**31:
        raise _bad(key, value, "a whole number from 0 to 2147483647")
    return value


def time_ms(event: Mapping[str, Any], key: str, default: Any = _REQUIRED) -> int:
    """A time in ms since 1970, so that any two are no farther apart than the times of a run may be."""
    value = whole(event, key, default)
    if not 0 <= value <= _LAST_MS:
        raise _bad(key, value, f"ms since 1970, up to {_LAST_MS}")
    return value


def moment(event: Mapping[str, Any], key: str) -> int | None:
    """A time in ms, None where it is not said."""
    return None if event.get(key) is None else time_ms(event, key)


def text(event: Mapping[str, Any], key: str, default: str | None = None) -> str:
    """A text."""
    value = event.get(key)
    if value is None and default is not None:
        return default
    if not isinstance(value, str):
        raise _bad(key, value, "a text")
    return value


def true(event: Mapping[str, Any], key: str) -> bool:
    """Whether it is said to be so."""
    value = event.get(key)
    if value is not None and not isinstance(value, bool):
        raise _bad(key, value, "true or false")
    return bool(value)


def inner(event: Mapping[str, Any], key: str, *, required: bool = False) -> Mapping[str, Any]:
    """An object in it; an empty one where there is none."""
    value = event.get(key)
    if value is None and not required:
        return {}
    if not isinstance(value, dict):
        raise _bad(key, value, "an object")
    return value


def several(event: Mapping[str, Any], key: str) -> list[Any]:
    """A list in it; an empty one where there is none."""
    value = event.get(key)
    if value is None:
        return []
    if not isinstance(value, list):
        raise _bad(key, value, "a list")
    return value


def objects(event: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    """A list of objects."""
    found = several(event, key)
    if not all(isinstance(one, dict) for one in found):
        raise _bad(key, found, "a list of objects")
    return found


def wholes(event: Mapping[str, Any], key: str) -> tuple[int, ...]:
    """A list of whole numbers."""
    found = several(event, key)
    if not all(type(one) is int and abs(one) <= _MOST for one in found):
        raise _bad(key, found, "a list of whole numbers")
    return tuple(found)


def texts(event: Mapping[str, Any], key: str) -> dict[str, str]:
    """An object of texts, such as properties; what is no text is written out."""
    return {name: value if isinstance(value, str) else str(value) for name, value in inner(event, key).items()}


def _bad(key: str, value: object, allowed: str) -> InputError:
    if value is None:
        return InputError("this field is missing", field=key, allowed=allowed)
    return InputError("not what Spark writes here", field=key, found=value, allowed=allowed)
