"""Of which tasks the use can make a difference at all: the others are not looked at, and cost nothing."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gnomon.model.scenario import Scenario


def use_matters(scenario: Scenario) -> npt.NDArray[np.bool_]:
    """For each task, whether what it uses can ever make a difference: it is more than it asked for, or its limit, or of
    what it did not ask for at all; or it may pause.

    >>> from gnomon.model.cluster import Cluster
    >>> from gnomon.model.resources import Resources
    >>> from gnomon.model.usage import Profile, Usage
    >>> from gnomon.model.work import Shape, Task, Work
    >>> one = Shape(Resources(cpu_milli=1000))
    >>> tasks = [Task(str(m), one, usage=Usage((("cpu", Profile(((0, m),))),))) for m in (900, 1100)]
    >>> use_matters(Scenario(Cluster.of_processors(2), Work.from_tasks(tasks))).tolist()
    [False, True]
    """
    work, pauses = scenario.work, scenario.operation.enforcement.pauses is not None
    if work.usage is None:
        return np.zeros(len(work), np.bool_)
    pairs, pair = np.unique(work.usage * len(work.shapes) + work.shape, return_inverse=True)
    found = [one >= 0 and (pauses or _exceeds(scenario, *divmod(one, len(work.shapes)))) for one in pairs.tolist()]
    return np.array(found, np.bool_)[pair]


def _exceeds(scenario: Scenario, usage: int, shape: int) -> bool:
    """Whether tasks of a shape with this usage go beyond what they asked for, or their limit."""
    spec = scenario.work.shapes[shape]
    for name, profile in scenario.work.usages[usage].profiles:
        most = max(amount for _, amount in profile.points)
        asked = spec.request.amount(name) if name in ("cpu", "memory") else 0
        limit = spec.limit.amount(name) if name in ("cpu", "memory") else 0
        if most > asked or (limit and most > limit):
            return True
    return False
