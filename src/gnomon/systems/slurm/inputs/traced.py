"""Work of a trace as submissions to a cluster: who asks for what, and what a trace says that Slurm is not told.

A task of a trace is one job: so many tasks of one CPU, with its memory spread over them, its GPUs wherever they are
(``--gpus``), and the user's estimate as its time limit. A queue that is a partition is asked for; any other leaves the
choice to Slurm, which takes the default partition.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from gnomon.model.resources import NEVER, Resources
from gnomon.model.work import BoolArray, Note, Work
from gnomon.systems.slurm.cluster.state import SECOND
from gnomon.systems.slurm.config.conf import Conf
from gnomon.systems.slurm.sbatch.request import GresRequest, JobRequest

USER: Final = "user"
"""Who submits what no user is named for."""

_MINUTE: Final = 60 * SECOND
_NAMED_MOST: Final = 4


def request_of(work: Work, row: int, conf: Conf) -> JobRequest:
    """A row of a trace as a submission."""
    shape = work.shapes[int(work.shape[row])].request
    queue = work.queues[int(work.queue[row])]
    estimate = int(work.estimate_ns[row])
    memory, cpus = -(-shape.memory_bytes // 2**20), _cpus(shape)
    return JobRequest(
        name=work.job_name(row),
        user=work.users[int(work.user[row])] or USER,
        partitions=(queue,) if any(partition.name == queue for partition in conf.partitions) else (),
        tasks=cpus,
        cpus_min=cpus,
        time_min=None if estimate >= NEVER else max(1, -(-estimate // _MINUTE)),
        mem_per_cpu_mb=-(-memory // cpus) if memory else None,
        gpus=(GresRequest("gpu", count=shape.gpus),) if shape.gpus else (),
        run_s=int(work.duration_ns[row]) / SECOND,
    )


def notes_of(work: Work, conf: Conf) -> tuple[Note, ...]:
    """What becomes of what a trace says and Slurm is told otherwise, or not at all; each once."""
    return (*_names(work, conf), *_sizes(work), *_left_out(work))


def _cpus(request: Resources) -> int:
    return max(1, -(-request.cpu_milli // 1000))


def _names(work: Work, conf: Conf) -> Iterator[Note]:
    known = {partition.name for partition in conf.partitions}
    default = next((partition.name for partition in conf.partitions if partition.default), "")
    used = np.bincount(work.queue, minlength=len(work.queues))
    strange = [queue for queue, name in enumerate(work.queues) if name and name not in known and used[queue]]
    if strange:
        names, count = _listed([work.queues[queue] for queue in strange]), int(used[strange].sum())
        takes = f"{default}, the default, takes these jobs" if default else "none is the default: they are refused"
        yield Note("default", "queue", f"no partition is called {names}: {takes}", count)
    anybody = [user for user, name in enumerate(work.users) if not name]
    if nameless := int(np.isin(work.user, anybody).sum()):
        yield Note("default", "user", f"not said: submitted by {USER}", nameless)


def _sizes(work: Work) -> Iterator[Note]:
    asked = [shape.request for shape in work.shapes]
    if parts := _count(work, [one.cpu_milli != _cpus(one) * 1000 for one in asked]):
        yield Note("default", "cpu", "parts of a CPU, or none: rounded up to whole ones", parts)
    if shared := _count(work, [one.gpus > 0 and one.gpu_share_e4 < 10_000 for one in asked]):
        yield Note("not modelled", "gpu share", "a part of a device: it gets a whole one", shared)
    if named := sorted({name for one in asked for name, amount in one.named if amount}):
        count = _count(work, [any(amount for _, amount in one.named) for one in asked])
        yield Note("not modelled", "resources", f"{_listed(named)}: not asked for", count)


def _left_out(work: Work) -> Iterator[Note]:
    tied = [bool(shape.node_kinds or shape.node_labels) for shape in work.shapes]
    if count := _count(work, tied):
        yield Note("not modelled", "kinds and labels of nodes", "no --constraint is asked for", count)
    if count := int(work.priority.astype(bool).sum()):
        yield Note("not modelled", "priority", "priorities are those of slurm.conf", count)
    if count := int((work.deadline_ns < NEVER).sum()):
        yield Note("not modelled", "deadline", "no --deadline is asked for", count)
    if work.jobs is not None and len(work.jobs) < len(work):
        yield Note("not modelled", "job", "the tasks of a job are jobs of their own", len(work))


def _count(work: Work, chosen: Sequence[bool]) -> int:
    """How many tasks have a shape that is chosen."""
    mask: BoolArray = np.array(chosen, np.bool_)
    return int((mask[work.shape] & work.usable).sum()) if len(work) else 0


def _listed(names: Sequence[str]) -> str:
    """A few of the names, and how many more there are.

    >>> _listed(["1", "2", "3"]), _listed(["a", "b", "c", "d", "e", "f"])
    ('1, 2, 3', 'a, b, c, d and 2 more')
    """
    more = len(names) - _NAMED_MOST
    return ", ".join(names[:_NAMED_MOST]) + (f" and {more} more" if more > 0 else "")
