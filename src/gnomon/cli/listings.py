"""The tables in which a system tells of a run in its own words, for the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.text import Text

    from gnomon.insight.listing import Listing


def listings(found: Sequence[Listing], *, wide: bool = False) -> list[Text]:
    """Each table below its title; ``wide``: those as well that are for whoever asks for everything."""
    from gnomon.report.text import table, titled

    blocks = []
    for one in found:
        if wide or not one.wide:
            body = table(one.headers, one.rows, right=one.right)
            blocks.append(titled(one.title, body) if one.title else body)
    return blocks
