"""The tasks of a stage attempt as a table of integers: an application may have millions, most of them alike.

Times are ms since 1970 and durations ms, as the log has them, where the name ends in ``_ms``; ns where it ends in
``_ns``; sizes are bytes. The names of Spark's fields: :data:`METRICS` (Spark's ``JsonProtocol``, 2.4 to 4.x; what an
older version does not write is 0).
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Final

import numpy as np
import numpy.typing as npt

from gnomon.model.errors import unknown_name

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Task:
    """One attempt of a task that ended, or that runs when the log stops (``finish_ms`` 0).

    ``executor`` and ``host``: positions in :attr:`Tasks.names`; ``locality``: a position in :data:`LOCALITIES`, -1 if
    it is none of them; ``failure``: a position in :attr:`Tasks.failures`, -1 for one that ended in success or runs.
    ``attempt`` counts within the attempt of the stage. ``heap_peak_bytes``: the largest heap of its executor that was
    seen while it ran (0 where the log has no executor metrics).
    """

    task_id: int
    index: int
    attempt: int
    partition: int
    launch_ms: int
    finish_ms: int
    getting_result_ms: int
    executor: int
    host: int
    locality: int
    speculative: int
    failure: int
    deserialize_ms: int = 0
    deserialize_cpu_ns: int = 0
    run_ms: int = 0
    cpu_ns: int = 0
    gc_ms: int = 0
    result_serialize_ms: int = 0
    result_bytes: int = 0
    memory_spilled_bytes: int = 0
    disk_spilled_bytes: int = 0
    peak_execution_bytes: int = 0
    fetch_wait_ms: int = 0
    remote_blocks: int = 0
    local_blocks: int = 0
    remote_read_bytes: int = 0
    remote_to_disk_bytes: int = 0
    local_read_bytes: int = 0
    read_records: int = 0
    write_bytes: int = 0
    write_ns: int = 0
    write_records: int = 0
    input_bytes: int = 0
    input_records: int = 0
    output_bytes: int = 0
    output_records: int = 0
    heap_peak_bytes: int = 0

    @property
    def succeeded(self) -> bool:
        """Whether it ended in success."""
        return self.failure < 0 and self.finish_ms > 0

    @property
    def duration_ms(self) -> int:
        """From launch to finish as the driver saw them; 0 for one that runs."""
        return self.finish_ms - self.launch_ms if self.finish_ms else 0

    @property
    def shuffle_read_bytes(self) -> int:
        """What it fetched, from other executors and its own."""
        return self.remote_read_bytes + self.local_read_bytes

    @property
    def delay_ms(self) -> int:
        """Scheduler delay as Spark's UI has it: what is neither running nor (de)serialising."""
        return max(0, self.duration_ms - self.run_ms - self.deserialize_ms - self.result_serialize_ms)


COLUMNS: Final = tuple(field.name for field in fields(Task))
"""The columns of :class:`Tasks`, in order."""

_COLUMN: Final = {name: place for place, name in enumerate(COLUMNS)}

FIRST_METRIC: Final = _COLUMN["deserialize_ms"]
"""Where the columns of metrics begin."""

METRICS: Final[Mapping[str | None, Mapping[str, str]]] = {
    None: {
        "Executor Deserialize Time": "deserialize_ms",
        "Executor Deserialize CPU Time": "deserialize_cpu_ns",
        "Executor Run Time": "run_ms",
        "Executor CPU Time": "cpu_ns",
        "JVM GC Time": "gc_ms",
        "Result Serialization Time": "result_serialize_ms",
        "Result Size": "result_bytes",
        "Memory Bytes Spilled": "memory_spilled_bytes",
        "Disk Bytes Spilled": "disk_spilled_bytes",
        "Peak Execution Memory": "peak_execution_bytes",
    },
    "Shuffle Read Metrics": {
        "Fetch Wait Time": "fetch_wait_ms",
        "Remote Blocks Fetched": "remote_blocks",
        "Local Blocks Fetched": "local_blocks",
        "Remote Bytes Read": "remote_read_bytes",
        "Remote Bytes Read To Disk": "remote_to_disk_bytes",
        "Local Bytes Read": "local_read_bytes",
        "Total Records Read": "read_records",
    },
    "Shuffle Write Metrics": {
        "Shuffle Bytes Written": "write_bytes",
        "Shuffle Write Time": "write_ns",
        "Shuffle Records Written": "write_records",
    },
    "Input Metrics": {"Bytes Read": "input_bytes", "Records Read": "input_records"},
    "Output Metrics": {"Bytes Written": "output_bytes", "Records Written": "output_records"},
}
"""Spark's fields of ``Task Metrics``, by the group that they stand in, and the column of each."""

LOCALITIES: Final = ("PROCESS_LOCAL", "NODE_LOCAL", "NO_PREF", "RACK_LOCAL", "ANY")
"""Spark's levels, the nearest first (``TaskLocality``)."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Why an attempt of a task did not end in success.

    ``reason``: Spark's word (``ExceptionFailure``, ``FetchFailed``, ``ExecutorLostFailure``, ``TaskKilled``,
    ``Resubmitted``, ...); ``class_name``: of the exception; ``text``: its description, the message or the reason of a
    loss, cut to :data:`TEXT_MAX` characters; ``executor``: which was lost, or whose block could not be fetched;
    ``by_app``: whether the application is to blame for a loss (it then counts for ``spark.task.maxFailures``);
    ``shuffle``, ``map_index``, ``reduce``: of a block that could not be fetched (-1: not known).
    """

    reason: str
    class_name: str = ""
    text: str = ""
    executor: str = ""
    by_app: bool = True
    shuffle: int = -1
    map_index: int = -1
    reduce: int = -1

    @property
    def kind(self) -> str:
        """The reason with the class of the exception, as in ``ExceptionFailure:java.lang.OutOfMemoryError``."""
        return f"{self.reason}:{self.class_name}" if self.class_name else self.reason


TEXT_MAX: Final = 4_000
"""How much of a message is kept: stack traces may be long, and there may be one for each of many tasks."""


@dataclass(frozen=True, eq=False)
class Tasks:
    """Attempts of tasks in the order in which they ended. ``names``: executors and hosts; ``failures``: why some
    failed. Both are shared by all stages of an application.

    >>> tasks = Tasks(np.array([[7, 0, 0, 0, 1_000, 1_250, 0, 0, 1, 0, 0, -1] + 25 * [0]]), ("driver", "localhost"))
    >>> tasks.column("launch_ms").tolist(), tasks[0].duration_ms, tasks.executor(0)
    ([1000], 250, 'driver')
    """

    rows: IntArray
    names: tuple[str, ...] = ()
    failures: tuple[Failure, ...] = ()

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, place: int) -> Task:
        return Task(*self.rows[place].tolist())

    def __iter__(self) -> Iterator[Task]:
        return (Task(*row) for row in self.rows.tolist())

    def column(self, name: str) -> IntArray:
        """A column of all rows. Raises InputError for a name that is none of :data:`COLUMNS`."""
        if name not in _COLUMN:
            raise unknown_name("column of tasks", name, COLUMNS)
        return self.rows[:, _COLUMN[name]]

    @property
    def duration_ms(self) -> IntArray:
        """From launch to finish."""
        return self.column("finish_ms") - self.column("launch_ms")

    @property
    def shuffle_read_bytes(self) -> IntArray:
        """What was fetched, from other executors and the own."""
        return self.column("remote_read_bytes") + self.column("local_read_bytes")

    @property
    def delay_ms(self) -> IntArray:
        """Scheduler delay: :attr:`Task.delay_ms`."""
        working = self.column("run_ms") + self.column("deserialize_ms") + self.column("result_serialize_ms")
        return np.maximum(self.duration_ms - working, 0)

    @property
    def succeeded(self) -> Tasks:
        """Those that ended in success."""
        return Tasks(self.rows[self.column("failure") < 0], self.names, self.failures)

    @property
    def failed(self) -> Tasks:
        """Those that did not."""
        return Tasks(self.rows[self.column("failure") >= 0], self.names, self.failures)

    def executor(self, place: int) -> str:
        """The executor of a row."""
        return self.names[int(self.rows[place, _COLUMN["executor"]])]

    def host(self, place: int) -> str:
        """The host of a row."""
        return self.names[int(self.rows[place, _COLUMN["host"]])]

    def why(self, place: int) -> Failure | None:
        """Why a row failed; None for one that did not."""
        failure = int(self.rows[place, _COLUMN["failure"]])
        return self.failures[failure] if failure >= 0 else None

    def reasons(self) -> Iterator[tuple[int, Failure]]:
        """The rows that failed, and why."""
        for place, failure in enumerate(self.column("failure").tolist()):
            if failure >= 0:
                yield place, self.failures[failure]


def table(rows: array[int]) -> IntArray:
    """The rows of a table from all their integers, one after the other.

    >>> table(array("q")).shape[0]
    0
    """
    return np.frombuffer(rows, np.int64).reshape(-1, len(COLUMNS)) if rows else np.empty((0, len(COLUMNS)), np.int64)
