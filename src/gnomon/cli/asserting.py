"""What is demanded of one run, and whether it has it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gnomon.api import Run
    from gnomon.insight.chaos.properties import Property
    from gnomon.model.scenario import Scenario


def demands(scenario: Scenario, asserted: Sequence[str]) -> list[Property]:
    """The scenario's properties, and those asserted besides, each once. Raises InputError for a text that is not
    understood, or that no run of the scenario could ever break or keep."""
    if not scenario.properties and not asserted:
        return []
    from gnomon.insight.chaos.properties import properties_of

    found = {one.text: one for one in properties_of(scenario.properties, scenario)}
    return list({**found, **{one.text: one for one in properties_of(asserted, scenario, field="--assert")}}.values())


def judge(demanded: Sequence[Property], result: Run) -> list[dict[str, Any]]:
    """Whether each holds, what was found, and the task that this is about, in the form of ``simulate -o json``."""
    if not demanded:
        return []
    from gnomon.insight.chaos.facts import Facts

    facts, judged = Facts(result.past), []
    for one in demanded:
        verdict = one.judge(facts)
        task = result.scenario.work.id(verdict.task) if verdict.task >= 0 else None
        judged.append({"property": one.text, "holds": verdict.holds, "found": verdict.found, "task": task})
    return judged
