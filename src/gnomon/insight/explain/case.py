"""The case at hand: one subject, why it waited, the situation that matters, and what is wanted for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from gnomon.insight.explain.ground import Ground
from gnomon.insight.explain.situation import Situation
from gnomon.insight.explain.waits import Wait
from gnomon.insight.explain.wanted import Wanted


class Goal(Enum):
    """What changes are to bring about: that it starts (earlier), runs to its end, or keeps its place."""

    START = "start"
    END = "end"
    PLACE = "place"


@dataclass(frozen=True)
class Case:
    """``label``: the subject as ``kind/name``; ``tasks``: those of it that are to change; ``task``: one that stands for
    them; ``waits``: its spells; ``here``: the situation that matters; ``since_ns``: when it began to wait."""

    ground: Ground
    label: str
    task: int
    tasks: Sequence[int]
    waits: Sequence[Wait]
    here: Situation
    since_ns: int
    goal: Goal
    wanted: Wanted

    @property
    def kinds(self) -> set[str]:
        """The kinds of its waiting."""
        return {wait.kind for wait in self.waits}

    @property
    def rules(self) -> set[str]:
        """The rules that held it."""
        return {wait.rule for wait in self.waits}

    @property
    def infeasible(self) -> bool:
        """Whether it was refused for ever."""
        return bool(self.rules & {"too-large", "no-node-kind", "over-limit", "gang-too-large", "unusable"})
