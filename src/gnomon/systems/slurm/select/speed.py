"""Plain or compiled: which form of a kernel is called, and how columns are handed to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

_T = TypeVar("_T", bound=tuple[Any, ...])
_F = TypeVar("_F", bound=Callable[..., Any])


class Columns(Generic[_T]):
    """Columns, and the block that compiled kernels take in their place, made when it is first asked for."""

    def __init__(self, columns: _T) -> None:
        self.columns = columns
        self._block: Any = None

    def block(self) -> Any:
        """For compiled kernels."""
        if self._block is None:
            from gnomon.engine.fast import Block

            self._block = Block(self.columns)
        return self._block


class Speed:
    """How kernels are called. The compiled forms are loaded (or made) at the first call."""

    def __init__(self, *, compiled: bool) -> None:
        self.compiled = compiled
        self._forms: dict[Any, Any] = {}

    def form(self, kernel: _F) -> _F:
        """The form of an entry kernel."""
        if not self.compiled:
            return kernel
        found: _F | None = self._forms.get(kernel)
        if found is None:
            from gnomon.engine.fast import compiled

            found = self._forms[kernel] = compiled(kernel)
        return found

    def of(self, columns: Columns[Any]) -> Any:
        """What a kernel of that form takes for columns."""
        return columns.block() if self.compiled else columns.columns
