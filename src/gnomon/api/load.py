"""Scenarios, clusters and work from files of any known format.

:func:`load_scenario` reads a scenario, YAML (:mod:`gnomon.api.scenario_file`) or Python; :func:`load_cluster` and
:func:`load_work` read the parts that the command line or a scenario names. The format is found from the content
(:mod:`gnomon.api.recognise`). Whatever is wrong is an :class:`InputError` with file, line and field.
"""

from __future__ import annotations

import os
import re
from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any, Final, TypeVar

import numpy as np

from gnomon import traces
from gnomon.api.python_file import raised_by, run_python
from gnomon.api.recognise import PLAIN, SCENARIO, is_scenario, recognise
from gnomon.api.systems import SYSTEMS
from gnomon.formats.files import Path, read_start
from gnomon.formats.yaml import Located, load_yaml
from gnomon.model.cluster import Cluster
from gnomon.model.errors import InputError
from gnomon.model.recovery import Recovery
from gnomon.model.scenario import Scenario
from gnomon.model.work import IntArray, Work

__all__ = ["is_scenario", "joined", "load_cluster", "load_scenario", "load_work"]

_T = TypeVar("_T", bound=Hashable)

PROCESSORS_MAX: Final = 10**9
"""The largest pool that a number may stand for."""

_NOTHING_SAID: Final = Recovery()
_WHOLE: Final = re.compile(r"[+-]?[0-9]+", re.ASCII)


def load_scenario(path: Path, *, until_ns: int | None = None, nodes: str | None = None) -> list[Scenario]:
    """The scenarios of a file, one for each variant of the policy that it names. ``until_ns``: in place of the end that
    the file says, for what is made up to it; ``nodes``: the native file for the cluster that it names.

    A Python file defines ``scenario``: a Scenario, a list of them, or a function that returns one or the other.
    """
    file = os.fspath(path)
    if file.endswith(".py"):
        return _of_python(file)

    from gnomon.api.scenario_file import read_scenarios

    return read_scenarios(_only_document(file), until_ns=until_ns, nodes=nodes)


def load_cluster(spec: Path | int, *, format: str | None = None) -> Cluster:
    """A cluster: a number of identical processors in one pool, or a file of nodes.

    ``format``: ``plain`` or a trace format; found from the content if it is not said.

    >>> load_cluster("100").nodes[0].capacity.cpu_milli
    100000
    """
    text = str(spec) if isinstance(spec, int) else os.fspath(spec)
    if format is None and is_number(text):
        return _pool(text.strip())
    kind = format or recognise(text)
    if kind == SCENARIO:
        allowed = "a number of processors, or a file of nodes (as YAML: with nodes: at the top, not cluster:)"
        raise InputError("this is a scenario, not a cluster", file=text, allowed=allowed)
    if kind != PLAIN:
        return traces.read_cluster(text, format=kind)

    from gnomon.systems.plain.read import read_cluster

    return read_cluster(_only_document(text))


def is_number(text: str) -> bool:
    """Whether a text stands for a number of processors, and not for a file: also what is a number and cannot be one.

    >>> [is_number(text) for text in ("100", "-1", "1e99", "nan", "nodes.yaml")]
    [True, True, True, True, False]
    """
    if _WHOLE.fullmatch(text.strip()):
        return True
    try:
        float(text)
    except ValueError:
        return False
    return not os.path.exists(text)


def load_work(specs: Path | Sequence[Path], *, format: str | None = None, recovery: Recovery = _NOTHING_SAID) -> Work:
    """The work of one file or several, one after the other; no id may be there twice.

    ``format``: of all of them, ``plain`` or a trace format. ``recovery``: of tasks that say nothing of it.
    """
    paths = [specs] if isinstance(specs, str | os.PathLike) else list(specs)
    if not paths:
        raise InputError("no work is given", allowed="files of tasks or traces")
    return joined([_work(os.fspath(path), format, recovery) for path in paths])


def joined(works: Sequence[Work]) -> Work:
    """Several works as one, in their order. Raises :class:`InputError` for an id that is there twice.

    Jobs with the same name in several works are one job.
    """
    if len(works) == 1:
        return works[0]
    shapes, shape = _merged([work.shapes for work in works], [work.shape for work in works])
    users, user = _merged([work.users for work in works], [work.user for work in works])
    queues, queue = _merged([work.queues for work in works], [work.queue for work in works])
    names = [tuple(map(str, work.ids)) if work.jobs is None else work.jobs for work in works]
    jobs, job = _merged(names, [work.job for work in works])
    usages, usage = _merged([work.usages for work in works], [_column(work.usage, -1, len(work)) for work in works])
    own = [_column(work.recovery, 0, len(work)) for work in works]
    recoveries, recovery = _merged([work.recoveries for work in works], own)
    machines = {work.processors for work in works}
    plain = ("submit_ns", "duration_ns", "estimate_ns", "priority", "deadline_ns", "recorded_wait_ns", "usable")
    columns: dict[str, Any] = {name: np.concatenate([getattr(work, name) for work in works]) for name in plain}
    return replace(
        works[0],
        ids=_ids(works),
        shapes=shapes,
        shape=shape,
        users=users,
        user=user,
        queues=queues,
        queue=queue,
        jobs=None if all(work.jobs is None for work in works) else jobs,
        job=job,
        usages=usages,
        usage=usage if usages else None,
        recoveries=recoveries,
        recovery=recovery if len(recoveries) > 1 else None,
        needs=_needs(works),
        **columns,
        notes=tuple(note for work in works for note in work.notes),
        source=", ".join(work.source for work in works if work.source),
        processors=machines.pop() if len(machines) == 1 else None,
    )


def _of_python(file: str) -> list[Scenario]:
    """Run a Python file, and take what it calls ``scenario``. What it raises is an InputError with its line."""
    read_start(file)
    names = run_python(file)
    made = names.get("scenario")
    with raised_by(file):
        made = made() if callable(made) else made
    if made is None and any(type(value).__name__ == "Dataflow" for value in names.values()):
        allowed = ", ".join(name for name, system in SYSTEMS.items() if system.jobs)
        raise InputError("a job of dataflow: which system runs it?", file=file, field="--system", allowed=allowed)
    scenarios = made if isinstance(made, list | tuple) else [made]
    if not scenarios or not all(isinstance(scenario, Scenario) for scenario in scenarios):
        raise InputError(
            f"scenario is no Scenario but {type(made).__name__}",
            file=file,
            allowed="scenario = Scenario(...), or def scenario() that returns one or a list of them",
        )
    return list(scenarios)


def _pool(text: str) -> Cluster:
    count = int(text) if _WHOLE.fullmatch(text) and len(text) < 20 else 0
    if not 1 <= count <= PROCESSORS_MAX:
        allowed = f"1 to {PROCESSORS_MAX}, or a file of nodes"
        raise InputError("not a number of processors", field="cluster", found=text, allowed=allowed)
    return Cluster.of_processors(count)


def _work(path: str, format: str | None, recovery: Recovery) -> Work:
    kind = format or recognise(path)
    if kind == SCENARIO:
        allowed = "a trace, or a file of tasks (as YAML: a list, or tasks: at the top)"
        raise InputError("this is a scenario, not work", file=path, allowed=allowed)
    if kind != PLAIN:
        work = traces.read_work(path, format=kind)
        return replace(work, recoveries=tuple(recovery if one == _NOTHING_SAID else one for one in work.recoveries))

    from gnomon.systems.plain.read import read_work

    return read_work(_only_document(path), recovery=recovery)


def _only_document(path: str) -> Located:
    documents = load_yaml(path)
    if len(documents) > 1:
        raise documents[1].error("a second document; only one is read")
    return documents[0]


def _merged(names: Sequence[Sequence[_T]], columns: Sequence[IntArray]) -> tuple[tuple[_T, ...], IntArray]:
    """Names of several works as one list, and the columns that point into them (-1: to none of them)."""
    positions: dict[_T, int] = {}
    parts = []
    for own, column in zip(names, columns, strict=True):
        merged = np.array([*(positions.setdefault(name, len(positions)) for name in own), -1], np.int64)
        parts.append(merged[column])
    return tuple(positions), np.concatenate(parts)


def _column(column: IntArray | None, same: int, length: int) -> IntArray:
    """A column, also where it is left out because it says the same of all tasks."""
    return np.full(length, same, np.int64) if column is None else column


def _needs(works: Sequence[Work]) -> dict[int, tuple[int, ...]]:
    """What the tasks of all works need, by their rows in the whole."""
    needs: dict[int, tuple[int, ...]] = {}
    before = 0
    for work in works:
        needs |= {before + task: tuple(before + other for other in others) for task, others in work.needs.items()}
        before += len(work)
    return needs


def _ids(works: Sequence[Work]) -> IntArray | Sequence[str]:
    owner: dict[str, int] = {}
    texts = []
    for number, work in enumerate(works):
        own = [str(id) for id in (work.ids.tolist() if isinstance(work.ids, np.ndarray) else work.ids)]
        for id in own:
            if owner.setdefault(id, number) != number:
                raise InputError(f"this id is also in {works[owner[id]].source}", file=work.source, found=id)
        texts += own
    arrays = [work.ids for work in works if isinstance(work.ids, np.ndarray)]
    return np.concatenate(arrays) if len(arrays) == len(works) else texts
