"""Opening files: decompressed by their content, never read whole, and every failure an InputError that names the file.

``-`` is the standard input. What can be read only once (that, and pipes) is kept in a temporary file when it is opened
first, for files are looked at several times: to tell what they are, and to find the line of a mistake.
"""

from __future__ import annotations

import gzip
import io
import os
import stat
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import islice
from typing import IO, TYPE_CHECKING

from gnomon.formats.compressed import CutOffError, DamagedError, unpacked
from gnomon.model.errors import InputError, nearest

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

Path = str | os.PathLike[str]

STDIN = "-"
"""The name of the standard input."""

_BESIDE_MAX = 2_000
"""Among how many files a misspelt one is looked for."""

IN_FOLDERS = (".yaml", ".yml", ".json")
"""How the files end that a folder stands for, as for ``kubectl apply -f``."""

LINE_BYTES_MAX = 2**24
"""The longest line that is read as one."""

TEXT_BYTES_MAX = 2**26
"""The largest file that is read whole, decompressed."""

_BUFFER_BYTES = 2**18
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_GZIP = b"\x1f\x8b"
_NOT_TEXT = {
    b"BZh9": "bzip2 data",
    b"\xfd7zXZ\0": "xz data",
    b"PK\x03\x04": "a zip archive",
    b"ZV\0": "LZF data",
    b"ZV\x01": "LZF data",
    b"PAR1": "Parquet data",
    b"\xff\xfe": "UTF-16 text",
    b"\xfe\xff": "UTF-16 text",
}


class CutOff(InputError):  # noqa: N818
    """Compressed data that ends in the middle, as in a file that is still written."""


def several(paths: Path | Iterable[Path]) -> tuple[str, ...]:
    """One file, or several, by their names.

    >>> several("a.yaml"), several(["a.yaml", "b.yaml"])
    (('a.yaml',), ('a.yaml', 'b.yaml'))
    """
    return tuple(os.fspath(path) for path in ([paths] if isinstance(paths, str | os.PathLike) else paths))


def by_kind(paths: Path | Iterable[Path], kind_of: Callable[[str], str]) -> dict[str, list[str]]:
    """Files by their kind, those of a kind in their order.

    >>> by_kind(["b.sh", "a.conf", "a.sh"], lambda path: path[2:])
    {'sh': ['b.sh', 'a.sh'], 'conf': ['a.conf']}
    """
    held: dict[str, list[str]] = {}
    for path in several(paths):
        held.setdefault(kind_of(path), []).append(path)
    return held


def open_bytes(path: Path) -> io.BufferedReader:
    """The bytes of a file, decompressed when it is gzip or :mod:`~gnomon.formats.compressed` otherwise, without a UTF-8
    byte order mark.

    Raises :class:`InputError` here for a file that is missing, a folder, empty or of a known kind that is not text,
    and while it is read for damaged data, :class:`CutOff` for data that ends in the middle.
    """
    file = os.fspath(path)
    with ExitStack() as unless_returned:
        with _input_errors(file):
            stored = unless_returned.enter_context(_opened(file))
            packed = stored.peek(2)[:2] == _GZIP
            content = gzip.GzipFile(fileobj=stored) if packed else unpacked(stored, file) or stored
        source = _Source(stored, content, file)
        stream: io.BufferedReader = io.BufferedReader(source, _BUFFER_BYTES)
        start = stream.peek(8)[:8]
        for magic, name in _NOT_TEXT.items():
            if start.startswith(magic):
                raise InputError(
                    f"{name}, which is not read here", file=file, allowed="UTF-8 text, plain, gzip, zstd, lz4 or snappy"
                )
        if start.startswith(_BYTE_ORDER_MARK):
            stream.read(len(_BYTE_ORDER_MARK))
        if not stream.peek(1):
            raise InputError("the file is empty", file=file)
        unless_returned.pop_all()
    return stream


def open_text(path: Path) -> Iterator[str]:
    """The lines of a text file one by one, without their ends (LF or CR LF). Opens as :func:`open_bytes` does.

    Raises :class:`InputError` also for bytes that are not UTF-8 text and for a line without an end.
    """
    with open_bytes(path) as stream:
        lines = iter(partial(stream.readline, LINE_BYTES_MAX), b"")
        for number, line in enumerate(lines, start=1):
            if len(line) == LINE_BYTES_MAX and not line.endswith(b"\n"):
                raise InputError(f"a line of more than {LINE_BYTES_MAX} bytes", file=os.fspath(path), line=number)
            yield _decoded(line, os.fspath(path), number).rstrip("\r\n")


def read_text(path: Path, *, limit_bytes: int = TEXT_BYTES_MAX) -> str:
    """A text file as a whole, if it is not larger than ``limit_bytes``. Raises as :func:`open_text` does."""
    with open_bytes(path) as stream:
        content = stream.read(limit_bytes + 1)
    if len(content) > limit_bytes:
        raise InputError(f"larger than {limit_bytes} bytes", file=os.fspath(path))
    return _decoded(content, os.fspath(path), 1)


def read_start(path: Path, *, characters: int = 4096) -> str:
    """The first characters of a file, to tell what it is; what is not text is replaced."""
    with open_bytes(path) as stream:
        return stream.read(characters).decode("utf-8", "replace")


def files_in(path: Path) -> list[str]:
    """The files that a path stands for: itself, or all of a folder that end in one of :data:`IN_FOLDERS`, by name.

    A folder without any stands for itself: some systems have folders of their own.
    """
    file = os.fspath(path)
    if file == STDIN or not os.path.isdir(file):
        return [file]
    with _input_errors(file):
        names = sorted(name for name in os.listdir(file) if name.endswith(IN_FOLDERS) and not name.startswith("."))
    return [os.path.join(file, name) for name in names] or [file]


_kept: dict[str, IO[bytes]] = {}
"""What could be read only once, by its name, in a file that has no name and goes with the process."""


def _opened(file: str) -> io.BufferedReader:
    """A file, as often as one likes."""
    if file not in _kept:
        if file != STDIN and not _is_stream(file):
            return open(file, "rb")
        with open(0 if file == STDIN else file, "rb", closefd=file != STDIN) as stream:
            if _is_endless(stream.fileno()):
                raise InputError("a device, not a file", file=file)
            _kept[file] = _copied(stream, file)
    return io.BufferedReader(_Again(_kept[file]), _BUFFER_BYTES)


def _copied(stream: IO[bytes], file: str) -> IO[bytes]:
    allowed = "TMPDIR=FOLDER, with room for it"
    try:
        copy = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115
    except OSError as error:
        problem = f"is read once only, and cannot be kept anywhere: {error.strerror}"
        raise InputError(problem, file=file, allowed=allowed) from None
    while part := stream.read(_BUFFER_BYTES):
        try:
            while part:
                part = part[copy.write(part) :]
        except OSError as error:
            problem = f"is read once only, and cannot be kept in {tempfile.gettempdir()}: {error.strerror}"
            raise InputError(problem, file=file, allowed=allowed) from None
    return copy


class _Again(io.RawIOBase):
    """What was kept, from its beginning; closing this reader leaves it for the next one."""

    def __init__(self, kept: IO[bytes]) -> None:
        self._kept, self._at = kept, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        if whence != os.SEEK_SET:
            raise io.UnsupportedOperation("only from the beginning")
        self._at = offset
        return offset

    def tell(self) -> int:
        return self._at

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        self._kept.seek(self._at)
        part = self._kept.read(memoryview(buffer).nbytes)
        memoryview(buffer).cast("B")[: len(part)] = part
        self._at += len(part)
        return len(part)


def _is_stream(file: str) -> bool:
    mode = os.stat(file).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode) or stat.S_ISSOCK(mode)


def _is_endless(number: int) -> bool:
    """Whether it is a device like /dev/zero, of which there is no end; a terminal ends, and /dev/null at once."""
    mode = os.fstat(number)
    return stat.S_ISCHR(mode.st_mode) and not os.isatty(number) and not os.path.samestat(mode, os.stat(os.devnull))


class _Source(io.RawIOBase):
    """The stored bytes, decompressed if need be. What goes wrong while they are read is an InputError."""

    def __init__(self, stored: io.BufferedReader, content: io.BufferedIOBase | io.RawIOBase, file: str) -> None:
        self._stored, self._content, self._file = stored, content, file

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        with _input_errors(self._file):
            if isinstance(self._content, gzip.GzipFile):  # a whole buffer at a time would lose what is before a cut
                return self._content.readinto1(buffer)
            return self._content.readinto(buffer) or 0

    def close(self) -> None:
        self._stored.close()
        super().close()


def near_file(file: str) -> str:
    """The hint that a file of nearly this name may be meant, of those beside it."""
    folder, name = os.path.split(file)
    try:
        with os.scandir(folder or ".") as entries:
            beside = [entry.name for entry in islice(entries, _BESIDE_MAX)]
    except OSError:
        return ""
    return nearest(name, sorted(beside), cutoff=0.75)


@contextmanager
def _input_errors(file: str) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        raise InputError(f"no such file{near_file(file)}", file=file, found=None if file else file) from None
    except IsADirectoryError:
        raise InputError("a folder, not a file", file=file) from None
    except EOFError as error:
        raise CutOff(f"damaged gzip data: {error}", file=file) from None
    except (zlib.error, gzip.BadGzipFile) as error:
        raise InputError(f"damaged gzip data: {error}", file=file) from None
    except CutOffError as error:
        raise CutOff(str(error), file=file) from None
    except DamagedError as error:
        raise InputError(str(error), file=file) from None
    except (OSError, ValueError) as error:  # ValueError: a path with a NUL
        why = "embedded null byte" if "\0" in file else getattr(error, "strerror", None) or error
        raise InputError(f"cannot be read: {why}", file=file) from None


def _decoded(content: bytes, file: str, first_line: int) -> str:
    nul = content.find(b"\0")
    if nul >= 0:
        line = first_line + content.count(b"\n", 0, nul)
        raise InputError("a NUL byte: this is not a text file", file=file, line=line)
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = first_line + content.count(b"\n", 0, error.start)
        found = content[error.start : error.start + 4]
        raise InputError("not UTF-8 text", file=file, line=line, found=found) from None
