"""What checks of a job find."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    """How bad a finding is: an error gives wrong results, a warning surprises, a note is good to know."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True)
class Finding:
    """What was found: the rule that found it, the stage it is in, the record that shows it, what the alternatives gave,
    and what to do."""

    rule: str
    level: Level
    stage: str
    problem: str
    record: str = ""
    alternatives: tuple[str, ...] = ()
    fix: str = ""
