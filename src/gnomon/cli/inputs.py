"""From arguments to scenarios: what is on the command line overrides what the scenario file says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gnomon.model.scenario import Scenario


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


def scenarios_of(given: Arguments) -> list[Scenario]:
    """The scenarios that were asked for: several where there are several scenario files, or where one has several
    policies and none was said.

    Raises InputError for what cannot be read or is not known.
    """
    from gnomon.api.load import is_scenario, load_cluster
    from gnomon.api.systems import SYSTEMS
    from gnomon.formats.files import files_in

    given = replace(given, work=[file for path in given.work for file in files_in(path)])
    native = None if given.work_format else _native_system(given)
    if native is not None:
        nodes = [] if given.cluster is None else [given.cluster]
        until = _until(given)
        found = [SYSTEMS[native].read([*nodes, *given.work], **({} if until is None else {"until_ns": until}))]
    elif not given.work_format and all(is_scenario(path) for path in given.work):
        found = [one for path in given.work for one in _in_file(path, given)]
        if given.cluster is not None:
            cluster = load_cluster(given.cluster, format=given.cluster_format)
            found = [replace(scenario, cluster=cluster) for scenario in found]
    else:
        found = [_of_parts(given)]
    return [replace(scenario, **_overrides(given, scenario)) for scenario in found]


def _until(given: Arguments) -> int | None:
    """When the run ends, if that was said."""
    return None if given.until is None else duration_ns(given.until, "--until")


def _native_system(given: Arguments) -> str | None:
    """The system whose native files these are, None if the first is none of a system that is modelled."""
    from gnomon.api.recognise import native_system
    from gnomon.api.systems import SYSTEMS

    system = native_system(given.work[0])
    return system if system in SYSTEMS else None


def _in_file(path: str, given: Arguments) -> list[Scenario]:
    from gnomon.api.load import load_scenario

    found = load_scenario(path, until_ns=_until(given))
    return found if given.policy is None else without_policies(found)


def without_policies(scenarios: Sequence[Scenario]) -> list[Scenario]:
    """The first of those that differ in their policies only, as the variants of a YAML file do."""
    names = [field.name for field in fields(scenarios[0]) if field.name not in ("policy", "work", "cluster")]
    found: dict[tuple[object, ...], Scenario] = {}
    for one in scenarios:
        facts = tuple(repr(getattr(one, name)) for name in names)
        found.setdefault((id(one.work), id(one.cluster), *facts), one)
    return list(found.values())


def scenario_of(given: Arguments) -> Scenario:
    """The one scenario that was asked for."""
    from gnomon.model.errors import InputError

    found = scenarios_of(given)
    if len(found) > 1 and len(given.work) > 1:
        problem = "several scenario files are for gnomon compare"
        raise InputError(problem, found=", ".join(given.work), allowed="one of them")
    if len(found) > 1:
        policies = ", ".join(scenario.policy.text for scenario in found)
        raise InputError(
            "a file with several scenarios is for gnomon compare",
            file=given.work[0],
            field="policy",
            found=policies,
            allowed="one, or say which with --policy",
        )
    return found[0]


def _of_parts(given: Arguments) -> Scenario:
    from gnomon.api.load import load_cluster, load_work
    from gnomon.model.cluster import Cluster
    from gnomon.model.errors import InputError
    from gnomon.model.scenario import Scenario
    from gnomon.model.work import Note

    nodes, tasks = _sorted_out(given)
    work = load_work(tasks, format=given.work_format)
    if len(nodes) == 1:
        cluster = load_cluster(nodes[0], format=given.cluster_format)
    elif nodes:
        raise InputError("more than one file has nodes", found=", ".join(nodes), allowed="one cluster")
    elif work.processors:
        cluster = Cluster.of_processors(work.processors)
        text = f"{work.processors} processors, as the trace says of its machine (MaxProcs)"
        work = replace(work, notes=(*work.notes, Note("default", "cluster", text)))
    else:
        raise InputError(
            "the cluster is missing",
            field="--cluster",
            allowed="a file of nodes, or a number of processors; a scenario file or an SWF trace may say it itself",
        )
    return Scenario(cluster, work)


def _sorted_out(given: Arguments) -> tuple[list[str], list[str]]:
    """The files that have nodes and those that have tasks (one may have both), as far as that was not said."""
    if given.cluster is not None:
        return [given.cluster], list(given.work)
    if given.work_format:
        return [], list(given.work)
    held = [(path, _holds(path)) for path in given.work]
    return [path for path, parts in held if "nodes" in parts], [path for path, parts in held if parts != {"nodes"}]


def _holds(path: str) -> set[str]:
    """Which parts of a scenario a file has."""
    from gnomon.api.recognise import PLAIN, SCENARIO, recognise
    from gnomon.formats.yaml import load_yaml
    from gnomon.traces import FORMATS

    kind = recognise(path)
    if kind == PLAIN:
        value = load_yaml(path)[0].value
        return {"nodes", "tasks"} & value.keys() if isinstance(value, dict) else {"tasks"}
    return {"nodes"} if kind != SCENARIO and FORMATS[kind].cluster else {"tasks"}


def _overrides(given: Arguments, scenario: Scenario) -> dict[str, Any]:
    from gnomon.scheduling.policy import parse_policy

    changed: dict[str, Any] = {}
    if given.policy is not None:
        changed["policy"] = parse_policy(given.policy)
    if given.system is not None:
        changed["system"] = _known_system(given.system)
    if given.seed is not None:
        changed["seed"] = given.seed
    if (until := _until(given)) is not None:
        changed["limits"] = replace(scenario.limits, until_ns=until)
    if given.no_kill:
        changed["kill_at_limit"] = False
    return changed


def _known_system(name: str) -> str:
    from gnomon.api.recognise import SYSTEMS_TO_COME
    from gnomon.api.systems import SYSTEMS
    from gnomon.model.errors import InputError, unknown_name

    if name in SYSTEMS:
        return name
    if name in SYSTEMS_TO_COME:
        raise InputError("this system is not modelled yet", field="--system", found=name, allowed=", ".join(SYSTEMS))
    raise unknown_name("system", name, SYSTEMS).at(field="--system")


def duration_ns(text: str, option: str) -> int:
    """A duration on the command line. Raises InputError."""
    from gnomon.model.errors import InputError
    from gnomon.model.quantity import parse_duration

    try:
        return parse_duration(text)
    except ValueError as error:
        raise InputError(str(error), field=option, found=text, allowed="for instance 90s, 1h30m, 2d") from None


def policies_of(texts: Sequence[str] | None) -> list[str]:
    """The policies of all ``--policy`` options, each once. Raises InputError for an option without any."""
    from gnomon.model.errors import InputError
    from gnomon.scheduling.policy import split_policies

    parts = [split_policies(text) for text in texts or ()]
    if not all(parts):
        raise InputError("no policy is named", field="--policy", found=",".join(texts or ()))
    return list(dict.fromkeys(policy for part in parts for policy in part))


def numbers_of(text: str | None, option: str) -> list[int]:
    """A list such as ``1,2,3``, each once. Raises InputError."""
    from gnomon.model.errors import InputError
    from gnomon.model.quantity import parse_count

    try:
        numbers = [] if text is None else [parse_count(item) for item in text.split(",")]
    except ValueError as error:
        raise InputError(str(error), field=option, found=text, allowed="for instance 1,2,3") from None
    return list(dict.fromkeys(numbers))
