"""Errors that know no place, at the place of the scenario file that they are about."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from gnomon.formats.yaml import Located
from gnomon.model.errors import InputError

_A = TypeVar("_A")
_B = TypeVar("_B")


def loaded(load: Callable[[_A], _B], argument: _A, document: Located) -> _B:
    """What a file or number in the document stands for; an error that names no file is about the document."""
    try:
        return load(argument)
    except InputError as error:
        raise error if error.file else placed(error, document) from None


def placed(error: InputError, document: Located, *path: str | int) -> InputError:
    """An error that knows no place, at a place of the document: else where it says what the error is about."""
    path = path or _path_of(error, document.value)
    known = not error.field or document.field(*path).startswith(error.field)
    known = known or path == _path_of(error, document.value) != ()
    detail = "" if known else f"{error.field}: "
    return document.error(detail + error.problem, *path, found=error.found, allowed=error.allowed)


def _path_of(error: InputError, value: Any) -> tuple[str, ...]:
    """The option under ``conf``, or the field, that an error names; nothing where the document does not have it."""
    name = error.field or ""
    if not isinstance(value, dict):
        return ()
    option, options = name.removeprefix("conf."), value.get("conf")
    if isinstance(options, dict) and option in options:
        return "conf", option
    return (name,) if name in value else ()
