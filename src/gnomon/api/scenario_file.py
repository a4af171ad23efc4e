"""Scenario files in YAML: what may stand in one, and the scenarios that it describes.

It names its parts: ``cluster`` (a file, a number of processors, or ``nodes`` written in place) and ``work`` (a file,
several, or tasks written in place), with paths relative to the scenario; ``policy`` as on the command line, as a
mapping of its parts, or a list of variants; and what else :class:`ScenarioSpec` lists.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import is_dataclass, replace
from functools import partial
from typing import Annotated, Any, TypeVar

from pydantic import BeforeValidator, Field, model_validator

from gnomon.api.job_scenario import read_job_scenario, runs_jobs
from gnomon.api.native import read_native
from gnomon.api.parts import is_number, load_cluster, load_work
from gnomon.api.recognise import native_system
from gnomon.api.scenario_faults import Listed, check_faults, read_faults
from gnomon.api.scenario_native import NATIVE_KEYS, listed_paths, native_files, read_options
from gnomon.api.scenario_places import loaded, placed
from gnomon.api.scenario_policy import read_policies
from gnomon.api.systems import SYSTEMS
from gnomon.api.to_come import SYSTEMS_TO_COME
from gnomon.formats.schema import Count, Duration, Name, Spec, validated, whole
from gnomon.formats.yaml import Located
from gnomon.model.cluster import Cluster
from gnomon.model.errors import unknown_name
from gnomon.model.operation import Operation
from gnomon.model.recovery import Recovery
from gnomon.model.resources import NEVER
from gnomon.model.scenario import Limits, Scenario, Tenant
from gnomon.model.work import Note, Work
from gnomon.systems.plain.operation_specs import read_operation
from gnomon.systems.plain.read import read_cluster, read_reservations, read_tenants, read_work
from gnomon.systems.plain.recovery_specs import read_recovery

_A = TypeVar("_A")

_TENANTS = {"tenants": None, "users": "user", "queues": "queue"}


class LimitsSpec(Spec):
    """Bounds on the run: ``events`` in its log, ``repeats`` at one instant without progress."""

    events: Annotated[int, BeforeValidator(whole(1, 2**40))] = Limits().events
    repeats: Count = Limits().repeats


class ScenarioSpec(Spec):
    """The fields of a scenario file.

    ``tenants``, ``users`` and ``queues`` are three names for the same list; the last two say whom limits and fair
    orders look at, ``tenants_by`` does for the first.
    """

    name: Name = ""
    system: Name = "plain"
    cluster: Any = None
    work: Any = None
    usage: Any = None
    changes: Any = None
    conf: Any = None
    pools: Any = None
    policy: Any = None
    until: Duration = NEVER
    seed: Annotated[int, BeforeValidator(whole(0, 2**63 - 1))] = 0
    limits: LimitsSpec = LimitsSpec()
    kill_at_limit: bool = True
    gang: bool = True
    preempt: bool = False
    tenants_by: Name = ""
    tenants: Any = None
    users: Any = None
    queues: Any = None
    reservations: Any = None
    recovery: Any = None
    faults: Any = None
    operation: Any = None
    properties: list[str] = Field(default_factory=list)

    @model_validator(mode="after")
    def _tenants_once(self) -> ScenarioSpec:
        lists = [name for name in _TENANTS if getattr(self, name) is not None]
        if len(lists) > 1:
            raise ValueError(f"{' and '.join(lists)} say the same; give one")
        by = _TENANTS[lists[0]] if lists else None
        if self.tenants_by and by and by != self.tenants_by:
            raise ValueError(f"tenants_by is {self.tenants_by}, but these are {lists[0]}")
        return self


def read_scenarios(document: Located, *, until_ns: int | None = None, nodes: str | None = None) -> list[Scenario]:
    """The scenarios of a document, one for each of its policies; ``until_ns``: as they end in place of what it says;
    ``nodes``: the native file to take for the cluster that it names. Raises :class:`InputError`."""
    spec = validated(ScenarioSpec, document)
    if until_ns is not None:
        spec = spec.model_copy(update={"until": until_ns})
    base = _base(document, spec, nodes)
    cluster = base.cluster
    if spec.reservations is not None:
        windows = read_reservations(document.at("reservations"), cluster)
        cluster = replace(cluster, reservations=(*cluster.reservations, *windows))
    listed = Listed() if spec.faults is None else read_faults(document.at("faults"), cluster, until_ns=spec.until)
    operation = _operation(document, base.operation)
    tenants, tenants_by = _tenants(spec, document)
    scenario = replace(
        base,
        cluster=cluster,
        work=replace(base.work, notes=(*base.work.notes, *listed.notes, *_not_modelled(spec, operation))),
        system=spec.system,
        seed=spec.seed,
        limits=Limits(events=spec.limits.events, until_ns=spec.until, repeats=spec.limits.repeats),
        preempt=spec.preempt,
        tenants_by=tenants_by,
        tenants=tenants,
        name=spec.name or _stem(document.file),
        source=document.file or "",
        faults=listed.faults,
        operation=operation,
        properties=tuple(spec.properties),
    )
    if spec.operation is not None:
        _check_names(scenario, document)
    if listed.faults:
        check_faults(scenario, document.at("faults"), listed.origins)
    return [replace(scenario, policy=policy) for policy in read_policies(document)]


def _base(document: Located, spec: ScenarioSpec, nodes: str | None) -> Scenario:
    """What runs where, and what the system alone decides of it."""
    if spec.system not in SYSTEMS:
        if spec.system in SYSTEMS_TO_COME:
            raise document.error(
                "this system is not modelled yet", "system", found=spec.system, allowed=", ".join(SYSTEMS)
            )
        raise placed(unknown_name("system", spec.system, SYSTEMS), document, "system")
    if runs_jobs(spec.system):
        return _job(document, spec)
    if SYSTEMS[spec.system].reader:
        return _native(document, spec.until, nodes)
    return _plain(document, spec)


def _not_modelled(spec: ScenarioSpec, operation: Operation) -> Iterator[Note]:
    """What a document says that changes nothing."""
    if not operation.control.quorum:
        text = "of several leaders at a time only the first one decides in the simulation"
        yield Note("not modelled", "operation.control.quorum", text)
    own = SYSTEMS[spec.system].reader or SYSTEMS[spec.system].jobs
    if own and spec.policy is not None:
        yield Note("not modelled", "policy", f"{spec.system} places by a configuration of its own")


def _plain(document: Located, spec: ScenarioSpec) -> Scenario:
    """Tasks and nodes written in place, or in files of Gnomon's own vocabulary, or traces."""
    for key in NATIVE_KEYS:
        if document.value.get(key) is not None:
            raise document.error(
                "only native files of a system have that", key, allowed=f"system: {', '.join(SYSTEMS)}"
            )
    if spec.work is None:
        raise document.error("this is missing", "work")
    recovery = Recovery() if spec.recovery is None else read_recovery(document.at("recovery"))
    work = _work(document.at("work"), recovery)
    notes: list[Note] = []
    cluster = _cluster(document, work, notes)
    work = replace(work, notes=(*work.notes, *notes))
    return Scenario(cluster, work, kill_at_limit=spec.kill_at_limit, gang=spec.gang)


def _native(document: Located, until_ns: int, nodes: str | None) -> Scenario:
    """What the native files say that stand under ``cluster`` and ``work``, with the traces under ``work``."""
    named = {
        name: native_files(document.at(name)) if document.value.get(name) is not None else []
        for name in ("cluster", "work")
    }
    options = read_options(document, until_ns)
    clusters = named["cluster"] if nodes is None else [nodes]
    return loaded(
        lambda work: read_native(document.value["system"], clusters, work, **options), named["work"], document
    )


def _job(document: Located, spec: ScenarioSpec) -> Scenario:
    """A job file under ``work``, or a record of a run, on the cluster, with what ``conf`` says: options by name,
    or files of them; ``pools``: the file of those that jobs share."""
    if document.value.get("work") is None:
        raise document.error("this is missing", "work", allowed="a file job.py")
    files, options = _work_files(document.at("work")), {}
    if spec.pools is not None:
        files += native_files(document.at("pools"))
    if isinstance(spec.conf, dict):
        options = spec.conf
    elif spec.conf is not None:
        files += native_files(document.at("conf"))
    cluster = spec.cluster
    if isinstance(cluster, dict):
        cluster = read_cluster(document.at("cluster"))
    elif isinstance(cluster, str) and not is_number(cluster):
        cluster = document.at("cluster").beside()
    read = partial(
        read_job_scenario, spec.system, cluster=cluster, options=options, seed=spec.seed, until_ns=spec.until
    )
    return loaded(read, files, document)


def _work_files(document: Located) -> list[str]:
    """The files that paths stand for; the folder of a log that is one of several files is kept as it is."""
    found = []
    for part in listed_paths(document):
        path = part.beside()
        found += [path] if native_system(path) is not None else native_files(part)
    return found


def _operation(document: Located, default: Operation) -> Operation:
    """How the cluster is run: what the document says, of the rest the system's own."""
    if document.value.get("operation") is None:
        return default
    said = read_operation(document.at("operation"))
    return _merged(default, said, document.value["operation"])


def _merged(default: _A, said: _A, given: Any) -> _A:
    """A default with the fields that a mapping names, and of these that are mappings themselves their named parts."""
    if not is_dataclass(default) or isinstance(default, type) or type(default) is not type(said):
        return said
    if not isinstance(given, dict):
        return said
    changed = {}
    for key, value in given.items():
        name = next((key + ending for ending in ("", "_ns", "_e4") if hasattr(default, key + ending)), None)
        if name is None:
            return said  # it is of another form, as a probe is
        changed[name] = _merged(getattr(default, name), getattr(said, name), value)
    return replace(default, **changed)


def _work(document: Located, recovery: Recovery) -> Work:
    """Paths, one or several, or tasks in place; ``recovery``: of tasks that say nothing of it."""
    load = partial(load_work, recovery=recovery)
    if isinstance(document.value, str):
        return loaded(load, [document.beside()], document)
    if isinstance(document.value, list) and document.value and all(isinstance(item, str) for item in document.value):
        paths = [document.at(position).beside() for position in range(len(document.value))]
        return loaded(load, paths, document)
    if isinstance(document.value, list | dict):
        return read_work(document, recovery=recovery)
    raise document.error("no work", allowed="a path, a list of paths, or a list of tasks")


def _cluster(document: Located, work: Work, notes: list[Note]) -> Cluster:
    """A path, a number of processors, or nodes in place; if nothing is said, what the trace says of its machine."""
    given = document.value.get("cluster")
    if given is None:
        if not work.processors:
            raise document.error("cluster is missing", allowed="a path, a number of processors, or nodes: [...]")
        text = f"{work.processors} processors, as the trace says of its machine (MaxProcs)"
        notes.append(Note("default", "cluster", text))
        return Cluster.of_processors(work.processors)
    part = document.at("cluster")
    if isinstance(given, int) and not isinstance(given, bool):
        return loaded(load_cluster, given, part)
    if isinstance(given, str):
        path = part.beside()
        return loaded(load_cluster, given if is_number(given) and not os.path.exists(path) else path, part)
    if isinstance(given, dict):
        return read_cluster(part)
    raise part.error("no cluster", found=given, allowed="a path, a number of processors, or nodes: [...]")


def _check_names(scenario: Scenario, document: Located) -> None:
    """Raise for jobs and labels that the operation names and that are not there."""
    work, cluster, operation = scenario.work, scenario.cluster, scenario.operation
    zone = operation.eviction.zone
    labels = {label for node in cluster.nodes for label, _ in node.labels}
    if zone and zone not in labels and _says(document.value, "operation", "eviction", "zone"):
        raise placed(unknown_name("label of nodes", zone, labels), document, "operation", "eviction", "zone")
    named = [(place, budget.job) for place, budget in enumerate(operation.budgets) if budget.job != "*"]
    jobs = {work.job_name(task) for task in range(len(work))} if named else set()
    for place, job in named:
        if job not in jobs:
            problem = unknown_name("job", job, jobs).problem
            raise document.error(problem, "operation", "budgets", place, "job", found=job)


def _says(value: Any, *keys: str) -> bool:
    """Whether a file says this itself, and no default of the system does."""
    for key in keys:
        if not isinstance(value, dict) or key not in value:
            return False
        value = value[key]
    return True


def _tenants(spec: ScenarioSpec, document: Located) -> tuple[Sequence[Tenant], str]:
    if spec.tenants_by not in ("", "user", "queue"):
        raise placed(unknown_name("kind of tenant", spec.tenants_by, ("user", "queue")), document, "tenants_by")
    for name, by in _TENANTS.items():
        if getattr(spec, name) is not None:
            return read_tenants(document.at(name)), spec.tenants_by or by or "user"
    return (), spec.tenants_by or "user"


def _stem(file: str | None) -> str:
    return os.path.splitext(os.path.basename(file or ""))[0]
