"""Fitting a located document to a pydantic model: what does not fit is an InputError with file, line and field."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, TypeVar, get_origin

from pydantic import BaseModel, BeforeValidator, ConfigDict, FailFast, TypeAdapter, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from gnomon.formats.yaml import Located, Steps
from gnomon.model import quantity
from gnomon.model.errors import InputError, unknown_name

NAME_CHARACTERS_MAX = 253
"""The longest name or id."""

COUNT_MAX = 1_000_000
"""The most of anything that one number in a document may ask for."""

PRIORITY_MAX = 1_000_000_000
"""The highest priority, and below zero the lowest."""

WEIGHT_MAX = 1_000_000_000
"""The largest weight of a share."""

_WANTED = {
    "missing": "this is missing",
    "bool_type": "true or false is wanted",
    "bool_parsing": "true or false is wanted",
    "int_type": "a whole number is wanted",
    "int_parsing": "a whole number is wanted",
    "int_from_float": "a whole number is wanted",
    "list_type": "a list is wanted",
    "dict_type": "a mapping is wanted",
    "string_type": "text is wanted",
}


_MEANT = {
    "cpus": "cpu",
    "cores": "cpu",
    "mem": "memory",
    "ram": "memory",
    "gpu": "gpus",
    "name": "id",
    "runtime": "duration",
    "time": "duration",
    "walltime": "estimate",
    "replicas": "count",
    "depends": "needs",
    "after": "needs",
    "arrival": "submit",
}
"""Fields that go by another name elsewhere, and what they are called here."""


class Spec(BaseModel):
    """Base of the models of documents: a mapping whose keys are all known."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    @model_validator(mode="before")
    @classmethod
    def _keys_are_known(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            raise PydanticCustomError("dict_type", "a mapping is wanted")
        allowed = [field.alias or name for name, field in cls.model_fields.items()]
        for key in data:
            if key not in allowed:
                raise PydanticCustomError("unknown_field", "unknown field", {"key": key, "allowed": allowed})
        return data


_T = TypeVar("_T")


def validated(kind: type[_T], document: Located) -> _T:
    """The document as a :class:`Spec` or another type. Raises :class:`InputError` for the first in the file of what is
    wrong.

    >>> from gnomon.formats.yaml import parse_yaml
    >>> class Size(Spec):
    ...     width: int
    >>> validated(Size, *parse_yaml("width: 3"))
    Size(width=3)
    >>> validated(Size, *parse_yaml("widht: 3"))
    Traceback (most recent call last):
    gnomon.model.errors.InputError: line 1, widht: unknown field (did you mean 'width'?); allowed: width
    """
    wanted: Any = Annotated[kind, FailFast()] if get_origin(kind) is list else kind  # not a million errors
    try:
        return TypeAdapter[_T](wanted).validate_python(document.value)
    except ValidationError as error:
        problems = [_problem(found, document) for found in error.errors(include_url=False)]
        raise min(problems, key=lambda problem: problem.line or 0) from None


def _problem(error: Any, document: Located) -> InputError:
    path: Steps = tuple(step for step in error["loc"] if step != "[key]")
    if error["type"] == "unknown_field":
        key, allowed = error["ctx"]["key"], error["ctx"]["allowed"]
        unknown = unknown_name("field", key, allowed)
        meant = _MEANT.get(str(key).lower())
        problem = f"unknown field (did you mean {meant!r}?)" if meant in allowed else unknown.problem
        return document.error(problem, *path, key, allowed=unknown.allowed)
    cause, found = error.get("ctx", {}).get("error"), error["input"]
    problem = str(cause) if isinstance(cause, ValueError) else _WANTED.get(error["type"], error["msg"])
    about_its_parts = error["type"] == "missing" or (cause and isinstance(found, dict))
    return document.error(problem, *path, found=None if about_its_parts else _shown(found))


def _shown(value: object) -> object:
    """What stands there, or what kind of thing when that is large."""
    kinds = {dict: "a mapping", list: "a list", type(None): "nothing"}
    return _Bare(kinds[type(value)]) if type(value) in kinds else value


class _Bare(str):
    """Text that shows without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def _name(value: object) -> str:
    """A name or id: text, or a whole number as its digits."""
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str):
        raise ValueError("a name is wanted: text (in quotes if it looks like something else)")
    if not value.strip() or len(value) > NAME_CHARACTERS_MAX or not value.isprintable() or ";" in value:
        raise ValueError(f"a name is 1 to {NAME_CHARACTERS_MAX} printable characters, without ;")
    return value


def whole(low: int, high: int) -> Callable[[object], int]:
    """A check for a whole number within bounds."""

    def check(value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise ValueError(f"a whole number from {low} to {high} is wanted")
        return value

    return check


def _gpus(value: object) -> int:
    if isinstance(value, float) and 0 < value < 1:
        raise ValueError(f"devices are counted; a part of one is gpu_share: {value}")
    return whole(0, COUNT_MAX)(value)


def _weight(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= WEIGHT_MAX:
        raise ValueError(f"a number above 0, at most {WEIGHT_MAX}, is wanted")
    return float(value)


Name = Annotated[str, BeforeValidator(_name)]
"""A name or an id."""

Cpu = Annotated[int, BeforeValidator(quantity.parse_cpu)]
Memory = Annotated[int, BeforeValidator(quantity.parse_memory)]
Gpus = Annotated[int, BeforeValidator(_gpus)]
Share = Annotated[int, BeforeValidator(quantity.parse_share)]
Amount = Annotated[int, BeforeValidator(quantity.parse_e4)]
Duration = Annotated[int, BeforeValidator(quantity.parse_duration)]
Count = Annotated[int, BeforeValidator(whole(1, COUNT_MAX))]
Priority = Annotated[int, BeforeValidator(whole(-PRIORITY_MAX, PRIORITY_MAX))]
Weight = Annotated[float, BeforeValidator(_weight)]
