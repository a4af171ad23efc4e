"""Two speeds of one meaning: a kernel is a plain function; its fast form is made of the same code.

``@kernel`` only registers a function. :mod:`gnomon.engine.fast` hands out Numba's form of it. Small runs use the
plain form, so that they answer from a cold start without compiling anything. A property test holds both to one log.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any, Final, TypeVar, cast

_F = TypeVar("_F", bound=Callable[..., Any])

KERNELS: Final[dict[FunctionType, bool]] = {}
"""Every kernel of the modules that are loaded, in the order of definition, and whether its callers take it in whole."""


def kernel(function: _F) -> _F:
    """Register a function over columns that can be made fast. The function itself stays as it is."""
    KERNELS[cast(FunctionType, function)] = False
    return function


def small_kernel(function: _F) -> _F:
    """A kernel on the hot path that is always made part of its callers: faster, at the price of compile time."""
    KERNELS[cast(FunctionType, function)] = True
    return function
