"""Fitting a located document to a pydantic model: what does not fit is an InputError with file, line and field."""

from __future__ import annotations

from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from gnomon.formats.yaml import Located, Steps
from gnomon.model.errors import InputError, unknown_name

NAME_CHARACTERS_MAX = 253
"""The longest name or id."""

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


_S = TypeVar("_S", bound=Spec)


def validated(spec: type[_S], document: Located) -> _S:
    """The document as a ``spec``. Raises :class:`InputError` for what stands first in the file of what is wrong.

    >>> from gnomon.formats.yaml import parse_yaml
    >>> class Size(Spec):
    ...     width: int
    >>> validated(Size, *parse_yaml("width: 3"))
    Size(width=3)
    >>> validated(Size, *parse_yaml("widht: 3"))
    Traceback (most recent call last):
    gnomon.model.errors.InputError: line 1, widht: unknown field (did you mean 'width'?); allowed: width
    """
    try:
        return spec.model_validate(document.value)
    except ValidationError as error:
        problems = [_problem(found, document) for found in error.errors(include_url=False)]
        raise min(problems, key=lambda problem: problem.line or 0) from None


def _problem(error: Any, document: Located) -> InputError:
    path: Steps = tuple(step for step in error["loc"] if step != "[key]")
    if error["type"] == "unknown_field":
        unknown = unknown_name("field", error["ctx"]["key"], error["ctx"]["allowed"])
        return document.error(unknown.problem, *path, error["ctx"]["key"], allowed=unknown.allowed)
    cause = error.get("ctx", {}).get("error")
    problem = str(cause) if isinstance(cause, ValueError) else _WANTED.get(error["type"], error["msg"])
    if error["type"] == "missing":
        return document.error(problem, *path)
    return document.error(problem, *path, found=_shown(error["input"]))


def _shown(value: object) -> object:
    """What stands there, or what kind of thing when that is large."""
    kinds = {dict: "a mapping", list: "a list", type(None): "nothing"}
    return Word(kinds[type(value)]) if type(value) in kinds else value


class Word(str):
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


Name = Annotated[str, BeforeValidator(_name)]
"""A name or an id."""
