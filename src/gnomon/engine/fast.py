"""The fast form of kernels, by Numba. Loaded only when a run is large enough to want it.

A compiled kernel sees the world, or any other named tuple of columns, as the address of a block that describes them, so
that a call passes one pointer however many columns there are. The arrays are the plain tuple's own: nothing is copied,
nothing is counted. Kernels allocate nothing, so that Numba's run time (reference counts) stays out of them.

Numba's disk cache looks at one source file only, and would miss a change in an imported kernel. So the compiled forms
are kept in a folder named by a digest of all kernel sources together, and of the processor: two that share a home and
compile at once would take each other's code for their own.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from itertools import accumulate
from pathlib import Path
from types import FunctionType
from typing import Any, Final, TypeVar, cast, get_args, get_type_hints

import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.extending import (
    NativeValue,
    infer_getattr,
    lower_getattr_generic,
    models,
    register_model,
    typeof_impl,
    unbox,
)
from numba.core.registry import cpu_target
from numba.core.typing.templates import AttributeTemplate

from gnomon.engine.compiling import KERNELS, WATCHERS, Role

_F = TypeVar("_F", bound=Callable[..., Any])

FOLDERS_MAX: Final = 32
"""So many folders of compiled kernels are kept, of the versions and processors that were used last."""

_HEADER: Final = 5
"""Words of Numba's array structure before its shape: two references (unused), items, item size, address of the data."""


config: Any = numba.config


class Block:
    """Columns as compiled kernels take them: a block of words that describes each, and the columns, kept alive."""

    def __init__(self, columns: tuple[Any, ...]) -> None:
        words: list[int] = []
        self.kind = _columns_type(type(columns))
        for column, (name, kind) in zip(columns, self.kind.fields.items(), strict=True):
            if numba.typeof(column) != kind:
                raise TypeError(f"column {name} is {numba.typeof(column)}, not {kind}")
            words += [0, 0, column.size, column.itemsize, column.ctypes.data, *column.shape, *column.strides]
        self.columns = columns
        self.block = np.array(words, np.int64)
        self.address = int(self.block.ctypes.data)


class ColumnsType(types.Type):
    """Numba's type of a named tuple of columns. ``offsets``: where each is described, in words of the block."""

    def __init__(self, name: str, fields: dict[str, Any]) -> None:
        super().__init__(name=name)
        words = (_HEADER + 2 * kind.ndim for kind in fields.values())
        self.fields = fields
        self.offsets = dict(zip(fields, accumulate(words, initial=0), strict=False))


@cache
def _columns_type(columns: type) -> ColumnsType:
    hints = get_type_hints(columns, include_extras=True)
    return ColumnsType(columns.__name__, {name: _type_of(hint) for name, hint in hints.items()})


def _type_of(hint: Any) -> Any:
    """Numba's type for an annotation of a kernel or a column."""
    if hint in _KNOWN:
        return _KNOWN[hint]
    if isinstance(hint, type) and issubclass(hint, tuple):
        return _columns_type(hint)
    array, axes = (get_args(hint)[0], hint.__metadata__[0]) if hasattr(hint, "__metadata__") else (hint, 1)
    element = get_args(get_args(array)[1])[0]
    return types.Array(numba.from_dtype(np.dtype(element)), axes, "C")


_KNOWN: dict[Any, Any] = {
    int: types.int64,
    float: types.float64,
    bool: types.boolean,
    type(None): types.void,
}

register_model(ColumnsType)(models.OpaqueModel)


@typeof_impl.register(Block)
def _typeof(value: Block, context: Any) -> ColumnsType:
    return value.kind


@unbox(ColumnsType)
def _unbox(kind: ColumnsType, value: Any, c: Any) -> Any:
    number = c.pyapi.object_getattr_string(value, "address")
    address = c.pyapi.long_as_longlong(number)
    c.pyapi.decref(number)
    return NativeValue(c.builder.inttoptr(address, cgutils.voidptr_t))


@infer_getattr
class _Columns(AttributeTemplate):
    key = ColumnsType

    def generic_resolve(self, kind: ColumnsType, name: str) -> Any:  # type: ignore[override]
        return kind.fields.get(name)


@lower_getattr_generic(ColumnsType)
def _get_column(context: Any, builder: Any, kind: ColumnsType, value: Any, name: str) -> Any:
    """Load the array structure of one column from the block."""
    offset = ir.Constant(ir.IntType(64), 8 * kind.offsets[name])
    place = builder.gep(value, [offset])
    structure = context.get_value_type(kind.fields[name])
    return builder.load(builder.bitcast(place, structure.as_pointer()))


def compiled(function: _F) -> _F:
    """The compiled form of an entry kernel (compiled at its first use, or read from the disk cache).

    There is one for the types that its annotations say: it is called straight, without Numba's choice by the types of
    the arguments, which takes longer than a small kernel.
    """
    form = _forms(_family(cast(FunctionType, function)))[function]
    (only,) = form.overloads.values()
    return cast(_F, only.entry_point)


def _family(plain: FunctionType) -> str:
    """The package whose kernels are compiled together: a system has its own, as it is loaded only when used."""
    parts = plain.__module__.split(".")
    return ".".join(parts[:3]) if parts[1:2] == ["systems"] else parts[0]


@cache
def _forms(family: str) -> dict[Any, Any]:
    """Every kernel of a family, compiled for the types that its annotations say, callees first.

    What an earlier process compiled is read from its folder, if there is one; a folder that is damaged or full is
    removed, and the next process begins a new one.
    """
    kernels = _callees_first(family)
    if folder := _folder(kernels):
        try:
            return _compiled(kernels, folder)
        except Exception:  # whatever unpickling raises; what is not the folder's fault is raised again
            shutil.rmtree(folder, ignore_errors=True)
    return _compiled(kernels, None)


def _compiled(kernels: list[FunctionType], folder: Path | None) -> dict[Any, Any]:
    scopes = {plain.__module__: dict(vars(sys.modules[plain.__module__])) for plain in kernels}
    forms: dict[Any, Any] = {}
    with _configured(folder):
        for done, plain in enumerate(kernels):
            for watcher in WATCHERS:
                watcher(done, len(kernels))
            scope = scopes[plain.__module__]
            clone = FunctionType(plain.__code__, scope, plain.__name__, plain.__defaults__)
            clone.__module__, clone.__qualname__ = plain.__module__, plain.__qualname__
            hints = get_type_hints(plain, include_extras=True)
            result = _type_of(hints.pop("return"))
            signature = result(*map(_type_of, hints.values()))
            form = numba.njit(signature, cache=folder is not None, **_options(KERNELS[plain]))(clone)
            forms[plain] = form
            for other in scopes.values():
                if other.get(plain.__name__) is plain:
                    other[plain.__name__] = form
    return forms


def _options(role: Role) -> dict[str, Any]:
    """Divisions do not raise; no reference counts, as nothing is allocated; a way in from Python where one is used."""
    return {
        "error_model": "numpy",
        "_nrt": False,
        "forceinline": role is Role.SMALL,
        "no_cpython_wrapper": role is not Role.ENTRY,
        "no_cfunc_wrapper": True,
    }


def _callees_first(family: str) -> list[FunctionType]:
    """The kernels of a family and those of others that they call."""
    done: dict[FunctionType, None] = {}

    def visit(plain: FunctionType) -> None:
        if plain in done:
            return
        for name in plain.__code__.co_names:
            callee = vars(sys.modules[plain.__module__]).get(name)
            if callee is not plain and isinstance(callee, FunctionType) and callee in KERNELS:
                visit(callee)
        done[plain] = None

    for plain in KERNELS:
        if _family(plain) == family:
            visit(plain)
    return list(done)


@contextmanager
def _configured(folder: Path | None) -> Iterator[None]:
    """Numba compiles (NUMBA_DISABLE_JIT is for the user's own functions) and keeps what it compiled in the folder."""
    before = config.CACHE_DIR, config.DISABLE_JIT
    config.CACHE_DIR, config.DISABLE_JIT = str(folder or before[0]), 0
    try:
        yield
    finally:
        config.CACHE_DIR, config.DISABLE_JIT = before


def _folder(kernels: list[FunctionType]) -> Path | None:
    """Where compiled kernels are kept; None if that is nowhere."""
    home = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(home):  # as the specification says
        home = os.path.expanduser("~/.cache")
    folder = Path(home) / "gnomon" / f"kernels-{_digest(kernels)}"
    if not folder.is_absolute():
        return None
    try:
        if not folder.exists():
            folder.mkdir(parents=True, exist_ok=True)
            _tidy(folder.parent)
        os.utime(folder)
    except OSError:
        return None
    return folder if os.access(folder, os.W_OK) else None


def _tidy(home: Path) -> None:
    """Remove the folders that were not used for longest. A process that just reads one compiles what it misses."""
    with suppress(FileNotFoundError):  # somebody else tidies up
        used = sorted((folder.stat().st_mtime_ns, folder) for folder in home.glob("kernels-*"))
        for _, folder in used[:-FOLDERS_MAX]:
            shutil.rmtree(folder, ignore_errors=True)


def _digest(kernels: list[FunctionType]) -> str:
    """What the compiled forms hang on."""
    hints = {hint for plain in kernels for hint in get_type_hints(plain, include_extras=True).values()}
    columns = [hint for hint in hints if isinstance(hint, type) and issubclass(hint, tuple)]
    fields = sorted((kind.__name__, str(_columns_type(kind).fields)) for kind in columns)
    processor = cpu_target.target_context.codegen().magic_tuple()
    digest = hashlib.sha256(f"{numba.__version__} {sys.version} {processor} {fields}".encode())
    for file in sorted({function.__code__.co_filename for function in kernels} | {__file__}):
        digest.update(Path(file).read_bytes())
    scopes = ((plain.__code__.co_names, vars(sys.modules[plain.__module__])) for plain in kernels)
    named = ((name, scope.get(name)) for names, scope in scopes for name in names)
    used = {(name, value) for name, value in named if isinstance(value, int | float)}
    digest.update(repr(sorted(used)).encode())  # constants are compiled in, wherever they come from
    return digest.hexdigest()[:16]
