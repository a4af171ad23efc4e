"""What tells the native files of a system from all others."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from gnomon.formats.files import Path


@dataclass(frozen=True)
class Signs:
    """``starts``: what files are called, and a pattern that only their first lines have. ``keys``: those that its
    documents have at the top, also where they come late. ``folder``: what a folder of its files is called, and whether
    a path is one.

    >>> Signs((("slurm.conf", r"^NodeName *="),)).named("# nodes\\nNodeName=n1")
    'slurm.conf'
    """

    starts: tuple[tuple[str, str], ...]
    keys: tuple[str, ...] = ()
    folder: tuple[str, Callable[[Path], bool]] | None = None

    @cached_property
    def _patterns(self) -> list[tuple[str, re.Pattern[str]]]:
        return [(name, re.compile(pattern, re.MULTILINE)) for name, pattern in self.starts]

    def named(self, start: str) -> str | None:
        """What a file that starts so is called, None if it is none of these."""
        return next((name for name, pattern in self._patterns if pattern.search(start)), None)
