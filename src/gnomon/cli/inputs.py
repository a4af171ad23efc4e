"""From arguments to scenarios: what is on the command line overrides what the scenario file says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gnomon.api import Scenario


@dataclass(frozen=True)
class Arguments:
    """What was said; None where nothing was."""

    work: Sequence[str]
    cluster: str | None = None
    policy: str | None = None
    system: str | None = None
    seed: int | None = None
    until: str | None = None
    work_format: str | None = None
    cluster_format: str | None = None
    no_kill: bool = False


def scenario_of(given: Arguments) -> Scenario:
    """The scenario that was asked for. Raises InputError for what cannot be read or is not known."""
    from gnomon.api import Scenario
    from gnomon.api.load import is_scenario, load_cluster

    if len(given.work) == 1 and not given.work_format and is_scenario(given.work[0]):
        scenario = Scenario.load(given.work[0])
        if given.cluster is not None:
            scenario = replace(scenario, cluster=load_cluster(given.cluster, format=given.cluster_format))
    else:
        scenario = _of_parts(given)
    return replace(scenario, **_overrides(given, scenario))


def _of_parts(given: Arguments) -> Scenario:
    from gnomon.api import Scenario
    from gnomon.api.load import load_cluster, load_work
    from gnomon.model.cluster import Cluster
    from gnomon.model.errors import InputError

    work = load_work(given.work, format=given.work_format)
    if given.cluster is not None:
        cluster = load_cluster(given.cluster, format=given.cluster_format)
    elif work.processors:
        cluster = Cluster.of_processors(work.processors)
    else:
        raise InputError(
            "the cluster is missing",
            field="--cluster",
            allowed="a file of nodes, or a number of processors; a scenario file or an SWF trace may say it itself",
        )
    return Scenario.from_parts(cluster, work)


def _overrides(given: Arguments, scenario: Scenario) -> dict[str, Any]:
    from gnomon.scheduling.policy import parse_policy

    changed: dict[str, Any] = {}
    if given.policy is not None:
        changed["policy"] = parse_policy(given.policy)
    if given.system is not None:
        changed["system"] = given.system
    if given.seed is not None:
        changed["seed"] = given.seed
    if given.until is not None:
        changed["limits"] = replace(scenario.limits, until_ns=duration_ns(given.until, "--until"))
    if given.no_kill:
        changed["kill_at_limit"] = False
    return changed


def duration_ns(text: str, option: str) -> int:
    """A duration on the command line. Raises InputError."""
    from gnomon.model.errors import InputError
    from gnomon.model.quantity import parse_duration

    try:
        return parse_duration(text)
    except ValueError as error:
        raise InputError(str(error), field=option, found=text, allowed="for instance 90s, 1h30m, 2d") from None


def policies_of(texts: Sequence[str] | None) -> list[str]:
    """The policies of all ``--policy`` options, each once."""
    from gnomon.scheduling.policy import split_policies

    return list(dict.fromkeys(policy for text in texts or () for policy in split_policies(text)))


def numbers_of(text: str | None, option: str) -> list[int]:
    """A list such as ``1,2,3``, each once. Raises InputError."""
    from gnomon.model.errors import InputError

    try:
        numbers = [int(item) for item in (text or "").split(",") if item.strip()]
    except ValueError:
        numbers = [-1]
    if any(number < 0 for number in numbers):
        raise InputError("not a list of whole numbers from 0", field=option, found=text, allowed="for instance 1,2,3")
    return list(dict.fromkeys(numbers))
