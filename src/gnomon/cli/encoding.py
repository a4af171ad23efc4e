"""What a terminal's encoding lacks is no reason to fail, nor to write what cannot be read.

A typographic sign gets its form in ASCII, anything else is written out as in Python; documents for programs are put
into ASCII by their own rules.
"""

from __future__ import annotations

import codecs
import sys
from typing import IO, Final

_ASCII: Final = dict(
    pair.split("=", 1) for pair in "…=... –=- —=- ×=x ±=+- →=-> ≥=>= ≤=<= ·=. ²=2 µ=u μ=u ’=' ‘=' “=\" ”=\"".split(" ")
)


def degrade() -> None:
    """Have stdout and stderr write whatever text there is."""
    codecs.register_error("gnomon", _degraded)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="gnomon")


def takes(stream: IO[str], text: str) -> bool:
    """Whether a stream's encoding has all that is in a text."""
    try:
        text.encode(getattr(stream, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _degraded(error: UnicodeError) -> tuple[str, int]:
    """For :func:`codecs.register_error`.

    >>> codecs.register_error("gnomon", _degraded)
    >>> "größer … 2 × 3".encode("ascii", "gnomon")
    b'gr\\\\xf6\\\\xdfer ... 2 x 3'
    """
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end]
    return "".join(_ASCII.get(c) or c.encode("ascii", "backslashreplace").decode() for c in lacking), error.end
