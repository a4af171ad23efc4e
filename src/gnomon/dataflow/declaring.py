"""The stages of a job while it is being declared: what its collections add to."""

from __future__ import annotations

from typing import Any

from gnomon.dataflow.stage import Operator, Stage, worded
from gnomon.model.errors import InputError


class Declared:
    """The stages so far of the job ``name``."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.stages: list[Stage] = []

    def title(self, name: str | None, default: str) -> str:
        """The name of a new stage: what is given, which must be new; else the default, numbered where it is there."""
        taken = {stage.name for stage in self.stages}
        if name is None:
            number = 1
            while (title := default if number == 1 else f"{default}-{number}") in taken:
                number += 1
            return title
        worded(name, default, "a name of a stage")
        if name in taken:
            raise InputError("two stages have this name", field=self.name, found=name)
        return name

    def add(self, operator: Operator, title: str, **fields: Any) -> int:
        """Add a stage, and return its number."""
        self.stages.append(Stage(len(self.stages), title, operator, **fields))
        return self.stages[-1].number
