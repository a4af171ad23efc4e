"""The six things that an engine's own kinds of stage say, of those kinds that a job has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from rich.text import Text

from gnomon.dataflow.plan import Plan
from gnomon.report.text import table

HEADS: Final = ("IN THE ENGINE", "BOUNDED", "PARTITIONS", "STATE", "PROGRESS", "RECOVERS FROM", "RESOURCES")

Kinds = Mapping[str, tuple[str, str, str, str, str, str]]
"""An engine's kinds of stage, and what stands below :data:`HEADS` but the first."""


def six_fields(plan: Plan, kinds: Kinds) -> list[dict[str, str]]:
    """A row for each kind of stage that an engine runs a job with, under :data:`HEADS` in small letters."""
    stages = plan.layout.graph.stages
    has = {
        "shuffle": bool(plan.exchanges),
        "merge, reduce": bool(plan.exchanges),
        "cached": any(stage.cached or stage.checkpointed for stage in stages),
    }
    return [
        dict(zip((head.lower() for head in HEADS), (kind, *fields), strict=True))
        for kind, fields in kinds.items()
        if has.get(kind, True)
    ]


def block(plan: Plan, kinds: Kinds) -> Text:
    """The same for people."""
    return table(list(HEADS), [list(row.values()) for row in six_fields(plan, kinds)])
