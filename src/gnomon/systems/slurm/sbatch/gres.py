"""Generic resources of a request: ``gpu:a100:2,shard:4``, and whether the options that speak of GPUs agree.

Source: ``gres_job_state_validate``, ``_get_next_job_gres`` and ``_test_gres_cnt`` of ``src/interfaces/gres.c``; each
rule and its words as sbatch 22.05.8 answers.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Final

from gnomon.systems.slurm.sbatch.refusals import WRONG, RefusedError, error
from gnomon.systems.slurm.sbatch.request import GresRequest

INVALID: Final = "Invalid generic resource (gres) specification"
_MIXED: Final = "Invalid GRES specification (with and without type identification)"
_NO_VAL: Final = 2**32 - 2
_CPUS_TWICE: Final = "--cpus-per-gpu is mutually exclusive with --cpus-per-task"
_SUFFIX: Final = {"": 1, "k": 1024, "m": 1024**2, "g": 1024**3, "t": 1024**4, "p": 1024**5}
_NAME = re.compile(r"[\w.-]+\Z", re.ASCII)
_COUNT = re.compile(r"([0-9]{1,18})([kmgtp]?)\Z", re.ASCII | re.I)


def gres(text: str, known: Collection[str] | None = None) -> tuple[GresRequest, ...]:
    """What ``--gres`` asks for; of the same twice the later counts, a count of 0 is nothing.

    ``known``: GresTypes, None: any name. Raises :class:`RefusedError`.

    >>> gres("gpu:a100:2,shard:4,gpu")[:2]
    (GresRequest(name='gpu', type='a100', count=2), GresRequest(name='shard', type='', count=4))
    """
    if text.lower() == "none":
        return ()
    found: dict[tuple[str, str], GresRequest] = {}
    for part in filter(None, text.split(",")):
        one = _one(part)
        if not one.count:
            continue
        if one.name == "none" or (known is not None and one.name not in known):
            raise error(INVALID, WRONG)
        found[one.name, one.type] = one
    return tuple(found.values())


def _one(part: str) -> GresRequest:
    bare = re.sub(r"\Agres[:/]", "", part)
    name, *rest = re.split("[:=]", bare)
    name = name.lower()
    if not _NAME.match(name) or len(rest) > 2 or "" in rest:
        raise error(INVALID, WRONG)
    if not rest:
        return GresRequest(name)
    counted = _COUNT.match(rest[-1])
    if counted is None and len(rest) == 2:
        raise error(INVALID, WRONG)
    if counted is None:
        return GresRequest(name, rest[0])
    count = int(counted[1]) * _SUFFIX[counted[2].lower()]
    return GresRequest(name, rest[0] if len(rest) == 2 else "", count)


def gpus(text: str, known: Collection[str] | None = None) -> tuple[GresRequest, ...]:
    """What ``--gpus`` and its like ask for: a count, ``type:count``, or several of those.

    >>> gpus("a100:2,h100:1")
    (GresRequest(name='gpu', type='a100', count=2), GresRequest(name='gpu', type='h100', count=1))
    """
    return gres(",".join(f"gpu:{part}" for part in text.split(",") if part), known)


@dataclass(slots=True)
class Counts:
    """What a job says of its shape (None: nothing); :func:`agree` fills in what its GPUs imply."""

    tasks: int | None
    nodes_min: int | None
    nodes_max: int | None
    tasks_per_node: int | None
    tasks_per_socket: int | None
    tasks_per_gpu: int | None
    sockets_per_node: int | None
    cpus_per_task: int | None
    cpus_per_gpu: int | None
    mem_per_gpu: int | None


@dataclass(frozen=True, slots=True)
class Shares:
    """Generic resources of the job, a node, a socket and a task."""

    job: tuple[GresRequest, ...] = ()
    node: tuple[GresRequest, ...] = ()
    socket: tuple[GresRequest, ...] = ()
    task: tuple[GresRequest, ...] = ()


def agree(shares: Shares, counts: Counts, said: list[str]) -> None:
    """Checks that the options fit each other, and fills in what follows from them. ``said``: what is printed besides.

    Raises :class:`RefusedError`.
    """
    everything = (*shares.job, *shares.node, *shares.socket, *shares.task)
    asks_gpus = any(one.name == "gpu" for one in everything)
    tasks_of_gpus(counts, asks_gpus, said)
    if counts.mem_per_gpu is not None and not asks_gpus:
        raise _unfit(f"Requested mem_per_tres=gres:gpu:{counts.mem_per_gpu} but did not request any GPU.")
    cpus_said_twice = counts.cpus_per_gpu is not None and counts.cpus_per_task is not None
    if cpus_said_twice and not asks_gpus:
        raise _unfit(_CPUS_TWICE)
    for name, kind in dict.fromkeys((one.name, one.type) for one in everything):
        parts = (shares.job, shares.node, shares.socket, shares.task)
        _agree_on(name, _Of(*(_share(part, name, kind) for part in parts)), counts)
    for name, kind in dict.fromkeys((one.name, one.type) for one in everything):
        if kind and any(one.name == name and not one.type for one in everything):
            raise error(_MIXED, WRONG)


def _share(part: Iterable[GresRequest], name: str, kind: str) -> int:
    return sum(one.count for one in part if (one.name, one.type) == (name, kind))


@dataclass(slots=True)
class _Of:
    """How many of one resource for the job, a node, a socket and a task; 0: not said."""

    job: int
    node: int
    socket: int
    task: int


def _agree_on(name: str, of: _Of, counts: Counts) -> None:
    per_node = f"--gres={name}/--{name}s-per-node"
    if (of.job and max(of.node, of.socket, of.task) > of.job) or (of.node and of.socket > of.node):
        raise _unfit(f"Failed to ensure --{name}s >= {per_node} >= --{name}s-per-socket")
    if of.node and of.task > of.node:
        raise _unfit(f"Failed to ensure --{name}s >= --{name}s-per-task")
    if of.socket and counts.sockets_per_node is None:
        raise _unfit(f"--{name}s-per-socket option requires --sockets-per-node specification")
    if name == "gpu" and counts.cpus_per_gpu is not None and counts.cpus_per_task is not None:
        raise _unfit(_CPUS_TWICE)
    if of.job:
        _job_share(name, of, counts)
    if of.task and not of.job:
        _tasks_known(name, counts)
    if of.node and of.socket:
        if of.node % of.socket:
            raise _unfit(f"Failed to validate job spec, {per_node} not multiple of --{name}s-per-socket.")
        if counts.sockets_per_node != of.node // of.socket:
            what = f"Based on {per_node} and --{name}s-per-socket required number of sockets differ"
            raise _unfit(f"Failed to validate job spec. {what} from --sockets-per-node.")
    if of.task and of.node:
        per = _divided(of.node, of.task, f"{per_node} not multiple of --{name}s-per-task.")
        what = f"Based on {per_node} and --{name}s-per-task requested number of tasks per node differ"
        counts.tasks_per_node = _same(counts.tasks_per_node, per, f"{what} from --ntasks-per-node.")
    if of.task and of.socket:
        per = _divided(of.socket, of.task, f"--{name}s-per-socket not multiple of --{name}s-per-task.")
        what = f"Based on --{name}s-per-socket and --{name}s-per-task requested number of tasks per sockets differ"
        counts.tasks_per_socket = _same(counts.tasks_per_socket, per, f"{what} from --ntasks-per-socket.")
    if of.task and counts.cpus_per_gpu is not None and name == "gpu" and counts.cpus_per_task is None:
        counts.cpus_per_task = counts.cpus_per_gpu * of.task


def _job_share(name: str, of: _Of, counts: Counts) -> None:
    if of.node:
        if of.job % of.node:
            raise _unfit(f"Failed to validate job spec, --{name}s is not multiple of --gres={name}/--{name}s-per-node")
        needed = of.job // of.node
        least, most = counts.nodes_min, counts.nodes_max
        if (least is not None and needed < least) or (most is not None and needed > most):
            what = f"Based on --{name} and --gres={name}/--{name}s-per-node required nodes ({needed})"
            bounds = f"min_nodes ({least}) and max_nodes ({_NO_VAL if most is None else most})"
            raise _unfit(f"Failed to validate job spec. {what} doesn't fall between {bounds} boundaries.")
        counts.nodes_min = counts.nodes_max = needed
    elif counts.nodes_min is not None and of.job < counts.nodes_min:
        raise _unfit(f"Failed to validate job spec, --{name}s < -N")
    if of.task:
        tasks = _divided(of.job, of.task, f"--{name}s not multiple of --{name}s-per-task")
        what = f"Based on --{name}s and --{name}s-per-task number of requested tasks differ"
        counts.tasks = _same(counts.tasks, tasks, f"{what} from -n/--ntasks.")


def _tasks_known(name: str, counts: Counts) -> None:
    """A share of each task says nothing while the number of tasks is open."""
    if counts.tasks is not None:
        return
    least, most = counts.nodes_min, counts.nodes_max
    if counts.cpus_per_task is not None or least is None or most != least:
        what = f"--{name}s-per-task used without either --{name}s or -n/--ntasks is not allowed."
        raise _unfit(f"Failed to validate job spec. {what}")
    counts.tasks = least * (counts.tasks_per_node or 1)


def tasks_of_gpus(counts: Counts, asks_gpus: bool, said: list[str]) -> None:
    """``--ntasks-per-gpu`` needs GPUs, or tasks from which their number follows. Raises :class:`RefusedError`."""
    if asks_gpus or counts.tasks_per_gpu is None:
        return
    tasks = counts.tasks
    if tasks is None and counts.nodes_min is not None and counts.nodes_min == counts.nodes_max:
        return
    check = "gres_job_state_validate"
    if tasks is None:
        needs = "--ntasks-per-tres needs either a GRES GPU specification or a node/ntask specification"
        raise _unfit(f"{check}: {needs}")
    if tasks < counts.tasks_per_gpu:
        said.append(
            f"sbatch: error: {check}: Failed to add generated GRES gres:gpu:0 (via ntasks_per_tres) to gres_list"
        )
    elif tasks % counts.tasks_per_gpu:
        raise _unfit("Failed to validate job spec, -n/--ntasks has to be a multiple of --ntasks-per-gpu.")


def _divided(whole: int, part: int, complaint: str) -> int:
    if whole % part:
        raise _unfit(f"Failed to validate job spec, {complaint}")
    return whole // part


def _same(said: int | None, follows: int, complaint: str) -> int:
    if said is not None and said != follows:
        raise _unfit(f"Failed to validate job spec. {complaint}")
    return follows


def _unfit(what: str) -> RefusedError:
    return RefusedError(f"sbatch: error: {what}\nsbatch: error: {INVALID}", WRONG)
