"""What tells files of MapReduce."""

from __future__ import annotations

from typing import Final

from gnomon.formats.signs import Signs

# A file that configures the resource manager as well is that manager's.
SIGNS: Final = Signs(
    (
        (
            "a configuration of MapReduce",
            r"\A(?![\s\S]*?(?:<name> *yarn\.|<allocations>))[\s\S]*?<name> *mapreduce\.",
        ),
    )
)
