"""What a function reaches beside its arguments: variables of its module and its closure that can change."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from copy import deepcopy
from dataclasses import is_dataclass
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any, Final

from gnomon.dataflow.collection import Collection
from gnomon.dataflow.comparing import frozen, shown
from gnomon.dataflow.graph import Dataflow
from gnomon.dataflow.stage import Stage

COMPARED_MAX: Final = 100_000
"""Of a larger container only the length is compared."""

_FIXED: Final = (ModuleType, type, BuiltinFunctionType, str, bytes, int, float, complex, bool, type(None), range)


def captured(function: object) -> dict[str, Any]:
    """The variables that a function can change, by name: of its closure, its module, its defaults, its object; those
    of functions that it calls are among them."""
    found: dict[str, Any] = {}
    seen: list[object] = []
    _gather(function, found, seen)
    return found


def functions_of(stage: Stage) -> list[Any]:
    """The user's functions in a stage."""
    aggregate = stage.aggregate
    parts = [] if aggregate is None else [aggregate.create, aggregate.add, aggregate.merge]
    candidates = [stage.function, stage.partition.function, stage.combine, *parts]
    unique: list[Any] = []
    for one in candidates:
        if callable(one) and not any(one is other for other in unique):
            unique.append(one)
    return unique


def state_of(stage: Stage) -> dict[str, Hashable]:
    """What the variables that a stage's functions can change hold now, as values that stay."""
    variables = {name: value for function in functions_of(stage) for name, value in captured(function).items()}
    return {name: frozen_copy(value) for name, value in variables.items()}


def frozen_copy(value: Any) -> Hashable:
    """A value that compares equal for as long as the variable does not change."""
    if isinstance(value, list | dict | set | bytearray) and len(value) > COMPARED_MAX:
        return "length", len(value)
    try:
        return frozen(deepcopy(value))
    except Exception:
        return "kept", shown(value)  # what cannot be copied (an iterator, from Python 3.14 on) shows where it stands


def _gather(function: object, found: dict[str, Any], seen: list[object]) -> None:
    if any(function is one for one in seen):
        return
    seen.append(function)
    if isinstance(function, MethodType):
        found["self"] = function.__self__
        function = function.__func__
    if not isinstance(function, FunctionType):
        if isinstance(function, type):
            return
        if is_dataclass(function) or hasattr(function, "__dict__"):
            for name, value in vars(function).items():
                _take(name, value, found, seen)
        return
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            _take(name, cell.cell_contents, found, seen)
        except ValueError:  # an empty cell
            continue
    for value in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()):
        _take("a default argument", value, found, seen)
    for name in _names(function.__code__):
        if name in function.__globals__:
            _take(name, function.__globals__[name], found, seen)


def _take(name: str, value: Any, found: dict[str, Any], seen: list[object]) -> None:
    if isinstance(value, FunctionType | MethodType):
        _gather(value, found, seen)
    elif not isinstance(value, (*_FIXED, Dataflow, Collection)):
        found[name] = value


def _names(code: CodeType) -> Iterator[str]:
    """The global names in a function and in those that are defined in it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)
