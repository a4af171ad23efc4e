"""Spark's options: ``spark-defaults.conf``, and values as Spark writes them.

Names and defaults are those of the configuration registry of Spark 4.3.0. What an option of this table sets, the model
heeds; any other is listed as not modelled.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Final

from gnomon.formats.files import Path, read_text
from gnomon.model.errors import InputError, slip
from gnomon.model.resources import E4, NEVER
from gnomon.model.work import Note
from gnomon.systems.spark.application import Application

_MS: Final = 1_000_000
_MINUTE: Final = 60_000 * _MS
_TIMES: Final = {
    "us": 1_000,
    "ms": _MS,
    "s": 1000 * _MS,
    "m": _MINUTE,
    "min": _MINUTE,
    "h": 60 * _MINUTE,
    "d": 1440 * _MINUTE,
}
_SIZES: Final = {"b": 0, "k": 10, "kb": 10, "m": 20, "mb": 20, "g": 30, "gb": 30, "t": 40, "tb": 40, "p": 50, "pb": 50}
_NUMBER: Final = re.compile(r"([0-9]{1,18})([a-z]*)")

DEFAULTS: Final[Mapping[str, str]] = {
    "spark.master": "",
    "spark.default.parallelism": "",
    "spark.driver.cores": "1",
    "spark.driver.supervise": "false",
    "spark.dynamicAllocation.enabled": "false",
    "spark.dynamicAllocation.minExecutors": "0",
    "spark.dynamicAllocation.maxExecutors": "2147483647",
    "spark.dynamicAllocation.initialExecutors": "",
    "spark.dynamicAllocation.executorIdleTimeout": "60s",
    "spark.dynamicAllocation.executorAllocationRatio": "1.0",
    "spark.dynamicAllocation.schedulerBacklogTimeout": "1s",
    "spark.dynamicAllocation.sustainedSchedulerBacklogTimeout": "",
    "spark.dynamicAllocation.shuffleTracking.enabled": "true",
    "spark.dynamicAllocation.shuffleTracking.timeout": "",
    "spark.excludeOnFailure.enabled": "false",
    "spark.excludeOnFailure.timeout": "1h",
    "spark.excludeOnFailure.task.maxTaskAttemptsPerExecutor": "1",
    "spark.excludeOnFailure.task.maxTaskAttemptsPerNode": "2",
    "spark.excludeOnFailure.stage.maxFailedTasksPerExecutor": "2",
    "spark.excludeOnFailure.stage.maxFailedExecutorsPerNode": "2",
    "spark.excludeOnFailure.application.maxFailedTasksPerExecutor": "2",
    "spark.excludeOnFailure.application.maxFailedExecutorsPerNode": "2",
    "spark.scheduler.excludeOnFailure.unschedulableTaskSetTimeout": "120s",
    "spark.executor.cores": "1",
    "spark.executor.heartbeatInterval": "10s",
    "spark.executor.instances": "",
    "spark.executor.memory": "1g",
    "spark.executor.memoryOverhead": "",
    "spark.executor.memoryOverheadFactor": "0.1",
    "spark.executor.minMemoryOverhead": "384m",
    "spark.executor.pyspark.memory": "0",
    "spark.locality.wait": "3s",
    "spark.locality.wait.node": "",
    "spark.locality.wait.process": "",
    "spark.locality.wait.rack": "",
    "spark.memory.fraction": "0.6",
    "spark.memory.offHeap.enabled": "false",
    "spark.memory.offHeap.size": "0",
    "spark.memory.storageFraction": "0.5",
    "spark.network.timeout": "120s",
    "spark.scheduler.allocation.file": "",
    "spark.scheduler.mode": "FIFO",
    "spark.scheduler.revive.interval": "1s",
    "spark.shuffle.io.maxRetries": "3",
    "spark.shuffle.io.retryWait": "5s",
    "spark.shuffle.service.enabled": "false",
    "spark.speculation": "false",
    "spark.speculation.efficiency.enabled": "true",
    "spark.speculation.efficiency.longRunTaskFactor": "2.0",
    "spark.speculation.efficiency.processRateMultiplier": "0.75",
    "spark.speculation.interval": "100ms",
    "spark.speculation.minTaskRuntime": "100ms",
    "spark.speculation.multiplier": "3.0",
    "spark.speculation.quantile": "0.9",
    "spark.speculation.task.duration.threshold": "",
    "spark.sql.adaptive.advisoryPartitionSizeInBytes": "64m",
    "spark.sql.adaptive.coalescePartitions.enabled": "true",
    "spark.sql.adaptive.coalescePartitions.minPartitionSize": "1m",
    "spark.sql.adaptive.coalescePartitions.parallelismFirst": "true",
    "spark.sql.adaptive.enabled": "true",
    "spark.stage.maxConsecutiveAttempts": "4",
    "spark.task.cpus": "1",
    "spark.task.maxFailures": "4",
}
"""The options that are heeded, and what they are where nobody says; empty: it follows from others."""

BEFORE_4: Final = {"spark.speculation.multiplier": "1.5", "spark.speculation.quantile": "0.75"}
"""Defaults before 4.0."""

_RENAMED: Final = (("spark.blacklist.", "spark.excludeOnFailure."),)
_NO_MATTER: Final = ("spark.app.", "spark.ui.", "spark.eventLog.", "spark.history.", "spark.jars", "spark.submit.")
"""Options that change nothing of when and where tasks run."""


_MAJOR: Final = re.compile(r"\d{1,4}", re.ASCII)


@dataclass(frozen=True)
class Conf:
    """Options as they were said. ``version``: of Spark, on which some defaults hang; ``source``: the file."""

    said: Mapping[str, str] = field(default_factory=dict)
    version: str = ""
    source: str = ""

    def text(self, name: str) -> str:
        """The value of an option of :data:`DEFAULTS`; empty where it follows from others."""
        major = _MAJOR.match(self.version)
        old = major is not None and int(major[0]) < 4
        return self.said.get(name) or (BEFORE_4.get(name) if old else None) or DEFAULTS[name]

    def is_set(self, name: str) -> bool:
        """Whether somebody said it."""
        return bool(self.said.get(name))

    def whole(self, name: str) -> int:
        """A whole number."""
        text = self.text(name)
        try:
            return int(text)
        except ValueError:
            raise self._error(name, "not a whole number", "for instance 4") from None

    def positive(self, name: str) -> int:
        """A whole number above 0."""
        found = self.whole(name)
        if found < 1:
            raise self._error(name, "not above 0", "for instance 4")
        return found

    def truth(self, name: str) -> bool:
        """true or false."""
        text = self.text(name).lower()
        if text not in ("true", "false"):
            raise self._error(name, "neither true nor false", "true, false")
        return text == "true"

    def part_e4(self, name: str) -> int:
        """A factor, in 1/10,000."""
        try:
            value = Decimal(self.text(name))
        except InvalidOperation:
            value = Decimal("NaN")
        if not value.is_finite() or not 0 <= value <= 10**9:
            raise self._error(name, "not a number", "for instance 0.75")
        return int(value * E4)

    def time_ns(self, name: str, unit: str = "s") -> int:
        """A time; ``unit``: of a number without one (JavaUtils.timeStringAs)."""
        found = time_ns_of(self.text(name), unit)
        if found is None:
            raise self._error(name, "not a number with a unit", "for instance 500ms, 3s, 2min")
        return found

    def size(self, name: str, unit: str = "m") -> int:
        """Bytes; ``unit``: of a number without one (JavaUtils.byteStringAs)."""
        found = _number(self.text(name), _SIZES, unit)
        if found is None:
            raise self._error(name, "not a number with a unit", "for instance 512m, 1g")
        return found[0] << found[1]

    def _error(self, name: str, problem: str, allowed: str) -> InputError:
        return InputError(problem, file=self.source or None, field=name, found=self.text(name), allowed=allowed)

    def merged(self, over: Mapping[str, str]) -> Conf:
        """These options, and others over them."""
        return Conf({**self.said, **over}, self.version, self.source)

    def notes(self) -> Iterator[Note]:
        """What of them is not heeded."""
        for name in self.said:
            if name not in DEFAULTS and not name.startswith(_NO_MATTER):
                yield Note("not modelled", name, f"the option changes nothing here{slip(name, DEFAULTS)}")


def recorded(application: Application) -> Conf:
    """The options that a log records."""
    said = {renamed(name): value for name, value in application.properties.items()}
    return Conf(said, application.version)


def recorded_whole(application: Application, name: str) -> int:
    """A whole number that a log records, else its default: no Spark ran with what is none, and a log may be damaged."""
    said = application.properties.get(name, "")
    return int(said if said.isdecimal() and said.isascii() and len(said) < 10 else DEFAULTS[name])


def task_cpus(application: Application) -> int:
    """How many cores a task takes (``spark.task.cpus``)."""
    return max(1, recorded_whole(application, "spark.task.cpus"))


def time_ns_of(text: str, unit: str = "s") -> int | None:
    """A time as Spark writes it; ``unit``: of a number without one. None for what is none.

    >>> time_ns_of("2min"), time_ns_of("3", "ms"), time_ns_of("infinity")
    (120000000000, 3000000, None)
    """
    found = _number(text, _TIMES, unit)
    return None if found is None else min(found[0] * found[1], NEVER)


def _number(text: str, units: Mapping[str, int], unit: str) -> tuple[int, int] | None:
    """A number and what its unit stands for; None for what is not at least 0, or of no known unit."""
    found = _NUMBER.fullmatch(text.strip().lower())
    if found is None or (found[2] or unit) not in units:
        return None
    return int(found[1]), units[found[2] or unit]


def read_conf(path: Path) -> Conf:
    """The options of a file ``spark-defaults.conf``: a name and a value a line, apart by spaces or ``=``, as in all
    properties of Java. Raises InputError."""
    said: dict[str, str] = {}
    lines = iter(enumerate(read_text(path).splitlines(), 1))
    for number, line in lines:
        text = line.strip()
        if not text or text[0] in "#!":
            continue
        while text.endswith("\\") and not text.endswith("\\\\"):
            _, more = next(lines, (0, ""))
            text = text[:-1] + more.strip()
        name, value = _name_and_value(text)
        if not name.startswith("spark."):
            allowed = "spark.NAME VALUE"
            raise InputError("not an option of Spark", file=str(path), line=number, found=name, allowed=allowed)
        said[renamed(name)] = value
    return Conf(said, source=str(path))


def options_of(said: Mapping[str, object]) -> dict[str, str]:
    """Options as they stand in a scenario: values of YAML. Raises InputError for a name that is none.

    >>> options_of({"spark.speculation": True, "spark.task.cpus": 2})
    {'spark.speculation': 'true', 'spark.task.cpus': '2'}
    """
    found = {}
    for name, value in said.items():
        if not str(name).startswith("spark."):
            raise InputError("not an option of Spark", field=f"conf.{name}", found=name, allowed="spark.NAME: VALUE")
        if isinstance(value, bool):
            found[renamed(name)] = str(value).lower()
        elif isinstance(value, str | int | float):
            found[renamed(name)] = str(value)
        else:
            raise InputError("not a value", field=f"conf.{name}", found=value, allowed="a text or a number")
    return found


def _name_and_value(text: str) -> tuple[str, str]:
    """What stands before and after the first space, ``=`` or ``:``."""
    found = re.match(r"([^\s=:]+)\s*[=:]?\s*(.*)", text)
    return (found[1], found[2].strip()) if found else (text, "")


def renamed(name: str) -> str:
    """The present name of an option.

    >>> renamed("spark.blacklist.timeout")
    'spark.excludeOnFailure.timeout'
    """
    for old, new in _RENAMED:
        if name.startswith(old):
            return new + name.removeprefix(old)
    return name
