"""From arguments to scenarios: what is on the command line overrides what the scenario file says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gnomon.model.scenario import Scenario
    from gnomon.model.work import Note


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
    from gnomon.api.native import read_native
    from gnomon.api.parts import load_cluster
    from gnomon.api.recognise import is_scenario
    from gnomon.formats.files import files_in

    given = replace(given, work=[file for path in given.work for file in files_in(path)])
    said = None if given.system is None else _known_system(given.system)
    native = _native_system(given, said)
    runner = said or native
    if runner is not None and _is_job(given, runner):
        found = [_of_job(given, runner)]
    elif native is not None:
        nodes = [] if given.cluster is None else [_not_a_number(given.cluster, native)]
        until = _until(given)
        options: dict[str, Any] = {} if until is None else {"until_ns": until}
        form = given.work_format
        found = [read_native(native, nodes, given.work, work_format=form, field="--cluster", **options)]
    elif not given.work_format and all(is_scenario(path) for path in given.work):
        found = [one for path in given.work for one in _in_file(path, given)]
        if given.cluster is not None and any(one.native is None for one in found):
            cluster = load_cluster(given.cluster, format=given.cluster_format)
            found = [one if one.native is not None else replace(one, cluster=cluster) for one in found]
    else:
        found = [_of_parts(given)]
    return [replace(_of_system(scenario, said), **_overrides(given, scenario)) for scenario in found]


def _until(given: Arguments) -> int | None:
    """When the run ends, if that was said."""
    return None if given.until is None else duration_ns(given.until, "--until")


def _native_system(given: Arguments, said: str | None) -> str | None:
    """The system whose native files these are, or that was said for traces; None for scenario files and what is plain.

    Files of a system that takes traces may stand anywhere, others come first.
    """
    from gnomon.api.parts import is_number
    from gnomon.api.recognise import native_system
    from gnomon.api.systems import SYSTEMS

    clusters = [] if given.cluster is None or is_number(given.cluster) else [given.cluster]
    files = [*clusters, *([] if given.work_format else given.work)]
    systems = [native_system(path) for path in files]
    for place, system in enumerate(systems):
        if system in SYSTEMS and (SYSTEMS[system].cluster or SYSTEMS[system].jobs or place == len(clusters)):
            if _is_scenario(given):  # and the cluster is what it is to have
                return None
            return system
    native = said is not None and (SYSTEMS[said].reader or SYSTEMS[said].jobs)
    return said if native and not _is_scenario(given) else None


def _is_scenario(given: Arguments) -> bool:
    """Whether these are scenario files."""
    from gnomon.api.recognise import is_scenario
    from gnomon.model.errors import InputError

    try:
        return not given.work_format and all(is_scenario(path) for path in given.work)
    except InputError:
        return False


def _is_job(given: Arguments, said: str) -> bool:
    """Whether these are a job file, or a recorded run, and what a system that runs it is configured with."""
    from gnomon.api.job_scenario import is_job_file, runs_jobs
    from gnomon.api.systems import SYSTEMS

    if not runs_jobs(said) or given.work_format:
        return False
    return (bool(SYSTEMS[said].reader) and not _is_scenario(given)) or any(is_job_file(path) for path in given.work)


def _of_job(given: Arguments, said: str) -> Scenario:
    from gnomon.api.job_scenario import read_job_scenario
    from gnomon.model.resources import NEVER

    until = _until(given)
    return read_job_scenario(
        said,
        given.work,
        given.cluster,
        field="--cluster",
        seed=given.seed or 0,
        until_ns=NEVER if until is None else until,
    )


def _not_a_number(cluster: str, system: str) -> str:
    """A cluster that is a file. Raises InputError for a number of processors."""
    from gnomon.api.parts import is_number
    from gnomon.api.systems import SYSTEMS
    from gnomon.model.errors import InputError

    if is_number(cluster) and SYSTEMS[system].reader:
        allowed = SYSTEMS[system].cluster or f"files of {system} that say which nodes there are"
        raise InputError(f"not a cluster of {system}", field="--cluster", found=cluster, allowed=allowed)
    return cluster


def _of_system(scenario: Scenario, said: str | None) -> Scenario:
    """The scenario. Raises InputError where another system was said."""
    from gnomon.model.errors import InputError

    if said is not None and said != scenario.system:
        raise InputError("the files say otherwise", field="--system", found=said, allowed=scenario.system)
    return scenario


def _in_file(path: str, given: Arguments) -> list[Scenario]:
    from gnomon.api.load import load_scenario

    found = load_scenario(path, until_ns=_until(given), nodes=given.cluster)
    return found if given.policy is None else without_policies(found)


def without_policies(scenarios: Sequence[Scenario]) -> list[Scenario]:
    """The first of those that differ in their policies only, as the variants of a YAML file do."""
    names = [field.name for field in fields(scenarios[0]) if field.name not in ("policy", "work", "cluster")]
    found: dict[tuple[object, ...], Scenario] = {}
    for one in scenarios:
        facts = tuple(repr(getattr(one, name)) for name in names)
        found.setdefault((id(one.work), id(one.cluster), *facts), one)
    return list(found.values())


def under(scenario: Scenario, policies: Sequence[str]) -> list[Scenario]:
    """A scenario under each policy, under its own where there are none; a system that places by a configuration of its
    own heeds none of them."""
    from gnomon.scheduling.policy import parse_policy

    chosen = [parse_policy(text) for text in policies]
    if scenario.native is None:
        return [replace(scenario, policy=policy) for policy in chosen] or [scenario]
    notes = _unheeded(Arguments([], policy=",".join(policies) or None), scenario)
    return [replace(scenario, work=replace(scenario.work, notes=(*scenario.work.notes, *notes)))]


def placed_by(scenario: Scenario) -> str:
    """The name of what places the work: the policy, or a system by a configuration of its own."""
    return scenario.policy.text if scenario.native is None else scenario.system


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
    from gnomon.api.parts import load_cluster, load_work
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
    if notes := _unheeded(given, scenario):
        changed["work"] = replace(scenario.work, notes=(*scenario.work.notes, *notes))
    if given.seed is not None:
        changed["seed"] = given.seed
    if (until := _until(given)) is not None:
        changed["limits"] = replace(scenario.limits, until_ns=until)
    if given.no_kill:
        changed["kill_at_limit"] = False
    return changed


def _unheeded(given: Arguments, scenario: Scenario) -> list[Note]:
    """What was said that a system with a configuration of its own does not heed."""
    from gnomon.model.work import Note

    if scenario.native is None:
        return []
    told = []
    if given.policy is not None:
        told.append(Note("not modelled", "--policy", f"{scenario.system} places by a configuration of its own"))
    if given.no_kill:
        text = f"how long tasks may run is for the configuration of {scenario.system}"
        told.append(Note("not modelled", "--no-kill", text))
    return told


def _known_system(name: str) -> str:
    from gnomon.api.systems import SYSTEMS
    from gnomon.api.to_come import SYSTEMS_TO_COME
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
