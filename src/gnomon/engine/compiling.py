"""Two speeds of one meaning: a kernel is a plain function; its fast form is made of the same code.

``@kernel`` only registers a function. :mod:`gnomon.engine.fast` hands out Numba's form of it. Small runs use the
plain form, so that they answer from a cold start without compiling anything. A property test holds both to one log.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from types import FunctionType
from typing import Any, Final, TypeVar, cast

_F = TypeVar("_F", bound=Callable[..., Any])


class Role(Enum):
    """How a kernel is compiled."""

    INNER = "called by kernels only"
    SMALL = "on the hot path: made part of its callers, faster at the price of compile time"
    ENTRY = "called from Python"


KERNELS: Final[dict[FunctionType, Role]] = {}
"""Every kernel of the modules that are loaded, in the order of definition."""

WATCHERS: Final[list[Callable[[int, int], object]]] = []
"""Who is told how far the kernels of a family are made or loaded: ``watcher(done, all)``."""


def kernel(function: _F) -> _F:
    """Register a function over columns that can be made fast. The function itself stays as it is."""
    return _registered(function, Role.INNER)


def small_kernel(function: _F) -> _F:
    """A kernel on the hot path that is always made part of its callers."""
    return _registered(function, Role.SMALL)


def entry_kernel(function: _F) -> _F:
    """A kernel whose compiled form is called from Python."""
    return _registered(function, Role.ENTRY)


def _registered(function: _F, role: Role) -> _F:
    KERNELS[cast(FunctionType, function)] = role
    return function
