"""Files and directories that are either as they were or complete and new, whenever the process is killed.

A file is written beside its place and renamed over it. A directory cannot be renamed over one that is not empty, so
the two are exchanged in one step where the system can do that (Linux, ``renameat2`` with ``RENAME_EXCHANGE``).
Elsewhere the old one is first renamed to ``.NAME.old``: a kill right there leaves no directory under the name, and
:func:`recover`, which every reader and writer calls first, puts the old one back. What a killed process had not
finished is removed by the next one that writes there.
"""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
from collections.abc import Callable, Collection
from contextlib import suppress
from pathlib import Path

from gnomon.model.errors import InputError

_AT_FDCWD, _RENAME_EXCHANGE = -100, 2


def write_file(path: Path, write: Callable[[Path], None]) -> None:
    """Let ``write`` make a file beside ``path`` and put it in place when it is whole."""
    target = Path(os.path.realpath(path))
    beside = _partial(target)
    try:
        if target.is_dir():
            raise InputError("is a directory; the name of a file is needed", file=str(path))
        target.parent.mkdir(parents=True, exist_ok=True)
        write(beside)
        _sync(beside)
        os.replace(beside, target)
        _sync(target.parent)
    except OSError as error:
        raise _cannot_write(path, error) from error
    finally:
        with suppress(OSError):
            beside.unlink()


def write_directory(path: Path, fill: Callable[[Path], None], *, files: Collection[str]) -> None:
    """Let ``fill`` make a directory with these ``files`` beside ``path`` and put it in place when it is whole.

    What is there already is replaced if it is such a directory, or empty; anything else is an InputError.
    """
    target = Path(os.path.realpath(path))
    beside = _partial(target)
    try:
        recover(target)
        _refuse_other(target, files, path)
        target.parent.mkdir(parents=True, exist_ok=True)
        _tidy(target)
        beside.mkdir()
        fill(beside)
        for file in beside.iterdir():
            _sync(file)
        _sync(beside)
        _put(beside, target)
        _sync(target.parent)
    except OSError as error:
        raise _cannot_write(path, error) from error
    finally:
        shutil.rmtree(beside, ignore_errors=True)  # the old one, if they were exchanged


def recover(path: Path) -> None:
    """Put an old directory back in place if a process was killed between taking it away and putting the new one."""
    target = Path(os.path.realpath(path))
    if not target.exists() and _old(target).is_dir():
        os.rename(_old(target), target)


def _tidy(target: Path) -> None:
    """Remove what processes left that were killed before they were done."""
    if target.exists():
        shutil.rmtree(_old(target), ignore_errors=True)
    prefix = _partial(target).name.rstrip("0123456789")
    for entry in target.parent.iterdir():
        process = entry.name.removeprefix(prefix)
        if entry.name.startswith(prefix) and process.isdecimal() and not _alive(int(process)):
            shutil.rmtree(entry, ignore_errors=True)


def _partial(target: Path) -> Path:
    return target.with_name(f".{target.name}.partial-{os.getpid()}")


def _old(target: Path) -> Path:
    return target.with_name(f".{target.name}.old")


def _refuse_other(target: Path, files: Collection[str], path: Path) -> None:
    if target.exists() and not target.is_dir():
        raise InputError("is a file; the name of a directory is needed", file=str(path))
    found = {entry.name for entry in target.iterdir()} if target.is_dir() else set()
    others = sorted(found - set(files))
    if others or (found and not set(files) <= found):
        problem = "is not replaced, for it is not (only) a kept run"
        raise InputError(
            problem, file=str(path), found=(others or sorted(found))[0], allowed="a new or empty directory"
        )


def _put(beside: Path, target: Path) -> None:
    try:
        os.rename(beside, target)
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise
        if not _exchange(beside, target):
            os.rename(target, _old(target))
            os.rename(beside, target)
            shutil.rmtree(_old(target))


def _exchange(one: Path, other: Path) -> bool:
    """Swap two directories in one step; False where the system cannot do that."""
    try:
        renameat2 = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError, TypeError):
        return False
    if renameat2(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE) == 0:
        return True
    if ctypes.get_errno() in (errno.ENOSYS, errno.EINVAL):
        return False
    raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def _sync(path: Path) -> None:
    """Make a file, or the names in a directory, durable."""
    if os.name != "posix" and path.is_dir():
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _alive(process: int) -> bool:
    if os.name != "posix":
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        pass
    return True


def _cannot_write(path: Path, error: OSError) -> InputError:
    return InputError(f"cannot be written: {error.strerror or error}", file=str(path))
