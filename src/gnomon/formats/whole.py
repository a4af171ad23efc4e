"""Files and directories that are either as they were or complete and new, whenever the process is killed.

A file is written beside its place and renamed over it. A directory cannot be renamed over one that is not empty, so
the two are exchanged in one step where the system can do that (Linux, ``renameat2`` with ``RENAME_EXCHANGE``).
Elsewhere the old one is first renamed to ``.NAME.old``: a kill right there leaves no directory under the name, and
:func:`recover`, which every reader and writer calls first, puts the old one back. What a killed process had not
finished is removed by the next one that writes there: a process holds a lock on what it writes, for numbers of
processes mean nothing to another container in the same folder.
"""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from secrets import token_hex

from gnomon.model.errors import InputError

_AT_FDCWD, _RENAME_EXCHANGE = -100, 2
_NAME_BYTES = 200
"""Most file systems allow 255."""


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Where to write a file that is put in the place of ``path`` in the end, when it is whole.

    A pipe or a device is written as it is. Raises InputError for what cannot be written.
    """
    try:
        check_file(path)
        if _is_special(path):
            yield Path(path)
            return
        target = _real(path)
        with _begun(target, _new_file) as beside:
            yield beside
            _sync(beside)
            os.replace(beside, target)
        _sync(target.parent)
    except OSError as error:
        raise _cannot_write(path, error) from error


def write_file(path: Path, write: Callable[[Path], object]) -> None:
    """Let ``write`` make a file beside ``path``, in a directory made for it if need be, and put it in place when it is
    whole."""
    try:
        _real(path).parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _cannot_write(path, error) from error
    with replacing(path) as beside:
        write(beside)


def check_file(path: str | os.PathLike[str]) -> None:
    """Raise the InputError with which :func:`write_file` would end, as far as it can be known before."""
    if os.path.isdir(path):
        raise InputError("is a directory; the name of a file is needed", file=str(path))
    if not _is_special(path):
        _check_access(path)


def check_directory(path: str | os.PathLike[str], *, files: Collection[str], more: Collection[str] = ()) -> None:
    """The same for :func:`write_directory`."""
    try:
        target = _real(path)
        recover(target)
        _refuse_other(target, files, more, path)
    except OSError as error:
        raise _cannot_write(path, error) from error
    _check_access(path)


def write_directory(
    path: Path, fill: Callable[[Path], None], *, files: Collection[str], more: Collection[str] = ()
) -> None:
    """Let ``fill`` make a directory with these ``files``, perhaps ``more``, beside ``path`` and put it in place when it
    is whole.

    What is there already is replaced if it is such a directory, or empty; anything else is an InputError.
    """
    try:
        target = _real(path)
        recover(target)
        _refuse_other(target, files, more, path)
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.exists():
            shutil.rmtree(_old(target), ignore_errors=True)
        with _begun(target, Path.mkdir) as beside:
            fill(beside)
            for file in beside.iterdir():
                _sync(file)
            _sync(beside)
            _put(beside, target)
            _sync(target.parent)
    except OSError as error:
        raise _cannot_write(path, error) from error


def recover(path: Path) -> None:
    """Put an old directory back in place if a process was killed between taking it away and putting the new one."""
    with suppress(InputError):
        target = _real(path)
        if not target.exists() and _old(target).is_dir():
            os.rename(_old(target), target)


def _is_special(path: str | os.PathLike[str]) -> bool:
    """Whether it is there and neither file nor directory: a device, a pipe."""
    return os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)


def _real(path: str | os.PathLike[str]) -> Path:
    """The path without links. Raises InputError where the current folder is gone."""
    try:
        return Path(os.path.realpath(path))
    except FileNotFoundError as error:
        raise _cannot_write(path, error) from error


@contextmanager
def _begun(target: Path, make: Callable[[Path], object]) -> Iterator[Path]:
    """A new file or directory beside the target, locked; in the end it is gone, or what it was exchanged for is."""
    _tidy(target)
    with ExitStack() as stack:
        while True:
            beside = target.parent / f"{_prefix(target)}{token_hex(4)}"
            make(beside)
            stack.callback(_remove, beside)
            handle = os.open(beside, os.O_RDONLY)
            stack.callback(os.close, handle)
            _locked(handle, wait=True)
            with suppress(FileNotFoundError):  # somebody tidied up before it was locked
                if os.path.samestat(os.fstat(handle), os.stat(beside)):
                    break
        yield beside


def _tidy(target: Path) -> None:
    """Remove what processes left that were killed before they were done."""
    for entry in target.parent.iterdir():
        if entry.name.startswith(_prefix(target)):
            with suppress(OSError):
                handle = os.open(entry, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
                try:
                    if _locked(handle):
                        _remove(entry)
                finally:
                    os.close(handle)


def _locked(handle: int, *, wait: bool = False) -> bool:
    """Lock a file or directory until it is closed; False where another process has, or there are no locks."""
    try:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (ImportError, OSError):
        return False
    return True


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink()


def _new_file(path: Path) -> None:
    path.touch(exist_ok=False)


def _prefix(target: Path) -> str:
    return f".{_short(target)}.partial-"


def _short(target: Path) -> str:
    """Its name, or a digest of one that is so long that there is no room for more."""
    name = os.fsencode(target.name)
    return target.name if len(name) <= _NAME_BYTES else sha256(name).hexdigest()


def _old(target: Path) -> Path:
    return target.parent / f".{_short(target)}.old"


def _check_access(path: str | os.PathLike[str]) -> None:
    """Raise InputError unless files may be made in the innermost directory there is."""
    around = next(folder for folder in _real(path).parents if os.path.lexists(folder))
    problem = errno.ENOTDIR if not around.is_dir() else 0 if os.access(around, os.W_OK | os.X_OK) else errno.EACCES
    if problem:
        raise _cannot_write(path, OSError(problem, os.strerror(problem)))


def _refuse_other(target: Path, files: Collection[str], more: Collection[str], path: str | os.PathLike[str]) -> None:
    if not target.name:
        raise InputError("is the root of the file system; the name of a directory is needed", file=str(path))
    if target.exists() and not target.is_dir():
        raise InputError("is a file; the name of a directory is needed", file=str(path))
    found = {entry.name for entry in target.iterdir()} if target.is_dir() else set()
    others = sorted(found - {*files, *more})
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


def _cannot_write(path: str | os.PathLike[str], error: OSError) -> InputError:
    return InputError(f"cannot be written: {error.strerror or error}", file=str(path))
