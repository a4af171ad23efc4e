"""Work, as it is or as it was simulated, as a job log in the Standard Workload Format."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gnomon.model.quantity import NS_PER_S, format_seconds
from gnomon.model.resources import NEVER
from gnomon.model.work import IntArray, Note, Shape, Work
from gnomon.traces.output import created

_CHUNK = 100_000


def write(
    work: Work,
    path: str | Path,
    *,
    waits_ns: IntArray | None = None,
    status: IntArray | None = None,
    header: Sequence[str] = (),
) -> tuple[Note, ...]:
    """Write one line a task, in order, and return what the format cannot say.

    ``waits_ns``: field 3 (-1 or NEVER: unknown), for instance from a simulation; without it the waits that the work
    recorded. ``status``: field 11; without it 1 (completed), and 5 (cancelled) for what is not usable. ``header``:
    comment lines, without the semicolon, above ours. Names that are no numbers get numbers, which the header lists.
    A path that ends in ``.gz`` is compressed, with equal bytes for equal work.

    Raises InputError when the file cannot be written.

    >>> import tempfile
    >>> from gnomon.model.resources import Resources
    >>> from gnomon.model.work import Task
    >>> task = Task("7", Shape(Resources(cpu_milli=4000)), duration_ns=90 * NS_PER_S)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     notes = write(Work.from_tasks([task]), Path(folder, "a.swf"))
    ...     print(Path(folder, "a.swf").read_text().splitlines()[-1])
    7 0 -1 90 4 -1 -1 4 90 -1 1 -1 -1 -1 -1 -1 -1 -1
    """
    ids, users, queues = _ids(work), _numbers(work.users), _numbers(work.queues)
    fields = _Fields(
        ids=np.arange(1, len(work) + 1) if ids is None else ids,
        waits_ns=work.recorded_wait_ns if waits_ns is None else waits_ns,
        sizes=np.array([_processors(shape) or -1 for shape in work.shapes], np.int64),
        memory_kb=np.array([_memory_kb(shape) for shape in work.shapes], np.int64),
        status=np.where(work.usable, 1, 5) if status is None else status,
        users=np.array(users, np.int64),
        queues=np.array(queues, np.int64),
    )
    said = {line.partition(":")[0].strip() for line in header}
    lines = [*header, *_header(work, said=said, user_numbers=users, queue_numbers=queues)]
    with created(path) as stream:
        stream.write("".join(f"; {line}".rstrip() + "\n" for line in lines).encode())
        for start in range(0, len(work), _CHUNK):
            stream.write("".join(_rows(work, fields, slice(start, start + _CHUNK))).encode())
    return tuple(_lost(work, renamed=ids is None))


@dataclass(frozen=True, slots=True)
class _Fields:
    """What is written besides the work's own columns: by task, and by shape, user and queue."""

    ids: IntArray
    waits_ns: IntArray
    status: IntArray
    sizes: IntArray
    memory_kb: IntArray
    users: IntArray
    queues: IntArray


def _ids(work: Work) -> IntArray | None:
    """The tasks' own numbers, None when a name is no number."""
    if isinstance(work.ids, np.ndarray):
        return work.ids
    numbers = _numbers(work.ids)
    return np.array(numbers, np.int64) if [str(number) for number in numbers] == list(work.ids) else None


def _numbers(names: Sequence[str]) -> list[int]:
    """A number for each name: its own when every name is one, else its position from 1; -1 for the empty name."""
    own = [name for name in names if name]
    if all(name.isascii() and name.isdigit() and len(name) < 16 and str(int(name)) == name for name in own):
        return [int(name) if name else -1 for name in names]
    positions = {name: position for position, name in enumerate(own, start=1)}
    return [positions.get(name, -1) for name in names]


def _header(work: Work, *, said: set[str], user_numbers: list[int], queue_numbers: list[int]) -> Iterator[str]:
    """Our comment lines, those left out whose key is ``said`` already."""
    lines = [("Version", "2.2"), ("MaxJobs", len(work)), ("MaxRecords", len(work))]
    if work.processors is not None:
        lines.append(("MaxProcs", work.processors))
    yield from (f"{key}: {value}" for key, value in lines if key not in said)
    renamed = [(n, name) for n, name in zip(queue_numbers, work.queues, strict=True) if name and str(n) != name]
    yield from (f"Queue: {number} {' '.join(name.split())}" for number, name in renamed)
    renamed = [(n, name) for n, name in zip(user_numbers, work.users, strict=True) if name and str(n) != name]
    yield from (f"Note: user {number} is {' '.join(name.split())}" for number, name in renamed)


def _rows(work: Work, fields: _Fields, part: slice) -> Iterator[str]:
    sizes, memory_kb = fields.sizes[work.shape[part]].tolist(), fields.memory_kb[work.shape[part]].tolist()
    columns = zip(
        fields.ids[part].tolist(),
        _seconds(work.submit_ns[part]),
        _seconds(_known(fields.waits_ns[part])),
        _seconds(_known(work.duration_ns[part])),
        sizes,
        _seconds(_known(work.estimate_ns[part])),
        memory_kb,
        fields.status[part].tolist(),
        fields.users[work.user[part]].tolist(),
        fields.queues[work.queue[part]].tolist(),
        strict=True,
    )
    for number, submit, wait, run, size, estimate, memory, status, user, queue in columns:
        yield (
            f"{number} {submit} {wait} {run} {size} -1 -1 {size} {estimate} {memory} "
            f"{status} {user} -1 -1 {queue} -1 -1 -1\n"
        )


def _known(times_ns: IntArray) -> IntArray:
    """-1 second where a time is unknown or never comes."""
    return np.where((times_ns < 0) | (times_ns >= NEVER), -NS_PER_S, times_ns)


def _seconds(times_ns: IntArray) -> list[int] | list[str]:
    whole, part = np.divmod(times_ns, NS_PER_S)
    return [format_seconds(time) for time in times_ns.tolist()] if part.any() else whole.tolist()


def _lost(work: Work, *, renamed: bool) -> Iterator[Note]:
    """What the format has no field for, once a kind."""

    def tasks(wanted: Callable[[Shape], bool]) -> int:
        return int(np.isin(work.shape, [i for i, shape in enumerate(work.shapes) if wanted(shape)]).sum())

    gangs = 0 if work.jobs is None else len(work) - len(np.unique(work.job))
    lost = [
        ("id", "names of tasks: they are numbered by their position", len(work) if renamed else 0),
        ("job", "jobs of several tasks: each task is a line of its own", gangs),
        ("cpus", "parts of a processor: rounded up to whole ones", tasks(lambda s: s.request.cpu_milli % 1000 != 0)),
        ("memory", "memory that is no whole number of KB for each processor: rounded up", tasks(_uneven_memory)),
        ("gpus", "devices", tasks(lambda s: s.request.gpus > 0)),
        ("resources", "other resources", tasks(lambda s: bool(s.request.named))),
        ("nodes", "constraints on nodes", tasks(lambda s: bool(s.node_kinds or s.node_labels))),
        ("priority", "priorities", int((work.priority != 0).sum())),
        ("deadline", "deadlines", int((work.deadline_ns < NEVER).sum())),
        (
            "duration",
            "tasks that run on for ever: written as unknown",
            int((work.usable & (work.duration_ns >= NEVER)).sum()),
        ),
    ]
    yield from (Note("not modelled", field, f"{text} (SWF)", count) for field, text, count in lost if count)


def _uneven_memory(shape: Shape) -> bool:
    request = shape.request
    return request.memory_bytes != _memory_kb(shape) * 1024 * _processors(shape) if request.memory_bytes else False


def _processors(shape: Shape) -> int:
    return -(-shape.request.cpu_milli // 1000)


def _memory_kb(shape: Shape) -> int:
    """KB for each processor, rounded up; -1 for none."""
    share = 1024 * max(1, _processors(shape))
    return -(-shape.request.memory_bytes // share) or -1
