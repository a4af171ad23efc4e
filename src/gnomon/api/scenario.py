"""The scenario that users make: the model's, with a way to load it from a file."""

from __future__ import annotations

import os
from dataclasses import fields

from gnomon.model import scenario as model
from gnomon.model.errors import InputError


class Scenario(model.Scenario):
    """All that a run is a function of; see :class:`gnomon.model.scenario.Scenario` for the fields.

    >>> from gnomon.api import Cluster, Task, Work
    >>> Scenario(Cluster.of_processors(4), Work.from_tasks([Task("a"), Task("b")]), name="small")
    Scenario(small: fcfs, 2 tasks, 4 processors)
    """

    def __repr__(self) -> str:
        name = f"{self.name}: " if self.name else ""
        nodes = self.cluster.nodes
        size = f"{nodes[0].capacity.cpu_milli // 1000:,} processors" if self.cluster.pool else f"{len(nodes):,} nodes"
        return f"Scenario({name}{self.policy.text}, {len(self.work):,} tasks, {size})"

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Scenario:
        """Read a scenario file, YAML or Python. Raises InputError with file, line and field for what is wrong in it."""
        variants = cls.load_all(path)
        if len(variants) > 1:
            texts = ", ".join(variant.policy.text for variant in variants)
            raise InputError("the scenario has several policies", file=str(path), field="policy", found=texts)
        return variants[0]

    @classmethod
    def load_all(cls, path: str | os.PathLike[str]) -> list[Scenario]:
        """Read a scenario file: one scenario for each of its policies."""
        from gnomon.api.load import load_scenario

        names = [field.name for field in fields(model.Scenario)]
        return [cls(**{name: getattr(one, name) for name in names}) for one in load_scenario(path)]
